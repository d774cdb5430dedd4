#!/usr/bin/env python3
"""Multiplies on the host in our layouts beside Intel's MKL (inspector-executor), AMD's AOCL-Sparse and SciPy: warm, f64,
one process for each competitor in turn, as two OpenMP libraries in a process disturb each other.

    cmake --preset release && cmake --build build/release --target host_peers
    python3 -m venv --system-site-packages venv && venv/bin/pip install mkl     # or aoclda; and NumPy, SciPy
    venv/bin/python benchmarks/bench_host_peers.py --programs build/release/benchmarks --layout csr --layout auto \\
        --threads 1 --threads 2 --json host_peers.json A.mtx.gz DIRECTORY suite 'generate laplace2d --grid 600x600'

Sources: files in any form that `spmvpack` reads; directories of them; `suite`, the small matrices of the benchmark
suite, or 'suite NAME', one of it; 'generate WORDS' as one argument, what `spmvpack generate WORDS` makes. Complex
matrices are left out and so are those with fewer nonzeros than --least.

A layout is the name of a strategy, with settings after commas: csr, auto, csell,csell.sums=2. auto is for the host.
Figures are speeds over the faster of MKL and AOCL-Sparse, that is its time over ours: the better of the times with its
optimize() and without. --columns K multiplies K columns at once, row-major, and --single beside them K times one (the
time of one times K, in layouts named so). Times are the medians of --rounds processes, each of which gives the median of a time of --seconds; with --busy,
for a machine that others use, too, they are the least of fifth percentiles. --cpus binds processes of n threads to the
first n of these processors.
"""

import argparse
import importlib.metadata
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


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        lines = file.read().split("\n\n")[0].splitlines()
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = fields.get("model name", platform.machine())
    if "cpu family" in fields:
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return name


def find_library(given, package, pattern):
    """The library given, or that of a Python package; None if there is none."""
    if given:
        return pathlib.Path(given).resolve()
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((file.locate().resolve() for file in files if re.fullmatch(pattern, file.name)), None)


# ---- what SciPy's process does


