"""On a GPU: the bits of the host, in the caller's library, on the caller's stream. What needs no device comes first,
then what needs no library, then CuPy and PyTorch; what is missing is skipped."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as scipy_linalg

import spmvpack as sp
from spmvpack import _device, _native
from cuda_arrays import DeviceArray, Stream, free_memory, lent
from support import assert_product, in_threads, nasty_matrices, random_csr, same_bits

A = random_csr(3000, 2000, 9, 7)


def devices():
    try:
        return _native.device_count()
    except sp.Error:
        return 0


def test_without_a_gpu_it_is_said_what_is_missing(tmp_path):
    m = sp.encode(A)
    m.save(tmp_path / "a.spmvc")
    if devices():
        pytest.skip("there is a GPU")
    for call in (lambda: m.to("cuda"), lambda: sp.load(tmp_path / "a.spmvc", device="cuda:0")):
        with pytest.raises(sp.Error) as caught:
            call()
        if sp.built_with_cuda():
            assert caught.value.code == "no_device" and "driver" in str(caught.value)
        else:
            assert caught.value.code == "unsupported" and "built without CUDA" in str(caught.value)


def test_what_is_encoded_on_a_device_is_there():
    for a in (A, sparse.coo_array(A), "a.mtx"):
        with pytest.raises(TypeError, match="give a sparse matrix of CuPy, or a CSR tensor of PyTorch on a GPU"):
            sp.encode(a, "csr", device="cuda")
    for arguments in ({"tune": "host"}, {"codec": "zstd"}, {"dtype": np.float32}):
        with pytest.raises(ValueError, match="for encoding on the host"):
            sp.encode(A, "csr", device=0, **arguments)
    with pytest.raises(ValueError, match="cache_share is of a GPU's L2 cache"):
        sp.encode(A, "csr", cache_share=0.5)
    assert sp.encode(A, "csr", device="cpu").digest == sp.encode(A).digest


def test_a_gpu_is_found_without_cuda():
    """What the driver's management library says is what CUDA says, and a child of a process that has asked uses the GPU."""
    assert _native.has_usable_gpu() == bool(devices())
    code = """
import os, sys, numpy as np, spmvpack as sp
from scipy import sparse
m = sp.encode(sparse.csr_array(np.eye(50)))
assert m.provenance["target"] == sys.argv[1], m
child = os.fork()
if child == 0:
    os._exit(0 if sys.argv[1] == "host" or np.array_equal(m.to("cuda") @ np.ones(50), np.ones(50)) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    here = dict(os.environ)
    for environment, target in ((here, "gpu" if devices() else "host"), ({**here, "CUDA_VISIBLE_DEVICES": ""}, "host"),
                                ({**here, "CUDA_VISIBLE_DEVICES": "-1"}, "host")):
        subprocess.run([sys.executable, "-c", code, target], env=environment, check=True, timeout=120)


def test_a_share_of_the_cache_is_from_0_to_1_and_of_a_gpu(tmp_path):
    m = sp.encode(A)
    m.save(tmp_path / "a.spmvc")
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="expected a number from 0 to 1"):
            m.to("cuda", cache_share=share)
        with pytest.raises(ValueError, match="expected a number from 0 to 1"):  # before the file is opened
            sp.load(tmp_path / "missing.spmvc", "cuda", cache_share=share)
    with pytest.raises(ValueError, match="expected 'cuda' or 'cuda:N'"):
        sp.load(tmp_path / "missing.spmvc", "gpu")
    with pytest.raises(ValueError, match="name a GPU"):
        sp.load(tmp_path / "a.spmvc", cache_share=0.5)
    if devices():
        x = np.ones(A.shape[1])
        y = m.to("cuda") @ x
        assert_product(A, x, y)
        for share in (0, 0.7):
            assert same_bits(m.to("cuda", cache_share=share) @ x, y)
            assert same_bits(sp.load(tmp_path / "a.spmvc", "cuda", cache_share=share) @ x, y)


class Protocol:
    def __init__(self, value):
        self.value = value

    def __cuda_stream__(self):
        return self.value


class Attribute:
    __cuda_stream__ = (0, 77)


class CupyLike:
    ptr = 78


class TorchLike:
    cuda_stream = 79


@pytest.mark.parametrize("stream, handle", [(5, 5), (np.int64(6), 6), (0, 1), (2, 2), (Protocol((0, 76)), 76),
                                            (Attribute(), 77), (CupyLike(), 78), (TorchLike(), 79)])
def test_streams(stream, handle):
    assert _device.stream_of(stream) == handle


@pytest.mark.parametrize("stream, error", [("0", TypeError), (None, TypeError), (True, TypeError), (1.0, TypeError),
                                           (-1, ValueError), (Protocol((1, 5)), ValueError)])
def test_what_is_no_stream(stream, error):
    with pytest.raises(error):
        _device.stream_of(stream)


@pytest.mark.parametrize("device, index", [("cuda", 0), ("cuda:0", 0), ("cuda:3", 3), (2, 2)])
def test_devices(device, index):
    assert _device.device_index(device) == index


@pytest.mark.parametrize("device, error", [("cpu", ValueError), ("cuda:", ValueError), ("cuda:x", ValueError),
                                           ("gpu", ValueError), (-1, TypeError), (True, TypeError), (1.5, TypeError)])
def test_what_is_no_device(device, error):
    with pytest.raises(error):
        _device.device_index(device)


def test_device_memory_is_refused_on_the_host():
    m = sp.encode(A)
    x, out = DeviceArray(256, (2000,), np.float64), DeviceArray(256, (3000,), np.float64)
    for call in (lambda: m @ x, lambda: m.multiply(x, np.empty(3000)), lambda: m.multiply(np.ones(2000), out)):
        with pytest.raises(ValueError, match="(x|out) is on (a GPU|cuda:0), the matrix on the host"):
            call()
    assert not lent


@pytest.fixture
def cupy():
    module = pytest.importorskip("cupy")
    if not devices():
        pytest.skip("there is no GPU")
    return module


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not devices() or not module.cuda.is_available():
        pytest.skip("there is no GPU, or PyTorch has no CUDA")
    return module


needs_gpu = pytest.mark.skipif(not devices(), reason="there is no GPU")


@needs_gpu
@pytest.mark.parametrize("layout", ["ccoo", "csell", "amb", "segmented_sell"])
def test_host_vectors_get_the_bits_of_the_host(layout, tmp_path):
    m = sp.encode(A, layout)
    m.save(tmp_path / "a.spmvc")
    x = np.random.default_rng(1).standard_normal(2000)
    for d in (m.to("cuda"), sp.load(tmp_path / "a.spmvc", device="cuda:0")):
        assert (d.shape, d.dtype, d.nnz, d.parts, d.digest) == (m.shape, m.dtype, m.nnz, m.parts, m.digest)
        assert same_bits(d @ x, m @ x)
        assert same_bits(np.ascontiguousarray((d @ np.stack([x, 2 * x], 1))[:, 1]), m @ (2 * x))
    with pytest.raises(ValueError, match=r"x has shape \(3,\)"):
        d @ np.ones(3)
    with pytest.raises(sp.Error, match="there is no GPU 99"):
        m.to("cuda:99")


@needs_gpu
@pytest.mark.parametrize("layout", ["bitflag", "ccoo", "csell", "segmented_sell"])
def test_device_vectors_get_the_bits_of_the_host(layout):
    for _, a in nasty_matrices():
        m = sp.encode(a, layout, force_size=True)
        d, stream = m.to(), Stream()
        rng = np.random.default_rng(1)
        x, y = rng.standard_normal(a.shape[1]).astype(a.dtype), rng.standard_normal(a.shape[0]).astype(a.dtype)
        on_device, out = DeviceArray.from_numpy(x, stream), DeviceArray.from_numpy(y, stream)
        assert d.multiply(on_device, out, alpha=2.0, beta=-0.5, stream=stream) is out
        stream.synchronize()
        assert np.array_equal(out.get(), m.multiply(x, y.copy(), 2.0, -0.5), equal_nan=True)
        assert not lent and not on_device.waits and not out.waits
        on_device.free()
        out.free()


@needs_gpu
@pytest.mark.parametrize("layout", ["csr", "csell", "bitflag", "sell"])
def test_new_values_on_a_gpu_are_those_of_a_new_matrix(layout, tmp_path, monkeypatch):
    m = sp.encode(A, layout, updatable=True, transpose=True)
    m.save(tmp_path / "a.spmvc")
    x, z = np.random.default_rng(1).standard_normal(2000), np.random.default_rng(2).standard_normal(3000)
    devices = [m.to(), sp.load(tmp_path / "a.spmvc", "cuda", updatable=True)]
    data = np.random.default_rng(3).standard_normal(A.nnz)
    m.update_values(data)
    devices.append(m.to())
    by, transposed = devices[-1] @ x, devices[-1].rmatvec(z)
    assert_product(sparse.csr_array((data, A.indices, A.indptr), shape=A.shape), x, by)
    values, stream = DeviceArray.from_numpy(data), Stream()
    for d in devices:
        assert d.updatable and d.has_transpose and (d.symmetry, d.digest) == ("general", "")
        values.waits.clear()
        d.update_values(values, stream)
        d.require_updated(stream)
        assert values.waits == [stream.handle] and not lent
        assert same_bits(d @ x, by) and same_bits(d.rmatvec(z), transposed)
    monkeypatch.setattr(DeviceArray, "gives_back", False)
    with pytest.raises(ValueError, match=rf"values has shape \({A.nnz - 1},\)"):
        d.update_values(DeviceArray(values.pointer, (A.nnz - 1, ), np.float64))
    with pytest.raises(TypeError, match="values is float32"):
        d.update_values(DeviceArray(values.pointer, (A.nnz, ), np.float32))
    with pytest.raises(TypeError, match="ndarray, not an array in device memory"):
        d.update_values(data)
    fixed = sp.encode(A, layout).to()
    assert not fixed.updatable
    with pytest.raises(sp.Error, match="updatable"):
        fixed.update_values(values)
    values.free()


@pytest.fixture(params=["cupy", "torch"])
def csr_on_gpu(request):
    """A function that copies a CSR matrix of SciPy to a device, for either library."""
    library = request.getfixturevalue(request.param)
    if request.param == "cupy":
        sparse_of_cupy = pytest.importorskip("cupyx.scipy.sparse")
        return sparse_of_cupy.csr_matrix
    return lambda a: library.sparse_csr_tensor(library.from_numpy(a.indptr), library.from_numpy(a.indices),
                                               library.from_numpy(a.data), a.shape).cuda()


def test_report_of_a_matrix_on_a_gpu(csr_on_gpu):
    a = sparse.diags([1.0, 2.0], [0, 3], shape=(300, 300), format="csr")
    on_gpu = csr_on_gpu(a)
    expected = sp.report(a, target="gpu").to_dict()["layouts"]
    for m in (on_gpu, sp.encode(on_gpu, "csell", device="cuda")):
        assert sp.report(m, target="gpu").to_dict()["layouts"] == expected


@pytest.mark.parametrize("layout", _native.layouts_on_device())
def test_encoding_on_a_gpu_makes_what_the_host_makes(layout, csr_on_gpu, tmp_path):
    for name, a in nasty_matrices():
        if 0 in a.shape:
            continue  # which the libraries do not have
        a = sparse.csr_matrix(a)
        m = sp.encode(a, layout, target="gpu", force_size=True, transpose=True)
        d = sp.encode(csr_on_gpu(a), layout, target="gpu", force_size=True, transpose=True, device="cuda")
        assert (d.shape, d.dtype, d.nnz, d.parts, d.device_bytes) == (m.shape, m.dtype, m.nnz, m.parts, m.device_bytes), name
        assert d.has_transpose and d.device == 0
        x, z = np.ones(a.shape[1], a.dtype), np.ones(a.shape[0], a.dtype)
        on_device = m.to()
        assert np.array_equal(d @ x, on_device @ x, equal_nan=True), name
        assert np.array_equal(d.rmatvec(z), on_device.rmatvec(z), equal_nan=True), name
        d.save(tmp_path / "a.spmvc", overwrite=True)
        assert sp.load(tmp_path / "a.spmvc", check_contents=True).digest == m.digest


def test_a_matrix_on_a_gpu_is_encoded_there(csr_on_gpu):
    a = sparse.csr_matrix(random_csr(3000, 3000, 4, 5))
    d = sp.encode(csr_on_gpu(a), transpose=True)
    assert isinstance(d, sp.DeviceMatrix) and d.device == 0 and len(d.choices) == 2
    choice = d.choices[0]
    assert d.layout == choice.layout in _native.layouts_on_device()
    assert choice.seconds > 0 and "ccoo" in choice.left_out and "csr" not in choice.left_out and not choice.refused
    x = np.ones(3000)
    named = sp.encode(csr_on_gpu(a), choice.layout)
    assert named.choices == () and named.device_bytes == d.device_bytes and same_bits(named @ x, d @ x)
    on_host = sp.encode(csr_on_gpu(a), device="cpu")
    assert isinstance(on_host, sp.Matrix) and on_host.digest == sp.encode(a).digest
    with pytest.raises(ValueError, match="for encoding on the host"):
        sp.encode(csr_on_gpu(a), codec="zstd")
    with pytest.raises(sp.Error, match="planned on the host alone"):
        sp.encode(csr_on_gpu(a), settings={"ccoo.k": 4})


def test_encoding_on_a_gpu_sorts_and_refuses(csr_on_gpu):
    a = sparse.csr_matrix(A)
    unsorted = sparse.csr_matrix((a.data[::-1].copy(), a.indices[::-1].copy(), a.nnz - a.indptr[::-1]), a.shape)
    x = np.ones(2000)
    d = sp.encode(csr_on_gpu(unsorted), "csell", device="cuda:0", updatable=True)
    assert d.updatable and same_bits(d @ x, sp.encode(sparse.csr_matrix(unsorted), "csell").to() @ x)
    twice = sparse.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), (1, 3))
    with pytest.raises(sp.Error, match="row 0") as error:
        sp.encode(csr_on_gpu(twice), "csr", device="cuda")
    assert error.value.code == "bad_input"
    with pytest.raises(sp.Error) as error:
        sp.encode(csr_on_gpu(a), "ccoo", device="cuda")
    assert error.value.code == "unsupported"
    with pytest.raises(TypeError, match="float64 and float32 are stored"):
        sp.encode(csr_on_gpu(sparse.csr_matrix(a * 1j)), "csr", device="cuda")


def test_new_values_of_a_library(on_gpu):
    copied, _ = on_gpu
    m = sp.encode(A, "csell", updatable=True)
    d, data, x = m.to(), A.data * 3, np.ones(2000)
    d.update_values(copied(data))
    m.update_values(data)
    assert same_bits(d @ x, m @ x)
    with pytest.raises(TypeError, match="complex"):
        d.update_values(copied(data * 1j))
    with pytest.raises(ValueError, match="expected"):
        d.update_values(copied(data.reshape(1, -1)))
    e = sp.encode(sparse.csr_array(sparse.eye(5)), "dia", updatable=True).to()
    e.update_values(copied(np.zeros(5)))
    with pytest.raises(sp.Error, match="refused"):
        e.require_updated()
    assert same_bits(e @ np.ones(5), np.ones(5))


@needs_gpu
def test_another_stream_waits_for_those_of_the_vectors():
    m = sp.encode(A, "ccoo")
    d, streams = m.to(), [Stream() for _ in range(3)]
    x = DeviceArray.from_numpy(np.ones(2000), streams[0])
    out = DeviceArray.from_numpy(np.zeros(3000), streams[1])
    d.multiply(x, out, stream=streams[2].handle)
    streams[2].synchronize()
    assert x.waits == out.waits == [streams[2].handle]
    assert same_bits(out.get(), m @ np.ones(2000))
    d.multiply(x, out)  # of no library with streams: the default stream
    assert x.waits[1:] == out.waits[1:] == [1]


@needs_gpu
def test_a_captured_multiply_needs_no_memory_and_runs_again():
    m = sp.encode(A, "ccoo")
    d, stream = m.to(), Stream()
    x, y = DeviceArray.from_numpy(np.ones(2000), stream), DeviceArray.from_numpy(np.full(3000, 3.0), stream)
    d.prepare(stream)
    before = free_memory()
    graph = stream.capture(lambda: d.multiply(x, y, alpha=2.0, beta=1.0, stream=stream))
    for _ in range(3):
        stream.launch(graph)
    stream.synchronize()
    assert before - free_memory() < 1 << 22
    expected = np.full(3000, 3.0)
    for _ in range(3):
        m.multiply(np.ones(2000), expected, alpha=2.0, beta=1.0)
    assert same_bits(y.get(), expected)


@needs_gpu
def test_threads_multiply_at_the_same_time():
    m = sp.encode(A, "ccoo")
    d, wrong = m.to(), []
    xs = [np.random.default_rng(k).standard_normal(2000) for k in range(6)]
    expected = [m @ x for x in xs]
    # Copies need the device's context, which only this thread has set.
    streams = [Stream() for _ in xs]
    vectors = [(DeviceArray.from_numpy(x, s), DeviceArray.from_numpy(np.zeros(3000), s)) for x, s in zip(xs, streams)]

    def work(k):
        for _ in range(200):
            d.multiply(*vectors[k], stream=streams[k])
        streams[k].synchronize()
        if not vectors[k][0].waits == []:
            wrong.append(k)

    in_threads(6, work)
    assert not wrong
    for (_, y), right in zip(vectors, expected):
        assert same_bits(y.get(), right)


@pytest.fixture
def capsules_that_stay(monkeypatch):
    """Capsules that no consumer took do not give back what they have; it stays in `lent` until the test has ended."""
    monkeypatch.setattr(DeviceArray, "gives_back", False)
    yield
    lent.clear()


@needs_gpu
@pytest.mark.parametrize("call, error, text", [
    (lambda d, x, y: d @ x, TypeError, "not known how to make: use multiply"),
    (lambda d, x, y: d.multiply(y, y), ValueError, r"x has shape \(3000,\), expected \(2000,\)"),
    (lambda d, x, y: d.multiply(x, x), ValueError, r"out has shape \(2000,\), expected \(3000,\)"),
    (lambda d, x, y: d.multiply(np.ones(2000), y), ValueError, "x is on the host"),
    (lambda d, x, y: d.multiply(x, np.ones(3000)), ValueError, "out is on the host"),
    (lambda d, x, y: d.multiply([1.0], y), TypeError, "x is of type list"),
    (lambda d, x, y: d.multiply(DeviceArray(x.pointer, (2000,), np.float32), y), TypeError, "x is float32"),
    (lambda d, x, y: d.multiply(DeviceArray(x.pointer, (2000,), np.int64), y), TypeError, "not int64"),
    (lambda d, x, y: d.multiply(x, DeviceArray(y.pointer, (3000,), np.float32)), TypeError, "out is float32"),
    (lambda d, x, y: d.multiply(DeviceArray(x.pointer, (2000,), np.float64, device=1), y), ValueError,
     "x is on cuda:1, the matrix on cuda:0"),
    (lambda d, x, y: d.multiply(x, y, stream="0"), TypeError, "a stream of type str"),
])
def test_what_does_not_fit_on_a_device_is_refused(call, error, text, capsules_that_stay):
    d = sp.encode(A).to()
    x, y = DeviceArray.from_numpy(np.ones(2000)), DeviceArray.from_numpy(np.ones(3000))
    with pytest.raises(error, match=text):
        call(d, x, y)
    assert len(lent) <= 1


@needs_gpu
def test_ten_thousand_multiplies_leak_nothing():
    d, stream = sp.encode(A, "ccoo").to(), Stream()
    x, y = DeviceArray.from_numpy(np.ones(2000), stream), DeviceArray.from_numpy(np.ones(3000), stream)
    d.multiply(x, y, stream=stream)
    before = free_memory()
    for _ in range(10000):
        d.multiply(x, y, stream=stream)
    stream.synchronize()
    assert before - free_memory() < 1 << 22 and not lent


@needs_gpu
def test_references_are_given_back():
    d, stream = sp.encode(A, "ccoo").to(), Stream()
    x, y = DeviceArray.from_numpy(np.ones(2000), stream), DeviceArray.from_numpy(np.ones(3000), stream)
    host = np.ones(2000)
    d.multiply(x, y, stream=stream)
    before = [sys.getrefcount(v) for v in (x, y, host, d, stream)]
    for _ in range(10):
        d.multiply(x, y, stream=stream)
        d @ host
        with pytest.raises(ValueError):
            d.multiply(x, x, stream=stream)
    gc.collect()
    assert [sys.getrefcount(v) for v in (x, y, host, d, stream)] == before and not lent


@needs_gpu
def test_matrices_that_are_loaded_and_dropped_leak_nothing():
    m, stream = sp.encode(random_csr(5000, 5000, 100, 1), "csr"), Stream()
    x, y = DeviceArray.from_numpy(np.ones(5000), stream), DeviceArray.from_numpy(np.ones(5000), stream)

    def run(times):
        for _ in range(times):
            m.to().multiply(x, y, stream=stream)
        gc.collect()
        return free_memory()

    before = run(5)
    assert before - run(50) < 1 << 24  # a leak would be 150 MB


@needs_gpu
def test_a_matrix_that_is_dropped_multiplies_to_the_end():
    """Its memory is not another's before the multiplies that are queued have read it."""
    m, stream = sp.encode(A, "ccoo"), Stream()  # which has the host's bits
    x, y = DeviceArray.from_numpy(np.ones(2000), stream), DeviceArray.from_numpy(np.zeros(3000), stream)
    d = m.to()
    for _ in range(2000):  # the GPU falls behind
        d.multiply(x, y, stream=stream)
    d.multiply(x, y, alpha=2.0, beta=1.0, stream=stream)
    del d
    gc.collect()
    others = [DeviceArray.from_numpy(np.full(A.nnz, np.nan)) for _ in range(4)]
    stream.synchronize()
    assert same_bits(y.get(), m.multiply(np.ones(2000), m @ np.ones(2000), alpha=2.0, beta=1.0))
    for other in others:
        other.free()


