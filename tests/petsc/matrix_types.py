"""What the plug-in's types of matrices do beyond AIJ's: conversions by name, the lines of MatView(), errors.

usage: matrix_types.py -dll_append PLUGIN [PETSc's options]
"""

import re
import sys
import tempfile

import numpy as np
import petsc4py

petsc4py.init([*sys.argv, "-mat_spmvpack_after", "1", "-mat_spmvpack_min_nnz", "0", "-mat_spmvpack_layout", "csell"])
from petsc4py import PETSc  # noqa: E402

RANKS = PETSc.COMM_WORLD.getSize()
OURS, AIJ = ("seqaijspmvpack", "seqaij") if RANKS == 1 else ("mpiaijspmvpack", "mpiaij")


def matrix(n=200, kind=None, prefix=None):
    a = PETSc.Mat().create()
    a.setOptionsPrefix(prefix)
    a.setSizes([n, n])
    a.setType(AIJ if kind is None else kind)
    a.setPreallocationNNZ(4)
    for r in range(*a.getOwnershipRange()):
        for c, v in ((r, 4.0 + r % 7), ((r + 1) % n, -1.5), ((r + 50) % n, 0.25)):
            a.setValue(r, c, v)
    a.assemble()
    return a


def product(a, times=4):
    x, y = a.createVecs()
    x.setArray(1.0 / (1 + np.arange(*x.getOwnershipRange())))
    for _ in range(times):
        a.mult(x, y)
    return y.getArray().copy()


def viewed(a):
    """What MatView() prints of this rank's block."""
    block = a.getDiagonalBlock() if RANKS > 1 else a
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = PETSc.Viewer().createASCII(file.name, comm=PETSc.COMM_SELF)
        viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO)
        block.view(viewer)
        viewer.destroy()
        return file.read()


def require_encoded(a):
    text = viewed(a)
    assert "A in csell" in text and "of AIJ's" in text and "multiplies in" in text, text


reference = product(matrix())
assert np.array_equal(reference, product(matrix()))


def require_same(a, kind):
    assert a.getType() == kind, (a.getType(), kind)
    np.testing.assert_allclose(product(a), reference, rtol=1e-14, atol=0)


# The types by their names, and by the name of their root, as -mat_type gives it.
for name in (OURS, "aijspmvpack"):
    a = matrix(kind=name)
    require_same(a, OURS)
    require_encoded(a)

# Conversions: a new matrix, in place, and to a matrix that is there.
plain = matrix()
converted = plain.convert("aijspmvpack", PETSc.Mat())
require_same(converted, OURS)
require_encoded(converted)
require_same(plain, AIJ)
plain.convert("aijspmvpack")
require_same(plain, OURS)
require_encoded(plain)
back = plain.convert("aij", PETSc.Mat())
require_same(back, AIJ)
assert "spmvpack" not in viewed(back)
plain.convert("aij")
require_same(plain, AIJ)
assert "spmvpack" not in viewed(plain)

# In place to another type and back: the matrix is another's data under its old header.
converted.convert("dense")
np.testing.assert_allclose(product(converted), reference, rtol=1e-14, atol=0)
converted.convert("aijspmvpack")
require_same(converted, OURS)
require_encoded(converted)

# A copy of a matrix of ours is one, and apart from it.
a = matrix(kind="aijspmvpack")
b = a.duplicate(copy=True)
b.scale(2)
require_same(a, OURS)
np.testing.assert_allclose(product(b), 2 * reference, rtol=1e-14, atol=0)
require_encoded(b)

# New values are updates, from the second time on. Other changes are counted, and end.
for k in range(6):
    a.scale(-1)
    np.testing.assert_allclose(product(a), reference * (-1) ** (k + 1), rtol=1e-14, atol=0)
assert re.search("A in csell.*; encoded 2 times in .*, updated 5 times in", viewed(a)), viewed(a)
a.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
for k in range(4):
    first, last = a.getOwnershipRange()
    a.setValue(first, last - 1 - k, 0.0)
    a.assemble()
    np.testing.assert_allclose(product(a), reference, rtol=1e-14, atol=0)
assert "on AIJ, as it has changed 5 times" in viewed(a), viewed(a)

# What auto does not predict to gain stays.
options = PETSc.Options()
options.setValue("mat_spmvpack_layout", "auto")
options.setValue("mat_spmvpack_at_most", 0)
a = matrix(kind="aijspmvpack")
require_same(a, OURS)
assert "A on AIJ: " in viewed(a) and "of csr's time, more than 0" in viewed(a), viewed(a)
options.delValue("mat_spmvpack_at_most")

