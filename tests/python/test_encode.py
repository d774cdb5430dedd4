"""From whatever holds a matrix to a container and back, without a bit lost; and what is refused."""

import os
import pickle
import re
import time
import warnings

import numpy as np
import pytest
from scipy import sparse

import spmvpack as sp
from spmvpack import _native
from support import nasty_matrices, needs_command, random_csr, same_bits, spmvpack

MATRICES = dict(nasty_matrices())


def assert_equal(a, b):
    assert a.shape == b.shape
    for name in ("indptr", "indices"):
        assert np.array_equal(getattr(a, name), getattr(b, name))
    assert same_bits(a.data, b.data)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("layout", ["auto", "csr", "ccoo", "csell", "hyb"])
@pytest.mark.parametrize("codec", ["none", "zstd:1"])
def test_every_bit_comes_back(name, layout, codec, tmp_path):
    a = MATRICES[name]
    m = sp.encode(a, layout, codec=codec, force_size=True)
    assert (m.shape, m.nnz, m.dtype) == (a.shape, a.nnz, a.dtype)
    assert_equal(m.to_scipy(), a)
    m.save(tmp_path / "a.spmvc")
    again = sp.load(tmp_path / "a.spmvc")
    assert_equal(again.to_scipy(), a)
    assert (again.digest, again.parts, again.device_bytes) == (m.digest, m.parts, m.device_bytes)
    assert again.tobytes() == m.tobytes() == (tmp_path / "a.spmvc").read_bytes()


def with_int64(a):
    wide = sparse.csr_array(a)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return wide


@pytest.mark.parametrize("name", MATRICES)
def test_every_form_is_the_same_matrix(name):
    a = MATRICES[name]
    digest = sp.encode(a).digest
    forms = [sparse.csr_matrix(a), with_int64(a), a.tocsc(), a.tocoo()]
    if a.shape[0]:
        forms.append(a.tobsr((1, 1)))
    for form in forms:
        assert sp.encode(form).digest == digest, form.format
    backwards = a.tocoo()
    order = np.arange(a.nnz)[::-1]
    backwards = sparse.coo_array((backwards.data[order], (backwards.row[order], backwards.col[order])), shape=a.shape)
    assert sp.encode(backwards).digest == digest


def test_unsorted_and_repeated_columns_are_sorted_and_added_up_in_their_order():
    a = sparse.csr_array((np.array([1e16, 5.0, 1.0, -1e16]), np.array([2, 0, 2, 2]), np.array([0, 4, 4])), shape=(2, 3))
    before = [part.copy() for part in (a.data, a.indices, a.indptr)]
    m = sp.encode(a)
    assert m.nnz == 2
    assert m.to_scipy().toarray().tolist() == [[5.0, 0.0, (1e16 + 1.0) - 1e16], [0.0, 0.0, 0.0]]
    assert m.provenance["duplicates"] == 2
    assert all(same_bits(x, y) for x, y in zip(before, (a.data, a.indices, a.indptr)))


def test_integers_and_booleans_are_float64():
    a = sparse.csr_array(np.array([[1, 0], [0, 2**53]]))
    assert sp.encode(a).to_scipy().toarray().tolist() == [[1.0, 0.0], [0.0, 2.0**53]]
    assert sp.encode(a > 0).to_scipy().toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    for exact in (np.array([2**53 + 2, -2**62 - 2**20, -2**63]), np.array([2**63, 2**64 - 2**11], np.uint64)):
        assert sp.encode(sparse.csr_array(exact[None, :])).to_scipy().data.tolist() == [float(int(v)) for v in exact]
    for wrong, dtype in ((2**53 + 1, np.int64), (2**63 - 1, np.int64), (-2**63 + 1, np.int64), (2**64 - 1, np.uint64)):
        with pytest.raises(ValueError, match=f"the value {wrong} of entry 1"):
            sp.encode(sparse.csr_array(np.array([[2**60, 0], [0, wrong]], dtype)))


