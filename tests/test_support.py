"""What the Python tests share: options, the skip that ctest understands, the command under test, Matrix Market text.

Import it before numpy and its like: where one of MODULES is missing, the test ends as skipped (exit code 77).
"""

import argparse
import functools
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "second_reader"))

MODULES = ("numpy", "scipy", "xxhash", "zstandard")
SKIPPED = 77

command = None  # path of spmvpack
WHOLE = os.environ.get("SPMVPACK_TEST_WHOLE", "0") != "0"  # all of what is otherwise taken by turns


def skip_without_modules():
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"SKIPPED: {error}")
            sys.exit(SKIPPED)


skip_without_modules()

import numpy as np


def spmvpack(*arguments, expect=0):
    """Runs the command, which must exit with `expect`; returns its stdout, or its error message where that is not 0."""
    result = subprocess.run([command, *map(str, arguments)], capture_output=True, timeout=600, check=False)
    message = result.stderr.decode("utf-8", "replace")
    call = "spmvpack " + " ".join(map(str, arguments))
    assert result.returncode == expect, f"{call}: exit {result.returncode}, not {expect}\n{message}"
    assert expect == 0 or message.startswith("spmvpack "), f"{call}: no error on stderr, but {message!r}"
    return result.stdout if expect == 0 else message


@functools.cache
def layout_names():
    """The layouts that the command knows, all of which a report for a host with details has; a strategy that cuts a
    matrix into parts is none."""
    with tempfile.NamedTemporaryFile("w", suffix=".mtx") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
        file.flush()
        costs = json.loads(spmvpack("report", file.name, "--json", "--details", "--target", "host"))["layouts"]
    names = [c["name"] for c in costs if [part["layout"] for part in c["parts"]] == [c["name"]]]
    assert names
    return names


def layouts_for(source, *options):
    """All that --layout takes for a matrix, without those whose padding makes megabytes of it: encode takes what is
    left with --force-size."""
    costs = json.loads(spmvpack("report", source, "--json", "--details", "--target", "host", *options))["layouts"]
    device_bytes = {c["name"]: c["device_bytes"] for c in costs}
    return [name for name, size in device_bytes.items() if size <= max(2**20, 10 * device_bytes["csr"])]


def main():
    global command
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--spmvpack", help="path of the command; tests that need it are skipped without it")
    options, rest = parser.parse_known_args()
    command = options.spmvpack
    program = unittest.main("__main__", argv=sys.argv[:1] + rest, exit=False, verbosity=1)
    for test, reason in program.result.skipped:
        print(f"SKIPPED: {test.id()}: {reason}")
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if len(program.result.skipped) == program.result.testsRun else 0)


def needs_command(test):
    def run(self):
        if command is None:
            self.skipTest("no --spmvpack")
        test(self)

    return run


# ---- matrices: shape, and entries sorted by row and column


class Entries:
    def __init__(self, shape, rows, columns, values):
        order = np.lexsort((columns, rows))
        self.shape = shape
        self.rows, self.columns, self.values = (np.asarray(a)[order] for a in (rows, columns, values))

    def difference(self, other, any_nan=False):
        """Where two matrices differ, in words; None where they are equal bit for bit."""
        if self.shape != other.shape or len(self.rows) != len(other.rows):
            return f"{self.shape}, {len(self.rows)} entries; {other.shape}, {len(other.rows)} entries"
        if self.values.dtype != other.values.dtype:
            return f"{self.values.dtype}; {other.values.dtype}"
        parts = 2 if np.iscomplexobj(self.values) else 1
        wrong = (self.rows != other.rows) | (self.columns != other.columns)
        mine, others = (m.values.view(f"u{m.values.itemsize // parts}").reshape(-1, parts) for m in (self, other))
        unequal = np.any(mine != others, axis=1)
        if any_nan:
            unequal &= ~(np.isnan(self.values) & np.isnan(other.values))
        where = np.flatnonzero(wrong | unequal)
        if len(where) == 0:
            return None
        k = where[0]
        return "; ".join(f"({m.rows[k]}, {m.columns[k]}) = {m.values[k]!r}" for m in (self, other))


def write_mtx(path, matrix, order):
    """A general coordinate file with the entries in the given order."""
    with open(path, "w", encoding="ascii") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n")
        file.write(f"{matrix.shape[0]} {matrix.shape[1]} {len(matrix.rows)}\n")
        for k in order:
            file.write(f"{matrix.rows[k] + 1} {matrix.columns[k] + 1} {float(matrix.values[k])!r}\n")


def read_mtx(text, dtype):
    """A coordinate file, expanded; a naive reading of the format."""
    lines = text.decode("ascii", "replace").splitlines()
    _, _, _, field, symmetry = lines[0].split()
    lines = [line.split() for line in lines[1:] if not line.startswith("%")]
    shape = tuple(map(int, lines[0][:2]))
    entries = []
    for line in lines[1:]:
        row, column, parts = int(line[0]) - 1, int(line[1]) - 1, [float(part) for part in line[2:]] or [1.0]
        value = complex(*parts) if field == "complex" else parts[0]
        entries.append((row, column, value))
        if symmetry != "general" and row != column:
            mirrored = {"skew-symmetric": -value, "hermitian": value.conjugate()}.get(symmetry, value)
            entries.append((column, row, mirrored))
    assert len(lines) - 1 == int(lines[0][2])
    columns = list(zip(*entries)) or [[], [], []]
    return Entries(shape, np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], dtype))
