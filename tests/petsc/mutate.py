"""An ordinary program of petsc4py: changes matrices in all ways that PETSc has and multiplies with them in between.

usage: mutate.py RESULTS.npz [PETSc's options]

Writes the gathered vector of every multiply, by name, so that runs with different types of matrices can be compared.
"""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

REPEATS = 3  # multiplies of one kind in a row: matrices are encoded after the first of them
results = {}


def matrix(rows=120, cols=None, per_row=7, seed=1):
    """Random entries, the diagonal among them; some rows are empty but for it."""
    cols = rows if cols is None else cols
    rng = np.random.default_rng(seed)
    a = PETSc.Mat().create()
    a.setSizes([rows, cols])
    a.setFromOptions()
    a.setPreallocationNNZ(2 * per_row + 1)
    first, last = a.getOwnershipRange()
    for r in range(rows):  # each rank draws the same numbers
        columns = np.unique(np.append(rng.integers(0, cols, per_row if r % 5 else 0), min(r, cols - 1)))
        values = rng.standard_normal(columns.size)
        values[columns == min(r, cols - 1)] += 10
        if first <= r < last:
            a.setValues(r, columns.astype(PETSc.IntType), values)
    a.assemble()
    return a


def gathered(v):
    scatter, all_of_it = PETSc.Scatter.toZero(v)
    scatter.scatter(v, all_of_it)
    return all_of_it.getArray().copy()


def vector(v, seed):
    first, last = v.getOwnershipRange()
    v.setArray(np.random.default_rng(seed).standard_normal(v.getSize())[first:last])
    return v


def record(name, a, transpose=True):
    """All four multiplies, often enough to be encoded, with the results of the last."""
    x, y = a.createVecs()
    vector(x, 5)
    x_of_transpose = vector(y.duplicate(), 6)
    add, add_transpose = vector(y.duplicate(), 7), vector(x.duplicate(), 8)
    for _ in range(REPEATS):
        a.mult(x, y)
    results[name] = gathered(y)
    z = y.duplicate()
    a.multAdd(x, add, z)
    results[f"{name}: add"] = gathered(z)
    z = add.copy()
    a.multAdd(x, z, z)
    results[f"{name}: add in place"] = gathered(z)
    if not transpose:
        return
    z = x.duplicate()
    for _ in range(REPEATS):
        a.multTranspose(x_of_transpose, z)
    results[f"{name}: transpose"] = gathered(z)
    a.multTransposeAdd(x_of_transpose, add_transpose, z)
    results[f"{name}: transpose add"] = gathered(z)
    z = add_transpose.copy()
    a.multTransposeAdd(x_of_transpose, z, z)
    results[f"{name}: transpose add in place"] = gathered(z)


def changed(name, change, a=None):
    """Multiplies, changes the matrix and multiplies again: an encoding that stays would give the result of before."""
    a = matrix() if a is None else a
    record(f"{name}: before", a, transpose=False)
    kept = change(a)
    record(name, a if kept is None else kept)


def set_values(a):
    first, last = a.getOwnershipRange()
    for r in range(first, last):
        a.setValue(r, r, 0.5 * r)
    a.assemble()


def new_entries(a):
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    first, last = a.getOwnershipRange()
    n = a.getSize()[1]
    for r in range(first, last, 3):
        a.setValue(r, (r * 7 + 3) % n, 2.5, addv=PETSc.InsertMode.ADD_VALUES)
    a.assemble()


def retrieve(a):
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_LOCATIONS, False)
    a.storeValues()
    record("retrieve: stored", a, transpose=False)
    a.scale(3)
    record("retrieve: scaled", a, transpose=False)
    a.retrieveValues()


def preallocate_again(a):
    a.setPreallocationNNZ(4)
    set_values(a)


def scaled_rows(a):
    left, right = a.createVecLeft(), a.createVecRight()
    a.diagonalScale(vector(left, 11), vector(right, 12))


def local_blocks(a):
    """Through the blocks of a parallel matrix, which have their own states."""
    if a.getComm().getSize() > 1:
        a.getDiagonalBlock().scale(2)
    else:
        a.scale(2)


def csr_in_place(a):
    """By the array of values."""
    if a.getComm().getSize() > 1:
        return
    indptr, indices, values = a.getValuesCSR()
    a.setValuesCSR(indptr, indices, 3 * values)
    a.assemble()


def rows_of(a, step):
    first, last = a.getOwnershipRange()
    return list(range(first, last, step))


record("plain", matrix())
record("wide", matrix(60, 200))
record("tall", matrix(200, 60))


def from_entries(name, rows, cols, entries):
    a = PETSc.Mat().create()
    a.setSizes([rows, cols])
    a.setFromOptions()
    a.setPreallocationNNZ(max(cols, 1))
    first, last = a.getOwnershipRange()
    for r, c, v in entries:
        if first <= r < last:
            a.setValue(r, c, v)
    a.assemble()
    record(name, a)


SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 5e-324, -5e-324, 1e308]
from_entries("nothing", 0, 0, [])
from_entries("no rows", 0, 5, [])
from_entries("no entries", 7, 7, [])
from_entries("one entry", 1, 1, [(0, 0, 3.5)])
from_entries("one row", 40, 40, [(17, c, c + 0.5) for c in range(40)])
from_entries("one column", 40, 40, [(r, 3, r - 0.5) for r in range(40)])
from_entries("special values", 64, 64, [(r, r, SPECIAL[r % 8]) for r in range(64)])
changed("values", set_values)
changed("pattern", new_entries)
changed("zero entries", lambda a: a.zeroEntries())
changed("zeroRows", lambda a: a.zeroRows(rows_of(a, 4), 2.0))
changed("zeroRowsColumns", lambda a: a.zeroRowsColumns(rows_of(a, 4), 2.0))