def test_cupy_on_its_current_stream(cupy):
    for _, a in nasty_matrices():
        m = sp.encode(a)
        d = m.to()
        x = np.random.default_rng(1).standard_normal(a.shape[1]).astype(a.dtype)
        with cupy.cuda.Stream(non_blocking=True):
            y = d @ (cupy.asarray(x) * 2)
            assert isinstance(y, cupy.ndarray)
            assert_product(a, x * 2, cupy.asnumpy(y))


def test_a_stream_waits_for_what_was_queued_on_the_operands_stream(cupy):
    m = sp.encode(A, "ccoo")
    d, other = m.to(), cupy.cuda.Stream(non_blocking=True)
    x, out = cupy.zeros(2000), cupy.zeros(3000)
    cupy.cuda.Stream.null.synchronize()  # which such streams do not wait for
    d.prepare(other)
    with cupy.cuda.Stream(non_blocking=True) as mine:
        slow = cupy.random.default_rng(1).standard_normal((3000, 3000))
        for _ in range(20):
            slow = slow @ slow * 1e-3
        x[:] = 1.0 + 0 * slow[0, :1]  # long after this line
        d.multiply(x, out, stream=other)
        mine.synchronize()
    other.synchronize()
    assert same_bits(cupy.asnumpy(out), m @ np.ones(2000))


