"""Matrices in host memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from . import _arguments, _native
from ._device import Choice, DeviceMatrix, checked_share, csr_on_device, device_index, is_on_gpu
from ._errors import Error
from ._inputs import source_of, stored_values
from ._operators import host_operator
from ._products import Facts, Products
from ._scaled import Scaled, host_factors
from ._vectors import contiguous, host_array, like, needs_gradient, new_result, refuse_altered


class Encoding(NamedTuple):
    """What encoding took, and when it pays.

    Attributes:
        seconds: that encode() took, without reading.
        multiply_seconds, csr_seconds: of a multiply and of one by layout csr, on the machine of the target; None unless
            "auto" chose for the least time.
        measured: whether those were measured here (tune); otherwise they are predicted.
        pays_after: the number of multiplies after which encoding has taken less time altogether than csr. None: never,
            as csr is as fast, or not known.
    """

    seconds: float
    multiply_seconds: float | None
    csr_seconds: float | None
    measured: bool
    pays_after: int | None


_of_values = frozenset({"_container", "symmetry", "bitwise_symmetry", "digest", "share", "provenance", "file_bytes"})


class Matrix(Products):
    """A matrix in host memory, in the layout of its container. Made by encode() and load().

    Threads may use it at the same time, but not while update_values() or update() runs, which alone change it; multiplies
    release the GIL.

    Attributes:
        updatable: whether it takes new values (encode() and load() with updatable=True).
        encoding: an Encoding, what encode() took and when it pays; None if the matrix was loaded or unpickled.
    """

    _torch_device = "cpu"
    encoding: Encoding | None = None

    def __init__(self, container: _native.Container, threads: int = 0, memory_limit: int = 0, *,
                 _trusted: bool = False, updatable: bool = False) -> None:
        super().__init__(container.info())
        self._container = container
        self._host = _native.HostMatrix.load(container, threads, memory_limit, _trusted, updatable)
        self.updatable = updatable
        if updatable:  # new values need not be symmetric
            self.has_transpose = self._host.has_transpose()

    def __repr__(self) -> str:
        return self._describe("")

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.tobytes(), True) if self.updatable else (self.tobytes(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Products:
        return _from_bytes(self.tobytes(), True) if self.updatable else self

    if not TYPE_CHECKING:  # where the attributes are known

        def __getattr__(self, name: str) -> Any:
            """What depends on values, and is made anew when it is first asked for after they have changed."""
            if name not in _of_values or "_host" not in self.__dict__:
                return super().__getattr__(name)
            container = self._host.container()
            facts = Facts(container.info())
            for other in _of_values - {"_container"}:
                setattr(self, other, getattr(facts, other))
            self._container = container
            return getattr(self, name)

    def _forget_values(self) -> None:
        for name in _of_values & self.__dict__.keys():
            delattr(self, name)

    def update_values(self, values: Any, *, threads: int = 0) -> None:
        """Gives the matrix new values in its old pattern. Products have the bits of a matrix encoded anew with them;
        A^T follows. digest, symmetry, provenance and what save() and the like write are those of the new values.

        Args:
            values: one for each entry, stored zeros included, in the order of tocsr().data: rows, then columns. Of
                shape (nnz,) and of the matrix's type, or float64 for a float32 matrix, which are rounded; an array in
                host memory, as x of A @ x. Integers are taken as float64.
            threads: 0: all.

        Raises:
            ValueError: another shape, values on a GPU, or masked ones.
            TypeError: another type of elements, or no array.
            Error, and the matrix is as it was: "usage" if it is not updatable; "unsupported" if a value would change the
                pattern of layout "dia", or "amb" with blocks, where nothing but +0 takes the place of +0; "bad_input"
                for values beyond float32.
        """
        array = host_array(values, "values")
        if array is None:
            raise TypeError(f"values is of type {type(values).__qualname__}, not an array")
        own = stored_values(array)
        if own.dtype.kind == "c" or (own.dtype == np.float32 and self.dtype == np.float64):
            raise TypeError(f"values is {own.dtype}, the matrix {self.dtype}: nothing is converted; convert it to "
                            f"{self.dtype}")
        self._host.update_values(own, _arguments.threads(threads))
        self._forget_values()

    def update(self, a: Any, *, threads: int = 0) -> None:
        """update_values() with the values of a matrix that has the same pattern, stored zeros included.

        Args:
            a: what encode() takes, of the same type of values, or of float64 for a float32 matrix.
            threads: 0: all.

        Raises:
            Error: also "usage" if the pattern is another one; to compare, the first call unpacks the matrix. Otherwise
                as update_values() and encode().
        """
        threads = _arguments.threads(threads)
        source_of(a, None, threads).update(self._host, threads)
        self._forget_values()

    def __matmul__(self, x: Any) -> Any:
        """A @ x with the bits of the command line, on all threads.

        Args:
            x: of shape (columns,), or (columns, k) for the products of k columns; a NumPy array, a CPU tensor,
                anything in host memory that DLPack or a buffer can hand over, or of which numpy.asarray() makes an
                array: a list, a Series or DataFrame of pandas. float64 or complex128, or float32 or complex64 for a
                float32 matrix, which takes all four: the type of x is that of every product and sum. Numbers of a list
                are float64 or complex128. Real and imaginary parts have the bits of vectors of their own. For a complex
                matrix x is complex, too: complex128, or complex64 for a complex64 matrix, which takes both.

        Returns:
            An array of the caller's library, else of NumPy, of shape (rows,) or (rows, k) and of the type of x; column
            after column (Fortran's order) if x is so, otherwise row after row. Of a tensor that requires a gradient,
            spmvpack.torch.matvec(self, x).

        Raises:
            ValueError: another shape; x is on a GPU, or has masked elements.
            TypeError: another type of elements, or no array. Nothing is converted, as that might cost more than the
                multiply. A vector that is not contiguous, and what is in another byte order, is copied.
        """
        y = self._product(x, False)
        return self._times(x) if y is NotImplemented else y

    def matvec(self, x: Any, *, threads: int = 0) -> Any:
        """As Linear.matvec(), on so many threads (0: all)."""
        return self._converted(x, False, threads)

    def rmatvec(self, x: Any, *, threads: int = 0) -> Any:
        """As Linear.rmatvec(), on so many threads (0: all)."""
        return self._converted(x, self._adjoint, threads)

    def _product(self, x: Any, transpose: bool | str, threads: int = 0) -> Any:
        rows = self.shape[1 if transpose else 0]
        if type(x) is np.ndarray and x.ndim == 1:
            y = np.empty(rows, x.dtype)
            try:
                self._host.multiply(contiguous(x), y, 1.0, 0.0, threads, transpose)
                return y
            except TypeError:
                if x.dtype.isnative:
                    raise
        if needs_gradient(x):
            from .torch import matvec  # not needed for anything else

            return matvec(self, x, transpose=transpose)
        own = host_array(x)
        if own is None:
            return NotImplemented
        y = new_result(own, rows)
        self._host.multiply(own if own.ndim == 2 else contiguous(own), y, 1.0, 0.0, threads, transpose)
        return like(x, y)

    def multiply(self, x: Any, out: Any, alpha: complex = 1.0, beta: complex = 0.0, threads: int = 0, *,
                 transpose: bool | str = False) -> Any:
        """out = alpha A x + beta out; allocates nothing for vectors and contiguous columns.

        Args:
            x: of shape (columns,), contiguous, or (columns, k) with any strides, as of A @ x.
            out: of shape (rows,), contiguous, or (rows, k) with any strides; writable, of the type of x, and without an
                element of x. Not read if beta is 0.
            alpha, beta: real scalars; complex ones if x is complex. x is not read if alpha is 0.
            threads: 0: all. The bits of the result do not depend on it.
            transpose: A^T instead of A, or with "conjugate" A^H; x is then of shape (rows,) or (rows, k), and out of
                shape (columns,) or (columns, k).

        Returns:
            out.

        Raises:
            ValueError: a wrong shape or stride, masked elements, out is read-only, a GPU's memory.
            TypeError: wrong types.
            Error: "usage" if x and out overlap, or there is no A^T.
        """
        for name, vector in (("x", x), ("out", out)):
            if type(vector) is not np.ndarray:
                refuse_altered(name, vector)
        self._host.multiply(x, out, alpha, beta, threads, transpose)
        return out

    def _factors(self, name: str, factors: Any, size: int) -> Any:
        return host_factors(name, factors, size, self.dtype)

    def _scaled_product(self, scaled: Scaled, x: Any, transpose: bool | str, threads: int) -> Any:
        own = host_array(x)
        if own is None:
            return NotImplemented
        y = new_result(own, self.shape[1 if transpose else 0])
        own = own if own.ndim == 2 else contiguous(own)
        self._host.multiply_scaled(own, y, 1.0, 0.0, threads, transpose, scaled._rows, scaled._columns)
        return like(x, y)

    def _scaled_multiply(self, scaled: Scaled, x: Any, out: Any, alpha: complex = 1.0, beta: complex = 0.0,
                         threads: int = 0, *, transpose: bool | str = False) -> Any:
        for name, vector in (("x", x), ("out", out)):
            refuse_altered(name, vector)
        self._host.multiply_scaled(x, out, alpha, beta, threads, transpose, scaled._rows, scaled._columns)
        return out

    def _operator(self, linear: Any, transpose: Any, threads: int = 0) -> Any:
        return host_operator(linear, transpose, _arguments.threads(threads))

    def to_scipy(self, *, threads: int = 0, memory_limit: int = 0) -> Any:
        """The matrix as a scipy.sparse.csr_array, with the bits of every value. The container's checksums, structure
        and content digest are verified.

        Args:
            threads: 0: all.
            memory_limit: as of load().
        """
        from scipy import sparse  # not needed for anything else

        threads, memory_limit = _arguments.threads(threads), _arguments.memory_limit(memory_limit)
        indptr, indices, data = self._container.unpack(threads, memory_limit)
        if max(self.nnz, *self.shape) < 2**31:
            indptr, indices = indptr.astype(np.int32), indices.view(np.int32)
        else:
            indptr, indices = indptr.view(np.int64), indices.astype(np.int64)
        matrix = sparse.csr_array((data, indices, indptr), shape=self.shape, copy=False)
        matrix.has_canonical_format = True
        return matrix

    def tocsr(self) -> Any:
        """to_scipy(), by SciPy's name."""
        return self.to_scipy()

    def toarray(self) -> Any:
        """The matrix as a dense array of NumPy."""
        return self.to_scipy().toarray()

    def diagonal(self, k: int = 0) -> Any:
        """The diagonal, or the k-th above it, as an array of NumPy; for preconditioners. The matrix is unpacked."""
        return self.to_scipy().diagonal(k)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the container, which appears whole or not at all. The bytes are those of the command line with the
        same source and options.

        Raises:
            Error: "exists" if there is such a file and `overwrite` is not set; "io".
        """
        self._container.save(_arguments.path("path", path), _arguments.flag("overwrite", overwrite))

    def tobytes(self) -> bytes:
        """The container as bytes, which load() takes, too."""
        return self._container.to_bytes()

    def to(self, device: Any = "cuda", *, cache_share: float | None = None) -> DeviceMatrix:
        """A copy in the memory of a GPU, which takes new values if this one does.

        Args:
            device: "cuda", "cuda:1", a number, or a device object of CuPy or PyTorch.
            cache_share: the matrix stays in the GPU's L2 cache from one multiply to the next if, with x and y, it takes
                at most this share of it (0 to 1; None: a third). Solvers, which multiply again soon, should use
                0.7; multiplies of several columns use at least that.

        Raises:
            ValueError: no such share.
            Error: "no_device" without a GPU or a driver; "unsupported" in a build without CUDA; "out_of_memory".
        """
        return DeviceMatrix(self._container, device, cache_share=cache_share, updatable=self.updatable)

    def linear_operator(self, transpose: Matrix | None = None, *, threads: int = 0) -> Any:
        """A scipy.sparse.linalg.LinearOperator: for sums and multiples of matrices, for A^T that is encoded by itself,
        and for fewer threads. cg(), gmres(), eigsh() and so on take the matrix itself. It can be pickled.

        Args:
            transpose: A^T, encoded, for methods that need it (svds, lsqr, bicg); not needed if has_transpose.
            threads: of its multiplies; 0: all.
        """
        return self._operator(self, transpose, threads)


@overload
def encode(a: Any, layout: str = "auto", *, optimize: str = "time", target: str | os.PathLike[str] | None = None,
           tune: Any = None, settings: dict[str, Any] | None = None, codec: str = "none", dtype: Any = None,
           transpose: bool = False, updatable: bool = False, force_size: bool = False, threads: int = 0,
           memory_limit: int = 0, device: Literal["cpu"] | None = None) -> Matrix: ...
@overload
def encode(a: Any, layout: str = "auto", *, optimize: str = "time", target: str | os.PathLike[str] | None = None,
           settings: dict[str, Any] | None = None, transpose: bool = False, updatable: bool = False,
           force_size: bool = False, memory_limit: int = 0, device: Any,
           cache_share: float | None = None) -> DeviceMatrix: ...
def encode(a: Any, layout: str = "auto", *, optimize: str = "time", target: str | os.PathLike[str] | None = None,
           tune: Any = None, settings: dict[str, Any] | None = None, codec: str = "none", dtype: Any = None,
           transpose: bool = False, updatable: bool = False, force_size: bool = False, threads: int = 0,
           memory_limit: int = 0, device: Any = None, cache_share: float | None = None) -> Matrix | DeviceMatrix:
    """Encodes a matrix, losslessly, into a container in memory.

    Args:
        a: a sparse matrix or array of SciPy or CuPy in any format, a CSR tensor of PyTorch, an array of pydata/sparse,
            or the path of a file that the command line reads. CSR with sorted columns is used where it lies, with
            indices of 32 or 64 bits (64-bit columns are copied to 32); other forms are assembled first, with duplicates
            added up in their order. Room behind indptr[-1] is not read. Values of float64, float32,
            complex128 and complex64 are stored as they are, integers and booleans as float64. Complex matrices are for
            the host and for layouts "auto", "csr" and "coo", and cannot be updatable.
        layout: "auto", or a layout or strategy by its name, as `spmvpack encode --layout` takes it.
        optimize: what plans minimise: "time", which they predict, or "bytes". For "auto", "csell", "bitflag", "split".
        target: where the multiply is predicted to run: "gpu" or "host", or a measured machine, "h200" or "h100", or the
            path of a profile that `spmvpack calibrate` has written. None: "gpu" if this process has a GPU to use, else
            "host"; name it for the same bytes on all machines.
        tune: measure here what "auto" predicts, for about a second, and take the fastest: on "host", or on a GPU as
            to() takes it ("cuda", "cuda:1", a number, ...), which implies "gpu". The bytes then depend on the
            machine and its noise; M.provenance has what was measured. A^T is not measured.
        settings: of the layout, such as {"ccoo.k": 4}.
        codec: "none", or "zstd" or "zstd:LEVEL" with levels from 1 to 19.
        dtype: for files: the type of the stored values, such as numpy.float32. Convert other matrices yourself.
        transpose: store A^T, too, in its own best layout, for rmatvec() and solvers that need it. A matrix that is
            symmetric, skew-symmetric or Hermitian, bit for bit, has its transpose in any case.
        updatable: take a form in which every entry has a slot of its own, so that M.update_values() and M.update() can
            replace the values. The matrix then counts as general, even if it is symmetric, and with transpose stores A^T
            in any case.
        force_size: allow more than ten times the bytes of csr.
        threads: 0: all. The result does not depend on it.
        memory_limit: bytes that may be taken besides the arrays of `a`; 0: what the machine has free.
        device: None: where the matrix is. A matrix of CuPy, or a CSR tensor of PyTorch on a GPU, is encoded on that GPU,
            on the library's current stream, without the host, and the result is a DeviceMatrix; but for a build without
            CUDA, where all are encoded on the host. "cuda", "cuda:1", a number or a device of CuPy or PyTorch: there,
            where the matrix must be. layout is then "auto" or one of those that GPUs encode (docs/GPU_ENCODER.md), of
            which "auto" takes the best: choices says what it left out. tune, codec, dtype and threads are for hosts.
            "cpu": on the host, as a Matrix, with all layouts. Type checkers take the result for a Matrix unless a
            device is named.
        cache_share: with a device, as Matrix.to() has it.

    Raises:
        Error: "usage" (layout, or what it does not take), "bad_input" (a file or arrays that are no matrix),
            "unsupported", "out_of_memory", "no_device" (tune), "bad_input" or "io" (the file of a target).
        TypeError: no matrix, values of another type, or another argument of one.
        ValueError: not two dimensions; integers that float64 cannot hold; a fill value other than 0; an unknown codec,
            optimize or target; a target other than that of tune; a negative number of threads or bytes.
    """
    threads, memory_limit = _arguments.threads(threads), _arguments.memory_limit(memory_limit)
    on_device = device is not None and not (isinstance(device, str) and device == "cpu")
    if device is None and is_on_gpu(a):
        on_device = _native.built_with_cuda()
    tuned = None
    if on_device:
        if tune is not None or codec != "none" or dtype is not None:
            raise ValueError('tune, codec and dtype are for encoding on the host: leave them out, or pass device="cpu"')
        aim = aim_of(optimize, "gpu" if target is None else target)
    elif cache_share is not None:
        raise ValueError("cache_share is of a GPU's L2 cache: name a device, or leave it out")
    else:
        aim, tuned = _tuned_aim(optimize, target, tune)
    request = _native.Request()
    request.layout, request.zstd_level, request.aim = _arguments.text("layout", layout), _zstd_level(codec), aim
    request.threads, request.force_size = threads, _arguments.flag("force_size", force_size)
    request.transpose = _arguments.flag("transpose", transpose)
    request.updatable = _arguments.flag("updatable", updatable)
    for name, value in _arguments.settings(settings).items():
        request.set(name, value)
    if on_device:
        index = None if device is None else device_index(device)
        return _encode_on_device(a, request, memory_limit, index, checked_share(cache_share))
    if tune is not None:
        request.tune(tuned)
    source = source_of(a, dtype, threads, memory_limit)
    container, seconds, multiply_seconds, csr_seconds, measured, pays_after = source.encode(request, memory_limit)
    matrix = Matrix(container, threads, memory_limit, _trusted=True, updatable=request.updatable)
    matrix.encoding = Encoding(seconds, multiply_seconds, csr_seconds, measured, pays_after)
    return matrix


def _encode_on_device(a: Any, request: _native.Request, memory_limit: int, device: int | None,
                      cache_share: float | None) -> DeviceMatrix:
    on, (rows, cols), arrays, stream = csr_on_device(a)
    if device is not None and on != device:
        raise ValueError(f"the matrix is on cuda:{on}, not on cuda:{device}: copy it there")
    indptr, indices, data = (array.__dlpack__(stream=stream) for array in arrays)
    native, _, choices = _native.encode_on_device(on, rows, cols, indptr, indices, data, request, memory_limit,
                                                  cache_share, stream)
    return DeviceMatrix._of(native, request.updatable, tuple(Choice(*choice) for choice in choices))


def _tuned_aim(optimize: str, target: str | os.PathLike[str] | None, tune: Any) -> tuple[_native.Aim, int | None]:
    """The aim, and the GPU to tune on; None for the host."""
    if isinstance(tune, str) and tune != "host" and not tune.startswith("cuda"):
        raise ValueError(f"tune is {tune!r}, expected 'host', 'cuda' or 'cuda:N'")
    device = None if tune is None or (isinstance(tune, str) and tune == "host") else device_index(tune)
    aim = aim_of(optimize, target)
    if tune is not None:
        try:
            aim.tune(device is None, target is not None)
        except Error as error:
            raise ValueError(f"tune is {tune!r}, target is {target!r}: {error}") from None
    return aim, device


def aim_of(optimize: str, target: str | os.PathLike[str] | None) -> _native.Aim:
    """What plans minimise, on the machine at hand unless another one is named."""
    if optimize not in ("time", "bytes"):
        raise ValueError(f"optimize is {optimize!r}, expected 'time' or 'bytes'")
    if target is None:
        target = "gpu" if _native.has_usable_gpu() else "host"
    name = _arguments.path("target", target)
    try:
        return _native.Aim(getattr(_native.Objective, optimize), name)
    except Error as error:
        if error.code != "usage":
            raise  # a file that is no profile
        known = ", ".join(map(repr, _native.targets()))
        raise ValueError(f"target is {target!r}, expected one of {known}, or the path of a profile") from None


def open_container(source: Any, memory_limit: int = 0) -> _native.Container:
    """A container from a path or from bytes."""
    if isinstance(source, (str, os.PathLike)):
        return _native.Container.open(_arguments.path("source", source), memory_limit)
    try:
        return _native.Container.from_bytes(bytes(memoryview(source)))
    except TypeError:
        raise TypeError(f"a container of type {type(source).__qualname__}: give a path or bytes") from None


def _from_bytes(container: bytes, updatable: bool = False) -> Matrix:
    return Matrix(open_container(container), updatable=updatable)


def _zstd_level(codec: str) -> int:
    name, colon, level = _arguments.text("codec", codec).partition(":")
    if codec == "none":
        return 0
    if name != "zstd" or (colon and not (level.isdecimal() and 1 <= int(level) <= 19)):
        raise ValueError(f"codec is {codec!r}, expected 'none', 'zstd' or 'zstd:LEVEL' with a level from 1 to 19")
    return int(level) if colon else 3
