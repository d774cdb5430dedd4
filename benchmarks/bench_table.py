#!/usr/bin/env python3
"""Makes the tables of docs/BENCHMARKS.md from the JSON of `spmvpack bench --suite --json`.

usage: benchmarks/bench_table.py            writes them
       benchmarks/bench_table.py --check    exits with 1 if they are not what it would write

Each stands between the lines <!-- bench: bench/NAME.json --> and <!-- /bench -->, or <!-- bench-summary: ... --> for
the summary alone; the path is relative to docs/. tests/results_test.py makes those of README.md and docs/RESULTS.md.
"""

import json
import math
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PAGES = [DOCS / "BENCHMARKS.md"]
GROUPS = {"arbitrary": "all values different", "local": "values repeat nearby", "global": "few distinct values",
          "irregular": "irregular", "total": "total, equal weight per group", "l2-resident": "resident in L2 (separate)",
          "added": "added later (separate)"}


def ran(matrix, by):
    return [r for r in matrix["results"] if r["by"] == by and r["skipped"] is None]


def name(result):
    return f"{result['layout']}/{result['kernel']}"


def defaults(bench):
    """The default kernel of each layout."""
    found = [name(r) for m in bench["matrices"] for r in ran(m, "spmvpack") if r["kernel"] == "default"]
    return list(dict.fromkeys(found))


def times(value):
    return "-" if value is None else f"{value:.2f}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def matrix_row(matrix, kernels):
    peers = {r["layout"]: r for r in ran(matrix, "cusparse") if r["correct"]}
    ours = {name(r): r for r in ran(matrix, "spmvpack")}
    def micro(result):
        return "-" if result is None else f"{result['cold']['median']:.0f}"
    best = matrix["best_peer"]
    cells = [matrix["name"], f"{matrix['rows']:,}", f"{matrix['nonzeros'] / 1e6:.2f} M",
             micro(peers.get("csr-alg1")), micro(peers.get("csr-alg2")),
             f"{best} {micro(peers[best])}" if best else "-"]
    for kernel in kernels:
        r = ours.get(kernel)
        if r is None:
            cells.append("-")
            continue
        wrong = "" if r["correct"] else " **WRONG**"
        cells.append(f"{micro(r)} ({times(r['ratios']['over_best'])}, {r['device_bytes'] / matrix['nonzeros']:.1f}, "
                     f"{100 * r['share_of_floor']:.0f} %){wrong}")
    return row(cells)


def members_table(bench, title, members, kernels):
    if not members:
        return []
    head = [title, "rows", "nonzeros", "CSR ALG1", "CSR ALG2", "fastest peer", *(f"`{k.split('/')[0]}`" for k in kernels)]
    return [row(head), "|" + "---|" * len(head), *(matrix_row(m, kernels) for m in members), ""]


def summary_table(bench):
    # Schema spmvpack-bench-1 lacks the ratios to BSR and SELL.
    ratios = {"over_csr_alg2": "over CSR ALG2", "over_faster_csr": "over faster CSR", "over_csr_bsr": "over CSR or BSR",
              "over_sell": "over SELL", "over_best": "over fastest peer"}
    if bench["schema"] == "spmvpack-bench-1":
        del ratios["over_csr_bsr"], ratios["over_sell"]
    worst = [key for key in ratios if key != "over_csr_alg2"]
    head = ["kernel", "set", "matrices", *ratios.values(), *(f"worst {ratios[key]}" for key in worst)]
    lines = [row(head), "|" + "---|" * len(head)]
    for kernel in bench["summary"]:
        for means in kernel["sets"]:
            if kernel["kernel"] != "default" and means["set"] != "total":
                continue
            mean, least = means["geometric_mean"], means["least"]
            lines.append(row([f"`{name(kernel)}`", GROUPS[means["set"]], str(means["members"]),
                              *(times(mean[key]) for key in ratios), *(times(least[key]) for key in worst)]))
    return [*lines, ""]


def kernels_against_each_other(bench):
    """IPCSR over PCSR, as their paper compares them."""
    ratios = []
    for matrix in bench["matrices"]:
        ours = {name(r): r["cold"]["median"] for r in ran(matrix, "spmvpack")}
        if not matrix["l2_resident"] and {"csr/ipcsr", "csr/pcsr"} <= ours.keys():
            ratios.append(ours["csr/pcsr"] / ours["csr/ipcsr"])
    if not ratios:
        return []
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return [f"`csr/ipcsr` is {mean:.2f} times as fast as `csr/pcsr` (geometric mean of the {len(ratios)} matrices larger "
            f"than L2; worst {min(ratios):.2f}).", ""]


