"""From what holds a matrix (SciPy, CuPy, PyTorch, pydata/sparse, a file) to a Source of the native module.

What other libraries say about a matrix is not trusted: arrays may have room behind their entries, change after they
were checked, or be converted wrongly. So arrays are cut to what indptr says, and compared with each other and with nnz.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _arguments, _native
from ._errors import Error
from ._vectors import root_module

_Array = np.ndarray[Any, Any]


def source_of(a: Any, dtype: Any, threads: int, memory_limit: int = 0) -> _native.Source:
    """The matrix `a`, in any form that encode() takes."""
    if isinstance(a, (str, os.PathLike)):
        return _native.Source.from_file(_arguments.path("a", a), None if dtype is None else _type_name(dtype), threads,
                                        memory_limit)
    if dtype is not None:
        raise TypeError("dtype is for files; convert the matrix before you pass it, as with A.astype(numpy.float32)")
    package = root_module(a)
    if package == "torch" and hasattr(a, "layout"):
        return _from_torch(a, threads, memory_limit)
    if package == "spmvpack" and hasattr(type(a), "_scipy"):
        raise TypeError(f"a matrix that is encoded already: for another layout pass {a._scipy}, a matrix of SciPy")
    if package == "cupyx":
        a = _of_shape(a.get(), a.shape)  # to SciPy
    elif package == "sparse" and hasattr(a, "fill_value"):
        a = _from_pydata(a)
    if not all(hasattr(a, name) for name in ("shape", "format", "tocoo")):
        raise TypeError(f"a matrix of type {type(a).__qualname__}: give a sparse matrix or array of SciPy or CuPy, a "
                        "CSR tensor of PyTorch, or the path of a file; for a dense array, scipy.sparse.csr_array(A)")
    if len(a.shape) != 2:
        raise ValueError(f"a matrix of shape {tuple(a.shape)}, expected two dimensions")
    rows, cols = (int(n) for n in a.shape)
    if a.format == "csr":
        indptr, indices, data = _compressed(a.indptr, a.indices, a.data, rows, "rows")
        return _native.Source.from_csr(rows, cols, indptr, indices, stored_values(data), threads, memory_limit)
    if a.format == "csc":
        indptr, row, data = _compressed(a.indptr, a.indices, a.data, cols, "columns")
        col = _expanded(indptr)
    elif a.format == "bsr":
        row, col, data = _blocks(a, rows, cols)
    else:
        row, col, data = _triplets(a)
    index = np.int32 if row.dtype == col.dtype == np.int32 else np.int64
    return _native.Source.from_coo(rows, cols, np.ascontiguousarray(row, index), np.ascontiguousarray(col, index),
                                   stored_values(data), threads, memory_limit)


def _no_matrix(message: str, hint: str = "its arrays do not fit each other: build it anew from its entries") -> Error:
    return Error(message, "bad_input", "", hint)


def _of_shape(converted: Any, shape: Any) -> Any:
    """What another library has converted, if it still has the shape."""
    if tuple(converted.shape) != tuple(shape):
        raise _no_matrix(f"a matrix of shape {tuple(shape)} that its library converts to {tuple(converted.shape)}")
    return converted


def _compressed(indptr: Any, indices: Any, data: Any, majors: int, what: str) -> tuple[_Array, _Array, _Array]:
    """The arrays of CSR, CSC or BSR without the room behind the last entry, which SciPy does not look at, either."""
    indptr, indices, data = _indices(indptr, "indptr"), _indices(indices, "indices"), np.asarray(data)
    if indptr.ndim != 1 or indptr.size != majors + 1:
        raise _no_matrix(f"indptr has shape {indptr.shape}, expected ({majors + 1},), one more than the matrix's "
                         f"{what}")
    count = int(indptr[-1])
    if count < 0 or count > min(len(indices), len(data)):
        raise _no_matrix(f"indptr ends with {count}, and there are {len(indices)} indices and {len(data)} values")
    return indptr, indices[:count], data[:count]


def _expanded(indptr: _Array) -> _Array:
    """The row or column of each entry."""
    counts = np.diff(indptr)
    if indptr[0] != 0:
        raise _no_matrix(f"indptr begins with {indptr[0]}, expected 0")
    if (counts < 0).any():
        at = int(np.argmax(counts < 0))
        raise _no_matrix(f"indptr[{at + 1}] is {indptr[at + 1]}, after {indptr[at]}: it must not fall")
    return np.repeat(np.arange(counts.size, dtype=indptr.dtype), counts)


def _blocks(a: Any, rows: int, cols: int) -> tuple[_Array, _Array, _Array]:
    """The entries of BSR, block by block."""
    blocks = np.asarray(a.data)
    if blocks.ndim != 3 or 0 in blocks.shape[1:] or rows % blocks.shape[1] or cols % blocks.shape[2]:
        raise _no_matrix(f"data has shape {blocks.shape}, expected blocks that divide a matrix of {rows} x {cols}")
    _, height, width = blocks.shape
    indptr, indices, blocks = _compressed(a.indptr, a.indices, blocks, rows // height, "rows of blocks")
    wrong = np.flatnonzero((indices < 0) | (indices >= cols // width))
    if wrong.size:
        raise _no_matrix(f"indices[{wrong[0]}] is {indices[wrong[0]]}, expected a column of {cols // width} blocks")
    kind: Any = np.int32 if max(rows, cols) < 2**31 else np.int64
    first_row, first_col = _expanded(indptr).astype(kind) * height, indices.astype(kind) * width
    row = np.broadcast_to(first_row[:, None, None] + np.arange(height, dtype=kind)[:, None], blocks.shape)
    col = np.broadcast_to(first_col[:, None, None] + np.arange(width, dtype=kind), blocks.shape)
    return row.reshape(-1), col.reshape(-1), blocks.reshape(-1)


def _triplets(a: Any) -> tuple[_Array, _Array, _Array]:
    """The entries of all other formats, of which there must be as many as the matrix says. SciPy leaves stored zeros of
    diagonals out."""
    if a.format == "lil" and any(len(cols) != len(values) for cols, values in zip(a.rows, a.data)):
        raise _no_matrix("a row of the LIL matrix with more columns than values, or fewer")
    coo = a if a.format == "coo" else _of_shape(a.tocoo(), a.shape)
    if not all(hasattr(coo, name) for name in ("row", "col", "data")):
        raise TypeError(f"a matrix of type {type(a).__qualname__}, whose tocoo() is none of SciPy's: convert it to "
                        "one, as with scipy.sparse.csr_array()")
    row, col, data = _indices(coo.row, "row"), _indices(coo.col, "col"), np.asarray(coo.data)
    if not row.shape == col.shape == data.shape:
        raise _no_matrix(f"row, col and data have shapes {row.shape}, {col.shape} and {data.shape}, expected the same")
    stored = int(a.count_nonzero() if a.format == "dia" else a.nnz)
    if data.size != stored:
        raise _no_matrix(f"a matrix of {stored} entries, of which its library makes {data.size}")
    return row, col, data


def _from_pydata(a: Any) -> Any:
    """An array of pydata/sparse as a matrix of SciPy."""
    if len(a.shape) != 2:
        raise ValueError(f"a matrix of shape {tuple(a.shape)}, expected two dimensions")
    if not a.fill_value == 0:
        raise ValueError(f"an array with fill value {a.fill_value}: what it does not store is not 0, so that it is no "
                         "sparse matrix; encode A - A.fill_value, whose fill value is 0")
    compressed = a if hasattr(a, "to_scipy_sparse") else a.to_coo()  # DOK's
    converted = _of_shape(compressed.to_scipy_sparse(), a.shape)
    if int(converted.nnz) != int(a.nnz):
        raise _no_matrix(f"a matrix of {a.nnz} entries, of which its library makes {converted.nnz}")
    return converted


def _from_torch(a: Any, threads: int, memory_limit: int) -> _native.Source:
    if str(a.layout) != "torch.sparse_csr" or a.dim() != 2:
        raise TypeError(f"a tensor of {a.layout} with {a.dim()} dimensions: give a matrix in CSR, as to_sparse_csr() "
                        "makes it")
    if str(a.dtype) == "torch.bfloat16":  # NumPy does not have it
        raise TypeError("values of type bfloat16: convert them, as with A.to(torch.float32)")
    pointers, columns, values = (part.detach().resolve_conj().resolve_neg().cpu().numpy()
                                 for part in (a.crow_indices(), a.col_indices(), a.values()))
    rows, cols = (int(n) for n in a.shape)
    indptr, indices, data = _compressed(pointers, columns, values, rows, "rows")
    if data.size != values.size:
        raise _no_matrix(f"crow_indices ends with {data.size}, expected {values.size}, as many as values")
    return _native.Source.from_csr(rows, cols, indptr, indices, stored_values(data), threads, memory_limit)


def _type_name(dtype: Any) -> str:
    names = {"float64": "f64", "float32": "f32", "complex128": "c128", "complex64": "c64"}
    if isinstance(dtype, str) and dtype in names.values():
        return dtype
    name = _arguments.dtype_name(dtype)
    if name not in names:
        raise TypeError(f"values are stored as float64, float32, complex128 or complex64, not as {name}")
    return names[name]


def _indices(a: Any, name: str) -> _Array:
    a = np.asarray(a)
    if a.dtype.kind not in "iu" and a.size:
        raise TypeError(f"{name} is {a.dtype}, expected integers")
    return np.ascontiguousarray(a, np.int32 if a.dtype == np.int32 else np.int64)


def stored_values(values: Any) -> _Array:
    """Values as they are if they are float64, float32, complex128 or complex64; integers as float64, which must hold them
    exactly."""
    a: _Array = np.asarray(values)
    for native in (np.float64, np.float32, np.complex128, np.complex64):
        if a.dtype.newbyteorder("=") == native:
            return np.ascontiguousarray(a, native)
    if a.dtype.kind not in "biu":
        raise TypeError(f"values of type {a.dtype}: float64, float32, complex128 and complex64 are stored as they are, "
                        "integers and booleans as float64; convert others with A.astype()")
    converted = a.astype(np.float64)
    if a.dtype.itemsize == 8:
        beyond = np.flatnonzero((a > 2**53) | (a < -2**53))
        # Back to integers, which those from 2^63 or 2^64 on cannot be: no integer here is so large.
        back = np.where(converted[beyond] < 2.0 ** (63 if a.dtype.kind == "i" else 64), converted[beyond], 0)
        wrong = beyond[back.astype(a.dtype) != a[beyond]]
        if wrong.size:
            raise ValueError(f"the value {a[wrong[0]]} of entry {wrong[0]} is none of float64, which beyond 2^53 has "
                             "not all integers; convert the matrix with A.astype(numpy.float64)")
    return converted
