"""The tables of docs/PAPERS.md, for benchmarks/papers.py."""

import papers_published as published
from papers_measure import BELL, CUSP, CUSPARSE_BSR, CUSPARSE_COO, CUSPARSE_CSR, mean_of, median_of

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
    """`facts` are reports, by words and type; `solver` is the JSON of solver_benchmark, or None."""

    def __init__(self, facts, times, solver=None):
        self.facts, self.times, self.solver = facts, times, solver

    def fact(self, stand, value_type="f64"):
        return self.facts.get(f"{stand.words} {value_type}")

    def all(self):
        return {"aliaga-table-1": self.aliaga_encodings(), "aliaga-table-2": self.aliaga_sizes(),
                "aliaga-figure-3": self.aliaga_bytes(), "aliaga-figure-4": self.aliaga_times(),
                "aliaga-figure-5": self.aliaga_solver(),
                "gao-table-3": self.gao("f32"), "gao-table-4": self.gao("f64"),
                "nagasaka-table-2": self.nagasaka_bytes(), "nagasaka-figure-3": self.nagasaka_times(),
                "kreutzer-matrices": self.kreutzer_matrices(), "kreutzer-table-1": self.kreutzer_slots(),
                "kreutzer-figure-3": self.kreutzer_lengths(), "kreutzer-equations": self.kreutzer_equations(),
                "kreutzer-copies": self.kreutzer_copies(), "bell-structured": self.bell(),
                "not-compared": self.not_compared()}

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
        over_all = {name: [] for name in over}
        converged = []
        for matrix in self.solver["matrices"]:
            if "skipped" in matrix:
                notes.append(f"Not measured: {matrix['name']}, {matrix['skipped']}.")
                continue
            ran = {r["name"]: r for r in matrix["results"] if r["skipped"] is None}
            of = lambda *names: min((ran[n]["iteration"]["median"] for n in names if n in ran), default=None)
            peers = [name for name, r in ran.items() if r["by"] == "cusparse"]
            csr, op, sell, best = of(*CUSPARSE_CSR), of("csr-op-alg1", "csr-op-alg2"), of("sell-32"), of(*peers)
            cells = [f"{value:.0f}" if value else DASH for value in (csr, op, sell)]
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
        none = [""] * 5
        rows.append(["median", *none, *middle, f"{median_of(converged):.2f}" if converged else DASH])
        rows.append(["the paper's median over 60", *none, published.ALIAGA_BICGSTAB + " over CSR", "", "", ""])
        head = ["us an iteration", "family", "nonzeros", "faster CSR", "SpMVOp", "sliced ELL",
                "`ccoo/atomic` (over CSR, over the fastest)", "`ccoo`", "`auto`",
                f"iterations to {self.solver['tolerance']:g}, `auto` / fastest peer: speed-up"]
        families = len({m["family"] for m in self.solver["matrices"] if "skipped" not in m})
        notes.append(f"{self.solver['machine']}, cuSPARSE {self.solver['cusparse']}: {len(rows) - 2} matrices of "
                     f"{families} families.")
        return table(head, rows) + "".join(f"\n\n{note}" for note in notes)

    def gao(self, value_type):
        over, timed = published.GAO_OVER, Timed(self.times)
        rows, columns = [], [[], [], []]
        for stand, theirs in published.GAO:
            of = lambda *kernels, by="spmvpack": timed.of(stand, value_type, *kernels, by=by)
            ipcsr = of("csr/ipcsr")
            slower = (of("csr/pcsr"), of(*CUSPARSE_CSR, by="cusparse"), of(*CUSP))
            cells = [timed.ratio(other, ipcsr) for other in slower]
            for column, other in zip(columns, slower):
                column += [other["median"] / ipcsr["median"]] if other and ipcsr else []
            pair = lambda name: " / ".join(f"{gpu[over.index(name)]:.2f}" for gpu in theirs[value_type])
            rows.append([stand.names[0] + (" (like it)" if stand.like else ""), pair("PCSR"), cells[0],
                         pair("CUSPARSE"), cells[1], pair("CUSP"), cells[2]])
        means = {name: " / ".join(f"{gpu:.2f}" for gpu in both)
                 for name, both in published.GAO_MEANS[value_type].items()}
        ours = [f"{mean_of(column):.2f}" if column else DASH for column in columns]
        rows.append([f"mean: theirs of {published.GAO_MATRICES}, ours of these", means["PCSR"], ours[0],
                     means["CUSPARSE"], ours[1], means["CUSP"], ours[2]])
        return table(["IPCSR over", "PCSR: the paper", "here", "CUSPARSE: the paper", "here (its faster CSR)",
                      "CUSP: the paper", "here (the best of its six kernels)"], rows) + timed.below()

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
        timed, rows, columns = Timed(self.times), [], [[], []]
        for stand, _ in published.NAGASAKA:
            best = timed.of(stand, "f32", *CUSPARSE_CSR, *CUSPARSE_BSR, by="cusparse")
            kernels = [timed.of(stand, "f32", kernel) for kernel in ("amb/atomic", "amb/ordered")]
            for column, kernel in zip(columns, kernels):
                column += [best["median"] / kernel["median"]] if best and kernel else []
            rows.append([stand.names[0], *(timed.ratio(best, kernel) for kernel in kernels)])
        rows.append(["mean", *(f"{mean_of(column):.2f}" if column else DASH for column in columns)])
        rows.append([f"the paper's, of {published.NAGASAKA_MATRICES}", published.NAGASAKA_SPEEDUP, ""])
        return table(["f32, over the best of cuSPARSE CSR and BSR", "`amb/atomic`, the paper's", "`amb/ordered`, ours"],
                     rows) + timed.below()

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
            cells = []
            for kernel in ("ell/padded", "ellpack_r/rows", "pjds/rows", "pjds/permuted"):
                found = timed.of(stand, "f64", kernel)
                cells.append(f"{2e-3 * nnz / found['median']:.0f}" if found else DASH)
            rows.append([stand.names[0], f"{ell:,}", f"{pjds:,}", f"{100 * (1 - pjds / ell):.1f} %",
                         f"{100 * (pjds / nnz - 1):.3f} %", *cells])
        return (table(["like", "slots of ELLPACK(-R)", "of pJDS", "data reduction", "pJDS over the nonzeros",
                       "GF/s, FP64: `ell/padded`", "`ellpack_r`", "`pjds`", "permuted"], rows) +
                f"\n\nThe paper has data reductions of {published.KREUTZER_REDUCTION} and less than 0.01 % over the "
                "nonzeros." + timed.below())

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

    def bell(self):
        timed, rows = Timed(self.times), []
        for value_type in ("f64", "f32"):
            for stand in published.BELL:
                cells = []
                for kernel in BELL:
                    found = timed.of(stand, value_type, kernel)
                    nonzeros = found and self.times.measured["times"][f"{stand.words} {value_type}"]["nonzeros"]
                    cells.append(f"{2e-3 * nonzeros / found['median']:.0f}" if found else DASH)
                rows.append([f"{stand.names[0]}, {value_type}", code(stand), published.BELL_GFLOPS[value_type], *cells])
        return table(["GFLOP/s", "`spmvpack generate`", "the paper, GTX 280", *(f"`{k}`" for k in BELL)],
                     rows) + timed.below()

    def not_compared(self):
        return table(["not compared", "why"], published.NOT_COMPARED.items())
