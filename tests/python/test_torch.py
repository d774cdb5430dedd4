"""PyTorch: matvec() is right, has a gradient, and is traced whole; CSR tensors are matrices. On CPU and GPU."""

import copy
import gc
import resource
import shutil

import numpy as np
import pytest
from scipy import sparse

import spmvpack as sp
from spmvpack import _native
from support import in_threads, random_csr, same_bits

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.filterwarnings("ignore:Sparse"), pytest.mark.filterwarnings("ignore:`torch.jit")]

A = random_csr(60, 50, 6, 2)
GRID = sparse.csr_array(sparse.kronsum(*2 * [sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (7, 7))]))


def has_gpu():
    try:
        return _native.device_count() > 0 and torch.cuda.is_available()
    except sp.Error:
        return False


DEVICES = ["cpu", pytest.param("cuda:0", marks=pytest.mark.skipif(not has_gpu(), reason="there is no GPU, or PyTorch "
                                                                                        "has no CUDA"))]
on_each_device = pytest.mark.parametrize("device", DEVICES)
needs_gpu = pytest.mark.skipif(not has_gpu(), reason="there is no GPU, or PyTorch has no CUDA")


def place(matrix, device):
    return matrix if device == "cpu" else matrix.to(device)


def tensor(*shape, device="cpu", dtype=torch.float64, grad=False):
    values = np.random.default_rng(sum(shape)).standard_normal(shape)
    return torch.from_numpy(values).to(device, dtype).requires_grad_(grad)


def numpy_of(t):
    return t.detach().resolve_conj().cpu().numpy()


@on_each_device
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_has_the_bits_of_the_host(device, dtype):
    m = sp.encode(A.astype(dtype), transpose=True)
    d = place(m, device)
    for vectors in {torch.float64, torch.float64 if dtype == np.float64 else torch.float32}:
        x = tensor(50, device=device, dtype=vectors)
        y = sp.torch.matvec(d, x)
        assert (y.shape, y.dtype, y.device) == ((60,), x.dtype, x.device)
        assert same_bits(numpy_of(y), m @ numpy_of(x))
        v = tensor(60, device=device, dtype=vectors)
        assert same_bits(numpy_of(sp.torch.matvec(d, v, transpose=True)), m.rmatvec(numpy_of(v)))
        columns = tensor(50, 3, device=device, dtype=vectors)
        for form in (columns, columns.t().contiguous().t(), tensor(50, 6, device=device, dtype=vectors)[:, ::2]):
            y = sp.torch.matvec(d, form)
            assert y.shape == (60, 3) and y.stride() == ((1, 60) if form.stride(0) == 1 else (3, 1))
            assert np.array_equal(numpy_of(y), m @ numpy_of(form))
            z = torch.complex(form, -form)
            for parts in (z, z.conj(), z.t().contiguous().t()):
                assert np.array_equal(numpy_of(sp.torch.matvec(d, parts)), m @ numpy_of(parts))
                assert torch.equal(d @ parts, sp.torch.matvec(d, parts))
    assert sp.torch.matvec(d, tensor(50, 0, device=device, dtype=vectors)).shape == (60, 0)


@on_each_device
def test_the_gradient_is_that_of_the_transpose(device):
    for a, m in ((A, sp.encode(A, transpose=True)), (GRID, sp.encode(GRID, transpose=True))):
        d = place(m, device)
        x = tensor(a.shape[1], device=device, grad=True)
        weights = tensor(a.shape[0], device=device)
        (sp.torch.matvec(d, x) * weights).sum().backward()
        assert same_bits(numpy_of(x.grad), m.rmatvec(numpy_of(weights)))
        assert np.allclose(numpy_of(x.grad), a.T @ numpy_of(weights), rtol=1e-12)
        found, x.grad = x.grad, None
        ((d @ x) * weights).sum().backward()
        assert torch.equal(x.grad, found)
        z = torch.complex(tensor(a.shape[1], 2, device=device), tensor(a.shape[1], 2, device=device)).requires_grad_()
        for form in (x, tensor(a.shape[1], 3, device=device, grad=True), tensor(3, a.shape[1], device=device).t()
                     .requires_grad_(), z):
            assert torch.autograd.gradcheck(lambda t: sp.torch.matvec(d, t), (form,))
            assert torch.autograd.gradgradcheck(lambda t: sp.torch.matvec(d, t).square(), (form,))
        v = tensor(a.shape[0], device=device, grad=True)
        assert torch.autograd.gradcheck(lambda t: sp.torch.matvec(d, t, transpose=True), (v,))


