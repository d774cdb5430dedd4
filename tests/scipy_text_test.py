#!/usr/bin/env python3
"""Text files that SciPy writes: Harwell-Boeing, whose headers declare a column more than its fields have, and unsigned
integers of Matrix Market. Each is read as SciPy reads it, or refused; never as another matrix.

usage: scipy_text_test.py --spmvpack SPMVPACK
"""

import pathlib
import re
import subprocess
import tempfile
import unittest

import test_support
from test_support import Entries, needs_command

import numpy as np
from scipy import io, sparse

NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([EeDd][+-]?\d+)?$")


def run(*arguments):
    return subprocess.run([test_support.command, *map(str, arguments)], capture_output=True, timeout=600, check=False)


def entries_of(a):
    a = a.tocoo()
    return Entries(a.shape, a.row, a.col, a.data.astype(np.float64))


def reading(path):
    """Whether the values of a file stand in the columns of its format, and whether all are separated by blanks: found
    with what SciPy writes in mind, one list and (nEw.d)."""
    lines = path.read_text().splitlines()
    pointer_lines, index_lines = (int(lines[1][14 * i:14 * i + 14]) for i in (1, 2))
    per_line, width = map(int, re.search(r"\((\d+)E(\d+)\.", lines[3]).groups())
    left = int(lines[2][42:56])
    fits = separated = True
    for line in lines[4 + pointer_lines + index_lines:]:
        count = min(per_line, left)
        left -= count
        fields = [line[width * i:width * (i + 1)].strip(" ") for i in range(count)]
        fits &= all(map(NUMBER.match, fields)) and not line[width * count:].strip()
        separated &= len(line.split()) == count
    return fits, separated


class ScipyTextTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.container = self.directory / "out.spmvc"

    def read(self, path):
        """The matrix, and what encode says of it on standard error; None if it is refused as bad input."""
        done = run("encode", path, "-o", self.container, "-f", "-q", "--layout", "csr")
        message = done.stderr.decode()
        if done.returncode == 3:
            return None, message
        self.assertEqual(done.returncode, 0, message)
        decoded = run("decode", self.container, "-o", "-")
        self.assertEqual(decoded.returncode, 0)
        return test_support.read_mtx(decoded.stdout, np.float64), message

    @needs_command
    def test_harwell_boeing(self):
        rng = np.random.default_rng(3)
        seen = set()
        for i in range(8):
            a = sparse.random(9, 7, 0.5, "csc", random_state=rng)
            exponents = np.zeros(a.nnz, int) if i % 4 < 2 else rng.integers(-160, 160, a.nnz)
            a.data = rng.standard_normal(a.nnz) * 10.0**exponents
            if i % 2 == 0:
                a.data = abs(a.data)
            path = self.directory / f"{i}.rua"
            io.hb_write(str(path), a)
            fits, separated = reading(path)
            seen.add((fits, separated))
            with self.subTest(i=i, fits=fits, separated=separated):
                m, message = self.read(path)
                if not fits and not separated:  # SciPy does not read it either
                    self.assertIsNone(m)
                    self.assertRegex(message, r"are the values in other columns than the header's format \(3E25\.16\) "
                                              "says|not separated by blanks either")
                    continue
                self.assertIsNone(m.difference(entries_of(a)))
                self.assertIsNone(m.difference(entries_of(io.hb_read(str(path)))))
                if fits:
                    self.assertEqual(message, "")
                else:
                    self.assertRegex(message, r"^spmvpack: warning: .*\.rua:\d+:\d+: the values are in other columns than "
                                              r"the header's format \(3E25\.16\) says; .*\n$")
        self.assertEqual(seen, {(True, True), (False, True), (False, False)})

    @needs_command
    def test_commands_warn(self):
        path = self.directory / "a.rua"
        io.hb_write(str(path), sparse.csc_matrix(np.array([[0.5, 0, -2], [0.25, -1.5, 3]])))
        for command in (["encode", path, "-o", self.container, "-q"], ["report", path], ["report", path, "--ranks", "2"],
                        ["verify", self.container, "--against", path]):
            with self.subTest(command=command[0]):
                done = run(*command)
                self.assertEqual((done.returncode, done.stderr.count(b"spmvpack: warning: ")), (0, 1), done.stderr)

    @needs_command
    def test_unsigned_integers(self):
        path = self.directory / "a.mtx"
        a = sparse.coo_matrix(np.array([[1, 0, 4294967295], [0, 3, 0]], np.uint32))
        b = np.array([[1, 2], [2, 2**53]], np.uint64)
        for written, field in ((a, b"unsigned-integer general"), (b, b"unsigned-integer symmetric")):
            io.mmwrite(str(path), written)
            self.assertIn(field, path.read_bytes())
            m, message = self.read(path)
            self.assertEqual(message, "")
            self.assertIsNone(m.difference(entries_of(sparse.coo_matrix(written))))


if __name__ == "__main__":
    test_support.main()