def test_x_that_is_dropped_is_read_to_the_end(cupy):
    """On the current stream, memory is another array's only after what is queued there."""
    m = sp.encode(A, "ccoo")
    d = m.to()
    with cupy.cuda.Stream(non_blocking=True) as mine:
        slow = cupy.random.default_rng(1).standard_normal((3000, 3000))
        x = cupy.ones(2000)
        d @ x
        for _ in range(20):
            slow = slow @ slow * 1e-3
        y, place = d @ x, x.data.ptr
        del x, d
        gc.collect()
        others = [cupy.full(2000, np.nan) for _ in range(3)]
        assert place in [other.data.ptr for other in others]  # or nothing is tested
        mine.synchronize()
    assert same_bits(cupy.asnumpy(y), m @ np.ones(2000))


@pytest.mark.parametrize("columns, vectors", [(0, np.float64), (3, np.float64), (0, np.complex128), (3, np.complex128)])
def test_a_multiply_in_a_graph(cupy, columns, vectors):
    m = sp.encode(A, "ccoo")
    d, stream = m.to(), cupy.cuda.Stream(non_blocking=True)
    shape = (columns, ) if columns else ()
    with stream:
        x, y = cupy.ones((2000, *shape), vectors), cupy.full((3000, *shape), 3.0, vectors)
        d.prepare(stream, vectors, columns=columns)
        used = cupy.cuda.runtime.memGetInfo()[0]
        stream.begin_capture()
        d.multiply(x, y, alpha=2.0, beta=1.0)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch(stream)
        stream.synchronize()
    assert cupy.cuda.runtime.memGetInfo()[0] >= used - (1 << 22)
    expected = np.full((3000, *shape), 3.0, vectors)
    for _ in range(3):
        m.multiply(np.ones((2000, *shape), vectors), expected, alpha=2.0, beta=1.0)
    assert same_bits(cupy.asnumpy(y), expected)


