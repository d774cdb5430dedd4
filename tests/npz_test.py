#!/usr/bin/env python3
"""Sparse matrices of SciPy in .npz files: read as SciPy reads them, and refused where they lie.

usage: npz_test.py --spmvpack SPMVPACK
"""

import gzip
import io
import pathlib
import random
import subprocess
import tarfile
import tempfile
import unittest
import zipfile

import test_support
from test_support import Entries, needs_command, spmvpack

import numpy as np
import scipy.io
from scipy import sparse


def sample(dtype=np.float64, seed=1):
    rng = np.random.default_rng(seed)
    a = sparse.random(60, 42, 0.1, "csr", random_state=rng)
    a.data = np.resize([1.5, -2.0, np.nan, np.inf, -0.0, 0.0, 1e-310, 1 / 3], a.nnz) if np.dtype(
        dtype).kind == "f" else rng.integers(0, 2 if dtype == bool else 100, a.nnz)
    with np.errstate(all="ignore"):
        return a.astype(dtype)


def entries_of(a):
    """What SciPy makes of it: expanded, duplicates added up."""
    a = a.tocsr()
    a.sum_duplicates()
    a = a.tocoo()
    return Entries(a.shape, a.row, a.col, a.data)


class NpzTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.path = self.directory / "A.npz"

    def read(self, path=None, *options):
        container = self.directory / "out.spmvc"
        spmvpack("encode", path or self.path, "-o", container, "-f", "-q", "--layout", "csr", *options)
        return test_support.read_mtx(spmvpack("decode", container, "-o", "-"),
                                     np.float32 if "f32" in options else np.float64)

    def check(self, a, *options, path=None):
        expected = entries_of(a)
        expected.values = expected.values.astype(np.float32 if "f32" in options else np.float64)
        self.assertIsNone(self.read(path, *options).difference(expected, any_nan=True))

    def refused(self, expect, *texts):
        message = spmvpack("encode", self.path, "-o", self.directory / "out.spmvc", "-f", expect=expect)
        for text in texts:
            self.assertIn(text, message)

    def arrays(self, **changes):
        """A small CSR file with some arrays changed, or left out (None)."""
        members = {"indices": np.array([0, 2, 1], np.int32), "indptr": np.array([0, 2, 2, 3], np.int32),
                   "format": np.array(b"csr"), "shape": np.array([3, 4]), "data": np.array([1.0, 2.0, 3.0])}
        members.update(changes)
        np.savez(self.path, **{name: array for name, array in members.items() if array is not None})

    @needs_command
    def test_formats(self):
        a = sample()
        for form in ("csr", "csc", "coo"):
            for compressed in (False, True):
                sparse.save_npz(self.path, a.asformat(form), compressed=compressed)
                self.check(a)
        for block in ((1, 1), (3, 2), (4, 7), (60, 42)):
            b = a.tobsr(block)
            sparse.save_npz(self.path, b)
            self.check(b)

    @needs_command
    def test_diagonals(self):
        """dia: fill outside the matrix, zeros inside, diagonals that are too long or too short."""
        rng = np.random.default_rng(3)
        for rows, columns, width in ((7, 5, 5), (5, 7, 7), (6, 6, 4), (6, 6, 9), (1, 4, 4), (4, 1, 1), (0, 3, 3),
                                     (3, 0, 0)):
            offsets = rng.permutation(np.arange(-rows - 1, columns + 2))[:6]
            data = rng.standard_normal((6, width))
            data[rng.random(data.shape) < 0.2] = 0
            if data.size:
                data[0, 0] = np.nan
            for dtype in (np.float64, np.float32):
                a = sparse.dia_matrix((data.astype(dtype), offsets), (rows, columns))
                sparse.save_npz(self.path, a)
                self.check(a, *(("--value-type", "f32") if dtype == np.float32 else ()))
        a = sparse.diags([[1, 2, 3], [4, 5]], [0, -1], dtype=np.int64)
        sparse.save_npz(self.path, a)
        self.check(a)
        self.assertIn(b"integer", spmvpack("inspect", self.directory / "out.spmvc"))

    @needs_command
    def test_types(self):
        for dtype in (np.float32, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
                      bool):
            sparse.save_npz(self.path, sample(dtype))
            if dtype == np.float32:
                self.check(sample(dtype), "--value-type", "f32")
                self.read()  # as it is, without options
                self.assertIn(b'"f32"', spmvpack("inspect", self.directory / "out.spmvc", "--json"))
                message = spmvpack("encode", self.path, "--value-type", "f64", expect=2)
                self.assertIn("the file holds f32 values", message)
            else:
                self.check(sample(dtype))
        sparse.save_npz(self.path, sample())
        self.check(sample(), "--value-type", "f32")

    @needs_command
    def test_indices_of_any_width_and_order(self):
        for dtype in (np.int16, np.int64, np.uint32, np.uint64):
            self.arrays(indices=np.array([0, 2, 1], dtype), indptr=np.array([0, 2, 2, 3], dtype))
            self.check(sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 2, 3]), (3, 4)))
        self.arrays(indices=np.array([2, 2, 1]))
        self.check(sparse.csr_matrix(([3.0, 3.0], [2, 1], [0, 1, 1, 2]), (3, 4)))

    @needs_command
    def test_shapes(self):
        for shape in ((0, 0), (0, 5), (5, 0), (3, 4)):
            for form in ("csr", "csc", "coo"):
                sparse.save_npz(self.path, sparse.coo_matrix(shape).asformat(form))
                self.check(sparse.csr_matrix(shape))

    @needs_command
    def test_room_behind_the_last_pointer(self):
        """Entries end where SciPy ends them, whatever lies behind, be it no index and no f64."""
        for form in ("csr", "csc", "bsr"):
            for dtype, junk in ((np.float64, np.nan), (np.int64, 2**53 + 1)):
                a = sparse.csr_matrix(np.array([[1, 0, 2, 0], [0, 3, 0, 0]], dtype))
                a = a.tobsr((1, 2)) if form == "bsr" else a.asformat(form)
                room = np.full((3, *a.data.shape[1:]), junk, dtype)
                arrays = {"indices": np.append(a.indices, [-7, 2**31 - 1, 0]), "indptr": a.indptr, "shape": a.shape,
                          "format": form, "data": np.concatenate([a.data, room])}
                np.savez(self.path, **arrays)
                self.check(a)
                self.assertEqual(abs(sparse.load_npz(self.path) - a).nnz, 0)
        empty = {"indptr": np.zeros(4, np.int32), "indices": np.array([9]), "data": np.array([5.0])}
        self.arrays(**empty)
        self.check(sparse.csr_matrix((3, 4)))

    @needs_command
    def test_both_orders(self):
        """Arrays of one, two and three dimensions in the orders of C and of Fortran."""
        rng = np.random.default_rng(4)
        table = rng.standard_normal((70, 130))
        for order in "CF":
            for rows, columns in ((130, 130), (200, 40)):
                a = sparse.dia_matrix((np.array(table, order=order), np.arange(-35, 35)), (rows, columns))
                self.assertEqual(a.data.flags.f_contiguous, order == "F")
                sparse.save_npz(self.path, a)
                self.check(a)
            for dtype, block in ((np.float64, (2, 3)), (np.float32, (1, 3)), (np.int16, (3, 2)), (bool, (3, 1))):
                b = sample(dtype).tobsr(block)
                b.data = np.array(b.data, order=order)
                sparse.save_npz(self.path, b)
                self.check(b, *(("--value-type", "f32") if dtype == np.float32 else ()))
        self.arrays()  # of one dimension, both are the same, and NumPy writes False
        with zipfile.ZipFile(self.path) as file:
            members = {name: file.read(name) for name in file.namelist()}
        with zipfile.ZipFile(self.path, "w") as file:
            for name, content in members.items():
                file.writestr(name, content.replace(b"'fortran_order': False", b"'fortran_order': True "))
        self.check(sparse.load_npz(self.path))

    @needs_command
    def test_big_endian_numbers(self):
        for dtype in (">f8", ">f4", ">i2"):
            swapped = {name: np.array(values, dtype=">i4") for name, values in
                       (("indices", [0, 2, 1]), ("indptr", [0, 2, 2, 3]), ("shape", [3, 4]))}
            self.arrays(data=np.array([1, 2, 300], dtype), format=np.array("csr", ">U3"), **swapped)
            self.check(sparse.csr_matrix(([1.0, 2.0, 300.0], [0, 2, 1], [0, 2, 2, 3]), (3, 4)),
                       *(("--value-type", "f32") if dtype == ">f4" else ()))

    @needs_command
    def test_other_members_are_not_read(self):
        self.arrays(_is_array=np.array(True), note=np.array("text"), words=np.array(["a"], dtype=object))
        self.check(sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 2, 3]), (3, 4)))
        with zipfile.ZipFile(self.path, "a") as file:
            file.writestr("README", "not an array")
        self.check(sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 2, 1], [0, 2, 2, 3]), (3, 4)))

    @needs_command
    def test_repacked_by_other_tools(self):
        """Members called ./data.npy; others before the arrays; and archives of a matrix that hold arrays, too."""
        a = sample()
        sparse.save_npz(self.path, a)
        with zipfile.ZipFile(self.path) as file:
            arrays = {name: file.read(name) for name in file.namelist()}
        for prefix, others in (("./", {}), ("", {"README": b"not an array"}), ("", {"vector.npy": b"no array"}),
                               ("./", {"doc/": b"", "doc/README.txt": b"text " * 5000})):
            with self.subTest(prefix=prefix, others=list(others)):
                with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as file:
                    for name, content in others.items():
                        file.writestr(name, content)
                    for name, content in arrays.items():
                        file.writestr(prefix + name, content)
                self.check(a)
        matrix = self.directory / "B.mtx"
        spmvpack("encode", self.path, "-o", self.directory / "B.spmvc")
        spmvpack("decode", self.directory / "B.spmvc", "-o", matrix)
        archive = self.directory / "B.zip"
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("vector.npy", b"an array that goes with it")
            file.write(matrix, "B.mtx")
        self.check(a, path=archive)

    @needs_command
    def test_compressed_archived_and_from_a_pipe(self):
        a = sample()
        sparse.save_npz(self.path, a)
        zipped = self.directory / "A.npz.gz"
        zipped.write_bytes(gzip.compress(self.path.read_bytes()))
        self.check(a, path=zipped)
        archive = self.directory / "A.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(self.path, "A/A.npz")
        self.check(a, path=archive)
        out = self.directory / "piped.spmvc"
        subprocess.run([test_support.command, "encode", "-", "-o", out], input=self.path.read_bytes(), check=True,
                       stdout=subprocess.DEVNULL)
        self.check(a, path=out)
        spmvpack("encode", self.path)
        self.assertTrue((self.directory / "A.spmvc").exists())

    @needs_command
    def test_a_vector_of_numpy(self):
        """multiply --x x.npy: the product with the same numbers in text."""
        a = sparse.random(60, 42, 0.2, "csr", random_state=2)
        sparse.save_npz(self.path, a)
        container, x, text = self.directory / "A.spmvc", self.directory / "x.npy", self.directory / "x.mtx"
        spmvpack("encode", self.path, "-o", container)
        values = np.random.default_rng(5).integers(-50, 50, 42)
        text.write_text("%%MatrixMarket matrix array real general\n42 1\n" + "".join(f"{v}\n" for v in values))
        expected = spmvpack("multiply", container, "--x", text)
        for vector in (values, values.astype(float), values.astype(np.float32), values.astype(np.int8),
                       values.astype(">f8"), values.reshape(42, 1) * 1.0, values.reshape(1, 42)):
            np.save(x, vector)
            self.assertEqual(spmvpack("multiply", container, "--x", x), expected)
        zipped = self.directory / "x.npy.gz"
        zipped.write_bytes(gzip.compress(x.read_bytes()))
        self.assertEqual(spmvpack("multiply", container, "--x", zipped), expected)
        for vector, expect, words in ((values[:41] * 1.0, 2, ("x has 41 values", "42")),
                                      (values.reshape(6, 7), 3, ("x.npy: an array of shape (6, 7)", "one column")),
                                      (np.array(5.0), 3, ("x.npy: an array of shape ()",)),
                                      (np.array([2**53 + 1]), 3, ("f64 cannot hold the value 9007199254740993",)),
                                      (values * 1j, 5, ("values of type 'c16'", "imaginary parts apart")),
                                      (np.zeros((1,) * 5 + (42,), order="F"), 3, ("x.npy: an array of shape",)),
                                      (np.zeros((2,) * 5, order="F"), 3, ("5 dimensions in Fortran's order",))):
            np.save(x, vector)
            message = spmvpack("multiply", container, "--x", x, expect=expect)
            for word in words:
                self.assertIn(word, message)
        market = self.directory / "C.mtx"
        scipy.io.mmwrite(market, a * (2 - 1j))
        spmvpack("encode", market, "-o", container, "-f", "--layout", "csr")
        text.write_text("%%MatrixMarket matrix array complex general\n42 1\n" + "".join(f"{v} {2 * v}\n" for v in values))
        expected = spmvpack("multiply", container, "--x", text)
        for vector in (values * (1 + 2j), (values * (1 + 2j)).astype(">c16"), (values * (1 + 2j)).astype(np.complex64)):
            np.save(x, vector)
            self.assertEqual(spmvpack("multiply", container, "--x", x), expected)
        np.save(x, values)  # real numbers will do
        real = spmvpack("multiply", container, "--x", x)
        text.write_text("%%MatrixMarket matrix array real general\n42 1\n" + "".join(f"{v}\n" for v in values))
        self.assertEqual(spmvpack("multiply", container, "--x", text), real)
        np.save(x, values * 1.0)
        x.write_bytes(x.read_bytes()[:-3])
        self.assertIn("ends 3 bytes too early", spmvpack("multiply", container, "--x", x, expect=3))

    @needs_command
    def test_complex_matrices(self):
        """Every format, stored as c128 or c64, of either byte order, and as real numbers if no imaginary part is lost."""
        a, market = sample() + 1j * sample(seed=2), self.directory / "A.mtx"
        a.data = np.nan_to_num(a.data, posinf=5, neginf=-5)
        container = self.directory / "A.spmvc"
        for dtype, name in ((np.complex128, b'"c128"'), (np.complex64, b'"c64"'), (">c16", b'"c128"')):
            for b in (a, a.tocsc(), a.tocoo(), a.tobsr((3, 2)), sparse.dia_matrix(a)):
                sparse.save_npz(self.path, b.astype(dtype))
                spmvpack("encode", self.path, "-o", container, "-f", "-q", "--layout", "csr")
                self.assertIn(name, spmvpack("inspect", container, "--json"))
                spmvpack("decode", container, "-o", market, "-f", "-q")
                self.assertEqual(abs(scipy.io.mmread(market).tocsr().astype(dtype) - b.tocsr().astype(dtype)).max(), 0)
        sparse.save_npz(self.path, a)
        spmvpack("encode", self.path, "-o", container, "-f", "-q", "--value-type", "c64", "--layout", "csr")
        self.assertIn(b'"c64"', spmvpack("inspect", container, "--json"))
        message = spmvpack("encode", self.path, "-o", container, "-f", "--value-type", "f64", expect=3)
        self.assertIn("has an imaginary part", message)
        sparse.save_npz(self.path, a.real.astype(complex))
        self.check(a.real, "--value-type", "f64")

    @needs_command
    def test_nothing_else_gets_its_name(self):
        sparse.save_npz(self.path, sample())
        spmvpack("encode", self.path)
        for arguments, text in ((("encode", self.path, "-o", "B.npz"), "the name of a source"),
                                (("decode", self.directory / "A.spmvc", "-o", "B.npz"), "not arrays of NumPy")):
            self.assertIn(text, spmvpack(*arguments, expect=2))

    @needs_command
    def test_what_is_wrong_is_said(self):
        for changes, expect, texts in (
                ({"format": np.array(b"lil")}, 5, ["A.npz: a sparse matrix in format 'lil'", "tocsr"]),
                ({"format": np.array(b"dia")}, 3, ["A.npz(data.npy): shape (3,), expected 2 dimensions in format dia"]),
                # SciPy reads it, and writes it otherwise.
                ({"format": np.array(b"dia"), "data": np.ones(6), "offsets": np.array(0)}, 3,
                 ["A.npz(data.npy): shape (6,)", "save_npz(path, scipy.sparse.load_npz(path))"]),
                ({"format": np.array(b"dia"), "data": np.ones((1, 4)), "offsets": np.array(0)}, 3,
                 ["A.npz(offsets.npy): shape (), expected a list", "save_npz(path, scipy.sparse.load_npz(path))"]),
                ({"format": np.array(b"dia"), "data": np.ones((2, 4))}, 3, ["no array 'offsets'"]),
                ({"format": np.array(b"dia"), "data": np.ones((2, 4)), "offsets": np.array([0])}, 3,
                 ["A.npz(offsets.npy): 1 elements, expected 2"]),
                ({"format": np.array(b"dia"), "data": np.ones((2, 4)), "offsets": np.array([1, 1])}, 3,
                 ["A.npz(offsets.npy): a diagonal comes twice"]),
                ({"format": np.array(b"dia"), "data": np.ones((1, 4)), "offsets": np.array([2**32 - 1], np.uint32)}, 3,
                 ["A.npz(offsets.npy): offset 0 is 4294967295, beyond the matrix", "a signed type"]),
                ({"format": np.array(b"dia"), "data": np.ones((1, 4)), "offsets": np.array([-2**31 - 1])}, 3,
                 ["A.npz(offsets.npy): offset 0 is -2147483649, beyond"]),
                ({"format": np.array(b"\x1b[31m")}, 5, ["'\\x1B[31m'"]),
                ({"format": None}, 3, ["A.npz: the file has no array 'format'; it holds data.npy, indices.npy",
                                       "pydata/sparse"]),
                ({"format": np.array(b"csr" * 100)}, 3, ["A.npz(format.npy): not the name of a format"]),
                ({"format": np.array(5)}, 3, ["A.npz(format.npy): not the name of a format"]),
                ({"indptr": None}, 3, ["no array 'indptr'; it holds", "needs it, too"]),
                ({"data": np.array([1j, 2, 3], np.clongdouble)}, 5, ["A.npz(data.npy): values of type 'c32'",
                                                                     "astype(numpy.complex128)"]),
                ({"format": np.array(b"bsr"), "data": np.asfortranarray(np.ones((3, 3, 2), np.clongdouble))}, 5,
                 ["A.npz(data.npy): an array of type 'c32' in Fortran's order", "astype(numpy.complex128)"]),
                ({"data": np.array([1, 2, 3], np.float16)}, 5, ["values of type 'f2'", "astype(numpy.float64)"]),
                ({"data": np.array([1, 2**53 + 1, 3])}, 3, ["f64 cannot hold the value 9007199254740993 of entry 1",
                                                            "round the values, with astype(numpy.float64)"]),
                ({"data": np.array([1.0, 2.0])}, 3, ["A.npz(indices.npy): 3 elements, expected 2"]),
                ({"data": np.array([[1.0, 2.0, 3.0]])}, 3, ["A.npz(data.npy): shape (1, 3)"]),
                ({"indptr": np.array([0, 2, 3])}, 3, ["A.npz(indptr.npy): 3 elements, expected 4"]),
                ({"indptr": np.array([1, 2, 2, 3])}, 3, ["it goes from 1 to 3, expected from 0 to at most 3"]),
                ({"indptr": np.array([0, 2, 2, 4])}, 3, ["it goes from 0 to 4"]),
                ({"indptr": np.array([0, 3, 2, 3])}, 3, ["element 2 is 2, after 3"]),
                ({"indptr": np.array([0, -1, 2, 3])}, 3, ["A.npz(indptr.npy): element 1 is -1, after 0"]),
                ({"indptr": np.array([0, 2, 2, -1])}, 3, ["it goes from 0 to -1"]),
                ({"indptr": np.array([0, 3, 2, 2])}, 3, ["element 1 is 3, after 0, where the last is 2"]),
                ({"indices": np.array([0, 4, 1])}, 3, ["A.npz: entry 1 is in column 4 of 4", "check_format()"]),
                ({"indices": np.array([0, -1, 1])}, 3, ["entry 1 is in column -1 of 4"]),
                ({"indices": np.array([0.0, 2, 1])}, 3, ["A.npz(indices.npy): type 'f8', expected integers"]),
                ({"indices": np.array([True, True, True])}, 3, ["type 'b1', expected integers"]),
                ({"shape": np.array([3, 4, 5])}, 5, ["A.npz: a sparse array of 3 dimensions", "A.reshape(A.shape[0], -1)"]),
                ({"shape": np.array([4])}, 5, ["A.npz: a sparse array of one dimension, of shape (4,)",
                                               "A.reshape(1, -1)"]),
                ({"shape": np.array([], int)}, 3, ["A.npz(shape.npy): 0 dimensions"]),
                ({"shape": np.ones(100000, int)}, 3, ["A.npz(shape.npy): 100000 dimensions"]),
                ({"shape": np.array(3)}, 3, ["A.npz(shape.npy): shape (), expected a list"]),
                ({"shape": np.array([2**40, 4]), "format": np.array(b"csc")}, 5, ["must stay below"]),
                ({"shape": np.array([2**40, 4]), "format": np.array(b"coo"), "row": np.arange(3),
                  "col": np.arange(3)}, 5, ["must stay below"]),
                ({"shape": np.array([3, 4]), "format": np.array(b"coo"), "row": np.arange(3),
                  "col": np.arange(2)}, 3, ["A.npz(col.npy): 2 elements, expected 3"]),
                ({"format": np.array(b"bsr"), "data": np.ones((3, 2, 2))}, 3, ["blocks of 2 x 2 for 3 x 4"]),
                ({"format": np.array(b"bsr"), "data": np.ones((3, 0, 2))}, 3, ["blocks of 0 x 2"]),
                ({"format": np.array(b"bsr"), "data": np.ones((3, 1, 2))}, 3, ["block 1 is in block column 2 of 2"])):
            with self.subTest(texts):
                self.arrays(**changes)
                self.refused(expect, *texts)

    @needs_command
    def test_sizes_that_cannot_be(self):
        """Each is checked before anything is added to it or multiplied by it."""
        nothing = np.array([], np.int32)
        for form, data in (("csr", np.ones(0)), ("csc", np.ones(0)), ("coo", np.ones(0)), ("bsr", np.ones((0, 1, 1))),
                           ("dia", np.ones((0, 3)))):
            for shape, expect, text in (([-1, 3], 3, "A.npz(shape.npy): the size -1"),
                                        ([3, -2**63], 3, "A.npz(shape.npy): the size -9223372036854775808"),
                                        (np.array([2**64 - 1, 2**32 - 1], np.uint64), 5, "must stay below")):
                with self.subTest(form=form, shape=shape):
                    self.arrays(format=form, shape=shape, data=data, indptr=nothing, indices=nothing, row=nothing,
                                col=nothing, offsets=nothing)
                    self.refused(expect, text)
        self.arrays(format="bsr", data=np.ones((0, 2**32, 4)), indices=nothing, shape=[0, 0])
        self.refused(3, "blocks of 4294967296 x 4 for 0 x 0")

    @needs_command
    def test_files_that_are_not_what_they_seem(self):
        def member(content):
            with zipfile.ZipFile(self.path, "w") as file:
                file.writestr("data.npy", content)

        for content, expect, text in ((b"", 3, "ends 8 bytes too early"), (b"\x93NUMPX\x01\x00", 3, "not an array"),
                                      (b"\x93NUMPY\x07\x00", 5, "version 7"),
                                      (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", 3, "a header of 4294967295 bytes"),
                                      (b"\x93NUMPY\x01\x00\x05\x00{'a'}", 3, "not a header of an array")):
            member(content)
            self.refused(expect, "A.npz(data.npy)", text)

        def header(text, data=b""):
            return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data

        for text, expect, message in (
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", 3, "not a header"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,)}", 7, "A.npz(data.npy)"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 5, "64 bits"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", 3, "ends 16 bytes too early"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)} x", 3, "not a header"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 3, "not a header"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), 'shape': (1,)}", 3, "not a header"),
                ("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", 3, "not a header"),
                ("{'descr': '<f8', 'shape': (0,)}", 3, "not a header"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (%s)}" % ("1," * 65), 3, "more than 64 dimensions"),
                ("{'descr': '<f%s8', 'fortran_order': False, 'shape': (0,)}" % ("0" * 30), 5, "an array of type '<f000"),
                ("{'descr': '<f0', 'fortran_order': False, 'shape': (4294967296,)}", 5, "type 'f0'"),
                ("{'descr': '<f16', 'fortran_order': True, 'shape': (0, 2)}", 3, "no array 'format'"),
                ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", 5, "structures"),
                ("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 5, "type 'O'"),
                ("{'descr': '', 'fortran_order': False, 'shape': (1,)}", 3, "not a header"),
                ("{'fortran_order': False, 'shape': (1,)}", 3, "not a header")):
            with self.subTest(text):
                member(header(text))
                self.refused(expect, message)
        member(header("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", bytes(9)))
        self.refused(3, "more bytes than its header says")
        with zipfile.ZipFile(self.path, "w") as file:
            for _ in range(2):
                stream = io.BytesIO()
                np.save(stream, np.ones(3))
                with self.assertWarns(UserWarning) if _ else self.subTest():
                    file.writestr("data.npy", stream.getvalue())
        self.refused(3, "the name is given to two arrays")

    @needs_command
    def test_members_are_stored_or_deflated(self):
        arrays = io.BytesIO()
        sparse.save_npz(arrays, sample(), compressed=False)
        for method, name in ((zipfile.ZIP_BZIP2, "bzip"), (zipfile.ZIP_LZMA, "lzma"), (zipfile.ZIP_DEFLATED, None)):
            with zipfile.ZipFile(arrays) as stored, zipfile.ZipFile(self.path, "w", method) as file:
                for member in stored.namelist():
                    file.writestr(member, stored.read(member))
                first = stored.namelist()[0]
            if name is None:
                self.check(sample())
            else:
                self.refused(5, f"A.npz({first}): the member is neither stored nor deflated", f"({name}", "save_npz()")
        content = bytearray(arrays.getvalue())
        content[6] |= 1  # of the first member's flags
        self.path.write_bytes(content)
        self.refused(5, f"A.npz({first}): the member is encrypted")

    @needs_command
    def test_damage_is_noticed_or_harmless(self):
        """Whatever byte is wrong: the same matrix, or an error; never a crash, never another matrix."""
        rng = random.Random(1)
        output = self.directory / "x.spmvc"
        for compressed in (False, True):
            self.arrays()
            if compressed:
                sparse.save_npz(self.path, sparse.load_npz(self.path))
            right = self.path.read_bytes()
            spmvpack("encode", self.path, "-o", output, "-f", "-q")
            expected = output.read_bytes()
            with zipfile.ZipFile(self.path) as file:
                data = file.getinfo("data.npy").header_offset + 150  # some bytes of values
            cuts = [right[:n] for n in range(0, len(right), 97)]
            flips = []
            for i in range(60):
                wrong = bytearray(right)
                wrong[data + i if i < 8 else rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
                flips.append(bytes(wrong))
            for content in cuts + flips:
                self.path.write_bytes(content)
                done = subprocess.run([test_support.command, "encode", self.path, "-o", output, "-f", "-q"],
                                      capture_output=True, check=False)
                self.assertIn(done.returncode, (0, 3, 5, 7), done.stderr)
                if done.returncode == 0:
                    self.assertEqual(output.read_bytes(), expected)


if __name__ == "__main__":
    test_support.main()
