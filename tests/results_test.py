#!/usr/bin/env python3
"""README.md and docs/RESULTS.md tell the truth: their figures are those of docs/bench.

usage: results_test.py            exits with 1 and names the lines that are wrong
       results_test.py --write    writes the tables anew, after a measurement; sentences are up to the writer

A table follows the line <!-- results: NAME -->; TABLES makes it from its JSON. SENTENCES are the
phrases with figures that README.md, RESULTS.md and BENCHMARKS.md must contain. No other decimal or percentage may stand in RESULTS.md
outside of commands; QUOTED figures are from another document, which must contain them.
"""

import functools
import json
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
README, RESULTS, BENCHMARKS = ROOT / "README.md", DOCS / "RESULTS.md", DOCS / "BENCHMARKS.md"
GROUPS = {"arbitrary": "all values different", "local": "values repeat nearby", "global": "few distinct values",
          "irregular": "irregular rows", "small": "small: CSR fits in the L2 cache"}
CARDS = ("h200", "h100")
VERSIONS = {"2.11", "12.9.4", "13.0", "13.5", "14.2", "2026.2", "3.26.1"}  # of other software


@functools.cache
def bench(name):
    return json.loads((DOCS / "bench" / f"{name}.json").read_text(encoding="utf-8"))


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table(head, rows):
    return [row(*head), "|" + "---|" * len(head), *(row(*r) for r in rows)]


def two(value):
    return f"{value:.2f}"


def share(value):
    return "1 %" if 0.005 <= value < 0.015 else f"{100 * value:.0f} %"


# ---- on a GPU


def speed(matrix, state="cold", csr=False):
    """`auto` over the fastest format of cuSPARSE, or over the faster CSR algorithm."""
    right = [r for r in matrix["results"] if r["skipped"] is None and r["correct"]]
    [ours] = [r for r in right if r["by"] == "spmvpack" and r["layout"] == "auto"]
    peers = [r for r in right if r["by"] == "cusparse" and (not csr or r["layout"] in ("csr-alg1", "csr-alg2"))]
    return min(r[state]["median"] for r in peers) / ours[state]["median"]


def groups(name):
    """The matrices of the suite by group; those that fit in the L2 cache, and those added later, are small ones."""
    found = {key: [] for key in GROUPS}
    for m in bench(name)["matrices"]:
        found["small" if m["l2_resident"] or m["added"] else m["group"]].append(m)
    return found


def bytes_of(matrix, layout, workspace=False):
    """Over those of CSR; None where the layout was not measured."""
    for r in matrix["results"]:
        if r["layout"] == layout and r["skipped"] is None:
            return (r["device_bytes"] + workspace * r["workspace_bytes"]) / matrix["csr_bytes"]
    return None


def first_screen():
    suites = {card: groups(f"auto_{card}") for card in CARDS}
    rows = []
    for key, title in GROUPS.items():
        members = [suites[card][key] for card in CARDS]
        rows.append((title, len(members[0]), *(two(mean(map(speed, m))) for m in members),
                     two(min(map(speed, members[0] + members[1]))),
                     share(mean(bytes_of(m, "auto") for m in members[0]))))
    return table(("`auto` over cuSPARSE", "matrices", "H200", "H100", "least", "bytes of CSR's"), rows)


GENERATED = ("7-point-constant", "7-point-local", "7-point-random", "elasticity-constant", "elasticity-random",
             "lp-wide", "rmat", "circuit", "random")


def generated():
    matrices = {m["name"]: m for m in bench("auto_h200")["matrices"]}
    rows = []
    for m in map(matrices.get, GENERATED):
        csr, part = m["csr_bytes"] / m["nonzeros"], bytes_of(m, "auto")
        rows.append((f"`{m['source'].removeprefix('spmvpack generate ')}`", f"{m['nonzeros']:,}", two(csr),
                     two(csr * part) if csr * part >= 0.01 else f"{csr * part:.3f}",
                     share(part) if part >= 0.01 else f"{100 * part:.1g} %"))
    return table(("`spmvpack generate`", "nonzeros", "csr", "`auto`", "`auto` / csr"), rows)


