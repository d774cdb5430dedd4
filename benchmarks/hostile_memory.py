#!/usr/bin/python3
"""Measures what each command takes at its peak for files that ask for far more than they are.

    benchmarks/hostile_memory.py build/release/tools/spmvpack [--mutants 1000] [--limit 100M] [--json FILE]

The files of tests/second_reader/hostile.py and mutants of golden containers, whose checksums are right, go through all
commands with --memory-limit (tests/hostile_test.py does the same with few mutants). Prints a table of the peaks, in
MiB, and of the longest times; exits with 1 if a command took more than the limit and 64 MiB, or crashed.
"""

import argparse
import itertools
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "second_reader")]

import test_support
import hostile
import hostile_test
from peak_memory import Measurer

MIB = 1 << 20


def summary(name, files, done):
    peak = max(done, key=lambda d: d[1]["peak_bytes"])
    slowest = max(done, key=lambda d: d[1]["seconds"])
    codes = {}
    for _, result in done:
        codes[str(result["exit_code"])] = codes.get(str(result["exit_code"]), 0) + 1
    return {"file": name, "files": files, "runs": len(done), "peak_bytes": peak[1]["peak_bytes"],
            "peak_command": peak[0][0], "seconds": round(slowest[1]["seconds"], 2), "slowest_command": slowest[0][0],
            "exit_codes": codes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spmvpack")
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--limit", type=int, default=100, help="MiB (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    test_support.command = str(pathlib.Path(options.spmvpack).resolve())
    limit = options.limit * MIB
    measure, results, wrong = Measurer(), [], []
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        output = directory / "out.spmvc"

        def attempt(path):
            failed, done = hostile_test.failures(measure, path, output, limit)
            wrong.extend(failed)
            return done

        for path in hostile.hostile(directory):
            results.append(summary(path.name, 1, attempt(path)))
            path.unlink()
        done, path = [], directory / "mutant.spmvc"
        golden = hostile.mutants(hostile_test.GOLDEN / "accept", options.seed)
        for _, content in itertools.islice(golden, options.mutants):
            path.write_bytes(content)
            done += attempt(path)
        if done:
            results.append(summary("mutants", options.mutants, done))
    measure.close()
    print(f"limit {options.limit} MiB\n\n| file | peak | of | longest | of | exit codes |\n|---|---|---|---|---|---|")
    for r in results:
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(r["exit_codes"].items()))
        print(f"| `{r['file']}` | {r['peak_bytes'] / MIB:.0f} MiB | {r['peak_command']} | {r['seconds']:.1f} s | "
              f"{r['slowest_command']} | {codes} |")
    for failure in wrong:
        print(f"WRONG: {failure}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps({"limit_bytes": limit, "mutants": options.mutants, "seed": options.seed,
                                            "results": results, "wrong": wrong}, indent=2) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
