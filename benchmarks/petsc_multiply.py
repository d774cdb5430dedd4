#!/usr/bin/env python3
"""The local multiply of PETSc's AIJ beside that of spmvpack's plug-in, on one rank or more.

usage: [mpiexec -n RANKS] petsc_multiply.py PLUGIN MATRIX... [--least NONZEROS] [--rounds N] [--json FILE] [-- PETSC OPTIONS]

MATRIX is a Matrix Market file, plain or compressed by gzip or zstd; those with fewer nonzeros than --least are left out.
For each, both types of matrices multiply by turns, in rounds of as many multiplies as take about 5 ms; the figures are
medians over the rounds. Options of PETSc choose what is measured, such as -mat_spmvpack_layout csell. A matrix that
stays on AIJ has a ratio of about 1, by noise alone: it is marked, and counted as 1 in the geometric mean. Of several
ranks, each multiplies by its diagonal block, all at the same time, and the slowest counts.

Needs petsc4py, NumPy, SciPy and, for .zst, the command zstd.
"""

import argparse
import gzip
import io
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse

ROUND_SECONDS = 5e-3


def read(path):
    if path.suffix == ".zst":
        data = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    elif path.suffix == ".gz":
        data = gzip.decompress(path.read_bytes())
    else:
        data = path.read_bytes()
    a = scipy.sparse.csr_matrix(scipy.io.mmread(io.BytesIO(data)))
    if np.iscomplexobj(a.data):
        return None
    a.sum_duplicates()
    return a


class Ranks:
    """What the ranks have in common. PETSc's vectors do what messages would."""

    def __init__(self, petsc):
        self.number, self.own = petsc.COMM_WORLD.getSize(), petsc.COMM_WORLD.getRank()
        self.values = petsc.Vec().createMPI((1, self.number))

    def most(self, value):
        self.values.setArray([value])
        return self.values.max()[1]

    def block(self, csr, petsc):
        """This rank's block of rows and columns, as PETSc shares them out."""
        rows, columns = (slice(*petsc.Vec().createMPI(n).getOwnershipRange()) for n in csr.shape)
        return csr[rows, columns]


def seconds_of(multiplies, a, x, y, ranks):
    ranks.most(0)  # all begin together
    start = time.perf_counter()
    for _ in range(multiplies):
        a.mult(x, y)
    return ranks.most((time.perf_counter() - start) / multiplies)


def what_became_of(a, petsc):
    """The line that MatView() adds."""
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = petsc.Viewer().createASCII(file.name, comm=petsc.COMM_SELF)
        viewer.pushFormat(petsc.Viewer.Format.ASCII_INFO)
        a.view(viewer)
        viewer.destroy()
        return next(line.strip() for line in file if "spmvpack:" in line)


def measure(path, whole, rounds, petsc, ranks):
    csr = ranks.block(whole, petsc)
    aij = petsc.Mat().createAIJ(csr.shape, csr=(csr.indptr, csr.indices, csr.data.astype(float)), comm=petsc.COMM_SELF)
    ours = aij.convert("seqaijspmvpack", petsc.Mat())
    x, y = aij.createVecs()
    x.setArray(np.random.default_rng(1).standard_normal(csr.shape[1]))
    z = y.duplicate()
    aij.mult(x, y)
    after = petsc.Options().getInt("mat_spmvpack_after", 10)
    for _ in range(after + 3):
        ours.mult(x, z)
    scale = abs(csr) @ np.abs(x.getArray())
    if not np.allclose(y.getArray(), z.getArray(), rtol=0, atol=1e-12 * scale.max()):
        sys.exit(f"{path.name}: the results differ")
    multiplies = max(1, round(ROUND_SECONDS / seconds_of(3, aij, x, y, ranks)))
    times = {"aij": [], "ours": []}
    for _ in range(rounds):
        times["aij"].append(seconds_of(multiplies, aij, x, y, ranks))
        times["ours"].append(seconds_of(multiplies, ours, x, z, ranks))
    line = what_became_of(ours, petsc)
    result = {
        "matrix": path.name,
        "ranks": ranks.number,
        "rows": whole.shape[0],
        "nonzeros": int(whole.nnz),
        "encoded": ranks.most(0 if " A in " in line else 1) == 0,
        "aij_us": 1e6 * statistics.median(times["aij"]),
        "ours_us": 1e6 * statistics.median(times["ours"]),
        "least_us": {kind: 1e6 * min(times[kind]) for kind in times},  # for a machine that others use, too
        "said": line,
    }
    result["ratio"] = statistics.median(a / o for a, o in zip(times["aij"], times["ours"]))
    return result


def main():
    own, _, for_petsc = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin")
    parser.add_argument("matrices", nargs="+", type=pathlib.Path)
    parser.add_argument("--least", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args(own.split())
    import petsc4py

    petsc4py.init(["petsc_multiply", "-dll_append", options.plugin, *for_petsc.split()])
    from petsc4py import PETSc

    results, ranks = [], Ranks(PETSc)
    if ranks.own != 0:
        sys.stdout = io.StringIO()
    print(f"{'matrix':28} {'nonzeros':>10} {'AIJ us':>9} {'ours us':>9} {'ratio':>6}")
    for path in options.matrices:
        csr = read(path)
        if csr is None or csr.nnz < options.least:
            continue
        r = measure(path, csr, options.rounds, PETSc, ranks)
        results.append(r)
        print(f"{r['matrix']:28} {r['nonzeros']:10,} {r['aij_us']:9.1f} {r['ours_us']:9.1f} {r['ratio']:6.2f}  "
              f"{r['said'].partition('nonzeros: ')[2]}", flush=True)
    encoded = [r for r in results if r["encoded"]]
    mean = math.exp(sum(math.log(r["ratio"]) for r in encoded) / max(1, len(results)))
    print(f"{len(encoded)} of {len(results)} encoded; AIJ's time over ours: {mean:.3f} (geometric mean, 1 for the others)"
          + (f", least {min(r['ratio'] for r in encoded):.3f}" if encoded else ""))
    if options.json and ranks.own == 0:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
