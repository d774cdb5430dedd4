#!/usr/bin/python3
"""docs/FORMAT.md, its second reader (spmvc_reader.py) and the spmvpack command agree: on hand-made files (SPMVPACK_TEST_GOLDEN_DIR)
and on files that the command has just written.

    format_test.py [--spmvpack PATH] [TestClass.test]
"""

import collections
import fractions
import itertools
import os
import pathlib
import struct
import tempfile
import unittest

import test_support
from test_support import WHOLE, Entries, layout_names, layouts_for, needs_command, read_mtx, spmvpack, write_mtx

import numpy as np

import make_golden
import spmvc_layouts
import spmvc_reader

GOLDEN = pathlib.Path(os.environ["SPMVPACK_TEST_GOLDEN_DIR"])  # what the build has made, by make_golden.py
DTYPE = {"f64": np.dtype("<f8"), "f32": np.dtype("<f4")}
LISTED = DTYPE | {"c64": np.dtype("<c8"), "c128": np.dtype("<c16")}


def entries_of(path):
    """The matrix of a container, by the second reader, and its header."""
    header, _, _, matrix = spmvc_reader.read_file(path)
    return Entries(matrix.shape, matrix.rows, matrix.columns, matrix.values), header


def listed(path):
    """The matrix of a golden listing (make_golden.py)."""
    lines = path.read_text(encoding="ascii").splitlines()
    rows, columns, count, value_type = lines[0].split()
    fields = [line.split() for line in lines[1:]]
    assert len(fields) == int(count)

    def number(text):
        return struct.unpack("<d", bytes.fromhex(text[4:])[::-1])[0] if text.startswith("nan:") else float.fromhex(text)

    values = [complex(*map(number, f[2:])) if len(f) == 4 else number(f[2]) for f in fields]
    return Entries((int(rows), int(columns)), np.array([int(f[0]) for f in fields], np.int64),
                   np.array([int(f[1]) for f in fields], np.int64), np.array(values, LISTED[value_type]))


def golden(kind):
    paths = sorted((GOLDEN / kind).glob("*.spmvc"))
    assert len(paths) > 40, f"the golden files of {kind} are missing"
    return paths


def a_share(kinds, every):
    """Of the golden files, by what kind they are of, one in `every` of each kind: what the command is run on.
    golden_test.cpp takes all of them through the same libraries, without a process for each."""
    met = collections.Counter()
    for path, kind in kinds:
        if met[kind] % every == 0:
            yield path
        met[kind] += 1


def some_accepted():
    """Some of each: layouts, type of values, field, symmetry."""
    def kind(path):
        header, parts, _, _ = spmvc_reader.read_file(path)
        return frozenset(part.layout for part in parts), header.value_type, header.field, header.symmetry

    return a_share(((path, kind(path)) for path in golden("accept")), 4)


def some_rejected():
    """Some of each: exit code, stage, and the layout or other thing that is wrong, which names begin with."""
    def kind(path):
        return path.with_suffix(".txt").read_text(encoding="ascii"), path.stem.split("_")[0]

    return a_share(((path, kind(path)) for path in golden("reject")), 8)


class GoldenFiles(unittest.TestCase):
    def test_files_are_those_of_the_manifest(self):
        self.assertEqual(list(make_golden.differences(make_golden.written(GOLDEN))), [])

    def test_reader_accepts(self):
        for path in golden("accept"):
            with self.subTest(path.stem):
                self.assertIsNone(entries_of(path)[0].difference(listed(path.with_suffix(".csr.txt"))))

    def test_reader_rejects(self):
        for path in golden("reject"):
            with self.subTest(path.stem):
                exit_code, stage = path.with_suffix(".txt").read_text(encoding="ascii").rstrip("\n").split(" ", 1)
                with self.assertRaises(spmvc_reader.SpmvcError) as error:
                    spmvc_reader.read_file(path)
                self.assertEqual((error.exception.exit_code, error.exception.stage), (int(exit_code), stage))

    def test_no_byte_can_change(self):
        good = (GOLDEN / "accept" / "parts_row_lists.spmvc").read_bytes()
        for i in range(len(good)):
            with self.assertRaises(spmvc_reader.SpmvcError, msg=f"byte {i}"):
                spmvc_reader.read(good[:i] + bytes([good[i] ^ 1 << i % 8]) + good[i + 1:])

    @needs_command
    def test_command_accepts_and_decodes(self):
        for path in some_accepted():
            with self.subTest(path.stem):
                expected = listed(path.with_suffix(".csr.txt"))
                decoded = read_mtx(spmvpack("decode", path, "-o", "-"), expected.values.dtype)
                # Text keeps no bits of a NaN.
                self.assertIsNone(decoded.difference(expected, any_nan=True))

    @needs_command
    def test_command_encodes_again(self):
        """To one layout from each file, by turns: every layout gets some files, with either codec."""
        met = collections.Counter()
        with tempfile.TemporaryDirectory() as directory:
            output = pathlib.Path(directory) / "again.spmvc"
            for turn, path in enumerate(some_accepted()):
                codec = ("zstd", "none")[turn % 2]
                expected, source = entries_of(path)
                takes = [name for name in layout_names() if name != "pkt" or expected.shape[0] == expected.shape[1]]
                if np.iscomplexobj(expected.values):
                    takes = ["csr", "coo"]
                layout = min(takes, key=lambda name: met[name, codec])
                met[layout, codec] += 1
                with self.subTest(path.stem, layout=layout):
                    spmvpack("encode", path, "-o", output, "-f", "--layout", layout, "--codec", codec, "--force-size")
                    found, header = entries_of(output)
                    self.assertIsNone(found.difference(expected))
                    self.assertEqual((header.digest, header.field, header.symmetry),
                                     (source.digest, source.field, source.symmetry))
        for layout, codec in itertools.product(layout_names(), ("zstd", "none")):
            self.assertGreater(met[layout, codec], 0, f"{layout}, {codec}")

    @needs_command
    def test_command_rejects(self):
        for path in some_rejected():
            with self.subTest(path.stem):
                exit_code = int(path.with_suffix(".txt").read_text(encoding="ascii").split()[0])
                spmvpack("verify", path, expect=exit_code)