def test_a_complex_matrix_has_gradients():
    values = np.random.default_rng(3).standard_normal((2, A.nnz))
    a = sparse.csr_array((values[0] + 1j * values[1], A.indices, A.indptr), shape=A.shape)
    m = sp.encode(a, transpose=True)
    x, y = (torch.complex(tensor(n), -tensor(n)).requires_grad_() for n in (50, 60))
    for transpose, t in ((False, x), (True, y), ("conjugate", y)):
        op = {False: a, True: a.T, "conjugate": a.conj().T}[transpose]
        found = sp.torch.matvec(m, t, transpose=transpose)
        assert np.allclose(numpy_of(found), op @ numpy_of(t), rtol=1e-12)
        weights = torch.complex(tensor(op.shape[0]), tensor(op.shape[0]))
        (gradient,) = torch.autograd.grad(found, t, weights)
        assert np.allclose(numpy_of(gradient), op.conj().T @ numpy_of(weights), rtol=1e-12)
        assert torch.autograd.gradcheck(lambda v: sp.torch.matvec(m, v, transpose=transpose), (t,))
        assert torch.autograd.gradgradcheck(lambda v: sp.torch.matvec(m, v, transpose=transpose).square(), (t,))
    assert torch.equal(m @ x, sp.torch.matvec(m, x))
    assert torch.equal(m.H @ y, sp.torch.matvec(m, y, transpose="conjugate"))
    batch = torch.complex(tensor(4, 60), tensor(4, 60))
    adjoints = torch.vmap(lambda v: sp.torch.matvec(m, v, transpose="conjugate"))(batch)
    assert np.allclose(numpy_of(adjoints), numpy_of(batch) @ a.conj(), rtol=1e-12)
    with pytest.raises(TypeError, match="x is torch.float64, the matrix torch.complex128"):
        sp.torch.matvec(m, tensor(50))
    t = torch.sparse_csr_tensor(*map(torch.from_numpy, (a.indptr, a.indices, a.data)), a.shape)
    assert sp.encode(t).digest == m.digest


@pytest.mark.parametrize("kind, sign", [("symmetric", 1.0), ("skew-symmetric", -1.0)])
def test_a_symmetric_source_has_a_gradient_as_it_is(kind, sign, tmp_path):
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix coordinate real {kind}\n3 3 2\n2 1 5\n3 2 7\n")
    m, x = sp.encode(tmp_path / "a.mtx"), tensor(3, grad=True)
    weights = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
    (sp.torch.matvec(m, x) * weights).sum().backward()
    assert x.grad.tolist() == (sign * (m @ weights.numpy())).tolist()


@on_each_device
def test_without_a_transpose_only_the_gradient_is_refused(device):
    m = sp.encode(A)
    d, x = place(m, device), tensor(50, device=device, grad=True)
    y = sp.torch.matvec(d, x)
    assert same_bits(numpy_of(y), m @ numpy_of(x))
    with pytest.raises(sp.Error, match=r"A\^T is needed, .*; encode .*encode\(\.\.\., transpose=True\)") as caught:
        y.sum().backward()
    assert caught.value.code == "usage"
    with pytest.raises(sp.Error, match="transpose=True"):
        sp.torch.matvec(d, tensor(60, device=device), transpose=True)


