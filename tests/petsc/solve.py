"""An ordinary program of petsc4py: solves linear systems with many pairs of a method and a preconditioner.

usage: solve.py RESULTS.json SIZE [PETSc's options]

SIZE is the side of a square grid, one more than a multiple of 4. Writes, by name, [iterations, norm of the residual, norm
of the solution].
"""

import json
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

N = int(sys.argv[2])
RANKS = PETSc.COMM_WORLD.getSize()
WIND = (0.4, 0.2)

# Name: options, whether for the symmetric matrix; at one rank and at several.
ONE = {
    "cg, jacobi": ("-ksp_type cg -pc_type jacobi", True),
    "cg, gamg": ("-ksp_type cg -pc_type gamg", True),
    "cg, icc": ("-ksp_type cg -pc_type bjacobi -sub_pc_type icc", True),
    "cg, mg": ("-ksp_type cg -pc_type mg -pc_mg_levels 3 -pc_mg_galerkin", True),
    "gmres, ilu": ("-ksp_type gmres -pc_type ilu", False),
    "bcgs, sor": ("-ksp_type bcgs -pc_type sor", False),
    "preonly, lu": ("-ksp_type preonly -pc_type lu", False),
    "gmres, asm": ("-ksp_type gmres -pc_type asm -pc_asm_blocks 4", False),
    "bicg, jacobi": ("-ksp_type bicg -pc_type jacobi", False),
    "cgne, jacobi": ("-ksp_type cgne -pc_type jacobi", False),
    "gmres, hypre": ("-ksp_type gmres -pc_type hypre", False),
    "preonly, mumps": ("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps", False),
    "preonly, superlu_dist": ("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu_dist", False),
    "pipecg, jacobi": ("-ksp_type pipecg -pc_type jacobi", True),
    "lsqr": ("-ksp_type lsqr -pc_type none -ksp_max_it 60", False),
}
SEVERAL = {
    "cg, gamg": ("-ksp_type cg -pc_type gamg", True),
    "cg, jacobi": ("-ksp_type cg -pc_type jacobi", True),
    "gmres, bjacobi": ("-ksp_type gmres -pc_type bjacobi", False),
    "gmres, hypre": ("-ksp_type gmres -pc_type hypre", False),
    "bcgs, sor": ("-ksp_type bcgs -pc_type sor", False),
    "gmres, asm": ("-ksp_type gmres -pc_type asm", False),
    "preonly, mumps": ("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps", False),
    "preonly, superlu_dist": ("-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type superlu_dist", False),
    "bicg, jacobi": ("-ksp_type bicg -pc_type jacobi", False),
    "cgne, jacobi": ("-ksp_type cgne -pc_type jacobi", False),
    "cg, mg": ("-ksp_type cg -pc_type mg -pc_mg_levels 3 -pc_mg_galerkin", True),
}


def fill(a, symmetric):
    """Diffusion with coefficients that differ from place to place, and wind unless symmetric; upwind, 5 points."""
    first, last = a.getOwnershipRange()

    def coefficient(i, j):
        return 1 + ((7 * i + 3 * j) % 11) / 10

    east, north = (0, 0) if symmetric else WIND
    for r in range(first, last):
        i, j = divmod(r, N)
        diagonal = 0.0
        for di, dj, wind in ((0, 1, 0), (0, -1, east), (1, 0, 0), (-1, 0, north)):
            c = coefficient(min(i, i + di), min(j, j + dj)) + wind
            diagonal += c
            if 0 <= i + di < N and 0 <= j + dj < N:
                a.setValue(r, (i + di) * N + j + dj, -c)
        a.setValue(r, r, diagonal)
    a.assemble()


def solve(options, symmetric):
    table = PETSc.Options()
    words = options.split()
    for k, word in enumerate(words):
        if word.startswith("-") and not word[1:2].isdigit():
            value = words[k + 1] if k + 1 < len(words) and not words[k + 1].startswith("-") else None
            table.setValue(word[1:], value)
    ksp = PETSc.KSP().create()
    if "-pc_type mg" in options:  # the grid makes the matrices of all levels
        grid = PETSc.DMDA().create([N, N], stencil_width=1, stencil_type=PETSc.DMDA.StencilType.STAR)
        grid.setFromOptions()
        ksp.setDM(grid)
        ksp.setDMActive(False)
        a = grid.createMatrix()
        row, entry = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        for i in range(*grid.getRanges()[0]):
            for j in range(*grid.getRanges()[1]):
                row.index = (i, j)
                for di, dj in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)):
                    entry.index = (i + di, j + dj)
                    if 0 <= i + di < N and 0 <= j + dj < N:
                        a.setValueStencil(row, entry, 4.0 if di == dj == 0 else -1.0)
        a.assemble()
    else:
        a = PETSc.Mat().create()
        a.setSizes([N * N, N * N])
        a.setFromOptions()
        a.setPreallocationNNZ(5)
        fill(a, symmetric)
    ksp.setOperators(a)
    x, b = a.createVecs()
    b.setArray([1 + (r % 17) / 17 for r in range(*b.getOwnershipRange())])
    ksp.setTolerances(rtol=1e-8, max_it=2000)
    ksp.setNormType(PETSc.KSP.NormType.NONE if "preonly" in options else PETSc.KSP.NormType.DEFAULT)
    ksp.setFromOptions()
    ksp.solve(b, x)
    r = b.duplicate()
    a.mult(x, r)
    r.aypx(-1, b)
    result = [ksp.getIterationNumber(), r.norm(), x.norm()]
    ksp.destroy()
    a.destroy()
    for word in words:
        if word.startswith("-"):
            table.delValue(word[1:])
    return result


results = {}
for case, (case_options, is_symmetric) in (ONE if RANKS == 1 else SEVERAL).items():
    results[case] = solve(case_options, is_symmetric)
if PETSc.COMM_WORLD.getRank() == 0:
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
