#!/usr/bin/env python3
"""Fits the prices of the time model (encoder/src/time_prices.inc) to measured multiplies, and shows how well they do.

    spmvpack bench --suite --json > f64.json          # on the GPU; also --shapes, --value-type f32, other matrices
    benchmarks/fit_times.py --spmvpack build/release/tools/spmvpack --h200 f64.json shapes.json --host host.json
    benchmarks/fit_times.py --spmvpack build/release/tools/spmvpack --add --h200 new.json    # more matrices, or the same anew
    benchmarks/fit_times.py --spmvpack build/release/tools/spmvpack --again host     # for units that are new
    benchmarks/fit_times.py --by-name --h200 pkt.json             # of `spmvpack bench --suite --layout pkt --json > pkt.json`
    benchmarks/fit_times.py --by-name --variants csell.values=mirror --h100 mirror.json
    benchmarks/fit_times.py                                       # fits again what was collected before
    benchmarks/fit_times.py --keep-prices --h200 new.json          # shows how well today's prices foresee what is new
    benchmarks/fit_times.py --left-out       # how well prices foresee the kinds that they were not fitted to; minutes

The first form makes every matrix of these files again (or reads it from --matrices), asks `spmvpack report` what each
layout's multiply does, and keeps this beside the measured times in docs/bench/times_MACHINE.json. Of a
matrix that several files have, the first that measured a layout counts on a GPU, and the least time on a host. With --add
the others that were collected before are kept, and so are plans that were not measured again. The third
asks again for what the plans do that were collected before, and keeps their times. The fourth adds layouts that auto leaves
out (pkt) to what was collected, and fits their units to that with all other prices as they are. Of a machine without such
times, as now of h100 and host, their prices are those of a layout of like loops: pkt's are sell's. It also fits the units
of docs/bench/variants_MACHINE.json: of settings that auto's own plans seldom have (csell's mirrors), measured by
`spmvpack bench --layout csell --set csell.values=mirror --json`, which --variants adds there. All forms then write the prices, and the tables between <!-- times --> in docs/PREDICTIONS.md; build again afterwards.

A matrix may have "other_plans" there, which auto's planner had before and which were measured, too: prices are fitted to
them, and of both that is taken which they rank first. "other_settings" are plans that auto's planner had before and has
no more, by what --set makes it take them again: they count in the fit alone.

A GPU's prices are the non-negative solution of least squares of the relative errors, made robust by weights that fall
with the error; layouts that take more than 1.8 times as long as the best one of their matrix (3 times, of the shapes, whose
predictions are held to that) count a tenth, and shapes a half. Needs scipy, unless it is to --collect only.

--left-out fits prices once for each kind of generated matrix without its matrices (grids of 5, 7 and 27 points are one
kind), and once for each real one without it, and writes what `auto` would take of what was left out, between
<!-- left out --> in docs/PREDICTIONS.md.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS = ("h200", "h100")
MACHINES = (*GPUS, "host")  # the columns of the prices: encoder/src/time_model.cpp
YARDSTICKS = {"suite": ("csr", "ccoo", "sell"), "shapes": ("csr", "bitflag")}
# "small" and "large": others that are generated. "partial": more of them, of which some layouts were measured, so that
# the best is not known: prices are fitted to them, and no table has them.
NEAR = collections.defaultdict(lambda: 1.8, shapes=3)  # times the best of a matrix
WEIGHT = collections.defaultdict(lambda: 1.0, shapes=0.5)
SPREAD = collections.defaultdict(lambda: 0.1, shapes=0.7)  # errors beyond which a measurement counts less and less
LARGE = 5_000_000  # nonzeros; small ones have fewer, but for four that were so before
BY_NAME_ONLY = {"pkt"}  # what auto leaves out: Traits::by_name_only in encoder
OF_VARIANTS = {"csell.mirrors", "csell.mirror_blocks"}  # units of variants, which times_MACHINE.json has not or hardly
CACHES = {"h200": "cold cache", "h100": "cold cache", "host": "warm"}
MOST_SLOWER = {"suite": 0.03, "small": 0.1, "large": 0.3, "real": 0.08, "shapes": 0.2}  # auto than the best; of shapes, than a yardstick
MOST_SLOWER_ON_HOST = {"suite": 0.1, "real": 0.15, "shapes": 0.49}  # than the best layout; of shapes, than a yardstick
MOST_OFF = 1.99  # predictions of shapes; the goal is 2
MOST_WEIGHT = 15  # of a fault; more of them would leave others out


def times_path(machine):
    return ROOT / f"docs/bench/times_{machine}.json"


def variants_path(machine):
    return ROOT / f"docs/bench/variants_{machine}.json"


def load(path):
    return json.loads(pathlib.Path(path).read_text())


# --- collecting


def measured(files):
    """(matrix, value type) -> (entry of the bench file, {(layout, device bytes): microseconds})."""
    found = {}
    for file in files:
        bench = load(file)
        on_gpu = bench["machine"]["kind"] == "gpu"
        for matrix in bench["matrices"]:
            if matrix.get("vector_type", matrix["value_type"]) != matrix["value_type"]:
                continue  # a plan does not know that vectors are of another type
            name = pathlib.Path(matrix["name"].removeprefix("generate ")).name
            times = found.setdefault((name, matrix["value_type"]), (matrix, {}))[1]
            for result in matrix["results"]:
                if result["by"] == "spmvpack" and result["kernel"] == "default" and not result["skipped"]:
                    # Whatever else runs on a host only adds to its times, and a processor is never alone. Its caches
                    # hold most matrices from one multiply to the next, and who encodes multiplies often: warm.
                    us = result["cold"]["median"] if on_gpu else result["warm"]["min"]
                    plan = (result["layout"], result["device_bytes"])
                    times[plan] = times.get(plan, us) if on_gpu else min(us, times.get(plan, us))
    return found


def plans_of(spmvpack, path, value_type, target, *settings):
    command = [spmvpack, "report", str(path), "--json", "--target", target, "--value-type", value_type, *settings]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {plan["name"]: plan for plan in report["layouts"]}


def csell_ways(sizes, own, plan_with):
    """{device bytes: plan} of csell: its own plan, and those with values elsewhere, until there is one of each size."""
    ways = {own["device_bytes"]: own} if own else {}
    for values in ("raw", "mirror", "table", "step", "skew"):
        if sizes <= set(ways):
            break
        if plan := plan_with(f"csell.values={values}"):
            ways.setdefault(plan["device_bytes"], plan)
    return ways


def taken(files):
    """What collect() needs of bench files: an entry for each matrix, with the times of its plans."""
    for (name, value_type), (matrix, times) in sorted(measured(files).items(), key=lambda item: item[0]):
        made = (matrix["source"] or "").startswith("spmvpack generate ")
        generated = "large" if matrix["nonzeros"] >= LARGE else "small"
        group = {None: generated if made else "real", "shapes": "shapes"}.get(matrix["group"], "suite")
        yield {"name": name, "value_type": value_type, "group": group, "source": matrix["source"],
               "nonzeros": matrix["nonzeros"], "csr_bytes": matrix["csr_bytes"]}, times


def taken_again(times):
    """The same of what was collected before."""
    for matrix in times["matrices"]:
        yield ({key: value for key, value in matrix.items() if key != "layouts"},
               {(name, layout["device_bytes"]): layout["us"] for name, layout in matrix["layouts"].items()})


def work_of(plan):
    """What a plan of a report does, as it is kept."""
    return {unit: n for unit, n in plan["work"].items() if n != 0}


def collect(spmvpack, machine, measurements, matrices, *variant):
    """The matrices with their times, each with the work that `spmvpack report` says its plan does."""
    def entry(measurement):
        matrix, times = measurement
        with tempfile.TemporaryDirectory() as directory:
            source = matrix["source"] or ""
            if source.startswith("spmvpack generate "):
                path = pathlib.Path(directory) / "A.spmvc"
                arguments = shlex.split(source)[1:]
                subprocess.run([spmvpack, *arguments, "-f", "-q", "--layout", "csr", "-o", str(path)], check=True)
            else:
                path = pathlib.Path(matrices) / matrix["name"]
            print(f"{matrix['name']} {matrix['value_type']}", file=sys.stderr)
            # Reports plan what auto leaves out if they are asked for details.
            settings = [*variant, "--details"] if any(layout in BY_NAME_ONLY for layout, _ in times) else variant
            plans = plans_of(spmvpack, path, matrix["value_type"], machine, *settings)
            if any(layout == "pjds" and bytes != plans.get("pjds", {}).get("device_bytes") for layout, bytes in times):
                permuted = plans_of(spmvpack, path, matrix["value_type"], machine, "--set", "pjds.basis=permuted")
                plans["pjds"] = permuted.get("pjds")
            others = matrix.get("other_plans", {})
            ways = csell_ways({bytes for layout, bytes in times if layout == "csell"} |
                              {other["device_bytes"] for name, other in others.items() if name == "csell"}, plans.get("csell"),
                              lambda way: plans_of(spmvpack, path, matrix["value_type"], machine, "--set", way).get("csell"))
            for name, other in others.items():
                if plan := ways.get(other["device_bytes"]) if name == "csell" else None:
                    other["work"] = work_of(plan)
            for setting, other in matrix.get("other_settings", {}).items():
                plan = plans_of(spmvpack, path, matrix["value_type"], machine, "--set", setting).get(setting.partition(".")[0])
                if plan and plan["device_bytes"] == other["device_bytes"]:
                    other["work"] = work_of(plan)
            layouts = {}
            for (layout, device_bytes), microseconds in times.items():
                plan = ways.get(device_bytes) if layout == "csell" else plans.get(layout)
                if plan is None or plan["device_bytes"] != device_bytes:
                    print(f"  {layout}: measured with another plan, left out", file=sys.stderr)
                    continue
                # A strategy of parts may make one part, as another layout does: auto never takes it.
                if any(plan["device_bytes"] == other["device_bytes"] and plan["work"] == plans[name]["work"]
                       for name, other in layouts.items()):
                    continue
                layouts[layout] = {"us": round(microseconds, 2), "device_bytes": device_bytes,
                                   "fill_reads_x": plan["fill_reads_x"],
                                   "work": work_of(plan)}
            return {**matrix, "layouts": layouts}

    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 4)) as pool:
        return list(pool.map(entry, measurements))


def renewed(times, collected):
    """The times with these matrices: new ones, and plans of others in the place of what was measured of them before."""
    matrices = [{**m} for m in times["matrices"]]
    known = {(m["name"], m["value_type"]): m for m in matrices}
    for new in collected:
        old = known.get((new["name"], new["value_type"]))
        if old is None:
            matrices.append(new)
            continue
        for name, layout in new["layouts"].items():
            other = old.get("other_plans", {})
            is_other = name in other and other[name]["device_bytes"] == layout["device_bytes"]
            (other if is_other else old["layouts"])[name] = layout
    return {**times, "matrices": matrices}


def added(times, collected):
    """The times with those of other layouts of the same matrices."""
    more = {(matrix["name"], matrix["value_type"]): matrix["layouts"] for matrix in collected}
    return {**times, "matrices": [{**m, "layouts": {**m["layouts"], **more.get((m["name"], m["value_type"]), {})}}
                                  for m in times["matrices"]]}


def write_variants(path, times, settings):
    """Adds a variant of each matrix, or puts it in the place of one that is there."""
    kept = load(path)
    new = [{**{key: matrix[key] for key in ("name", "value_type", "nonzeros")}, "settings": settings,
            **{key: layout[key] for key in ("us", "device_bytes", "work")}}
           for matrix in times for layout in matrix["layouts"].values()]
    named = [(v["name"], v["value_type"], v["settings"]) for v in new]
    old = [v for v in kept["variants"] if (v["name"], v["value_type"], v["settings"]) not in named]
    lines = ",\n".join("  " + json.dumps(variant) for variant in old + new)
    path.write_text(f'{{\n "machine": {json.dumps(kept["machine"])},\n "variants": [\n{lines}\n ]\n}}\n')


def write_times(path, times):
    # A line for each layout: readable, and small changes stay small.
    text = json.dumps(times, indent=1)
    text = re.sub(r'(\n    "[a-z_]+": )(\{[^{}]*\{[^{}]*\}[^{}]*\})',
                  lambda m: m[1] + " ".join(m[2].split()), text)
    path.write_text(text + "\n")


# --- fitting


def listed_units():
    """{unit: the machines that spend time on it: all, gpu or host}, from the lists of encoder (work.hpp)."""
    listed = {}
    for path in sorted((ROOT / "encoder/src").rglob("*_work.hpp")):
        text = path.read_text()
        listed |= {f"{m[1]}.{m[2]}": m[3] for m in re.finditer(r"\bunit\((\w+), (\w+), (\w+), \w+, \d\)", text)}
        listed |= {m[1]: m[2] for m in re.finditer(r'\bUnit\{"([\w.]+)", On::(\w+),', text)}
    return listed


UNITS = listed_units()
# GPU units whose prices come from what binds them, not from a fit, which takes what is far slower than the best for an
# outlier: a multiprocessor's gathers, and rows of a warp that are far from one another.
BOUND = {"csell.heavy_slots": 1500.0, "amb.jumped_slots": 1.0}
HOST_ONLY = {unit for unit, machines in UNITS.items() if machines == "host"}


def on_host(unit):
    """What a host has for this unit: its loops know no warps and no kernels for few slices, and all start threads."""
    layout, _, what = unit.partition(".")
    if UNITS[unit] == "gpu":
        return ()
    if what in ("multiplies", "passes"):
        return ("multiplies",)
    if layout != "csell" or what in ("blocks", "few", "rows", "entries", "raw_entries"):
        return (unit,)
    slots = "csell.table" if what.startswith("table") else "csell.slots"
    return {"few_offsets": ("csell.of_offsets",), "offsets": (slots, "csell.of_offsets"),
            "table_offsets": (slots, "csell.of_offsets")}.get(what, (slots,))


def translated(work):
    changed = {}
    for unit, n in work.items():
        for other in on_host(unit):
            changed[other] = changed.get(other, 0) + n
    return changed


def fit_host(times, weights, units, before):
    """The host's price for each of the units: least squares of logarithms, because few matrices and much noise would otherwise
    pull prices down. What no plan that was measured does (csell's tables) keeps its price of before."""
    import numpy
    import scipy.optimize
    layouts = [layout for matrix in times["matrices"] for layout in matrix["layouts"].values()]
    weight = numpy.array([weights.get((at, name), 1) for at, matrix in enumerate(times["matrices"])
                          for name in matrix["layouts"]])
    work = [translated(layout["work"]) for layout in layouts]
    known = sorted(set().union(*work))
    table = numpy.array([[w.get(unit, 0) for unit in known] for w in work], dtype=float)
    scale = table.max(axis=0)
    picoseconds = numpy.array([1e6 * layout["us"] for layout in layouts])

    shares = table / scale / picoseconds[:, None]

    def errors(logarithms):
        return numpy.log(shares @ numpy.exp(logarithms))

    def derivatives(logarithms):
        parts = shares * numpy.exp(logarithms)
        return parts / parts.sum(axis=1, keepdims=True)

    def weighted_cauchy(squares):
        """A weight is how often an error counts: within the logarithm it would hardly count at all."""
        spread = 0.55 ** 2
        ratio = 1 + squares / spread
        return weight * numpy.array([spread * numpy.log(ratio), 1 / ratio, -1 / (spread * ratio ** 2)])
    start, _ = scipy.optimize.nnls(shares, numpy.ones(len(layouts)))
    start = numpy.log(numpy.maximum(start, picoseconds.min() / 100))
    with numpy.errstate(over="ignore", invalid="ignore"):  # a step after which errors are not finite is made shorter
        solution = scipy.optimize.least_squares(errors, start, derivatives, loss=weighted_cauchy).x
    prices = dict(zip(known, numpy.exp(solution) / scale))
    return {unit: rounded(sum(prices[other] for other in on_host(unit))) if set(on_host(unit)) <= set(known) else before[unit]
            for unit in HOST_ONLY | set(units) if not of_name_only(unit)}


def fit_once(machine):
    """A fit of a machine's prices in which no matrix has more weight."""
    before = kept_prices()[machine]
    return lambda times: fit_host(times, {}, before.keys(), before) if machine == "host" else fit_gpu(times, {})


def rounded(price):
    return float(f"{price:.3g}") if price >= 1e-3 else 0.0


def settled(times, fit, most_slower, rival):
    """The prices, {unit: picoseconds}, that fit(times, weights) ends with. Where auto would be too much slower than a
    rival, which rival(matrix) names, what it takes and the rival count a tenth more, and so do a
    layout's plans where it would have one that is as much slower than another, and a prediction that is too far off,
    until that is so nowhere in the groups of `most_slower`: the best choice, not the best prediction, is what prices are
    for."""
    weights, best = {}, None
    for _ in range(40):
        prices = fit(times, weights)
        faults, cliffs = [], 0
        for at, measured_matrix in enumerate(times["matrices"]):
            matrix = planned(measured_matrix, prices)
            group, layouts = matrix["group"], matrix["layouts"]
            heavier = set()
            if group in most_slower:
                for name in matrix.get("other_plans", {}):
                    loss = layouts[name]["us"] / allowed(measured_matrix).get(name, layouts[name]["us"]) - 1
                    if loss > most_slower[group]:
                        faults.append(loss - most_slower[group])
                        heavier.add(name)
                taken, yardstick = pick(matrix, prices), rival(matrix)
                loss = layouts[taken]["us"] / layouts[yardstick]["us"] - 1 if yardstick else 0
                if loss > most_slower[group]:
                    faults.append(loss - most_slower[group])
                    cliffs += 1 if group == "shapes" else 0
                    heavier |= {taken, yardstick}
            if group == "shapes":
                fastest = min(layout["us"] for layout in layouts.values())
                for name, layout in layouts.items():
                    off = abs(math.log(predicted(layout, prices) / layout["us"]))
                    if layout["us"] <= NEAR[group] * fastest and off > math.log(MOST_OFF):
                        faults.append(off - math.log(MOST_OFF))
                        heavier.add(name)
            for name in heavier:
                weights[at, name] = min(1.1 * weights.get((at, name), 1), MOST_WEIGHT)  # in small steps: no heavier than need be
        key = (cliffs, len(faults), sum(faults))
        if best is None or key < best[0]:
            best = (key, prices)
        if not faults:
            break
    return best[1]


def fit_gpu(times, weights):
    """With these weights, for each matrix and layout that has one."""
    import numpy
    import scipy.optimize
    import scipy.sparse
    samples = []
    for at, matrix in enumerate(times["matrices"]):
        near = NEAR[matrix["group"]] * min(layout["us"] for layout in matrix["layouts"].values())
        for name, layout in [*matrix["layouts"].items(), *matrix.get("other_plans", {}).items(),
                             *matrix.get("other_settings", {}).items()]:
            weight = WEIGHT[matrix["group"]] * weights.get((at, name), 1)
            samples.append((layout, weight if layout["us"] < near else 0.1 * weight, SPREAD[matrix["group"]]))
    samples = [sample for sample in samples if not sample[0]["work"].get("csell.heavy_slots")]
    units = sorted({unit for layout, *_ in samples for unit in layout["work"]} - HOST_ONLY - BOUND.keys())
    place = {unit: column for column, unit in enumerate(units)}
    # Of the measured time, what each unit takes at a picosecond; a plan does few kinds of work.
    parts = [(n / (1e6 * layout["us"]), row, place[unit]) for row, (layout, *_) in enumerate(samples)
             for unit, n in layout["work"].items() if unit in place]
    share, row, column = zip(*parts)
    work = scipy.sparse.csr_matrix((share, (row, column)))
    near, spread = (numpy.array([sample[i] for sample in samples]) for i in (1, 2))
    weight = near
    for _ in range(12):
        weighted = scipy.sparse.diags(weight) @ work
        # As many rows as prices, or fewer where units are always in proportion: the same squares but for a constant.
        squares = (weighted.T @ weighted).toarray()
        scale = numpy.sqrt(squares.diagonal())
        sizes, vectors = numpy.linalg.eigh(squares / scale / scale[:, None])
        kept = sizes > 1e-13 * sizes[-1]
        roots = numpy.sqrt(sizes[kept])
        solution, _ = scipy.optimize.nnls(vectors[:, kept].T * roots[:, None],
                                          vectors[:, kept].T @ (weighted.T @ weight / scale) / roots)
        errors = numpy.log(numpy.maximum(work @ (solution / scale), 1e-3))
        weight = near / numpy.sqrt(1 + (errors / spread) ** 2)
    return {unit: 0.0 for unit in HOST_ONLY} | BOUND | {unit: rounded(price) for unit, price in zip(units, solution / scale)}


def of_name_only(unit):
    return unit.partition(".")[0] in BY_NAME_ONLY or unit in OF_VARIANTS


def of_columns(unit):
    """Work of the columns of X but the first, of which times_MACHINE.json has none: its prices are kept."""
    return unit.startswith("columns.") or unit.endswith((".column_entries", ".column_chain"))


def by_name_only(prices):
    """And what no multiply of times_MACHINE.json does."""
    return {unit: price for unit, price in prices.items() if of_name_only(unit) or of_columns(unit)}


def chosen_from(times):
    """Without what auto leaves out, which has no say in the prices of others."""
    return {**times, "matrices": [
        {**m, "layouts": {name: layout for name, layout in m["layouts"].items() if name not in BY_NAME_ONLY}}
        for m in times["matrices"]]}


def fit_by_name(machine, prices):
    """The prices of one machine with those of units that auto leaves out: fitted to what the others leave of the times,
    or as they are while nothing is measured."""
    import numpy
    import scipy.optimize
    def rest_of(work):
        return sum(prices[unit] * n for unit, n in work.items() if not of_name_only(unit)) / 1e6

    def microseconds(sample):
        """As on the profile's machine: a variant that was measured on another, beside a plan of which prices are known."""
        beside = sample.get("beside")
        return sample["us"] * (rest_of(beside["work"]) / beside["us"] if beside else 1)

    samples = [layout for matrix in load(times_path(machine))["matrices"]
               for name, layout in matrix["layouts"].items() if name in BY_NAME_ONLY]
    samples += load(variants_path(machine))["variants"]
    units = sorted({unit for s in samples for unit in s["work"] if of_name_only(unit)})
    table = numpy.array([[s["work"].get(unit, 0) / (1e6 * microseconds(s)) for unit in units] for s in samples])
    rest = [rest_of(s["work"]) / microseconds(s) for s in samples]
    scale = table.max(axis=0)
    # A variant that is foreseen too fast counts thrice: what auto's own plans take was measured with later kernels.
    variant = numpy.array(["settings" in s for s in samples])
    left, weight = numpy.maximum(1 - numpy.array(rest), 0), numpy.ones(len(samples))
    for _ in range(10):
        solution, _ = scipy.optimize.nnls(table / scale * weight[:, None], left * weight)
        weight = numpy.where(variant & (table / scale @ solution < left), 3.0, 1.0)
    return {**prices, **{unit: rounded(price) for unit, price in zip(units, solution / scale)}}


def write_prices(prices):
    lines = ["// Made by benchmarks/fit_times.py from docs/bench/times_*.json: do not edit.\n"]
    for unit in sorted(set().union(*(p.keys() for p in prices.values()))):
        numbers = ", ".join(f"{prices[machine].get(unit, 0):g}" for machine in MACHINES)
        lines.append(f'Price{{"{unit}", {numbers}}},\n')
    (ROOT / "encoder/src/time_prices.inc").write_text("".join(lines))


def kept_prices():
    text = (ROOT / "encoder/src/time_prices.inc").read_text()
    rows = re.findall(r'Price\{"([^"]+)", ([^,]+), ([^,]+), ([^}]+)\}', text)
    return {machine: {row[0]: float(row[1 + at]) for row in rows} for at, machine in enumerate(MACHINES)}


# --- showing


def predicted(layout, prices):
    return sum(prices[unit] * n for unit, n in layout["work"].items()) / 1e6


def cost(layout, csr_bytes, prices):
    """rank_of() in encoder/src/decide.cpp."""
    return predicted(layout, prices) * (1 + 0.02 * layout["device_bytes"] / csr_bytes)


def planned(matrix, prices):
    """The matrix with what a layout's planner takes of its plans that were measured."""
    layouts = dict(matrix["layouts"])
    for name, other in matrix.get("other_plans", {}).items():
        layouts[name] = min(layouts[name], other, key=lambda layout: cost(layout, matrix["csr_bytes"], prices))
    return {**matrix, "layouts": layouts}


def pick(matrix, prices):
    """What auto takes of the measured layouts: choose() in encoder/src/strategies/choose_best.cpp."""
    def key(name):
        layout = matrix["layouts"][name]
        too_large = layout["device_bytes"] > 2 ** 20 and layout["device_bytes"] // 10 > matrix["csr_bytes"]
        return layout["fill_reads_x"] or too_large or name in BY_NAME_ONLY, cost(layout, matrix["csr_bytes"], prices)
    return min(matrix["layouts"], key=key)


def best_yardstick(matrix):
    """The fastest of those that were measured and that auto may take; None if there is none."""
    layouts = matrix["layouts"]
    return min((n for n in YARDSTICKS.get(matrix["group"], YARDSTICKS["suite"]) if n in layouts and not layouts[n]["fill_reads_x"]),
               key=lambda n: layouts[n]["us"], default=None)


def allowed(matrix):
    """{layout: microseconds} of those that auto may take, by the fastest plan that was measured."""
    others = matrix.get("other_plans", {})
    return {name: min(layout["us"], others.get(name, layout)["us"]) for name, layout in matrix["layouts"].items()
            if not layout["fill_reads_x"] and name not in BY_NAME_ONLY}


def best_allowed(matrix):
    times = allowed(matrix)
    return min(times, key=times.get)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


class Record:
    """How well prices choose and foresee, over some matrices."""

    def __init__(self):
        self.losses, self.errors = [], []  # auto's time over the best one's; predicted over measured, near the best

    def add(self, matrix, prices):
        best = min(allowed(matrix).values())
        matrix = planned(matrix, prices)
        layouts = matrix["layouts"]
        self.losses.append(layouts[pick(matrix, prices)]["us"] / best)
        self.errors += [abs(math.log(max(predicted(l, prices), 1e-3) / l["us"])) for l in layouts.values()
                        if l["us"] < NEAR[matrix["group"]] * best]

    def add_all(self, other):
        self.losses += other.losses
        self.errors += other.errors

    def columns(self):
        off = sorted(self.errors)
        near = sum(loss <= 1.03 for loss in self.losses) / len(self.losses)
        return (f"{len(self.losses)} | {geometric_mean(self.losses):.3f} | {max(self.losses):.2f} | {100 * near:.0f} % | "
                f"{100 * off[len(off) // 2]:.1f} % | {100 * off[int(0.9 * len(off))]:.0f} %")


# What is left out together: matrices of these kinds have alike rows.
KINDS = {"laplace2d": "grids", "convection-diffusion": "grids", "hpcg": "grids"}


# The groups that have a table of what was left out, with its title.
LEFT_OUT = {"suite": "The suite, a kind left out", "small": "Small ones, a kind left out",
            "large": "Large ones outside the suite, a kind left out", "shapes": "Plain shapes, a kind left out",
            "real": "Real matrices, one left out"}


def kind_of(matrix):
    """What is left out with the matrix: its kind if it is generated, else itself."""
    source = matrix["source"] or ""
    if not source.startswith("spmvpack generate "):
        return matrix["name"]
    kind = source.split()[2]
    return KINDS.get(kind, kind)


def constant(matrices, layout):
    """How much longer one layout takes than the best, always; None where it does not suit each of the matrices."""
    times = [allowed(m) for m in matrices]
    if any(layout not in of for of in times):
        return None
    return geometric_mean([of[layout] / min(of.values()) for of in times])


def left_out(times, fit, caches):
    """Tables of what prices make of matrices that they were not fitted to; `fit`: the prices of times."""
    text = (f"{times['machine']}, {caches}. Each line's matrices were left out of the fit of the prices that choose "
            "among their layouts: `auto` over the best, geometric mean and worst; how many are within 3 %; errors of "
            "predictions near the best. No matrix has extra weight in these fits.\n")
    kinds = sorted({kind_of(m) for m in times["matrices"]})
    records = {}  # (group, kind)
    for kind in kinds:
        print(f"without {kind}", file=sys.stderr)
        rest = {"machine": times["machine"], "matrices": [m for m in times["matrices"] if kind_of(m) != kind]}
        prices = collections.defaultdict(float, fit(rest))
        for matrix in times["matrices"]:
            if kind_of(matrix) == kind:
                records.setdefault((matrix["group"], kind), Record()).add(matrix, prices)
    for group, title in LEFT_OUT.items():
        total, rows = Record(), ""
        for (of_group, kind), record in records.items():
            if of_group == group:
                total.add_all(record)
                rows += f"| {kind} | {record.columns()} |\n" if group != "real" else ""
        matrices = [m for m in times["matrices"] if m["group"] == group]
        if not matrices:
            continue
        always = {layout: constant(matrices, layout) for layout in ("csr", "bitflag", "ccoo", "split", "sell")}
        text += (f"\n**{title}**\n\n| | matrices | `auto` over the best | worst | within 3 % | off, median | 90 % |\n"
                 f"|---|---|---|---|---|---|---|\n{rows}| **all** | {total.columns()} |\n\nAlways "
                 + ", ".join(f"`{layout}` {loss:.3f}" for layout, loss in always.items() if loss) + ".\n")
    return text


def show(times, prices, caches):
    text = (f"{times['machine']}. For each matrix the layout that `auto` takes of those measured, its time predicted "
            f"and measured, and the best one measured that `auto` may take; microseconds, {caches}. The last column "
            "is how much longer `auto`'s takes than the fastest of `csr`, `ccoo` and `sell`.\n")
    for group, title in (("suite", "suite"), ("small", "small matrices"), ("large", "large ones outside the suite"), ("real", "real matrices"), ("shapes", "shapes")):
        rows, losses, best_losses, errors = [], [], [], []
        for measured_matrix in times["matrices"]:
            matrix = planned(measured_matrix, prices)
            layouts = matrix["layouts"]
            yardstick = best_yardstick(matrix)
            if matrix["group"] != group or not yardstick:
                continue
            taken = pick(matrix, prices)
            times_allowed = allowed(measured_matrix)
            best = min(times_allowed, key=times_allowed.get)
            loss = layouts[taken]["us"] / layouts[yardstick]["us"] - 1
            losses.append(loss)
            best_losses.append(layouts[taken]["us"] / times_allowed[best])
            errors += [predicted(l, prices) / l["us"] for n, l in layouts.items() if l["us"] < NEAR[group] * times_allowed[best]]
            rows.append(f"| {matrix['name']} | {matrix['value_type']} | `{taken}` | "
                        f"{predicted(layouts[taken], prices):.1f} | {layouts[taken]['us']:.1f} | "
                        f"`{best}` {times_allowed[best]:.1f} | {100 * loss:+.1f} % |\n")
        if not rows:
            continue
        off = sorted(abs(math.log(e)) for e in errors)
        text += (f"\n**{title.capitalize()}**: {len(rows)} matrices. `auto`'s layout takes {geometric_mean(best_losses):.3f} "
                 f"times as long as the best one (geometric mean; worst {max(best_losses):.2f}), and at worst "
                 f"{100 * max(losses):+.1f} % longer than the fastest of `csr`, `ccoo` and `sell`. Predictions of layouts "
                 f"near the best are off by {100 * off[len(off) // 2]:.0f} % (median; 90th percentile "
                 f"{100 * off[int(0.9 * len(off))]:.0f} %).\n")
        if group not in ("small", "large"):
            text += ("\n| matrix | values | `auto` | predicted | measured | best | over the three |\n"
                     "|---|---|---|---|---|---|---|\n" + "".join(rows))
    return text


def write_document(mark, shown):
    """Between <!-- mark --> and the <!-- /word --> that ends it."""
    document = ROOT / "docs/PREDICTIONS.md"
    end = f"<!-- /{mark.replace(':', ' ').split()[0]} -->"
    text, count = re.subn(rf"<!-- {mark} -->.*?{end}", lambda _: f"<!-- {mark} -->\n{shown}{end}", document.read_text(),
                          flags=re.S)
    if count != 1:
        sys.exit(f"{document} has no place for '{mark}'")
    document.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spmvpack", default=str(ROOT / "build/release/tools/spmvpack"))
    parser.add_argument("--matrices", default=".", help="where matrices are that are not generated")
    for machine in MACHINES:
        parser.add_argument(f"--{machine}", nargs="+", default=[], metavar="BENCH.json")
    parser.add_argument("--again", nargs="+", default=[], choices=MACHINES, help="ask what the plans do that were measured before")
    parser.add_argument("--add", action="store_true", help="keep what was collected before and is not measured again")
    parser.add_argument("--collect", action="store_true", help="only collect what is measured")
    parser.add_argument("--keep-prices", nargs="*", choices=MACHINES,
                        help="those of a machine, or all: fit nothing, write the tables alone")
    parser.add_argument("--left-out", action="store_true", help="fit without each kind, and show what becomes of it")
    parser.add_argument("--by-name", action="store_true",
                        help=f"add and fit what auto leaves out, {' and '.join(BY_NAME_ONLY)}, and nothing else")
    parser.add_argument("--variants", metavar="NAME=VALUE", help="with --by-name: what is added was measured with this setting")
    options = parser.parse_args()
    for machine in MACHINES:
        if files := getattr(options, machine):
            name, measurements = load(files[0])["machine"]["name"], taken(files)
        elif machine in options.again:
            before = load(times_path(machine))
            name, measurements = before["machine"], taken_again(before)
        else:
            continue
        if options.variants:
            collected = collect(options.spmvpack, machine, measurements, options.matrices, "--set", options.variants)
            write_variants(variants_path(machine), collected, options.variants)
        elif options.by_name:
            measurements = [(matrix, {plan: us for plan, us in times.items() if plan[0] in BY_NAME_ONLY})
                            for matrix, times in measurements]
            collected = collect(options.spmvpack, machine, measurements, options.matrices)
            write_times(times_path(machine), added(load(times_path(machine)), collected))
        else:
            collected = collect(options.spmvpack, machine, measurements, options.matrices)
            write_times(times_path(machine), renewed(load(times_path(machine)), collected) if options.add else
                        {"machine": name, "matrices": collected})
    if options.collect:
        return
    if options.left_out:
        write_document("left out", "\n".join(
            left_out(chosen_from(load(times_path(machine))), fit_once(machine), CACHES[machine]) for machine in MACHINES))
        return
    kept = MACHINES if options.keep_prices == [] or options.by_name else options.keep_prices or ()
    prices = kept_prices()
    for gpu in GPUS:
        if gpu not in kept:
            prices[gpu] = by_name_only(prices[gpu]) | settled(
                chosen_from(load(times_path(gpu))), fit_gpu, MOST_SLOWER,
                lambda matrix: best_allowed(matrix) if matrix["group"] != "shapes" else best_yardstick(matrix))
    if "host" not in kept:
        prices["host"] = by_name_only(prices["host"]) | settled(
            chosen_from(load(times_path("host"))), lambda *a: fit_host(*a, prices["h200"], prices["host"]), MOST_SLOWER_ON_HOST,
            lambda matrix: best_yardstick(matrix) if matrix["group"] == "shapes" else best_allowed(matrix))
    for machine in MACHINES:
        if machine not in kept or options.by_name:
            prices[machine] = fit_by_name(machine, prices[machine])
    if options.by_name or len(kept) < len(MACHINES):
        write_prices(prices)
    for machine in MACHINES:
        write_document(f"times: {machine}", show(load(times_path(machine)), prices[machine], CACHES[machine]))


if __name__ == "__main__":
    main()
