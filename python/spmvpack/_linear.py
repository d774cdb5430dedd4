"""What solvers and users of SciPy expect of a matrix that multiplies, on the host and on a GPU alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import _arguments
from ._errors import Error
from ._vectors import host_array

# What a matrix of SciPy has besides.
_of_scipy = frozenset({
    "A", "H", "argmax", "argmin", "asformat", "astype", "conj", "conjugate", "copy", "count_nonzero", "data",
    "eliminate_zeros", "expm1", "getH", "getcol", "getnnz", "getrow", "indices", "indptr", "imag", "log1p", "max",
    "maximum", "mean", "min", "minimum", "nonzero", "power", "prune", "real", "reshape", "resize", "row", "col",
    "diagonal", "setdiag", "size", "sort_indices", "sqrt", "sum", "sum_duplicates", "toarray", "tobsr", "tocoo",
    "tocsc", "tocsr", "todense", "todia",
    "todok", "tolil", "trace", "transpose"
})


class Linear:
    """A linear map with a product. `_scipy` says how to get its matrix as one of SciPy."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    ndim = 2
    _scipy = "M.tocsr()"
    # NumPy must not take the matrix for a scalar.
    __array_ufunc__ = None

    def _product(self, x: Any, transpose: bool, threads: int = 0) -> Any:
        """A @ x or A^T @ x; NotImplemented if x is no array."""
        raise NotImplementedError

    def _times(self, x: Any, transpose: bool = False) -> Any:
        """_product() for an operator of Python: an error says what to use for a product of two sparse matrices."""
        y = self._product(x, transpose)
        if y is NotImplemented and (isinstance(x, Linear) or hasattr(x, "tocsr")):
            raise TypeError("a product of two sparse matrices is not offered: multiply "
                            f"{self._scipy}, a matrix of SciPy")
        return y

    def __rmatmul__(self, x: Any) -> Any:
        """x @ A, which is A^T @ x: for x of shape (rows,) or (k, rows). As A @ x otherwise: X A is (A^T X^T)^T, with
        transposed views of X and of the result, which are no copies.

        Raises:
            Error: "usage" unless the matrix has its transpose (has_transpose).
        """
        if not hasattr(x, "shape"):  # a list
            array = host_array(x)
            x = x if array is None else array
        if len(getattr(x, "shape", ())) != 2 or hasattr(x, "tocsr"):
            return self._times(x, True)
        y = self._product(x.T, True)
        return y if y is NotImplemented else y.T

    def matvec(self, x: Any) -> Any:
        """A @ x as solvers ask for it: as A @ x, but arrays of NumPy and CuPy, and what NumPy makes one of, are
        converted to the matrix's type first, real or complex. So scipy.sparse.linalg takes the matrix itself.
        """
        return self._converted(x, False)

    def rmatvec(self, x: Any) -> Any:
        """A^T @ x: as matvec(), for x of shape (rows,) or (rows, k).

        Raises:
            Error: "usage" unless the matrix has its transpose (has_transpose).
        """
        return self._converted(x, True)

    def matmat(self, x: Any) -> Any:
        """The same as matvec(), by the name for k columns, x of shape (columns, k)."""
        return self.matvec(x)

    def rmatmat(self, x: Any) -> Any:
        """The same as rmatvec(), by the name for k columns, x of shape (rows, k)."""
        return self.rmatvec(x)

    def dot(self, x: Any) -> Any:
        """A @ x as a method, with its rules."""
        y = self._times(x)
        if y is NotImplemented:
            raise TypeError(f"x is of type {type(x).__qualname__}, not an array")
        return y

    def _converted(self, x: Any, transpose: bool, threads: int = 0) -> Any:
        if not isinstance(x, np.ndarray) and not hasattr(x, "__dlpack__"):
            array = host_array(x)
            x = x if array is None else array
        dtype = getattr(x, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
            kind = np.result_type(self.dtype, np.complex64) if dtype.kind == "c" else self.dtype
            if dtype not in (np.float64, np.complex128, kind):
                x = x.astype(kind)
        y = self._product(x, transpose, threads)
        if y is NotImplemented:
            raise TypeError(f"x is of type {type(x).__qualname__}, not an array")
        return y

    def _not_offered(self, what: str) -> NoReturn:
        raise TypeError(f"an encoded matrix has no {what}; use {self._scipy}, a matrix of SciPy, or linear_operator(), "
                        "which can be scaled and added to others")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        """TypeError: NumPy and SciPy call this where they take arrays, which an encoded matrix is not."""
        raise TypeError(f"an encoded matrix is not converted to an array: use {self._scipy}, a matrix of SciPy, or "
                        f"{self._scipy.replace('tocsr', 'toarray')}, a dense array")

    def __getitem__(self, index: Any) -> NoReturn:
        self._not_offered("elements and slices")

    def __iter__(self) -> NoReturn:
        self._not_offered("elements and slices")

    def __add__(self, other: Any) -> NoReturn:
        self._not_offered("sums")

    def __mul__(self, other: Any) -> NoReturn:
        self._not_offered("products but with vectors, M @ x")

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __truediv__ = __mul__

    def __neg__(self) -> NoReturn:
        self._not_offered("negative")

    def __pow__(self, other: Any) -> NoReturn:
        self._not_offered("powers")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = f"; {self._scipy}, a matrix of SciPy, has" if name in _of_scipy else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)


class Transposed(Linear):
    """A^T of an encoded matrix, which it shares: what M.T is.

    Attributes:
        T: the matrix itself.
        shape, dtype, nnz: of A^T.
    """

    _scipy = "M.tocsr().T"

    def __init__(self, matrix: Any) -> None:
        self.T = matrix
        self.shape: tuple[int, int] = matrix.shape[::-1]
        self.dtype: np.dtype[Any] = matrix.dtype
        self.nnz: int = matrix.nnz

    def __repr__(self) -> str:
        return f"<transpose of {self.T!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Transposed, (self.T, )

    def __matmul__(self, x: Any) -> Any:
        """A^T @ x, with the rules of A @ x."""
        return self._times(x)

    def _product(self, x: Any, transpose: bool, threads: int = 0) -> Any:
        return self.T._product(x, not transpose, threads)

    def multiply(self, x: Any, out: Any, *arguments: Any, **keywords: Any) -> Any:
        """out = alpha A^T x + beta out: multiply() of the matrix, with its arguments."""
        transpose = not _arguments.flag("transpose", keywords.pop("transpose", False))
        return self.T.multiply(x, out, *arguments, transpose=transpose, **keywords)

    def scaled(self, rows: Any = None, columns: Any = None) -> Any:
        """D_r A^T D_c: scaled() of the matrix, transposed."""
        return self.T.scaled(columns, rows).T

    def tocsr(self) -> Any:
        """A^T as a scipy.sparse.csr_array, from a matrix on the host."""
        return self.T.tocsr().T.tocsr()

    def toarray(self) -> Any:
        """A^T as a dense array, from a matrix on the host."""
        return self.T.toarray().T

    def diagonal(self) -> Any:
        """The diagonal, from a matrix on the host."""
        return self.T.diagonal()

    def linear_operator(self, **keywords: Any) -> Any:
        """linear_operator() of the matrix, transposed."""
        return self.T.linear_operator(**keywords).T


def transpose_of(matrix: Any) -> Transposed:
    if not matrix.has_transpose:
        raise Error("the matrix was encoded without its transpose", "usage", "",
                    "use encode(..., transpose=True), or for SciPy's matrix M.tocsr().T")
    return Transposed(matrix)
