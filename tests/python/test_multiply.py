"""A @ x: right, with the bits of the command line, from many threads, without leaks."""

import array
import gc
import resource
import sys
import threading
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import spmvpack as sp
from support import assert_product, in_threads, nasty_matrices, needs_command, random_csr, same_bits, spmvpack

MATRICES = dict(nasty_matrices())


def vector(size, seed=1, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(size).astype(dtype)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("layout", ["auto", "csr", "coo", "sell", "ccoo", "csell"])
def test_a_product_is_right(name, layout):
    a = MATRICES[name]
    x = vector(a.shape[1], dtype=a.dtype)
    y = sp.encode(a, layout, force_size=True) @ x
    assert y.dtype == a.dtype
    assert_product(a, x, y)


@needs_command
@pytest.mark.parametrize("layout", ["csr", "ccoo", "csell", "hyb"])
def test_a_product_has_the_bits_of_the_command_line(layout, tmp_path):
    a = random_csr(400, 300, 12, 7)
    m = sp.encode(a, layout)
    m.save(tmp_path / "a.spmvc")
    x = vector(300)
    header = "%%MatrixMarket matrix array real general\n300 1\n"
    (tmp_path / "x.mtx").write_text(header + "".join(f"{v!r}\n" for v in x.tolist()))
    told = spmvpack("multiply", tmp_path / "a.spmvc", "--x", tmp_path / "x.mtx").splitlines()
    expected = np.array([float(line) for line in told if not line.startswith("%")][1:] if " " not in told[1] else
                        [float(line) for line in told[2:]])
    assert same_bits(m @ x, expected)
    for threads in (1, 3):
        assert same_bits(m.multiply(x, np.empty(400), threads=threads), expected)


def test_alpha_and_beta():
    a = random_csr(50, 40, 6, 2)
    m, x, y = sp.encode(a), vector(40), vector(50, 3)
    expected = 2.0 * (m @ x) + -0.5 * y
    out = y.copy()
    assert m.multiply(x, out, alpha=2.0, beta=-0.5) is out
    assert np.allclose(out, expected, rtol=1e-14)
    for two, half in ((2, np.float32(-0.5)), (np.int8(2), np.array(-0.5)), (Fraction(2), Decimal("-0.5"))):
        assert same_bits(m.multiply(x, y.copy(), two, half, np.int64(1), transpose=np.False_), out)
    assert same_bits(m.multiply(x, np.empty(50), True), m @ x)
    nan = np.full(50, np.nan)
    assert np.isfinite(m.multiply(x, nan)).all()  # beta 0: not read
    assert m.multiply(np.full(40, np.nan), y.copy(), alpha=0.0, beta=1.0).tolist() == y.tolist()


def test_float64_vectors_for_a_float32_matrix():
    a = random_csr(60, 50, 6, 2, np.float32)
    m = sp.encode(a)
    x = vector(50)
    y = m @ x
    assert y.dtype == np.float64
    assert_product(sparse.csr_array(a, dtype=np.float64), x, y)
    assert (m @ x.astype(np.float32)).dtype == np.float32


def test_several_columns_are_the_products_of_each():
    a = random_csr(60, 50, 6, 2)
    m = sp.encode(a)
    x = vector(150).reshape(50, 3)
    for form in (x, np.asfortranarray(x), vector(300).reshape(50, 6)[:, ::2]):
        y = m @ form
        assert y.shape == (60, 3)
        for k in range(3):
            assert same_bits(np.ascontiguousarray(y[:, k]), m @ np.ascontiguousarray(form[:, k]))
        out = np.full((60, 4), np.nan)
        assert same_bits(m.multiply(form, out[:, 1:])[:, 2].copy(), y[:, 2].copy()) and np.isnan(out[:, 0]).all()
    assert (m @ np.empty((50, 0))).shape == (60, 0)
    assert same_bits(np.ascontiguousarray(m @ x[::-1, ::-1]), np.ascontiguousarray(m @ x[::-1, ::-1].copy()))


@pytest.mark.parametrize("values, vectors", [(np.float64, np.complex128), (np.float32, np.complex64),
                                             (np.float32, np.complex128)])
def test_complex_vectors_are_pairs_of_real_ones(values, vectors):
    m = sp.encode(random_csr(60, 50, 6, 2, values), transpose=True)
    rng = np.random.default_rng(1)

    def draw(*shape):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(vectors)

    def by_parts(call, z):
        real, imaginary = (np.ascontiguousarray(call(np.ascontiguousarray(part))) for part in (z.real, z.imag))
        y = np.empty(real.shape, vectors)
        y.real, y.imag = real, imaginary
        return y

    z, w = draw(50), draw(60)
    for found, expected in ((m @ z, by_parts(m.__matmul__, z)), (m.matvec(z), by_parts(m.matvec, z)),
                            (m.dot(np.repeat(z, 2)[::2]), by_parts(m.dot, z)), (m.T @ w, by_parts(m.rmatvec, w)),
                            (w @ m, by_parts(m.rmatvec, w)), (m @ z.astype(z.dtype.newbyteorder(">")), m @ z)):
        assert same_bits(found, expected)
    wide = draw(50, 6)
    for form in (wide[:, :3].copy(), np.asfortranarray(wide[:, :3]), wide[:, ::2], wide[::-1, 4:2:-1], wide[:, :0]):
        assert same_bits(np.ascontiguousarray(m @ form), by_parts(m.__matmul__, form))
        for out in (np.ones((60, form.shape[1]), vectors), np.ones((form.shape[1], 60), vectors).T):
            expected = 2 * np.ascontiguousarray(m @ form) - out
            assert m.multiply(form, out, alpha=2.0, beta=-1.0) is out and np.allclose(out, expected, rtol=1e-4)
    if vectors == np.complex128:
        assert same_bits(m @ z.tolist(), m @ z)
        for other in (np.complex64, np.clongdouble):
            assert np.allclose(m.matvec(z.astype(other)), m @ z, rtol=1e-5, atol=1e-5)


def test_a_result_is_in_the_order_of_its_operand():
    m = sp.encode(random_csr(60, 50, 6, 2), transpose=True)
    x = vector(150).reshape(50, 3)
    for form, by_columns in ((x, False), (np.asfortranarray(x), True), (vector(300).reshape(50, 6)[:, ::2], False),
                             (vector(300).reshape(6, 50).T[:, ::2], True), (x[::-1], False)):
        for y in (m @ form, m.matvec(form), m.linear_operator() @ form, m.linear_operator().matmat(form), m.matmat(form)):
            assert (y.flags.f_contiguous, y.flags.c_contiguous) == (by_columns, not by_columns)
            assert same_bits(np.ascontiguousarray(y), np.ascontiguousarray(m @ x.copy()) if form is x else
                             np.ascontiguousarray(m @ np.ascontiguousarray(form)))
    # X A is (A^T X^T)^T, which is X in the other order.
    v = vector(180).reshape(3, 60)
    for form in (v, np.asfortranarray(v)):
        y = form @ m
        assert y.shape == (3, 50) and y.flags.c_contiguous == form.flags.c_contiguous
        assert same_bits(np.ascontiguousarray(y), np.ascontiguousarray(m.rmatmat(v.T).T))


class Series:
    """What pandas has: an array that NumPy is given when it asks."""

    def __init__(self, values):
        self.values, self.shape, self.dtype, self.ndim = values, values.shape, values.dtype, values.ndim

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_vectors_of_other_libraries_and_forms():
    a = random_csr(60, 50, 6, 2)
    m, x = sp.encode(a, transpose=True), vector(50)
    expected = m @ x
    assert same_bits(m @ vector(100).repeat(2)[::2][:50].copy(), m @ vector(100)[:50])
    strided = np.zeros(100)
    strided[::2] = x
    assert same_bits(m @ strided[::2], expected)
    frozen = x.copy()
    frozen.flags.writeable = False
    assert same_bits(m @ frozen, expected)
    assert same_bits(m @ memoryview(x), expected)
    for form in (x.tolist(), tuple(x), deque(x), array.array("d", x), x.astype(">f8"), Series(x), np.ma.array(x),
                 memoryview(x.tobytes()).cast("d")):
        for y in (m @ form, m.dot(form), m.matvec(form)):
            assert type(y) is np.ndarray and same_bits(y, expected), type(form)
        assert same_bits(m.rmatvec(np.ones(60).tolist()), m.rmatvec(np.ones(60)))
    columns = np.stack([x, 2 * x], axis=1)
    for form in (columns.tolist(), columns.astype(">f8"), Series(columns), columns.view(np.matrix)):
        for y in (m @ form, m.matvec(form)):
            assert type(y) is np.ndarray and same_bits(y, m @ columns), type(form)
    assert same_bits(m @ list(range(50)), m @ np.arange(50.0)) and same_bits(m @ range(50), m @ np.arange(50.0))
    assert same_bits(m @ ([True] * 50), m @ np.ones(50)) and same_bits([1] * 60 @ m, np.ones(60) @ m)
    assert same_bits([[1] * 60] @ m, np.ones((1, 60)) @ m)
    for wide in (np.longdouble, np.float16, ">i4", bool):
        assert same_bits(m.matvec(np.ones(50, wide)), m @ np.ones(50))
    assert np.array_equal(m.matvec([1j] * 50), 1j * (m @ np.ones(50)))
    operator = m.linear_operator()
    for form in (Series(x), x.tolist(), x.astype(">f8")):
        assert same_bits(operator.matvec(form), expected) and same_bits(operator @ form, expected)
    single = sp.encode(random_csr(60, 50, 6, 2, np.float32))
    assert (single @ x.tolist()).dtype == np.float64 and (single @ np.ones(50, ">f4")).dtype == np.float32
    pandas = pytest.importorskip("pandas")
    for form in (pandas.Series(x), pandas.Series(x, dtype="Float64"), pandas.DataFrame({"a": x, "b": 2 * x})):
        y = m @ form
        assert type(y) is np.ndarray and same_bits(y, expected if form.ndim == 1 else m @ columns)
        assert same_bits(m.matvec(form), y)
    with pytest.raises(TypeError, match=r"not converted to an array: use M\.tocsr\(\)"):
        pandas.Series(np.ones(60)) @ m


def test_tensors_are_vectors():
    a = random_csr(60, 50, 6, 2)
    m, x = sp.encode(a, transpose=True), vector(50)
    expected = m @ x
    torch = pytest.importorskip("torch")
    y = m @ torch.from_numpy(x)
    assert isinstance(y, torch.Tensor) and same_bits(y.numpy(), expected)
    columns = vector(150).reshape(3, 50).T
    for form in (torch.from_numpy(columns), torch.from_numpy(columns.copy())):
        y = m @ form
        assert y.stride() == ((1, 60) if form.stride(0) == 1 else (3, 1)) and same_bits(y.numpy(), m @ form.numpy())
    assert same_bits((torch.from_numpy(columns.T @ a.T) @ m).numpy(), (columns.T @ a.T) @ m)
    z = x + 1j * x[::-1]
    for form, plain in ((torch.from_numpy(z), z), (torch.from_numpy(z).conj(), z.conj()),
                        (torch.from_numpy(z).conj().imag, -z.imag), (torch._neg_view(torch.from_numpy(x)), -x)):
        assert same_bits((m @ form).numpy(), m @ plain)
    for form, text in ((torch.from_numpy(z).conj(), r"conjugate .* x\.resolve_conj\(\)"),
                       (torch._neg_view(torch.from_numpy(x)), r"negative .* x\.resolve_neg\(\)")):
        with pytest.raises(ValueError, match=f"x is the {text}"):
            m.multiply(form, np.empty(60, form.resolve_neg().resolve_conj().numpy().dtype))


M = sp.encode(random_csr(60, 50, 6, 2))
F = sp.encode(random_csr(60, 50, 6, 2, np.float32))
S = sp.encode(sparse.csr_array(np.array([[2.0, 1.0], [1.0, 2.0]])))
FROZEN = np.empty(60)
FROZEN.flags.writeable = False


@pytest.mark.parametrize("call, error, text", [
    (lambda: M @ np.ones(49), ValueError, r"x has shape \(49,\), expected \(50,\)"),
    (lambda: M @ np.ones((49, 2)), ValueError, r"x has shape \(49, 2\), expected \(50,\) or \(50, k\)"),
    (lambda: M.multiply(np.ones((50, 2)), np.empty((60, 3))), ValueError, "both must have as many columns"),
    (lambda: M.multiply(np.ones((50, 1)), np.empty(60)), ValueError, r"x has shape \(50, 1\) and out \(60,\)"),
    (lambda: M.multiply(np.ones((50, 2)), np.broadcast_to(np.empty((60, 1)), (60, 2))), ValueError, "read-only"),
    (lambda: M @ np.ones((50, 1, 1)), ValueError, r"x has shape \(50, 1, 1\)"),
    (lambda: M @ np.float64(3), ValueError, r"x has shape \(\)"),
    (lambda: M @ np.ones(50, np.float32), TypeError, "x is float32, the matrix float64"),
    (lambda: M @ np.ones(50, np.int64), TypeError, "x is int64"),
    (lambda: M @ np.ones(50, np.complex64), TypeError, "x is complex64, the matrix float64: .*; convert it to complex128"),
    (lambda: M @ np.ones(50, np.clongdouble), TypeError, "x is complex256, the matrix float64: .* to complex128"),
    (lambda: M.multiply(np.ones(50), np.empty(60, complex)), TypeError, "x is float64 and out is complex128"),
    (lambda: M.multiply(np.ones(50, complex), np.empty(60)), TypeError, "x is complex128 and out is float64"),
    (lambda: M @ np.ones(50, ">f4"), TypeError, "x is float32, the matrix float64"),
    (lambda: M @ np.ones(50, object), TypeError, "x is object, the matrix float64"),
    (lambda: M @ np.ones(50, np.float16), TypeError, "x is float16, the matrix float64"),
    (lambda: M @ np.ones(50, np.longdouble), TypeError, "x is float128, the matrix float64"),
    (lambda: M @ ([1.0] * 50), None, ""),
    (lambda: M @ ([1.0] * 49), ValueError, r"x has shape \(49,\), expected \(50,\)"),
    (lambda: M @ ([1j] * 49), ValueError, r"x has shape \(49,\), expected \(50,\)"),
    (lambda: M @ ([None] * 50), TypeError, "x is object, the matrix float64"),
    (lambda: M @ ("a" * 50), TypeError, "unsupported operand"),
    (lambda: M @ b"a", TypeError, "unsupported operand"),
    (lambda: M @ np.ma.array(np.ones(50), mask=[True] + [False] * 49), ValueError, r"masked elements: .* x\.filled\(0\)"),
    (lambda: M.multiply(np.ma.array(np.ones(50), mask=[True] + [False] * 49), np.empty(60)), ValueError,
     r"x has masked elements: .* x\.filled\(0\)"),
    (lambda: M.multiply(np.ones(50), np.ma.array(np.ones(60), mask=[True] + [False] * 59)), ValueError,
     r"out has masked elements: .* out\.filled\(0\)"),
    (lambda: M.matvec(np.ma.array(np.ones(50, int), mask=[True] + [False] * 49)), ValueError, "masked elements"),
    (lambda: M @ M, TypeError, r"a product of two sparse matrices is not offered: multiply M\.tocsr\(\)"),
    (lambda: M @ random_csr(50, 9, 3, 1), TypeError, r"two sparse matrices is not offered: multiply M\.tocsr\(\)"),
    (lambda: random_csr(9, 60, 3, 1) @ M, TypeError, r"not converted to an array: use M\.tocsr\(\), a matrix of SciPy"),
    (lambda: np.asarray(M), TypeError, r"not converted to an array: use M\.tocsr\(\), .* or M\.toarray\(\), a dense"),
    (lambda: np.asarray(S.T), TypeError, r"use M\.tocsr\(\)\.T, .* or M\.toarray\(\)\.T, a dense array"),
    (lambda: sparse.csr_array(M), ValueError, r"unrecognized csr_\w+ constructor"),
    (lambda: linalg.expm_multiply(S, np.ones(2)), AttributeError, r"no attribute 'trace'; M\.tocsr\(\), a matrix of SciPy, has"),
    (lambda: M @ 2.0, TypeError, "unsupported operand"),
    (lambda: 2.0 @ M, TypeError, "unsupported operand"),
    (lambda: np.ones(60) @ M, sp.Error, "does not have the transpose"),
    (lambda: M.T, sp.Error, r"encoded without its transpose; use encode\(\.\.\., transpose=True\)"),
    (lambda: M.dot("a"), TypeError, "x is of type str, not an array"),
    (lambda: M.matvec("a"), TypeError, "x is of type str, not an array"),
    (lambda: M[0], TypeError, r"no elements and slices; use M\.tocsr\(\)"),
    (lambda: M[2:5, :], TypeError, r"no elements and slices; use M\.tocsr\(\)"),
    (lambda: list(M), TypeError, r"no elements and slices; use M\.tocsr\(\)"),
    (lambda: M + M, TypeError, r"no sums; use M\.tocsr\(\)"),
    (lambda: M - random_csr(60, 50, 6, 2), TypeError, r"no sums; use M\.tocsr\(\)"),
    (lambda: random_csr(60, 50, 6, 2) + M, TypeError, r"no sums; use M\.tocsr\(\)"),
    (lambda: M * 2, TypeError, r"no products but with vectors, M @ x; use M\.tocsr\(\)"),
    (lambda: np.float64(2) * M, TypeError, r"no products but with vectors, M @ x; use M\.tocsr\(\)"),
    (lambda: M * np.ones(50), TypeError, r"no products but with vectors, M @ x; use M\.tocsr\(\)"),
    (lambda: -M, TypeError, r"no negative; use M\.tocsr\(\)"),
    (lambda: M.sum(), AttributeError, r"no attribute 'sum'; M\.tocsr\(\), a matrix of SciPy, has"),
    (lambda: M.tocoo(), AttributeError, r"no attribute 'tocoo'; M\.tocsr\(\), a matrix of SciPy, has"),
    (lambda: M.nonsense, AttributeError, r"no attribute 'nonsense'$"),
    (lambda: M.multiply([1.0] * 50, np.empty(60)), TypeError, "x is of type list"),
    (lambda: M.multiply(np.ones(50), np.empty(59)), ValueError, r"out has shape \(59,\), expected \(60,\)"),
    (lambda: M.multiply(np.ones(50), np.empty(120)[::2]), ValueError, "out has a stride of 2"),
    (lambda: M.multiply(np.ones(100)[::2], np.empty(60)), ValueError, "x has a stride of 2"),
    (lambda: M.multiply(np.ones(50), FROZEN), ValueError, "out is read-only"),
    (lambda: F.multiply(np.ones(50), np.empty(60, np.float32)), TypeError, "x is float64 and out is float32"),
    (lambda: M.multiply(None, np.empty(60)), TypeError, "x is of type NoneType"),
    (lambda: M.multiply(np.ones(50), None), TypeError, "out is of type NoneType"),
    (lambda: M.multiply(np.ones(50, ">f8"), np.empty(60)), TypeError, "x is >f8, the matrix float64: nothing is converted"),
    (lambda: M.multiply(np.ones(50), np.empty(60, ">f8")), TypeError, "out is >f8, the matrix float64: nothing is converted"),
    (lambda: M.multiply(np.ones(50), np.empty(60), "2"), TypeError, "alpha is '2', expected a real number"),
    (lambda: M.multiply(np.ones(50), np.empty(60), 1j), TypeError, "alpha is 1j, expected a real number: complex ones are for complex x"),
    (lambda: M.multiply(np.ones(50), np.empty(60), np.complex64(1)), TypeError, "alpha is .*, expected a real number"),
    (lambda: M.multiply(np.ones(50), np.empty(60), np.ones(1)), TypeError, "alpha is array.*, expected a real number"),
    (lambda: M.multiply(np.ones(50), np.empty(60), beta=None), TypeError, "beta is None, expected a real number"),
    (lambda: M.multiply(np.ones(50), np.empty(60), beta=10**400), TypeError, "beta is 1000.*, expected a real number"),
    (lambda: M.multiply(np.ones(50), np.empty(60), transpose=1), TypeError, "transpose is 1, expected True or False"),
    (lambda: S.T.multiply(np.ones(2), np.empty(2), transpose="no"), TypeError, "transpose is 'no', expected True or False"),
])
def test_what_does_not_fit_is_refused(call, error, text):
    if error is None:
        assert call().shape == (60,)
        return
    with pytest.raises(error, match=text):
        call()


def test_x_and_out_must_not_overlap():
    both = np.ones(100)
    with pytest.raises(sp.Error, match="overlap") as caught:
        M.multiply(both[:50], both[40:])
    assert caught.value.code == "usage"
    square = sp.encode(random_csr(60, 60, 6, 2))
    columns = vector(60 * 6).reshape(60, 6)
    expected = square @ columns[:, ::2].copy()
    with pytest.raises(sp.Error, match="overlap"):
        square.multiply(columns[:, :3], columns[:, 2:5])
    assert same_bits(square.multiply(columns[:, ::2], columns[:, 1::2]).copy("K"), expected.copy("C"))
    with pytest.raises(sp.Error, match="an element twice"):
        square.multiply(vector(180).reshape(60, 3), np.lib.stride_tricks.as_strided(columns, (60, 3), (8, 8)))


def test_threads_share_a_matrix():
    a = random_csr(3000, 2000, 20, 5)
    m = sp.encode(a)
    xs = [vector(2000, seed) for seed in range(8)]
    expected = [m @ x for x in xs]
    wrong = []

    def work(k):
        for _ in range(30):
            if not same_bits(m @ xs[k], expected[k]):
                wrong.append(k)

    in_threads(8, work)
    assert not wrong


def test_a_multiply_releases_the_gil():
    """While one thread multiplies, another gets to run: it sees the multiply begun and not ended."""
    a = random_csr(20000, 20000, 60, 5)
    m, x, y = sp.encode(a, "csr"), vector(20000), np.empty(20000)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # Python itself does not switch; only who gives the GIL away is interrupted
    running, seen = threading.Event(), []
    try:
        def watch():
            running.wait()
            while running.is_set():
                seen.append(None)
                threading.Event().wait(1e-5)

        watcher = threading.Thread(target=watch)
        watcher.start()
        running.set()
        for _ in range(50):
            m.multiply(x, y, threads=1)
        running.clear()
        watcher.join()
    finally:
        sys.setswitchinterval(interval)
    assert seen


def test_what_is_needed_lives_as_long_as_it_is_needed():
    x = vector(50)
    expected = M @ x
    m = sp.encode(random_csr(60, 50, 6, 2))  # the arrays are gone
    gc.collect()
    assert same_bits(m @ x, expected)
    b = m.to_scipy()
    operator = m.linear_operator()
    data, y, loaded = b.data, m @ x, sp.load(bytearray(m.tobytes()))  # the container's bytes are gone
    del m, b
    gc.collect()
    assert same_bits(y, expected) and same_bits(operator @ x, expected) and same_bits(loaded @ x, expected)
    assert data.sum() == random_csr(60, 50, 6, 2).data.sum()


def test_references_are_given_back():
    x, y, columns, a = vector(50), np.empty(60), vector(150).reshape(50, 3), random_csr(60, 50, 6, 2)
    counted = (x, y, columns, M, a, a.data, a.indices, a.indptr)
    before = [sys.getrefcount(v) for v in counted]
    for _ in range(10):
        M.multiply(x, y)
        M @ x
        M @ columns
        M @ memoryview(x)
        sp.encode(a), sp.report(a)
        with pytest.raises(ValueError):
            M.multiply(x, x)
        with pytest.raises(sp.Error):
            M.rmatvec(y)
    gc.collect()
    assert [sys.getrefcount(v) for v in counted] == before


def test_a_matrix_that_is_encoded_loaded_and_dropped_leaks_nothing():
    a = random_csr(2000, 2000, 40, 5)

    def run(times):
        for _ in range(times):
            sp.load(sp.encode(a, "csr").tobytes()).to_scipy()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(20)
    assert run(100) - before < 8192  # KiB; a leak of one form alone would be 48 MB


def test_ten_thousand_multiplies_leak_nothing():
    a = random_csr(2000, 2000, 4, 5)
    m, x = sp.encode(a), vector(2000)

    def run(times):
        for _ in range(times):
            m @ x
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(1000)
    assert run(10000) - before < 4096  # KiB; a leak of y alone would be 160 MB