def test_threads_and_streams_have_workspaces_of_their_own(cupy):
    m = sp.encode(A, "ccoo")
    d, wrong = m.to(), []
    xs = [np.random.default_rng(k).standard_normal(2000) for k in range(6)]

    def work(k):
        with cupy.cuda.Stream(non_blocking=True):
            x = cupy.asarray(xs[k])
            if not all(same_bits(cupy.asnumpy(d @ x), m @ xs[k]) for _ in range(20)):
                wrong.append(k)

    in_threads(6, work)
    assert not wrong


@pytest.fixture(params=["cupy", "torch"])
def on_gpu(request):
    """A function that copies a NumPy array to a device, for either library, and one that copies back."""
    library = request.getfixturevalue(request.param)
    if request.param == "cupy":
        def copied(a, device=0):
            with library.cuda.Device(device):
                return library.asarray(a)
        return copied, library.asnumpy
    return (lambda a, device=0: library.from_numpy(a).to(f"cuda:{device}")), (lambda y: y.cpu().numpy())


PAIRS = [(np.float64, np.float64), (np.float32, np.float32), (np.float32, np.float64), (np.float64, np.complex128),
         (np.float32, np.complex64), (np.float32, np.complex128)]


def draw(shape, dtype):
    parts = np.random.default_rng(1).standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


