"""SciPy's solvers on an encoded matrix find what they find on SciPy's own."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import spmvpack as sp
from support import needs_command, random_csr, spmvpack

N = 30
LAPLACIAN = sparse.csr_array(sparse.kronsum(*2 * [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (N, N))]))
B = np.random.default_rng(1).standard_normal(N * N)
UNSYMMETRIC = random_csr(200, 200, 6, 3) + sparse.csr_array(sparse.diags([30.0], [0], (200, 200)))


@pytest.mark.parametrize("of_matrix", [True, False])
@pytest.mark.parametrize("solver", [linalg.cg, linalg.bicgstab, linalg.gmres, linalg.bicg, linalg.qmr])
def test_a_symmetric_system_is_solved(solver, of_matrix):
    operator = sp.encode(LAPLACIAN)
    if not of_matrix:
        operator = operator.linear_operator()
        assert isinstance(operator, linalg.LinearOperator)
    assert operator.dtype == np.float64 and operator.shape == LAPLACIAN.shape
    u, info = solver(operator, B)
    expected, _ = solver(LAPLACIAN, B)
    assert info == 0
    assert np.allclose(u, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    assert np.linalg.norm(LAPLACIAN @ u - B) <= 1.1e-5 * np.linalg.norm(B)


def test_float32_stays_float32():
    a = LAPLACIAN.astype(np.float32)
    operator = sp.encode(a).linear_operator()
    assert operator.dtype == np.float32
    assert (operator @ B).dtype == np.float32  # vectors are converted, as solvers pass what they have
    u, info = linalg.cg(operator, B.astype(np.float32))
    assert info == 0 and np.linalg.norm(a @ u - B) <= 1e-4 * np.linalg.norm(B)


@pytest.mark.parametrize("form", ["(n,)", "(n, 1)", "(n, 3)", "strided", "integers", "complex"])
def test_an_operator_takes_what_solvers_pass(form):
    a = UNSYMMETRIC
    x = np.random.default_rng(2).standard_normal((200, 6))
    x = {"(n,)": x[:, 0].copy(), "(n, 1)": x[:, :1].copy(), "(n, 3)": x[:, :3].copy(), "strided": x[:, 0],
         "integers": np.arange(200), "complex": x[:, 0] + 1j * x[:, 1]}[form]
    transposed = sp.encode(a.T.tocsr())
    operator = sp.encode(a).linear_operator(transposed)
    assert np.allclose(operator @ x, a @ x, rtol=1e-12) and (operator @ x).shape == (a @ x).shape
    assert np.allclose(operator.rmatmat(x) if x.ndim == 2 else operator.rmatvec(x), a.T @ x, rtol=1e-12)
    assert np.allclose(operator.H @ x, a.T @ x, rtol=1e-12)


@pytest.mark.parametrize("form", ["(n,)", "(n, 1)", "(n, 3)", "strided", "float32", "integers", "complex", "complex64",
                                  "big"])
def test_the_methods_of_a_matrix_take_what_solvers_pass(form):
    a = UNSYMMETRIC
    x = np.random.default_rng(2).standard_normal((200, 6))
    x = {"(n,)": x[:, 0].copy(), "(n, 1)": x[:, :1].copy(), "(n, 3)": x[:, :3].copy(), "strided": x[:, 0],
         "float32": x[:, 0].astype(np.float32), "integers": np.arange(200), "complex": x[:, 0] + 1j * x[:, 1],
         "complex64": (x[:, :2] + 1j * x[:, 2:4]).astype(np.complex64), "big": x[:, 0].astype(">f8")}[form]
    m = sp.encode(a, transpose=True)
    assert m.ndim == 2 and m.T.shape == (200, 200) and m.T.T is m
    for y, expected in ((m.matvec(x), a @ x), (m.rmatvec(x), a.T @ x), (m.T.matvec(x), a.T @ x),
                        (m.T.rmatvec(x), a @ x), (linalg.aslinearoperator(m) @ x, a @ x),
                        (linalg.aslinearoperator(m).H @ x, a.T @ x)):
        assert y.shape == expected.shape and y.dtype == expected.dtype or form == "float32"
        assert np.allclose(y, expected, rtol=1e-12, atol=1e-12)
    for threads in (1, 3):
        assert np.array_equal(m.matvec(x, threads=threads), m.matvec(x))
        assert np.array_equal(m.rmatvec(x, threads=threads), m.rmatvec(x))
        operator = m.linear_operator(threads=threads)
        assert np.array_equal(operator @ x, m.matvec(x)) and np.array_equal(operator.H @ x, m.rmatvec(x))


def test_products_from_the_left():
    a = random_csr(150, 90, 8, 4)
    m = sp.encode(a, transpose=True)
    x = np.random.default_rng(5).standard_normal((3, 150))
    assert np.array_equal(x[0] @ m, m.rmatvec(x[0]))
    assert np.allclose(x @ m, x @ a) and (x @ m).shape == (3, 90)
    assert np.array_equal(m.dot(x[0, :90].copy()), m @ x[0, :90])
    t = m.T
    assert t.shape == (90, 150) and t.nnz == a.nnz and t.dtype == np.float64 and "transpose of" in repr(t)
    assert np.array_equal(t @ x[0], m.rmatvec(x[0])) and np.allclose(x[:, :90] @ t, x[:, :90] @ a.T)
    assert np.array_equal(t.dot(x[0]), t @ x[0])
    out = np.ones(90)
    assert t.multiply(x[0].copy(), out, 2.0, -1.0, threads=2) is out and np.allclose(out, 2 * (a.T @ x[0]) - 1)
    assert np.allclose(t.multiply(x[0, :90].copy(), np.empty(150), transpose=True), a @ x[0, :90])
    assert np.allclose(t.linear_operator() @ x[0], a.T @ x[0])
    with pytest.raises(TypeError, match=r"use M\.tocsr\(\)\.T"):
        t + t


def test_a_matrix_of_scipy_again():
    a = random_csr(150, 90, 8, 4)
    m = sp.encode(a, transpose=True)
    assert (m.tocsr() != a).nnz == 0 and np.array_equal(m.toarray(), a.toarray())
    assert np.array_equal(m.diagonal(), a.diagonal()) and np.array_equal(m.diagonal(-2), a.diagonal(-2))
    assert m.nbytes == m.device_bytes + m.transpose_device_bytes > m.device_bytes
    assert (m.T.tocsr() != a.T).nnz == 0 and np.array_equal(m.T.toarray(), a.T.toarray())
    assert np.array_equal(m.T.diagonal(), a.diagonal())


def test_matrices_and_operators_are_pickled():
    a = random_csr(150, 90, 8, 4)
    m, x, v = sp.encode(a, transpose=True), np.random.default_rng(6).standard_normal(90), np.arange(150.0)
    again = pickle.loads(pickle.dumps(m))
    assert again.tobytes() == m.tobytes() and np.array_equal(again @ x, m @ x)
    assert len(pickle.dumps(m)) < m.file_bytes + 1000
    operator = pickle.loads(pickle.dumps(m.linear_operator(threads=2)))
    assert isinstance(operator, linalg.LinearOperator)
    assert np.array_equal(operator @ x, m @ x) and np.array_equal(operator.rmatvec(v), m.rmatvec(v))
    alone = sp.encode(a).linear_operator(sp.encode(a.T.tocsr()))
    assert np.array_equal(pickle.loads(pickle.dumps(alone)).rmatvec(v), m.rmatvec(v))
    assert np.array_equal(pickle.loads(pickle.dumps(m.T)) @ v, m.rmatvec(v))
    assert np.array_equal(pickle.loads(pickle.dumps(linalg.aslinearoperator(m))) @ x, m @ x)


@pytest.mark.parametrize("of_matrix", [True, False])
def test_extreme_eigenvalues(of_matrix):
    operator = sp.encode(LAPLACIAN)
    operator = operator if of_matrix else operator.linear_operator()
    expected = np.sort(linalg.eigsh(LAPLACIAN, 3, return_eigenvectors=False))
    assert np.allclose(np.sort(linalg.eigsh(operator, 3, return_eigenvectors=False)), expected, rtol=1e-9)
    start = np.random.default_rng(3).standard_normal((N * N, 4))
    found = linalg.lobpcg(operator, start, tol=1e-8, maxiter=400)[0]  # its vectors are blocks
    assert np.allclose(np.sort(found[:2]), expected[1:], rtol=1e-5)
    assert np.allclose(found, linalg.lobpcg(LAPLACIAN, start, tol=1e-8, maxiter=400)[0], rtol=1e-6)


def test_singular_values_need_the_transposed_matrix():
    a = random_csr(150, 90, 8, 4)
    m = sp.encode(a)
    with pytest.raises(NotImplementedError, match="transpose="):
        linalg.svds(m.linear_operator(), 3)
    operator = m.linear_operator(transpose=sp.encode(a.T.tocsr()))
    expected = np.sort(np.linalg.svd(a.toarray(), compute_uv=False))[-3:]
    assert np.allclose(np.sort(linalg.svds(operator, 3, return_singular_vectors=False)), expected, rtol=1e-9)
    least = linalg.lsqr(operator, np.arange(150.0))[0]
    assert np.allclose(least, np.linalg.lstsq(a.toarray(), np.arange(150.0), rcond=None)[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind, sign", [("symmetric", 1.0), ("skew-symmetric", -1.0)])
def test_a_symmetric_source_is_its_own_transpose(kind, sign, tmp_path):
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix coordinate real {kind}\n3 3 2\n2 1 5\n3 2 7\n")
    m = sp.encode(tmp_path / "a.mtx")
    assert m.symmetry == kind
    x = np.array([1.0, 10.0, 100.0])
    assert m.linear_operator().rmatvec(x).tolist() == (sign * (m @ x)).tolist()
    values = linalg.svds(m.linear_operator(), 1, return_singular_vectors=False)
    assert np.allclose(values, np.sqrt(74))


def test_a_transposed_matrix_that_does_not_fit_is_refused():
    a = random_csr(15, 9, 3, 4)
    m = sp.encode(a)
    with pytest.raises(ValueError, match=r"transpose has shape \(15, 9\), expected \(9, 15\)"):
        m.linear_operator(m)
    with pytest.raises(TypeError, match="transpose is float32, the matrix float64"):
        m.linear_operator(sp.encode(a.T.tocsr().astype(np.float32)))
    with pytest.raises(ValueError):
        m.linear_operator() @ np.ones(8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_encoded_matrix_brings_its_transpose(dtype):
    a = random_csr(150, 90, 8, 4).astype(dtype)
    m = sp.encode(a, transpose=True)
    assert m.has_transpose and m.transpose_device_bytes > 0 and "--transpose" in m.provenance["options"]
    assert m.device_bytes == sp.encode(a).device_bytes and len(m.parts) == len(sp.encode(a).parts)
    x = np.random.default_rng(5).standard_normal((150, 3)).astype(dtype)
    close = {"rtol": 1e-12 if dtype == np.float64 else 1e-5, "atol": 1e-5 if dtype == np.float32 else 1e-13}
    alone = sp.encode(a.T.tocsr())
    assert np.array_equal(m.rmatvec(x[:, 0]), alone @ x[:, 0])
    assert np.allclose(m.rmatvec(x), a.T @ x, **close) and m.rmatvec(x).shape == (90, 3)
    out = np.ones(90, dtype)
    assert m.multiply(x[:, 1].copy(), out, 2.0, -1.0, transpose=True) is out
    assert np.allclose(out, 2 * (a.T @ x[:, 1]) - 1, **close)
    operator = m.linear_operator()
    assert np.allclose(operator.rmatvec(x[:, 2]), a.T @ x[:, 2], **close)
    loaded = sp.load(m.tobytes())
    assert loaded.has_transpose and np.array_equal(loaded.rmatvec(x[:, 0]), m.rmatvec(x[:, 0]))
    assert (loaded.to_scipy() != a).nnz == 0
    if dtype == np.float64:
        expected = np.sort(np.linalg.svd(a.toarray(), compute_uv=False))[-3:]
        assert np.allclose(np.sort(linalg.svds(operator, 3, return_singular_vectors=False)), expected, rtol=1e-9)
        least = linalg.lsqr(operator, np.arange(150.0))[0]
        assert np.allclose(least, np.linalg.lstsq(a.toarray(), np.arange(150.0), rcond=None)[0], rtol=1e-3, atol=1e-3)


def test_a_matrix_without_its_transpose_says_how_to_get_it():
    m = sp.encode(random_csr(15, 9, 3, 4))
    assert not m.has_transpose and m.transpose_device_bytes == 0
    with pytest.raises(sp.Error, match="encode the matrix again with its transpose") as error:
        m.rmatvec(np.ones(15))
    assert error.value.code == "usage"
    with pytest.raises(ValueError, match=r"x has shape \(9,\), expected \(15,\), one element for each of .* 15 rows"):
        sp.encode(random_csr(15, 9, 3, 4), transpose=True).rmatvec(np.ones(9))
    with pytest.raises(TypeError):
        m.rmatvec("x")


@pytest.mark.parametrize("kind, sign", [("symmetric", 1.0), ("skew-symmetric", -1.0)])
def test_arrays_that_are_symmetric_have_their_transpose(kind, sign):
    a = LAPLACIAN if sign > 0 else sparse.csr_array(UNSYMMETRIC - UNSYMMETRIC.T)
    x = np.random.default_rng(4).standard_normal(a.shape[0])
    for m in (sp.encode(a), sp.encode(a, transpose=True), sp.load(sp.encode(a).tobytes())):
        assert m.symmetry == "general" and m.bitwise_symmetry == kind
        assert m.has_transpose and m.transpose_device_bytes == 0
        assert np.array_equal(m.rmatvec(x), sign * (m @ x)) and np.array_equal(m.T @ x, sign * (m @ x))
    other = a.copy()
    other.data[1] = np.nextafter(other.data[1], 9)  # in row 0, right of the diagonal
    assert not sp.encode(other).has_transpose and sp.encode(other).bitwise_symmetry == "general"


@needs_command
def test_decoding_writes_what_was_read(tmp_path):
    source = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5\n2 1 5\n"
    (tmp_path / "a.mtx").write_text(source)
    sp.encode(tmp_path / "a.mtx").save(tmp_path / "a.spmvc")
    assert spmvpack("decode", tmp_path / "a.spmvc", "-o", "-") == source
    assert "(real general; A^T is A)" in spmvpack("inspect", tmp_path / "a.spmvc")
    told = spmvpack("multiply", tmp_path / "a.spmvc", "--transpose").split()
    assert told[-2:] == ["5", "5"]


def test_the_report_of_the_transpose():
    a = random_csr(150, 90, 8, 4)
    assert "transpose" not in sp.report(a).to_dict()
    told = sp.report(a, transpose=True).to_dict()["transpose"]
    assert told["device_bytes"] == sp.encode(a, transpose=True).transpose_device_bytes
    assert sp.report(LAPLACIAN, transpose=True).to_dict()["transpose"]["symmetry"] == "symmetric"