def layer(matrix, x):
    return torch.tanh(sp.torch.matvec(matrix, 2 * x) + 1).sum()


@on_each_device
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_function_is_one_graph(device, backend):
    if backend == "inductor" and not shutil.which("g++"):
        pytest.skip("there is no g++")
    torch._dynamo.reset()
    d = place(sp.encode(A, transpose=True), device)
    compiled = torch.compile(layer, backend=backend, fullgraph=True)
    for make in (lambda: tensor(50, device=device), lambda: tensor(50, 3, device=device),
                 lambda: tensor(3, 50, device=device).t()):
        x, again = (make().requires_grad_() for _ in range(2))
        compiled(d, x).backward()
        layer(d, again).backward()
        assert torch.allclose(compiled(d, x), layer(d, x), rtol=1e-14) and torch.allclose(x.grad, again.grad)
    explained = torch._dynamo.explain(layer)(d, x)
    assert explained.graph_count == 1 and explained.graph_break_count == 0
    with pytest.raises(ValueError, match=r"x has shape \(7,\), expected \(50,\) or \(50, k\)"):
        torch.compile(layer, backend=backend)(d, tensor(7, device=device))


def test_other_matrices_compile_nothing_anew():
    torch._dynamo.reset()
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()
    compiled = torch.compile(lambda m, x: sp.torch.matvec(m, x) + 1, backend=counter, fullgraph=True)
    x = tensor(50)
    for k in range(6):
        m = sp.encode(random_csr(60 + k, 50, 6, k))
        assert torch.equal(compiled(m, x), sp.torch.matvec(m, x) + 1)
    assert counter.frame_count <= 2


@on_each_device
def test_the_operation_keeps_pytorchs_rules(device):
    d = place(sp.encode(A, transpose=True), device)
    for x in (tensor(50, device=device, grad=True), tensor(50, 3, device=device, grad=True),
              tensor(3, 50, device=device).t(), torch.complex(*2 * [tensor(50, 3, device=device)])):
        torch.library.opcheck(torch.ops.spmvpack.matvec, (x, d.key, 60, False, False))


@on_each_device
def test_a_batch_is_one_product(device):
    d = place(sp.encode(A), device)
    x = tensor(7, 50, device=device)
    expected = torch.stack([sp.torch.matvec(d, row) for row in x])
    for found in (torch.vmap(lambda t: sp.torch.matvec(d, t))(x),
                  torch.vmap(lambda t: sp.torch.matvec(d, t), in_dims=1)(x.t()), sp.torch.matvec(d, x.t()).t()):
        assert torch.equal(found, expected)
    several = tensor(4, 50, 3, device=device)
    assert torch.equal(torch.vmap(lambda t: sp.torch.matvec(d, t))(several)[2], sp.torch.matvec(d, several[2]))


M = sp.encode(A)
F = sp.encode(A.astype(np.float32))


