#!/usr/bin/env python3
"""The tables and figures of the five papers, with this project's figures beside theirs.

usage: benchmarks/papers.py                        print them, from docs/bench/papers_{reports,times,solver}.json
       benchmarks/papers.py --run SPMVPACK [--solver SOLVER_BENCHMARK]
                                                   first measure all times on this machine's GPU, into the file that
                                                   --times names, and solvers, into that of --solver-times; with
                                                   --missing only what that file has no times of
       benchmarks/papers.py --collect SPMVPACK     first make the matrices and reports again (minutes, some GB);
                                                   with --missing only those that there are none of
       benchmarks/papers.py --write                put them into docs/PAPERS.md, between <!-- papers: NAME --> and
                                                   <!-- /papers -->, instead of printing
       benchmarks/papers.py --check                exit with 1 if docs/PAPERS.md is not what --write would write

Bytes come from `spmvpack report --json` of matrices that `spmvpack generate` makes, times from `spmvpack bench`, which
makes them again. A matrix of more nonzeros than --most (230 million, for which reports take 10 GB of memory) is
listed, but not made. --run ends after --seconds (240; --solver takes 90 more); tables say what there was no time for.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import papers_measure
from papers_tables import Tables

BENCH = pathlib.Path(__file__).resolve().parent.parent / "docs" / "bench"
REPORTS, TIMES, SOLVER = (BENCH / f"papers_{what}.json" for what in ("reports", "times", "solver"))
SCALING = BENCH / "petsc_scaling_4_h200.json"
PAGE = BENCH.parent / "PAPERS.md"


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def written(page, tables):
    used = set()

    def block(match):
        name = match.group(1)
        if name not in tables:
            sys.exit(f"{PAGE}: no table is named {name}")
        used.add(name)
        return f"<!-- papers: {name} -->\n{tables[name]}\n<!-- /papers -->"

    text = re.sub(r"<!-- papers: ([a-z0-9-]+) -->\n.*?<!-- /papers -->", block, page, flags=re.DOTALL)
    if missing := tables.keys() - used:
        sys.exit(f"{PAGE}: there is no place for {', '.join(sorted(missing))}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", metavar="SPMVPACK")
    parser.add_argument("--solver", metavar="SOLVER_BENCHMARK")
    parser.add_argument("--times", type=pathlib.Path, default=TIMES, metavar="FILE")
    parser.add_argument("--solver-times", type=pathlib.Path, default=SOLVER, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--runs", type=int, default=15, help="of each kernel")
    parser.add_argument("--collect", metavar="SPMVPACK")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this matrix of the papers, by "
                        "their name, such as UHBR; with --missing, which keeps the others; may be repeated")
    parser.add_argument("--most", type=int, default=230_000_000, metavar="NONZEROS")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.only and not options.missing:
        parser.error("--only takes --missing, which keeps what there is of other matrices")
    if options.collect:
        write(REPORTS, papers_measure.collect(options.collect, options.most, read(REPORTS) if options.missing else {},
                                              options.only))
    if options.run:
        write(options.times, papers_measure.measure(options.run, options.most, options.seconds, options.runs,
                                                    options.only, read(options.times) if options.missing else None))
    if options.solver:
        subprocess.run([options.solver, options.solver_times], check=True, stdout=sys.stderr)
    tables = Tables(read(REPORTS), papers_measure.Times(read(options.times)), read(options.solver_times),
                    read(SCALING)).all()
    if options.write or options.check:
        page = PAGE.read_text(encoding="utf-8")
        text = written(page, tables)
        if options.write:
            PAGE.write_text(text, encoding="utf-8")
        elif text != page:
            sys.exit(f"{PAGE} is not what benchmarks/papers.py --write makes of docs/bench/papers_*.json")
        return
    for name, text in tables.items():
        print(f"## {name}\n\n{text}\n")


if __name__ == "__main__":
    main()
