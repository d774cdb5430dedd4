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


def contiguous(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x if x.flags.c_contiguous else x.copy()


def host_array(x: Any) -> np.ndarray[Any, Any] | None:
    """x as an array of NumPy in this machine's byte order, without another copy than that takes; None if it is nothing
    of which NumPy makes an array. Integers of a list, which has to be copied in any case, are float64.

    Raises:
        ValueError: x is on a GPU, or has masked elements.
    """
    if isinstance(x, np.ndarray):
        is_masked: Callable[[Any], bool] = np.ma.is_masked
        if isinstance(x, np.ma.MaskedArray) and is_masked(x):
            raise ValueError("x has masked elements: say what they are, as with x.filled(0)")
        array = np.asarray(x)  # numpy.matrix has no vectors
    elif root_module(x) == "torch" and hasattr(x, "detach"):
        _refuse_gpu(x)
        array = np.asarray(x.detach().resolve_neg().numpy())
    elif hasattr(x, "__array_interface__"):
        array = np.asarray(x)
    elif hasattr(x, "__dlpack__"):
        _refuse_gpu(x)
        array = np.from_dlpack(x)
    elif hasattr(x, "__cuda_array_interface__"):
        raise ValueError(_on_a_gpu)
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


_on_a_gpu = "x is on a GPU, the matrix on the host: use M.to('cuda'), or copy x to the host"


def _refuse_gpu(x: Any) -> None:
    if hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] != 1:
        raise ValueError(_on_a_gpu)


def like(x: Any, y: np.ndarray[Any, Any]) -> Any:
    """y in the library of x; in NumPy where that has no arrays of its own."""
    if isinstance(x, np.ndarray):
        return y
    if root_module(x) == "torch":
        import torch

        return torch.from_numpy(y)
    namespace = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
    return y if namespace is np else namespace.from_dlpack(y)
