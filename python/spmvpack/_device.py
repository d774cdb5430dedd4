"""Matrices in the memory of a GPU."""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

import numpy as np

from . import _arguments, _native
from ._errors import Error
from ._operators import device_operator
from ._products import Products
from ._scaled import Scaled, device_factors
from ._vectors import by_columns, contiguous, host_array, needs_gradient, new_result, refuse_altered, root_module

# How DLPack and CUDA call the default stream of the whole device: 0 would be ambiguous.
_legacy_stream = 1
# Of one thread and matrix; programs that make streams all the time would fill the device.
_most_workspaces = 32
_most_columns = 2**31 - 1


def stream_of(stream: Any) -> int:
    """The cudaStream_t of a stream: a number, a __cuda_stream__ object, or a stream of CuPy or PyTorch."""
    if isinstance(stream, (int, np.integer)) and not isinstance(stream, bool):
        handle = int(stream)
    elif hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        version, handle = protocol() if callable(protocol) else protocol
        if version != 0:
            raise ValueError(f"version {version} of the __cuda_stream__ protocol, expected 0")
    elif hasattr(stream, "cuda_stream"):
        handle = stream.cuda_stream  # PyTorch
    elif hasattr(stream, "ptr"):
        handle = stream.ptr  # CuPy
    else:
        raise TypeError(f"a stream of type {type(stream).__qualname__}: give a number, or a stream of CuPy or PyTorch")
    if not 0 <= handle < 2**64:
        raise ValueError(f"stream {handle}: a cudaStream_t is not negative, and has 64 bits")
    return handle or _legacy_stream


class _Library:
    """What products need to know about arrays of any library with DLPack."""

    def current_stream(self, device: int) -> int:
        """The library's current stream of a device; the default stream if it has none."""
        return _legacy_stream

    def plain_vector(self, x: Any, device: int, size: int) -> tuple[int, str] | None:
        """Address and type of the elements of x if it is a contiguous vector of `size` elements in the memory of
        `device`, in half a microsecond where DLPack takes up to ten. None for everything else, of which DLPack or an
        error message takes care."""
        return None

    def empty_vector(self, x: Any, device: int, size: int) -> tuple[Any, int]:
        """A vector of the type of x, which is a plain vector of `device`, and its address."""
        raise NotImplementedError

    def empty_like(self, x: Any, shape: tuple[int, ...]) -> Any:
        """An array of the type and device of x, and of its order."""
        raise TypeError(f"a result for x of type {type(x).__qualname__} is not known how to make: use multiply(x, out)")

    def operand(self, x: Any) -> Any:
        """x as a multiply takes it: columns as they are, a vector contiguous."""
        return x if len(x.shape) == 2 or x.flags.c_contiguous else x.copy()

    def on_device(self, x: Any) -> bool:
        kinds = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else None
        return kinds is not None and int(kinds[0]) in (2, 13)  # CUDA's memory, its own or managed


class _CuPy(_Library):
    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._current_stream = cupy.cuda.get_current_stream
        self._current_device = cupy.cuda.runtime.getDevice
        self._types = {
            np.dtype(name): (name, (np.dtype(name).itemsize,))
            for name in ("float64", "float32", "complex128", "complex64")
        }

    def current_stream(self, device: int) -> int:
        handle: int = self._current_stream(device).ptr
        return handle or _legacy_stream

    def plain_vector(self, x: Any, device: int, size: int) -> tuple[int, str] | None:
        name, strides = self._types.get(x.dtype, ("", None))
        if x.strides == strides and x.size == size:
            data = x.data
            if data.device_id == device:
                return data.ptr, name
        return None

    def empty_vector(self, x: Any, device: int, size: int) -> tuple[Any, int]:
        if self._current_device() == device:
            y = self._cupy.ndarray(size, x.dtype)
        else:
            y = self.empty_like(x, (size,))
        return y, y.data.ptr

    def empty_like(self, x: Any, shape: tuple[int, ...]) -> Any:
        with x.device:
            return self._cupy.empty(shape, x.dtype, order="F" if len(shape) == 2 and by_columns(x.strides) else "C")


