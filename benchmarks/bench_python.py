#!/usr/bin/env python3
"""Measures the Python package: what it adds to a multiply, and how fast it is beside SciPy; on a GPU, beside CuPy and
PyTorch. Needs the package, NumPy and SciPy.

    benchmarks/bench_python.py --matrices DIRECTORY --c-library LIBSPMVPACK_C.SO --spmvpack SPMVPACK --json FILE
    benchmarks/bench_python.py --gpu --json FILE      what CuPy or PyTorch would do is left out where it is missing

On the host: M @ x against the same multiply through the C library (a build with BUILD_SHARED_LIBS), each in processes
of its own, taking turns; M @ x, encoded for the host, against SciPy's A @ x on the matrices of a directory, in turns;
and encode() of arrays against the command on a container, without its reading. Without an option its part is left out.

On a GPU: products back to back on matrices that are made here, in turns, and the time that a call takes on the host.
"""

import argparse
import ctypes
import itertools
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
from scipy import sparse

import spmvpack as sp

MICRO = 1e6


# ---- matrices


def grid(sides, all_neighbours):
    """The pattern of a stencil: the neighbours along the axes, or all of them, corners too."""
    reach = [o for o in itertools.product((-1, 0, 1), repeat=len(sides)) if all_neighbours or sum(map(abs, o)) <= 1]
    place = np.indices(sides, np.int32).reshape(len(sides), -1)
    strides = [math.prod(sides[k + 1:]) for k in range(len(sides))]
    inside = [np.all([(p >= o) & (p < n + o) for p, o, n in zip(place, offset, sides)], axis=0) for offset in reach]
    diagonals = [sum(o * stride for o, stride in zip(offset, strides)) for offset in reach]
    return sparse.dia_matrix((np.array(inside, np.int8), diagonals), shape=2 * [place.shape[1]]).tocsr()


def with_values(a, values):
    a = sparse.csr_matrix(a)
    a.sort_indices()
    if values == "random":
        a.data = np.random.default_rng(1).uniform(-1, 1, a.nnz)
    else:
        rows = np.repeat(np.arange(a.shape[0], dtype=np.int32), np.diff(a.indptr))
        a.data = np.where(rows == a.indices, 6.0, -1.0)
    return a


def scattered(rows, columns_of):
    """A matrix of (row, column) pairs."""
    row, column = columns_of(np.random.default_rng(2))
    a = sparse.csr_matrix((np.ones(len(row)), (row, column)), (rows, rows))
    a.sum_duplicates()
    return a


def random_matrix(nonzeros):
    rows = nonzeros // 16
    return scattered(rows, lambda rng: (np.repeat(np.arange(rows, dtype=np.int32), 16),
                                        rng.integers(0, rows, 16 * rows, np.int32)))


def power_law(nonzeros):
    """Few rows and columns have most of the entries."""
    rows = nonzeros // 12
    return scattered(rows, lambda rng: tuple((rows * rng.random(nonzeros) ** 2.5).astype(np.int32) for _ in range(2)))


def generated(nonzeros):
    """Name and matrix, of about that many nonzeros."""
    def side(per_row, dimensions):
        return round((nonzeros / per_row) ** (1 / dimensions))

    for values in ("constant", "random"):
        yield f"5-point, {values}", with_values(grid(2 * [side(5, 2)], False), values)
        yield f"7-point, {values}", with_values(grid(3 * [side(7, 3)], False), values)
        yield f"27-point, {values}", with_values(grid(3 * [side(27, 3)], True), values)
    blocks = sparse.kron(grid(3 * [side(243, 3)], True), np.ones((3, 3), np.int8))
    yield "elasticity, random", with_values(blocks, "random")
    yield "random columns", with_values(random_matrix(nonzeros), "random")
    yield "power law", with_values(power_law(nonzeros), "random")


# ---- measuring


