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

    @property
    def _adjoint(self) -> bool | str:
        """`transpose` of a product with A^H."""
        return "conjugate" if self.dtype.kind == "c" else True

    def _product(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        """A @ x, A^T @ x (True) or, of complex matrices, A^H @ x ("conjugate"); NotImplemented if x is no array."""
        raise NotImplementedError

    def _times(self, x: Any, transpose: bool | str = False) -> Any:
        """_product() for an operator of Python: what a user may expect there is told where to go."""
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
        """A^H @ x, which is A^T @ x of a real matrix: as matvec(), for x of shape (rows,) or (rows, k).

        Raises:
            Error: "usage" unless the matrix has its transpose (has_transpose).
        """
        return self._converted(x, self._adjoint)

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

    def _converted(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        if not isinstance(x, np.ndarray) and not hasattr(x, "__dlpack__"):
            array = host_array(x)
            x = x if array is None else array
        dtype = getattr(x, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "biufc":
            kind = np.result_type(self.dtype, np.complex64) if dtype.kind == "c" else self.dtype
            if dtype not in (np.complex128, kind) and (dtype != np.float64 or self.dtype.kind == "c"):
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
    """A^T of an encoded matrix, which it shares: what M.T is. Or A^H of a complex one: M.H.

    Attributes:
        T: the matrix itself, of A^T.
        H: the matrix itself, of A^H or if it is real.
        shape, dtype, nnz: of A^T.
    """

    def __init__(self, matrix: Any, conjugate: bool = False) -> None:
        self._matrix = matrix
        self._conjugate = conjugate
        self._scipy = f"M.tocsr().T{'.conj()' if conjugate else ''}"
        self.shape: tuple[int, int] = matrix.shape[::-1]
        self.dtype: np.dtype[Any] = matrix.dtype
        self.nnz: int = matrix.nnz

    def __repr__(self) -> str:
        return f"<{'conjugate ' if self._conjugate else ''}transpose of {self._matrix!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Transposed, (self._matrix, self._conjugate)

    @property
    def T(self) -> Any:
        if self._conjugate:
            self._not_offered("conjugate of its own")
        return self._matrix

    @property
    def H(self) -> Any:
        if not self._conjugate and self.dtype.kind == "c":
            self._not_offered("conjugate of its own")
        return self._matrix

    def __matmul__(self, x: Any) -> Any:
        """A^T @ x, or A^H @ x, with the rules of A @ x."""
        return self._times(x)

    def _turned(self, transpose: bool | str) -> tuple[bool | str, bool]:
        """`transpose` of the matrix's own product, and whether that is with its conjugate."""
        conjugate = self._conjugate != (transpose == "conjugate" and self.dtype.kind == "c")
        if transpose:
            return False, conjugate
        return "conjugate" if conjugate else True, False

    def _product(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        of_matrix, conjugate = self._turned(transpose)
        if not conjugate:
            return self._matrix._product(x, of_matrix, threads)
        if not hasattr(x, "conj"):  # a list
            x = host_array(x)
        y = NotImplemented if x is None else self._matrix._product(x.conj(), of_matrix, threads)
        return y if y is NotImplemented else y.conj()

    def multiply(self, x: Any, out: Any, *arguments: Any, **keywords: Any) -> Any:
        """out = alpha A^T x + beta out, or with A^H: multiply() of the matrix, with its arguments."""
        transpose, conjugate = self._turned(_arguments.transpose(keywords.pop("transpose", False)))
        if conjugate:
            self._not_offered("conjugate of its own")
        return self._matrix.multiply(x, out, *arguments, transpose=transpose, **keywords)

    def scaled(self, rows: Any = None, columns: Any = None) -> Any:
        """D_r A^T D_c: scaled() of the matrix, transposed."""
        return Transposed(self._matrix.scaled(columns, rows), self._conjugate)

    def tocsr(self) -> Any:
        """A^T, or A^H, as a scipy.sparse.csr_array, from a matrix on the host."""
        a = self._matrix.tocsr().T.tocsr()
        return a.conj() if self._conjugate else a

    def toarray(self) -> Any:
        """The same as a dense array."""
        a = self._matrix.toarray().T
        return a.conj() if self._conjugate else a

    def diagonal(self) -> Any:
        """The diagonal, from a matrix on the host."""
        a = self._matrix.diagonal()
        return a.conj() if self._conjugate else a

    def linear_operator(self, **keywords: Any) -> Any:
        """linear_operator() of the matrix, transposed."""
        a = self._matrix.linear_operator(**keywords)
        return a.H if self._conjugate else a.T


def transpose_of(matrix: Any, conjugate: bool = False) -> Transposed:
    if not matrix.has_transpose:
        raise Error("the matrix was encoded without its transpose", "usage", "",
                    "use encode(..., transpose=True), or for SciPy's matrix M.tocsr().T")
    return Transposed(matrix, conjugate and matrix.dtype.kind == "c")
