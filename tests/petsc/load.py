"""Loads shares by MatLoad(), and multiplies.

usage: load.py FILE MATRIX.npz TYPE [PETSC OPTIONS]      prints "as SciPy's"
       load.py FILE - TYPE [PETSC OPTIONS]               prints on each rank how it was refused
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

path, expected, kind, *sizes = sys.argv[1:5]
comm = PETSc.COMM_WORLD
a = PETSc.Mat().create(comm)
a.setType(kind)
if "-test_sizes" in sys.argv:
    a.setSizes(((PETSc.DECIDE, 7), (PETSc.DECIDE, 7)))
viewer = PETSc.Viewer().createBinary(path, "r", comm=comm)
if expected == "-":
    try:
        a.load(viewer)
    except PETSc.Error as error:
        print(f"rank {comm.rank}: refused: {' '.join(str(error).split())}", flush=True)
        sys.exit(0)
    sys.exit("loaded")

a.load(viewer)
import scipy.sparse  # noqa: E402

whole = scipy.sparse.load_npz(expected).tocsr()
assert a.getSize() == whole.shape, a.getSize()
assert kind == "aij" or a.getType() == ("seqaijspmvpack" if comm.size == 1 else "mpiaijspmvpack"), a.getType()
# Each rank's rows, as the source numbers them.
numbers = a.query("spmvpack_original_rows")
begin, end = a.getOwnershipRange()
own = numbers.getIndices() if numbers else np.arange(begin, end, dtype=np.int32)
order = np.concatenate(comm.tompi4py().allgather(own)) if hasattr(comm, "tompi4py") and comm.size > 1 else own
columns = order if numbers else np.arange(whole.shape[1])
x, y = a.createVecs()
full = np.random.default_rng(3).standard_normal(whole.shape[1])
first, last = x.getOwnershipRange()
for _ in range(4):  # the last ones by the encoding
    x.array[:] = full[columns[first:last]]
    a.mult(x, y)
    assert np.allclose(y.array, (whole @ full)[own], rtol=1e-12, atol=1e-12)
nonzeros = a.getInfo(PETSc.Mat.InfoType.GLOBAL_SUM)["nz_used"]
assert nonzeros == whole.nnz, (nonzeros, whole.nnz)
# What is loaded is an AIJ as any other: A^T, the diagonal, another multiply after a change.
if whole.shape[0] == whole.shape[1] and not numbers:
    a.multTranspose(x, y)
    assert np.allclose(y.array, (whole.T @ full)[begin:end], rtol=1e-12, atol=1e-12)
    a.scale(2.0)
    a.mult(x, y)
    assert np.allclose(y.array, 2 * (whole @ full)[begin:end], rtol=1e-12, atol=1e-12)
    again = PETSc.Viewer().createBinary(path, "r", comm=comm)
    a.load(again)  # into a matrix that has been used
    a.mult(x, y)
    assert np.allclose(y.array, (whole @ full)[begin:end], rtol=1e-12, atol=1e-12)
    # A file of PETSc's own, written and read by the same type.
    own_file = PETSc.Viewer().createBinary(path + ".petsc", "w", comm=comm)
    a.view(own_file)
    own_file.destroy()
    b = PETSc.Mat().create(comm)
    b.setType(kind)
    b.load(PETSc.Viewer().createBinary(path + ".petsc", "r", comm=comm))
    z = y.duplicate()
    xb, zb = b.createVecs()
    xb.array[:] = full[slice(*xb.getOwnershipRange())]
    b.mult(xb, zb)
    assert abs(zb.norm() - y.norm()) < 1e-9 * max(y.norm(), 1)
if comm.rank == 0:
    print("as SciPy's", flush=True)