@pytest.mark.parametrize("call, error, text", [
    (lambda: sp.torch.matvec(M, torch.ones(50)), TypeError, "x is torch.float32, the matrix torch.float64"),
    (lambda: sp.torch.matvec(F, torch.ones(50, dtype=torch.float16)), TypeError, "x is torch.float16"),
    (lambda: sp.torch.matvec(M, torch.ones(50, dtype=torch.complex64)), TypeError, "x is torch.complex64, .* torch.complex128"),
    (lambda: sp.torch.matvec(M, torch.ones(50, dtype=torch.int64)), TypeError, "x is torch.int64"),
    (lambda: sp.torch.matvec(M, tensor(49)), ValueError, r"x has shape \(49,\), expected \(50,\) or \(50, k\)"),
    (lambda: sp.torch.matvec(M, tensor(50), transpose=True), ValueError, r"x has shape \(50,\), expected \(60,\) .* 60 "
                                                                        "rows"),
    (lambda: sp.torch.matvec(M, tensor(50, 1, 1)), ValueError, r"x has shape \(50, 1, 1\)"),
    (lambda: sp.torch.matvec(M, torch.tensor(1.0, dtype=torch.float64)), ValueError, r"x has shape \(\)"),
    (lambda: sp.torch.matvec(M, tensor(50, 2).to_sparse()), TypeError, "x is a tensor of torch.sparse_coo"),
    (lambda: sp.torch.matvec(M, tensor(50).to("meta")), ValueError, "x is on meta, the matrix on cpu"),
    (lambda: sp.torch.matvec(M, np.ones(50)), TypeError, "x is of type ndarray, not a tensor"),
    (lambda: sp.torch.matvec(A, tensor(50)), TypeError, "a matrix of type csr_array"),
    (lambda: sp.torch.matvec(M, tensor(50), transpose=1), TypeError, "transpose is 1, expected True or False"),
    (lambda: torch.ops.spmvpack.matvec(tensor(50), 2**40, 60, False, False), sp.Error,
     "the matrix of this product is gone"),
])
def test_what_does_not_fit_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@needs_gpu
def test_tensors_of_another_device_are_refused():
    with pytest.raises(ValueError, match="x is on cpu, the matrix on cuda:0"):
        sp.torch.matvec(M.to("cuda"), tensor(50))
    with pytest.raises(ValueError, match="x is on cuda:0, the matrix on cpu"):
        sp.torch.matvec(M, tensor(50, device="cuda"))


@on_each_device
def test_the_matrix_lives_until_backward(device):
    d, x = place(sp.encode(A, transpose=True), device), tensor(50, device=device, grad=True)
    key, y = d.key, sp.torch.matvec(d, x)
    del d
    gc.collect()
    assert key in sp._products.alive
    y.sum().backward()
    assert np.allclose(numpy_of(x.grad), A.T @ np.ones(60), rtol=1e-12)
    del y
    gc.collect()
    assert key not in sp._products.alive


def test_a_copied_model_has_the_same_matrix():
    module = torch.nn.Linear(2, 2)
    module.matrix = M
    assert copy.deepcopy(module).matrix is M and copy.copy(M) is M


@on_each_device
def test_thousands_of_products_and_gradients_leak_nothing(device):
    d = place(sp.encode(random_csr(2000, 2000, 4, 5), transpose=True), device)

    def run(times):
        for _ in range(times):
            x = tensor_of_ones.detach().requires_grad_()
            sp.torch.matvec(d, x).sum().backward()
        gc.collect()
        if device != "cpu":
            torch.cuda.synchronize()
            return torch.cuda.memory_allocated() // 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    tensor_of_ones = torch.ones(2000, dtype=torch.float64, device=device)
    before = run(500)
    assert run(5000) - before < 4096  # KiB; a leak of results alone would be 80 MB


@on_each_device
def test_threads_share_a_matrix(device):
    d, wrong = place(sp.encode(A, transpose=True), device), []
    xs = [tensor(50, device=device, grad=True) * k for k in range(1, 6)]
    expected = [sp.torch.matvec(d, x) for x in xs]

    def work(k):
        for _ in range(50):
            if not torch.equal(sp.torch.matvec(d, xs[k]), expected[k]):
                wrong.append(k)

    in_threads(5, work)
    assert not wrong


@needs_gpu
def test_a_product_is_on_the_current_stream():
    d, x = sp.encode(A, transpose=True).to("cuda"), tensor(50)
    with torch.cuda.stream(torch.cuda.Stream()):
        on_device = torch.zeros(50, dtype=torch.float64, device="cuda")
        torch.cuda._sleep(20_000_000)
        on_device.copy_(x.pin_memory(), non_blocking=True)  # long after this line
        on_device.requires_grad_()
        y = sp.torch.matvec(d, on_device)
        (y * y).sum().backward()
        assert np.allclose(numpy_of(y), A @ numpy_of(x), rtol=1e-12)
        assert np.allclose(numpy_of(on_device.grad), 2 * A.T @ (A @ numpy_of(x)), rtol=1e-12)


