#!/usr/bin/env python3
"""Measures what `encode --tune` takes beside the best of all layouts, each measured by `bench`.

    benchmarks/bench_tuner.py SPMVPACK MATRIX... --json FILE [--device host] [--seconds LIMIT]
    benchmarks/bench_tuner.py --table FILE

MATRIX is a file, or "generate ..." as that command has it; @FILE has one of them a line. Times are the geometric means of
cold and warm medians, which is what the tuner goes by; where the tuner's is not the least, it and the least are measured
twice more, and medians count. Layouts whose padding reads x, which auto leaves alone, cannot be the best, nor, on a GPU,
can those for hosts. No matrix is begun after LIMIT. What auto takes without measuring is in the file, too.
"""

import argparse
import json
import math
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

NOISE = 1.03  # two times within this are alike


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def bench_of(spmvpack, device, path, *layouts):
    options = [option for layout in layouts for option in ("--layout", layout)]
    return json.loads(run(spmvpack, "bench", path, "--device", device, "--json", "-q", "--peers", "none",
                          "--kernels", "default", "--runs", "15", *options))


def times_of(bench):
    """Microseconds of each layout's default kernel; of those that make the same plan, as split may, the first one's."""
    first, times = {}, {}
    for result in bench["matrices"][0]["results"]:
        if not result["skipped"]:
            us = math.sqrt(result["cold"]["median"] * result["warm"]["median"])
            times[result["layout"]] = first.setdefault(result["device_bytes"], us)
    return times


def measure(spmvpack, device, source, directory):
    path = source
    if source.startswith("generate "):
        path = f"{directory}/matrix.mtx"
        run(spmvpack, *shlex.split(source), "-o", path, "-q", "-f")
    bench = bench_of(spmvpack, device, path)
    times = times_of(bench)
    report = json.loads(run(spmvpack, "report", path, "--target", device, "--json"))
    allowed = {layout["name"] for layout in report["layouts"] if not layout["fill_reads_x"] and not layout["too_large"]}
    times = {name: us for name, us in times.items() if name in allowed}
    tuned = json.loads(run(spmvpack, "encode", path, "-o", f"{directory}/matrix.spmvc", "-f", "--tune", device, "--json"))
    compared = {tuned["plan"]["layout"], min(times, key=times.get)}
    if len(compared) > 1:  # noise makes the least of many times look better than it is
        again = [times_of(bench_of(spmvpack, device, path, *compared)) for _ in range(2)]
        times.update({name: statistics.median([times[name], *(found[name] for found in again)]) for name in compared})
    return bench["machine"]["name"], {
        "name": source, "nonzeros": bench["matrices"][0]["nonzeros"],
        "us": {name: round(us, 3) for name, us in times.items()},
        "tuned": tuned["plan"]["layout"], "auto": report["recommended"]["layout"],
        "measured": [layout["layout"] for layout in tuned["tuning"]["layouts"] if layout["seconds"] is not None],
        "tuning_seconds": round(tuned["seconds"]["plan"], 3),
    }


def table(found):
    lines = ["| | matrices | over the best | worst | within 3 % |", "|---|---|---|---|---|"]
    for who, key in (("`--tune`", "tuned"), ("`auto`", "auto")):
        over = [(m["us"][m[key]] / min(m["us"].values()), m["name"]) for m in found["matrices"]]
        worst, name = max(over)
        mean = math.exp(sum(math.log(x) for x, _ in over) / len(over))
        lines.append(f"| {who} | {len(over)} | {mean:.3f} | {worst:.2f} ({name}) | "
                     f"{100 * sum(x <= NOISE for x, _ in over) / len(over):.0f} % |")
    seconds = sorted(m["tuning_seconds"] for m in found["matrices"])
    lines.append("")
    lines.append(f"Planning and measuring took {seconds[len(seconds) // 2]:.2f} s (median), at most {seconds[-1]:.2f} s.")
    return "\n".join(lines)


def sources_of(arguments):
    for argument in arguments:
        if argument.startswith("@"):
            yield from filter(None, pathlib.Path(argument[1:]).read_text().splitlines())
        else:
            yield argument


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spmvpack", nargs="?")
    parser.add_argument("matrices", nargs="*")
    parser.add_argument("--json")
    parser.add_argument("--table")
    parser.add_argument("--device", choices=("gpu", "host"), default="gpu")
    parser.add_argument("--seconds", type=float, default=math.inf)
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads(pathlib.Path(arguments.table).read_text())))
        return
    if not arguments.matrices or not arguments.json:
        parser.error("needs the command, matrices and --json FILE, or --table FILE")
    start = time.monotonic()
    found = {"machine": None, "matrices": []}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as directory:
        for source in sources_of(arguments.matrices):
            if time.monotonic() - start > arguments.seconds:
                print(f"not begun, for want of time: {source}", file=sys.stderr)
                continue
            found["machine"], matrix = measure(arguments.spmvpack, arguments.device, source, directory)
            found["matrices"].append(matrix)
            best = min(matrix["us"], key=matrix["us"].get)
            tuned = matrix["tuned"]
            print(f"{source}: {tuned} {matrix['us'][tuned]:.1f}, best {best} {matrix['us'][best]:.1f}", file=sys.stderr)
    pathlib.Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))


if __name__ == "__main__":
    main()