def seconds_per_call(call, budget):
    """The time of one call, from as many back to back as fit into `budget` seconds."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - start
        if took >= budget / 2:
            return took / count
        count = max(count + 1, min(10 * count, int(count * budget / max(took, 1e-9))))


def in_turns(calls, rounds, budget):
    """The times of each call in every round; the calls take turns."""
    times = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(rounds):
        for call, own in zip(calls, times):
            time.sleep(0.002)  # threads that wait for work go to sleep
            own.append(seconds_per_call(call, budget))
    return times


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def print_row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", file=sys.stderr, flush=True)


def print_head(*cells):
    print(file=sys.stderr)
    print_row(*cells)
    print_row(*("---" for _ in cells))


# ---- on the host: what Python adds


def c_multiply(library, container):
    """A call that multiplies through the C library, and one that only crosses over into C."""
    c = ctypes.CDLL(library)
    handle, matrix, info = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 5)()  # rows, columns, ...

    def check(status):
        c.spmvpack_error_text.restype = ctypes.c_char_p
        if status != 0:
            sys.exit(c.spmvpack_error_text().decode())

    data = pathlib.Path(container).read_bytes()  # in memory, where Python has it, too
    check(c.spmvpack_open_memory(data, ctypes.c_uint64(len(data)), ctypes.byref(handle)))
    check(c.spmvpack_host_load(handle, 0, ctypes.byref(matrix)))
    check(c.spmvpack_get_container_info(handle, info))
    x, y, one, zero = np.ones(info[1]), np.empty(info[0]), ctypes.c_double(1), ctypes.c_double(0)
    arguments = (matrix, ctypes.c_int(2), ctypes.c_void_p(ctypes.addressof(one)), ctypes.c_void_p(x.ctypes.data),
                 ctypes.c_void_p(ctypes.addressof(zero)), ctypes.c_void_p(y.ctypes.data), ctypes.c_int(0))
    multiply, nothing = c.spmvpack_host_multiply, ctypes.CDLL(None).labs
    check(multiply(*arguments))
    keep = x, y, one, zero, data
    return (lambda: (multiply(*arguments), keep)), (lambda: (nothing(*arguments), keep))


def worker(kind, library, container):
    """Prints the times of a call, in a process of its own: idle threads of one OpenMP library slow another down."""
    if kind == "c":
        multiply, nothing = c_multiply(library, container)
        times = {"c": seconds_per_call(multiply, 0.3) - seconds_per_call(nothing, 0.02)}
    else:
        m = sp.load(pathlib.Path(container).read_bytes())
        x, y = np.ones(m.shape[1]), np.empty(m.shape[0])
        times = {"M @ x": seconds_per_call(lambda: m @ x, 0.3),
                 "M.multiply": seconds_per_call(lambda: m.multiply(x, y), 0.3)}
    print(json.dumps(times))


def bench_overhead(library, rounds, directory):
    """M @ x and M.multiply(x, y) against the C library, on one thread, whose times vary less."""
    results, one_thread = [], dict(os.environ, OMP_NUM_THREADS="1")
    print_head("matrix", "nonzeros", "C, us", "`M.multiply(x, y)` adds, us", "`M @ x` adds, us", "of the time")
    for side in (4, 50, 200, 400, 800, 1600):
        m = sp.encode(with_values(grid([side, side], False), "random"), "csr")
        container = pathlib.Path(directory) / "overhead.spmvc"
        m.save(container, overwrite=True)
        times = {"c": [], "M @ x": [], "M.multiply": []}
        for _ in range(rounds):
            for kind in ("c", "python"):
                command = [sys.executable, __file__, "--worker", kind, "--c-library", str(library), str(container)]
                told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=one_thread).stdout)
                for name, seconds in told.items():
                    times[name].append(seconds * MICRO)
        c = statistics.median(times["c"])
        added = {name: statistics.median(p - q for p, q in zip(times[name], times["c"])) for name in times}
        results.append({"rows": m.shape[0], "nonzeros": m.nnz, "c_us": c, "multiply_adds_us": added["M.multiply"],
                        "matmul_adds_us": added["M @ x"], "times_us": times})
        print_row(f"5-point, {side} x {side}", f"{m.nnz:,}", f"{c:.1f}", f"{added['M.multiply']:+.1f}",
                  f"{added['M @ x']:+.1f}", f"{100 * added['M @ x'] / c:+.1f} %")
    return results


# ---- on the host: beside SciPy


def bench_scipy(directory, rounds):
    results = []
    print_head("matrix", "nonzeros", "layout", "bytes of CSR", "SciPy, us", "`M @ x`, us", "ratio",
               "`M.multiply`, ratio")
    for path in sorted(pathlib.Path(directory).iterdir()):
        if not re.search(r"\.(mtx|npz|rb|rua|spmvc)(\.|$)", path.name):
            continue
        try:
            m = sp.encode(path, target="host")
        except sp.Error as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            continue
        a = m.to_scipy()
        x, y = np.random.default_rng(1).standard_normal(m.shape[1]), np.empty(m.shape[0])
        difference = np.abs(m @ x - a @ x)
        assert np.all(difference <= 1e-12 * (abs(a) @ np.abs(x)) + 1e-300), path.name
        theirs, ours, into = in_turns([lambda: a @ x, lambda: m @ x, lambda: m.multiply(x, y)], rounds, 0.02)
        csr_bytes = a.nnz * (a.data.itemsize + 4) + 4 * (a.shape[0] + 1)
        result = {"name": path.name, "rows": m.shape[0], "nonzeros": m.nnz, "layout": m.layout,
                  "bytes_over_csr": m.device_bytes / csr_bytes, "scipy_us": statistics.median(theirs) * MICRO,
                  "matmul_us": statistics.median(ours) * MICRO, "multiply_us": statistics.median(into) * MICRO,
                  "ratio": statistics.median(t / o for t, o in zip(theirs, ours)),
                  "ratio_of_multiply": statistics.median(t / o for t, o in zip(theirs, into))}
        results.append(result)
        print_row(path.name.partition(".")[0], f"{m.nnz:,}", m.layout, f"{100 * result['bytes_over_csr']:.0f} %",
                  f"{result['scipy_us']:.1f}", f"{result['matmul_us']:.1f}", f"{result['ratio']:.2f}",
                  f"{result['ratio_of_multiply']:.2f}")
    for what, group in (("above 1 M nonzeros", [r["ratio"] for r in results if r["nonzeros"] > 1_000_000]),
                        ("the others", [r["ratio"] for r in results if r["nonzeros"] <= 1_000_000])):
        if group:
            print(f"{what}: geometric mean {mean(group):.2f}, least {min(group):.2f}, of {len(group)}", file=sys.stderr)
    return results


# ---- on the host: encoding


def bench_encode(program, rounds, directory):
    results = []
    source, target = pathlib.Path(directory) / "source.spmvc", pathlib.Path(directory) / "target.spmvc"
    print_head("matrix", "nonzeros", "layout", "command without reading, s", "`sp.encode(A)`, s", "ratio")
    for name, make in (("7-point, random", lambda: with_values(grid(3 * [100], False), "random")),
                       ("27-point, random", lambda: with_values(grid(3 * [60], True), "random")),
                       ("random columns", lambda: with_values(random_matrix(6_000_000), "random"))):
        a = make()
        sp.encode(a, "csr").save(source, overwrite=True)
        for layout in ("csr", "ccoo", "csell", "auto"):
            command, ours = [], []
            for _ in range(min(rounds, 5)):
                told = subprocess.run([program, "encode", source, "-o", target, "-f", "--layout", layout], check=True,
                                      stdout=subprocess.PIPE, text=True).stdout
                command.append(sum(float(t) for t in re.search(r"compress ([\d.]+), write ([\d.]+)", told).groups()))
                start = time.perf_counter()
                m = sp.encode(a, layout, target="gpu")
                ours.append(time.perf_counter() - start)
            assert m.digest == sp.load(target).digest
            ratio = statistics.median(c / o for c, o in zip(command, ours))
            results.append({"name": name, "nonzeros": a.nnz, "layout": layout, "command_s": statistics.median(command),
                            "encode_s": statistics.median(ours), "ratio": ratio})
            print_row(name, f"{a.nnz:,}", layout, f"{statistics.median(command):.2f}",
                      f"{statistics.median(ours):.2f}", f"{ratio:.2f}")
    return results


# ---- on a GPU


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


PEERS = ("cupyx A @ x", "torch A @ x")


class Gpu:
    """The libraries, and how to time what they queue on one stream."""

    def __init__(self):
        self.cupy, self.torch = optional("cupy"), optional("torch")
        if not self.cupy and not self.torch:
            sys.exit("neither CuPy nor PyTorch is installed")
        if self.torch:
            self.stream = self.torch.cuda.Stream()
            self.torch.cuda.set_stream(self.stream)
            self.handle = self.stream.cuda_stream
            if self.cupy:
                self.of_cupy = self.cupy.cuda.ExternalStream(self.handle).use()
        else:
            self.stream = self.cupy.cuda.Stream(non_blocking=True).use()
            self.handle = self.stream.ptr

    def name(self):
        if self.torch:
            return self.torch.cuda.get_device_name()
        return self.cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def events(self):
        if self.torch:
            return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]
        return [self.cupy.cuda.Event() for _ in range(2)]

    def milliseconds(self, start, end):
        return start.elapsed_time(end) if self.torch else self.cupy.cuda.get_elapsed_time(start, end)

    def graph_of(self, call, count):
        """A call that replays `count` calls, queued by one launch."""
        if self.torch:
            graph = self.torch.cuda.CUDAGraph()
            with self.torch.cuda.graph(graph, stream=self.stream):
                for _ in range(count):
                    call()
            return graph.replay
        self.stream.begin_capture()
        for _ in range(count):
            call()
        graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)

    def replayed_us(self, replay, count):
        """The time on the GPU alone, between two events, of one of `count` calls that are replayed."""
        start, end = self.events()
        replay()  # the GPU is busy until all that follows is queued
        start.record(self.stream)
        replay()
        end.record(self.stream)
        end.synchronize()
        return self.milliseconds(start, end) / count * 1e3

    def back_to_back_us(self, call, count):
        """A call's share of the time from the first call until the GPU has done all."""
        self.stream.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        self.stream.synchronize()
        return (time.perf_counter() - start) / count * MICRO

    def call_us(self, call, count=20):
        """The time until the call returns, the GPU idle before."""
        times = []
        for _ in range(count):
            self.stream.synchronize()
            start = time.perf_counter()
            call()
            times.append((time.perf_counter() - start) * MICRO)
        return statistics.median(times)


