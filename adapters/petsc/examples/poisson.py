#!/usr/bin/env python3
"""Poisson's equation on a square with petsc4py, by whatever its options say:

    python3 poisson.py -n 500
    python3 poisson.py -n 500 -dll_append libspmvpack-petsc.so -mat_type aijspmvpack
    mpiexec -n 2 python3 poisson.py -n 500 -dll_append libspmvpack-petsc.so -mat_seqaij_type seqaijspmvpack -log_view

The matrix takes the type of -mat_type (setFromOptions()), and its local blocks that of -mat_seqaij_type.
"""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

n = PETSc.Options().getInt("n", 100)
A = PETSc.Mat().create()
A.setSizes([n * n, n * n])
A.setFromOptions()
A.setPreallocationNNZ(5)
for row in range(*A.getOwnershipRange()):
    i, j = divmod(row, n)
    A.setValue(row, row, 4)
    for neighbour, inside in ((row - n, i > 0), (row - 1, j > 0), (row + 1, j < n - 1), (row + n, i < n - 1)):
        if inside:
            A.setValue(row, neighbour, -1)
A.assemble()
u, f = A.createVecs()
f.set(1 / (n + 1) ** 2)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-8)
ksp.setFromOptions()
ksp.solve(f, u)
maximum = u.max()[1]
PETSc.Sys.Print(f"{A.getType()}: solved in {ksp.getIterationNumber()} iterations, maximum {maximum:.6f}")