@pytest.mark.parametrize("values, vectors", PAIRS)
def test_vectors_of_every_form_have_the_bits_of_the_host(on_gpu, values, vectors):
    copied, back = on_gpu
    m = sp.encode(A.astype(values), "ccoo", transpose=True)
    d = m.to()
    x, v = (draw((n, ), vectors) for n in (2000, 3000))
    assert same_bits(back(d @ copied(x)), m @ x)
    assert same_bits(back(d.rmatvec(copied(v))), m.rmatvec(v))
    assert same_bits(back(d.T @ copied(v)), m.rmatvec(v)) and same_bits(back(copied(v) @ d), m.rmatvec(v))
    assert same_bits(back(d.matvec(copied(x))), m @ x) and same_bits(back(d.dot(copied(x))), m @ x)
    assert same_bits(back(d @ copied(np.repeat(x, 3))[::3]), m @ x)  # neither of these two is contiguous
    assert same_bits(back(d @ copied(np.stack([x, x], 1))[:, 1]), m @ x)
    out = copied(v)
    assert d.multiply(copied(x), out, 2.0, -0.5) is out
    assert same_bits(back(out), m.multiply(x, v.copy(), 2.0, -0.5))
    for rows, cols in ((1, 1), (0, 3), (3, 0)):
        small = sp.encode(sparse.csr_array(np.full((rows, cols), 2.0, values)))
        x = np.full((cols, 2), 3.0, vectors)
        assert same_bits(back(small.to() @ copied(x)[:, 0]), small @ x[:, 0].copy())


