"""What a matrix on a GPU does on this side of CUDA: with the host's multiplies in place of the device's."""

import pickle

import numpy as np
import pytest
from scipy.sparse import linalg

import spmvpack as sp
from spmvpack import _device
from spmvpack._products import Products
from support import random_csr

A = random_csr(150, 90, 8, 4)
ON_HOST = sp.encode(A, transpose=True)


class Native:
    """The native matrix, which copies NumPy's vectors there and back."""

    def __init__(self, on_host):
        self.on_host = on_host

    def multiply_host_vectors(self, x, y, alpha, beta, transpose):
        self.on_host.multiply(x, y, alpha, beta, transpose=transpose)


    def multiplier(self, dtype, transpose, columns, scaled_rows, scaled_columns):
        return Multiplier(self.on_host, dtype, transpose, columns, (scaled_rows, scaled_columns))


class Multiplier:
    """Of arrays that say of themselves that they are on a GPU."""

    def __init__(self, on_host, *made):
        self.on_host, self.made = on_host, made

    def multiply(self, x, y, rows, columns, alpha, beta, stream):
        dtype, transpose, k, scaled = self.made
        assert stream == 7 and scaled == (rows is not None, columns is not None) and dtype == str(x.dtype)
        assert k == (x.shape[1] if x.ndim == 2 else 0)
        self.on_host.scaled(rows, columns).multiply(x, y, alpha, beta, transpose=transpose)


class SaysOnGpu:
    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream):
        return self.array


def device_matrix(on_host):
    d = object.__new__(sp.DeviceMatrix)
    Products.__init__(d, on_host._container.info())
    d.device, d._matrix, d._workspaces = 0, Native(on_host), _device._Workspaces()
    return d


D = device_matrix(ON_HOST)


def test_products_and_transposes_of_host_vectors():
    x, v = np.random.default_rng(1).standard_normal((90, 3)), np.random.default_rng(2).standard_normal((150, 3))
    for form in (x[:, 0].copy(), x[:, :1].copy(), x):
        assert np.array_equal(D @ form, ON_HOST @ form)
        assert np.array_equal(D.matvec(form), ON_HOST @ form) and np.array_equal(D.dot(form), ON_HOST @ form)
    for form in (v[:, 0].copy(), v[:, :1].copy(), v):
        assert np.array_equal(D.rmatvec(form), ON_HOST.rmatvec(form))
        assert np.array_equal(D.T @ form, ON_HOST.rmatvec(form))
    assert np.array_equal(v[:, 0] @ D, ON_HOST.rmatvec(v[:, 0])) and np.array_equal(v.T @ D, v.T @ ON_HOST)
    assert D.T.T is D and D.T.shape == (90, 150) and D.nbytes == ON_HOST.nbytes and D.ndim == 2
    assert np.array_equal(D.matvec(np.arange(90)), ON_HOST @ np.arange(90.0))
    assert np.allclose(D.matvec(x[:, 0] + 1j * x[:, 1]), A @ (x[:, 0] + 1j * x[:, 1]))
    for form in (x, np.asfortranarray(x), x + 1j * x[::-1]):
        y = D @ form
        assert np.array_equal(y, ON_HOST @ form) and y.flags.f_contiguous == form.flags.f_contiguous
    assert np.allclose(linalg.aslinearoperator(D).H @ v[:, 0], A.T @ v[:, 0])