def gpu_calls(gpu, a, d):
    """Name and product, each with vectors of its own library."""
    cupy, torch = gpu.cupy, gpu.torch
    calls, results = {}, {}
    x = np.random.default_rng(1).standard_normal(a.shape[1])
    if cupy:
        from cupyx.scipy.sparse import csr_matrix

        cupy_x, cupy_y, theirs = cupy.asarray(x), cupy.empty(a.shape[0]), csr_matrix(a)
        calls["D.multiply(x, y), CuPy"] = lambda: d.multiply(cupy_x, cupy_y)
        calls["D @ x, CuPy"] = lambda: d @ cupy_x
        calls["cupyx A @ x"] = lambda: theirs @ cupy_x
        results = {name: call().get() for name, call in calls.items()}
    if torch:
        torch_x = torch.from_numpy(x).cuda()
        torch_y = torch.empty(a.shape[0], dtype=torch.float64, device="cuda")
        csr = torch.sparse_csr_tensor(*(torch.from_numpy(part).cuda() for part in (a.indptr, a.indices, a.data)),
                                      size=a.shape, check_invariants=False)
        of_torch = {"D.multiply(x, y), torch": lambda: d.multiply(torch_x, torch_y),
                    "D @ x, torch": lambda: d @ torch_x, "sp.torch.matvec(D, x)": lambda: sp.torch.matvec(d, torch_x),
                    "torch A @ x": lambda: csr @ torch_x}
        calls.update(of_torch)
        results.update({name: call().cpu().numpy() for name, call in of_torch.items()})
    bound = 1e-12 * (abs(a) @ np.abs(x)) + 1e-300
    expected = a @ x
    for name, y in results.items():
        assert np.all(np.abs(y - expected) <= bound), f"{name} is wrong"
    return calls