def suite():
    suites = {card: groups(f"auto_{card}") for card in CARDS}
    rows = []
    for key, title in GROUPS.items():
        cells = [title, len(suites["h200"][key])]
        for card in CARDS:
            members = suites[card][key]
            cells += [two(mean(speed(m, csr=True) for m in members)), two(mean(map(speed, members))),
                      two(min(map(speed, members)))]
        rows.append([*cells, share(mean(bytes_of(m, "auto") for m in suites["h200"][key]))])
        if key == "irregular":
            cells = ["mean of these four", 22]
            for card in CARDS:
                large = [suites[card][k] for k in GROUPS if k != "small"]
                cells += [two(mean(mean(speed(m, csr=True) for m in g) for g in large)),
                          two(mean(mean(map(speed, g)) for g in large)), two(min(speed(m) for g in large for m in g))]
            rows.append([*cells, ""])
    return table(("`auto` over cuSPARSE", "matrices", "H200: faster CSR", "fastest format", "least",
                  "H100: faster CSR", "fastest format", "least", "bytes of CSR's"), rows)


def real():
    rows = []
    for card in CARDS:
        matrices = bench(f"real_auto_{card}")["matrices"]
        cells = [card.upper(), len(matrices)]
        for state in ("cold", "warm"):
            speeds = [speed(m, state) for m in matrices]
            cells += [two(mean(speeds)), two(min(speeds)), sum(s < 1 for s in speeds)]
        rows.append(cells)
    return table(("card", "matrices", "cold", "least", "slower", "warm", "least", "slower"), rows)


def kind_speed(m):
    return m["cusparse"]["us"] / m["us"][m["auto"]]


def over_best(m):
    return m["us"][m["auto"]] / min(m["us"].values())


def kinds():
    sizes = {"all": (0, math.inf), "up to 100,000": (0, 1e5), "100,000 to 1 million": (1e5, 1e6),
             "from 1 million": (1e6, math.inf)}
    rows = []
    for title, (low, high) in sizes.items():
        matrices = [m for m in bench("kinds_h200")["matrices"] if low <= m["nonzeros"] < high]
        speeds, picks = list(map(kind_speed, matrices)), list(map(over_best, matrices))
        rows.append((title, len(matrices), two(mean(speeds)), two(min(speeds)), two(max(speeds)),
                     sum(s < 1 for s in speeds), f"{mean(picks):.3f}", two(max(picks))))
    return table(("nonzeros", "matrices", "over the fastest format", "least", "most", "slower",
                  "time over our best layout's", "worst"), rows)


# The layouts that `auto` took in that run: docs/BENCHMARKS.md, "Plain shapes, one H200".
SHAPES = {"full-2k": "bitflag", "lower-2k": "ccoo", "gaps-2k-full": "ccoo",
          "powerlaw-200k-2": "bitflag"}


def shapes():
    rows = []
    for name, layout in SHAPES.items():
        [m] = [m for m in bench("shapes_h200")["matrices"] if m["name"] == name]
        ours = next(r for r in m["results"] if r["layout"] == layout and r["kernel"] == "default")["cold"]["median"]
        peers = {r["layout"]: r["cold"]["median"] for r in m["results"]
                 if r["by"] == "cusparse" and r["skipped"] is None and r["correct"]}
        peer = min(peers, key=peers.get)
        source = m["source"].replace("spmvpack generate ", "")
        rows.append((f"`{source}`", f"`{layout}`", f"{ours:.1f}", f"{peer} {peers[peer]:.1f}", two(peers[peer] / ours)))
    return table(("`spmvpack generate`", "`auto`", "us", "cuSPARSE, us", "ratio"), rows)


COLUMNS = (2, 4, 8, 16, 32)
# Their second run, for which `auto` knew the cost of long rows; no JSON has it, BENCHMARKS.md does.
SECOND_RUN = {(k, name) for k in (4, 8, 16) for name in ("circuit", "lp-wide", "circuit-small")}


@functools.cache
def columns_speed(k):
    """The fastest SpMM of cuSPARSE over ours, by group, each a list of matrices."""
    found = {key: [] for key in GROUPS}
    for key, members in groups(f"columns_h200_k{k}").items():
        for m in members:
            if (k, m["name"]) in SECOND_RUN:
                [line] = re.findall(rf"^\| {m['name']} \|.* / .*$", section("Several columns, one H200"), re.MULTILINE)
                ours, peer = map(int, line.split("|")[2 + COLUMNS.index(k)].split("/"))
            else:
                right = [r for r in m["results"] if r["skipped"] is None and r["correct"]]
                [ours] = [r["cold"]["median"] for r in right if r["by"] == "spmvpack" and r["kernel"] == "default"]
                peer = min(r["cold"]["median"] for r in right if r["by"] == "cusparse")
            found[key].append(peer / ours)
    return found


