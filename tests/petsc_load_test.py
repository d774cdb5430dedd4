#!/usr/bin/env python3
"""PETSc's plug-in loads what `spmvpack encode --ranks` writes, and refuses what does not fit together.

usage: petsc_load_test.py SPMVPACK PLUGIN

Exits with 77, for skipped, without petsc4py or mpiexec.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import scipy.io
import scipy.sparse as sparse

from petsc_test import SKIPPED, has_module, program, run

SPMVPACK, PLUGIN = sys.argv[1:]


def encode(name, matrix, ranks, *options):
    scipy.io.mmwrite(f"{name}.mtx", matrix, precision=17, symmetry="general")
    sparse.save_npz(f"{name}.npz", matrix)
    return subprocess.run([SPMVPACK, "encode", f"{name}.mtx", "-f", "-q", "--ranks", str(ranks), *options],
                          capture_output=True, text=True, check=False).returncode


def load(ranks, path, expected, *options, kind="aijspmvpack"):
    return run(ranks, program("load.py", path, expected, kind, "-dll_append", PLUGIN, "-mat_spmvpack_after", "1",
                              "-mat_spmvpack_min_nnz", "0", "-mat_spmvpack_at_most", "1e9", *options))


def check(name, matrix, ranks, *options):
    assert encode(name, matrix, ranks, *options) == 0
    status, text = load(ranks, f"{name}.0of{ranks}.spmvc", f"{name}.npz")
    if status != 0 or "as SciPy's" not in text:
        sys.exit(f"{name}, {ranks} ranks, {options}: exit {status}\n{text}")


def refused(ranks, path, sentence, *options):
    """All ranks refuse, with the same sentence, and none waits for another."""
    status, text = load(ranks, path, "-", *options)
    if status != 0 or text.count(": refused: ") != ranks or sentence not in " ".join(text.split()):
        sys.exit(f"{path} at {ranks} ranks, expected '{sentence}': exit {status}\n{text}")


def main():
    if shutil.which("mpiexec") is None or not has_module("petsc4py.PETSc"):
        print("skipped: no mpiexec, or no petsc4py for PETSc's real build")
        sys.exit(SKIPPED)
    line = sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(12, 12))
    grid = sparse.csr_matrix(sparse.kronsum(line, line))
    odd = sparse.random(61, 61, 0.05, random_state=3, format="csr")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check("grid", grid, 3)
        check("grid", grid, 1)
        check("odd", odd, 3, "--value-type", "f64", "--layout", "ccoo", "--codec", "zstd")
        check("wide", sparse.random(30, 70, 0.1, random_state=4, format="csr"), 3)
        check("tall", sparse.random(70, 30, 0.1, random_state=5, format="csr"), 3)
        check("few", sparse.random(2, 2, 1.0, random_state=6, format="csr"), 3)  # more ranks than rows
        check("none", sparse.csr_matrix((6, 6)), 2)
        metis = encode("metis", grid, 3, "--partition", "metis") == 0
        if metis:
            check("metis", grid, 3, "--partition", "metis")
        print(f"shares of rows{' and of METIS' if metis else ''}: loaded, products as SciPy's")

        encode("grid", grid, 3)
        encode("grid", grid, 2)
        refused(2, "grid.0of3.spmvc", "a share of 3 ranks, of a program of 2")
        refused(3, "grid.0of2.spmvc", "a share of 2 ranks, of a program of 3")
        subprocess.run([SPMVPACK, "encode", "grid.mtx", "-q", "-f"], check=True)
        refused(2, "grid.spmvc", "not a share's file, of a program of 2 ranks")
        refused(3, "grid.0of3.spmvc", "leave the sizes to the file", "-test_sizes")
        keep = {rank: pathlib.Path(f"grid.{rank}of3.spmvc").read_bytes() for rank in range(3)}

        def with_rank(rank, content, sentence):
            path = pathlib.Path(f"grid.{rank}of3.spmvc")
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content)
            refused(3, "grid.0of3.spmvc", sentence)
            path.write_bytes(keep[rank])

        with_rank(2, None, "rank 2 cannot load its share")
        with_rank(1, keep[2], "the share of rank 2 of 3, expected that of 1 of 3")
        with_rank(1, keep[1][:5000], "rank 1 cannot load its share")
        with_rank(0, pathlib.Path("grid.spmvc").read_bytes(), "rank 0 cannot load its share")
        damaged = bytearray(keep[2])
        damaged[4100] ^= 1
        with_rank(2, damaged, "the checksum is wrong")
        encode("odd", odd, 3)
        with_rank(2, pathlib.Path("odd.2of3.spmvc").read_bytes(), "are not shares of one partition of one matrix")
        encode("other", grid * 2, 3)  # of the same sizes
        with_rank(1, pathlib.Path("other.1of3.spmvc").read_bytes(), "are not shares of one partition of one matrix")
        if metis:
            encode("metis", grid, 3, "--partition", "metis")
            with_rank(1, pathlib.Path("metis.1of3.spmvc").read_bytes(), "are not shares of one partition of one matrix")
        check("grid", grid, 3)
        print("files that do not fit together: refused by all ranks")


if __name__ == "__main__":
    main()