def scipy_worker(path, seconds, columns):
    import numpy as np
    import scipy
    from scipy import sparse

    data = np.fromfile(path, np.uint8)
    at = 0

    def take(dtype, count):
        nonlocal at
        part = data[at:at + count * np.dtype(dtype).itemsize].view(dtype)
        at += -(-part.nbytes // 64) * 64
        return part

    rows, cols, nnz = (int(n) for n in take(np.uint64, 3))
    row_ptr, col_idx = take(np.int32, rows + 1), take(np.int32, nnz)
    values, x, expected, bound = (take(np.float64, n) for n in (nnz, cols, rows, rows))
    a = sparse.csr_matrix((values, col_idx, row_ptr), (rows, cols))
    if columns != 1:
        factors = 2.0**(np.arange(columns) % 8)
        x, expected, bound = (np.ascontiguousarray(np.outer(v, factors)) for v in (x, expected, bound))
    for limit in (seconds / 3, seconds):  # the first is not counted
        times, end = [], time.perf_counter() + limit
        while len(times) < 7 or start < end:
            start = time.perf_counter()
            y = a @ x
            times.append((time.perf_counter() - start) * 1e6)
    times.sort()
    print(json.dumps({"us": times[len(times) // 2], "fifth_percentile_us": times[len(times) // 20], "runs": len(times), "by": scipy.__version__,
                      "right": bool(np.all(np.abs(y - expected) <= bound))}))


# ---- one process after the other

kinds = "plain", "optimized"  # without optimize() and with
one_by_one = " one by one"  # columns, each by a multiply of its own


class Measurement:
    def __init__(self, options, libraries):
        self.options, self.libraries = options, libraries
        self.programs = pathlib.Path(options.programs)
        self.told_failures = set()

    def competitors(self):
        names = list(self.libraries) + self.options.layout
        if self.options.scipy:
            names.append("scipy")
        return names

    def run(self, name, arrays, threads):
        """What one process of a competitor tells: name and figures, of MKL twice."""
        seconds = str(self.options.seconds)
        # Each library's own variable, too; what binds threads is left to the caller.
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), MKL_DYNAMIC="FALSE")
        single = name.endswith(one_by_one)
        columns = 1 if single else self.options.columns
        if name in self.libraries:
            library = self.libraries[name]
            command = [self.programs / "library_times", name, library, arrays, seconds, str(columns)]
            paths = [str(library.parent), environment.get("LD_LIBRARY_PATH", "")]
            environment["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
        elif name == "scipy":
            command = [sys.executable, __file__, "--scipy-worker", arrays, "--seconds", seconds, "--columns", str(columns)]
        else:
            layout, *settings = name.removesuffix(one_by_one).split(",")
            command = [self.programs / "layout_times", "multiply", arrays, layout, str(threads), seconds, str(columns),
                       *settings]

        def bind():
            if self.options.cpus:
                os.sched_setaffinity(0, self.options.cpus[:threads])

        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True,
                              preexec_fn=bind, check=False)
        if done.returncode != 0:
            return {name: {"error": done.stderr.strip() or f"ended with status {done.returncode}, without a message"}}
        told = json.loads(done.stdout)
        if name in self.libraries:
            return {f"{name} {kind}": dict(told[kind], by=told["version"]) for kind in kinds}
        if single:
            for time_ in ("us", "fifth_percentile_us"):
                told[time_] *= self.options.columns
        return {name: told}

    def tell_failure(self, name, error):
        """Once for each competitor and reason, for which the last line stands."""
        reason = error.splitlines()[-1]
        if (name, reason) not in self.told_failures:
            self.told_failures.add((name, reason))
            print(f"{name} is left out: {reason}", file=sys.stderr)

    def measure(self, arrays, threads):
        """The figures of all competitors, that take turns."""
        rounds = {}
        for _ in range(self.options.rounds):
            for competitor in self.competitors():
                for name, told in self.run(competitor, arrays, threads).items():
                    rounds.setdefault(name, []).append(told)
        results = {}
        for name, told in rounds.items():
            failed = next((t for t in told if "error" in t), None)
            if failed:
                results[name] = failed
                self.tell_failure(name, failed["error"])
                continue
            if not all(t["right"] for t in told):
                sys.exit(f"{name} is wrong")
            times = [t[self.options.statistic] for t in told]
            middle = statistics.median if self.options.statistic == "us" else min
            results[name] = dict(told[-1], us=middle(times), rounds_us=times)
            if "encode_s" in told[-1]:
                results[name]["encode_s"] = min(t["encode_s"] for t in told)
        return results


def best_peer(results):
    """The least time of a library."""
    times = [result["us"] for name, result in results.items() if name.endswith(kinds) and "us" in result]
    return min(times) if times else None


def sources(options):
    """Names and sources."""
    listed = []
    for source in options.sources:
        path = pathlib.Path(source)
        if source == "suite":
            names = subprocess.run([pathlib.Path(options.programs) / "layout_times", "suite"], stdout=subprocess.PIPE,
                                   text=True, check=True).stdout.split()
            listed += [(name, f"suite {name}") for name in names]
        elif source.startswith(("suite ", "generate ")):
            listed.append((source.partition(" ")[2], source))
        elif path.is_dir():
            found = [p for p in path.iterdir() if re.search(r"\.(mtx|rb|rua|npz)(\.|$)", p.name)]
            listed += [(p.name.partition(".")[0], str(p)) for p in sorted(found)]
        else:
            listed.append((path.name.partition(".")[0], source))
    return listed


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def cell(results, name):
    result, peer = results.get(name, {}), best_peer(results)
    if "us" not in result:
        return "-"
    layout = f" {result['layout']}" if result.get("layout", name) != name.partition(",")[0] else ""
    return (f"{peer / result['us']:.2f}" if peer else f"{result['us']:.1f} us") + layout


def print_row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def print_head(*cells):
    print_row(*cells)
    print_row(*("---" for _ in cells))