class OnGpu:
    """A matrix on the GPU, the products with it, and their times in every round."""

    def __init__(self, gpu, name, a):
        m = sp.encode(a, target="gpu")
        self.gpu = gpu
        self.facts = {"name": name, "rows": a.shape[0], "nonzeros": a.nnz, "layout": m.layout,
                      "device_bytes": m.device_bytes}
        d = m.to("cuda")
        d.prepare(gpu.handle)
        self.calls = gpu_calls(gpu, a, d)
        into = next(call for label, call in self.calls.items() if label.startswith("D.multiply"))
        self.replays = 50
        self.replay = gpu.graph_of(into, self.replays)
        self.forget()

    def forget(self):
        self.kernel = []
        self.times, self.returns = ({label: [] for label in self.calls} for _ in range(2))

    def measure(self):
        """One round."""
        self.kernel.append(self.gpu.replayed_us(self.replay, self.replays))
        count = max(20, min(500, int(10_000 / max(self.kernel[0], 1))))
        for label, call in self.calls.items():
            self.times[label].append(self.gpu.back_to_back_us(call, count))
            self.returns[label].append(self.gpu.call_us(call))

    def result(self):
        each = {label: statistics.median(own) for label, own in self.times.items()}
        peers = [each[label] for label in PEERS if label in each]
        ratio = min(peers) / min(each[label] for label in each if label.startswith("D @ x")) if peers else None
        return self.facts | {"kernel_us": statistics.median(self.kernel), "back_to_back_us": each,
                             "returns_after_us": {label: statistics.median(own) for label, own in self.returns.items()},
                             "over_the_faster_peer": ratio}


