"""Operators for the solvers of SciPy and CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._products import Products
from ._vectors import by_columns


def _check_transpose(matrix: Any, transpose: Any) -> None:
    if transpose.shape != matrix.shape[::-1]:
        raise ValueError(f"transpose has shape {transpose.shape}, expected {matrix.shape[::-1]}")
    if transpose.dtype != matrix.dtype:
        raise TypeError(f"transpose is {transpose.dtype}, the matrix {matrix.dtype}")


def _operator_class(base: Any, xp: Any, make: Callable[..., Any]) -> Any:
    """A LinearOperator on `base`, with the arrays of `xp`, as `make` makes it."""

    class Operator(base):  # type: ignore[misc]
        """y = A x of an encoded matrix, scaled or not; vectors are converted to its type first, as solvers pass what they have."""

        def __init__(self, matrix: Any, transpose: Any, threads: int) -> None:
            super().__init__(matrix.dtype, matrix.shape)
            if transpose is not None:
                _check_transpose(matrix, transpose)
            self.matrix = matrix
            self._transposed = transpose
            self._threads = threads
            self._options = {"threads": threads} if threads else {}  # of multiply()

        def __reduce__(self) -> tuple[Any, ...]:
            return make, (self.matrix, self._transposed, self._threads)

        def _apply(self, matrix: Any, x: Any, transpose: bool | str = False) -> Any:
            x = xp.asarray(x)
            x = xp.asarray(x, np.result_type(self.dtype, np.complex64) if x.dtype.kind == "c" else self.dtype)
            rows = matrix.shape[1 if transpose else 0]
            if x.ndim == 2 and x.shape[1] != 1:
                y = xp.empty((rows, x.shape[1]), x.dtype, order="F" if by_columns(x.strides) else "C")
                matrix.multiply(x, y, transpose=transpose, **self._options)
                return y
            y = xp.empty(rows, x.dtype)
            matrix.multiply(xp.ascontiguousarray(x.reshape(-1)), y, transpose=transpose, **self._options)
            return y.reshape((-1, 1)) if x.ndim == 2 else y

        def _matvec(self, x: Any) -> Any:
            return self._apply(self.matrix, x)

        def _matmat(self, x: Any) -> Any:
            return self._apply(self.matrix, x)

        def _rmatvec(self, x: Any) -> Any:
            if self._transposed is not None:
                if self.dtype.kind != "c":
                    return self._apply(self._transposed, x)
                return self._apply(self._transposed, xp.conj(xp.asarray(x))).conj()
            if not self.matrix.has_transpose:
                raise NotImplementedError("A^T is not known: use encode(..., transpose=True), or pass it, encoded, as "
                                          "linear_operator(transpose=...)")
            return self._apply(self.matrix, x, self.matrix._adjoint)

        def _rmatmat(self, x: Any) -> Any:
            return self._rmatvec(x)

    return Operator


_classes: dict[str, Any] = {}


def host_operator(matrix: Any, transpose: Products | None, threads: int = 0) -> Any:
    if "scipy" not in _classes:
        from scipy.sparse.linalg import LinearOperator

        _classes["scipy"] = _operator_class(LinearOperator, np, host_operator)
    return _classes["scipy"](matrix, transpose, threads)


def device_operator(matrix: Any, transpose: Products | None, threads: int = 0) -> Any:
    if "cupy" not in _classes:
        import cupy
        from cupyx.scipy.sparse.linalg import LinearOperator

        _classes["cupy"] = _operator_class(LinearOperator, cupy, device_operator)
    return _classes["cupy"](matrix, transpose, threads)
