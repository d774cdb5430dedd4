#!/usr/bin/env python3
"""Checks `spmvpack report --json` against its schema, against SciPy and against the files that encode writes.

usage: report_json_test.py SPMVPACK SCHEMA
"""

import csv
import json
import os
import sys
import tempfile

from json_support import VALIDATOR, run, told_by

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)


def report(path, *options):
    return told_by("report", path, "--json", *options)


def check_equal(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found}, expected {expected}")


def check_scaled(result, rows, columns):
    scaled = result["scaled"]
    [best] = [layout for layout in result["layouts"] if layout["name"] == result["recommended"]["layout"]]
    prices, factors = result["time_model"]["picoseconds"], scaled["factors"]
    check_equal(factors["vector_bytes"], 3 * 8 * (rows + columns), "bytes of scaled vectors")
    passes = factors["vector_bytes"] * prices["bytes"] + 2 * prices["y.passes"] + (rows + columns) * prices["y.rows"]
    check_close(factors["predicted_us"], best["predicted_us"] + passes / 1e6, "time by factors")
    check_equal(scaled["factors_pay"], factors["predicted_us"] < scaled["values"]["predicted_us"], "what pays")


def check_matrix(path, *options):
    """Compares a report with what SciPy says of the same file, and with the files of every layout."""
    a = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    a.sum_duplicates()
    result = report(path, *options)
    matrix, structure = result["matrix"], result["structure"]
    check_equal((matrix["rows"], matrix["columns"], matrix["nonzeros"]), (*a.shape, a.nnz), "sizes")

    lengths = np.diff(a.indptr)
    check_equal(structure["empty_rows"], int(np.sum(lengths == 0)), "empty rows")
    check_equal(structure["empty_columns"], a.shape[1] - len(np.unique(a.indices)), "empty columns")
    if a.shape[0] > 0:
        for rank, length in structure["row_lengths"]["percentiles"].items():
            expected = np.percentile(lengths, int(rank), method="inverted_cdf")
            check_equal(length, int(expected), f"percentile {rank}")
    check_equal(sum(b["rows"] for b in structure["row_lengths"]["histogram"]), a.shape[0], "rows of the histogram")
    longest = max(lengths, default=0)
    bins = np.ceil(16 * lengths / longest).astype(int) - 1 if longest else np.zeros(a.shape[0], int)
    check_equal(structure["row_lengths"]["relative"], np.bincount(np.maximum(bins, 0), minlength=16).tolist(),
                "relative lengths")
    coo = a.tocoo()
    below = (coo.row.astype(np.int64) - coo.col).max(initial=0)
    above = (coo.col.astype(np.int64) - coo.row).max(initial=0)
    check_equal((structure["lower_bandwidth"], structure["upper_bandwidth"]), (int(below), int(above)), "bandwidth")
    if a.shape[0] == a.shape[1]:
        check_equal(structure["symmetry"]["symmetric"], (a != a.T).nnz == 0 and pattern(a) == pattern(a.T), "symmetric")
        check_equal(structure["symmetry"]["pattern_symmetric"], pattern(a) == pattern(a.T), "pattern symmetric")
    else:
        check_equal(structure["symmetry"], None, "symmetry")
    values = a.data.astype(np.float32 if matrix["value_type"] == "f32" else np.float64)
    counts = np.unique(values.view(np.uint32 if values.itemsize == 4 else np.uint64), return_counts=True)[1]
    check_equal(structure["values"]["distinct"], len(counts), "distinct values")
    check_equal(structure["values"]["covered_by_256"], int(np.sort(counts)[::-1][:256].sum()), "covered entries")
    check_equal(structure["values"]["explicit_zeros"], int(np.sum(values == 0)), "explicit zeros")

    check_balance(result["code_balance"], a, values.itemsize)

    csr_bytes = 4 * (a.shape[0] + 1) + (4 + values.itemsize) * a.nnz
    for layout in result["layouts"]:
        name = layout["name"]
        check_equal(sum(layout["byte_shares"].values()), layout["device_bytes"], f"{name}: sum of the byte shares")
        if name == "csr":
            check_equal(layout["device_bytes"], csr_bytes, "csr: device bytes")
        overhead = (layout["device_bytes"] / csr_bytes - 1) * 100
        if abs(layout["overhead_percent"] - overhead) > 1e-9 * (1 + abs(overhead)):
            raise AssertionError(f"{name}: overhead {layout['overhead_percent']}, expected {overhead}")
        check_equal(layout["too_large"], layout["device_bytes"] > max(2**20, 10 * csr_bytes + 9), f"{name}: too large")
        check_close(layout["bytes_percent_of_csr"], 100 * layout["device_bytes"] / csr_bytes, f"{name}: bytes of csr's")
        csr_us = next(other["predicted_us"] for other in result["layouts"] if other["name"] == "csr")
        check_close(layout["time_percent_of_csr"], 100 * layout["predicted_us"] / csr_us, f"{name}: time of csr's")
        check_payback(layout, layout["predicted_us"], csr_us)
        if name == result["recommended"]["layout"]:
            check_payback(result["recommended"], layout["predicted_us"], csr_us)
        prices = result["time_model"]["picoseconds"]
        if not np.isclose(layout["predicted_us"], sum(prices[unit] * n for unit, n in layout["work"].items()) / 1e6):
            raise AssertionError(f"{name}: predicted {layout['predicted_us']} us")
        slots = layout["padding_slots"] + a.nnz
        check_close(layout["padding_percent"], 100 * layout["padding_slots"] / slots if slots else None, f"{name}: padding")
        if (layout["bytes_per_nonzero"] is None) != (a.nnz == 0):
            raise AssertionError(f"{name}: bytes per nonzero {layout['bytes_per_nonzero']}")
        container = os.path.join(DIRECTORY, f"{name}.spmvc")
        run("encode", path, "-o", container, "--layout", name, "--force-size", "-q", "-f", *options)
        check_equal(layout["file_bytes"], os.path.getsize(container), f"{name}: file bytes")
        if name == result["recommended"]["layout"]:
            run("encode", path, "-o", container, "-q", "-f", *options)
            check_equal(result["recommended"]["file_bytes"], os.path.getsize(container), "file bytes of auto")
        again = report(container, *options[2:])  # which says itself what type its values have
        check_equal((result["name"], again["name"]), (path, container), f"{name}: names")
        check_equal({**again, "name": path}, result, f"{name}: report of the container")


