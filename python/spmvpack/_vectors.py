"""x and y of products in host memory, of any library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def root_module(value: object) -> str:
    """The package that the value's type comes from: "scipy", "cupyx", "torch", ..."""
    return type(value).__module__.partition(".")[0]


def needs_gradient(x: Any) -> bool:
    return root_module(x) == "torch" and bool(getattr(x, "requires_grad", False))


def by_columns(strides: tuple[int, ...]) -> bool:
    """Whether elements of a column are nearer to each other than those of a row. Results are in the order of their
    operands."""
    return abs(strides[0]) < abs(strides[1])


def new_result(x: np.ndarray[Any, Any], rows: int) -> np.ndarray[Any, Any]:
    """For a product of x."""
    if x.ndim == 1:
        return np.empty(rows, x.dtype)
    return np.empty((rows, *x.shape[1:2]), x.dtype, order="F" if x.ndim == 2 and by_columns(x.strides) else "C")


def refuse_altered(name: str, vector: Any) -> None:
    """ValueError: the memory of `vector`, which a multiply would read, does not hold the values that it stands for."""
    if isinstance(vector, np.ma.MaskedArray):
        is_masked: Callable[[Any], bool] = np.ma.is_masked
        if is_masked(vector):
            raise ValueError(f"{name} has masked elements: say what they are, as with {name}.filled(0)")
    elif hasattr(vector, "is_neg"):  # PyTorch's, whose DLPack leaves the sign out
        for altered, what, resolved in ((vector.is_conj, "conjugate", "resolve_conj"),
                                        (vector.is_neg, "negative", "resolve_neg")):
            if altered():
                raise ValueError(f"{name} is the {what} of what is in its memory: use {name}.{resolved}()")


def resolved(x: Any) -> Any:
    """A tensor as it is in memory, without a gradient."""
    return x.detach().resolve_conj().resolve_neg()


def contiguous(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x if x.flags.c_contiguous else x.copy()


def host_array(x: Any, name: str = "x") -> np.ndarray[Any, Any] | None:
    """x as an array of NumPy in this machine's byte order, without another copy than that takes; None if it is nothing
    of which NumPy makes an array. Integers of a list, which has to be copied in any case, are float64.

    Raises:
        ValueError, which calls it `name`: x is on a GPU, or has masked elements.
    """
    if isinstance(x, np.ndarray):
        refuse_altered(name, x)
        array = np.asarray(x)  # numpy.matrix has no vectors
    elif root_module(x) == "torch" and hasattr(x, "detach"):
        _refuse_gpu(x, name)
        array = np.asarray(resolved(x).numpy())
    elif hasattr(x, "__array_interface__"):
        array = np.asarray(x)
    elif hasattr(x, "__dlpack__"):
        _refuse_gpu(x, name)
        array = np.from_dlpack(x)
    elif hasattr(x, "__cuda_array_interface__"):
        raise ValueError(_on_a_gpu(name))
    elif hasattr(x, "tocsr") or hasattr(x, "matvec") or isinstance(x, (str, bytes, bytearray)):
        return None  # a matrix, an operator, a text
    elif hasattr(x, "__array__"):
        array = np.asarray(x)
    elif isinstance(x, Sequence) and not isinstance(x, memoryview):
        array = np.asarray(x)
        if array.dtype.kind in "biu":
            array = array.astype(np.float64)
    else:
        try:
            array = np.asarray(memoryview(x))
        except TypeError:
            return None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _on_a_gpu(name: str) -> str:
    return f"{name} is on a GPU, the matrix on the host: use M.to('cuda'), or copy {name} to the host"


def _refuse_gpu(x: Any, name: str) -> None:
    if hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] != 1:
        raise ValueError(_on_a_gpu(name))


def like(x: Any, y: np.ndarray[Any, Any]) -> Any:
    """y in the library of x; in NumPy where that has no arrays of its own."""
    if isinstance(x, np.ndarray):
        return y
    if root_module(x) == "torch":
        import torch

        return torch.from_numpy(y)
    namespace = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
    return y if namespace is np else namespace.from_dlpack(y)
