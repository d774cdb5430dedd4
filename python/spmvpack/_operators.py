"""Operators for the solvers of SciPy and CuPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._device import DeviceMatrix
    from ._matrix import Matrix


def _transpose_of(matrix: Any, transpose: Any) -> tuple[Any, float]:
    """B and s with A^T = s B; B is None if A^T is not known."""
    if transpose is not None:
        if transpose.shape != matrix.shape[::-1]:
            raise ValueError(f"transpose has shape {transpose.shape}, expected {matrix.shape[::-1]}")
        if transpose.dtype != matrix.dtype:
            raise TypeError(f"transpose is {transpose.dtype}, the matrix {matrix.dtype}")
        return transpose, 1.0
    return {"symmetric": (matrix, 1.0), "skew-symmetric": (matrix, -1.0)}.get(matrix.symmetry, (None, 1.0))


def _operator_class(base: Any, xp: Any) -> Any:
    """A LinearOperator on `base`, with the arrays of `xp`."""

    class Operator(base):  # type: ignore[misc]
        """y = A x of an encoded matrix; vectors are converted to its type first, as solvers pass what they have."""

        def __init__(self, matrix: Any, transpose: Any) -> None:
            super().__init__(matrix.dtype, matrix.shape)
            self.matrix = matrix
            self._transposed, self._sign = _transpose_of(matrix, transpose)

        def _apply(self, matrix: Any, x: Any, alpha: float = 1.0) -> Any:
            x = xp.asarray(x)
            if x.dtype.kind == "c":
                real = self._apply(matrix, x.real, alpha)
                return real + 1j * self._apply(matrix, x.imag, alpha)
            x = xp.asarray(x, self.dtype)
            if x.ndim == 2 and x.shape[1] != 1:
                y = xp.empty((matrix.shape[0], x.shape[1]), self.dtype, order="F")
                for k in range(x.shape[1]):
                    matrix.multiply(xp.ascontiguousarray(x[:, k]), y[:, k], alpha)
                return y
            y = xp.empty(matrix.shape[0], self.dtype)
            matrix.multiply(xp.ascontiguousarray(x.reshape(-1)), y, alpha)
            return y.reshape((-1, 1)) if x.ndim == 2 else y

        def _matvec(self, x: Any) -> Any:
            return self._apply(self.matrix, x)

        def _matmat(self, x: Any) -> Any:
            return self._apply(self.matrix, x)

        def _rmatvec(self, x: Any) -> Any:
            if self._transposed is None:
                raise NotImplementedError("A^T is not known: pass it, encoded, as linear_operator(transpose=...)")
            return self._apply(self._transposed, x, self._sign)

        def _rmatmat(self, x: Any) -> Any:
            return self._rmatvec(x)

    return Operator


_classes: dict[str, Any] = {}


def host_operator(matrix: Matrix, transpose: Matrix | None) -> Any:
    if "scipy" not in _classes:
        from scipy.sparse.linalg import LinearOperator

        _classes["scipy"] = _operator_class(LinearOperator, np)
    return _classes["scipy"](matrix, transpose)


def device_operator(matrix: DeviceMatrix, transpose: DeviceMatrix | None) -> Any:
    if "cupy" not in _classes:
        import cupy
        from cupyx.scipy.sparse.linalg import LinearOperator

        _classes["cupy"] = _operator_class(LinearOperator, cupy)
    return _classes["cupy"](matrix, transpose)
