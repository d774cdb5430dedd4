"""What the tests of the package share: matrices, the command, and bit-for-bit comparison."""

import os
import subprocess
import threading

import numpy as np
import pytest
from scipy import sparse

# The command of the same build, for comparison; tests/python/wheel_test.sh sets it.
COMMAND = os.environ.get("SPMVPACK_COMMAND")
needs_command = pytest.mark.skipif(not COMMAND, reason="SPMVPACK_COMMAND is not set")

NASTY = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e300, 1e-310]


def spmvpack(*arguments):
    """Runs the command and returns what it prints."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_threads(count, work):
    """Runs work(0), ..., work(count - 1), each in a thread, and waits for all."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def random_csr(rows, cols, per_row, seed, dtype=np.float64, distinct=0):
    """Rows of up to `per_row` entries; `distinct` different values, or all different."""
    rng = np.random.default_rng(seed)
    columns = [np.unique(rng.integers(0, cols, rng.integers(0, per_row + 1))) if cols else np.array([], int)
               for _ in range(rows)]
    indptr = np.concatenate([[0], np.cumsum([len(c) for c in columns])]).astype(np.int32)
    indices = np.concatenate(columns).astype(np.int32) if columns else np.array([], np.int32)
    values = rng.standard_normal(len(indices)) if not distinct else rng.integers(1, distinct + 1, len(indices)) / 7
    return sparse.csr_array((values.astype(dtype), indices, indptr), shape=(rows, cols))


def nasty_matrices():
    """Name and matrix: shapes and values that break what is careless."""
    yield "0 x 0", sparse.csr_array((0, 0))
    yield "0 rows", sparse.csr_array((0, 7))
    yield "0 columns", sparse.csr_array((7, 0))
    yield "0 nonzeros", sparse.csr_array((30, 20))
    yield "1 x 1", sparse.csr_array(np.array([[-0.0]])) + sparse.csr_array(np.array([[2.0]]))
    yield "empty rows", random_csr(500, 40, 1, 1)
    dense = random_csr(60, 3000, 3, 2).tolil()
    dense[33] = np.arange(3000) + 1.0
    yield "a dense row", sparse.csr_array(dense)
    a = random_csr(300, 200, 9, 3)
    a.data[:] = np.resize(NASTY + [1.0, -2.5], a.nnz)
    yield "NaN, infinities, zeros and denormals", a
    yield "few values", random_csr(700, 900, 12, 4, distinct=5)
    yield "float32", random_csr(300, 500, 9, 5, np.float32)
    yield "a grid", sparse.csr_array(sparse.kronsum(*2 * [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (30, 30))]))


def reference(a, x):
    """A x row by row, in long double; and the bound of a correct y's distance from it."""
    a = sparse.csr_array(a)
    wide = np.zeros(a.shape[0], np.longdouble)
    bound = np.zeros(a.shape[0], np.longdouble)
    unit = np.longdouble(np.finfo(a.dtype).eps) / 2
    with np.errstate(all="ignore"):
        for i in range(a.shape[0]):
            part = slice(a.indptr[i], a.indptr[i + 1])
            products = a.data[part].astype(np.longdouble) * x[a.indices[part]].astype(np.longdouble)
            wide[i] = products.sum()
            bound[i] = (len(products) + 4) * unit * np.abs(products).sum()
    return wide, bound


def assert_product(a, x, y):
    wide, bound = reference(a, x)
    finite = np.isfinite(wide) & (np.abs(wide) < np.finfo(a.dtype).max)
    with np.errstate(all="ignore"):
        tiny = np.finfo(a.dtype).smallest_subnormal * (np.diff(a.indptr) + 1)
        assert np.all(np.abs(y - wide)[finite] <= (bound + tiny)[finite])
        assert np.array_equal(np.isnan(wide), np.isnan(y))
        infinite = np.isinf(wide)
        assert np.array_equal(y[infinite], wide[infinite].astype(y.dtype))
