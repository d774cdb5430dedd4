"""New values in an old pattern: a matrix with them is the one that is encoded with them."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import spmvpack as sp
from support import NASTY, nasty_matrices, random_csr, same_bits

MATRICES = dict(nasty_matrices())


def with_values(a, data):
    return sparse.csr_array((data, a.indices, a.indptr), shape=a.shape)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("layout", ["auto", "csr", "csell", "bitflag", "sjds"])
def test_new_values_are_those_of_a_new_matrix(name, layout):
    a = MATRICES[name]
    with np.errstate(over="ignore"):
        data = np.resize(np.array(NASTY + [1.5, -2.25]), a.nnz).astype(a.dtype)
    b = with_values(a, data)
    m, n = (sp.encode(each, layout, updatable=True, transpose=True, target="host") for each in (a, b))
    assert m.updatable and m.has_transpose == (a.nnz == 0 or m.transpose_device_bytes > 0)
    m.update_values(data, threads=2)
    x, z = np.arange(a.shape[1], dtype=a.dtype), np.arange(a.shape[0], dtype=a.dtype)
    assert same_bits(m @ x, n @ x) and same_bits(m.rmatvec(z), n.rmatvec(z))
    assert m.tobytes() == n.tobytes() and m.digest == n.digest and m.provenance == n.provenance
    assert same_bits(m.to_scipy().data, data)


def test_what_depends_on_values_follows(tmp_path):
    a = random_csr(200, 100, 9, 3)
    m = sp.encode(a, "sell", updatable=True)
    before, bytes_before = m.digest, m.tobytes()
    kept = copy.deepcopy(m)
    m.update_values(a.data * 2)
    assert copy.copy(m) is m and kept is not m and kept.digest == before
    m.save(tmp_path / "a.spmvc")
    assert sp.load(tmp_path / "a.spmvc", check_contents=True).digest == m.digest != before
    again = pickle.loads(pickle.dumps(m))
    assert again.updatable and again.digest == m.digest
    again.update_values(list(a.data))
    assert again.digest == before and again.tobytes() == bytes_before
    loaded = sp.load(m.tobytes(), updatable=True)
    loaded.update_values(a.data)
    assert loaded.digest == before and same_bits(loaded.tocsr().data, a.data)


def test_the_values_of_another_matrix():
    a = random_csr(200, 100, 9, 3)
    m = sp.encode(a, updatable=True)
    for b in (a * 3, sparse.coo_array(a * 4), sparse.csc_array(a * 5)):
        m.update(b)
        assert same_bits(m.tocsr().data, sparse.csr_array(b).data)
    digest = m.digest
    other = a.copy()
    row = np.argmax(np.diff(other.indptr) < 100)
    free = np.setdiff1d(np.arange(100), other.indices[other.indptr[row]:other.indptr[row + 1]])
    moved = other.tolil()
    taken = other.indices[other.indptr[row]]
    moved[row, free[0]], moved[row, taken] = 1.0, 0.0
    for b, text in ((moved.tocsr(), "in other rows and columns"), (a[:, :99], "100 with"), (a[:50], "for one of 200 x 100")):
        with pytest.raises(sp.Error, match=text) as error:
            m.update(b)
        assert error.value.code == "usage" and m.digest == digest


def test_rounding():
    a = random_csr(50, 40, 5, 1, np.float32)
    m = sp.encode(a, updatable=True)
    data = np.linspace(0, 1, a.nnz)
    m.update_values(data)
    assert same_bits(m.tocsr().data, data.astype(np.float32))
    m.update_values(np.arange(a.nnz))
    assert same_bits(m.tocsr().data, np.arange(a.nnz, dtype=np.float32))


def test_errors():
    a = random_csr(200, 100, 9, 3)
    m = sp.encode(a, updatable=True)
    digest = m.digest
    for values, kind, text in ((a.data[:-1], ValueError, rf"expected \({a.nnz},\), one for each entry"),
                               (a.data.reshape(-1, 1), ValueError, "values has shape"),
                               (a.data.astype(np.float32), TypeError, "values is float32, the matrix float64"),
                               (a.data * 1j, TypeError, "complex"),
                               (np.ma.array(a.data, mask=a.data > 0), ValueError, "values has masked elements"),
                               ("text", TypeError, "values is of type str"), (None, TypeError, "NoneType")):
        with pytest.raises(kind, match=text):
            m.update_values(values)
    with pytest.raises(ValueError, match="threads"):
        m.update_values(a.data, threads=-1)
    with pytest.raises(TypeError, match="encoded already"):
        m.update(m)
    assert m.digest == digest
    fixed = sp.encode(a)
    assert not fixed.updatable and copy.deepcopy(fixed) is fixed
    for call in (lambda: fixed.update_values(a.data), lambda: fixed.update(a)):
        with pytest.raises(sp.Error, match="updatable=True") as error:
            call()
        assert error.value.code == "usage"
    shared = sp.encode(random_csr(700, 900, 12, 4, distinct=5), "csell").tobytes()
    with pytest.raises(sp.Error, match="updatable=true") as error:
        sp.load(shared, updatable=True)
    assert error.value.code == "unsupported"
    with pytest.raises(TypeError, match="updatable is 1"):
        sp.load(m.tobytes(), updatable=1)
    f = sp.encode(random_csr(5, 4, 3, 1, np.float32), updatable=True)
    with pytest.raises(sp.Error, match="beyond f32"):
        f.update_values(np.full(f.nnz, 1e300))
    d = sp.encode(sparse.csr_array(sparse.eye(5)), "dia", updatable=True)
    with pytest.raises(sp.Error, match="would change the pattern") as error:
        d.update_values(np.zeros(5))
    assert error.value.code == "unsupported" and same_bits(d @ np.ones(5), np.ones(5))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        m.nothing_like_it
