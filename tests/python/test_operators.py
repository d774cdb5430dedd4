"""SciPy's solvers on an encoded matrix find what they find on SciPy's own."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import spmvpack as sp
from support import random_csr

N = 30
LAPLACIAN = sparse.csr_array(sparse.kronsum(*2 * [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (N, N))]))
B = np.random.default_rng(1).standard_normal(N * N)
UNSYMMETRIC = random_csr(200, 200, 6, 3) + sparse.csr_array(sparse.diags([30.0], [0], (200, 200)))


@pytest.mark.parametrize("solver", [linalg.cg, linalg.bicgstab, linalg.gmres])
def test_a_symmetric_system_is_solved(solver):
    operator = sp.encode(LAPLACIAN).linear_operator()
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


def test_extreme_eigenvalues():
    operator = sp.encode(LAPLACIAN).linear_operator()
    expected = np.sort(linalg.eigsh(LAPLACIAN, 3, return_eigenvectors=False))
    assert np.allclose(np.sort(linalg.eigsh(operator, 3, return_eigenvectors=False)), expected, rtol=1e-9)
    start = np.random.default_rng(3).standard_normal((N * N, 4))
    found = linalg.lobpcg(operator, start, tol=1e-8, maxiter=400)[0][:2]  # its vectors are blocks
    assert np.allclose(np.sort(found), expected[1:], rtol=1e-5)


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


def test_arrays_that_are_symmetric_need_no_second_matrix():
    m = sp.encode(LAPLACIAN, transpose=True)
    assert m.symmetry == "symmetric" and m.has_transpose and m.transpose_device_bytes == 0
    assert np.array_equal(m.rmatvec(B), m @ B)


def test_the_report_of_the_transpose():
    a = random_csr(150, 90, 8, 4)
    assert "transpose" not in sp.report(a).to_dict()
    told = sp.report(a, transpose=True).to_dict()["transpose"]
    assert told["device_bytes"] == sp.encode(a, transpose=True).transpose_device_bytes
    assert sp.report(LAPLACIAN, transpose=True).to_dict()["transpose"]["symmetry"] == "symmetric"
