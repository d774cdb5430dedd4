#!/usr/bin/env python3
"""The figures of docs/PREDICTIONS.md, "Kinds that prices were not fitted to", follow from the committed measurements.

usage: left_out_test.py

Fits the prices of each machine again without each kind of generated matrix, and without each real one, as
benchmarks/fit_times.py --left-out does, and compares what becomes of what was left out with its line in the tables.
"""

import collections
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of small systems, for which threads wait for one another
try:
    import fit_times
    import scipy.optimize  # noqa: F401
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)


def lines_of(machine, title):
    """{kind: the numbers of its line} in the table of the document."""
    text = (ROOT / "docs/PREDICTIONS.md").read_text()
    text = re.search(r"<!-- left out -->(.*?)<!-- /left -->", text, re.S)[1]
    name = fit_times.load(fit_times.times_path(machine))["machine"]
    text = text[text.index(f"\n{name}, {fit_times.CACHES[machine]}"):]
    table = text[text.index(f"**{title}**"):].split("\n\n")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0].strip("*"): numbers(row[1:]) for row in rows}


def numbers(cells):
    return [float(cell.replace("%", "")) for cell in cells]


def check(found, told, what):
    """As many matrices; ratios and percentages as printed, but for the last digit, which a library's version may move."""
    for a, b, off in zip(found, told, (0, 0.0021, 0.021, 4, 0.6, 2)):
        if abs(a - b) > off:
            raise AssertionError(f"{what}: {found}, but the document says {told}")


def recompute(machine):
    times = fit_times.chosen_from(fit_times.load(fit_times.times_path(machine)))
    fit = fit_times.fit_once(machine)
    groups = [group for group in fit_times.LEFT_OUT if any(m["group"] == group for m in times["matrices"])]
    told = {group: lines_of(machine, fit_times.LEFT_OUT[group]) for group in groups}
    found = {group: {"all": fit_times.Record()} for group in groups}
    kinds = sorted({fit_times.kind_of(m) for m in times["matrices"]})
    for kind in kinds:
        rest = {"machine": times["machine"], "matrices": [m for m in times["matrices"] if fit_times.kind_of(m) != kind]}
        prices = collections.defaultdict(float, fit(rest))
        for matrix in (m for m in times["matrices"] if m["group"] in found):
            if fit_times.kind_of(matrix) == kind:
                for line in (kind, "all") if matrix["group"] != "real" else ("all", ):
                    found[matrix["group"]].setdefault(line, fit_times.Record()).add(matrix, prices)
    for group in groups:
        if set(found[group]) != set(told[group]):
            raise AssertionError(f"{machine}, {group}: lines of {sorted(told[group])}, expected {sorted(found[group])}")
        for line, record in found[group].items():
            check(numbers(record.columns().split("|")), told[group][line], f"{machine}, {group}, {line}")
    print(f"{machine}: {len(kinds)} left out, as docs/PREDICTIONS.md has them")


def main():
    for machine in fit_times.MACHINES:
        recompute(machine)


if __name__ == "__main__":
    main()
