"""D_r A D_c of an encoded matrix, whose values stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._linear import Linear, Transposed, transpose_of
from ._vectors import host_array, needs_gradient, refuse_altered, root_module

if TYPE_CHECKING:
    from ._products import Products


class Scaled(Linear):
    """D_r A D_c of an encoded matrix A, which it shares: what M.scaled(rows, columns) is. It multiplies as M does, and
    every product reads the factors anew, so that they can be changed where they are.

    Attributes:
        matrix: M.
        rows, columns: the factors, as they were given; None stands for ones.
        shape, dtype, nnz, has_transpose: as of M.
    """

    _scipy = "tocsr()"

    def __init__(self, matrix: Products, rows: Any, columns: Any) -> None:
        self.matrix: Any = matrix
        self.rows, self.columns = rows, columns
        self._rows = matrix._factors("rows", rows, matrix.shape[0])
        self._columns = matrix._factors("columns", columns, matrix.shape[1])
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype[Any] = matrix.dtype
        self.nnz: int = matrix.nnz

    def __repr__(self) -> str:
        what = " and ".join(name for name in ("rows", "columns") if getattr(self, name) is not None)
        return f"<{self.matrix!r} with scaled {what}>" if what else f"<{self.matrix!r} with factors of 1>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scaled, (self.matrix, self.rows, self.columns)

    @property
    def has_transpose(self) -> bool:
        return bool(self.matrix.has_transpose)

    @property
    def T(self) -> Transposed:
        """D_c A^T D_r, which shares the matrix and the factors.

        Raises:
            Error: "usage" unless has_transpose.
        """
        return transpose_of(self)

    @property
    def H(self) -> Transposed:
        """D_c A^H D_r, which is T of a real matrix."""
        return transpose_of(self, True)

    def __matmul__(self, x: Any) -> Any:
        """D_r A D_c x, with the rules of A @ x. With a matrix on a GPU, x is there, too. If x, or factors that are
        tensors, require a gradient, so does the result."""
        return self._times(x)

    def _product(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        if root_module(x) == "torch" and any(map(needs_gradient, (x, self.rows, self.columns))):
            return self._differentiable(x, transpose)
        return self.matrix._scaled_product(self, x, transpose, threads)

    def _differentiable(self, x: Any, transpose: bool | str) -> Any:
        from .torch import matvec  # not needed for anything else

        of_x, of_y = (self.rows, self.columns) if transpose else (self.columns, self.rows)
        y = matvec(self.matrix, x if of_x is None else _tensor(of_x, x) * x, transpose=transpose)
        return y if of_y is None else _tensor(of_y, x) * y

    def multiply(self, x: Any, out: Any, *arguments: Any, **keywords: Any) -> Any:
        """out = alpha D_r A D_c x + beta out: multiply() of the matrix, with its arguments."""
        return self.matrix._scaled_multiply(self, x, out, *arguments, **keywords)

    def prepare(self, *arguments: Any, **keywords: Any) -> None:
        """prepare() of a matrix on a GPU, for products with these factors."""
        self.matrix._prepare_scaled(self, *arguments, **keywords)

    def tocsr(self) -> Any:
        """The matrix with scaled values as a scipy.sparse.csr_array, from a matrix on the host."""
        a = self.matrix.tocsr()
        if self._rows is not None:
            a.data *= np.repeat(self._rows, np.diff(a.indptr))
        if self._columns is not None:
            a.data *= self._columns[a.indices]
        return a

    def toarray(self) -> Any:
        """The same as a dense array."""
        return self.tocsr().toarray()

    def diagonal(self) -> Any:
        """The diagonal of the matrix with scaled values, from a matrix on the host."""
        return self.tocsr().diagonal()

    def linear_operator(self, **keywords: Any) -> Any:
        """linear_operator() of the matrix, scaled; it takes no A^T of its own."""
        return self.matrix._operator(self, None, **keywords)

    @property
    def _flags(self) -> tuple[bool, bool]:
        return self._rows is not None, self._columns is not None


def host_factors(name: str, factors: Any, size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Factors in host memory, where they lie. Those of a list are copied."""
    if factors is None:
        return None
    array = host_array(factors, name)
    if array is None:
        raise TypeError(f"{name} is of type {type(factors).__qualname__}, not an array of factors")
    _check(name, array, str(array.dtype), size, dtype)
    if not array.flags.c_contiguous:
        raise ValueError(f"{name} is not contiguous: use numpy.ascontiguousarray()")
    return array


def device_factors(name: str, factors: Any, size: int, dtype: np.dtype[Any]) -> Any:
    """Factors with DLPack in device memory."""
    if factors is None:
        return None
    if not hasattr(factors, "__dlpack__") or not hasattr(factors, "shape"):
        raise TypeError(f"{name} is of type {type(factors).__qualname__}, not an array in device memory")
    if int(factors.__dlpack_device__()[0]) not in (2, 13):  # CUDA's memory, its own or managed
        raise ValueError(f"{name} is on the host, the matrix on a GPU: copy {name} there")
    refuse_altered(name, factors)
    _check(name, factors, str(factors.dtype).rpartition(".")[2], size, dtype)
    return factors


def _check(name: str, factors: Any, type_name: str, size: int, dtype: np.dtype[Any]) -> None:
    if tuple(factors.shape) != (size,):
        raise ValueError(f"{name} has shape {tuple(factors.shape)}, expected ({size},), one factor for each of the "
                         f"matrix's {size} {name}")
    real = np.empty(0, dtype).real.dtype
    if type_name not in ("float64", str(real)):
        raise TypeError(f"{name} is {type_name}, the matrix {dtype}: nothing is converted; convert it to {real}")


def _tensor(factors: Any, x: Any) -> Any:
    """Factors as a tensor that x can be multiplied by."""
    import torch

    factors = torch.as_tensor(factors, device=x.device)
    if factors.dtype != (x.real if x.is_complex() else x).dtype:
        raise TypeError(f"factors are {factors.dtype}, x is {x.dtype}: factors are of the real type of x")
    return factors.unsqueeze(1) if x.dim() == 2 else factors