def with_room(a, values=(50.0, 60.0)):
    """The matrix with room behind its entries, which holds anything, as SciPy's own functions and other libraries leave it."""
    a.data = np.append(a.data, np.resize(values, (2, *a.data.shape[1:])), axis=0)
    a.indices = np.append(a.indices, np.array([0, 1], a.indices.dtype))
    return a


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_room_behind_the_entries_is_not_read(kind, index):
    a = random_csr(8, 6, 4, 3)
    form = getattr(a, f"to{kind}")((2, 3)) if kind == "bsr" else getattr(a, f"to{kind}")()
    form.indptr, form.indices = form.indptr.astype(index), form.indices.astype(index)
    expected = sp.encode(form)
    assert np.array_equal(expected.to_scipy().toarray(), a.toarray())
    roomy = with_room(form.copy())
    for _ in range(5):
        junk = [np.full(n, 1, index) for n in range(60)]
        del junk  # what is not initialised has these values
        assert sp.encode(roomy).digest == expected.digest and sp.report(roomy).to_dict()["matrix"]["nonzeros"] == expected.nnz
    for value in (np.nan, 2.0**70):
        assert sp.encode(with_room(form.copy(), (value, value))).digest == expected.digest
    # The last row or column given up: its entries are room, too.
    fewer = form.copy()
    fewer.indptr[-1] = fewer.indptr[-2]
    x = np.arange(6.0)
    assert np.allclose(sp.encode(fewer) @ x, fewer @ x) and sp.encode(fewer).nnz < expected.nnz


@pytest.mark.parametrize("kind, change, text", [
    ("csc", lambda a: a.indptr.__setitem__(5, 0), r"indptr\[5\] is 0, after \d+: it must not fall"),
    ("csc", lambda a: a.indptr.__setitem__(0, 1), "indptr begins with 1, expected 0"),
    ("csc", lambda a: a.indptr.__setitem__(-1, -1), "indptr ends with -1, and there are"),
    ("csr", lambda a: a.indptr.__setitem__(-1, 2**30), "indptr ends with 1073741824, and there are"),
    ("csc", lambda a: setattr(a, "indptr", a.indptr[:-1]), r"indptr has shape \(9,\), expected \(10,\)"),
    ("csr", lambda a: setattr(a, "indptr", a.indptr[:-1]), r"indptr has shape \(12,\), expected \(13,\)"),
    ("csr", lambda a: setattr(a, "data", a.data[:-1]), "indptr ends with .* indices and .* values"),
    ("bsr", lambda a: setattr(a, "indices", a.indices[:-1]), "indptr ends with .* indices and .* values"),
    ("csc", lambda a: a.indices.__setitem__(0, 12), "row 12 of 12, counted from 0"),
    ("csc", lambda a: a.indices.__setitem__(0, -1), "row -1.* of 12"),
    ("bsr", lambda a: a.indices.__setitem__(1, 3), r"indices\[1\] is 3, expected a column of 3 blocks"),
    ("bsr", lambda a: a.indices.__setitem__(1, -1), r"indices\[1\] is -1"),
    ("bsr", lambda a: a.indptr.__setitem__(2, 0), r"indptr\[2\] is 0"),
    ("bsr", lambda a: setattr(a, "data", a.data.reshape(-1, 1, 6)), "expected blocks that divide|indptr has shape"),
    ("coo", lambda a: setattr(a, "data", a.data[:-1]), "row, col and data have shapes"),
    ("coo", lambda a: a.row.__setitem__(0, 12), "row 12 of 12, counted from 0"),
    ("lil", lambda a: a.rows[3].append(8), "more columns than values"),
])
def test_arrays_of_every_form_are_checked(kind, change, text):
    a = random_csr(12, 9, 5, 3)
    a = getattr(a, f"to{kind}")((2, 3)) if kind == "bsr" else getattr(a, f"to{kind}")()
    change(a)
    with pytest.raises(sp.Error, match=text) as caught:
        sp.encode(a)
    assert caught.value.code == "bad_input"