def nearer_in_columns(a):
    strides = a.stride() if callable(getattr(a, "stride", None)) else a.strides
    return strides[0] < strides[1]


@pytest.mark.parametrize("values, vectors", PAIRS)
def test_columns_in_every_order_have_the_bits_of_the_host(on_gpu, values, vectors):
    copied, back = on_gpu
    m = sp.encode(A.astype(values), "ccoo", transpose=True)
    d = m.to()
    x, v = draw((2000, 6), vectors), draw((5, 3000), vectors)
    in_rows, in_columns = copied(x), copied(np.ascontiguousarray(x.T)).T
    for form, on_device in ((x, in_rows), (x, in_columns), (x[:, ::2], in_rows[:, ::2]), (x[:, 1:4], in_columns[:, 1:4]),
                            (x[:, :0], in_rows[:, :0]), (x[:, :1], in_rows[:, :1])):
        y = d @ on_device
        expected = np.ascontiguousarray(m @ form)
        assert same_bits(np.ascontiguousarray(back(y)), expected)
        assert form.shape[1] < 2 or nearer_in_columns(y) == nearer_in_columns(on_device)
        for out in (copied(np.ones((3000, form.shape[1]), vectors)), copied(np.ones((form.shape[1], 3000), vectors)).T):
            assert d.multiply(on_device, out, 2.0, -0.5) is out
            wanted = m.multiply(form, np.ones((3000, form.shape[1]), vectors), 2.0, -0.5)
            assert same_bits(np.ascontiguousarray(back(out)), wanted)
    assert same_bits(np.ascontiguousarray(back(copied(v) @ d)), np.ascontiguousarray(v @ m))
    assert same_bits(np.ascontiguousarray(back(d.rmatmat(copied(v).T))), np.ascontiguousarray(m.rmatmat(v.T)))
    assert same_bits(np.ascontiguousarray(d @ x), np.ascontiguousarray(m @ x))  # in host memory
    if vectors == np.complex128 and hasattr(in_rows, "conj_physical"):  # PyTorch's, which conjugates when it must
        assert same_bits(np.ascontiguousarray(back(d @ in_rows.conj())), np.ascontiguousarray(m @ x.conj()))
        with pytest.raises(ValueError, match=r"x is the conjugate .* x\.resolve_conj\(\)"):
            d.multiply(in_rows.conj(), copied(np.ones((3000, 6), vectors)))