def section(title):
    return BENCHMARKS.read_text(encoding="utf-8").split(f"### {title}\n")[1].split("\n### ")[0]


def columns_mean(k):
    return mean(map(mean, columns_speed(k).values()))


def columns():
    speeds = [columns_speed(k) for k in COLUMNS]
    flat = [[s for members in by.values() for s in members] for by in speeds]
    rows = [(title, len(speeds[0][key]), *(two(mean(by[key])) for by in speeds)) for key, title in GROUPS.items()]
    rows += [("mean of these five", len(flat[0]), *(two(columns_mean(k)) for k in COLUMNS)),
             ("least", "", *(two(min(all_of)) for all_of in flat)),
             ("slower", "", *(sum(s < 1 for s in all_of) for all_of in flat))]
    return table(("`auto` over SpMM", "matrices", *(f"{k} columns" for k in COLUMNS)), rows)


FORMS = {"csr": "`csr`", "coo": "`coo`", "sell": "`sell`", "csell": "`csell`", "bitflag": "`bitflag`", "ccoo": "`ccoo`",
         "ell": "`ell`", "csr, and A^T": "`csr`, with A^T stored", "csell, and A^T": "`csell`, with A^T stored"}


def updates():
    rows = []
    for form, title in FORMS.items():
        found = [(m, f) for m in bench("updates_h200")["matrices"] for f in m["forms"]
                 if f["form"] == form and "update_us" in f
                 and not ("sell" in form and m["matrix"] in ("circuit", "rmat"))]  # which multiply in milliseconds
        multiplies = [f["update_us"] / f["multiply_us"] for _, f in found]
        added = sorted({f"{f['prepared_bytes'] / m['nonzeros']:.1f}".replace("0.0", "0") for m, f in found}, key=float)
        rows.append((title, len(found), two(mean(multiplies)), two(max(multiplies)),
                     two(mean(f["update_us"] / m["copy_us"] for m, f in found)),
                     " to ".join([added[0], added[-1]][: len(added)]),
                     f"{mean(1e6 * f['encode_seconds'] / f['update_us'] for _, f in found):,.0f}"))
    return table(("layout", "matrices", "an update in multiplies", "worst", "over a copy of the values",
                  "bytes an entry added", "updates in the time of an encode"), rows)


# ---- on a host


def host_speed(matrix, threads, layout="auto"):
    times = matrix["threads"][str(threads)]
    return min(t["us"] for name, t in times.items() if name.startswith("mkl")) / times[layout]["us"]


def is_generated(name):
    return name.split("-")[0] in ("5", "7", "27", "elasticity", "circuit", "triangles", "kkt", "logdist", "rmat", "lp",
                                  "random") and name != "lp_maros-r7"


def host():
    rows = []
    for name, title, threads in (("host_peers_warm", "EPYC (Zen 4), 2 cores", (1, 2)),
                                 ("host_peers_xeon_2_cores", "Xeon, 2 cores", (1, 2)),
                                 ("host_peers_xeon", "Xeon, 16 cores", (1, 2, 8, 16))):
        small = [m for m in bench(name)["matrices"] if m["nonzeros"] < 5_000_000]  # the 40 that all have
        for generated in (False, True):
            members = [m for m in small if is_generated(m["name"]) == generated]
            cells = [title, f"{len(members)} {'generated' if generated else 'real'}"]
            for count in (1, 2, 8, 16):
                speeds = [host_speed(m, count) for m in members] if count in threads else None
                cells.append(f"{two(mean(speeds))} ({two(min(speeds))})" if speeds else "")
            rows.append(cells)
    return table(("`auto` over MKL (least)", "matrices", "1 thread", "2", "8", "16"), rows)


# ---- encoding, loading, programs


def encoding():
    rows = []
    for name in ("auto", "csell"):
        rates = [m["nonzeros"] / 1e6 / m["encoded"][name]["seconds"] for m in bench("encode")["matrices"]]
        rows.append((f"`{name}`", f"{min(rates):.0f}", f"{statistics.median(rates):.0f}", f"{max(rates):.0f}"))
    return table(("layout", "least", "median", "most"), rows)


def loading():
    titles = {"a": "`ccoo`", "b": "`csr`", "c": "`csr`", "az": "`ccoo`, zstd"}
    rows = []
    for f in bench("load_h100")["files"]:
        load, copy = f["seconds"]["load"]["median"], f["seconds"]["pinned copy"]["median"]
        rows.append((titles[f["file"].split(".")[0]], f"{f['bytes'] / 1e9:.2f} GB", f"{1e3 * load:.1f} ms",
                     f"{f['bytes'] / 1e9 / load:.0f} GB/s", f"{1e3 * copy:.1f} ms", share(copy / load)))
    return table(("layout", "matrix", "load, all checks", "rate", "one pinned copy", "of its speed"), rows)