class Foreign:
    """A matrix of another library, which claims entries that its conversion does not have."""

    format, nnz = "own", 4

    def __init__(self, shape=(2, 2)):
        self.shape = (2, 2)
        self.converted = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [0, 1, 1])), shape=shape)

    def tocoo(self):
        return self.converted


@pytest.mark.parametrize("a, error, text", [
    (Foreign(), sp.Error, "a matrix of 4 entries, of which its library makes 3"),
    (Foreign((3, 2)), sp.Error, r"a matrix of shape \(2, 2\) that its library converts to \(3, 2\)"),
    (type("Gcxs", (Foreign,), {"tocoo": lambda self: self})(), TypeError, "none of SciPy's: convert it"),
    (sparse.csr_array((np.ones(1), np.array([0.5]), np.array([0, 1])), shape=(1, 1)), TypeError, None),
])
def test_what_another_library_says_is_checked(a, error, text):
    if text is None:
        a.indices, text = np.array([0.5]), "indices is float64, expected integers"
    with pytest.raises(error, match=text):
        sp.encode(a)


def pydata(kind, fill_value=0.0, shape=(2, 2)):
    """An array as pydata/sparse has it."""
    own = sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
    members = {"shape": shape, "nnz": 3, "fill_value": fill_value, "to_scipy_sparse": lambda self: own, "format": kind}
    return type(kind.upper(), (), {"__module__": "sparse.numba_backend", **members})()


def test_arrays_of_pydata():
    assert sp.encode(pydata("gcxs")).to_scipy().toarray().tolist() == [[1.0, 0.0], [2.0, 3.0]]
    for fill in (1.0, np.nan):
        with pytest.raises(ValueError, match=f"fill value {fill}: .* encode A - A.fill_value"):
            sp.encode(pydata("coo", fill))
    with pytest.raises(ValueError, match="expected two dimensions"):
        sp.encode(pydata("coo", shape=(4,)))
    with pytest.raises(sp.Error, match="its library converts to"):
        sp.encode(pydata("coo", shape=(3, 2)))
    real = pytest.importorskip("sparse")
    dense = random_csr(9, 7, 4, 3).toarray()
    for form in (real.COO, real.GCXS, real.DOK):
        assert np.array_equal(sp.encode(form.from_numpy(dense)).to_scipy().toarray(), dense)
    with pytest.raises(ValueError, match="fill value 2.0"):
        sp.encode(real.GCXS.from_numpy(dense) + 2.0)


@needs_command
@pytest.mark.parametrize("options", [[], ["--layout", "ccoo", "--set", "ccoo.k=2"], ["--codec", "zstd:5"],
                                     ["--value-type", "f32"], ["--target", "host"], ["--optimize", "bytes"]])
def test_a_file_has_the_bytes_of_the_command_line(options, tmp_path):
    source, container = tmp_path / "A.mtx", tmp_path / "A.spmvc"
    spmvpack("generate", "laplace2d", "--grid", "40x30", "-o", source)
    spmvpack("encode", source, "-o", container, *options)
    arguments = dict(zip(options[::2], options[1::2]))
    m = sp.encode(source, arguments.get("--layout", "auto"), settings={"ccoo.k": 2} if "--set" in arguments else None,
                  codec=arguments.get("--codec", "none"), target=arguments.get("--target", "gpu"),
                  optimize=arguments.get("--optimize", "time"),
                  dtype=np.float32 if "--value-type" in arguments else None)
    assert m.tobytes() == container.read_bytes()
    assert sp.encode(sp.load(container).to_scipy(), "csr").digest == m.digest
    report = sp.report(source, dtype=np.float32 if "--value-type" in arguments else None,
                       target=arguments.get("--target", "gpu"), optimize=arguments.get("--optimize", "time"))
    told = [] if {"--layout", "--codec"} & arguments.keys() else options
    assert str(report) == spmvpack("report", source, "-q", *told)