@pytest.mark.parametrize("call, error, text", [
    (lambda d, x, y: d @ y, ValueError, r"x has shape \(3000,\), expected \(2000,\)"),
    (lambda d, x, y: d.rmatvec(x), ValueError, r"x has shape \(2000,\), expected \(3000,\)"),
    (lambda d, x, y: d.multiply(y, y), ValueError, r"x has shape \(3000,\), expected \(2000,\)"),
    (lambda d, x, y: d.multiply(x, x), ValueError, r"out has shape \(2000,\), expected \(3000,\)"),
    (lambda d, x, y: d.multiply(y[:2000], y), sp.Error, "x and y overlap"),
    (lambda d, x, y: d.multiply(y[::2], y), ValueError, r"x has shape \(1500,\), expected \(2000,\)"),
    (lambda d, x, y: d.multiply(x.reshape(2000, 1), y), ValueError, r"x has shape \(2000, 1\)"),
    (lambda d, x, y: d.multiply(x.reshape(1000, 2)[:, 0], y), ValueError, r"x has shape \(1000,\)"),
])
def test_what_does_not_fit_is_refused_of_a_library_too(on_gpu, call, error, text):
    d, copied = sp.encode(A, transpose=True).to(), on_gpu[0]
    with pytest.raises(error, match=text):
        call(d, copied(np.ones(2000)), copied(np.ones(3000)))
    with pytest.raises(ValueError, match="x has a stride of 2 elements"):
        d.multiply(copied(np.ones(4000))[::2], copied(np.ones(3000)))
    for wrong in (np.ones(2000, np.float32), np.ones(2000, np.int64)):
        with pytest.raises(TypeError, match=f"(x is|not) {wrong.dtype}"):
            d @ copied(wrong)
        with pytest.raises(TypeError, match=f"(out is|not) {wrong.dtype}|both must be of one type"):
            d.multiply(copied(np.ones(2000)), copied(np.ones(3000, wrong.dtype)))


def test_the_current_device_may_be_another(cupy):
    """The result is on the matrix's device, computed on the stream that is current there."""
    if devices() < 2:
        pytest.skip("there is one GPU")
    m = sp.encode(A, "ccoo")
    for of_matrix, current in ((0, 1), (1, 0)):
        d = m.to(of_matrix)
        with cupy.cuda.Device(of_matrix):
            stream = cupy.cuda.Stream(non_blocking=True)
            with stream:
                x, out = cupy.random.default_rng(1).standard_normal(2000), cupy.zeros(3000)
                with cupy.cuda.Device(current):
                    y = d @ x
                    d.multiply(x, out)
                assert y.device.id == of_matrix
            stream.synchronize()
            for result in (y, out):
                assert same_bits(cupy.asnumpy(result), m @ cupy.asnumpy(x))
        with cupy.cuda.Device(current), pytest.raises(ValueError, match=f"x is on cuda:{current}"):
            d @ cupy.ones(2000)