def python():
    rows = []
    for title, low, high in (("up to 25,000", 0, 1e5), ("about 1 million", 1e5, 2e6), ("about 20 million", 2e6, 1e9)):
        speeds = [p["over_the_faster_peer"] for p in bench("python_gpu")["products"] if low <= p["nonzeros"] < high]
        rows.append(("CuPy or PyTorch, one H200", title, len(speeds), two(mean(speeds)), two(min(speeds))))
    for title, low, high in (("up to 1 million", 0, 1e6), ("above 1 million", 1e6, 1e9)):
        speeds = [p["ratio"] for p in bench("python_host")["scipy_products"] if low <= p["nonzeros"] < high]
        rows.append(("SciPy, two cores of an EPYC (Zen 5)", title, len(speeds), two(mean(speeds)), two(min(speeds))))
    return table(("`M @ x` over", "nonzeros", "matrices", "times as fast", "least"), rows)


def steps(name, solver):
    return [s["ratio"] for m in bench(name)["matrices"] for s in m["solvers"] if s["solver"] == solver]


def petsc():
    multiplies = [m["multiply_ratio"] for m in bench("petsc_solvers_h100")["matrices"]]
    rows = [("multiply, one H100", multiplies)]
    rows += [(f"step of {title} with jacobi, one H100", steps("petsc_solvers_h100", f"{key}, jacobi"))
             for title, key in (("CG", "cg"), ("BiCGSTAB", "bcgs"))]
    rows.append(("step of CG with GAMG, one H100", [s["ratio"] for m in bench("petsc_solvers_h100")["gamg"]
                                                    for s in m["solvers"] if s["solver"] == "cg, gamg"]))
    for ranks, title in ((2, "two"), (4, "four")):
        rows.append((f"multiply, {title} H200s", [r["peer"]["seconds"] / r["task"]["seconds"] for r in
                                                bench("petsc_scaling_4_h200")["results"] if r["ranks"] == ranks]))
    return table(("over AIJCUSPARSE", "cases", "times as fast", "least", "most"),
                 [(title, len(v), two(mean(v)), two(min(v)), two(max(v))) for title, v in rows])


TABLES = {f.__name__: f for f in (first_screen, generated, suite, real, kinds, shapes, columns, updates, host, encoding,
                                  loading, python, petsc)}


def solver_speeds():
    """An iteration of BiCGSTAB by `auto`, over the faster CSR and over the fastest peer, by matrix."""
    found = {}
    for m in bench("papers_solver")["matrices"]:
        times = {r["name"]: r["iteration"]["median"] for r in m["results"] if r["skipped"] is None}
        peers = {name: t for name, t in times.items() if name.startswith(("csr", "sell"))}
        csr = min(peers["csr-alg1"], peers["csr-alg2"])
        found[m["name"]] = csr / times["auto"], min(peers.values()) / times["auto"]
    return found


def gpu_encodings(name):
    """Of each matrix, the multiplies by cuSPARSE that the layout which multiplies fastest takes to make on a GPU, and those
    after which it has paid."""
    found = []
    for m in bench(name)["matrices"]:
        best = min((f for f in m["forms"] if "encode_us" in f and "A^T" not in f["form"]), key=lambda f: f["multiply_us"])
        found.append((best["encode_us"] / m["best_peer_us"], best["encode_us"] / (m["best_peer_us"] - best["multiply_us"])))
    return found