def test_values_that_can_be_replaced_have_places_of_their_own():
    a = sparse.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(500, 500), format="csr")
    plain, m = (sp.encode(a, "csell", updatable=updatable, target="gpu") for updatable in (False, True))
    assert plain.device_bytes < 8 * a.nnz < m.device_bytes and plain.digest == m.digest
    assert plain.has_transpose and not m.has_transpose and sp.encode(a, updatable=True, transpose=True).has_transpose
    report = sp.report(a, updatable=True, target="gpu").to_dict()
    assert report["not_updatable"]["device_bytes"] == sp.encode(a, target="gpu").device_bytes
    assert all(layout["updatable"] for layout in report["layouts"])


def test_reports_of_encoded_matrices():
    a = MATRICES["few values"]
    expected, found = (sp.report(m, target="gpu", threads=1).to_dict() for m in (a, sp.encode(a, "csell", transpose=True)))
    assert found["layouts"] == expected["layouts"] and found["recommended"] == expected["recommended"]


def test_pickles_and_bytes():
    m = sp.encode(MATRICES["few values"])
    assert pickle.loads(pickle.dumps(m)).digest == m.digest
    assert sp.load(memoryview(m.tobytes())).digest == m.digest
    error = pickle.loads(pickle.dumps(sp.Error("what", "io", "there", "do this")))
    assert (str(error), error.code, error.where, error.hint) == ("there: what; do this", "io", "there", "do this")


def test_what_is_wrong_with_a_file_that_can_be_read_is_a_warning(tmp_path):
    path = tmp_path / "A.rua"
    sizes = f"{'RUA':14}" + "".join(f"{n:14}" for n in (2, 1, 2, 0))
    counts = "".join(f"{n:14}" for n in (3, 1, 1, 1, 0))
    path.write_text(f"title\n{counts}\n{sizes}\n{'(2I4)':16}{'(2I4)':16}(2E9.2)\n   1   3\n   1   2\n1.5 -2.5\n")
    for call in (sp.report, sp.encode):
        with pytest.warns(UserWarning, match=r"A\.rua:7:1: the values are in other columns than") as caught:
            made = call(path)
        assert [w.filename for w in caught] == [__file__]
    assert made.to_scipy().toarray().tolist() == [[1.5], [-2.5]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="other columns"):
            sp.encode(path)


def test_errors_have_a_code_a_place_and_a_hint(tmp_path):
    bad = tmp_path / "bad.mtx"
    bad.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    with pytest.raises(sp.Error) as caught:
        sp.encode(bad)
    assert caught.value.code == "bad_input"
    assert caught.value.where == f"{bad}:3:1"
    with pytest.raises(sp.Error) as caught:
        sp.load(bad)
    assert (caught.value.code, caught.value.where) == ("bad_input", str(bad))
    assert caught.value.hint == f"make one with `spmvpack encode {bad}`"

    m = sp.encode(MATRICES["a grid"])
    m.save(tmp_path / "a.spmvc")
    with pytest.raises(sp.Error) as caught:
        m.save(tmp_path / "a.spmvc")
    assert caught.value.code == "exists"
    m.save(tmp_path / "a.spmvc", overwrite=True)
    broken = bytearray(m.tobytes())
    broken[4096] ^= 1
    with pytest.raises(sp.Error, match="the checksum is wrong") as caught:
        sp.load(broken)
    assert caught.value.code == "corrupt"