def print_summary(report, names):
    """Geometric mean and least speed over the libraries' best, by number of threads."""
    versions = " and ".join(f"{name} {report[name]}" for name in ("mkl", "aocl") if report[name])
    print(f"\n{report['processor']}; {len(report['matrices'])} matrices; {report['columns']} column(s); speed over "
          f"{versions}, geometric mean (least)\n")
    print_head("", *(f"threads: {t}" for t in report["threads"]))
    for name in names:
        row = []
        for threads in report["threads"]:
            speeds = [(best_peer(r) / r[name]["us"], m["name"]) for m in report["matrices"]
                      for r in [m["threads"][str(threads)]] if "us" in r.get(name, {}) and best_peer(r)]
            row.append(f"{mean([s for s, _ in speeds]):.2f} ({min(speeds)[0]:.2f} {min(speeds)[1]})" if speeds else "-")
        print_row(name, *row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE")
    parser.add_argument("--programs", default="build/release/benchmarks", help="where layout_times and library_times are")
    parser.add_argument("--layout", action="append", default=[], help="may be repeated; default: csr and auto")
    parser.add_argument("--threads", action="append", type=int, default=[], help="may be repeated; default: 1")
    parser.add_argument("--cpus", type=lambda text: [int(c) for c in text.split(",")], help="such as 0,1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy", dest="statistic", action="store_const", const="fifth_percentile_us", default="us")
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--least", type=int, default=50_000, help="nonzeros")
    parser.add_argument("--mkl", help="libmkl_rt.so; default: that of the Python package mkl")
    parser.add_argument("--aocl", help="libaoclsparse.so; default: that of the Python package aoclda")
    parser.add_argument("--no-mkl", action="store_true", help="without MKL: with no other library, times instead of speeds")
    parser.add_argument("--columns", type=int, default=1)
    parser.add_argument("--single", action="store_true", help="each layout also one column after the other")
    parser.add_argument("--no-scipy", dest="scipy", action="store_false")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--scipy-worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scipy_worker:
        scipy_worker(options.scipy_worker, options.seconds, options.columns)
        return
    options.layout = options.layout or ["csr", "auto"]
    options.threads = options.threads or [1]
    if options.single:
        options.layout += [layout + one_by_one for layout in options.layout]
    mkl = None if options.no_mkl else find_library(options.mkl, "mkl", r"libmkl_rt\.so(\.\d+)*")
    aocl = find_library(options.aocl, "aoclda", r"libaoclsparse-.*\.so(\.\d+)*")
    libraries = {name: path for name, path in (("mkl", mkl), ("aocl", aocl)) if path}
    if not mkl and not options.no_mkl:
        sys.exit("MKL is not installed, so that nothing is measured: `pip install mkl`, name its library by --mkl, or give "
                 "--no-mkl for our times and SciPy's alone")
    if not aocl:
        print("aocl is left out: `pip install aoclda`, or name its library by --aocl", file=sys.stderr)
    if not options.sources:
        parser.error("no sources")
    measurement = Measurement(options, libraries)
    names = [n for c in measurement.competitors() for n in ([f"{c} {kind}" for kind in kinds] if c in libraries else [c])]
    report = {"processor": processor(), "threads": options.threads, "cpus": options.cpus, "rounds": options.rounds,
              "statistic": options.statistic, "seconds": options.seconds, "columns": options.columns, "mkl": None,
              "aocl": None, "matrices": []}
    print_head("matrix", "nonzeros", "threads", "best library, us", *names)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as directory:
        arrays = pathlib.Path(directory) / "arrays"
        for name, source in sources(options):
            made = subprocess.run([measurement.programs / "layout_times", "arrays", source, arrays], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if made.returncode != 0:
                print(f"{name} is left out: {made.stderr.strip()}", file=sys.stderr)
                continue
            matrix = dict(name=name, **json.loads(made.stdout), threads={})
            if matrix["nonzeros"] < options.least:
                continue
            for threads in options.threads:
                results = matrix["threads"][str(threads)] = measurement.measure(arrays, threads)
                for library in libraries:
                    report[library] = results.get(f"{library} plain", {}).get("by", report[library])
                peer = best_peer(results)
                print_row(name, f"{matrix['nonzeros']:,}", threads, f"{peer:.1f}" if peer else "-",
                          *(cell(results, n) for n in names))
            report["matrices"].append(matrix)
            if options.json:
                options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if report["matrices"] and libraries:
        print_summary(report, names)


if __name__ == "__main__":
    main()
