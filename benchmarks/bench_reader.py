#!/usr/bin/env python3
"""Reads Matrix Market files with spmvpack and with fast_matrix_market (SciPy's engine), one after the other in one run.

    benchmarks/bench_reader.py --reader build/release/benchmarks/reader_benchmark [--directory DIR] [--json docs/bench/reader.json]

Makes the files (about 200 MB each, 2 GB in all) and a virtual environment with fast_matrix_market in DIR and keeps them
there. Every read is a process of its own, timed around the read alone, the file in the page cache; the two take turns.
Prints medians, as a table on standard error and as JSON.
"""

import argparse
import json
import pathlib
import platform
import statistics
import subprocess
import sys

FAST_MATRIX_MARKET = "fast_matrix_market==1.7.6"
MEGABYTE = 1e6

# Columns of a banded matrix in column-major order, as the SuiteSparse collection has them.
MAKE = r"""
import sys
import fast_matrix_market, numpy, scipy.sparse
path, field, digits, symmetry, entries = sys.argv[1:]
entries = int(entries)
random = numpy.random.default_rng(1)
per_column, band = 20, 5000
n = entries // per_column
column = numpy.repeat(numpy.arange(n), per_column)
row = column + random.integers(0 if symmetry == "symmetric" else -band, band, entries)
keep = (row >= 0) & (row < n)
row, column = row[keep], column[keep]
value = {"real": lambda: random.uniform(-1000, 1000, len(row)), "integer": lambda: random.integers(-999, 1000, len(row)),
         "pattern": lambda: numpy.ones(len(row))}[field]()
if digits == "short":
    value = numpy.round(value, 3)
a = scipy.sparse.csc_matrix((value, (row, column)), (n, n))
if symmetry == "symmetric":
    a = scipy.sparse.tril(a) + scipy.sparse.tril(a, -1).T
fast_matrix_market.mmwrite(path, a.tocsc(), field=field, precision=17 if digits == "17" else None,
                           symmetry=symmetry, find_symmetry=False)
"""

# What a user of SciPy waits for is the matrix in CSR; both times are taken.
READ = r"""
import json, resource, sys, time
import fast_matrix_market, scipy.sparse
path, threads = sys.argv[1], int(sys.argv[2])
def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime
start, cpu_start = time.perf_counter(), cpu()
a = fast_matrix_market.mmread(path, parallelism=threads)
seconds, cpu_seconds = time.perf_counter() - start, cpu() - cpu_start
a = a.tocsr()
csr_seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "csr_seconds": csr_seconds, "peak_bytes": peak,
                  "nonzeros": int(a.nnz)}))
"""

# name: field, digits, symmetry, entries
FILES = {
    "real, 17 digits, general": ("real", "17", "general", 6_000_000),
    "real, 17 digits, symmetric": ("real", "17", "symmetric", 6_000_000),
    "real, short, general": ("real", "short", "general", 9_000_000),
    "real, short, symmetric": ("real", "short", "symmetric", 9_000_000),
    "integer, general": ("integer", "", "general", 10_000_000),
    "integer, symmetric": ("integer", "", "symmetric", 10_000_000),
    "pattern, general": ("pattern", "", "general", 12_000_000),
    "pattern, symmetric": ("pattern", "", "symmetric", 12_000_000),
}


def make_environment(directory):
    python = directory / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", directory / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", FAST_MATRIX_MARKET, "numpy", "scipy"], check=True)
    return python


def make_file(python, directory, name):
    path = directory / (name.replace(", ", "_").replace(" ", "_") + ".mtx")
    if not path.exists():
        unfinished = path.with_suffix(".tmp")
        subprocess.run([python, "-c", MAKE, unfinished, *map(str, FILES[name])], check=True)
        unfinished.rename(path)
    return path


def read(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def warm(path):
    """Into the page cache; in small pieces, as a child's peak memory counts from its parent's."""
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


def measure(reader, python, path, threads, repeat):
    ours, theirs = [], []
    warm(path)
    for _ in range(repeat):
        theirs.append(read([python, "-c", READ, path, str(threads)]))
        ours.append(read([reader, path, str(threads)]))
    if ours[0]["nonzeros"] != theirs[0]["nonzeros"]:
        sys.exit(f"{path}: {ours[0]['nonzeros']} nonzeros, by fast_matrix_market {theirs[0]['nonzeros']}")
    megabytes = path.stat().st_size / MEGABYTE
    return {
        "threads": threads,
        "megabytes": round(megabytes, 1),
        "spmvpack_mb_s": round(megabytes / median(ours, "seconds"), 1),
        "fast_matrix_market_mb_s": round(megabytes / median(theirs, "seconds"), 1),
        "ratio": round(median(theirs, "seconds") / median(ours, "seconds"), 2),
        "ratio_to_csr": round(median(theirs, "csr_seconds") / median(ours, "seconds"), 2),
        "ratio_cpu": round(median(theirs, "cpu_seconds") / median(ours, "cpu_seconds"), 2),
        "peak_over_csr": round(median(ours, "peak_bytes") / ours[0]["csr_bytes"], 2),
        "fast_matrix_market_peak_over_csr": round(median(theirs, "peak_bytes") / ours[0]["csr_bytes"], 2),
        "seconds": {"spmvpack": [run["seconds"] for run in ours],
                    "fast_matrix_market": [run["seconds"] for run in theirs]},
    }


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", type=pathlib.Path, required=True, help="the reader_benchmark of a release build")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("bench-reader"))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", help="files whose name has this in it")
    args = parser.parse_args()
    args.directory.mkdir(parents=True, exist_ok=True)
    python = make_environment(args.directory.resolve())
    result = {"processor": processor(), "against": FAST_MATRIX_MARKET, "repeat": args.repeat, "files": {}}
    print("| file | threads | MB/s | fast_matrix_market | ratio | with its CSR | CPU time | peak / CSR | its |",
          "|---|---|---|---|---|---|---|---|---|", sep="\n", file=sys.stderr)
    for name in FILES:
        if args.only and args.only not in name:
            continue
        path = make_file(python, args.directory.resolve(), name)
        result["files"][name] = []
        for threads in args.threads:
            m = measure(args.reader.resolve(), python, path, threads, args.repeat)
            result["files"][name].append(m)
            print(f"| {name} | {threads} | {m['spmvpack_mb_s']:.0f} | {m['fast_matrix_market_mb_s']:.0f} | "
                  f"{m['ratio']:.2f} | {m['ratio_to_csr']:.2f} | {m['ratio_cpu']:.2f} | {m['peak_over_csr']:.2f} | "
                  f"{m['fast_matrix_market_peak_over_csr']:.2f} |", file=sys.stderr, flush=True)
    text = json.dumps(result, indent=1)
    if args.json:
        args.json.write_text(text + "\n", encoding="ascii")
    else:
        print(text)


if __name__ == "__main__":
    main()
