"""The tables of docs/PAPERS.md, for benchmarks/papers.py."""

import papers_gao
import papers_published as published
from papers_measure import (BELL, CUSP, CUSPARSE_BSR, CUSPARSE_COO, CUSPARSE_CSR, arithmetic_mean_of,
                            geometric_mean_of, median_of)

DASH = "-"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def code(stand):
    return f"`{stand.words}`"


class Timed:
    """The cells of one table of times. Why a cell is a dash is kept, and said below the table."""

    def __init__(self, times):
        self.times, self.reasons = times, {}

    def of(self, stand, value_type, *kernels, by="spmvpack"):
        found = self.times.least(stand, value_type, *kernels, by=by)
        if "median" in found:
            return found
        if self.times:
            name = kernels[0] if len(kernels) == 1 else "any of " + ", ".join(kernels)
            self.reasons.setdefault(found["skipped"], []).append(f"{stand.names[0]} ({name})")
        return None

    def ratio(self, slower, faster):
        return DASH if slower is None or faster is None else f"{slower['median'] / faster['median']:.2f}"

    def below(self):
        if not self.times:
            return "\n\nTimes have not been measured."
        lines = [f"\n\n{self.times.machine}, cold medians."]
        for why, cells in self.reasons.items():
            matrices = list(dict.fromkeys(cell.split(" (")[0] for cell in cells))
            what = ", ".join(dict.fromkeys(cells)) if len(cells) <= 4 else ", ".join(matrices)
            lines.append(f"\n\nNo time of {what}: {why}.")
        return "".join(lines)


