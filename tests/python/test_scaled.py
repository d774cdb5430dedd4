"""D_r A D_c of an encoded matrix: the rounding of docs/LAYOUTS.md, in every form of x, with factors that change."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as scipy_linalg

import spmvpack as sp
from cuda_arrays import DeviceArray, Stream
from spmvpack import _native
from support import random_csr, same_bits

A = random_csr(60, 50, 6, 2)
RNG = np.random.default_rng(3)
ROWS, COLUMNS = RNG.standard_normal(60), RNG.standard_normal(50)


def devices():
    try:
        return _native.device_count()
    except sp.Error:
        return 0


needs_gpu = pytest.mark.skipif(not devices(), reason="there is no GPU")


def by_parts(m, rows, columns, x, transpose=False):
    """What the factors do, by products without: alpha is 1 and beta 0."""
    of_x, of_y = (rows, columns) if transpose else (columns, rows)
    down = (slice(None), None) if x.ndim == 2 else slice(None)
    y = (m.rmatvec if transpose else m.matvec)(x if of_x is None else of_x[down] * x)
    return y if of_y is None else of_y[down] * y


@pytest.mark.parametrize("factors", [(ROWS, COLUMNS), (ROWS, None), (None, COLUMNS), (None, None)])
def test_products_have_the_bits_of_their_parts(factors):
    m = sp.encode(A, transpose=True)
    s = m.scaled(*factors)
    assert (s.shape, s.dtype, s.nnz, s.has_transpose) == (m.shape, m.dtype, m.nnz, True)
    for size, transpose in ((50, False), (60, True)):
        t = s.T if transpose else s
        for x in (RNG.standard_normal(size), RNG.standard_normal((size, 3)), RNG.standard_normal((3, size)).T,
                  RNG.standard_normal(2 * size)[::2], RNG.standard_normal(size) + 1j * RNG.standard_normal(size),
                  RNG.standard_normal((size, 0))):
            expected = by_parts(m, *factors, x, transpose)  # but for signs of zeros
            y = t @ x
            assert np.array_equal(y, expected) and y.flags.f_contiguous == expected.flags.f_contiguous
            assert same_bits((s.rmatvec if transpose else s.matvec)(x), y)
            assert same_bits(x.T @ t.T, y.T)
    assert s.T.T is s and s.T.shape == (50, 60)
    turned = m.T.scaled(factors[1], factors[0])
    x = RNG.standard_normal(60)
    assert same_bits(turned @ x, s.T @ x)
    assert same_bits(s @ list(COLUMNS), s @ COLUMNS)


def test_alpha_and_beta_and_factors_that_change():
    m = sp.encode(A, transpose=True)
    rows, columns = ROWS.copy(), COLUMNS.copy()
    s = m.scaled(rows=rows, columns=columns)
    for _ in range(2):
        x, y = RNG.standard_normal(50), RNG.standard_normal(60)
        expected = -2 * (rows * (A @ (columns * x))) + 0.5 * y
        assert s.multiply(x, y, alpha=-2, beta=0.5, threads=1) is y
        np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)
        z, y = RNG.standard_normal(60), np.full(50, np.nan)
        s.T.multiply(z, y)
        np.testing.assert_allclose(y, columns * (A.T @ (rows * z)), rtol=1e-13, atol=1e-13)
        rows *= 3
        columns -= 1
    again = pickle.loads(pickle.dumps(s))
    assert same_bits(again @ x, s @ x)


def test_float32_takes_factors_of_the_vectors_type():
    m = sp.encode(A.astype(np.float32))
    single = m.scaled(ROWS.astype(np.float32), COLUMNS.astype(np.float32))
    double = m.scaled(ROWS, COLUMNS)
    assert (single @ COLUMNS.astype(np.float32)).dtype == np.float32
    assert (single @ COLUMNS.astype(np.complex64)).dtype == np.complex64
    assert (double @ COLUMNS).dtype == np.float64
    with pytest.raises(TypeError, match="rows is float64 and x is float32: factors are of the real type of x"):
        double @ COLUMNS.astype(np.float32)


def test_a_solver_and_a_matrix_of_scipy_again():
    grid = sparse.csr_array(sparse.kronsum(*2 * [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (7, 7))]))
    grid = sparse.csr_array(grid + sparse.diags(np.arange(49.0)))
    d = 1 / np.sqrt(grid.diagonal())
    s = sp.encode(grid).scaled(d, d)
    np.testing.assert_allclose(s.diagonal(), 1)
    assert np.array_equal(s.tocsr().indices, grid.indices) and s.toarray().shape == (49, 49)
    b = RNG.standard_normal(49)
    for operator in (s, s.linear_operator(threads=1)):
        x, info = scipy_linalg.cg(operator, d * b)
        assert info == 0
        np.testing.assert_allclose(grid @ (d * x), b, rtol=1e-3, atol=1e-3)


def test_what_does_not_fit_is_refused():
    m = sp.encode(A)
    for arguments, error, text in (
            ((COLUMNS, None), ValueError, r"rows has shape \(50,\), expected \(60,\)"),
            ((None, ROWS), ValueError, r"columns has shape \(60,\), expected \(50,\)"),
            ((ROWS[:, None], None), ValueError, r"rows has shape \(60, 1\)"),
            ((np.repeat(ROWS, 2)[::2], None), ValueError, "rows is not contiguous"),
            ((ROWS.astype(np.float32), None), TypeError, "rows is float32"),
            ((ROWS.astype(int), None), TypeError, "rows is int64"),
            ((ROWS + 1j, None), TypeError, "rows is complex128"),
            ((None, "c"), TypeError, "columns is of type str"),
            ((None, np.ma.masked_less(COLUMNS, 0)), ValueError, "columns has masked elements")):
        with pytest.raises(error, match=text):
            m.scaled(*arguments)
    s = m.scaled(ROWS, COLUMNS)
    with pytest.raises(sp.Error, match="without its transpose"):
        s.T  # noqa: B018
    with pytest.raises(sp.Error, match="the factors of rows and y overlap"):
        s.multiply(COLUMNS, ROWS)
    with pytest.raises(TypeError, match="product of two sparse matrices"):
        s @ m
    with pytest.raises(TypeError, match="on a GPU"):
        s.prepare()
    with pytest.raises(ValueError, match="x has shape"):
        s @ ROWS


@needs_gpu
@pytest.mark.parametrize("layout", ["csell", "ccoo"])
def test_scaled_on_a_gpu_has_the_bits_of_the_host_and_follows_factors_in_a_graph(layout):
    m = sp.encode(A, layout, transpose=True)
    stream = Stream()
    x, v = RNG.standard_normal(50), RNG.standard_normal(60)
    on_device = {name: DeviceArray.from_numpy(value, stream)
                 for name, value in (("r", ROWS), ("c", COLUMNS), ("x", x), ("v", v), ("y", v.copy()), ("z", x.copy()))}
    host, s = m.scaled(ROWS, COLUMNS), m.to().scaled(on_device["r"], on_device["c"])
    assert s.multiply(on_device["x"], on_device["y"], alpha=2.0, beta=-0.5, stream=stream) is on_device["y"]
    s.T.multiply(on_device["v"], on_device["z"], alpha=2.0, stream=stream)
    stream.synchronize()
    assert same_bits(on_device["y"].get(), host.multiply(x, v.copy(), 2.0, -0.5))
    assert same_bits(on_device["z"].get(), host.T.multiply(v, np.zeros(50), 2.0))
    s.prepare(stream)
    only_rows = m.to().scaled(rows=on_device["r"])
    only_rows.prepare(stream)
    graph = stream.capture(lambda: s.multiply(on_device["x"], on_device["y"], stream=stream))
    only_rows.multiply(on_device["x"], on_device["y"], stream=stream)
    stream.synchronize()
    assert same_bits(on_device["y"].get(), m.scaled(rows=ROWS) @ x)
    stream.launch(graph)
    stream.synchronize()
    assert same_bits(on_device["y"].get(), host @ x)
    with pytest.raises(ValueError, match="x is on the host, the scaled matrix on a GPU"):
        s @ x
    with pytest.raises(sp.Error, match="the factors of rows and y overlap"):
        s.multiply(on_device["x"], on_device["r"], stream=stream)


def test_scaled_with_cupy():
    cupy = pytest.importorskip("cupy")
    if not devices():
        pytest.skip("there is no GPU")
    m = sp.encode(A, "csell", transpose=True)
    s, host = m.to().scaled(cupy.asarray(ROWS), cupy.asarray(COLUMNS)), m.scaled(ROWS, COLUMNS)
    for x in (COLUMNS, RNG.standard_normal((50, 3)), RNG.standard_normal((3, 50)).T, COLUMNS + 2j * COLUMNS):
        assert same_bits(np.ascontiguousarray(cupy.asnumpy(s @ cupy.asarray(x))), np.ascontiguousarray(host @ x))
    assert same_bits(cupy.asnumpy(s.T @ cupy.asarray(ROWS)), host.T @ ROWS)
    assert same_bits(cupy.asnumpy(s.linear_operator() @ cupy.asarray(COLUMNS)), host @ COLUMNS)