@pytest.mark.parametrize("call, error, text", [
    (lambda a: sp.encode(a, "ccooo"), sp.Error, "the layout 'ccooo' is not known"),
    (lambda a: sp.encode(a, "ccoo", settings={"ccoo.q": 4}), sp.Error, "ccoo.q"),
    (lambda a: sp.encode(a, codec="gzip"), ValueError, "codec is 'gzip'"),
    (lambda a: sp.encode(a, target="cpu"), ValueError, "target is 'cpu', expected one of 'gpu', 'host', 'h200', 'h100', or"),
    (lambda a: sp.encode(a, tune="gpu"), ValueError, "tune is 'gpu', expected 'host', 'cuda' or 'cuda:N'"),
    (lambda a: sp.encode(a, tune="host", target="gpu"), ValueError, "tune is 'host', target is 'gpu': tuning on host is for another kind"),
    (lambda a: sp.encode(a, tune="cuda", target="host"), ValueError, "tuning on gpu is for another kind of machine than target host"),
    (lambda a: sp.encode(a, tune="host", target="h100"), ValueError, "than target h100; leave out the target, which tuning implies"),
    (lambda a: sp.encode(a, tune="cuda:x"), ValueError, "device 'cuda:x'"),
    (lambda a: sp.encode(a, tune=True), TypeError, "a device True"),
    (lambda a: sp.encode(a, "csr", tune="host"), sp.Error, "tuning chooses among layouts, and csr is one"),
    (lambda a: sp.encode(a, tune="host", optimize="bytes"), sp.Error, "not for the fewest bytes"),
    (lambda a: sp.report(a, optimize="size"), ValueError, "optimize is 'size', expected 'time' or 'bytes'"),
    (lambda a: sp.encode(a, codec="zstd:20"), ValueError, "a level from 1 to 19"),
    (lambda a: sp.encode(a, dtype=np.float32), TypeError, "dtype is for files"),
    (lambda a: sp.encode("x.mtx", dtype=np.int32), TypeError, "not as int32"),
    (lambda a: sp.encode("/nowhere.mtx"), sp.Error, "No such file"),
    (lambda a: sp.encode(a.toarray()), TypeError, "type ndarray: give a sparse matrix"),
    (lambda a: sp.encode(None), TypeError, "type NoneType"),
    (lambda a: sp.encode(a.astype(np.longdouble)), TypeError, "values of type float128"),
    (lambda a: sp.load(5), TypeError, "type int: give a path or bytes"),
    (lambda a: sp.load(b"spam"), sp.Error, "not a container"),
    (lambda a: sp.report(a, settings={"nus": 1}), sp.Error, "nus"),
    (lambda a: sp.encode(sp.encode(a)), TypeError, r"encoded already: for another layout pass M\.tocsr\(\)"),
    (lambda a: sp.encode(a, 5), TypeError, "layout is 5, expected a string"),
    (lambda a: sp.encode(a, codec=9), TypeError, "codec is 9, expected a string"),
    (lambda a: sp.encode(a, optimize=9), ValueError, "optimize is 9, expected 'time' or 'bytes'"),
    (lambda a: sp.encode(a, target=9), TypeError, "target is 9, expected a path"),
    (lambda a: sp.encode(a, settings=[4]), TypeError, r"settings is \[4\], expected a dict such as \{'ccoo.k': 4\}"),
    (lambda a: sp.encode(a, settings={4: 4}), TypeError, "the name of a setting is 4, expected a string"),
    (lambda a: sp.encode(a, transpose=1), TypeError, "transpose is 1, expected True or False"),
    (lambda a: sp.encode(a, updatable=1), TypeError, "updatable is 1, expected True or False"),
    (lambda a: sp.encode(a, settings={"csell.values": "table"}, updatable=True), sp.Error, "use csell.values=auto"),
    (lambda a: sp.encode(a, force_size="no"), TypeError, "force_size is 'no', expected True or False"),
    (lambda a: sp.encode("x.mtx", dtype="f16x"), TypeError, "dtype is 'f16x', expected numpy.float64 or numpy.float32"),
    (lambda a: sp.encode(a, tune="cuda:4294967296"), ValueError, "device 4294967296: there are not so many"),
    (lambda a: sp.report(a, transpose=1), TypeError, "transpose is 1, expected True or False"),
    (lambda a: sp.report(a, name=5), TypeError, "name is 5, expected a string"),
    (lambda a: sp.report(a, settings=5), TypeError, "settings is 5, expected a dict"),
    (lambda a: sp.load("x", check_contents=1), TypeError, "check_contents is 1, expected True or False"),
    (lambda a: sp.load("x", "cuda", cache_share="all"), TypeError, "cache_share is 'all', expected a real number"),
    (lambda a: sp.encode(a).save(5), TypeError, "path is 5, expected a path"),
    (lambda a: sp.encode(a).save("x", overwrite=1), TypeError, "overwrite is 1, expected True or False"),
    (lambda a: sp.encode("a\0b.mtx"), ValueError, "null byte"),
])
def test_what_is_wrong_is_said(call, error, text):
    with pytest.raises(error, match=text):
        call(MATRICES["a grid"])