def noise(bench):
    """How far apart the cold runs of one kernel are, over all results."""
    spread = sorted(r["cold"]["max"] / r["cold"]["min"] - 1 for m in bench["matrices"] for by in ("spmvpack", "cusparse")
                    for r in ran(m, by))
    return f"The slowest of a kernel's cold runs takes {100 * spread[len(spread) // 2]:.1f} % longer than the fastest in " \
           f"the median over all results, {100 * spread[len(spread) * 95 // 100]:.1f} % at the 95th percentile, " \
           f"{100 * spread[-1]:.0f} % at worst."


def types(bench):
    """Said unless all is f64."""
    found = {(m["value_type"], m.get("vector_type", m["value_type"])) for m in bench["matrices"]}
    assert len(found) == 1, f"matrices of several types: {found}"
    [(values, vectors)] = found
    if values != vectors:
        return f"{values} values, {vectors} vectors. "
    return "" if values == "f64" else f"{values} values and vectors. "


def text(bench):
    details = bench["machine"]["details"]
    kernels = defaults(bench)
    results = [r for m in bench["matrices"] for r in ran(m, "spmvpack")]
    wrong = sum(not r["correct"] for r in results)
    vary = sum(r["determinism"] == "bitwise" and not r["repeats_bitwise"] for r in results)
    l2 = f"; L2 reads {bench['l2']['gbytes_per_second']:.0f} GB/s" if bench["l2"] else ""
    gathers = bench.get("gathers")  # since schema spmvpack-bench-3
    if gathers:
        l2 += f", {gathers['gelements_per_second']:.0f} G scattered elements a second"
    lines = [f"{bench['machine']['name']}, {', '.join(f'{k} {v}' for k, v in details.items())}. "
             f"{types(bench)}Device copy {bench['copy']['gbytes_per_second']:.0f} GB/s, reads plus writes{l2}. {bench['runs']} runs each, "
             f"{bench['seconds']:.0f} s in total, {bench['version']}. {len(results)} spmvpack results: {wrong} wrong, "
             f"{vary} not reproduced bit for bit although the kernel promises it. {noise(bench)}", "",
             "Microseconds, cold cache. For our layouts, with their default kernels, in parentheses: speed-up over the fastest "
             "peer, bytes per nonzero, share of the floor.",
             ""]
    far = [m for m in bench["matrices"] if not m["l2_resident"] and not m["added"]]
    for group in ("arbitrary", "local", "global", "irregular"):
        lines += members_table(bench, GROUPS[group], [m for m in far if m["group"] == group], kernels)
    lines += members_table(bench, GROUPS["l2-resident"],
                           [m for m in bench["matrices"] if m["l2_resident"] and not m["added"]], kernels)
    lines += members_table(bench, GROUPS["added"], [m for m in bench["matrices"] if m["added"]], kernels)
    lines += ["Speed-up, cold cache, geometric means (only the total for kernels named explicitly):", "",
              *summary_table(bench), *kernels_against_each_other(bench)]
    return "\n".join(lines)


def summary(bench):
    """How fast one layout is, by group: what auto takes, or ccoo where that was not measured."""
    sets = {name(k): k["sets"] for k in bench["summary"]}
    layout = "auto" if "auto/default" in sets else "ccoo"
    sets = sets[f"{layout}/default"]
    head = [f"`{layout}`, {bench['machine']['name']}", "matrices", "over the faster cuSPARSE CSR", "worst matrix",
            "over the fastest cuSPARSE format"]
    lines = [row(head), "|" + "---|" * len(head)]
    for means in sets:
        mean, least = means["geometric_mean"], means["least"]
        lines.append(row([GROUPS[means["set"]], str(means["members"]), times(mean["over_faster_csr"]),
                          times(least["over_faster_csr"]), times(mean["over_best"])]))
    return "\n".join(lines) + "\n"


def fill(page):
    def replace(match):
        with open(DOCS / match[2], encoding="utf-8") as file:
            made = {"bench": text, "bench-summary": summary}[match[1]](json.load(file))
            return f"<!-- {match[1]}: {match[2]} -->\n{made}<!-- /bench -->"
    return re.sub(r"<!-- (bench|bench-summary): (\S+) -->\n.*?<!-- /bench -->", replace, page, flags=re.DOTALL)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        made = fill(page)
        if sys.argv[1:] != ["--check"]:
            path.write_text(made, encoding="utf-8")
        elif made != page:
            sys.exit(f"{path.name} is not what {pathlib.Path(__file__).name} makes: run it")


if __name__ == "__main__":
    main()
