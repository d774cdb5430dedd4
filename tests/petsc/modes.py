"""The modes in which the ranks of a matrix of the plug-in's type multiply together: results, changes, errors.

usage: modes.py -dll_append PLUGIN [--one-thread] [PETSc's options]

--one-thread: MPI says that it is for one thread, which mode task refuses.
"""

import ctypes
import sys
import tempfile

import numpy as np
import petsc4py

petsc4py.init([*sys.argv, "-mat_spmvpack_after", "1", "-mat_spmvpack_min_nnz", "0", "-mat_spmvpack_layout", "csell"])
from petsc4py import PETSc  # noqa: E402

COMM = PETSc.COMM_WORLD
RANK, RANKS = COMM.getRank(), COMM.getSize()
OURS, AIJ = ("seqaijspmvpack", "seqaij") if RANKS == 1 else ("mpiaijspmvpack", "mpiaij")
MODES = ("vector", "naive", "task")
N = 300
USER_INPUT, LIBRARY, UNSUPPORTED = 95, 76, 56  # PETSC_ERR_...
options = PETSc.Options()
# For functions that petsc4py does not have.
with open("/proc/self/maps", encoding="ascii") as file:
    petsc = ctypes.CDLL(next(line.split()[-1] for line in file if "libpetsc" in line and "spmvpack" not in line))


def call(name, *arguments):
    assert getattr(petsc, name)(*arguments) == 0, name



def entries(seed, first, last, n=N):
    """Rows of random entries, those of this rank."""
    rng = np.random.default_rng(seed)
    for r in range(n):  # each rank draws the same numbers
        columns = np.unique(np.append(rng.integers(0, n, 6), r))
        values = rng.standard_normal(columns.size)
        if first <= r < last:
            yield r, columns.astype(PETSc.IntType), values


def matrix(kind, seed=1, n=N):
    a = PETSc.Mat().create()
    a.setSizes([n, n])
    a.setType(kind)
    a.setPreallocationNNZ([7, 7])
    for r, columns, values in entries(seed, *a.getOwnershipRange(), n):
        a.setValues(r, columns, values)
    a.assemble()
    return a


def products(a, times=4):
    """A x, A x + y, the same in place, A^T x and A^T x + y."""
    x, y = a.createVecs()
    rng = np.random.default_rng(9)
    for v in (x, y):
        v.setArray(rng.standard_normal(v.getSize())[slice(*v.getOwnershipRange())])
    z, in_place, t = y.duplicate(), y.copy(), x.duplicate()
    results = []
    for _ in range(times):
        a.mult(x, z)
        results.append(z.getArray().copy())
    assert all(r.tobytes() == results[-1].tobytes() for r in results[-2:])  # from when it is encoded
    del results[:-1]
    a.multAdd(x, y, z)
    results.append(z.getArray().copy())
    a.multAdd(x, in_place, in_place)
    results.append(in_place.getArray().copy())
    assert results[1].tobytes() == results[2].tobytes()
    for _ in range(times):
        a.multTranspose(y, t)
    results.append(t.getArray().copy())
    a.multTransposeAdd(y, x, t)
    results.append(t.getArray().copy())
    return results


def close(found, expected):
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-12, atol=1e-12)


def same_bits(found, expected):
    assert [f.tobytes() for f in found] == [e.tobytes() for e in expected]


def in_all_modes(change, make=matrix):
    """Multiplies, changes the matrix, and multiplies again, beside AIJ; `change` may return another matrix."""
    results = {}
    for mode in ("AIJ", *MODES):
        options.setValue("mat_spmvpack_mode", "naive" if mode == "AIJ" else mode)
        a = make(AIJ if mode == "AIJ" else OURS)
        results[mode] = products(a)
        kept = change(a)
        results[mode] += products(a if kept is None else kept)
        if mode != "AIJ":
            close(results[mode], results["AIJ"])
    same_bits(results["naive"], results["task"])


def viewed(a):
    """What MatView() prints of this rank's block."""
    block = a.getDiagonalBlock() if RANKS > 1 else a
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = PETSc.Viewer().createASCII(file.name, comm=PETSc.COMM_SELF)
        viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO)
        block.view(viewer)
        viewer.destroy()
        return file.read()