def check_payback(of, us, csr_us):
    """The first number of multiplies that has saved what encoding takes."""
    seconds, multiplies = of["encode_seconds"], of["pays_after_multiplies"]
    if not seconds >= 0:
        raise AssertionError(f"{seconds} s of encoding")
    if multiplies is None:
        if us < (1 - 1e-8) * csr_us:
            raise AssertionError(f"encoding never pays, at {us} us instead of {csr_us}")
    elif not (multiplies - 1) * (csr_us - us) < 1.000001e6 * seconds <= 1.000002 * multiplies * (csr_us - us) + 1e-6:
        raise AssertionError(f"{multiplies} multiplies at {us} us instead of {csr_us} for {seconds} s")


def check_close(found, expected, what):
    if (found is None) != (expected is None) or (found is not None and not np.isclose(found, expected, rtol=1e-12)):
        raise AssertionError(f"{what}: {found}, expected {expected}")


def check_balance(balance, a, size):
    """The model of docs/LAYOUTS.md; x is small enough for the cache, so that its sectors are loaded once."""
    memory, pcie = balance["memory_bytes_per_second"], balance["pcie_bytes_per_second"]
    lines = len(np.unique(a.indices // (32 // size)))
    check_equal((balance["x_line_bytes"], balance["x_lines"]), (32, lines), "sectors of x")
    rows, columns = a.shape
    moved = a.nnz * (size + 4) + 32 * lines + 2 * size * rows
    copied = size * (rows + columns)
    check_close(balance["multiply_seconds"], moved / memory, "seconds of a multiply")
    check_close(balance["copy_seconds"], copied / pcie, "seconds of copies")
    check_equal(balance["copies_dominate"], bool(copied / pcie >= moved / memory), "copies dominate")
    check_close(balance["alpha"], 32 * lines / (size * a.nnz) if a.nnz else None, "alpha")
    check_close(balance["bytes_per_flop"], moved / (2 * a.nnz) if a.nnz else None, "bytes per flop")
    for member, times in ("copies_dominate_below", 1), ("copies_within_tenth_from", 10):
        expected = None
        if a.nnz:
            per_entry = size + 4 + 32 * lines / a.nnz
            expected = (times * copied * memory / pcie / rows - 2 * size) / per_entry
        check_close(balance[member], expected, member)
    for name, alpha in ("worst", 1), ("best", columns / a.nnz if a.nnz else None):
        bound = balance[name]
        if not a.nnz:
            check_equal(bound, None, name)
            continue
        seconds = (a.nnz * (size + 4 + size * alpha) + 2 * size * rows) / memory
        check_close(bound["alpha"], alpha, f"alpha, {name}")
        check_close(bound["multiply_seconds"], seconds, f"seconds, {name}")
        check_close(bound["bytes_per_flop"], seconds * memory / (2 * a.nnz), f"bytes per flop, {name}")
        check_close(bound["gflops"], 2e-9 * a.nnz / seconds, f"gflops, {name}")
        check_close(bound["gflops_with_copies"], 2e-9 * a.nnz / (seconds + copied / pcie), f"gflops with copies, {name}")


def pattern(a):
    coo = a.tocoo()
    return set(zip(coo.row.tolist(), coo.col.tolist()))


def write(name, text):
    path = os.path.join(DIRECTORY, name)
    with open(path, "wb") as file:
        file.write(text)
    return path


with tempfile.TemporaryDirectory() as DIRECTORY:
    rng = np.random.default_rng(1)
    for n, (rows, columns) in enumerate([(1, 1), (300, 300), (2000, 30), (30, 70000), (1, 5000), (5000, 1)]):
        random = scipy.sparse.random(rows, columns, density=min(1, 3000 / (rows * columns)), random_state=rng)
        random.data = np.round(random.data * 50) / 7
        path = os.path.join(DIRECTORY, f"random{n}.mtx")
        scipy.io.mmwrite(path, random, precision=17)
        check_matrix(path)
        if n == 2:
            check_matrix(path, "--value-type", "f64", "--columns", "8")
            check_scaled(report(path, "--scaled", "--target", "host"), rows, columns)
        check_matrix(path, "--value-type", "f32", *(("--optimize", "bytes", "--target", "host") if n % 2 else ()))

    banner = b"%%MatrixMarket matrix coordinate "
    check_matrix(write("symmetric.mtx", banner + b"real symmetric\n3 3 4\n1 1 2\n2 1 -1\n3 2 0\n3 3 2\n"))
    check_matrix(write("skew.mtx", banner + b"real skew-symmetric\n3 3 2\n2 1 -1\n3 2 4\n"))
    check_matrix(write("pattern.mtx", banner + b"pattern general\n2 4 3\n1 1\n1 4\n2 2\n"))
    check_matrix(write("no_nonzeros.mtx", banner + b"real general\n4 5 0\n"))

    result = report(write("duplicates.mtx", banner + b"real general\n2 2 3\n1 1 1\n1 1 2\n2 2 0\n"))
    check_equal(result["source"]["duplicates"], 1, "duplicates")
    check_equal(result["source"]["entries"], 3, "entries")
    check_equal(result["structure"]["values"]["most_frequent"][0], {"value": "0", "entries": 1}, "most frequent")
    # A name that is not UTF-8 must still give JSON.
    report(write(b"\xff.mtx".decode("utf-8", "surrogateescape"), banner + b"real general\n1 1 1\n1 1 1e300\n"))
    # Several files: an array of what each gives alone; CSV says the same.
    paths = [os.path.join(DIRECTORY, name) for name in ("symmetric.mtx", "no_nonzeros.mtx", "random1.mtx")]
    alone = [report(path) for path in paths]
    check_equal(json.loads(run("report", *paths, "--json")), alone, "array")
    for given in (paths, paths[2:]):
        lines = list(csv.DictReader(run("report", *given, "--csv").decode().splitlines()))
        expected = [{"name": r["name"], **{key: str(r["matrix"][key]) for key in ("rows", "columns", "nonzeros", "value_type")},
                     "layout": layout["name"], "recommended": str(layout["name"] == r["recommended"]["layout"]).lower(),
                     **{key: layout[key] for key in ("device_bytes", "bytes_per_nonzero", "overhead_percent", "file_bytes",
                                                     "workspace_bytes", "padding_slots", "predicted_us",
                                                     "bytes_percent_of_csr", "time_percent_of_csr")}}
                    for r in alone[-len(given):] for layout in r["layouts"]]
        check_equal(list(lines[0]), list(expected[0]), "columns")
        for line in lines:  # numbers are those of JSON, if written otherwise
            for key in list(line)[7:]:
                line[key] = None if line[key] == "" else float(line[key])
        check_equal(lines, expected, "CSV")
    # The schema can fail.
    broken = {**result, "layouts": []}
    if VALIDATOR.is_valid(broken) or VALIDATOR.is_valid({**result, "schema": "other"}):
        raise AssertionError("the schema accepts anything")
print("ok")
