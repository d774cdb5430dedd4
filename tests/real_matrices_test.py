#!/usr/bin/python3
"""Real matrices through the whole command: what SciPy reads is what the container holds, and the product is right.

    SPMVPACK_TEST_MATRICES=DIR real_matrices_test.py --spmvpack PATH [TestClass.test]

DIR holds Matrix Market files: *.mtx, *.mtx.gz, *.mtx.zst.
"""

import gzip
import io
import os
import pathlib
import tempfile
import unittest

import test_support
from test_support import WHOLE, Entries, layouts_for, needs_command, spmvpack

import numpy as np
import scipy.io
import zstandard

import spmvc_reader

DIRECTORY = os.environ.get("SPMVPACK_TEST_MATRICES")
UNIT_ROUNDOFF = np.longdouble(2)**-53


def text_of(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".zst":
        return zstandard.ZstdDecompressor().stream_reader(data).read()
    return data


def by_scipy(text):
    matrix = scipy.io.mmread(io.BytesIO(text)).tocoo()
    return Entries(matrix.shape, matrix.row, matrix.col, matrix.data.astype("<f8"))


def by_second_reader(path):
    _, _, _, matrix = spmvc_reader.read_file(path)
    return Entries(matrix.shape, matrix.rows, matrix.columns, matrix.values)


def write_vector(path, x):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{len(x)} 1\n")
        file.writelines(f"{float(v)!r}\n" for v in x)


def read_vector(text):
    lines = text.split(b"\n", 1)
    assert lines[0] == b"%%MatrixMarket matrix array real general", lines[0]
    body = [line for line in lines[1].splitlines() if not line.startswith(b"%")]
    y = np.array([float(line) for line in body[1:]])
    assert body[0].split() == [str(len(y)).encode(), b"1"], body[0]
    return y


def first_wrong_sum(matrix, x, y):
    """|y_i - ref_i| <= (n_i + 4) u sum_j |a_ij x_j| for every row, against a reference in long double."""
    products = matrix.values.astype(np.longdouble) * x[matrix.columns]
    reference, magnitude = np.zeros(matrix.shape[0], np.longdouble), np.zeros(matrix.shape[0], np.longdouble)
    np.add.at(reference, matrix.rows, products)
    np.add.at(magnitude, matrix.rows, np.abs(products))
    length = np.bincount(matrix.rows, minlength=matrix.shape[0])
    wrong = ~(np.abs(y - reference) <= (length + 4) * UNIT_ROUNDOFF * magnitude)  # a NaN is wrong
    if not wrong.any():
        return None
    i = np.flatnonzero(wrong)[0]
    return f"{wrong.sum()} rows; row {i} of {length[i]} entries: {y[i]!r}, not {reference[i]!r}"


@unittest.skipIf(DIRECTORY is None, "SPMVPACK_TEST_MATRICES is not set")
class RealMatrices(unittest.TestCase):
    def check(self, path, text, directory, turn):
        source, container = directory / "A.spmvc", directory / "B.spmvc"
        spmvpack("encode", path, "-o", source, "-f")
        spmvpack("verify", source, "--against", path)
        expected = by_scipy(text)
        spmvpack("decode", source, "-o", directory / "B.mtx", "-f")
        decoded = by_scipy((directory / "B.mtx").read_bytes())
        self.assertIsNone(decoded.difference(expected), "SciPy on the decoded text against SciPy on the source")

        x = np.random.default_rng(len(expected.rows)).uniform(-1, 1, expected.shape[1])
        write_vector(directory / "x.mtx", x)
        # Two layouts by turns, so that over all matrices each layout meets several; all with SPMVPACK_TEST_WHOLE=1.
        layouts = layouts_for(source)
        for layout in layouts if WHOLE else {layouts[(2 * turn + i) % len(layouts)] for i in range(2)}:
            with self.subTest(path.name, layout=layout):
                spmvpack("encode", source, "-o", container, "-f", "--layout", layout, "--force-size")
                self.assertIsNone(by_second_reader(container).difference(expected), "the second reader against SciPy")
                y = read_vector(spmvpack("multiply", container, "--x", directory / "x.mtx"))
                self.assertIsNone(first_wrong_sum(expected, x, y))

    @needs_command
    def test_every_matrix(self):
        paths = sorted(p for p in pathlib.Path(DIRECTORY).iterdir() if p.name.endswith((".mtx", ".mtx.gz", ".mtx.zst")))
        self.assertTrue(paths, f"no matrices in {DIRECTORY}")
        with tempfile.TemporaryDirectory() as directory:
            for turn, path in enumerate(paths):
                with self.subTest(path.name):
                    text = text_of(path)
                    if b" complex " in text[:text.index(b"\n")]:
                        container = pathlib.Path(directory) / "C.spmvc"
                        spmvpack("encode", path, "-o", container)
                        spmvpack("verify", container, "--against", path)
                    else:
                        self.check(path, text, pathlib.Path(directory), turn)


if __name__ == "__main__":
    test_support.main()
