"""Complex matrices on the host: products, transposes and solvers against SciPy, and what is refused."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import spmvpack as sp

from support import needs_command, random_csr, same_bits, spmvpack

TYPES = [np.complex128, np.complex64]


def draw(*shape, seed=1, dtype=np.complex128):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def matrix(rows, cols, dtype=np.complex128):
    a = random_csr(rows, cols, 8, 3)
    a.data = draw(a.nnz, seed=2)
    return a.astype(dtype)


A = matrix(60, 50)
M = sp.encode(A, "csr", transpose=True)


def close(found, expected, dtype=np.complex128):
    assert found.shape == expected.shape
    tolerance = 1e-12 if dtype == np.complex128 else 1e-4
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("layout", ["auto", "csr", "coo"])
@pytest.mark.parametrize("dtype", TYPES)
def test_products(dtype, layout):
    a = A.astype(dtype)
    m = sp.encode(a, layout, transpose=True)
    assert m.dtype == dtype and m.has_transpose and same_bits(m.tocsr().data, a.data)
    for vectors in {dtype, np.complex128}:
        x, y = draw(50, dtype=vectors), draw(60, seed=3, dtype=vectors)
        adjoint = a.conj().T
        for found, expected in ((m @ x, a @ x), (m.T @ y, a.T @ y), (y @ m, a.T @ y), (m.H @ y, adjoint @ y),
                                (m.rmatvec(y), adjoint @ y), (x @ m.T, a @ x), (x @ m.H, a.conj() @ x),
                                (m.T.rmatvec(x), a.conj() @ x), (m.H.rmatvec(x), a @ x), (m.H.H @ x, a @ x)):
            assert found.dtype == vectors
            close(found, expected, dtype)
        for found, expected in ((m.matvec(x.real), a @ x.real), (m.H.matvec(y.real), adjoint @ y.real)):
            assert found.dtype == dtype
            close(found, expected, dtype)
        wide = draw(50, 6, dtype=vectors)
        for form in (wide, np.asfortranarray(wide), wide[:, ::2], wide[::-1, :0]):
            close(m @ form, a @ form, dtype)
            for k in range(form.shape[1]):
                assert same_bits((m @ form)[:, k].copy(), m @ form[:, k].copy())
        assert same_bits(m.matvec(x, threads=1), m.matvec(x, threads=3))
    if dtype == np.complex128:
        assert same_bits(m @ x.tolist(), m @ x)
    close(m.H.toarray(), a.toarray().conj().T)
    close(m.H.tocsr() @ y, adjoint @ y, dtype)
    assert same_bits(pickle.loads(pickle.dumps(m.H)) @ y, m.H @ y)
    assert repr(m.H).startswith("<conjugate transpose of <spmvpack matrix: 60 x 50")


def test_scalars():
    x, y = draw(50), draw(60, seed=4)
    out = y.copy()
    assert M.multiply(x, out, 2j, 1 - 1j) is out
    close(out, 2j * (A @ x) + (1 - 1j) * y)
    for call in (lambda v: M.multiply(y, v, np.complex64(2j), 0.5, transpose="conjugate"),
                 lambda v: M.H.multiply(y, v, 2j, 0.5)):
        out = x.copy()
        close(call(out), 2j * (A.conj().T @ y) + 0.5 * x)
    close(M.H.multiply(x, y.copy(), 1j, transpose="conjugate"), 1j * (A @ x))
    real = sp.encode(random_csr(60, 50, 6, 2), transpose=True)
    close(real.multiply(x, y.copy(), 2j, 1 + 1j), 2j * (real.tocsr() @ x) + (1 + 1j) * y)
    assert same_bits(real.multiply(x, y.copy(), 2 + 0j, 0j), real.multiply(x, y.copy(), 2.0, 0.0))
    assert same_bits(real.H @ y, real.T @ y) and real.H.H is real
    assert same_bits(real.multiply(y, x.copy(), transpose="conjugate"), real.T @ y)


@pytest.mark.parametrize("kind, turned", [("symmetric", lambda a: a.T), ("skew-symmetric", lambda a: -a.T),
                                          ("hermitian", lambda a: a.conj().T)])
def test_a_symmetric_matrix_needs_no_transpose(kind, turned):
    a = sparse.csr_array(sparse.tril(matrix(40, 40), -1))
    a = sparse.csr_array(a + turned(a))
    m, x = sp.encode(a), draw(40)
    assert m.bitwise_symmetry == kind and m.has_transpose and m.transpose_device_bytes == 0
    close(m.T @ x, a.T @ x)
    close(m.H @ x, a.conj().T @ x)


def test_factors():
    rows, columns = np.linspace(1, 2, 60), np.linspace(-1, 1, 50)
    m, a = M.scaled(rows, columns), sparse.csr_array(sparse.diags(rows) @ A @ sparse.diags(columns))
    x, y = draw(50), draw(60)
    for found, expected in ((m @ x, a @ x), (m.T @ y, a.T @ y), (m.H @ y, a.conj().T @ y), (m.tocsr() @ x, a @ x),
                            (M.H.scaled(columns, rows) @ y, a.conj().T @ y)):
        close(found, expected)
    with pytest.raises(TypeError, match="rows is complex128, the matrix complex128: .* to float64"):
        M.scaled(rows + 0j)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok", "unsorted", "repeated", "other order"])
def test_every_form(form):
    a = sparse.csr_matrix(A[:40, :40])
    if form == "unsorted":
        a = a[:, ::-1]
    elif form == "repeated":
        a = sparse.coo_matrix((np.concatenate([a.data, a.data]), [np.tile(part, 2) for part in a.nonzero()]), a.shape)
    elif form == "other order":
        a.data = a.data.astype(">c16")
    else:
        a = a.asformat(form)
    x = draw(40)
    close(sp.encode(a, "csr") @ x, a.tocsr() @ x)


def test_operators_and_solvers():
    y = draw(60)
    apart = sp.encode(A).linear_operator(sp.encode(sparse.csr_array(A.T)))
    for op in (M.linear_operator(), linalg.aslinearoperator(M), apart):
        close(op @ y[:50], A @ y[:50])
        close(op.H @ y, A.conj().T @ y)
        close(op.T @ y, A.T @ y)
    close(M.H.linear_operator() @ y, A.conj().T @ y)
    close(M.linear_operator() @ np.ones(50), A @ np.ones(50))
    a = sparse.csr_array(matrix(50, 50) * 0.1 + sparse.eye(50) * (5 + 1j))
    m, b = sp.encode(a, transpose=True), draw(50)
    for solver in (linalg.gmres, linalg.bicg, linalg.qmr):
        x, info = solver(m, b, atol=1e-10)
        assert info == 0 and np.allclose(a @ x, b, atol=1e-3), solver
    hermitian = sparse.csr_array(a @ a.conj().T)
    found = np.sort(linalg.eigsh(sp.encode(hermitian).linear_operator(), 3, return_eigenvectors=False))
    assert np.allclose(found, np.sort(np.linalg.eigvalsh(hermitian.toarray()))[-3:])
    found = linalg.svds(M.linear_operator(), 3, return_singular_vectors=False)
    assert np.allclose(np.sort(found), np.sort(np.linalg.svd(A.toarray(), compute_uv=False))[-3:])


@needs_command
def test_files(tmp_path):
    from scipy import io

    io.mmwrite(tmp_path / "a.mtx", sparse.csr_matrix(A), precision=17, symmetry="general")
    m = sp.encode(tmp_path / "a.mtx", "csr", dtype=np.complex64)
    assert m.dtype == np.complex64 and same_bits(m.tocsr().data, A.data.astype(np.complex64))
    m = sp.encode(tmp_path / "a.mtx", "csr")
    m.save(tmp_path / "a.spmvc")
    np.save(tmp_path / "x.npy", draw(50))
    spmvpack("multiply", tmp_path / "a.spmvc", "--x", tmp_path / "x.npy", "-o", tmp_path / "y.mtx", "-q")
    assert same_bits(np.asarray(io.mmread(tmp_path / "y.mtx")).ravel(), m @ draw(50))
    assert same_bits(sp.load(tmp_path / "a.spmvc") @ draw(50), m @ draw(50))
    assert "Hermitian" in str(sp.report(sparse.csr_array(A @ A.conj().T)))


REAL = np.ones(50)


@pytest.mark.parametrize("call, error, words", [
    (lambda: M @ REAL, TypeError, "x is float64, the matrix complex128: .* to complex128"),
    (lambda: M @ draw(50, dtype=np.complex64), TypeError, "x is complex64, the matrix complex128: .* to complex128"),
    (lambda: M.multiply(REAL + 0j, np.empty(60)), TypeError, "out is float64, the matrix complex128"),
    (lambda: M.multiply(REAL + 0j, np.empty(60, complex), transpose="H"), TypeError, "'H', expected .* or 'conjugate'"),
    (lambda: M.multiply(REAL + 0j, np.empty(60, complex), "1j"), TypeError, "alpha is '1j', expected a real number"),
    (lambda: sp.encode(A).T, sp.Error, "encoded without its transpose"),
    (lambda: sp.encode(A).H, sp.Error, "encoded without its transpose"),
    (lambda: M.H.T, TypeError, r"no conjugate of its own; use M\.tocsr\(\)\.T\.conj\(\)"),
    (lambda: M.T.H, TypeError, "no conjugate of its own"),
    (lambda: M.T.multiply(REAL + 0j, REAL + 0j, transpose="conjugate"), TypeError, "no conjugate of its own"),
    (lambda: sp.encode(A, "csell"), sp.Error, r"csell does not take complex values \(c128\) yet; use csr, coo or auto"),
    (lambda: sp.encode(A, updatable=True), sp.Error, "cannot be updatable yet"),
    (lambda: sp.encode(A.astype(np.clongdouble)), TypeError, "values of type complex256"),
    (lambda: sp.encode("x.mtx", dtype=np.int32), TypeError, "complex128 or complex64, not as int32"),
])
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