def test_tensors_that_are_more_than_their_memory(torch):
    d = sp.encode(A, transpose=True).to()
    x, out = (torch.ones(n, dtype=torch.float64, device="cuda") for n in (2000, 3000))
    frozen = torch.nn.Parameter(x, requires_grad=False)
    assert torch.equal(d @ frozen, d @ x) and torch.equal(d.multiply(frozen, out), d @ x)
    assert (d @ torch.nn.Parameter(x)).grad_fn is not None
    for vectors in ((x.clone().requires_grad_(), out), (x, out.clone().requires_grad_())):
        with pytest.raises((BufferError, RuntimeError), match="gradient"):
            d.multiply(*vectors)
    negative = torch._neg_view(x)
    assert torch.equal(d @ negative, -(d @ x))
    for vectors, name in (((negative, out), "x"), ((x, torch._neg_view(out)), "out")):
        with pytest.raises(ValueError, match=f"{name} is the negative of what is in its memory"):
            d.multiply(*vectors)


def test_cupy_matrices_and_operators(cupy):
    from cupyx.scipy.sparse import csr_matrix, linalg

    lines = [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n)) for n in (40, 37)]  # no eigenvalue twice
    laplacian = sparse.csr_matrix(sparse.kronsum(*lines))
    on_device = csr_matrix(laplacian)
    m = sp.encode(on_device, device="cpu")
    assert m.digest == sp.encode(laplacian).digest
    d = m.to()
    operator = d.linear_operator(transpose=d)
    assert isinstance(operator, linalg.LinearOperator)
    b = cupy.asarray(np.random.default_rng(1).standard_normal(1480))
    for a in (operator, d):
        u, info = linalg.cg(a, b)
        assert info == 0 and float(cupy.linalg.norm(on_device @ u - b)) <= 1.1e-5 * float(cupy.linalg.norm(b))
    largest = np.sort(scipy_linalg.eigsh(laplacian, 3, return_eigenvectors=False))
    found = cupy.asnumpy(linalg.eigsh(operator, 3, return_eigenvectors=False))
    assert np.allclose(np.sort(found), largest, rtol=1e-8)
    found = cupy.asnumpy(linalg.svds(operator, 3, return_singular_vectors=False))
    assert np.allclose(np.sort(found), largest, rtol=1e-6)
    start = cupy.asarray(np.random.default_rng(3).standard_normal((1480, 4)))
    found = cupy.asnumpy(linalg.lobpcg(operator, start, tol=1e-8, maxiter=400)[0])
    assert np.allclose(np.sort(found)[-2:], largest[1:], rtol=1e-5)
    u, info = linalg.gmres(operator, b)
    assert info == 0 and float(cupy.linalg.norm(on_device @ u - b)) <= 1.1e-5 * float(cupy.linalg.norm(b))


def test_torch_tensors(torch):
    m = sp.encode(A, "ccoo")
    d = m.to(torch.device("cuda"))
    x = np.random.default_rng(1).standard_normal(2000)
    with torch.cuda.stream(torch.cuda.Stream()):
        y = d @ torch.from_numpy(x).to("cuda")
        assert isinstance(y, torch.Tensor) and same_bits(y.cpu().numpy(), m @ x)
        y = d @ torch.from_numpy(np.stack([x, 2 * x], 1)).to("cuda")
        assert y.shape == (3000, 2) and same_bits(y[:, 1].cpu().numpy(), m @ (2 * x))
    with pytest.raises(TypeError, match="x is float32"):
        d @ torch.ones(2000, device="cuda")
    with pytest.raises(ValueError, match="x is on the host"):
        d @ torch.ones(2000, dtype=torch.float64)
    with pytest.raises(ValueError, match="x is on a GPU"):
        m @ torch.ones(2000, dtype=torch.float64, device="cuda")


@pytest.mark.parametrize("on_another", [False, True])
def test_a_tensor_that_is_dropped_is_read_to_the_end(torch, on_another):
    """PyTorch knows the stream that reads it and keeps its memory until then."""
    m = sp.encode(A, "ccoo")
    d, other = m.to(), torch.cuda.Stream()
    x = torch.ones(2000, dtype=torch.float64, device="cuda")
    out = torch.zeros(3000, dtype=torch.float64, device="cuda")
    stream = other if on_another else torch.cuda.current_stream()
    d.multiply(x, out, stream=stream)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # 0.1 s
    d.multiply(x, out.zero_(), stream=stream)
    del x
    others = [torch.full((2000,), np.nan, dtype=torch.float64, device="cuda") for _ in range(10)]
    torch.cuda.synchronize()
    assert same_bits(out.cpu().numpy(), m @ np.ones(2000)) and others