class Series:
    """An array that NumPy is given when it asks, as pandas has it."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_what_numpy_makes_an_array_of_is_a_host_vector():
    x = np.random.default_rng(3).standard_normal(90)
    for form in (x.tolist(), tuple(x), x.astype(">f8"), Series(x), memoryview(x), np.ma.array(x)):
        for y in (D @ form, D.dot(form), D.matvec(form)):
            assert type(y) is np.ndarray and np.array_equal(y, ON_HOST @ x), type(form)
    assert np.array_equal(D @ range(90), ON_HOST @ np.arange(90.0))
    assert np.array_equal([1] * 150 @ D, ON_HOST.rmatvec(np.ones(150)))
    for form in (np.stack([x, x], axis=1).tolist(), Series(np.stack([x, x], axis=1))):
        assert np.array_equal(D @ form, ON_HOST @ np.stack([x, x], axis=1))


def test_factors_come_with_the_arrays_of_a_multiply():
    x, y, rows, columns = (np.random.default_rng(4).standard_normal(n) for n in (90, 150, 150, 90))
    for of_rows, of_columns in ((rows, columns), (rows, None), (None, columns)):
        factors = [None if f is None else SaysOnGpu(f) for f in (of_rows, of_columns)]
        s, expected = D.scaled(*factors), ON_HOST.scaled(of_rows, of_columns)
        s.prepare(7)
        out = SaysOnGpu(y.copy())
        assert s.multiply(SaysOnGpu(x), out, 2.0, -0.5, stream=7) is out
        assert np.array_equal(out.array, expected.multiply(x, y.copy(), 2.0, -0.5))
        out = SaysOnGpu(np.zeros((90, 2)))
        s.T.multiply(SaysOnGpu(np.stack([y, -y], 1)), out, stream=7)
        assert np.array_equal(out.array, expected.T @ np.stack([y, -y], 1))
    out = SaysOnGpu(y.copy())
    D.multiply(SaysOnGpu(x), out, stream=7)
    assert np.array_equal(out.array, ON_HOST @ x)
    assert {key[4] for key in D._workspaces.made} == {(True, True), (True, False), (False, True), (False, False)}


class OnGpu:
    """An array of Numba in older versions: without DLPack."""

    __cuda_array_interface__ = {}


@pytest.mark.parametrize("call, error, text", [
    (lambda: D @ OnGpu(), TypeError, r"x is of type OnGpu, without DLPack: pass cupy\.asarray\(x\)"),
    (lambda: ON_HOST @ OnGpu(), ValueError, "x is on a GPU, the matrix on the host"),
    (lambda: D @ np.ma.array(np.ones(90), mask=np.arange(90) == 3), ValueError, "x has masked elements"),
    (lambda: np.asarray(D), TypeError, r"not converted to an array: use tocsr\(\) of the matrix on the host, .* toarray\(\)"),
    (lambda: sp.encode(D), TypeError, r"encoded already: for another layout pass tocsr\(\) of the matrix on the host"),
    (lambda: D.multiply(1, 2, 1j), TypeError, "alpha is 1j, expected a real number"),
    (lambda: D.multiply(1, 2, 1, "0"), TypeError, "beta is '0', expected a real number"),
    (lambda: D.multiply(1, 2, beta=None), TypeError, "beta is None, expected a real number"),
    (lambda: D.multiply(1, 2, transpose=0), TypeError, "transpose is 0, expected True or False"),
    (lambda: D.prepare(transpose="no"), TypeError, "transpose is 'no', expected True or False"),
    (lambda: D.prepare(columns=True), TypeError, "columns is True, expected how many, or 0 for vectors"),
    (lambda: D.prepare(columns=-1), ValueError, "columns is -1, expected how many, or 0 for vectors"),
    (lambda: D.prepare(dtype="f16x"), TypeError, "dtype is 'f16x', expected numpy.float64 or numpy.float32"),
    (lambda: ON_HOST.to("cuda:99999999999"), ValueError, "device 99999999999: there are not so many"),
    (lambda: D.prepare(2**64), ValueError, "stream 18446744073709551616: .* has 64 bits"),
    (lambda: device_matrix(sp.encode(A)).T, sp.Error, "encoded without its transpose"),
    (lambda: D.scaled(np.ones(150)), ValueError, "rows is on the host, the matrix on a GPU: copy rows there"),
    (lambda: D.scaled([1.0] * 150), TypeError, "rows is of type list, not an array in device memory"),
    (lambda: D.scaled(SaysOnGpu(np.ones(90))), ValueError, r"rows has shape \(90,\), expected \(150,\)"),
    (lambda: D.scaled() @ np.ones(90), ValueError, "x is on the host, the scaled matrix on a GPU: copy x there"),
    (lambda: D.scaled() @ "x", TypeError, "unsupported operand"),
    (lambda: D @ A.T, TypeError, r"multiply tocsr\(\) of the matrix on the host"),
    (lambda: D @ D.T, TypeError, r"multiply tocsr\(\) of the matrix on the host"),
    (lambda: D + D, TypeError, r"no sums; use tocsr\(\) of the matrix on the host"),
    (lambda: 2 * D, TypeError, r"no products but with vectors, M @ x; use tocsr\(\) of the matrix on the host"),
    (lambda: D[0], TypeError, r"no elements and slices; use tocsr\(\) of the matrix on the host"),
    (lambda: D.tocsr(), AttributeError, r"no attribute 'tocsr'; tocsr\(\) of the matrix on the host"),
    (lambda: D.diagonal(), AttributeError, r"no attribute 'diagonal'; tocsr\(\) of the matrix on the host"),
    (lambda: D.matvec("x"), TypeError, "x is of type str, not an array"),
    (lambda: pickle.dumps(D), TypeError, "a matrix on a GPU is not pickled: pickle the Matrix"),
])
def test_what_is_not_there_says_where_to_go(call, error, text):
    with pytest.raises(error, match=text):
        call()
