#!/usr/bin/env python3
"""The tables and figures of the five papers, with this project's figures beside theirs.

usage: benchmarks/papers.py                        print them, from docs/bench/papers_reports.json
       benchmarks/papers.py --bench FILE.json...   with times from the files of `spmvpack bench --json`
       benchmarks/papers.py --run SPMVPACK         with times measured now on this machine's GPU, which are kept in
                                                   docs/bench/papers_times_f64.json and papers_times_f32.json
       benchmarks/papers.py --collect SPMVPACK     make the matrices and reports again (minutes, some GB), and print;
                                                   with --missing only those that there are none of
       benchmarks/papers.py --write                into docs/PAPERS.md, between <!-- papers: NAME --> and <!-- /papers -->
       benchmarks/papers.py --check                exit with 1 if docs/PAPERS.md is not what --write would write

Bytes come from `spmvpack report --json` of matrices that `spmvpack generate` makes. A matrix of more nonzeros than --most
(default 230 million: 10 GB of memory) is listed, but not made. Without --bench and --run, times are those that are kept;
those that no file has are dashes.
"""

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import papers_published as published

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORTS = ROOT / "docs" / "bench" / "papers_reports.json"
PAGE = ROOT / "docs" / "PAPERS.md"
DASH = "-"

# ---- What is kept of reports ----------------------------------------------------------------------------------------


def stands():
    """Every matrix with the value types that its papers' tables need."""
    for stand in published.ALIAGA + published.KREUTZER + published.BELL:
        yield stand, "f64"
    for stand, _ in published.GAO:
        yield stand, "f64"
    for stand, _ in published.NAGASAKA:
        yield stand, "f32"


def facts_of(report):
    layouts = {layout["name"]: layout for layout in report["layouts"]}
    lengths = report["structure"]["row_lengths"]
    ccoo = layouts["ccoo"]["counters"]
    slots = lambda name: layouts[name]["padding_slots"] + report["matrix"]["nonzeros"] if name in layouts else None
    return {
        "rows": report["matrix"]["rows"], "nonzeros": report["matrix"]["nonzeros"],
        "row_lengths": {key: lengths[key] for key in ("min", "max", "mean", "relative")},
        "device_bytes": {name: layout["device_bytes"] for name, layout in layouts.items()},
        "published_bytes": {name: layout["published_bytes"] for name, layout in layouts.items()
                            if layout["published_bytes"] is not None},
        "slots": {name: slots(name) for name in ("ell", "ellpack_r", "pjds")},
        "ccoo": {name: value for name, value in ccoo.items() if name in ("k", "b") or name.startswith("chunks")},
        "recommended": report["recommended"]["layout"],
        "worst": report["code_balance"]["worst"], "best": report["code_balance"]["best"],
    }


def collect(command, most, facts):
    """Reports of all matrices but those that are known, the paper's K = 4 of ccoo among the settings."""
    with tempfile.TemporaryDirectory() as directory:
        for stand, value_type in stands():
            key = f"{stand.words} {value_type}"
            if key in facts or stand.nonzeros > most:
                continue
            print(f"{key} ...", file=sys.stderr, flush=True)
            path = os.path.join(directory, "A.spmvc")
            subprocess.run([command, "generate", *stand.words.split(), "-o", path, "-f", "-q", "--layout", "csr"],
                           check=True)
            text = subprocess.run([command, "report", path, "--json", "-q", "--value-type", value_type, "--set",
                                   "ccoo.k=4"], check=True, capture_output=True).stdout
            facts[key] = facts_of(json.loads(text))
            if not stand.like and (facts[key]["rows"], facts[key]["nonzeros"]) != (stand.rows, stand.nonzeros):
                sys.exit(f"{key}: not the rows and nonzeros of {', '.join(stand.names)}")
    return facts


# ---- Times ----------------------------------------------------------------------------------------------------------


