"""Compresses sparse matrices, losslessly and once, into a form that a multiply executes as it is.

    import spmvpack as sp

    print(sp.report(A))              # what every layout costs, and which to use
    M = sp.encode(A)                 # a matrix of SciPy, CuPy or PyTorch, or a file
    y = M @ x
    M.save("A.spmvc")
    D = sp.load("A.spmvc", device="cuda:0")

docs/PYTHON.md has all of it.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Literal, overload

# The module has an OpenMP of its own, which reads this when it is loaded: threads that wait give their processor up
# after some 100 us, not after 15 ms, GCC's default. If another program keeps a processor busy, they wait for a thread
# that needs theirs.
if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "2000"
    try:
        importlib.import_module("._native", __name__)
    finally:
        del os.environ["GOMP_SPINCOUNT"]

from . import _arguments
from ._device import Choice, DeviceMatrix, checked_share, device_index
from ._errors import Error
from ._matrix import Encoding, Matrix, encode, open_container
from ._native import built_with_cuda
from ._native import version as __version__
from ._products import Part
from ._report import Report, report

if TYPE_CHECKING:
    from . import torch as torch

__all__ = ["Choice", "DeviceMatrix", "Encoding", "Error", "Matrix", "Part", "Report", "__version__", "built_with_cuda", "encode",
           "load", "report"]


@overload
def load(source: Any, device: Literal["cpu"] | None = None, *, threads: int = 0, memory_limit: int = 0,
         check_contents: bool = False, updatable: bool = False) -> Matrix: ...
@overload
def load(source: Any, device: Any, *, threads: int = 0, memory_limit: int = 0,
         check_contents: bool = False, cache_share: float | None = None, updatable: bool = False) -> DeviceMatrix: ...
def load(source: Any, device: Any = None, *, threads: int = 0, memory_limit: int = 0, check_contents: bool = False,
         cache_share: float | None = None, updatable: bool = False) -> Matrix | DeviceMatrix:
    """Loads a container, whose checksums and structure are checked.

    Args:
        source: a path, or the container's bytes.
        device: None or "cpu" for host memory; "cuda", "cuda:1", a number or a device of CuPy or PyTorch for a GPU, to
            which the file is streamed without ever being whole in host memory.
        threads: for reading and checking; 0: all.
        memory_limit: bytes of the host's memory that may be taken; 0: what it has free.
        check_contents: also unpack the matrix in host memory, and check that it has the container's digest, field and
            symmetry, and that A^T, if it is stored, is its transpose. Without it, A^T may be any matrix of its size.
        cache_share: on a GPU, as Matrix.to() has it.
        updatable: for M.update_values(), and on the host M.update(). The matrix then has its transpose only if A^T is
            stored.

    Raises:
        ValueError: a cache_share without a GPU, or not from 0 to 1; a string that names no device; a negative number
            of threads or bytes.
        TypeError: an argument of another type.
        Error: "io"; "bad_input" (no container); "corrupt"; "unsupported" (another version; updatable, and values that
            entries share); "too_large" (beyond a limit of the format); "out_of_memory"; "no_device".
    """
    threads, memory_limit = _arguments.threads(threads), _arguments.memory_limit(memory_limit)
    on_host = device is None or (isinstance(device, str) and device == "cpu")
    if on_host and cache_share is not None:
        raise ValueError("cache_share is of a GPU's L2 cache: name a GPU, or leave it out")
    if not on_host:  # before anything is read
        device, cache_share = device_index(device), checked_share(cache_share)
    check_contents = _arguments.flag("check_contents", check_contents)
    updatable = _arguments.flag("updatable", updatable)
    container = open_container(source, memory_limit)
    if check_contents:
        container.check_contents(threads, memory_limit)
    if on_host:
        return Matrix(container, threads, memory_limit, updatable=updatable)
    return DeviceMatrix(container, device, threads, cache_share, updatable)


def __getattr__(name: str) -> Any:
    """spmvpack.torch needs PyTorch, which takes long to import, and is imported when it is first used."""
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
