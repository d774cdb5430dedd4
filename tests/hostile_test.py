#!/usr/bin/python3
"""With --memory-limit, no command takes more than the limit and 64 MiB, whatever it is given.

The files are those of second_reader/hostile.py and mutants of golden containers: each is refused with a sentence, or
read. benchmarks/hostile_memory.py runs many more mutants, and writes down what each took.
"""

import itertools
import math
import os
import pathlib
import tempfile
import unittest

import test_support
from test_support import main

import hostile
from peak_memory import Measurer

GOLDEN = pathlib.Path(os.environ["SPMVPACK_TEST_GOLDEN_DIR"])  # what the build has made, by make_golden.py
MIB = 1 << 20
LIMIT, SLACK = 32 * MIB, 64 * MIB
if "SPMVPACK_TEST_SANITIZED" in os.environ:
    SLACK = math.inf  # a sanitizer's own memory, which is more; what it finds ends with an exit code of its own
MUTANTS = 20 if "SPMVPACK_TEST_SANITIZED" in os.environ else 60  # each is ten processes
# 0: done; 2 to 5 and 7: usage, input, corrupt, unsupported and memory.
EXPECTED = (0, 1, 2, 3, 4, 5, 7, 8)


def commands(path, output):
    """All that reads a file, but for bench."""
    yield "inspect", path
    yield "inspect", path, "--json"
    yield "verify", path
    yield "decode", path, "-o", "-"
    yield "multiply", path
    yield "multiply", path, "--transpose"
    yield "multiply", path, "--x", path
    yield "encode", path, "-o", output, "-f"
    yield "encode", path, "-o", output, "-f", "--layout", "nus_sell", "--transpose"
    yield "report", path, "--json"


def failures(measure, path, output, limit=LIMIT):
    """What each command does that it must not, and all measurements."""
    wrong, done = [], []
    for words in commands(path, output):
        result = measure(test_support.command, *words, "--memory-limit", limit, "--threads", 2, "-q")
        done.append((words, result))
        if result["exit_code"] not in EXPECTED:
            wrong.append(f"{words}: exit {result['exit_code']}: {result['stderr'][:300]}")
        if result["peak_bytes"] > limit + SLACK:
            wrong.append(f"{words}: {result['peak_bytes'] / MIB:.0f} MiB, exit {result['exit_code']}")
    return wrong, done


class Hostile(unittest.TestCase):

    def setUp(self):
        if test_support.command is None:
            self.skipTest("needs --spmvpack")
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)
        self.measure = Measurer()
        self.addCleanup(self.measure.close)

    def test_files_that_ask_for_too_much(self):
        for path in hostile.hostile(self.path):
            with self.subTest(path.name):
                wrong, done = failures(self.measure, path, self.path / "out.spmvc")
                self.assertFalse(wrong)
                self.assertTrue(any(result["exit_code"] != 0 for _, result in done), "no command refuses it")

    def test_mutants(self):
        path = self.path / "mutant.spmvc"
        for name, content in itertools.islice(hostile.mutants(GOLDEN / "accept", 1), MUTANTS):
            with self.subTest(name):
                path.write_bytes(content)
                self.assertFalse(failures(self.measure, path, self.path / "out.spmvc")[0])


if __name__ == "__main__":
    main()