def sentences():
    """(page, what it says); a list, as a phrase may be in both."""
    suites = {(card, key): v for card in CARDS for key, v in groups(f"auto_{card}").items()}
    of = {(card, m["name"]): speed(m) for card in CARDS for m in bench(f"auto_{card}")["matrices"]}
    kind = {m["name"]: kind_speed(m) for m in bench("kinds_h200")["matrices"]}
    small = suites["h200", "small"]
    warm = [speed(m, "warm") for m in small]
    solver = solver_speeds()
    pays = [s["pays_after_steps"] for m in bench("petsc_solvers_h100")["matrices"] for s in m["solvers"]
            if s["solver"] == "cg, jacobi"]
    seconds = [m["encode_seconds"] for m in bench("petsc_solvers_h100")["matrices"]]
    ccoo = sorted(bytes_of(m, "ccoo") for m in bench("real_layouts_h200")["matrices"] if m["nonzeros"] >= 30_000)
    new = {card: [m[card] for m in bench("new_matrices")["matrices"]] for card in CARDS}
    picks = {card: list(map(over_best, new[card])) for card in CARDS}
    peers = [100 * mean(bytes_of(m, m["best_peer"]) for m in members) for members in groups("auto_h200").values()]
    buffer = mean(bytes_of(m, "csr-op-alg2", workspace=True) for m in bench("auto_h200")["matrices"])
    irregular = [bytes_of(m, "auto") for m in suites["h200", "irregular"]]
    real_sizes = [m["nonzeros"] for m in bench("real_auto_h200")["matrices"]]
    said = [
        (RESULTS, f"{min(real_sizes):,} to {max(real_sizes) / 1e6:.1f} million nonzeros"),
        (RESULTS, f"cold {two(mean(map(speed, small)))}, warm {two(mean(warm))}; "
                  f"{sum(s < 1 for s in warm)} of the {len(warm)} are slower warm, least {two(min(warm))}"),
        (RESULTS, f"`random`, 16 million entries: {two(of['h200', 'random'])} (H200) and "
                  f"{two(of['h100', 'random'])} (H100)"),
        (RESULTS, f"{sum(s < 1 for s in kind.values())} of the {len(kind)} matrices of unseen kinds"),
        (RESULTS, f"jobs in slots {two(kind['scheduling-3000'])}, words of documents {two(kind['language-30000'])}"),
        (RESULTS, f"{two(statistics.median(s for s, _ in solver.values()))} times as fast as with the faster CSR and "
                  f"{two(statistics.median(s for _, s in solver.values()))} times as fast as with the fastest format "
                  f"(medians; least {two(min(s for _, s in solver.values()))})"),
        (RESULTS, f"{min(pays):,.0f} to {max(pays):,.0f} steps of CG (median {statistics.median(pays):,.0f}"),
        (RESULTS, f"{1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f} ms"),
        (RESULTS, f"{100 * min(ccoo):.0f} to {100 * max(ccoo):.0f} % of CSR's bytes on {len(ccoo)} real matrices "
                  f"(median {100 * statistics.median(ccoo):.0f} %"),
        (RESULTS, f"an irregular matrix may keep {100 * max(irregular):.0f} %"),
        (RESULTS, f"{min(peers):.0f} to {max(peers):.0f} % of CSR's bytes"),
        (RESULTS, f"`cusparseSpMVOp`, by its second algorithm, takes {100 * buffer:.0f} % with its buffer"),
        (RESULTS, " and ".join(f"{mean(picks[card]):.3f} times ({card.upper()}; worst {two(max(picks[card]))})"
                              for card in CARDS)),
        (RESULTS, " and ".join(f"{100 * sum(p <= 1.03 for p in picks[card]) / len(picks[card]):.0f}" for card in CARDS)
                  + " % of its choices are within 3 % of the best"),
        (RESULTS, " and ".join(two(mean(m["us"]["csr"] / m["us"][m["auto"]] for m in new[card])) for card in CARDS)
                  + " times as fast as our `csr`"),
        (README, f"{two(mean(map(speed, bench('real_auto_h200')['matrices'])))} times as fast as the fastest format on "
                 f"the H200 and {two(mean(map(speed, bench('real_auto_h100')['matrices'])))} on the H100"),
        (README, f"{mean(picks['h200']):.3f} times on {len(picks['h200'])} matrices to which no price was fitted "
                 f"(worst {two(max(picks['h200']))}"),
        (README, f"{two(mean(kind.values()))} times (least {two(min(kind.values()))})"),
    ]
    encoded = gpu_encodings("gpu_encode_h200")
    made, paid = [m for m, _ in encoded], [p for _, p in encoded]
    said += [(RESULTS, f"{mean(made):.1f} multiplies by the fastest format of cuSPARSE (mean of {len(made)} matrices; most "
                       f"{max(made):.1f}), and pays after {min(paid):.0f} to {max(paid):.0f}"),
             (README, f"after {min(paid):.0f} to {max(paid):.0f} multiplies")]
    encoded = gpu_encodings("gpu_encode_auto_h200")
    made, paid = [m for m, _ in encoded], [p for _, p in encoded]
    said.append((RESULTS, f"{mean(made):.1f} multiplies (most {max(made):.1f}), and pays after {min(paid):.0f} to {max(paid):,.0f}"))
    ratios = [two(columns_mean(k)) for k in COLUMNS]
    times = [two(1 / columns_mean(k)) for k in COLUMNS]
    said += [
        (README, f"2 and 4 columns take {times[0]} and {times[1]} times as long"),
        (README, f"8 take {times[2]} and 16 take {times[3]}"),
        (BENCHMARKS, row("**SpMM over ours, groups of equal weight**", *(f"**{r}**" for r in ratios))),
        (BENCHMARKS, row("least", *(two(min(s for by in columns_speed(k).values() for s in by)) for k in COLUMNS))),
        *((BENCHMARKS, line) for line in updates()[2:]),
    ]
    real_ones = [m for m in bench("host_peers_warm")["matrices"] if not is_generated(m["name"])]
    for threads, words in ((1, "times as fast as MKL on one thread"), (2, "times on two")):
        said.append((README, f"{two(mean(host_speed(m, threads) for m in real_ones))} {words}"))
    plain = [mean(host_speed(m, threads, "csr") for m in real_ones) for threads in (1, 2)]
    said.append((README, f"`csr` in place: {two(plain[0])} and {two(plain[1])}"))
    return said


