"""From what holds a matrix (SciPy, CuPy, PyTorch, a file) to a Source of the native module."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _native


def root_module(value: object) -> str:
    """The package that the value's type comes from: "scipy", "cupyx", "torch", ..."""
    return type(value).__module__.partition(".")[0]


def source_of(a: Any, dtype: Any, threads: int, memory_limit: int = 0) -> _native.Source:
    """The matrix `a`; what it may be says encode()."""
    if isinstance(a, (str, os.PathLike)):
        return _native.Source.from_file(os.fspath(a), None if dtype is None else _type_name(dtype), threads,
                                        memory_limit)
    if dtype is not None:
        raise TypeError("dtype is for files; convert the matrix before you pass it, as with A.astype(numpy.float32)")
    package = root_module(a)
    if package == "torch":
        return _from_torch(a, threads, memory_limit)
    if package == "cupyx":
        a = a.get()  # to SciPy
    if not all(hasattr(a, name) for name in ("shape", "format", "tocoo")):
        raise TypeError(f"a matrix of type {type(a).__qualname__}: give a sparse matrix or array of SciPy or CuPy, a "
                        "CSR tensor of PyTorch, or the path of a file; for a dense array, scipy.sparse.csr_array(A)")
    if len(a.shape) != 2:
        raise ValueError(f"a matrix of shape {tuple(a.shape)}, expected two dimensions")
    rows, cols = (int(n) for n in a.shape)
    if a.format == "csr":
        return _native.Source.from_csr(rows, cols, _indices(a.indptr), _indices(a.indices), _values(a.data), threads,
                                       memory_limit)
    coo = a.tocoo()
    row, col = (np.asarray(part) for part in (coo.row, coo.col))
    index = np.int32 if row.dtype == col.dtype == np.int32 else np.int64
    return _native.Source.from_coo(rows, cols, np.ascontiguousarray(row, index), np.ascontiguousarray(col, index),
                                   _values(coo.data), threads, memory_limit)


def _from_torch(a: Any, threads: int, memory_limit: int) -> _native.Source:
    if str(a.layout) != "torch.sparse_csr" or a.dim() != 2:
        raise TypeError(f"a tensor of {a.layout} with {a.dim()} dimensions: give a matrix in CSR, as to_sparse_csr() "
                        "makes it")
    if str(a.dtype) == "torch.bfloat16":  # NumPy does not have it
        raise TypeError("values of type bfloat16: convert them, as with A.to(torch.float32)")
    parts = [part.detach().cpu().numpy() for part in (a.crow_indices(), a.col_indices(), a.values())]
    rows, cols = (int(n) for n in a.shape)
    return _native.Source.from_csr(rows, cols, _indices(parts[0]), _indices(parts[1]), _values(parts[2]), threads,
                                   memory_limit)


def _type_name(dtype: Any) -> str:
    names = {"float64": "f64", "float32": "f32"}
    name = str(np.dtype(dtype)) if not isinstance(dtype, str) or dtype not in names.values() else dtype
    if name not in names and name not in names.values():
        raise TypeError(f"values are stored as float64 or float32, not as {name}")
    return names.get(name, name)


def _indices(a: Any) -> np.ndarray[Any, Any]:
    a = np.asarray(a)
    return np.ascontiguousarray(a, np.int32 if a.dtype == np.int32 else np.int64)


def _values(values: Any) -> np.ndarray[Any, Any]:
    """Values as they are if they are float64 or float32; integers as float64, which must hold them exactly."""
    a: np.ndarray[Any, Any] = np.asarray(values)
    for native in (np.float64, np.float32):
        if a.dtype.newbyteorder("=") == native:
            return np.ascontiguousarray(a, native)
    if a.dtype.kind not in "biu":
        advice = ("a complex matrix is not supported; its real and its imaginary part are, A.real and A.imag"
                  if a.dtype.kind == "c" else "convert others with A.astype()")
        raise TypeError(f"values of type {a.dtype}: float64 and float32 are stored as they are, integers and booleans "
                        f"as float64; {advice}")
    limit = 2**53
    if a.dtype.itemsize == 8:
        beyond = np.flatnonzero((a > limit) | (a < -limit))
        if beyond.size:
            raise ValueError(f"the value {a[beyond[0]]} of entry {beyond[0]} is beyond 2^53, where float64 is not "
                             "exact; convert the matrix with A.astype(numpy.float64)")
    return a.astype(np.float64)
