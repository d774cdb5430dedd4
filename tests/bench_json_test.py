#!/usr/bin/env python3
"""Checks `spmvpack bench --json` against its schema, against SciPy and against `report`; on a GPU too where there is one.

usage: bench_json_test.py SPMVPACK
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import numpy as np
    import scipy.io
    import scipy.sparse
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

SPMVPACK = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import bench_table  # noqa: E402
import papers  # noqa: E402
import papers_measure  # noqa: E402
import papers_tables  # noqa: E402
import petsc_scaling  # noqa: E402
NO_GPU = {5: "built without CUDA", 6: "no GPU"}


def run(*words, code=0, **keywords):
    done = subprocess.run([SPMVPACK, *map(str, words)], capture_output=True, text=True, check=False, **keywords)
    assert done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert code == 0 or not done.stdout, f"{words}: {done.stdout}"  # what cannot be done is refused before it starts
    return done.stdout if code == 0 else done.stderr


def strict(name):
    raise ValueError(f"{name} is not JSON")


def parse(text):
    result = json.loads(text, parse_constant=strict)
    VALIDATOR.validate(result)
    return result


def close(found, expected, what):
    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12), f"{what}: {found}, expected {expected}"


def check_result(bench, matrix, result):
    """What follows from the other members of the same result."""
    value = {"f64": 8, "f32": 4}[matrix.get("vector_type", matrix["value_type"])]
    columns = bench.get("columns", 1)
    moved = result["device_bytes"] + (matrix["rows"] + matrix["columns"]) * columns * value
    assert result["moved_bytes"] == moved
    for sample in (result["cold"], result["warm"]):
        assert 0 < sample["min"] <= sample["median"] <= sample["max"]
    seconds = result["cold"]["median"] * 1e-6
    close(result["gflops"], 2e-9 * columns * matrix["nonzeros"] / seconds, "gflops")
    close(result["gbytes_per_second"], 1e-9 * moved / seconds, "GB/s")
    copy = bench["copy"]["gbytes_per_second"] * 1e9
    close(result["share_of_copy"], moved / copy / seconds, "share of copy")
    floor = moved / copy
    if columns != 1:
        assert matrix["l2_floor"] is None and matrix["gather_floor"] is None
    elif bench["l2"]:
        l2 = 32 * matrix["x_sectors"] / (bench["l2"]["gbytes_per_second"] * 1e9)
        floor = max(floor, l2)
    if bench.get("gathers") and columns == 1:
        gathers = matrix["x_lines"] / (bench["gathers"]["gelements_per_second"] * 1e9)
        close(matrix["l2_floor"], 1e6 * l2, "floor of L2")
        close(matrix["gather_floor"], 1e6 * gathers, "floor of gathers")
        floor = max(floor, gathers)
    close(result["share_of_floor"], floor / seconds, "share of floor")
    if "host_vectors" in result:
        copies = sum(1e-3 * value * columns * matrix[of] / bench["link"][way]["gbytes_per_second"]
                     for of, way in (("columns", "to_device"), ("rows", "from_device")))
        close(result["host_vectors_predicted"], result["cold"]["median"] + copies, "predicted with copies")
    assert result["correct"] and result["worst_error_over_bound"] <= 1
    assert result["repeats_bitwise"] or result["determinism"] != "bitwise"


def check_host(directory):
    rng = np.random.default_rng(5)
    a = scipy.sparse.random(3000, 700, 0.01, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    a.sum_duplicates()
    scipy.io.mmwrite(directory / "A.mtx", a, precision=17, symmetry="general")
    bench = parse(run("bench", "A.mtx", "--device", "host", "--runs", 3, "--json", cwd=directory))
    report = json.loads(run("report", "A.mtx", "--target", "host", "--json", cwd=directory))
    assert bench["machine"]["kind"] == "host" and bench["runs"] == 3 and bench["summary"] is None
    assert bench["l2"] is None and bench["gathers"] is None
    [matrix] = bench["matrices"]
    assert (matrix["rows"], matrix["columns"], matrix["nonzeros"]) == (3000, 700, a.nnz)
    assert matrix["csr_bytes"] == 3001 * 4 + a.nnz * 12 and matrix["l2_resident"]
    coo = a.tocoo()
    for member, elements in (("x_sectors", 4), ("x_lines", 16)):
        assert matrix[member] == len(set(zip((coo.row // 1024).tolist(), (coo.col // elements).tolist())))
    assert matrix["l2_floor"] is None and matrix["gather_floor"] is None
    assert {r["layout"]: r["device_bytes"] for r in matrix["results"] if "device_bytes" in r} == {
        layout["name"]: layout["device_bytes"] for layout in report["layouts"] if not layout["too_large"]}
    for result in matrix["results"]:
        if "device_bytes" not in result:
            assert "times the" in result["skipped"], result
            continue
        check_result(bench, matrix, result)
        assert result["by"] == "spmvpack" and set(result["ratios"].values()) == {None}

    # One layout; a container as it is, in f32.
    [matrix] = parse(run("bench", "A.mtx", "--device", "host", "--runs", 1, "--json", "--layout", "coo",
                         cwd=directory))["matrices"]
    assert [r["layout"] for r in matrix["results"]] == ["coo"]
    run("encode", "A.mtx", "--value-type", "f32", "--layout", "ccoo", "--set", "ccoo.k=4", "-q", cwd=directory)
    bench = parse(run("bench", "A.spmvc", "--device", "host", "--runs", 2, "--json", cwd=directory))
    [matrix] = bench["matrices"]
    assert matrix["value_type"] == "f32" and [r["layout"] for r in matrix["results"]] == ["ccoo"]
    inspected = json.loads(run("inspect", "A.spmvc", "--json", cwd=directory))
    assert matrix["results"][0]["device_bytes"] == inspected["device_bytes"]
    check_result(bench, matrix, matrix["results"][0])

    check_types(directory, a)
    # Several files: each as alone. A container keeps its types, but f32 takes f64 vectors.
    bench = parse(run("bench", "A.mtx", "A.spmvc", "--device", "host", "--runs", 1, "--json", cwd=directory))
    assert [m["name"] for m in bench["matrices"]] == ["A.mtx", "A.spmvc"]
    assert [(m["value_type"], m["vector_type"]) for m in bench["matrices"]] == [("f64", "f64"), ("f32", "f32")]
    [matrix] = parse(run("bench", "A.spmvc", "--device", "host", "--runs", 1, "--json", "--value-type", "mixed",
                         cwd=directory))["matrices"]
    assert (matrix["value_type"], matrix["vector_type"]) == ("f32", "f64")
    check_csv(directory)

    check_columns(directory)

    # Text says which device it was, and names every kernel.
    text = run("bench", "A.mtx", "--device", "host", "--runs", 1, cwd=directory)
    assert text.startswith("host: ") and all(f"\n  {layout['name']}/default " in text for layout in report["layouts"]
                                                if not layout["too_large"])
    # Matrices without entries or rows.
    for name, sizes in (("none", "4 5 0"), ("empty", "0 0 0")):
        (directory / f"{name}.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{sizes}\n")
        parse(run("bench", f"{name}.mtx", "--device", "host", "--runs", 1, "--json", cwd=directory))


def check_types(directory, a):
    """--value-type: the matrix's bytes and the vectors' are those of their types; so is the bound."""
    errors = {}
    for name, value, vector in (("f64", 8, 8), ("f32", 4, 4), ("mixed", 4, 8)):
        bench = parse(run("bench", "A.mtx", "--device", "host", "--runs", 1, "--json", "--value-type", name, cwd=directory))
        assert bench["schema"] == "spmvpack-bench-3"
        [matrix] = bench["matrices"]
        assert [matrix["value_type"], matrix["vector_type"]] == [f"f{8 * value}", f"f{8 * vector}"]
        assert matrix["csr_bytes"] == 3001 * 4 + a.nnz * (4 + value)
        coo = a.tocoo()
        for member, piece in (("x_sectors", 32), ("x_lines", 128)):
            assert matrix[member] == len(set(zip((coo.row // 1024).tolist(), (coo.col // (piece // vector)).tolist())))
        for result in matrix["results"]:
            if result["skipped"] is None:
                check_result(bench, matrix, result)
        report = json.loads(run("report", "A.mtx", "--target", "host", "--json", "--value-type", matrix["value_type"],
                                cwd=directory))
        bytes_of = {layout["name"]: layout["device_bytes"] for layout in report["layouts"]}
        errors[name] = {r["layout"]: r["worst_error_over_bound"] for r in matrix["results"] if r["skipped"] is None}
        assert errors[name].keys() <= bytes_of.keys() and "csr" in errors[name]
        for result in matrix["results"]:
            assert result["skipped"] is not None or result["device_bytes"] == bytes_of[result["layout"]]
    assert errors["f64"]["csr"] != errors["f32"]["csr"] != errors["mixed"]["csr"]


def check_columns(directory):
    """--columns: more bytes and operations, the same matrix; wrong columns would end with 70."""
    words = ["bench", "A.mtx", "--device", "host", "--runs", 1, "--layout", "csr", "--layout", "csell"]
    one = parse(run(*words, "--columns", 1, "--json", cwd=directory))
    assert "columns" not in one
    for types in ("f64", "mixed"):
        bench = parse(run(*words, "--columns", 3, "--value-type", types, "--json", cwd=directory))
        [matrix] = bench["matrices"]
        assert bench["columns"] == 3 and {r["layout"] for r in matrix["results"]} == {"csr", "csell"}
        for result in matrix["results"]:
            check_result(bench, matrix, result)
            assert result["kernel"] == "default" and result["worst_error_over_bound"] > 0
    line, *_ = csv.DictReader(run(*words, "--columns", 9, "--csv", cwd=directory).splitlines())
    assert line["columns_of_x"] == "9"
    close(float(line["gflops"]), 9 * 2e-3 * int(line["nonzeros"]) / float(line["cold_median"]), "gflops")
    assert "\n3 columns of x and y\n" in run(*words, "--columns", 3, cwd=directory)
    assert "columns of x" not in run(*words, cwd=directory)


def check_csv(directory):
    text = run("bench", "A.mtx", "--device", "host", "--runs", 1, "--csv", "--layout", "csr", "--layout", "coo",
               "--value-type", "mixed", cwd=directory)
    lines = list(csv.DictReader(text.splitlines()))
    assert [(line["layout"], line["kernel"]) for line in lines] == [("csr", "default"), ("coo", "default")]
    for line in lines:
        assert (line["name"], line["value_type"], line["vector_type"], line["by"]) == ("A.mtx", "f32", "f64", "spmvpack")
        assert None not in line and None not in line.values()
        moved, cold = int(line["moved_bytes"]), float(line["cold_median"])
        assert moved == int(line["device_bytes"]) + 8 * (3000 + 700)
        close(float(line["gbytes_per_second"]), 1e-3 * moved / cold, "GB/s")
        close(float(line["gflops"]), 2e-3 * int(line["nonzeros"]) / cold, "gflops")
        assert line["correct"] == line["repeats_bitwise"] == "true" and line["over_best"] == ""
        assert 0 < int(line["x_lines"]) <= int(line["x_sectors"]) <= 4 * int(line["x_lines"])
        assert line["l2_floor"] == line["gather_floor"] == "" and line["columns_of_x"] == "1"


def check_usage(directory):
    run("encode", "A.mtx", "-o", "wide.spmvc", "-q", cwd=directory)
    for words in (["bench"], ["bench", "--suite", "A.mtx"], ["bench", "--suite", "--only", "nothing"],
                  ["bench", "A.mtx", "--only", "lp-wide"], ["bench", "A.mtx", "--runs", "0"],
                  ["bench", "A.mtx", "--columns", "0"], ["bench", "A.mtx", "--columns", "1025"],
                  ["bench", "A.mtx", "--columns", "-2"], ["bench", "A.mtx", "--columns", "two"],
                  ["bench", "A.mtx", "--device", "tpu"], ["bench", "A.mtx", "--peers", "mkl"],
                  ["bench", "A.mtx", "--device", "host", "--peers", "cusparse"],
                  ["bench", "A.mtx", "--device", "host", "--host-vectors"],
                  ["bench", "A.mtx", "--device", "host", "--peer", "csr-alg1"],
                  ["bench", "A.mtx", "--device", "host", "--cache-share", "0.5"],
                  ["bench", "A.mtx", "--layout", "nothing"], ["bench", "A.mtx", "--value-type", "f16"],
                  ["bench", "A.mtx", "--json", "--csv"], ["bench", "-", "-"],
                  ["bench", "A.spmvc", "--device", "host", "--value-type", "f64"],
                  ["bench", "wide.spmvc", "--device", "host", "--value-type", "mixed"],
                  ["bench", "A.spmvc", "--device", "host", "--layout", "csr"]):
        assert "hint: " in run(*words, code=2, cwd=directory), words


def check_suite():
    bench = parse(run("bench", "--suite", "--only", "5-point-small", "--device", "host", "--layout", "ccoo", "--runs", 1,
                      "--json"))
    [matrix] = bench["matrices"]
    assert (matrix["name"], matrix["group"], matrix["rows"]) == ("5-point-small", "global", 360000)
    assert [s["set"] for s in bench["summary"][0]["sets"]] == ["l2-resident"]
    bench = parse(run("bench", "--suite", "--only", "5-point-small", "--device", "host", "--layout", "csr", "--runs", 1,
                      "--value-type", "f32", "--json"))
    [narrow] = bench["matrices"]
    assert (narrow["value_type"], narrow["vector_type"]) == ("f32", "f32")
    assert narrow["csr_bytes"] == matrix["csr_bytes"] - 4 * matrix["nonzeros"]
    check_result(bench, narrow, narrow["results"][0])


def check_generated():
    """What is generated on the spot is measured as a file of it, with the default kernels alone if that is asked."""
    bench = parse(run("bench", "generate laplace2d --grid 30x20", "--device", "host", "--runs", 1, "--json", "--layout",
                      "csr", "--layout", "auto", "--kernels", "default", "-q"))
    matrix, = bench["matrices"]
    assert matrix["source"] == "spmvpack generate laplace2d --grid 30x20" and matrix["group"] is None
    assert (matrix["rows"], matrix["nonzeros"]) == (600, 5 * 600 - 2 * (30 + 20))
    assert [(r["layout"], r["kernel"]) for r in matrix["results"]] == [("auto", "default"), ("csr", "default")]
    assert "is not known" in run("bench", "generate laplace3d --grid 3x3", code=2)
    assert "--kernels is 'some'" in run("bench", "A.mtx", "--kernels", "some", code=2)


def check_gpu(directory):
    """True where there is a GPU."""
    if not check_gpu_types(directory, "f64"):
        return False
    # Wrong bits of a peer would end with 70; what it does not take is skipped, and says so.
    check_gpu_types(directory, "f32")
    check_gpu_types(directory, "mixed")
    check_gpu_columns(directory)
    bench = parse(run("bench", "A.mtx", "--device", "gpu", "--json", "--layout", "pjds", "--set", "pjds.basis=permuted",
                      "--host-vectors", "--peer", "csr-alg1", "--runs", 3, cwd=directory))
    [matrix] = bench["matrices"]
    kernels = {"/".join(filter(None, (r["layout"], r["kernel"]))): r for r in matrix["results"]}
    assert [name for name, r in kernels.items() if r["by"] == "cusparse"] == ["csr-alg1"], kernels
    assert [name for name, r in kernels.items() if "host_vectors" not in r] == ["pjds/permuted"], kernels
    for result in kernels.values():
        check_result(bench, matrix, result)
    return True


def check_gpu_columns(directory):
    """Several columns, in both orders."""
    for columns, types in ((3, "f64"), (9, "mixed"), (16, "f32")):
        bench = parse(run("bench", "A.mtx", "--device", "gpu", "--json", "--runs", 3, "--columns", columns,
                          "--value-type", types, "--host-vectors", "--layout", "csell", "--layout", "csr",
                          "--layout", "ccoo", cwd=directory))
        [matrix] = bench["matrices"]
        assert bench["columns"] == columns
        for result in matrix["results"]:
            assert result["skipped"] or ("host_vectors" in result) != (
                result["kernel"] == "column-major" or result["layout"].endswith("-col")), result
            if result["skipped"] is None:
                check_result(bench, matrix, result)
        ours = [r for r in matrix["results"] if r["by"] == "spmvpack"]
        for layout in ("csell", "csr", "ccoo"):
            assert {"default", "column-major"} <= {r["kernel"] for r in ours if r["layout"] == layout}
        peers = {r["layout"] for r in matrix["results"] if r["by"] == "cusparse"}
        assert peers == {f"{name}-{order}" for order in ("row", "col") for name in (
            *(f"csr-alg{n}" for n in (1, 2, 3)), *(f"coo-alg{n}" for n in (1, 2, 3, 4)), "bsr-2", "bsr-3", "bsr-4")}
        if types != "mixed":
            assert {r["layout"] for r in matrix["results"] if r["by"] == "cusparse" and r["skipped"] is None} >= {
                "csr-alg2-row", "csr-alg2-col"}


def check_gpu_types(directory, types):
    words = [SPMVPACK, "bench", "A.mtx", "--device", "gpu", "--json", "--value-type", types]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=directory)
    if done.returncode in NO_GPU:
        assert NO_GPU[done.returncode] in done.stderr and "--device host" in done.stderr and not done.stdout
        return False
    assert done.returncode == 0, done.stderr
    bench = parse(done.stdout)
    [matrix] = bench["matrices"]
    for result in matrix["results"]:
        if result["skipped"] is None:
            check_result(bench, matrix, result)
        elif types == "mixed" and result["by"] == "cusparse" and "times" not in result["skipped"]:
            assert "f32 values with f64 vectors" in result["skipped"], result["skipped"]
    peers = {r["layout"] for r in matrix["results"] if r["by"] == "cusparse"}
    assert peers == {"csr-alg1", "csr-alg2", "coo-alg1", "coo-alg2", "sell-32", "bsr-2", "bsr-3", "bsr-4"}
    assert types == "mixed" or matrix["best_peer"] in peers
    return True


def check_committed():
    """What docs/BENCHMARKS.md is made from, and that it is."""
    schemas = set()
    for path in sorted((ROOT / "docs").glob("**/bench/*.json")):
        if not json.loads(path.read_text(encoding="utf-8")).get("schema", "").startswith("spmvpack-bench-"):
            continue  # another program's
        bench = parse(path.read_text(encoding="utf-8"))
        schemas.add(bench["schema"])
        for matrix in bench["matrices"]:
            for result in matrix["results"]:
                if result["skipped"] is None:
                    check_result(bench, matrix, result)
    assert {"spmvpack-bench-1", "spmvpack-bench-2"} <= schemas  # what older versions wrote stays readable
    subprocess.run([sys.executable, ROOT / "benchmarks" / "bench_table.py", "--check"], check=True)
    page = (ROOT / "docs" / "PETSC.md").read_text(encoding="utf-8")
    for scaling in (ROOT / "docs" / "bench").glob("petsc_scaling_*.json"):
        assert petsc_scaling.table([scaling]) in page, scaling


def check_gathers():
    """A file of a GPU with the floor of gathers: what makes it one, and that tables say so."""
    bench = json.loads((ROOT / "docs" / "bench" / "papers_h200_f64.json").read_text(encoding="utf-8"))
    assert "scattered" not in bench_table.text(bench)
    bench["schema"] = "spmvpack-bench-3"
    bench["gathers"] = {"count": 145000, "microseconds": {"median": 1, "min": 1, "max": 1}, "gelements_per_second": 145.0}
    for matrix in bench["matrices"]:
        matrix["x_lines"] = matrix["x_sectors"] // 2
        matrix["l2_floor"] = 32 * matrix["x_sectors"] / bench["l2"]["gbytes_per_second"] * 1e-3
        matrix["gather_floor"] = matrix["x_lines"] / 145e3
        for result in matrix["results"]:
            if result["skipped"] is None:
                floor = max(result["moved_bytes"] / bench["copy"]["gbytes_per_second"] * 1e-3, matrix["l2_floor"],
                            matrix["gather_floor"])
                result["share_of_floor"] = floor / result["cold"]["median"]
                check_result(bench, matrix, result)
    VALIDATOR.validate(bench)
    assert " GB/s, 145 G scattered elements a second. " in bench_table.text(bench)
    del bench["gathers"]
    assert not VALIDATOR.is_valid(bench)


FAKE_COMMAND = """#!/usr/bin/env python3
# As `spmvpack bench` on a GPU: a recorded measurement for every matrix that is asked for.
import json, sys
words = sys.argv[1:]
if "block-mesh --grid 48x48x47 --block 5 --radius 2.48" in " ".join(words):
    sys.exit("spmvpack bench: out of memory")
