"""Processes that are forked, as multiprocessing's workers are by default before Python 3.14, work as their parents do."""

import multiprocessing
import os
import threading

import numpy as np
import pytest

import spmvpack as sp
from support import random_csr, same_bits

A = random_csr(3000, 3000, 20, 5)
X = np.random.default_rng(3).standard_normal(3000)
# Many threads in the parent, however few processors there are.
M = sp.encode(A, "csr", threads=4)
Y = M.multiply(X, np.empty(3000), threads=4)
PATIENCE = 120  # seconds, in place of for ever


def everything(_):
    """What a worker may do with a matrix of its parent's, and with its own."""
    own = sp.encode(A, transpose=True, threads=4)
    return [M @ X, M.matvec(X, threads=4), own @ X, sp.load(M.tobytes(), threads=4) @ X, M.to_scipy(threads=4) @ X,
            sp.report(A, threads=4).recommended]


@pytest.fixture(name="fork")
def fork_context():
    return multiprocessing.get_context("fork")


def test_workers_of_a_pool_multiply_encode_load_and_report(fork):
    expected = everything(None)
    with fork.Pool(2) as pool:
        for results in pool.map_async(everything, range(4)).get(PATIENCE):
            assert all(same_bits(y, e) if isinstance(y, np.ndarray) else y == e for y, e in zip(results, expected))
    assert same_bits(M.multiply(X, np.empty(3000), threads=4), Y)  # and so does the parent still


def test_matrices_and_operators_go_to_workers_and_back(fork):
    with fork.Pool(2) as pool:
        m = pool.apply_async(sp.encode, (A, "ccoo")).get(PATIENCE)
        assert same_bits(pool.apply_async(m.linear_operator().matvec, (X,)).get(PATIENCE), m @ X)


def test_a_process_may_fork_while_another_thread_multiplies(fork):
    done, begun = threading.Event(), threading.Event()

    def work():
        while not done.is_set():
            M.multiply(X, np.empty(3000), threads=4)
            begun.set()

    other = threading.Thread(target=work)
    other.start()
    try:
        assert begun.wait(PATIENCE)
        for _ in range(10):
            child = fork.Process(target=lambda: os._exit(0 if same_bits(M @ X, Y) else 1))
            child.start()
            child.join(PATIENCE)
            code = child.exitcode
            child.kill()
            assert code == 0
    finally:
        done.set()
        other.join()
