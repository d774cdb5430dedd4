"""Checks of arguments, before anything is done; messages name the argument that is wrong."""

from __future__ import annotations

import operator
import os
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_most_threads = 2**31 - 1  # of a C int; the library's own bound is lower
_most_bytes = 2**64 - 1


def whole(name: str, value: Any, expected: str, most: int) -> int:
    """An integer from 0 to `most`; `expected` says what else messages ask for.

    Raises:
        TypeError: no integer.
        ValueError: another one.
    """
    if not isinstance(value, (bool, np.bool_)):
        try:
            number = operator.index(value)
        except TypeError:
            pass
        else:
            if 0 <= number <= most:
                return number
            raise ValueError(f"{name} is {number}, expected {expected}")
    raise TypeError(f"{name} is {reprlib.repr(value)}, expected {expected}")


def threads(value: Any) -> int:
    return whole("threads", value, "how many, or 0 for all", _most_threads)


def memory_limit(value: Any) -> int:
    return whole("memory_limit", value, "how many bytes, or 0 for what is free", _most_bytes)


def flag(name: str, value: Any) -> bool:
    """TypeError: neither True nor False, of Python or NumPy."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {reprlib.repr(value)}, expected True or False")
    return bool(value)


def text(name: str, value: Any) -> str:
    """TypeError: no string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {reprlib.repr(value)}, expected a string")
    return value


def path(name: str, value: Any) -> str | bytes:
    """TypeError: no path."""
    try:
        return os.fspath(value)  # type: ignore[no-any-return]
    except TypeError:
        raise TypeError(f"{name} is {reprlib.repr(value)}, expected a path") from None


def dtype_name(value: Any) -> str:
    """NumPy's name of a type. TypeError: none."""
    try:
        return str(np.dtype(value))
    except TypeError:
        raise TypeError(f"dtype is {reprlib.repr(value)}, expected numpy.float64 or numpy.float32, or complex128 "
                        "or complex64") from None


def transpose(value: Any) -> bool | str:
    """TypeError: none of True, False and "conjugate"."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if not isinstance(value, str) or value != "conjugate":
        raise TypeError(f"transpose is {reprlib.repr(value)}, expected True or False, or 'conjugate' for A^H")
    return value


def _is_complex(value: Any) -> bool:
    of_pytorch = getattr(value, "is_complex", None)
    of_numpy = getattr(getattr(value, "dtype", None), "kind", "") == "c"
    return isinstance(value, complex) or of_numpy or (callable(of_pytorch) and bool(of_pytorch()))


def complex_scalar(name: str, value: Any) -> complex:
    """TypeError: no number, as Python, NumPy and PyTorch have them."""
    if _is_complex(value) and getattr(value, "shape", ()) == ():
        return complex(value)
    return complex(scalar(name, value))


def scalar(name: str, value: Any) -> float:
    """TypeError: no real number, as Python, NumPy and PyTorch have them."""
    if _is_complex(value):
        raise TypeError(f"{name} is {reprlib.repr(value)}, expected a real number: complex ones are for complex x and "
                        "matrices on the host")
    if not isinstance(value, (str, bytes)) and getattr(value, "shape", ()) == ():
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            pass
    raise TypeError(f"{name} is {reprlib.repr(value)}, expected a real number")


def settings(value: Any) -> dict[str, str]:
    """The settings of a layout as the command line has them. TypeError: no dict, or a name that is no string."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"settings is {reprlib.repr(value)}, expected a dict such as {{'ccoo.k': 4}}")
    return {text("the name of a setting", name): str(setting) for name, setting in value.items()}
