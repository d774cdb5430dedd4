"""What matrices have in common, wherever they are: facts and products."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, NamedTuple

import numpy as np

from ._linear import Linear, Transposed, transpose_of
from ._scaled import Scaled


class Part(NamedTuple):
    """A part of a container: some of the matrix's entries, in one layout."""

    layout: str
    rows: int
    cols: int
    nnz: int


class Facts:
    """What a matrix says about itself, wherever it is.

    Attributes:
        shape: (rows, columns).
        dtype: of the values: numpy.float64, float32, complex128 or complex64.
        nnz: stored entries.
        device_bytes: what a multiply reads of the matrix.
        transpose_device_bytes: what one with A^T reads, if it is stored beside A; else 0.
        nbytes: what the matrix takes for multiplies, those with A^T included.
        has_transpose: whether A^T and A^H can multiply: encode(..., transpose=True), or a matrix that is symmetric,
            skew-symmetric or Hermitian, bit for bit.
        file_bytes: the size of its container.
        parts: its parts, each with a layout; without those of A^T.
        symmetry: of the source: "general", "symmetric", "skew-symmetric" or "hermitian"; arrays are "general".
        bitwise_symmetry: what the entries are, bit for bit, which encode() finds.
        digest: 32 hexadecimal digits, the same for every layout of one matrix.
        share: None, or of a matrix that is one rank's share of another (`encode --ranks`) a dict of rank, ranks,
            global_shape, global_nnz, first_row, first_column, own_columns and global_digest. Products take the rank's
            own elements of x, then those of its ghosts.
        provenance: where it came from and how it was encoded: among others target, the machine that its layout was
            chosen for, None if that made no difference.
    """

    def __init__(self, info: dict[str, Any]) -> None:
        self.shape: tuple[int, int] = (info["rows"], info["cols"])
        self.dtype: np.dtype[Any] = np.dtype(info["dtype"])
        self.nnz: int = info["nnz"]
        self.device_bytes: int = info["device_bytes"]
        self.transpose_device_bytes: int = info["transpose_device_bytes"]
        self.has_transpose: bool = info["has_transpose"]
        self.file_bytes: int = info["file_bytes"]
        self.parts: tuple[Part, ...] = tuple(Part(*part) for part in info["parts"])
        self.symmetry: str = info["symmetry"]
        self.bitwise_symmetry: str = info["bitwise_symmetry"]
        self.digest: str = info["digest"]
        self.share: dict[str, Any] | None = info["share"]
        self.provenance: dict[str, Any] = info["provenance"]

    @property
    def nbytes(self) -> int:
        return self.device_bytes + self.transpose_device_bytes

    @property
    def layout(self) -> str:
        """The layouts of the parts, such as "csell" or "ell+coo"."""
        return "+".join(dict.fromkeys(part.layout for part in self.parts))

    def _describe(self, place: str) -> str:
        target = self.provenance["target"]
        aimed = "" if target is None else f" for {target}"
        return (f"<spmvpack matrix{place}: {self.shape[0]:,} x {self.shape[1]:,}, {self.nnz:,} nonzeros, {self.dtype}, "
                f"{self.layout or 'no part'}{aimed}, {self.device_bytes:,} bytes>")


_keys = itertools.count(1)
alive: weakref.WeakValueDictionary[int, Products] = weakref.WeakValueDictionary()  # by their keys


class Products(Facts, Linear):
    """What follows from products, wherever the matrix is.

    Attributes:
        key: a number that no other matrix of this process has.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __init__(self, info: dict[str, Any]) -> None:
        super().__init__(info)
        self.key: int = next(_keys)
        alive[self.key] = self

    def __copy__(self) -> Products:
        return self  # it is immutable

    def __deepcopy__(self, memo: dict[int, Any]) -> Products:
        return self

    @property
    def T(self) -> Transposed:
        """A^T, which shares the matrix and multiplies as it does.

        Raises:
            Error: "usage" unless has_transpose.
        """
        return transpose_of(self)

    @property
    def H(self) -> Transposed:
        """A^H, which is A^T of a real matrix; as T."""
        return transpose_of(self, True)

    def scaled(self, rows: Any = None, columns: Any = None) -> Scaled:
        """D_r A D_c, which shares the matrix and multiplies as it does; values stay as they are. For preconditioned and
        equilibrated systems.

        Args:
            rows, columns: factors of shape (rows,) and (columns,), contiguous, where the matrix is: on the host as x of
                A @ x, on a GPU an array with DLPack. Of the real type of every x that is multiplied. They are kept and
                not copied, unless they are lists. None: ones.

        Raises:
            ValueError: another shape, stride or device; masked elements.
            TypeError: other elements, or no array.
        """
        return Scaled(self, rows, columns)

    def _factors(self, name: str, factors: Any, size: int) -> Any:
        """Factors of scaled() as products take them; None if there are none."""
        raise NotImplementedError

    def _scaled_product(self, scaled: Scaled, x: Any, transpose: bool | str, threads: int) -> Any:
        """_product() with factors."""
        raise NotImplementedError

    def _scaled_multiply(self, scaled: Scaled, x: Any, out: Any, *arguments: Any, **keywords: Any) -> Any:
        """multiply() with factors."""
        raise NotImplementedError

    def _prepare_scaled(self, scaled: Scaled, *arguments: Any, **keywords: Any) -> None:
        raise TypeError("prepare() is of matrices on a GPU: the host has no workspaces")

    def _operator(self, linear: Any, transpose: Any, threads: int = 0) -> Any:
        """An operator of SciPy or CuPy."""
        raise NotImplementedError

    @property
    def _torch_device(self) -> str:
        """Where its tensors are, as PyTorch says it."""
        raise NotImplementedError
