"""What is measured for benchmarks/papers.py: reports of matrices, which need no GPU, and times on one."""

import dataclasses
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import papers_published as published

CUSPARSE_CSR = ("csr-alg1", "csr-alg2")
CUSPARSE_COO = ("coo-alg1", "coo-alg2")
CUSPARSE_BSR = ("bsr-2", "bsr-3", "bsr-4")
# The six kernels of Bell and Garland's paper and of CUSP.
CUSP = ("coo/balanced", "csr/scalar", "csr/vector32", "dia/rows", "ell/rows", "hyb/default")
# The formats of the paper, which CUSP has but for PKT.
BELL = (*CUSP, "pkt/packets")

# ---- Reports --------------------------------------------------------------------------------------------------------


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


def wanted(stand, only):
    return not only or bool(set(stand.names) & set(only))


def collect(command, most, facts, only=()):
    """Reports of all matrices but those that are known, the paper's K = 4 of ccoo among the settings."""
    with tempfile.TemporaryDirectory() as directory:
        for stand, value_type in stands():
            key = f"{stand.words} {value_type}"
            if key in facts or stand.nonzeros > most or not wanted(stand, only):
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


@dataclasses.dataclass(frozen=True)
class Job:
    """What one paper's tables need of some matrices. Of `only`, if it is given, the other kernels are left out. A `label`
    follows the names of kernels with these settings, after a blank."""
    stands: tuple
    value_type: str
    layouts: tuple
    peers: tuple = ()
    settings: tuple = ()
    host_vectors: bool = False
    only: tuple = ()
    label: str = ""

    def words(self, command, stand_list, runs):
        words = [command, "bench", *(f"generate {stand.words}" for stand in stand_list), "--json", "-q", "--device",
                 "gpu", "--value-type", self.value_type, "--runs", str(runs)]
        for layout in self.layouts:
            words += ["--layout", layout]
        for setting in self.settings:
            words += ["--set", setting]
        for peer in self.peers:
            words += ["--peer", peer]
        return words + ([] if self.peers else ["--peers", "none"]) + (["--host-vectors"] if self.host_vectors else [])


def first(pairs):
    return tuple(stand for stand, _ in pairs)


CUSP_LAYOUTS = tuple(dict.fromkeys(kernel.split("/")[0] for kernel in CUSP))
JOBS = (
    # C and sigma of the paper, which are amb's without a setting.
    Job(first(published.NAGASAKA), "f32", ("amb", "sell", "nus_sell"), CUSPARSE_CSR + CUSPARSE_BSR,
        ("sell.sigma=32768",)),
    *(Job(first(published.NAGASAKA), "f32", ("amb",), settings=(f"amb.block={b}",), label=f"b={b}")
      for b in published.NAGASAKA_BLOCKS),
    Job(first(published.GAO), "f32", CUSP_LAYOUTS, CUSPARSE_CSR),
    Job(first(published.GAO), "f64", CUSP_LAYOUTS, CUSPARSE_CSR),
    *(Job(first(published.GAO), value_type, ("csr",), only=("spmvpack csr/ipcsr_printed",)) for value_type in ("f32", "f64")),
    Job(published.BELL, "f64", CUSP_LAYOUTS),
    Job(published.BELL, "f32", CUSP_LAYOUTS),
    Job(published.BELL, "f64", ("pkt",)),
    Job(published.BELL, "f32", ("pkt",)),
    Job(first(published.GAO), "f64", ("pkt",)),
    Job(first(published.GAO), "f32", ("pkt",)),
    Job(published.ALIAGA, "f64", ("coo", "ccoo"), CUSPARSE_CSR + CUSPARSE_COO, ("ccoo.k=4",)),
    Job(published.ALIAGA, "f64", ("coo",), only=("spmvpack coo/atomic", "spmvpack coo/scan")),
    Job(published.KREUTZER, "f64", ("ell", "ellpack_r", "pjds"), host_vectors=True),
    Job(published.KREUTZER, "f64", ("pjds",), settings=("pjds.basis=permuted",), only=("spmvpack pjds/permuted",)),
)
# Larger matrices have a process each, after all others, so that one for which there is no time costs no other.
LARGE = 30_000_000


def kernel_name(result):
    return result["by"] + " " + "/".join(filter(None, (result["layout"], result["kernel"])))


def kept(result):
    if result["skipped"] is not None:
        return {"skipped": result["skipped"]}
    if not result["correct"]:
        return {"skipped": "a wrong result"}
    times = {"median": result["cold"]["median"]}
    if "host_vectors" in result:
        times |= {"host_vectors": result["host_vectors"]["median"], "foreseen": result["host_vectors_predicted"]}
    return {key: round(value, 2) for key, value in times.items()}


def add_bench(times, job, bench):
    """Takes over what the tables need of the JSON of one `bench`."""
    times |= {"version": bench["version"], "machine": bench["machine"], "copy": bench["copy"]["gbytes_per_second"]}
    if "link" in bench:
        times["link"] = {way: speed["gbytes_per_second"] for way, speed in bench["link"].items()}
    for matrix in bench["matrices"]:
        words = matrix["source"].removeprefix("spmvpack generate ")
        key = f"{words} {matrix['value_type']}"
        of = times["times"].setdefault(key, {"nonzeros": matrix["nonzeros"], "kernels": {}})
        for result in matrix["results"]:
            if not job.only or kernel_name(result) in job.only:
                of["kernels"][" ".join(filter(None, (kernel_name(result), job.label)))] = kept(result)


