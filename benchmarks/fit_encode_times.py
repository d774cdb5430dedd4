#!/usr/bin/env python3
"""Fits the prices of encoding (encoder/src/encode_prices.inc), by which a report says when it pays, to measured times.

    build/release/benchmarks/encode_benchmark 2 encode.json auto target=host optimize=bytes csr coo ...
    benchmarks/fit_encode_times.py encode.json "one core of PROCESSOR"    # keeps what is needed in docs/bench/encode.json
    benchmarks/fit_encode_times.py --add pkt.json pkt   # adds a strategy, at the speed that csr in the same file tells
    benchmarks/fit_encode_times.py                                        # fits again what was kept

For each strategy, seconds of one core are rows, nonzeros, those of symmetric matrices, sectors of x and device bytes,
each at a price. Prints how far off the fit is. Needs scipy; build again afterwards.
"""

import json
import math
import pathlib
import statistics
import sys

import numpy
import scipy.optimize

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs/bench/encode.json"
NAMES = {"target=host": "auto, host", "optimize=bytes": "auto, bytes"}  # as encoder/src/payback.cpp calls them


def kept(bench, machine):
    """What the fit needs of a file of encode_benchmark, made on this machine."""
    matrices = []
    for matrix in bench["matrices"]:
        encoded = {}
        for name, of in matrix["strategies"].items():
            if "encode_seconds" in of and "=" not in NAMES.get(name, name):
                planned = of["plan_seconds"] + of["fill_seconds"]
                encoded[NAMES.get(name, name)] = {"seconds": round(of["encode_seconds"], 4), "planned": round(planned, 4),
                                                  "device_bytes": of["device_bytes"]}
        matrices.append({key: matrix[key] for key in ("matrix", "generator", "rows", "nonzeros", "symmetric", "x_sectors")}
                        | {"encoded": encoded})
    return {"machine": machine, "matrices": matrices}


def added(kept_before, more, strategy):
    """What was kept, with a strategy that was measured later, at the speed of the core before: what csr took on the one and
    the other tells it, in the middle of all matrices."""
    later = {matrix["matrix"]: matrix["encoded"] for matrix in more["matrices"]}
    speed = statistics.median(matrix["encoded"]["csr"]["planned"] / later[matrix["matrix"]]["csr"]["planned"]
                              for matrix in kept_before["matrices"] if "csr" in later.get(matrix["matrix"], {}))
    print(f"at {speed:.2f} times the seconds of the file")
    for matrix in kept_before["matrices"]:
        if of := later.get(matrix["matrix"], {}).get(strategy):
            matrix["encoded"][strategy] = (
                of | {key: round(speed * of[key], 4) for key in ("seconds", "planned")} | {"speed": round(speed, 2)})
    return kept_before


def fit(counts, seconds):
    """A price in picoseconds for each column, none negative: least squares of logarithms, in which what disturbed a
    measurement counts little."""
    counts, picoseconds = numpy.array(counts, dtype=float), 1e12 * numpy.array(seconds)
    scale = counts.max(axis=0)
    start, _ = scipy.optimize.nnls(counts / scale / picoseconds[:, None], numpy.ones(len(counts)))
    least = picoseconds.min() / 1000

    def errors(logarithms):
        return numpy.log(counts / scale @ numpy.exp(logarithms) / picoseconds)
    solution = numpy.exp(scipy.optimize.least_squares(errors, numpy.log(numpy.maximum(start, 10 * least)), loss="cauchy",
                                                      f_scale=0.3).x)
    return numpy.where(solution > least, solution, 0) / scale


def main():
    if len(sys.argv) > 1:
        if sys.argv[1] == "--add" and len(sys.argv) == 4:
            more = kept(json.loads(pathlib.Path(sys.argv[2]).read_text()), "")
            bench = added(json.loads(KEPT.read_text()), more, sys.argv[3])
        elif len(sys.argv) == 3 and sys.argv[1] != "--add":
            bench = kept(json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2])
        else:
            sys.exit("name the machine that the file was made on, too; or --add, the file and the strategy")
        lines = ",\n".join("  " + json.dumps(matrix) for matrix in bench["matrices"])
        KEPT.write_text(f'{{"machine": {json.dumps(bench["machine"])}, "matrices": [\n{lines}\n]}}\n')
    matrices = json.loads(KEPT.read_text())["matrices"]
    lines = ["// Made by benchmarks/fit_encode_times.py from docs/bench/encode.json: do not edit.\n"]

    def add(name, prices):
        numbers = ", ".join(f"{price:.3g}" for price in prices)
        lines.append(f'EncodePrice{{"{name}", {numbers}}},\n')
    # What all take: checking, the digest, the look for symmetry, checksums. From one run alone.
    samples = [(m, of) for m in matrices for of in m["encoded"].values()
               if of["seconds"] > 1.02 * of["planned"] and "speed" not in of]
    common = fit([[m["nonzeros"], m["nonzeros"] if m["symmetric"] else 0, of["device_bytes"]] for m, of in samples],
                 [of["seconds"] - of["planned"] for m, of in samples])
    for name in dict.fromkeys(name for matrix in matrices for name in matrix["encoded"]):
        samples = [(m, m["encoded"][name]) for m in matrices if name in m["encoded"]]
        counts = [[m["rows"], m["nonzeros"], m["x_sectors"], of["device_bytes"]] for m, of in samples]
        prices = fit(counts, [of["planned"] for _, of in samples])
        add(name, [prices[0], prices[1] + common[0], common[1], prices[2], prices[3] + common[2]])
        errors = sorted(abs(math.log((1e-12 * (numpy.dot(count, prices) + common[0] * m["nonzeros"]
                                               + (common[1] * m["nonzeros"] if m["symmetric"] else 0)
                                               + common[2] * of["device_bytes"])) / of["seconds"]))
                        for count, (m, of) in zip(counts, samples))
        print(f"{name:16} off by {100 * (math.exp(errors[len(errors) // 2]) - 1):.0f} % (median), "
              f"at most {math.exp(errors[-1]):.2f} times, of {len(errors)} matrices")
    (ROOT / "encoder/src/encode_prices.inc").write_text("".join(lines))


if __name__ == "__main__":
    main()