class Layouts(unittest.TestCase):
    """A layout has a reader of its own in both implementations, and golden files."""

    @needs_command
    def test_second_reader_has_every_layout(self):
        self.assertEqual(set(spmvc_layouts.LAYOUTS), set(layout_names()))

    def test_golden_files_have_every_layout(self):
        found = {part.layout for path in golden("accept") for part in spmvc_reader.read_file(path)[1]}
        self.assertEqual(found, set(spmvc_layouts.LAYOUTS))


def random_matrix(rng, rows, columns, count, values=None):
    places = rng.choice(rows * columns, count, replace=False)
    if values is None:
        values = rng.standard_normal(count)
    return Entries((rows, columns), places // columns, places % columns, values)


def nasty_matrices(rng):
    """Name and matrix: what an encoder may get wrong."""
    nothing = np.empty(0, np.int64)
    for rows, columns in ((0, 0), (0, 5), (5, 0), (7, 3)):
        yield f"empty_{rows}x{columns}", Entries((rows, columns), nothing, nothing, np.empty(0))
    yield "one_entry", Entries((1, 1), [0], [0], np.array([-1.5]))
    yield "last_entry", Entries((1000, 1000), [999], [999], np.array([2.0]))
    yield "scattered", random_matrix(rng, 700, 500, 3000)
    yield "empty_rows", random_matrix(rng, 5000, 300, 400)
    yield "full", random_matrix(rng, 40, 50, 2000)
    row = Entries((300, 5000), np.full(5000, 17), np.arange(5000), rng.standard_normal(5000))
    yield "one_dense_row", row
    yield "dense_row_among_others", Entries(row.shape, np.r_[row.rows, 16, 18, 18], np.r_[row.columns, 3, 0, 4999],
                                            np.r_[row.values, 1.0, 2.0, 3.0])
    yield "one_row", random_matrix(rng, 1, 4000, 3000)
    yield "one_column", random_matrix(rng, 4000, 1, 3000)
    yield "equal_values", random_matrix(rng, 300, 300, 2000, np.full(2000, 0.1))
    for distinct in (255, 256, 257):
        yield f"values_{distinct}", random_matrix(rng, 300, 300, 4000, np.arange(4000) % distinct / 7)
    yield "few_frequent_values", random_matrix(rng, 300, 300, 6000, np.where(rng.random(6000) < 0.9,
                                                                             rng.integers(1, 9, 6000) / 3,
                                                                             rng.standard_normal(6000)))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2250738585072011e-308, 1.401298464e-45,
                        1e-45, 3.4028234663852886e38, 1.0, 1 + 2.0**-24, 1 + 2.0**-23, 16777217.0, 1e-40])
    yield "special_values", random_matrix(rng, 60, 60, 1600, np.resize(special, 1600))
    yield "zeros_of_both_signs", random_matrix(rng, 60, 60, 600, np.resize([0.0, -0.0], 600))
    for span in (255, 256, 65535, 65536):
        rows = np.repeat(np.arange(300), 3)
        columns = np.tile([0, span // 2, span], 300)
        yield f"span_{span}", Entries((300, span + 1), rows, columns, rng.standard_normal(900))
        yield f"span_{span}_shifted", Entries((300, span + 71), rows, columns + 70, rng.standard_normal(900))
    for gap in (254, 255, 256, 257):
        rows = np.arange(100) * gap
        yield f"row_gap_{gap}", Entries((99 * gap + 1, 10), rows, np.arange(100) % 10, rng.standard_normal(100))
    lengths = np.arange(0, 70)
    yield "row_lengths", Entries((70, 70), np.repeat(lengths, lengths), np.concatenate([np.arange(n) for n in lengths]),
                                 rng.standard_normal(lengths.sum()))
    yield "many_blocks", random_matrix(rng, 100000, 1000, 300000)  # values: 3 blocks of 1 MiB


def round_text(values, dtype):
    """What the shortest texts of f64 values are in `dtype`: rounded once, from the text. Rounding the f64 value is the
    same, but where it lies half-way between two f32 values and its text does not."""
    if dtype == values.dtype:
        return values
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
        for k in np.flatnonzero(np.isfinite(rounded)):
            value, near = float(values[k]), rounded[k]
            other = np.nextafter(near, dtype.type(np.inf if value > float(near) else -np.inf))
            if 2 * value == float(near) + float(other):
                excess = fractions.Fraction(repr(value)) - fractions.Fraction(value)
                if excess != 0:
                    rounded[k] = max(near, other) if excess > 0 else min(near, other)
    return rounded


class FreshFiles(unittest.TestCase):
    """The matrix is the test's; the text, the container and both readers lie between it and what is compared. A matrix
    takes a third of the layouts and settings with either type of values, by turns, or all with SPMVPACK_TEST_WHOLE=1."""

    def setUp(self):
        self.turn = 0
        self.met = collections.Counter()

    def some(self, variants):
        every = 1 if WHOLE else 3
        self.turn += 1
        for options in list(variants)[self.turn % every::every]:
            self.met[options[1], options[3]] += 1
            yield options

    def variants(self, source, value_type):
        # By turns: a layout gets the other codec with the other type.
        codecs = itertools.cycle(("none", "zstd") if value_type == "f64" else ("zstd", "none"))
        for layout, codec in zip(layouts_for(source, "--value-type", value_type), codecs):
            yield ("--value-type", value_type, "--layout", layout, "--codec", codec)
        for k in (1, 2, 4, 8):
            yield ("--value-type", value_type, "--layout", "ccoo", "--set", f"ccoo.k={k}")
        for short in ("csell", "sell"):
            yield ("--value-type", value_type, "--layout", "split", "--set", "split.length=3", "--set",
                   f"split.short={short}")

    def check(self, directory, name, matrix, rng):
        source = directory / f"{name}.mtx"
        write_mtx(source, matrix, rng.permutation(len(matrix.rows)))
        for value_type, dtype in DTYPE.items():
            expected = Entries(matrix.shape, matrix.rows, matrix.columns, round_text(matrix.values, dtype))
            digests = set()
            for options in self.some(self.variants(source, value_type)):
                with self.subTest(name, options=" ".join(options)):
                    one, four = directory / "one.spmvc", directory / "four.spmvc"
                    spmvpack("encode", source, "-o", one, "-f", "--force-size", "--threads", 1, *options)
                    spmvpack("encode", source, "-o", four, "-f", "--force-size", "--threads", 4, *options)
                    self.assertEqual(one.read_bytes(), four.read_bytes(), "the threads show in the file")
                    found, header = entries_of(one)
                    self.assertIsNone(found.difference(expected))
                    digests.add(header.digest)
            self.assertEqual(len(digests), 1, f"{name}, {value_type}: the digest depends on the layout or the codec")

    @needs_command
    def test_nasty_matrices(self):
        rng = np.random.default_rng(2021)
        with tempfile.TemporaryDirectory() as directory:
            for name, matrix in nasty_matrices(rng):
                self.check(pathlib.Path(directory), name, matrix, rng)
        for value_type, layout in itertools.product(DTYPE, layout_names()):
            self.assertGreater(self.met[value_type, layout], 2, f"{value_type}, {layout}")

    @needs_command
    def test_random_matrices(self):
        rng = np.random.default_rng(7)
        with tempfile.TemporaryDirectory() as directory:
            for i in range(12):
                rows, columns = (int(2**e) for e in rng.uniform(0, 13, 2))
                count = int(min(rows * columns, 5000) * rng.random())
                values = rng.integers(-200, 200, count) / 8 if i % 2 else None
                self.check(pathlib.Path(directory), f"random_{i}_{rows}x{columns}",
                           random_matrix(rng, rows, columns, count, values), rng)


if __name__ == "__main__":
    test_support.main()