class Times:
    """Cold medians in microseconds of files of `bench --json`, by the words that made a matrix, the type and the
    kernel. Of several files, the last that has one."""

    def __init__(self):
        self.machines, self.of = [], {}

    def add(self, bench):
        self.machines.append(bench["machine"]["name"])
        for matrix in bench["matrices"]:
            words = re.sub(r"^(spmvpack )?generate ", "", matrix["source"] or "")
            for result in matrix["results"]:
                if result["skipped"] is None and result["correct"]:
                    kernel = "/".join(filter(None, (result["layout"], result["kernel"])))
                    self.of[words, matrix["value_type"], matrix["vector_type"], result["by"], kernel] = result

    def microseconds(self, words, value_type, *kernels, by="spmvpack"):
        """The least of several kernels'."""
        found = [self.of[words, value_type, value_type, by, k]["cold"]["median"] for k in kernels
                 if (words, value_type, value_type, by, k) in self.of]
        return min(found, default=None)


CUSPARSE_CSR = ("csr-alg1", "csr-alg2")
CUSPARSE_COO = ("coo-alg1", "coo-alg2")
CUSP = ("coo/balanced", "csr/scalar", "csr/vector32", "dia/rows", "ell/rows", "hyb/default")


def kept_times(value_type):
    return ROOT / "docs" / "bench" / f"papers_times_{value_type}.json"


def measure(command, most):
    """All kernels on all matrices, each in its paper's types and with its settings; kept in files."""
    for value_type in ("f64", "f32"):
        arguments = []
        for stand in published.ALIAGA + published.KREUTZER + published.BELL:
            arguments += [stand.words] if value_type == "f64" and stand.nonzeros <= most else []
        arguments += [stand.words for stand in published.BELL] if value_type == "f32" else []
        arguments += [stand.words for stand, _ in published.GAO]
        arguments += [stand.words for stand, _ in published.NAGASAKA] if value_type == "f32" else []
        arguments = [f"generate {words}" for words in dict.fromkeys(arguments)]
        text = subprocess.run([command, "bench", *arguments, "--json", "-q", "--device", "gpu", "--value-type", value_type,
                               "--set", "ccoo.k=4", "--set", "pjds.basis=permuted"],
                              check=True, capture_output=True).stdout
        kept_times(value_type).write_bytes(text)


