"""The library's only error type."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, where, and what to do about it.

    Wrong shapes are ValueError and wrong types TypeError instead, as everywhere in Python.

    Attributes:
        code: the kind, a stable name: "io", "exists", "usage", "bad_input", "corrupt", "mismatch", "unsupported",
            "no_device", "out_of_memory", "interrupted", "internal" or "too_large".
        message: what was found and what was expected.
        where: the place, such as "A.mtx:3:1" or "A.spmvc: section 'blob', byte 4096"; may be empty.
        hint: what you can do; may be empty.
    """

    def __init__(self, message: str, code: str = "internal", where: str = "", hint: str = "") -> None:
        super().__init__(message, code, where, hint)  # so that it can be pickled
        self.message, self.code, self.where, self.hint = message, code, where, hint

    def __str__(self) -> str:
        return (f"{self.where}: " if self.where else "") + self.message + (f"; {self.hint}" if self.hint else "")
