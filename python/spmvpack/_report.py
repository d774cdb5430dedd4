"""The report: what a matrix is, what each layout costs, and which one to use."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _arguments
from ._device import DeviceMatrix
from ._inputs import source_of
from ._matrix import Matrix, aim_of, open_container


class Report:
    """The report of a matrix. print() shows it as text, a notebook with pictures.

    Attributes:
        text: one screen, as `spmvpack report` prints it.
        details: the same with row lengths, parts and all counters.
        json: everything, as a string; docs/report.schema.json describes it.
        html: a page with pictures, as `spmvpack report --html` writes it.
    """

    def __init__(self, text: str, details: str, json_text: str, page: str, element: str) -> None:
        self.text, self.details, self.json, self.html = text, details, json_text, page
        self._element = element

    def to_dict(self) -> dict[str, Any]:
        """Everything, as dicts and lists (docs/report.schema.json)."""
        result: dict[str, Any] = json.loads(self.json)
        return result

    @property
    def recommended(self) -> str:
        """The layout that layout="auto" takes."""
        return str(self.to_dict()["recommended"]["layout"])

    @property
    def pays_after(self) -> int | None:
        """After how many multiplies encode() with the recommended layout has paid for itself against csr, by predicted
        times, on one core; None: never."""
        multiplies = self.to_dict()["recommended"]["pays_after_multiplies"]
        return None if multiplies is None else int(multiplies)

    @property
    def device_bytes(self) -> dict[str, int]:
        """What a multiply reads of the matrix, for each layout; those that cannot take the matrix are missing."""
        return {cost["name"]: cost["device_bytes"] for cost in self.to_dict()["layouts"]}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<spmvpack.Report: use {self.recommended}>"

    def _repr_html_(self) -> str:
        """For notebooks: what save() writes, as an element."""
        return self._element

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as one page of HTML to look at: density, bytes, predicted times, row lengths. It has no
        scripts and loads nothing. An existing file is replaced."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


def report(a: Any, *, name: str = "", optimize: str = "time", target: str | os.PathLike[str] | None = None,
           settings: dict[str, Any] | None = None, dtype: Any = None, transpose: bool = False,
           updatable: bool = False, threads: int = 0, memory_limit: int = 0) -> Report:
    """What every layout of a matrix would cost, before anything is encoded; all byte counts are exact.

    Args:
        a: the matrix, as encode() takes it, or one that is encoded: a Matrix is unpacked for it; a DeviceMatrix, and a
            matrix of CuPy or PyTorch on a GPU, is copied to the host.
        name: what the report calls it; the path of a file unless given.
        optimize, target: what the recommended layout is best at, as of encode().
        settings: of layouts, such as {"ccoo.k": 4}.
        dtype: as of encode(), for files.
        transpose: also what A^T takes with encode(..., transpose=True).
        updatable: what layouts take with encode(..., updatable=True), and what the best one takes without it.
        threads: 0: all.
        memory_limit: as of encode().

    Raises:
        Error: "usage" for an unknown setting; "bad_input" for a file or arrays that are no matrix; "out_of_memory".
    """
    threads, memory_limit = _arguments.threads(threads), _arguments.memory_limit(memory_limit)
    texts, transpose = _arguments.settings(settings), _arguments.flag("transpose", transpose)
    updatable = _arguments.flag("updatable", updatable)
    aim = aim_of(optimize, target)
    if not _arguments.text("name", name) and isinstance(a, (str, os.PathLike)):
        name = os.fsdecode(a)
    if isinstance(a, DeviceMatrix):
        a = Matrix(open_container(a.tobytes()), threads, memory_limit, _trusted=True)
    if isinstance(a, Matrix):
        a = a.to_scipy(threads=threads, memory_limit=memory_limit)
    source = source_of(a, dtype, threads, memory_limit)
    return Report(*source.report(name, texts, aim, threads, transpose, updatable, memory_limit))