class Tables:
    """`facts` are reports, by words and type; `solver` is the JSON of solver_benchmark, or None; `scaling` that of
    petsc_scaling.py."""

    def __init__(self, facts, times, solver, scaling):
        self.facts, self.times, self.solver, self.scaling = facts, times, solver, scaling

    def fact(self, stand, value_type="f64"):
        return self.facts.get(f"{stand.words} {value_type}")

    def all(self):
        return {"aliaga-table-1": self.aliaga_encodings(), "aliaga-table-2": self.aliaga_sizes(),
                "aliaga-figure-3": self.aliaga_bytes(), "aliaga-figure-4": self.aliaga_times(),
                "aliaga-figure-5": self.aliaga_solver(),
                "gao-table-1": self.gao_matrices(), "gao-table-3": self.gao("f32"), "gao-table-4": self.gao("f64"),
                "gao-figure-7": self.gao_bandwidth(),
                "nagasaka-table-2": self.nagasaka_bytes(), "nagasaka-figure-3": self.nagasaka_times(),
                "kreutzer-matrices": self.kreutzer_matrices(), "kreutzer-table-1": self.kreutzer_slots(),
                "kreutzer-figure-3": self.kreutzer_lengths(), "kreutzer-equations": self.kreutzer_equations(),
                "kreutzer-copies": self.kreutzer_copies(), "kreutzer-figure-5": self.kreutzer_scaling(),
                "bell-structured": self.bell(published.BELL, BELL),
                "bell-unstructured": self.bell([stand for stand, _ in published.GAO], BELL),
                "bell-bandwidth": self.bell_bandwidth(), "not-compared": self.not_compared()}

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
        timed, rows, columns = Timed(self.times), [], [[], [], [], []]
        for stand in published.ALIAGA:
            of = lambda *kernels, by="spmvpack": timed.of(stand, "f64", *kernels, by=by)
            paper, ours = of("ccoo/atomic"), of("ccoo/default")
            csr, faster = of("csr-alg1", by="cusparse"), of(*CUSPARSE_CSR, by="cusparse")
            coo = of(*CUSPARSE_COO, by="cusparse")
            cells = [timed.ratio(csr, paper), timed.ratio(faster, paper), timed.ratio(coo, paper),
                     timed.ratio(faster, ours)]
            for column, cell in zip(columns, cells):
                column += [] if cell == DASH else [float(cell)]
            rows.append([stand.names[0], *cells])
        rows.append(["median", *(f"{median_of(column):.2f}" if column else DASH for column in columns)])
        rows.append(["the paper's median over 60", published.ALIAGA_SPMV, "", "almost the same", ""])
        return table(["speed-up, FP64", "`ccoo/atomic` over cuSPARSE CSR (default)", "over its faster CSR",
                      "over cuSPARSE COO", "our `ccoo` over the faster CSR"], rows) + timed.below()

    def aliaga_solver(self):
        """BiCGSTAB: microseconds of an iteration, and how much faster it is than with cuSPARSE."""
        if self.solver is None:
            return "Not measured."
        rows, notes, over = [], [], {"ccoo/atomic": [], "ccoo": [], "auto": []}
        columns = {"faster CSR": CUSPARSE_CSR, "COO": CUSPARSE_COO, "SpMVOp": ("csr-op-alg1", "csr-op-alg2"),
                   "sliced ELL": ("sell-32",)}
        known = {r["name"] for matrix in self.solver["matrices"] for r in matrix.get("results", [])}
        if not known & set(CUSPARSE_COO):
            del columns["COO"]
            notes.append("cuSPARSE's COO has not been measured here.")
        over_all = {name: [] for name in over}
        converged = []
        for matrix in self.solver["matrices"]:
            if "skipped" in matrix:
                notes.append(f"Not measured: {matrix['name']}, {matrix['skipped']}.")
                continue
            ran = {r["name"]: r for r in matrix["results"] if r["skipped"] is None}
            of = lambda *names: min((ran[n]["iteration"]["median"] for n in names if n in ran), default=None)
            peers = [name for name, r in ran.items() if r["by"] == "cusparse"]
            csr, best = of(*CUSPARSE_CSR), of(*peers)
            cells = [f"{value:.0f}" if value else DASH for value in (of(*names) for names in columns.values())]
            for name in over:
                if ours := of(name):
                    over[name].append(csr / ours)
                    over_all[name].append(best / ours)
                cells.append(f"{ours:.0f} ({csr / ours:.2f}, {best / ours:.2f})" if ours else DASH)
            fastest = min(peers, key=lambda name: ran[name]["iteration"]["median"])
            solves = [ran[name]["solve"] for name in ("auto", fastest) if name in ran]
            if len(solves) == 2 and all(s["converged"] for s in solves):
                converged.append(solves[1]["microseconds"] / solves[0]["microseconds"])
                cells.append(f"{solves[0]['iterations']} / {solves[1]['iterations']}: {converged[-1]:.2f}")
            else:
                cells.append(f"not in {self.solver['most_iterations']}")
            rows.append([matrix["name"], matrix["family"], f"{matrix['nonzeros'] / 1e6:.1f} M", *cells])
        middle = [f"{median_of(over[name]):.2f}, {median_of(over_all[name]):.2f}" if over[name] else DASH
                  for name in over]
        none = [""] * (2 + len(columns))
        rows.append(["median", *none, *middle, f"{median_of(converged):.2f}" if converged else DASH])
        rows.append(["the paper's median over 60", *none, published.ALIAGA_BICGSTAB + " over CSR", "", "", ""])
        head = ["us an iteration", "family", "nonzeros", *columns, "`ccoo/atomic` (over CSR, over the fastest)", "`ccoo`", "`auto`",
                f"iterations to {self.solver['tolerance']:g}, `auto` / fastest peer: speed-up"]
        families = len({m["family"] for m in self.solver["matrices"] if "skipped" not in m})
        notes.append(f"{self.solver['machine']}, cuSPARSE {self.solver['cusparse']}: {len(rows) - 2} matrices of "
                     f"{families} families.")
        return table(head, rows) + "".join(f"\n\n{note}" for note in notes)

    def gao_matrices(self):
        rows = []
        for stand, _ in published.GAO:
            n, columns, nonzeros = papers_gao.MATRICES[stand.names[0]]
            fact = self.fact(stand)
            rows.append([stand.names[0], f"{n:,}", f"{columns:,}", f"{nonzeros:,}", f"{nonzeros / n:.1f}", code(stand),
                         f"{fact['nonzeros']:,}" if fact else "not made"])
        head = ["Matrix", "rows", "columns", "nonzeros", "per row", "`spmvpack generate`", "its nonzeros"]
        return (table(head, rows) +
                f"\n\n{len(rows)} of {len(papers_gao.MATRICES)} matrices.")

    def gao(self, value_type):
        timed, rows = Timed(self.times), []
        names = ("PCSR", "CUSPARSE", "CUSP")
        ours, theirs = {name: [] for name in names}, papers_gao.SPEEDUPS[value_type]
        # Both GPUs' speed-ups over `name`, of some matrices.
        column = lambda name, of: [[both[gpu][papers_gao.OVER.index(name)] for both in of] for gpu in (0, 1)]
        pair = lambda both, digits=2: " / ".join(f"{gpu:.{digits}f}" for gpu in both)
        for stand, speedups in published.GAO:
            of = lambda *kernels, by="spmvpack": timed.of(stand, value_type, *kernels, by=by)
            ipcsr = of("csr/ipcsr")
            cells = []
            for name, slower in zip(names, (of("csr/pcsr"), of(*CUSPARSE_CSR, by="cusparse"), of(*CUSP))):
                ours[name] += [slower["median"] / ipcsr["median"]] if slower and ipcsr else []
                cells += [pair(gpu[0] for gpu in column(name, [speedups[value_type]])), timed.ratio(slower, ipcsr)]
            printed = of("csr/ipcsr_printed")
            rows.append([stand.names[0] + (" (like it)" if stand.like else ""), *cells,
                         timed.ratio(of("csr/pcsr"), printed)])
        for kind, mean in (("arithmetic", arithmetic_mean_of), ("geometric", geometric_mean_of)):
            cells = []
            for name in names:
                cells += [pair(map(mean, column(name, [both[value_type] for _, both in published.GAO]))),
                          f"{mean(ours[name]):.2f}" if ours[name] else DASH]
            rows.append([f"{kind} mean of these", *cells, ""])
        for kind, mean in (("arithmetic", arithmetic_mean_of), ("geometric", geometric_mean_of)):
            cells = []
            for name in names:
                cells += [pair(map(mean, column(name, theirs.values())), 3), ""]
            rows.append([f"{kind} mean of all {len(theirs)}, from the table", *cells, ""])
        printed = []
        for name in names:
            printed += [pair(published.GAO_MEANS[value_type][name]), ""]
        rows.append([f"mean of all {len(theirs)}, as printed", *printed, ""])
        return table(["IPCSR over", "PCSR: the paper", "here", "CUSPARSE: the paper", "here (its faster CSR)",
                      "CUSP: the paper", "here (the best of its six kernels)",
                      "`csr/ipcsr_printed` over PCSR, here"], rows) + timed.below()

    def gao_bandwidth(self):
        """Equation (8) with the bytes of csr, f32: x read once, and read for every entry."""
        timed, rows = Timed(self.times), []
        kernels = {"csr/ipcsr": ("`csr/ipcsr`", 0), "csr/pcsr": ("`csr/pcsr`", 8), "CUSPARSE": ("cuSPARSE CSR", 0)}
        shares = {name: ([], []) for name in kernels}
        peak = published.PEAKS.get(self.times.machine) if self.times else None
        for stand, _ in published.GAO:
            fact, cells = self.fact(stand), []
            n, columns, nonzeros = fact["rows"], papers_gao.MATRICES[stand.names[0]][1], fact["nonzeros"]
            for name, (_, more) in kernels.items():
                found = (timed.of(stand, "f32", *CUSPARSE_CSR, by="cusparse") if name == "CUSPARSE"
                         else timed.of(stand, "f32", name))
                bytes_ = (8 + more) * nonzeros + 4 * (n + 1) + 4 * n
                both = [1e-3 * (bytes_ + 4 * x) / found["median"] for x in (columns, nonzeros)] if found else []
                for share, speed in zip(shares[name], both):
                    share.append(speed)
                cells.append(" to ".join(f"{speed:.0f}" for speed in both) or DASH)
            rows.append([stand.names[0], *cells])
        mean = lambda name: [arithmetic_mean_of(share) for share in shares[name] if share]
        rows.append(["mean", *(" to ".join(f"{m:.0f}" for m in mean(name)) or DASH for name in kernels)])
        if peak:
            rows.append([f"of the peak, {peak} GB/s",
                         *(" to ".join(f"{100 * m / peak:.0f} %" for m in mean(name)) or DASH for name in kernels)])
        of_peak = lambda speed: f"{speed} GB/s, {100 * speed / published.GAO_PEAK:.0f} %"
        rows.append([f"the paper's mean of {len(papers_gao.MATRICES)}, C2050, {published.GAO_PEAK} GB/s",
                     *(of_peak(published.GAO_BANDWIDTH[name]) for name in kernels)])
        return table(["GB/s, f32", *(name for name, _ in kernels.values())], rows) + timed.below()

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
        """Figure 3, with each matrix's best b as in the paper; figure 4's means are its last rows."""
        columns = {"`amb/atomic`, the paper's": ("amb/atomic",),
                   "of its fastest b and threads": tuple(f"{kernel} b={b}" for b in published.NAGASAKA_BLOCKS
                                                         for kernel in published.NAGASAKA_KERNELS),
                   "`amb/ordered`, ours": ("amb/ordered",), "SELL-C-sigma": ("sell/default",),
                   "NUS-SELL": ("nus_sell/default",)}
        timed, rows, ratios = Timed(self.times), [], [[] for _ in columns]
        for stand, _ in published.NAGASAKA:
            best = timed.of(stand, "f32", *CUSPARSE_CSR, *CUSPARSE_BSR, by="cusparse")
            found = [timed.of(stand, "f32", *kernels) for kernels in columns.values()]
            for ratio, kernel in zip(ratios, found):
                ratio += [best["median"] / kernel["median"]] if best and kernel else []
            rows.append([stand.names[0], *(timed.ratio(best, kernel) for kernel in found)])
        for name, mean in (("mean, arithmetic", arithmetic_mean_of), ("geometric", geometric_mean_of)):
            rows.append([name, *(f"{mean(ratio):.2f}" if ratio else DASH for ratio in ratios)])
        rows.append([f"the paper's, of {published.NAGASAKA_MATRICES}", DASH, published.NAGASAKA_SPEEDUP, "", "", ""])
        return table(["f32, over the best of cuSPARSE CSR and BSR", *columns], rows) + timed.below()

    def kreutzer_matrices(self):
        rows = []
        for stand in published.KREUTZER:
            fact = self.fact(stand)
            lengths = fact["row_lengths"] if fact else None
            rows.append([stand.names[0], f"{stand.rows:,}", round(stand.nonzeros / stand.rows), code(stand),
                         f"{fact['rows']:,}" if fact else "not made",
                         f"{lengths['mean']:.2f}, {lengths['min']} to {lengths['max']}" if fact else DASH])
        return table(["Matrix", "rows", "per row", "`spmvpack generate`", "rows", "per row"], rows)

    def known_kreutzer(self):
        return [(stand, self.fact(stand)) for stand in published.KREUTZER if self.fact(stand)]

    def kreutzer_slots(self):
        timed, rows = Timed(self.times), []
        for stand, fact in self.known_kreutzer():
            ell, pjds, nnz = fact["slots"]["ell"], fact["slots"]["pjds"], fact["nonzeros"]
            found = [timed.of(stand, "f64", kernel)
                     for kernel in ("ell/padded", "ellpack_r/rows", "pjds/rows", "pjds/permuted")]
            cells = [f"{2e-3 * nnz / f['median']:.0f}" if f else DASH for f in found]
            cells.append(timed.ratio(found[1], found[3]))
            rows.append([stand.names[0], f"{ell:,}", f"{pjds:,}", f"{100 * (1 - pjds / ell):.1f} %",
                         f"{100 * (pjds / nnz - 1):.3f} %", *cells])
        return (table(["like", "slots of ELLPACK(-R)", "of pJDS", "data reduction", "pJDS over the nonzeros",
                       "GF/s, FP64: `ell/padded`", "`ellpack_r`", "`pjds`", "permuted", "permuted over `ellpack_r`"],
                      rows) +
                f"\n\nThe paper has data reductions of {published.KREUTZER_REDUCTION}, less than 0.01 % over the "
                f"nonzeros and, for pJDS,\n{published.KREUTZER_OVER_ELLPACK_R} of the performance of ELLPACK-R." +
                timed.below())

    def kreutzer_lengths(self):
        known = self.known_kreutzer()
        rows = []
        for b in range(16):
            rows.append([f"{b + 1}/16"] + [f"{100 * fact['row_lengths']['relative'][b] / fact['rows']:.1f} %"
                                           for _, fact in known])
        return table(["rows up to, of the longest"] + [f"like {stand.names[0]}" for stand, _ in known], rows)

    @staticmethod
    def nonzeros_per_row(times, alpha, over):
        """N_nzr where (1) takes `times` the time of the copies: N_nzr (alpha + 3/2) + 2 = 2 times over. With
        alpha = 1/N_nzr that is N_nzr 3/2 + 3."""
        return (2 * times * over - 3) / 1.5 if alpha == "1/N_nzr" else (2 * times * over - 2) / (alpha + 1.5)

    def kreutzer_equations(self):
        rows = []
        for equation, times, alpha, over, theirs in published.KREUTZER_LIMITS:
            rows.append([equation, alpha, over, theirs, f"{self.nonzeros_per_row(times, alpha, over):.2f}"])
        link = self.times.link_speed()
        if link:
            over = self.times.measured["copy"] / link
            for equation, times, alpha, *_ in published.KREUTZER_LIMITS:
                rows.append([equation, alpha, f"{over:.1f}, measured", "",
                             f"{self.nonzeros_per_row(times, alpha, over):.0f}"])
        text = table(["equation", "alpha", "B_GPU / B_PCI", "N_nzr: the paper", "by the equation"], rows)
        if link:
            text += (f"\n\nMeasured: {self.times.machine}, {self.times.measured['copy']:.0f} GB/s on the device, "
                     f"{link:.1f} GB/s for pinned vectors to it and back.")
        rows = []
        for stand, fact in self.known_kreutzer():
            with_copies, without = published.KREUTZER_GFLOPS.get(stand.names[0], (None, None))
            worst, best = fact["worst"], fact["best"]
            span = lambda key, form: f"{worst[key]:{form}} to {best[key]:{form}}"
            rows.append([stand.names[0], span("alpha", ".3f"), span("bytes_per_flop", ".2f"), without or DASH,
                         span("gflops", ".0f"), with_copies or DASH, span("gflops_with_copies", ".1f")])
        return text + "\n\n" + table(
            ["like", "alpha, bounds", "bytes/flop (1)", "GF/s: the paper, C2050", "(2), one H200",
             "with copies: the paper", "(2), one H200"], rows)

    def kreutzer_copies(self):
        """Measured with x and y on the host, beside equations (1) and (2) with the bandwidths of the same run."""
        timed, rows = Timed(self.times), []
        for stand, fact in self.known_kreutzer():
            found = timed.of(stand, "f64", "pjds/rows")
            if not found or "host_vectors" not in found:
                rows.append([stand.names[0], *[DASH] * 5])
                continue
            gflops = lambda microseconds: 2e-3 * fact["nonzeros"] / microseconds
            # (1) and (2) in microseconds, by the bounds of alpha; GB/s are 1e3 bytes a microsecond.
            n, per_row = fact["rows"], fact["nonzeros"] / fact["rows"]
            kernel = lambda alpha: 8e-3 * n * (per_row * (alpha + 1.5) + 2) / self.times.measured["copy"]
            copies = 16e-3 * n / self.times.link_speed()
            span = lambda f: f"{f(1):.1f} to {f(1 / per_row):.1f}"
            rows.append([stand.names[0], span(lambda a: gflops(kernel(a))), f"{gflops(found['median']):.1f}",
                         span(lambda a: gflops(kernel(a) + copies)), f"{gflops(found['foreseen']):.1f}",
                         f"{gflops(found['host_vectors']):.1f}"])
        return table(["GF/s of `pjds`, like", "by (1)", "measured", "with copies, by (2)",
                      "by the measured kernel and bus", "measured"], rows) + timed.below()

    def kreutzer_scaling(self):
        """Efficiency over one rank, from what docs/PETSC.md measured."""
        rows = []
        for name in published.KREUTZER_SCALING:
            of = {r["ranks"]: r for r in self.scaling["results"] if (r["matrix"], r["scaling"]) == (name, "strong")}
            cells = [f"{100 * of[1]['vector']['seconds'] / (ranks * of[ranks][mode]['seconds']):.0f} %"
                     for ranks in sorted(of)[1:] for mode in ("vector", "naive", "task")]
            rows.append([name, f"{of[1]['rows']:,}", *cells])
        return (table(["strong scaling", "rows", "two GPUs: vector", "naive", "task", "four GPUs: vector", "naive",
                       "task"], rows) + f"\n\n{self.scaling['machine']} of one host, {self.scaling['mpi']}.")

    def bell(self, stands, kernels):
        timed, rows = Timed(self.times), []
        for value_type in ("f64", "f32"):
            for stand in stands:
                cells = []
                for kernel in kernels:
                    found = timed.of(stand, value_type, kernel)
                    nonzeros = found and self.times.measured["times"][f"{stand.words} {value_type}"]["nonzeros"]
                    cells.append(f"{2e-3 * nonzeros / found['median']:.0f}" if found else DASH)
                theirs = [published.BELL_GFLOPS[value_type]] if stands is published.BELL else []
                rows.append([f"{stand.names[0]}, {value_type}", code(stand), *theirs, *cells])
        theirs = ["the paper, GTX 280"] if stands is published.BELL else []
        return table(["GFLOP/s", "`spmvpack generate`", *theirs, *(f"`{k}`" for k in kernels)], rows) + timed.below()

    def bell_bandwidth(self):
        """The bytes of the layout, of x and of y, each once, over the time and the peak."""
        timed, rows = Timed(self.times), []
        peak = published.PEAKS.get(self.times.machine) if self.times else None
        for stand in (*published.BELL, *(stand for stand, _ in published.GAO)):
            fact, cells = self.fact(stand), []
            columns = papers_gao.MATRICES[stand.names[0]][1] if stand.names[0] in papers_gao.MATRICES else fact["rows"]
            for kernel in CUSP:
                found = timed.of(stand, "f64", kernel)
                bytes_ = fact["device_bytes"][kernel.split("/")[0]] + 8 * (fact["rows"] + columns)
                cells.append(f"{0.1 * bytes_ / found['median'] / peak:.1f} %" if found and peak else DASH)
            rows.append([f"{stand.names[0]}, f64", *cells])
        rows.append(["the paper, GTX 280", published.BELL_BANDWIDTH, *[""] * (len(CUSP) - 1)])
        return (table(["of the peak bandwidth", *(f"`{k}`" for k in CUSP)], rows) +
                (f"\n\nThe peak is {peak} GB/s." if peak else "") + timed.below())

    def not_compared(self):
        return table(["not compared", "why"], published.NOT_COMPARED.items())