class _PyTorch(_Library):
    def __init__(self) -> None:
        import torch

        # As torch.cuda.current_stream(device).cuda_stream, without making a Stream.
        self._current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: 0)  # of a build for CUDA
        self._type_names = {getattr(torch, name): name for name in ("float64", "float32", "complex128", "complex64")}

    def current_stream(self, device: int) -> int:
        handle: int = self._current_stream(device)
        return handle or _legacy_stream

    def plain_vector(self, x: Any, device: int, size: int) -> tuple[int, str] | None:
        if not x.is_cuda or x.get_device() != device or x.requires_grad or x.is_neg() or x.is_conj():
            return None
        name = self._type_names.get(x.dtype)
        return (x.data_ptr(), name) if name and x.numel() == size and x.stride() == (1,) else None

    def empty_vector(self, x: Any, device: int, size: int) -> tuple[Any, int]:
        y = x.new_empty(size)
        return y, y.data_ptr()

    def empty_like(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.new_empty(shape[::-1]).t() if len(shape) == 2 and by_columns(x.stride()) else x.new_empty(shape)

    def operand(self, x: Any) -> Any:
        x = x.resolve_conj().resolve_neg()
        return x if x.dim() == 2 else x.contiguous()

    def on_device(self, x: Any) -> bool:
        return bool(x.is_cuda)


class _Libraries(dict[type, _Library]):
    """The library of a type of vectors. CuPy and PyTorch are imported when the first of theirs is seen."""

    def __missing__(self, kind: type) -> _Library:
        package = kind.__module__.partition(".")[0]
        if package not in ("cupy", "torch") or not hasattr(kind, "__dlpack__"):
            return _others
        library = self[kind] = _CuPy() if package == "cupy" else _PyTorch()
        return library


_others = _Library()
_libraries = _Libraries()


def device_index(device: Any) -> int:
    """The number of a device: 1, "cuda:1", or a device of CuPy or PyTorch. "cuda" is device 0."""
    if isinstance(device, str):
        name, colon, number = device.partition(":")
        if name == "cuda" and (number.isdecimal() if colon else True):
            return _checked_index(int(number or 0))
        raise ValueError(f"device {device!r}, expected 'cuda' or 'cuda:N'; on the host a matrix is as it comes")
    if isinstance(device, (int, np.integer)) and not isinstance(device, bool) and device >= 0:
        return _checked_index(int(device))
    if getattr(device, "type", None) == "cuda":
        return int(device.index or 0)  # PyTorch
    if root_module(device) == "cupy" and hasattr(device, "id"):
        return int(device.id)
    raise TypeError(f"a device {device!r}, expected 'cuda:N', a number, or a device of CuPy or PyTorch")


def _checked_index(device: int) -> int:
    if device > 2**31 - 1:
        raise ValueError(f"device {device}: there are not so many")
    return device


def checked_share(cache_share: float | None) -> float | None:
    """ValueError: not from 0 to 1. TypeError: no number."""
    if cache_share is None:
        return None
    share = _arguments.scalar("cache_share", cache_share)
    if not 0 <= share <= 1:
        raise ValueError(f"cache_share is {cache_share!r}, expected a number from 0 to 1")
    return share


def is_on_gpu(a: Any) -> bool:
    """Whether `a` is a matrix that csr_on_device() takes, whatever its values are."""
    if root_module(a) == "torch":
        return str(getattr(a, "layout", "")) == "torch.sparse_csr" and bool(a.is_cuda) and a.dim() == 2
    return root_module(a) == "cupyx" and hasattr(a, "tocsr")


def csr_on_device(a: Any) -> tuple[int, tuple[int, int], tuple[Any, Any, Any], int]:
    """Device, shape, arrays (row pointers, columns of 32 bits, values) and current stream of a sparse matrix of CuPy or
    PyTorch that is on a GPU.

    Raises:
        TypeError: no such matrix, or values of another type than float64 and float32.
        Error: "bad_input" (columns that the matrix does not have).
    """
    if not is_on_gpu(a):
        raise TypeError(f"a matrix of type {type(a).__qualname__} to encode on a GPU: give a sparse matrix of CuPy, or "
                        "a CSR tensor of PyTorch on a GPU; encode others on the host, and copy them by to()")
    if root_module(a) == "cupyx":
        csr = a.tocsr()  # the matrix itself if it is in CSR
        arrays = csr.indptr, csr.indices, csr.data
    else:
        arrays = tuple(part.detach().resolve_neg() for part in (a.crow_indices(), a.col_indices(), a.values()))
    indptr, indices, data = arrays
    if str(data.dtype).rpartition(".")[2] not in ("float64", "float32"):
        raise TypeError(f"values of type {data.dtype}: on a GPU float64 and float32 are stored; convert them, or "
                        "encode on the host, with device=\"cpu\"")
    rows, cols = (int(n) for n in a.shape)
    if indices.dtype.itemsize != 4:
        if len(indices) and not (0 <= int(indices.min()) and int(indices.max()) < cols):
            raise Error(f"a column that is not one of the matrix's {cols}", "bad_input", "",
                        "its arrays do not fit each other: build it anew from its entries")
        if cols > 2**31:
            raise TypeError(f"{cols} columns, whose numbers do not fit int32: encode it on the host")
        indices = indices.astype("int32") if hasattr(indices, "astype") else indices.int()
    device = int(data.device.id) if hasattr(data.device, "id") else int(data.get_device())
    return device, (rows, cols), (indptr, indices, data), _libraries[type(data)].current_stream(device)


class _Workspaces(threading.local):
    """A thread's multipliers: by the type of the vectors, the stream, whether with A^T, the number of columns, or 0 for
    vectors, and whether rows and columns are scaled; the oldest first."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, int, bool, int, tuple[bool, bool]], _native.Multiplier] = {}


_unscaled = (False, False)


class Choice(NamedTuple):
    """What "auto" took on a GPU, for A or for A^T.

    Attributes:
        layout: of those that GPUs encode (docs/GPU_ENCODER.md).
        reason: its predicted time and its bytes, relative to csr.
        seconds: predicted, of a multiply; None with optimize="bytes".
        left_out: what "auto" weighs on the host alone, each with a lower bound on the seconds of a multiply; None: no
            bound is known, or optimize is "bytes".
        refused: layouts of the GPU that cannot encode this matrix, or not in this memory, with the reason.
    """

    layout: str
    reason: str
    seconds: float | None
    left_out: dict[str, float | None]
    refused: dict[str, str]


class DeviceMatrix(Products):
    """A matrix in the memory of a GPU, byte for byte as in its container. Made by Matrix.to(), load(device=...) and
    encode() of a matrix on a GPU.

    Threads and streams may use it at the same time: each thread has a workspace of its own for every stream that it
    multiplies on. update_values() alone changes it.

    Attributes:
        device: its number.
        updatable: whether it takes new values: load(..., updatable=True), or to() of such a matrix. Its facts then hold
            for any values: symmetry and bitwise_symmetry are "general", and digest is empty.
        choices: what "auto" took on this GPU, for A and, if it is stored, for A^T; empty unless it was asked.
    """

    _scipy = "tocsr() of the matrix on the host"

    def __init__(self, container: _native.Container, device: Any, threads: int = 0,
                 cache_share: float | None = None, updatable: bool = False) -> None:
        native = _native.DeviceMatrix.load(container, device_index(device), threads, checked_share(cache_share), updatable)
        self._have(native, container.info(), updatable)

    @classmethod
    def _of(cls, native: _native.DeviceMatrix, updatable: bool, choices: tuple[Choice, ...]) -> DeviceMatrix:
        """A matrix that was made on its device."""
        matrix = cls.__new__(cls)
        matrix._have(native, native.info(), updatable)
        matrix.choices = choices
        return matrix

    def _have(self, native: _native.DeviceMatrix, info: dict[str, Any], updatable: bool) -> None:
        super().__init__(info)
        self.device = native.device
        self._matrix = native
        self.updatable = updatable
        self.choices: tuple[Choice, ...] = ()
        if updatable:
            self.symmetry = self.bitwise_symmetry = "general"
            self.digest = ""
            self.has_transpose = self._matrix.has_transpose()
        self._workspaces = _Workspaces()

    @property
    def _torch_device(self) -> str:
        return f"cuda:{self.device}"

    def __repr__(self) -> str:
        return self._describe(f" on cuda:{self.device}")

    def __matmul__(self, x: Any) -> Any:
        """A @ x on the GPU.

        Args:
            x: of shape (columns,), or (columns, k) for the products of k columns, in the memory of the matrix's
                device: a CuPy array, a CUDA tensor or anything with DLPack. float64 or complex128, or float32 or
                complex64 for a float32 matrix, which takes all four. A NumPy array, and what NumPy makes one of, is
                copied to the device, and the result back, which takes longer than the multiply.

        Returns:
            An array of the caller's library, on its current stream, or of NumPy, in the order of x as on the host. Of a
            tensor that requires a gradient, spmvpack.torch.matvec(self, x).

        Raises:
            ValueError: another shape or device.
            TypeError: another type of elements; nothing is converted. A vector that is not contiguous is copied.
        """
        y = self._product(x, False)
        return self._times(x) if y is NotImplemented else y

    def __reduce__(self) -> Any:
        raise TypeError("a matrix on a GPU is not pickled: pickle the Matrix that it comes from, and use its to() "
                        "there")

    def _product(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        transpose = bool(transpose)  # values are real
        rows, cols = self.shape[::-1] if transpose else self.shape
        library, device = _libraries[type(x)], self.device
        source = library.plain_vector(x, device, cols)
        if source is not None:
            stream = library.current_stream(device)
            y, result = library.empty_vector(x, device, rows)
            self._multiplier(source[1], stream, transpose).multiply_at(source[0], result, 1.0, 0.0, stream)
            return y
        if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
            if hasattr(x, "__cuda_array_interface__"):
                raise TypeError(f"x is of type {type(x).__qualname__}, without DLPack: pass cupy.asarray(x)")
            own = host_array(x)
            return NotImplemented if own is None else self._of_host_array(own, rows, transpose)
        if not library.on_device(x):
            raise ValueError("x is on the host, the matrix on a GPU: copy x there, or pass a NumPy array")
        if needs_gradient(x):
            from .torch import matvec  # not needed for anything else

            return matvec(self, x, transpose=transpose)
        y = library.empty_like(x, (rows, *x.shape[1:2]))
        self.multiply(library.operand(x), y, transpose=transpose)
        return y

    def _of_host_array(self, x: np.ndarray[Any, Any], rows: int, transpose: bool) -> np.ndarray[Any, Any]:
        y = new_result(x, rows)
        self._matrix.multiply_host_vectors(x if x.ndim == 2 else contiguous(x), y, 1.0, 0.0, transpose)
        return y

    def multiply(self, x: Any, out: Any, alpha: float = 1.0, beta: float = 0.0, stream: Any = None, *,
                 transpose: bool | str = False) -> Any:
        """out = alpha A x + beta out on a stream: one kernel or a few, without allocations and synchronisation once
        prepare() or a first multiply has made the workspace; can be captured into a CUDA graph.

        Args:
            x: of shape (columns,), contiguous, or (columns, k) with any strides, on the matrix's device.
            out: of shape (rows,), contiguous, or (rows, k) with any strides, of the type of x and without an element of
                x. Not read if beta is 0.
            alpha, beta: real scalars, for complex x, too.
            stream: a cudaStream_t as a number, an object with __cuda_stream__, or a stream of CuPy or PyTorch; None is
                the current stream of the library of x. The multiply comes after all that x's and out's libraries have
                queued for them on their current streams; what is queued later must be on `stream` or wait for it,
                and so must the end of x and out, of which only PyTorch learns of its own streams here.
            transpose: A^T instead of A; "conjugate" means the same, as values are real. x is then of shape (rows,) or
                (rows, k), and out of shape (columns,) or (columns, k).

        Returns:
            out, which is complete when the stream has come that far.

        Raises:
            ValueError: a wrong shape, stride or device.
            TypeError: wrong types.
            Error: "no_device" if the launch fails; "usage" if there is no A^T.
        """
        if type(alpha) is not float:
            alpha = _arguments.scalar("alpha", alpha)
        if type(beta) is not float:
            beta = _arguments.scalar("beta", beta)
        if transpose is not False and transpose is not True:
            transpose = bool(_arguments.transpose(transpose))  # values are real
        library, device = _libraries[type(x)], self.device
        current = library.current_stream(device)
        on = current if stream is None else stream_of(stream)
        if on == current and type(x) is type(out):
            rows, cols = self.shape[::-1] if transpose else self.shape
            source, result = library.plain_vector(x, device, cols), library.plain_vector(out, device, rows)
            if source is not None and result is not None and source[1] == result[1]:
                self._multiplier(source[1], on, transpose).multiply_at(source[0], result[0], alpha, beta, on)
                return out
        return self._multiply_arrays(x, out, alpha, beta, stream, on, transpose, None)

    def _multiply_arrays(self, x: Any, out: Any, alpha: float, beta: float, stream: Any, on: int, transpose: bool,
                         scaled: Scaled | None) -> Any:
        """multiply() of any arrays in device memory; `on` is the handle of the stream."""
        for name, vector in (("x", x), ("out", out)):
            if not hasattr(vector, "__dlpack__"):
                raise TypeError(f"{name} is of type {type(vector).__qualname__}, not an array in device memory")
            self._require_here(name, vector)
        rows, columns = (None, None) if scaled is None else (scaled._rows, scaled._columns)
        # DLPack's producers let the stream wait for what they have queued on theirs.
        multiplier = self._multiplier(_dtype_name(x), on, transpose, x.shape[1] if len(x.shape) == 2 else 0,
                                      _unscaled if scaled is None else scaled._flags)
        factors = [None if array is None else array.__dlpack__(stream=on) for array in (rows, columns)]
        multiplier.multiply(x.__dlpack__(stream=on), out.__dlpack__(stream=on), factors[0], factors[1], alpha, beta, on)
        if hasattr(stream, "cuda_stream"):  # PyTorch's
            for vector in (x, out, rows, columns):
                if vector is not None and root_module(vector) == "torch":
                    vector.record_stream(stream)  # so that its memory is not used again before this multiply has ended
        return out

    def _require_here(self, name: str, array: Any) -> None:
        """ValueError: an array with DLPack that is in host memory, or is not what is in its memory."""
        if not _libraries[type(array)].on_device(array):
            raise ValueError(f"{name} is on the host, the matrix on cuda:{self.device}")
        refuse_altered(name, array)

    def _factors(self, name: str, factors: Any, size: int) -> Any:
        return device_factors(name, factors, size, self.dtype)

    def _scaled_product(self, scaled: Scaled, x: Any, transpose: bool | str, threads: int) -> Any:
        library = _libraries[type(x)]
        if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__"):
            if host_array(x) is None:
                return NotImplemented
            raise ValueError("x is on the host, the scaled matrix on a GPU: copy x there")
        if not library.on_device(x):
            raise ValueError("x is on the host, the scaled matrix on a GPU: copy x there")
        y = library.empty_like(x, (self.shape[1 if transpose else 0], *x.shape[1:2]))
        return self._scaled_multiply(scaled, library.operand(x), y, transpose=transpose)

    def _scaled_multiply(self, scaled: Scaled, x: Any, out: Any, alpha: float = 1.0, beta: float = 0.0,
                         stream: Any = None, *, transpose: bool | str = False) -> Any:
        alpha, beta = _arguments.scalar("alpha", alpha), _arguments.scalar("beta", beta)
        on = _libraries[type(x)].current_stream(self.device) if stream is None else stream_of(stream)
        return self._multiply_arrays(x, out, alpha, beta, stream, on, bool(_arguments.transpose(transpose)), scaled)

    def _operator(self, linear: Any, transpose: Any, threads: int = 0) -> Any:
        return device_operator(linear, transpose)

    def prepare(self, stream: Any = 0, dtype: Any = None, *, transpose: bool = False, columns: int = 0) -> None:
        """Makes this thread's workspace for multiplies on `stream` by A or its transpose, with vectors of `dtype` (the
        matrix's unless given), or with an x and out of so many columns. Otherwise the first multiply makes it. Call
        this before a CUDA graph is captured."""
        self._prepare(_unscaled, stream, dtype, transpose, columns)

    def _prepare_scaled(self, scaled: Scaled, stream: Any = 0, dtype: Any = None, *, transpose: bool = False,
                        columns: int = 0) -> None:
        self._prepare(scaled._flags, stream, dtype, transpose, columns)

    def _prepare(self, scaled: tuple[bool, bool], stream: Any, dtype: Any, transpose: bool, columns: int) -> None:
        self._multiplier(_arguments.dtype_name(self.dtype if dtype is None else dtype), stream_of(stream),
                         _arguments.flag("transpose", transpose),
                         _arguments.whole("columns", columns, "how many, or 0 for vectors", _most_columns), scaled)

    def _multiplier(self, dtype: str, stream: int, transpose: bool, columns: int = 0,
                    scaled: tuple[bool, bool] = _unscaled) -> _native.Multiplier:
        made = self._workspaces.made
        key = (dtype, stream, transpose, columns, scaled)
        multiplier = made.get(key)
        if multiplier is None:
            if len(made) == _most_workspaces:
                del made[next(iter(made))]  # waits for the device
            multiplier = made[key] = self._matrix.multiplier(dtype, transpose, columns, *scaled)
        return multiplier

    def update_values(self, values: Any, stream: Any = None) -> None:
        """Gives the matrix new values in its old pattern, on a stream, without allocations and synchronisation; can be
        captured into a CUDA graph. A^T follows.

        Args:
            values: one for each entry, stored zeros included, in the order of tocsr().data of the matrix on the host:
                rows, then columns. Of shape (nnz,), contiguous, in the memory of the matrix's device: a CuPy array, a
                CUDA tensor or anything with DLPack; of the matrix's type, or float64 for a float32 matrix, which are
                rounded, beyond float32 to infinity.
            stream: as multiply() has it; None is the current stream of the library of values. Multiplies on other
                streams must be ordered before or after it by the caller.

        Where a layout's bits say which entries there are ("dia", or "amb" with blocks), nothing but +0 may take the
        place of +0. The device then refuses the whole update: require_updated() says so, and the matrix is as it was.

        Raises:
            ValueError: another shape, stride or device.
            TypeError: another type of elements, or no array on a GPU.
            Error: "usage" if the matrix is not updatable; "no_device" if the launch fails.
        """
        if not hasattr(values, "__dlpack__") or isinstance(values, np.ndarray):
            raise TypeError(f"values is of type {type(values).__qualname__}, not an array in device memory: copy it "
                            "there, as with cupy.asarray()")
        self._require_here("values", values)
        on = _libraries[type(values)].current_stream(self.device) if stream is None else stream_of(stream)
        if root_module(values) == "torch":
            values = values.detach()
        self._matrix.update_values(values.__dlpack__(stream=on), on)
        if hasattr(stream, "cuda_stream") and root_module(values) == "torch":
            values.record_stream(stream)

    def tobytes(self) -> bytes:
        """The matrix as it is now, as a container that load() takes: it is copied to the host.

        Raises:
            Error: "unsupported" for a rank's share, and for layouts with sections that only the host has: keep the
                Matrix that it comes from.
        """
        return self._matrix.to_bytes()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes tobytes() to a file, which appears whole or not at all.

        Raises:
            Error: as tobytes(); "exists" if there is such a file and `overwrite` is not set; "io".
        """
        _native.Container.from_bytes(self.tobytes()).save(_arguments.path("path", path),
                                                          _arguments.flag("overwrite", overwrite))

    def require_updated(self, stream: Any = 0) -> None:
        """Waits for a stream. Error("unsupported") if the device has refused an update since the last call."""
        self._matrix.require_updated(stream_of(stream))

    def linear_operator(self, transpose: DeviceMatrix | None = None) -> Any:
        """A cupyx.scipy.sparse.linalg.LinearOperator, for cg(), gmres(), eigsh() and so on.

        Args:
            transpose: A^T, encoded and on the device, for methods that need it; not needed if has_transpose.
        """
        return self._operator(self, transpose)


def _dtype_name(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]  # torch.float64
