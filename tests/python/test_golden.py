"""Golden files of each layout and of each way to be refused, from a path and from bytes: loaded, and multiplied by A and
A^T in both types of vectors; or refused with the code that its text file names. tests/container/golden_test.cpp does the
same with all of them, on the host in C++ and C."""

import pathlib

import numpy as np
import pytest
from scipy import sparse

import spmvpack as sp

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "witnesses"
CODES = {3: "bad_input", 4: "corrupt", 5: "unsupported", 8: "too_large"}


def files(kind):
    paths = sorted((GOLDEN / kind).glob("*.spmvc"))
    assert len(paths) > 15
    return paths


def code_of(work):
    """The code of the error that work() raises, and what it returns."""
    try:
        return "", work()
    except sp.Error as error:
        return error.code, None


def products(m):
    """A @ x and A^T @ x in every type of vector, without looking at them; what there is not is refused."""
    for dtype in (np.float64, np.float32) if m.dtype.kind == "f" else (np.complex128, np.complex64):
        columns, rows = np.ones(m.shape[1], dtype), np.ones(m.shape[0], dtype)
        if np.dtype(dtype).itemsize < m.dtype.itemsize:
            with pytest.raises(TypeError):
                m @ columns
            continue
        yield m @ columns
        if m.has_transpose:
            yield rows @ m
        else:
            with pytest.raises(sp.Error, match="transpose"):
                m.rmatvec(rows)


def test_what_is_accepted_multiplies():
    with np.errstate(all="ignore"):
        for path in files("accept"):
            if max(sp.load(path).shape) > 1_000_000:
                continue
            found = [list(products(sp.load(source, check_contents=contents)))
                     for source in (path, path.read_bytes()) for contents in (False, True)]
            m = sp.load(path)
            a = m.to_scipy()
            for other in found[1:]:
                assert [y.tobytes() for y in other] == [y.tobytes() for y in found[0]], path.stem
            if not np.isfinite(a.data).all():
                continue
            a = a.astype(np.result_type(a.dtype, np.float64))
            for k, y in enumerate(found[0]):
                op = a if k % 2 == 0 or not m.has_transpose else a.T
                bound = abs(op) @ np.ones(op.shape[1]) * 1e-4
                assert np.all(np.abs(y - op @ np.ones(op.shape[1])) <= bound), path.stem


def test_shares():
    share = sp.load(GOLDEN / "accept" / "share_1.spmvc")
    assert share.shape == (1, 3)
    assert {k: v for k, v in share.share.items() if k != "global_digest"} == {
        "rank": 1, "ranks": 3, "global_shape": (5, 7), "global_nnz": 6, "first_row": 2, "first_column": 3, "own_columns": 2}
    assert len(share.share["global_digest"]) == 32
    assert sp.encode(sparse.csr_array(np.eye(2))).share is None


def test_what_is_rejected_is_rejected():
    found = {"": 0}
    for path in files("reject"):
        exit_code, stage = path.with_suffix(".txt").read_text().rstrip("\n").split(" ", 1)
        contents = (stage in ("digest", "field and symmetry") or "parts_share_" in path.stem
                    or stage == "structure" and path.stem.startswith("share_"))
        unread = path.stem == "block_bit_of_unknown_section"
        for source in (path, path.read_bytes()):
            code, m = code_of(lambda source=source: sp.load(source))
            assert code == ("" if contents or unread else CODES[int(exit_code)]), (path.stem, code)
            found[code] = found.get(code, 0) + 1
            if m is not None:  # nobody's matrix, but nothing outside its vectors is touched
                with np.errstate(all="ignore"):
                    list(products(m))
            checked, _ = code_of(lambda source=source: sp.load(source, check_contents=True))
            assert checked == ("" if unread else CODES[int(exit_code)]), (path.stem, checked)
    assert all(found[code] for code in ("", *CODES.values()))