# ---- Tables ---------------------------------------------------------------------------------------------------------


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def ratio(slower, faster):
    return DASH if slower is None or faster is None else f"{slower / faster:.2f}"


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def mean_of(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def code(stand):
    return f"`{stand.words}`"


class Tables:
    def __init__(self, facts, times):
        self.facts, self.times = facts, times

    def fact(self, stand, value_type="f64"):
        return self.facts.get(f"{stand.words} {value_type}")

    def all(self):
        return {"aliaga-table-1": self.aliaga_encodings(), "aliaga-table-2": self.aliaga_sizes(),
                "aliaga-figure-3": self.aliaga_bytes(), "aliaga-figure-4": self.aliaga_times(),
                "gao-table-3": self.gao("f32"), "gao-table-4": self.gao("f64"),
                "nagasaka-table-2": self.nagasaka_bytes(), "nagasaka-figure-3": self.nagasaka_times(),
                "kreutzer-matrices": self.kreutzer_matrices(), "kreutzer-table-1": self.kreutzer_slots(),
                "kreutzer-figure-3": self.kreutzer_lengths(), "kreutzer-equations": self.kreutzer_equations(),
                "bell-structured": self.bell(), "not-compared": self.not_compared()}

    def aliaga_sizes(self):
        rows = []
        for stand in published.ALIAGA:
            fact = self.fact(stand)
            rows.append([", ".join(stand.names), f"{stand.rows:,}", f"{stand.nonzeros:,}", code(stand),
                         "the same" if fact else "the same by its formula, not made"])
        found = sum(len(stand.names) for stand in published.ALIAGA)
        return (table(["Matrix", "n", "n_z", "`spmvpack generate`", "rows and nonzeros"], rows) +
                f"\n\n{found} of {published.ALIAGA_MATRICES} matrices.")

    def aliaga_encodings(self):
        rows = []
        for stand in published.ALIAGA:
            fact = self.fact(stand)
            if not fact:
                continue
            c = fact["ccoo"]
            share = lambda name: f"{100 * c['chunks.' + name] / c['chunks']:.1f} %"
            rows.append([stand.names[0], f"{c['chunks']:,}", share("one_row"), share("columns_8"), share("columns_16"),
                         share("columns_32"), share("values_lut"), share("values_raw")])
        return table(["K = 4", "chunks", "no row index", "column 8 bits", "16", "32", "value 8 bits", "64"], rows)

    def aliaga_bytes(self):
        rows = []
        over = lambda bytes_, fact: f"{100 * (bytes_ / fact['device_bytes']['csr'] - 1):+.1f} %"
        for stand in published.ALIAGA:
            fact = self.fact(stand)
            if fact:
                rows.append([stand.names[0], over(fact["device_bytes"]["coo"], fact),
                             over(fact["published_bytes"]["ccoo"], fact), over(fact["device_bytes"]["ccoo"], fact),
                             over(fact["device_bytes"][fact["recommended"]], fact) + f" ({fact['recommended']})"])
        return table(["over CSR", "COO", "Compressed COO by the paper's rules, K = 4", "our `ccoo`, K = 4",
                      "what `auto` takes"], rows)

    def aliaga_times(self):
        rows, speedups = [], {"csr": [], "coo": []}
        for stand in published.ALIAGA:
            of = lambda *kernels, by="spmvpack": self.times.microseconds(stand.words, "f64", *kernels, by=by)
            paper, ours = of("ccoo/atomic"), of("ccoo/default")
            csr, coo = of("csr-alg1", by="cusparse"), of(*CUSPARSE_COO, by="cusparse")
            if csr and paper:
                speedups["csr"].append(csr / paper)
            if coo and paper:
                speedups["coo"].append(coo / paper)
            rows.append([stand.names[0], ratio(csr, paper), ratio(coo, paper), ratio(csr, ours)])
        middle = [f"{median(found):.2f}" if found else DASH for found in speedups.values()]
        rows.append(["median", *middle, ""])
        rows.append(["the paper's median over 60", published.ALIAGA_SPMV, "almost the same", ""])
        return table(["speed-up, FP64", "`ccoo/atomic` over cuSPARSE CSR (default)", "over cuSPARSE COO",
                      "our `ccoo` over cuSPARSE CSR"], rows) + (
            "\n\nFigure 5, BiCGSTAB: the paper's median speed-up over cuSPARSE's CSR is " + published.ALIAGA_BICGSTAB +
            "; docs/BENCHMARKS.md has ours.")

    def gao(self, value_type):
        over = published.GAO_OVER
        rows, mean = [], []
        for stand, theirs in published.GAO:
            of = lambda *kernels, by="spmvpack": self.times.microseconds(stand.words, value_type, *kernels, by=by)
            ipcsr, pcsr = of("csr/ipcsr"), of("csr/pcsr")
            if ipcsr and pcsr:
                mean.append(pcsr / ipcsr)
            pair = lambda name: " / ".join(f"{gpu[over.index(name)]:.2f}" for gpu in theirs[value_type])
            rows.append([stand.names[0] + (" (like it)" if stand.like else ""), pair("PCSR"), ratio(pcsr, ipcsr),
                         pair("CUSPARSE"), ratio(of(*CUSPARSE_CSR, by="cusparse"), ipcsr), pair("CUSP"),
                         ratio(of(*CUSP), ipcsr)])
        means = {name: " / ".join(f"{gpu:.2f}" for gpu in both) for name, both in published.GAO_MEANS[value_type].items()}
        rows.append([f"mean: theirs of {published.GAO_MATRICES}, ours of these", means["PCSR"],
                     f"{mean_of(mean):.2f}" if mean else DASH, means["CUSPARSE"], "", means["CUSP"], ""])
        return table(["IPCSR over", "PCSR: the paper", "here", "CUSPARSE: the paper", "here (its faster CSR)",
                      "CUSP: the paper", "here (the best of its six kernels)"], rows)

    def nagasaka_bytes(self):
        rows = []
        mib = lambda bytes_: f"{bytes_ / 2**20:.2f}"
        for stand, (csr, yaspmv, amb, reduction) in published.NAGASAKA:
            fact = self.fact(stand, "f32")
            if not fact:
                continue
            ours_csr, ours = fact["device_bytes"]["csr"], fact["published_bytes"]["amb"]
            rows.append([stand.names[0], code(stand), csr, mib(ours_csr), yaspmv, amb, mib(ours), reduction,
                         f"{100 * (1 - amb / csr):.2f}", f"{100 * (1 - ours / ours_csr):.2f}"])
        return table(["f32, MiB", "`spmvpack generate`", "CSR: the paper", "here", "yaSpMV", "AMB: the paper", "here",
                      "reduction over both, %", "over CSR: the paper, %", "here, %"], rows)

    def nagasaka_times(self):
        rows, all_over = [], []
        bsr = tuple(f"bsr-{b}" for b in range(1, 9))
        for stand, _ in published.NAGASAKA:
            of = lambda *kernels, by="spmvpack": self.times.microseconds(stand.words, "f32", *kernels, by=by)
            best, paper = of(*CUSPARSE_CSR, *bsr, by="cusparse"), of("amb/atomic")
            if best and paper:
                all_over.append(best / paper)
            rows.append([stand.names[0], ratio(best, paper), ratio(best, of("amb/ordered"))])
        rows.append(["mean", f"{mean_of(all_over):.2f}" if all_over else DASH, ""])
        rows.append([f"the paper's, of {published.NAGASAKA_MATRICES}", published.NAGASAKA_SPEEDUP, ""])
        return table(["f32, over the best of cuSPARSE CSR and BSR", "`amb/atomic`, the paper's", "`amb/ordered`, ours"],
                     rows)

    def kreutzer_matrices(self):
        rows = []
        for stand in published.KREUTZER:
            fact = self.fact(stand)
            lengths = fact["row_lengths"] if fact else None
            rows.append([stand.names[0], f"{stand.rows:,}", round(stand.nonzeros / stand.rows), code(stand),
                         f"{fact['rows']:,}" if fact else "not made",
                         f"{lengths['mean']:.2f}, {lengths['min']} to {lengths['max']}" if fact else DASH])
        return table(["Matrix", "rows", "per row", "`spmvpack generate`", "rows", "per row"], rows)

    def kreutzer_slots(self):
        rows = []
        for stand in published.KREUTZER:
            fact = self.fact(stand)
            if not fact or not fact["slots"]["ell"] or not fact["slots"]["pjds"]:
                continue
            ell, pjds, nnz = fact["slots"]["ell"], fact["slots"]["pjds"], fact["nonzeros"]
            of = lambda *kernels: self.times.microseconds(stand.words, "f64", *kernels)
            gflops = lambda *kernels: f"{2e-3 * nnz / of(*kernels):.0f}" if of(*kernels) else DASH
            rows.append([stand.names[0], f"{ell:,}", f"{pjds:,}", f"{100 * (1 - pjds / ell):.1f} %",
                         f"{100 * (pjds / nnz - 1):.3f} %", gflops("ell/padded"), gflops("ellpack_r/rows"),
                         gflops("pjds/rows"), gflops("pjds/permuted")])
        return (table(["like", "slots of ELLPACK(-R)", "of pJDS", "data reduction", "pJDS over the nonzeros",
                       "GF/s, FP64: `ell/padded`", "`ellpack_r`", "`pjds`", "permuted"], rows) +
                f"\n\nThe paper has data reductions of {published.KREUTZER_REDUCTION} and less than 0.01 % over the "
                "nonzeros.")

    def kreutzer_lengths(self):
        known = [(stand, self.fact(stand)) for stand in published.KREUTZER if self.fact(stand)]
        rows = []
        for b in range(16):
            rows.append([f"{b + 1}/16"] + [f"{100 * fact['row_lengths']['relative'][b] / fact['rows']:.1f} %"
                                           for _, fact in known])
        return table(["rows up to, of the longest"] + [f"like {stand.names[0]}" for stand, _ in known], rows)

    def kreutzer_equations(self):
        rows = []
        for equation, times, alpha, over, theirs in published.KREUTZER_LIMITS:
            # N_nzr (alpha + 3/2) + 2 = 2 times over: with alpha = 1/N_nzr that is N_nzr 3/2 + 3.
            ours = (2 * times * over - 3) / 1.5 if alpha == "1/N_nzr" else (2 * times * over - 2) / (alpha + 1.5)
            rows.append([equation, alpha, over, theirs, f"{ours:.2f}"])
        text = table(["equation", "alpha", "B_GPU / B_PCI", "N_nzr: the paper", "by the equation"], rows)
        rows = []
        for stand in published.KREUTZER:
            fact = self.fact(stand)
            if not fact:
                continue
            with_copies, without = published.KREUTZER_GFLOPS.get(stand.names[0], (None, None))
            worst, best = fact["worst"], fact["best"]
            span = lambda key, form: f"{worst[key]:{form}} to {best[key]:{form}}"
            rows.append([stand.names[0], span("alpha", ".3f"), span("bytes_per_flop", ".2f"), without or DASH,
                         span("gflops", ".0f"), with_copies or DASH, span("gflops_with_copies", ".1f")])
        return text + "\n\n" + table(
            ["like", "alpha, bounds", "bytes/flop (1)", "GF/s: the paper, C2050", "(2), one H200", "with copies: the paper",
             "(2), one H200"], rows)

    def bell(self):
        rows = []
        for value_type in ("f64", "f32"):
            for stand in published.BELL:
                of = lambda kernel: self.times.of.get((stand.words, value_type, value_type, "spmvpack", kernel))
                cells = [f"{of(kernel)['gflops']:.0f}" if of(kernel) else DASH for kernel in CUSP]
                rows.append([f"{stand.names[0]}, {value_type}", code(stand), published.BELL_GFLOPS[value_type], *cells])
        return table(["GFLOP/s", "`spmvpack generate`", "the paper, GTX 280", *(f"`{k}`" for k in CUSP)], rows)

    def not_compared(self):
        return table(["not compared", "why"], published.NOT_COMPARED.items())


# ---- The page -------------------------------------------------------------------------------------------------------


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
    parser.add_argument("--bench", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--run", metavar="SPMVPACK")
    parser.add_argument("--collect", metavar="SPMVPACK")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--most", type=int, default=230_000_000, metavar="NONZEROS")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.collect:
        known = json.loads(REPORTS.read_text(encoding="utf-8")) if options.missing else {}
        REPORTS.write_text(json.dumps(collect(options.collect, options.most, known), indent=1) + "\n", encoding="utf-8")
    if options.run:
        measure(options.run, options.most)
    times = Times()
    kept = [path for path in map(kept_times, ("f64", "f32")) if path.exists()]
    for path in options.bench or kept:
        benches = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        for bench in benches if isinstance(benches, list) else [benches]:
            times.add(bench)
    tables = Tables(json.loads(REPORTS.read_text(encoding="utf-8")), times).all()
    if options.write or options.check:
        page = PAGE.read_text(encoding="utf-8")
        text = written(page, tables)
        if options.write:
            PAGE.write_text(text, encoding="utf-8")
        elif text != page:
            sys.exit(f"{PAGE} is not what benchmarks/papers.py --write makes of {REPORTS.name}")
        return
    if times.machines:
        print(f"Times: {', '.join(dict.fromkeys(times.machines))}\n")
    for name, text in tables.items():
        print(f"## {name}\n\n{text}\n")


if __name__ == "__main__":
    main()