def keep_pattern(a):
    a.setOption(PETSc.Mat.Option.KEEP_NONZERO_PATTERN, True)
    a.zeroRows(rows_of(a, 5), 3.0)


changed("zeroRows, pattern kept", keep_pattern)
changed("shift", lambda a: a.shift(1.5))
changed("scale", lambda a: a.scale(-2))
changed("diagonalScale", scaled_rows)
changed("diagonalSet", lambda a: a.setDiagonal(vector(a.createVecLeft(), 13)))
changed("axpy, same pattern", lambda a: a.axpy(0.5, matrix(), PETSc.Mat.Structure.SAME_NONZERO_PATTERN))
changed("axpy, other pattern", lambda a: a.axpy(0.5, matrix(seed=2), PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN))
changed("aypx", lambda a: a.aypx(0.5, matrix(seed=3), PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN))
changed("copy", lambda a: matrix(seed=4).copy(a, PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN))
changed("retrieve", retrieve)
changed("preallocation", preallocate_again)
changed("local block", local_blocks)
changed("values of csr", csr_in_place)
changed("duplicate", lambda a: a.duplicate(copy=True))
changed("transpose", lambda a: a.transpose())
changed("transpose of a new matrix", lambda a: a.transpose(PETSc.Mat()))
changed("real part", lambda a: a.realPart())
changed("conjugate", lambda a: a.conjugate())


def duplicate_is_apart(a):
    b = a.duplicate(copy=True)
    b.scale(5)
    record("duplicate: scaled", b)
    return a


changed("duplicate: the original", duplicate_is_apart)


def products(a):
    b = matrix(seed=9)
    c = a.matMult(b)
    record("product", c)
    a.scale(2)
    c = a.matMult(b, result=c)
    record("product again", c)
    record("PtAP", a.ptap(b))
    record("A^T B", a.transposeMatMult(b))
    return a


changed("products", products)


def dense_products(a):
    d = PETSc.Mat().createDense([a.getSize()[1], 4], comm=a.getComm())
    d.setUp()
    first, last = d.getOwnershipRange()
    block = np.random.default_rng(21).standard_normal((a.getSize()[1], 4))
    d.setValues(range(first, last), range(4), block[first:last])
    d.assemble()
    for name, product in (("A D", a.matMult(d)), ("A^T D", a.transposeMatMult(d))):
        for j in range(4):
            results[f"{name}: column {j}"] = gathered(product.getColumnVector(j))
    return a


changed("dense products", dense_products)


def submatrix(a):
    first, last = a.getOwnershipRange()
    rows = PETSc.IS().createStride(last - first, first, 1, comm=a.getComm())
    return a.createSubMatrix(rows, rows)


changed("submatrix", submatrix)


def conversions(a):
    size = a.getComm().getSize()
    first = "seq" if size == 1 else "mpi"
    kinds = ["hypre", "is", "scalapack", "baij", "dense", first + "aij", "aijperm", "aijcrl", "aij"]
    if size == 1:  # PETSc 3.18 gives a parallel one vectors without a range
        kinds.append("sell")
    for kind in kinds:
        b = a.convert(kind, PETSc.Mat())
        x, y = b.createVecs()
        vector(x, 5)
        b.mult(x, y)
        results[f"convert to {kind}"] = gathered(y)
        if kind in ("hypre", "is", "scalapack"):
            continue
        c = b.convert("aijspmvpack" if "--ours" in sys.argv else "aij", PETSc.Mat())
        record(f"convert from {kind}", c)
    return a


changed("conversions", conversions)
inplace = matrix()
record("in place", inplace)
inplace.convert("dense")
record("in place, to dense", inplace, transpose=False)

def again(a):
    """Products, transposes and parts that are computed anew into matrices that have been multiplied with."""
    b = matrix(seed=9)
    rows = PETSc.IS().createStride(a.getLocalSize()[0], a.getOwnershipRange()[0], 1, comm=a.getComm())
    made = {
        "PtAP": (a.ptap(b), lambda c: a.ptap(b, result=c)),
        "transpose": (a.transpose(PETSc.Mat()), a.transpose),
        "submatrix": (a.createSubMatrix(rows, rows), lambda c: a.createSubMatrix(rows, rows, c)),
    }
    for name, (c, _) in made.items():
        record(f"again: {name} before", c)
    a.scale(-0.5)
    for name, (c, make) in made.items():
        make(c)
        record(f"again: {name}", c)
    return a


changed("again", again)



def to_the_diagonal(a):
    """Another pattern with as many entries."""
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    a.zeroRows(rows_of(a, 1), 2.0)


cyclic = PETSc.Mat().create()
cyclic.setSizes([50, 50])
cyclic.setFromOptions()
cyclic.setPreallocationNNZ([1, 1])
for r in range(*cyclic.getOwnershipRange()):
    cyclic.setValue(r, (r + 1) % 50, r + 0.5)
cyclic.assemble()
changed("zeroRows, as many entries", to_the_diagonal, cyclic)

# Values that change again and again; and patterns, past -mat_spmvpack_max_changes, when the matrix stays on AIJ.
a = matrix()
for i in range(8):
    a.scale(1.1)
    record(f"new values {i}", a)
a = matrix()
for i in range(8):
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    first, last = a.getOwnershipRange()
    for r in range(first, last, 10):
        a.setValue(r, (r + 11 * i + 5) % a.getSize()[1], 1.5 + i)
    a.assemble()
    record(f"new pattern {i}", a)
    a.shift(0.1)
    record(f"new pattern {i}, and values", a)
if PETSc.COMM_WORLD.getRank() == 0:
    np.savez(sys.argv[1], **results)