@needs_gpu
def test_a_product_in_a_graph():
    d, x = sp.encode(A, "ccoo").to("cuda"), tensor(50, device="cuda")
    stream = torch.cuda.Stream()
    d.prepare(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        y = sp.torch.matvec(d, x)
    for k in range(3):
        x.fill_(k)
        graph.replay()
        assert np.allclose(numpy_of(y), A @ np.full(50, float(k)), rtol=1e-12)


def csr_tensor(a, device="cpu", index=torch.int64):
    indptr, indices = (torch.from_numpy(part.astype(np.int64)).to(index) for part in (a.indptr, a.indices))
    return torch.sparse_csr_tensor(indptr, indices, torch.from_numpy(a.data.copy()), size=a.shape).to(device)


@on_each_device
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_csr_tensor_is_a_matrix(device, dtype):
    a = A.astype(dtype)
    for index in (torch.int32, torch.int64):
        t = csr_tensor(a, device, index)
        assert sp.encode(t).digest == sp.encode(t.requires_grad_()).digest == sp.encode(a).digest
        assert str(sp.report(t)) == str(sp.report(a))
    dense = torch.from_numpy(a.toarray()).to(device)
    assert sp.encode(dense.to_sparse_csr()).digest == sp.encode(a).digest
    x = tensor(50, device=device, dtype=dense.dtype)
    assert torch.allclose(sp.torch.matvec(place(sp.encode(t.detach()), device), x), dense @ x, rtol=1e-4)


def test_integers_of_a_csr_tensor_are_float64():
    t = torch.eye(4, dtype=torch.int32).to_sparse_csr()
    assert sp.encode(t).dtype == np.float64 and sp.encode(t).digest == sp.encode(sparse.eye_array(4).tocsr()).digest


@pytest.mark.parametrize("make, text", [
    (lambda: torch.eye(3), "a tensor of torch.strided with 2 dimensions: give a matrix in CSR, as to_sparse_csr"),
    (lambda: torch.eye(3).to_sparse(), "torch.sparse_coo"),
    (lambda: torch.eye(3).to_sparse_csc(), "torch.sparse_csc"),
    (lambda: torch.eye(3).expand(2, 3, 3).to_sparse_csr(), "torch.sparse_csr with 3 dimensions"),
    (lambda: torch.eye(3, dtype=torch.bfloat16).to_sparse_csr(), "values of type (torch.)?bfloat16"),
])
def test_what_is_no_csr_matrix_is_refused(make, text):
    for call in (sp.encode, sp.report):
        with pytest.raises(TypeError, match=text):
            call(make())


@on_each_device
def test_scaled_products_have_gradients_of_vectors_and_factors(device):
    m = sp.encode(A, transpose=True)
    rows, columns = tensor(60, device=device), tensor(50, device=device)
    s = place(m, device).scaled(rows, columns)
    host = m.scaled(numpy_of(rows), numpy_of(columns))
    for x in (tensor(50, device=device), tensor(50, 3, device=device)):
        assert np.array_equal(numpy_of(s @ x), host @ numpy_of(x))
        assert np.array_equal(numpy_of(s @ x.requires_grad_()), host @ numpy_of(x))
        out = torch.empty_like(s @ x)
        s.multiply(x.detach(), out)
        assert np.array_equal(numpy_of(out), host @ numpy_of(x))
        of_factors = [f.clone().requires_grad_() for f in (rows, columns)]
        assert torch.autograd.gradcheck(lambda r, c, v: s.matrix.scaled(r, c) @ v, (*of_factors, x))
        assert torch.autograd.gradcheck(lambda r, c, v: s.matrix.scaled(r, c).T @ v,
                                        (*of_factors, tensor(60, *x.shape[1:], device=device, grad=True)))