# A prefix has options of its own.
options.setValue("mat_spmvpack_min_nnz", 1000000)
options.setValue("own_mat_spmvpack_min_nnz", 0)
options.setValue("own_mat_spmvpack_layout", "ccoo")
options.setValue("own_mat_spmvpack_after", 0)
for prefix, expected in ((None, "on AIJ so far"), ("own_", "A in ccoo")):
    a = PETSc.Mat().create(PETSc.COMM_SELF)
    a.setOptionsPrefix(prefix)
    a.setSizes([50, 50])
    a.setType("seqaijspmvpack")
    a.setPreallocationNNZ(1)
    for r in range(50):
        a.setValue(r, r, r)
    a.assemble()
    x, y = a.createVecs()
    x.set(1)
    a.mult(x, y)
    assert np.array_equal(y.getArray(), np.arange(50))
    if prefix is None and RANKS > 1:
        continue
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = PETSc.Viewer().createASCII(file.name, comm=PETSc.COMM_SELF)
        viewer.pushFormat(PETSc.Viewer.Format.ASCII_INFO)
        a.view(viewer)
        viewer.destroy()
        text = file.read()
    assert expected in text, text

# So have both blocks, and in mode vector the matrix of both: petsc_test.py counts what is printed.
options.setValue("own_mat_spmvpack_view", True)
for mode, layout, before in (("naive", "ccoo", False), ("vector", "sell", False), ("naive", "bitflag", True)):
    options.setValue("own_mat_spmvpack_mode", mode)
    options.setValue("own_mat_spmvpack_layout", layout)
    if before:  # blocks that are ours before the whole is
        options.setValue("mat_seqaij_type", "seqaijspmvpack")
    a = matrix(kind="aijspmvpack", prefix="own_")
    require_same(a, OURS)
    if mode == "naive" or RANKS == 1:
        assert f"A in {layout}" in viewed(a), viewed(a)
    a.destroy()
options.delValue("mat_seqaij_type")

# A layout that one rank cannot encode in: it says why, multiplies by AIJ, and all others go on.
options.setValue("mat_spmvpack_layout", "dia" if PETSc.COMM_WORLD.getRank() == RANKS - 1 else "csell")
options.setValue("mat_spmvpack_min_nnz", 0)
n = 6000 * RANKS
products = []
for kind in (AIJ, OURS):
    a = PETSc.Mat().create()
    a.setSizes([n, n])
    a.setType(kind)
    a.setPreallocationNNZ(3)
    for r in range(*a.getOwnershipRange()):
        a.setValue(r, r, 1 + r)
        a.setValue(r, (r * r + 7 * r) % n, -2.5)
    a.assemble()
    products.append(product(a))
np.testing.assert_allclose(*products, rtol=1e-12)
text = viewed(a)
if PETSc.COMM_WORLD.getRank() == RANKS - 1:
    assert "A on AIJ: " in text and "dia" in text, text
else:
    assert "A in csell" in text, text

# Chosen by measured times; predicted ones are those of any machine.
options.setValue("mat_spmvpack_layout", "auto")
options.setValue("mat_spmvpack_at_most", 1e9)
for option, value in (("mat_spmvpack_tune", True), ("mat_spmvpack_target", "h100")):
    options.setValue(option, value)
    a = matrix(kind="aijspmvpack")
    require_same(a, OURS)
    assert "A in " in viewed(a), viewed(a)
    if option == "mat_spmvpack_tune":
        assert "measured" in viewed(a), viewed(a)
    options.delValue(option)


def require_error(number, what):
    try:
        matrix(kind="aijspmvpack")
    except PETSc.Error as error:
        assert error.ierr == number, error.ierr
    else:
        sys.exit(f"{what} was taken")


# What is no name of its kind is an error, at once.
USER_INPUT, UNSUPPORTED = 95, 56
for option, value in (("mat_spmvpack_layout", "zip"), ("mat_spmvpack_target", "tpu")):
    options.setValue(option, value)
    require_error(USER_INPUT, value)
    options.delValue(option)

# Without CUDA, there are no matrices on a GPU.
for kind in ("aijcusparsespmvpack", OURS.replace("aij", "aijcusparse")):
    try:
        matrix(kind=kind)
    except PETSc.Error as error:
        assert error.ierr == UNSUPPORTED, error.ierr
        assert "there are no matrices on a GPU, as this PETSc is built without CUDA" in str(error), str(error)
    else:
        sys.exit(f"{kind} was made without CUDA")
