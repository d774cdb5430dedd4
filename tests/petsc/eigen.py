"""An ordinary program of slepc4py: eigenvalues and singular values.

usage: eigen.py RESULTS.json [options of PETSc and SLEPc]

Writes, by name, the values that were found.
"""

import json
import sys

import petsc4py
import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

N = 400


def matrix(symmetric):
    a = PETSc.Mat().create()
    a.setSizes([N, N])
    a.setFromOptions()
    a.setPreallocationNNZ(5)
    for r in range(*a.getOwnershipRange()):
        a.setValue(r, r, 4 + r / N)
        for c, v in ((r - 1, -1.0), (r + 1, -1.0 if symmetric else -0.5), (r - 20, -0.25), (r + 20, -0.25)):
            if 0 <= c < N:
                a.setValue(r, c, v)
    a.assemble()
    return a


results = {}
for name, kind, which in (
    ("hermitian", SLEPc.EPS.ProblemType.HEP, SLEPc.EPS.Which.LARGEST_MAGNITUDE),
    ("other", SLEPc.EPS.ProblemType.NHEP, SLEPc.EPS.Which.LARGEST_REAL),
):
    eps = SLEPc.EPS().create()
    eps.setOperators(matrix(kind == SLEPc.EPS.ProblemType.HEP))
    eps.setProblemType(kind)
    eps.setWhichEigenpairs(which)
    eps.setDimensions(3)
    eps.setTolerances(1e-10, 500)
    eps.solve()
    results[name] = [eps.getEigenvalue(i).real for i in range(3)]
svd = SLEPc.SVD().create()
svd.setOperator(matrix(False))
svd.setDimensions(2)
svd.setTolerances(1e-10, 500)
svd.solve()
results["singular values"] = [svd.getValue(i) for i in range(2)]
if PETSc.COMM_WORLD.getRank() == 0:
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
