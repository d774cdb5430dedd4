#!/usr/bin/env python3
"""New values in an old pattern, step by step: PETSc's AIJ beside spmvpack's plug-in.

usage: petsc_new_values.py PLUGIN [MATRIX] [--grid N] [--block N] [--multiplies N] [--steps N] [--rounds N]
                           [--json FILE] [-- PETSC OPTIONS]

Each step gives both matrices the same new random values, by MatSetValues() and an assembly, and multiplies with them
--multiplies times (50). The time of a step is that of the multiplies: an encode, and an update, is part of the first of
them. It is the thread's time on its processor, as other programs may run meanwhile; leave -mat_spmvpack_threads at 1. AIJ and the plug-in take turns; figures are medians over the rounds (7), each with matrices of its own, and a ratio
is the median of the ratios within one step of one round. MATRIX is a Matrix Market file, as in petsc_multiply.py; the
default is a 5-point grid of 400 x 400, with as many unknowns at each point as --block says (1).

Needs petsc4py, NumPy and SciPy.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import scipy.sparse
from petsc_multiply import read, what_became_of


def grid(n, block):
    line = scipy.sparse.diags([1, 1, 1], [-1, 0, 1], shape=(n, n))
    beside = scipy.sparse.diags([1, 1], [-1, 1], shape=(n, n))
    a = scipy.sparse.kron(scipy.sparse.eye(n), line) + scipy.sparse.kron(beside, scipy.sparse.eye(n))
    a = scipy.sparse.kron(a, np.ones((block, block))).tocsr()
    a.eliminate_zeros()
    a.sort_indices()
    return a


def one_round(csr, petsc, steps, multiplies, rng):
    """Seconds of each step, of AIJ and of the plug-in; and what became of the latter's matrix."""
    pattern = csr.indptr.astype(petsc.IntType), csr.indices.astype(petsc.IntType)
    matrices = [petsc.Mat().createAIJ(csr.shape, csr=(*pattern, np.ones(csr.nnz))) for _ in range(2)]
    matrices[1].convert("aijspmvpack")
    x, y = matrices[0].createVecs()
    x.setRandom()
    seconds = []
    for step in range(steps):
        values = rng.standard_normal(csr.nnz)
        of_step = [0.0, 0.0]
        for k in (0, 1) if step % 2 == 0 else (1, 0):
            a = matrices[k]
            a.setValuesCSR(*pattern, values)
            a.assemble()
            start = time.thread_time()
            for _ in range(multiplies):
                a.mult(x, y)
            of_step[k] = time.thread_time() - start
        seconds.append(of_step)
    said = what_became_of(matrices[1], petsc)
    for a in matrices:
        a.destroy()
    return seconds, said


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin")
    parser.add_argument("matrix", nargs="?", type=pathlib.Path)
    for name, default in (("grid", 400), ("block", 1), ("multiplies", 50), ("steps", 10), ("rounds", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args(own)
    import petsc4py
    petsc4py.init(["petsc_new_values", "-dll_append", arguments.plugin, *options])
    from petsc4py import PETSc
    csr = read(arguments.matrix) if arguments.matrix else grid(arguments.grid, arguments.block)
    rng = np.random.default_rng(1)
    rounds = [one_round(csr, PETSc, arguments.steps, arguments.multiplies, rng) for _ in range(arguments.rounds)]
    print(f"{csr.shape[0]:,} x {csr.shape[1]:,}, {csr.nnz:,} nonzeros, {arguments.multiplies} multiplies a step, "
          f"{arguments.rounds} rounds\n")
    print("| step | AIJ, ms | plug-in, ms | plug-in / AIJ | least and most |\n|---|---|---|---|---|")
    table = []
    for step in range(arguments.steps):
        pairs = [seconds[step] for seconds, _ in rounds]
        ratios = [ours / aij for aij, ours in pairs]
        row = {"step": step + 1, "aij_ms": 1e3 * statistics.median(p[0] for p in pairs),
               "ours_ms": 1e3 * statistics.median(p[1] for p in pairs), "ratio": statistics.median(ratios),
               "least": min(ratios), "most": max(ratios)}
        table.append(row)
        print(f"| {row['step']} | {row['aij_ms']:.1f} | {row['ours_ms']:.1f} | {row['ratio']:.2f} | "
              f"{row['least']:.2f}, {row['most']:.2f} |")
    print(f"\n{rounds[-1][1]}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": csr.shape[0], "nonzeros": csr.nnz, "steps": table,
                                              "multiplies": arguments.multiplies, "rounds": arguments.rounds,
                                              "plugin": rounds[-1][1]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