bench = json.load(open(RECORDED))
value_type, layouts = words[words.index("--value-type") + 1], [b for a, b in zip(words, words[1:]) if a == "--layout"]
[matrix] = [m for m in bench["matrices"] if m["name"] == "7-point-random"]
bench["link"] = {way: {"gbytes_per_second": 50.0} for way in ("to_device", "from_device")}
for r in matrix["results"]:
    if "--host-vectors" in words and r["skipped"] is None:
        r |= {"host_vectors": {"median": r["cold"]["median"] + 1000}, "host_vectors_predicted": 999.0}
matrix["results"] = [r for r in matrix["results"] if r["by"] != "spmvpack" or r["layout"] in layouts]
made = [w for w in words if w.startswith("generate ")]
bench["matrices"] = [matrix | {"source": "spmvpack " + w, "value_type": value_type} for w in made]
print(json.dumps(bench))
"""


def cells(table, name):
    line = next(line for line in table.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def check_papers(directory):
    """docs/PAPERS.md is what benchmarks/papers.py makes; times go from a GPU into the tables, or it is said why not."""
    subprocess.run([sys.executable, ROOT / "benchmarks" / "papers.py", "--check"], check=True)
    recorded = ROOT / "docs" / "bench" / "papers_h200_f64.json"
    command, file = directory / "spmvpack", directory / "times.json"
    command.write_text(FAKE_COMMAND.replace("RECORDED", repr(str(recorded))))
    command.chmod(0o755)
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "papers.py", "--run", command, "--times", file,
                           "--solver-times", directory / "none.json"], check=True, capture_output=True, text=True)
    assert file.stat().st_size < 1_000_000
    times = papers_measure.Times(json.loads(file.read_text(encoding="utf-8")))
    assert times.measured["machine"]["name"] == "NVIDIA H200"
    tables = dict(block.split("\n\n", 1) for block in done.stdout.split("## ")[1:])
    bench = json.loads(recorded.read_text(encoding="utf-8"))
    [matrix] = [m for m in bench["matrices"] if m["name"] == "7-point-random"]
    median = {(r["layout"], r["kernel"]): r["cold"]["median"] for r in matrix["results"] if not r["skipped"]}
    csr = min(median[f"csr-alg{n}", ""] for n in (1, 2))
    over = lambda kernel: f"{csr / median[kernel]:.2f}"
    assert cells(tables["gao-table-4"], "QCD")[:3] == [
        "QCD", "1.16 / 1.17", f"{median['csr', 'pcsr'] / median['csr', 'ipcsr']:.2f}"]
    assert cells(tables["gao-table-4"], "QCD")[3:5] == ["1.49 / 1.87", over(("csr", "ipcsr"))]
    # Means: of four equal speed-ups, and of the paper's by hand; (8) by hand, with x once and for every entry.
    assert cells(tables["gao-table-4"], "arithmetic mean of these")[1:5] == [
        "1.69 / 1.69", f"{median['csr', 'pcsr'] / median['csr', 'ipcsr']:.2f}", "1.30 / 1.62", over(("csr", "ipcsr"))]
    assert cells(tables["gao-table-3"], "arithmetic mean of all 20, from the table")[1:6:2] == [
        "1.761 / 1.792", "2.758 / 3.523", "1.431 / 1.746"]
    speed = lambda bytes_, kernel: f"{1e-3 * bytes_ / median[kernel]:.0f}"
    assert cells(tables["gao-figure-7"], "Dense")[2] == " to ".join(
        speed(16 * 4000000 + 4 * 2001 + 4 * 2000 + 4 * x, ("csr", "pcsr")) for x in (2000, 4000000))
    assert cells(tables["bell-bandwidth"], "Dense, f64")[2] == (
        f"{100 * (48008004 + 32000) / median['csr', 'scalar'] / 4.8e6:.1f} %")
    assert cells(tables["nagasaka-figure-3"], "apache2")[1] == over(("amb", "atomic"))
    copies = cells(tables["kreutzer-copies"], "sAMG")
    facts = json.loads(papers.REPORTS.read_text(encoding="utf-8"))["adaptive --grid 140x140x140 f64"]
    assert copies[2] == f"{2e-3 * facts['nonzeros'] / median['pjds', 'rows']:.1f}"
    assert copies[5] == f"{2e-3 * facts['nonzeros'] / (median['pjds', 'rows'] + 1000):.1f}"
    # (2) by hand: 16 bytes a row at 50 GB/s, and (1) with alpha = 1.
    kernel = 8e-3 * (2.5 * facts["nonzeros"] + 2 * facts["rows"]) / bench["copy"]["gbytes_per_second"]
    assert copies[3].split(" to ")[0] == f"{2e-3 * facts['nonzeros'] / (kernel + 16e-3 * facts['rows'] / 50):.1f}"
    # What could not be measured is said: too large, failed, not among the kernels.
    assert "nlpkkt200" in tables["aliaga-figure-4"] and "440,225,632 nonzeros are more than 230,000,000" in tables[
        "aliaga-figure-4"]
    assert cells(tables["kreutzer-table-1"], "DLR2")[5] == "-" and "out of memory" in tables["kreutzer-table-1"]
    assert tables["aliaga-figure-5"].strip() == "Not measured."
    # What there is stays; what is missing is measured, of the matrices that are asked for.
    command.write_text(command.read_text().replace('"block-mesh --grid 48x48x47', '"hpcg'))
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "papers.py", "--run", command, "--times", file,
                           "--missing", "--only", "DLR2"], check=True, capture_output=True, text=True)
    made = [line for line in done.stderr.splitlines() if line.endswith(" ...")]
    assert len(made) == 2 and all(": block-mesh --grid 48x48x47" in line for line in made), made
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after["times"].items() >= times.measured["times"].items() and len(after["times"]) == len(times.measured["times"]) + 1
    assert not any("48x48x47" in key for key in after["not_measured"])
    # Without time, nothing is measured.
    done = subprocess.run([sys.executable, ROOT / "benchmarks" / "papers.py", "--run", command, "--times", file,
                           "--seconds", "0"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "no time left, of 0.0 s" in done.stderr, done
    # Equations 3 and 4 by hand.
    plain = papers_tables.Tables(json.loads(papers.REPORTS.read_text(encoding="utf-8")), papers_measure.Times(),
                                 None, papers.read(papers.SCALING)).all()
    numbers = [line.split("|")[5].strip() for line in plain["kreutzer-equations"].splitlines()[2:6]]
    assert numbers == ["24.67", "7.20", "79.20", "264.67"], numbers
    check_solver()


def check_solver():
    """Figure 5 from a made-up measurement: of two matrices one was left out. In what is committed, residuals agree."""
    for matrix in (papers.read(papers.SOLVER) or {"matrices": []})["matrices"]:
        compared = [m["residual_compared"] for m in matrix.get("results", []) if m["skipped"] is None]
        assert all(abs(r - compared[0]) <= 1e-4 * compared[0] for r in compared), (matrix["name"], compared)

    def result(by, name, microseconds, iterations):
        return {"by": by, "name": name, "skipped": None, "iteration": {"median": microseconds},
                "solve": {"iterations": iterations, "microseconds": microseconds * iterations, "converged": True}}

    matrix = {"name": "A", "family": "grids", "nonzeros": 5_000_000, "results": [
        result("spmvpack", "ccoo/atomic", 100, 40), result("spmvpack", "ccoo", 80, 40),
        result("spmvpack", "auto", 50, 30),
        result("cusparse", "csr-alg1", 130, 50), result("cusparse", "csr-alg2", 120, 50),
        result("cusparse", "sell-32", 110, 40), {"by": "cusparse", "name": "csr-op-alg1", "skipped": "no plan"}]}
    solver = {"machine": "M", "cusparse": "12.6", "tolerance": 1e-8, "most_iterations": 500,
              "matrices": [matrix, {"name": "B", "family": "circuits", "skipped": "no time left, of 75 s"}]}
    table = papers_tables.Tables({}, papers_measure.Times(), solver, None).aliaga_solver()
    assert cells(table, "A")[3:] == ["120", "-", "110", "100 (1.20, 1.10)", "80 (1.50, 1.38)", "50 (2.40, 2.20)",
                                     f"30 / 40: {110 * 40 / (50 * 30):.2f}"], table
    assert "Not measured: B, no time left" in table and "1 matrices of 1 families" in table
    assert "COO has not been measured" in table
    # A measurement with COO has a column for it, and COO may be the fastest peer.
    matrix["results"] += [result("cusparse", "coo-alg1", 105, 40), result("cusparse", "coo-alg2", 140, 40)]
    table = papers_tables.Tables({}, papers_measure.Times(), solver, None).aliaga_solver()
    assert cells(table, "A")[3:8] == ["120", "105", "-", "110", "100 (1.20, 1.05)"], table
    assert "COO has not been measured" not in table


with open(ROOT / "docs" / "bench.schema.json", encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
jsonschema.Draft202012Validator.check_schema(schema)
VALIDATOR = jsonschema.Draft202012Validator(schema)

with tempfile.TemporaryDirectory() as name:
    check_host(pathlib.Path(name))
    check_usage(pathlib.Path(name))
    check_suite()
    check_generated()
    gpu = check_gpu(pathlib.Path(name))
check_committed()
check_gathers()
with tempfile.TemporaryDirectory() as name:
    check_papers(pathlib.Path(name))
print("ok" if gpu else "ok, without a GPU")