def refused(make, code_here, code_elsewhere, here):
    """`make` throws on all ranks: on that with the cause, and on those that would wait for it."""
    PETSc.Sys.pushErrorHandler("ignore")
    try:
        make()
    except PETSc.Error as error:
        assert error.ierr == (code_here if here else code_elsewhere), error.ierr
    else:
        sys.exit("an option that cannot be was taken")
    finally:
        PETSc.Sys.popErrorHandler()


if "--one-thread" in sys.argv:
    options.setValue("mat_spmvpack_mode", "task")
    refused(lambda: matrix(OURS), UNSUPPORTED, UNSUPPORTED, True)
    sys.exit()

in_all_modes(lambda a: None)
in_all_modes(lambda a: a.scale(-3))
in_all_modes(lambda a: a.duplicate(copy=True))
in_all_modes(lambda a: a.transpose())


def other_columns(a, on=0):
    """One rank alone needs other columns."""
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    if RANK == on:
        a.setValue(a.getOwnershipRange()[0], (a.getOwnershipRange()[1] + 5) % N, 2.5)
    a.assemble()


def other_pattern(a):
    """As many entries in all, in other places: PETSc counts changes of patterns, by block."""
    for seed in (5, 6, 7):
        a.setPreallocationNNZ([7, 7])
        for r, columns, values in entries(seed, *a.getOwnershipRange()):
            a.setValues(r, columns, values)
        a.assemble()
        if seed == 5:
            products(a)


def by_coordinates(a, seed=3):
    rows = list(entries(seed, *a.getOwnershipRange()))
    lengths = [columns.size for _, columns, _ in rows]
    i = np.repeat([r for r, _, _ in rows], lengths).astype(PETSc.IntType)
    j = np.concatenate([columns for _, columns, _ in rows])
    v = np.concatenate([values for _, _, values in rows])
    handle = ctypes.c_void_p(a.handle)
    call("MatSetPreallocationCOO", handle, ctypes.c_ssize_t(i.size), *(ctypes.c_void_p(t.ctypes.data) for t in (i, j)))
    call("MatSetValuesCOO", handle, ctypes.c_void_p(v.ctypes.data), int(PETSc.InsertMode.INSERT_VALUES))


def there_and_back(a):
    kind = a.getType()
    a.convert("aij")
    products(a)
    a.convert("dense")
    a.convert("aij")
    if "spmvpack" in kind:
        a.convert("aijspmvpack")


in_all_modes(other_columns)
in_all_modes(lambda a: other_columns(a, RANKS - 1))
in_all_modes(other_pattern)
in_all_modes(by_coordinates)
in_all_modes(lambda a: (by_coordinates(a), products(a), by_coordinates(a, 4))[0])
in_all_modes(there_and_back)
in_all_modes(lambda a: a.zeroRows([r for r in range(*a.getOwnershipRange()) if r % 3 == 0], 2.0))
in_all_modes(lambda a: a.axpy(0.5, matrix(AIJ, 2), PETSc.Mat.Structure.DIFFERENT_NONZERO_PATTERN))
in_all_modes(lambda a: a.diagonalScale(*[v.set(2) or v for v in a.createVecs()]))


def set_up_again(a):
    for k in range(7):
        a.scale(1 + k)
        products(a)


def other_patterns(a):
    a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    for k in range(7):  # past max_changes
        first, last = a.getOwnershipRange()
        if first < last:
            a.setValue(first, (first + 11 * k + 5) % a.getSize()[1], 1.5)
        a.assemble()
        products(a)


in_all_modes(set_up_again)
in_all_modes(other_patterns)

# Ranks that need nothing of others, or have nothing.
in_all_modes(lambda a: None, lambda kind: matrix(kind, n=2))


def diagonal(kind):
    a = PETSc.Mat().create()
    a.setSizes([N, N])
    a.setType(kind)
    a.setPreallocationNNZ(1)
    for r in range(*a.getOwnershipRange()):
        a.setValue(r, r, r)
    a.assemble()
    return a


in_all_modes(lambda a: None, diagonal)

# MatHeaderReplace() exchanges what is under a matrix; here with the state that it had.
def replace(a, b, multiplies):
    """A copy of b, multiplied with so many times, becomes a."""
    state, copy, handle = ctypes.c_int64(), ctypes.c_void_p(), ctypes.c_void_p(a.handle)
    call("MatDuplicate", ctypes.c_void_p(b.handle), 1, ctypes.byref(copy))
    x, y = b.createVecs()
    for _ in range(multiplies):
        call("MatMult", copy, ctypes.c_void_p(x.handle), ctypes.c_void_p(y.handle))
    call("PetscObjectStateGet", handle, ctypes.byref(state))
    call("MatHeaderReplace", handle, ctypes.byref(copy))
    call("PetscObjectStateSet", handle, state)


