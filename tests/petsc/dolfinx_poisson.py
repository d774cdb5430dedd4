"""An ordinary program of dolfinx: the Poisson equation with Lagrange elements on an unstructured mesh of triangles.

usage: dolfinx_poisson.py RESULTS.json SIZE [PETSc's options]

Writes, by name, [iterations, norm of the residual, norm of the solution].
"""

import json
import sys

import petsc4py

petsc4py.init(sys.argv)
import ufl  # noqa: E402
from dolfinx import fem, mesh  # noqa: E402
from dolfinx.fem import petsc as assembly  # noqa: E402
from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402

side = int(sys.argv[2])
domain = mesh.create_unit_square(MPI.COMM_WORLD, side, side)
results = {}
for degree in (1, 2):
    space = fem.FunctionSpace(domain, ("Lagrange", degree))
    u, v, x = ufl.TrialFunction(space), ufl.TestFunction(space), ufl.SpatialCoordinate(domain)
    domain.topology.create_connectivity(1, 2)
    edge = mesh.exterior_facet_indices(domain.topology)
    boundary = fem.dirichletbc(PETSc.ScalarType(0), fem.locate_dofs_topological(space, 1, edge), space)
    a = fem.form((1 + x[0] * x[1]) * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    f = fem.form(ufl.exp(x[0]) * v * ufl.dx)
    matrix = assembly.assemble_matrix(a, [boundary])
    matrix.assemble()
    b = assembly.assemble_vector(f)
    assembly.apply_lifting(b, [a], [[boundary]])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    assembly.set_bc(b, [boundary])
    for preconditioner in ("jacobi", "gamg"):
        ksp = PETSc.KSP().create(domain.comm)
        ksp.setOperators(matrix)
        ksp.setType("cg")
        ksp.getPC().setType(preconditioner)
        ksp.setTolerances(rtol=1e-8, max_it=2000)
        ksp.setFromOptions()
        solution = b.duplicate()
        ksp.solve(b, solution)
        r = b.duplicate()
        matrix.mult(solution, r)
        r.aypx(-1, b)
        results[f"degree {degree}, {preconditioner}"] = [ksp.getIterationNumber(), r.norm(), solution.norm()]
        ksp.destroy()
    matrix.destroy()
if PETSc.COMM_WORLD.getRank() == 0:
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