def bench_gpu(sizes, rounds):
    """All matrices take turns: a processor that others use, too, is slow for seconds at a time, which are then some
    rounds of every matrix and not all rounds of a few."""
    gpu = Gpu()
    matrices = [OnGpu(gpu, name, a) for size in sizes for name, a in generated(size)]
    start = time.perf_counter()
    while time.perf_counter() < start + 3:  # until the clocks of both processors have risen
        matrices[0].measure()
    matrices[0].forget()
    for _ in range(rounds):
        for matrix in matrices:
            matrix.measure()
    results = [matrix.result() for matrix in matrices]
    print_head("matrix", "nonzeros", "layout", "kernel, us", "`D.multiply` adds", "`D @ x` adds", "`D @ x`, us",
               "cupyx `A @ x`", "torch `A @ x`", "over the faster")
    for r in results:
        each, kernel = r["back_to_back_us"], r["kernel_us"]
        adds = {what: "/".join(f"{each[label] - kernel:+.1f}" for label in each if label.startswith(what))
                for what in ("D.multiply", "D @ x")}
        print_row(r["name"], f"{r['nonzeros']:,}", r["layout"], f"{kernel:.1f}", adds["D.multiply"], adds["D @ x"],
                  f"{min(each[label] for label in each if label.startswith('D @ x')):.1f}",
                  *(f"{each[peer]:.1f}" if peer in each else "-" for peer in PEERS),
                  f"{r['over_the_faster_peer']:.2f}" if r["over_the_faster_peer"] else "-")
    ratios = [r["over_the_faster_peer"] for r in results if r["over_the_faster_peer"]]
    if ratios:
        print(f"over the faster of CuPy and PyTorch: geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}",
              file=sys.stderr)
    peers = {module.__name__: module.__version__ for module in (gpu.cupy, gpu.torch) if module}
    return {"gpu": gpu.name(), "peers": peers, "products": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=pathlib.Path, help="a directory, for the comparison with SciPy")
    parser.add_argument("--c-library", type=pathlib.Path, help="libspmvpack_c.so, for what Python adds")
    parser.add_argument("--spmvpack", type=pathlib.Path, help="the command, for the comparison of encoding")
    parser.add_argument("--gpu", action="store_true", help="the comparison on a GPU, and nothing else")
    parser.add_argument("--sizes", type=int, nargs="+", default=[25_000, 1_000_000, 20_000_000],
                        help="nonzeros of the matrices on a GPU")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--worker", choices=["c", "python"], help=argparse.SUPPRESS)
    parser.add_argument("container", nargs="?", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker, args.c_library, args.container)
        return
    result = {"processor": processor(), "cores": len(os.sched_getaffinity(0)), "rounds": args.rounds,
              "versions": {"spmvpack": sp.__version__, "python": platform.python_version(),
                           "numpy": np.__version__, "scipy": scipy.__version__}}
    with tempfile.TemporaryDirectory(prefix="spmvpack-bench-", dir="/dev/shm") as directory:
        if args.gpu:
            result.update(bench_gpu(args.sizes, args.rounds))
        else:
            if args.c_library:
                result["overhead"] = bench_overhead(args.c_library, args.rounds, directory)
            if args.matrices:
                result["scipy_products"] = bench_scipy(args.matrices, args.rounds)
            if args.spmvpack:
                result["encode"] = bench_encode(args.spmvpack, args.rounds, directory)
    text = json.dumps(result, indent=1)
    if args.json:
        args.json.write_text(text + "\n", encoding="ascii")
    else:
        print(text)


if __name__ == "__main__":
    main()