def replaced(a):
    replace(a, matrix(a.getType(), 2), 0)
    products(a)
    replace(a, matrix(a.getType(), 3), 4)


in_all_modes(replaced)

# Products with dense matrices, whose columns may have gaps between them: beside AIJ's, and each column's bits are those
# of a multiply with it alone.
def dense(rows_of, k, gap):
    """k columns of random numbers, dealt out as a vector is."""
    b = PETSc.Mat().create()
    b.setSizes([rows_of.getSizes(), k])
    b.setType("dense")
    if gap:
        call("MatDenseSetLDA", ctypes.c_void_p(b.handle), rows_of.getLocalSize() + gap)
    b.setUp()
    values = np.random.default_rng(7).standard_normal((rows_of.getSize(), k))[slice(*rows_of.getOwnershipRange())]
    b.getDenseArray()[:, :] = values
    b.assemble()
    return b, values


def dense_products(kind, transpose, k, gap, times=2):
    """op(A) B, once more after a change of A, and of its columns alone."""
    a, found = matrix(kind), []
    x, y = a.createVecs()
    if transpose:
        x, y = y, x
    (b, values), c = dense(x, k, gap), None
    for scale in (1, -3):
        a.scale(scale)
        for _ in range(times):
            c = (a.transposeMatMult if transpose else a.matMult)(b, c)
        found.append(c.getDenseArray().copy())
        if kind == OURS and k and (RANKS == 1 or not transpose):
            assert RANKS > 1 or ("A^T in " if transpose else "A in ") in viewed(a), viewed(a)
            for j in range(k):
                x.setArray(values[:, j])
                (a.multTranspose if transpose else a.mult)(x, y)
                assert found[-1][:, j].tobytes() == y.getArray().tobytes(), (transpose, k, j)
    a.convert(AIJ)
    found.append((a.transposeMatMult if transpose else a.matMult)(b, c).getDenseArray().copy())
    return found


for transpose in (False, True):
    for k, gap in ((0, 0), (3, 5), (17, 0)):
        expected = dense_products(AIJ, transpose, k, gap)
        for mode in MODES:
            options.setValue("mat_spmvpack_mode", mode)
            close(dense_products(OURS, transpose, k, gap), expected)

# A layout that one rank cannot encode in: it says why and multiplies by AIJ, and all others go on.
for mode in MODES:
    n = 6000 * RANKS
    results = []
    for kind in (AIJ, OURS):
        options.setValue("mat_spmvpack_mode", mode)
        options.setValue("mat_spmvpack_layout", "dia" if RANK == RANKS - 1 else "csell")
        a = PETSc.Mat().create()
        a.setSizes([n, n])
        a.setType(kind)
        a.setPreallocationNNZ([3, 3])
        for r in range(*a.getOwnershipRange()):
            a.setValue(r, r, 1 + r)
            a.setValue(r, (r * r + 7 * r) % n, -2.5)
        a.assemble()
        results.append(products(a))
        results[-1].append(a.matMult(dense(a.createVecs()[0], 3, 1)[0]).getDenseArray().copy())
    close(*results)
    if RANKS > 1 and mode != "vector":
        text = viewed(a)
        assert ("A on AIJ: " if RANK == RANKS - 1 else "A in csell") in text, text


options.setValue("mat_spmvpack_layout", "csell")
if RANKS > 1:
    for alone in (False, True):
        here = RANK == 1 or not alone
        options.setValue("mat_spmvpack_mode", "both" if here else "task")
        refused(lambda: matrix(OURS), USER_INPUT, LIBRARY, here)
    options.setValue("mat_spmvpack_mode", "task")
    options.setValue("mat_spmvpack_layout", "zip" if RANK == 0 else "csell")
    refused(lambda: matrix(OURS), USER_INPUT, LIBRARY, RANK == 0)
    # Modes that differ between ranks send and receive the same.
    options.setValue("mat_spmvpack_layout", "csell")
    options.setValue("mat_spmvpack_mode", MODES[RANK % 3])
    close(products(matrix(OURS)), products(matrix(AIJ)))
