"""Products that PyTorch knows: differentiable in the vector, and traced by torch.compile without a break.

    import spmvpack as sp

    y = sp.torch.matvec(M, x)  # a matrix on the host or on a GPU; spmvpack.torch is imported when it is first named
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ._errors import Error
from ._products import Products, alive
from ._vectors import by_columns, resolved

__all__ = ["matvec"]


def matvec(matrix: Products, x: torch.Tensor, *, transpose: bool | str = False) -> torch.Tensor:
    """A x, as an operation of PyTorch. Its gradient with respect to x is A^H times that of the result; A is constant.

    Args:
        matrix: a Matrix for tensors of the CPU, a DeviceMatrix for those of its GPU. Keep it as long as a compiled
            function or a gradient may need it.
        x: of shape (columns,), or (columns, k) for the products of k columns. float64 or complex128, or float32 or
            complex64 for a float32 matrix, which takes all four. For a complex matrix complex128, or complex64 for a
            complex64 one, which takes both. It is used on its GPU's current stream.
        transpose: A^T instead of A, or with "conjugate" A^H; x is then of shape (rows,) or (rows, k).

    Returns:
        A tensor of shape (rows,), or (rows, k), column after column if x is so, otherwise row after row; of the type
        and device of x.

    Raises:
        ValueError: another shape or device.
        TypeError: another type, or no tensor; nothing is converted.
        Error: "usage" if A^T is needed, for `transpose` or by backward(), and the matrix was encoded without it: use
            encode(..., transpose=True), unless it is symmetric, skew-symmetric or Hermitian.
    """
    _check(matrix, x, transpose)
    conjugate = transpose == "conjugate" and matrix.dtype.kind == "c"
    result: torch.Tensor = _operation(x, matrix.key, matrix.shape[1 if transpose else 0], bool(transpose), conjugate)
    return result


def _check(matrix: Any, x: torch.Tensor, transpose: bool | str) -> None:
    if not isinstance(matrix, Products):
        raise TypeError(f"a matrix of type {type(matrix).__qualname__}, expected one of encode(), load() or to()")
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x is of type {type(x).__qualname__}, not a tensor")
    if not isinstance(transpose, bool) and transpose != "conjugate":
        raise TypeError(f"transpose is {transpose!r}, expected True or False, or 'conjugate' for A^H")
    size, what = matrix.shape[0 if transpose else 1], "rows" if transpose else "columns"
    if x.dim() not in (1, 2) or x.shape[0] != size:
        raise ValueError(f"x has shape {tuple(x.shape)}, expected ({size},) or ({size}, k), one element for each of "
                         f"the matrix's {size} {what}")
    if x.layout != torch.strided:
        raise TypeError(f"x is a tensor of {x.layout}, expected a dense one")
    values: torch.dtype = getattr(torch, matrix.dtype.name)
    of_complex = torch.complex128 if matrix.dtype in (np.float64, np.complex128) else torch.complex64
    taken = {torch.complex128, of_complex}
    if x.dtype not in taken and (values.is_complex or x.dtype not in (torch.float64, values)):
        raise TypeError(f"x is {x.dtype}, the matrix {values}: nothing is converted; convert it to "
                        f"{of_complex if x.dtype.is_complex else values}")
    place = matrix._torch_device
    if str(x.device) != place:
        raise ValueError(f"x is on {x.device}, the matrix on {place}: move one of them")


def _new_result(x: torch.Tensor, rows: Any) -> torch.Tensor:
    if x.dim() == 1:
        return x.new_empty(rows)
    strides = (1, rows) if by_columns(x.stride()) else (x.shape[1], 1)
    return x.new_empty_strided((rows, x.shape[1]), strides)


def _multiply(x: torch.Tensor, key: int, rows: int, transpose: bool, conjugate: bool) -> torch.Tensor:
    matrix: Any = alive.get(key)
    if matrix is None:
        raise Error("the matrix of this product is gone", "usage", "",
                    "keep it as long as a compiled function or a gradient may need it")
    if transpose and not matrix.has_transpose:
        raise Error("A^T is needed, for a gradient or by `transpose`, and the matrix does not have it", "usage", "",
                    "encode the matrix with its transpose: spmvpack.encode(..., transpose=True)")
    conjugate = conjugate and matrix.dtype.kind == "c"
    of_conjugates = conjugate and not transpose  # conj(A) x
    x, y = resolved(x.conj() if of_conjugates else x), _new_result(x, rows)
    if x.dim() == 1:
        x = x.contiguous()
    if matrix._torch_device == "cpu":
        matrix.multiply(x.numpy(), y.numpy(), transpose="conjugate" if conjugate and transpose else transpose)
    else:
        matrix.multiply(x, y, transpose=transpose)
    return y.conj_physical_() if of_conjugates else y


def _fake(x: torch.Tensor, key: int, rows: int, transpose: bool, conjugate: bool) -> torch.Tensor:
    return _new_result(x, rows)


def _remember(ctx: Any, inputs: tuple[torch.Tensor, int, int, bool, bool], output: torch.Tensor) -> None:
    x, ctx.key, _, ctx.transpose, ctx.conjugate = inputs
    ctx.cols = x.shape[0]
    # The matrix lives until backward() has been; a trace has no matrix.
    ctx.matrix = alive.get(ctx.key) if isinstance(ctx.key, int) else None


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None]:
    """By the conjugate transpose of what has multiplied."""
    return _operation(gradient, ctx.key, ctx.cols, not ctx.transpose, not ctx.conjugate), None, None, None, None


def _of_batch(info: Any, in_dims: tuple[Any, ...], x: torch.Tensor, key: int, rows: int, transpose: bool,
              conjugate: bool) -> tuple[torch.Tensor, int]:
    """torch.vmap: the batch's vectors are columns of one product."""
    x = x.movedim(in_dims[0], -1)
    y = _operation(x.reshape(x.shape[0], -1), key, rows, transpose, conjugate)
    return y.reshape(rows, *x.shape[1:]), x.dim() - 1


# The matrix is known by a number: operations take tensors and simple values. As a SymInt it is no reason to compile
# again for another matrix.
_operation = torch.library.custom_op("spmvpack::matvec", _multiply, mutates_args=(),
                                     schema="(Tensor x, SymInt matrix, SymInt rows, bool transpose, bool conjugate) "
                                            "-> Tensor")
_operation.register_fake(_fake)
_operation.register_autograd(_backward, setup_context=_remember)
_operation.register_vmap(_of_batch)