# (page, what it says, the document that says so, in its words)
QUOTED = [
    (RESULTS, "1.74 times as fast as AIJ's", "PETSC.md", "| AVX-512, `at_most` 1 (the default) | 20 of 20 | 1.74 |"),
    (RESULTS, "0.70 of MKL's speed", "BENCHMARKS_HOST.md", "| SciPy | 0.70 (0.43) |"),
    (README, "SciPy on one thread: 0.70", "BENCHMARKS_HOST.md", "| SciPy | 0.70 (0.43) |"),
    (README, "1.001 times as long", "PREDICTIONS.md", "**Suite**: 78 matrices. `auto`'s layout takes 1.001 times"),
    (README, "H100: 1.002", "PREDICTIONS.md", "**Suite**: 78 matrices. `auto`'s layout takes 1.002 times"),
    (README, "1.002 times on the 30 real matrices", "PREDICTIONS.md",
     "30 real matrices, foreseen by all others, `auto` takes 1.002 times as long as the best on both cards"),
]


def spread(text):
    """A pattern that finds `text` however its lines are wrapped."""
    return r"\s+".join(map(re.escape, text.split()))


def line_of(page, at):
    return page.count("\n", 0, at) + 1


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    failures, count = [], 0
    marked = re.compile(r"(<!-- results: (\w+) -->\n)((?:\|.*\n)*)")
    said = sentences()
    for path in (README, RESULTS, BENCHMARKS):
        page = path.read_text(encoding="utf-8")
        if sys.argv[1:] == ["--write"]:
            page = marked.sub(lambda m: m[1] + "\n".join(TABLES[m[2]]()) + "\n", page)
            path.write_text(page, encoding="utf-8")
        for match in marked.finditer(page):
            count += 1
            lines, wanted = match[3].splitlines(), TABLES[match[2]]()
            for k in range(max(len(lines), len(wanted))):
                is_there, should_be = (t[k] if k < len(t) else "(no line)" for t in (lines, wanted))
                if is_there != should_be:
                    line = line_of(page, match.start(3)) + k
                    failures.append(f"{path.name}:{line}: {is_there}\n  should be: {should_be}")
        rest = marked.sub(lambda m: blank(m[0]), page)
        for text in [text for where, text, *_ in said + QUOTED if where == path]:
            count += 1
            if not re.search(spread(text), page):
                failures.append(f"{path.name} does not say: {text}")
            rest = re.sub(spread(text), lambda m: blank(m[0]), rest)
        if path == RESULTS:
            rest = re.sub(r"^ {4,}.*$|`[^`]*`", lambda m: blank(m[0]), rest, flags=re.MULTILINE)
            for match in re.finditer(r"\d+(?:\.\d+)+|\d+(?= %)", rest):
                if match[0] not in VERSIONS:
                    line = line_of(page, match.start())
                    failures.append(f"{path.name}:{line}: {match[0]} is in no JSON that is read")
    for path, _, name, words in QUOTED:
        if not re.search(spread(words), (DOCS / name).read_text(encoding="utf-8")):
            failures.append(f"{path.name} quotes {name}, which does not say: {words}")
    for name in TABLES:
        if not any(f"<!-- results: {name} -->" in path.read_text(encoding="utf-8") for path in (README, RESULTS)):
            failures.append(f"no page has the table {name}")
    print("\n".join(failures + [f"{count} tables and sentences, {len(failures)} failures"]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
