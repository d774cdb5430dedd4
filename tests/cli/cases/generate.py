"""The generators: sizes, and the properties that the mathematics promises, checked by SciPy."""
import numpy as np
import scipy.io

from cli import spmvpack


def generate(*words):
    spmvpack("generate", *words, "-o", "A.mtx", "-f")
    with open("A.mtx") as file:
        assert file.readline() == "%%MatrixMarket matrix coordinate real general\n"
        assert file.readline() == "% spmvpack generate " + " ".join(map(str, words)) + "\n"
    a = scipy.io.mmread("A.mtx").tocsr()
    rows, cols = a.shape
    assert rows == cols and spmvpack("generate", *words, "-o", "-", "--threads", 3) == open("A.mtx").read()
    return a


def size_line(*words):
    spmvpack("generate", *words, "-o", "A.mtx", "-f")
    with open("A.mtx") as file:
        return next(line for line in file if not line.startswith("%")).split()


# The published sizes: ecology1, ecology2, atmosmodd. The generator itself checks that it writes what the line says.
assert size_line("laplace2d", "--grid", "1000x1000") == ["1000000", "1000000", "4996000"]
assert size_line("laplace2d", "--grid", "1000x1000", "--remove-one") == ["999999", "999999", "4995991"]
assert size_line("convection-diffusion", "--grid", "148x148x58") == ["1270432", "1270432", "8814880"]
# And mc2depi and conf5.4-00l8x8.
assert size_line("epidemic", "--grid", "1025x513") == ["525825", "525825", "2100225"]
assert size_line("lattice-qcd", "--sites", 8) == ["49152", "49152", "1916928"]

for nx, ny in [(1, 1), (1, 5), (5, 1), (3, 3), (17, 300)]:
    a = generate("laplace2d", "--grid", f"{nx}x{ny}")
    assert a.shape[0] == nx * ny and a.nnz == 5 * nx * ny - 2 * (nx + ny)
    assert (a != a.T).nnz == 0 and (a.diagonal() == 4).all() and set(a.data) <= {4, -1}
    # Row sums: 4 minus the neighbours, as an independent stencil gives them.
    ones = np.pad(np.ones((ny, nx)), 1)
    neighbours = ones[:-2, 1:-1] + ones[2:, 1:-1] + ones[1:-1, :-2] + ones[1:-1, 2:]
    assert (a.sum(axis=1).A1 == (4 - neighbours).ravel()).all()

for nx, ny in [(3, 3), (4, 7)]:
    full = generate("laplace2d", "--grid", f"{nx}x{ny}")
    a = generate("laplace2d", "--grid", f"{nx}x{ny}", "--remove-one")
    keep = np.delete(np.arange(nx * ny), nx // 2 + nx * (ny // 2))
    assert (a != full[keep][:, keep]).nnz == 0 and a.nnz == full.nnz - 9

for variable in ([], ["--variable"]):
    for n in [(1, 1, 1), (1, 1, 4), (2, 3, 4), (20, 30, 10)]:
        nx, ny, nz = n
        a = generate("convection-diffusion", "--grid", f"{nx}x{ny}x{nz}", *variable)
        assert a.shape[0] == nx * ny * nz
        assert a.nnz == 7 * nx * ny * nz - 2 * (nx * ny + ny * nz + nz * nx)
        # The pattern is that of the 7-point stencil: neighbours differ by one step along one axis.
        coo = a.tocoo()
        rows = np.array(np.unravel_index(coo.row, n[::-1]))
        cols = np.array(np.unravel_index(coo.col, n[::-1]))
        assert (abs(rows - cols).sum(axis=0) <= 1).all()
        # An M-matrix, conservative: what leaves a cell enters its neighbours, so columns sum to 0 but at the boundary.
        off = a.data[coo.row != coo.col]
        assert (off < 0).all() and (a.diagonal() > 0).all()
        sums = a.sum(axis=0).A1.reshape(n[::-1])
        inner = sums[1:-1, 1:-1, 1:-1]
        assert (abs(inner) < 1e-12).all() and (sums > -1e-12).all()
        if n == (20, 30, 10):
            assert (a != a.T).nnz > 0
            distinct = len(np.unique(a.data))
            assert distinct == 5 if not variable else distinct > 0.5 * a.nnz, distinct