@pytest.mark.parametrize("change, text", [
    (lambda a: a.indices.__setitem__(0, 2**20), "(column|index) 1048576 of .* 900"),
    (lambda a: a.indices.__setitem__(0, -1), r"(column 4294967295 of|column -1 \(4294967295 if unsigned\) of|index -1 of) .* 900"),
    (lambda a: a.indptr.__setitem__(0, 1), r"row_ptr\[0\] is 1"),
    (lambda a: a.indptr.__setitem__(5, 0), "not increasing"),
])
def test_arrays_that_are_no_matrix_are_refused(change, text):
    for a in (MATRICES["a grid"].copy(), with_int64(MATRICES["a grid"])):
        change(a)
        with pytest.raises(sp.Error, match=text) as caught:
            sp.encode(a)
        assert caught.value.code == "bad_input"


@pytest.mark.parametrize("name, wrong, error", [
    ("threads", -1, ValueError), ("threads", 2**31, ValueError), ("threads", "2", TypeError), ("threads", 1.5, TypeError),
    ("threads", np.float64(2), TypeError), ("threads", True, TypeError), ("threads", None, TypeError),
    ("memory_limit", -1, ValueError), ("memory_limit", 2**64, ValueError), ("memory_limit", "8G", TypeError),
    ("memory_limit", "800", TypeError), ("memory_limit", 1e9, TypeError), ("memory_limit", False, TypeError)])
def test_counts_of_threads_and_bytes(name, wrong, error, tmp_path):
    m = sp.encode(MATRICES["a grid"])
    m.save(tmp_path / "a.spmvc")
    x = np.ones(m.shape[1])
    calls = [lambda **words: sp.encode(m.to_scipy(), **words), lambda **words: sp.report(m.to_scipy(), **words),
             lambda **words: sp.load(tmp_path / "a.spmvc", **words), lambda **words: m.to_scipy(**words)]
    if name == "threads":
        calls += [lambda **words: m.matvec(x, **words), lambda **words: m.rmatvec(x, **words),
                  lambda **words: m.multiply(x, np.empty_like(x), **words), lambda **words: m.linear_operator(**words)]
    expected = "how many, or 0 for all" if name == "threads" else "how many bytes, or 0 for what is free"
    for call in calls:
        with pytest.raises(error, match=f"^{name} is {re.escape(repr(wrong))}, expected {expected}$"):
            call(**{name: wrong})
        call(**{name: np.int64(0)})


def test_paths_that_are_no_text(tmp_path, monkeypatch):
    """Names of files are bytes."""
    monkeypatch.chdir(tmp_path)  # a report cuts long paths short
    m = sp.encode(MATRICES["a grid"])
    path = b"a\xff.spmvc"
    m.save(os.fsdecode(path))
    assert sp.load(os.fsdecode(path)).digest == sp.encode(os.fsdecode(path)).digest == m.digest
    assert str(sp.report(os.fsdecode(path))).splitlines()[0].endswith(".spmvc")
    with pytest.raises(sp.Error, match="already exists") as caught:
        m.save(os.fsdecode(path))
    assert os.fsencode(caught.value.where) == path
    m.save(path, overwrite=True)