def measure(command, most, seconds, runs, only=(), before=None):
    """Times on this machine's GPU, of as many matrices as `seconds` suffice for; why others have none. What there is
    `before`, of the same GPU, is kept, with the bandwidths that were measured then."""
    begin = time.monotonic()
    times = before or {"schema": "spmvpack-papers-1", "runs": runs, "times": {}, "not_measured": {}}
    spent, facts = times.pop("seconds", 0), {key: times[key] for key in ("version", "copy", "link", "machine") if key in times}

    def key_of(job, stand):
        return f"{stand.words} {job.value_type} {'+'.join(filter(None, (*job.layouts, job.label)))}"

    def leave_out(job, stand, why):
        times["not_measured"][key_of(job, stand)] = why

    def is_missing(job, stand):
        kernels = times["times"].get(f"{stand.words} {job.value_type}", {"kernels": {}})["kernels"]
        if job.label:
            return not any(kernel.endswith(f" {job.label}") for kernel in kernels)
        if job.only:
            return not all(kernel in kernels for kernel in job.only)
        return not set(job.layouts) <= {kernel.removeprefix("spmvpack ").split("/")[0] for kernel in kernels}

    batches = []
    for job in JOBS:
        for stand in job.stands:
            if stand.nonzeros > most and is_missing(job, stand):
                leave_out(job, stand, f"{stand.nonzeros:,} nonzeros are more than {most:,}")
        taken = [stand for stand in job.stands
                 if stand.nonzeros <= most and wanted(stand, only) and is_missing(job, stand)]
        for stand in taken:
            times["not_measured"].pop(key_of(job, stand), None)
        if small := [stand for stand in taken if stand.nonzeros <= LARGE]:
            batches.append((0, job, small))
        batches += [(stand.nonzeros, job, [stand]) for stand in taken if stand.nonzeros > LARGE]
    for _, job, batch in sorted(batches, key=lambda batch: batch[0]):
        left = seconds - (time.monotonic() - begin)
        names = ", ".join(stand.words for stand in batch)
        print(f"{job.value_type}, {' '.join(job.layouts)}: {names} ...", file=sys.stderr, flush=True)
        try:
            if left <= 0:
                raise subprocess.TimeoutExpired(command, seconds)
            done = subprocess.run(job.words(command, batch, runs), capture_output=True, text=True, check=False,
                                  timeout=left)
        except subprocess.TimeoutExpired:
            why = f"no time left, of {seconds} s"
        else:
            # With 70 the figures are there, and say which of them are wrong.
            said = done.stderr.strip() or f"exit code {done.returncode}, without a word"
            why = None if done.returncode in (0, 70) else said.splitlines()[0]
        if why is None:
            bench = json.loads(done.stdout)
            if "machine" in facts and bench["machine"]["name"] != facts["machine"]["name"]:
                sys.exit(f"papers.py: the times that there are were measured on an {facts['machine']['name']}, not an "
                         f"{bench['machine']['name']}: leave out --missing")
            add_bench(times, job, bench)
        else:
            print(f"  {why}", file=sys.stderr)
            for stand in batch:
                leave_out(job, stand, why)
    if "machine" not in times:
        sys.exit("papers.py: nothing has been measured: see above")
    times |= facts
    times["seconds"] = round(spent + time.monotonic() - begin, 1)
    return times


class Times:
    """Cold medians in microseconds, by the words that make a matrix, the type and the kernel."""

    def __init__(self, measured=None):
        self.measured = measured or {"times": {}, "not_measured": {}}

    def __bool__(self):
        return bool(self.measured["times"])

    @property
    def machine(self):
        return self.measured["machine"]["name"]

    def of(self, stand, value_type, kernel, by="spmvpack"):
        """{"median": ..., ...}; or {"skipped": why there is none}."""
        matrix = self.measured["times"].get(f"{stand.words} {value_type}")
        layout = kernel.split("/")[0]
        # A layout that could not be made has no kernels, but a reason.
        found = matrix and (matrix["kernels"].get(f"{by} {kernel}") or matrix["kernels"].get(f"{by} {layout}"))
        if found:
            return found
        for key, why in self.measured["not_measured"].items():
            words, of_type, layouts = key.rsplit(" ", 2)
            if (words, of_type) == (stand.words, value_type) and (by != "spmvpack" or layout in layouts.split("+")):
                return {"skipped": why}
        return {"skipped": "not measured"}

    def least(self, stand, value_type, *kernels, by="spmvpack"):
        """The fastest of several kernels, as of() has it."""
        found = [self.of(stand, value_type, kernel, by) for kernel in kernels]
        return min((f for f in found if "median" in f), key=lambda f: f["median"], default=found[0])

    def link_speed(self):
        """GB/s of x to the GPU and y back, one after the other; None if it has not been measured."""
        link = self.measured.get("link")
        return link and 2 / (1 / link["to_device"] + 1 / link["from_device"])


def arithmetic_mean_of(values):
    return sum(values) / len(values)


def geometric_mean_of(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def median_of(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