def test_the_target_is_the_machine_at_hand(monkeypatch):
    a = MATRICES["a grid"]
    for gpu, target, other in ((True, "gpu", "host"), (False, "host", "gpu")):
        monkeypatch.setattr(_native, "has_usable_gpu", lambda gpu=gpu: gpu)
        m = sp.encode(a)
        assert m.provenance["target"] == target and f", {m.layout} for {target}, " in repr(m)
        assert m.tobytes() == sp.encode(a, target=target).tobytes()
        assert sp.encode(a, target=other).provenance["target"] == other
        assert sp.report(a).to_dict()["time_model"]["target"] == target
        assert sp.report(a, target=other).to_dict()["time_model"]["target"] == other
        assert f" for {target}, " in repr(sp.load(m.tobytes()))
        plain = sp.encode(a, "csr")
        assert plain.provenance["target"] is None and ", csr, " in repr(plain)
        assert sp.encode(a, optimize="bytes").provenance["target"] is None


def test_whether_there_is_a_gpu_is_found_once_and_in_no_time():
    assert _native.has_usable_gpu() in (True, False)
    begin = time.perf_counter()
    for _ in range(100):
        _native.has_usable_gpu()
    assert time.perf_counter() - begin < 0.1


def test_a_layout_is_chosen_by_measured_times():
    a = MATRICES["a grid"]
    plain, tuned = sp.encode(a, target="host"), sp.encode(a, tune="host")
    assert plain.provenance["measured"] == [] and plain.provenance["measured_on"] == ""
    assert plain.tobytes() == sp.encode(a, target="host").tobytes()
    assert tuned.digest == plain.digest and tuned.provenance["measured_on"]
    assert tuned.provenance["options"].startswith("--layout auto --target host --tune host ")
    measured = tuned.provenance["measured"]
    assert 1 <= len(measured) <= 8 and all(m["seconds"] >= 0 and m["predicted_seconds"] > 0 for m in measured)
    assert sp.encode(a, measured[0]["layout"], target="host").parts == tuned.parts
    assert (tuned @ np.ones(a.shape[1])).shape == (a.shape[0],)


@pytest.mark.parametrize("tune", ["cuda", "cuda:0", 0])
def test_tuning_on_a_gpu_needs_one(tune):
    a = MATRICES["a grid"]
    try:
        sp.encode(a).to("cuda")
    except sp.Error as without:
        with pytest.raises(sp.Error) as caught:
            sp.encode(a, tune=tune)
        assert caught.value.code == without.code
    else:
        assert 1 <= len(sp.encode(a, tune=tune).provenance["measured"]) <= 8


def test_a_memory_limit_holds(tmp_path):
    a = random_csr(2000, 2000, 20, 5)
    sparse.save_npz(tmp_path / "a.npz", a)
    m = sp.encode(a)
    m.save(tmp_path / "a.spmvc")
    least, enough = 100_000, 100_000_000
    for call in (lambda limit: sp.encode(a, memory_limit=limit),
                 lambda limit: sp.encode(a.tocoo(), memory_limit=limit),
                 lambda limit: sp.encode(tmp_path / "a.npz", memory_limit=limit),
                 lambda limit: sp.report(tmp_path / "a.npz", memory_limit=limit),
                 lambda limit: sp.load(tmp_path / "a.spmvc", memory_limit=limit),
                 lambda limit: m.to_scipy(memory_limit=limit)):
        call(enough)
        with pytest.raises(sp.Error) as caught:
            call(least)
        assert caught.value.code == "out_of_memory"
    with pytest.raises(sp.Error, match="sorting 2000 columns"):
        sp.encode(a, layout="nus_sell", memory_limit=8192)


def test_a_report_is_text_json_and_html(tmp_path):
    a = random_csr(100, 80, 6, 1, distinct=3)
    report = sp.report(a, name="<A>")
    assert str(report).startswith("<A>\n100 x 80, ")
    facts = report.to_dict()
    assert facts["matrix"]["nonzeros"] == a.nnz
    assert report.recommended == sp.encode(a).layout
    for layout in ("csr", "ccoo"):
        assert report.device_bytes[layout] == sp.encode(a, layout).device_bytes
        # A loop over layouts may pass an aim, which these do not depend on.
        assert sp.encode(a, layout, target="host", optimize="bytes").tobytes() == sp.encode(a, layout).tobytes()
    assert "&lt;A&gt;" in report._repr_html_() and "<A>" not in report._repr_html_()
    assert f"<b>{report.recommended}</b>" in report._repr_html_()
    report.save(tmp_path / "A.html")
    page = (tmp_path / "A.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and report._repr_html_() in page and "<script" not in page
    assert len(report.details) > len(report.text)
    assert "<p>0 x 0" in sp.report(sparse.csr_array((0, 0)))._repr_html_()


def test_what_a_matrix_says_of_itself():
    m = sp.encode(MATRICES["few values"], "segmented_sell", settings={"segmented_sell.cols": 300})
    assert m.layout == "sell"
    assert [(part.layout, part.cols) for part in m.parts] == [("sell", 300)] * 3
    assert sum(part.nnz for part in m.parts) == m.nnz
    assert m.provenance["options"].startswith("--layout segmented_sell --set segmented_sell.cols=300 ")
    assert "700 x 900" in repr(m) and "sell" in repr(m)
    assert len(m.tobytes()) == m.file_bytes


def test_when_encoding_pays():
    a = sparse.csr_array(sparse.random(3000, 3000, 0.01, random_state=5))
    m = sp.encode(a)
    assert m.encoding.seconds > 0 and not m.encoding.measured
    saved = m.encoding.csr_seconds - m.encoding.multiply_seconds
    if m.parts[0].layout == "csr":
        assert m.encoding.pays_after is None
    else:
        assert (m.encoding.pays_after - 1) * saved < m.encoding.seconds <= (m.encoding.pays_after + 1) * saved
    report = sp.report(a)
    assert report.pays_after == report.to_dict()["recommended"]["pays_after_multiplies"]
    assert sp.encode(a, "ccoo").encoding.csr_seconds is None  # nothing was predicted
    tuned = sp.encode(a, tune="host").encoding
    assert tuned.measured and tuned.csr_seconds > 0
    assert sp.load(m.tobytes()).encoding is None


@needs_command
def test_target_of_a_file(tmp_path):
    path = tmp_path / "mine.json"
    spmvpack("calibrate", "--print", "host", "-o", path)
    a = sparse.csr_array(sparse.random(300, 300, 0.05, random_state=7))
    m, host = sp.encode(a, target=path), sp.encode(a, target="host")
    assert m.provenance["options"].startswith("--layout auto --target mine ") and m.parts == host.parts
    assert (m.provenance["target"], host.provenance["target"], sp.encode(a, target="gpu").provenance["target"]) == ("mine", "host", "gpu")
    assert sp.encode(a, "csr", target="host").provenance["target"] is None  # it makes no difference
    assert sp.encode(a, target=str(path)).tobytes() == m.tobytes()
    assert sp.report(a, target=path).to_dict()["time_model"]["profile"] == "mine"
    assert sp.encode(a, target=path, tune="host").provenance["measured"]
    with pytest.raises(ValueError, match="than target mine; leave out"):
        sp.encode(a, target=path, tune="cuda")
    text = path.read_text()
    path.write_text(text.replace('"csr.rows":', '"csr.miracles":'))
    with pytest.raises(sp.Error, match="mine.json: picoseconds: no price of csr.rows") as error:
        sp.encode(a, target=path)
    assert error.value.code == "bad_input" and error.value.hint
    with pytest.raises(sp.Error) as error:
        sp.encode(a, target=tmp_path / "none.json")
    assert error.value.code == "io"
