#!/usr/bin/env python3
"""PETSc's plug-in on many ranks: its modes vector, naive and task beside PETSc's own matrices, strong and weak scaling.

    cmake --build --preset release --target spmvpack_petsc petsc_scaling
    benchmarks/petsc_scaling.py build/release/adapters/petsc/libspmvpack-petsc.so build/release/benchmarks/petsc_scaling \\
        --ranks 1,2,4,8 --scale 0.1 --json scaling.json [MATRIX...] [-- PETSC OPTIONS]

    benchmarks/petsc_scaling.py --table scaling.json...

MATRIX is one of those below (default: the first four), or 'generate WORDS' as one argument, or a file in PETSc's binary
format. --scale makes the lattices smaller or larger, to about that share of the rows. Strong scaling has the same matrix
at all numbers of ranks; weak scaling has as many layers for each rank as strong scaling has for one of --ranks' most, so
that both have the same matrix at the most ranks. Each rank makes its own rows.

The types are measured by turns in one run, naive and task with one matrix between them; times are medians over its
rounds, the slowest rank's. local, nonlocal and
comm are the multiplies by both blocks and PETSc's exchange, each by itself while nothing else runs. overlap is
(T_vector - T_mode) / T_comm, the share of the exchange that a mode hides. With --peer aijcusparse --type
aijcusparsespmvpack all is on GPUs, whose memory in use is read by nvidia-smi, everything on them included. With more
ranks than processors the figures are good for nothing, and marked. --table prints results as rows of a table, with the
efficiency: of strong scaling over the time of one rank, of weak scaling over one rank with its share of the rows; and
the share of the exchange that task hides by the parts' own times, (local + nonlocal + comm - T_task) / comm, beside
overlap, for which T_vector has to be as fast as these. What several files have counts as the last one has it.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

# Words of `spmvpack generate`, sides of the lattice; the last side is the one that ranks cut.
MATRICES = {
    "7-point": ("convection-diffusion --coefficients random --grid {}", (160, 160, 160)),
    "elasticity": ("elasticity --materials blocks:8 --grid {}", (64, 64, 64)),
    "DLR1-like": ("block-mesh --block 6 --radius 1.83 --grid {}", (36, 36, 36)),
    "UHBR-like": ("block-mesh --block 5 --radius 1.82 --grid {}", (100, 100, 90)),
    "7-point-large": ("convection-diffusion --coefficients random --grid {}", (256, 256, 512)),
}
DEFAULT = tuple(MATRICES)[:4]
MODES = ("vector", "naive", "task")


def measure(options, for_petsc, ranks, words):
    source = ["-generate", words] if not pathlib.Path(words).is_file() else ["-load", words]
    command = [*options.mpirun.split(), "-n", str(ranks), options.program, *source, "-dll_append", options.plugin,
               "-peer", options.peer, "-type", options.type, "-round", str(options.round), "-rounds", str(options.rounds),
               *for_petsc]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    memory = {}
    while True:
        try:
            out, err = process.communicate(timeout=0.3 if "cusparse" in options.peer else None)
            break
        except subprocess.TimeoutExpired:
            note_memory(memory)
    lines = [line for line in out.splitlines() if line.startswith('{"ranks"')]
    if process.returncode != 0 or len(lines) != 1:
        sys.exit(f"{' '.join(command)} exited with {process.returncode}:\n{out}{err}")
    return json.loads(lines[0]) | {"gpu_mebibytes": memory}


def note_memory(most):
    """The most memory in use of each GPU so far, in MiB, if there is nvidia-smi."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader,nounits"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return
    for line in said.splitlines():
        index, used = line.split(",")
        most[index] = max(most.get(index, 0), int(used))


def with_overlap(result):
    norm = result["peer"]["norm"]
    comm = result.get("comm", 0)
    for mode in MODES:
        found = result[mode]
        if not math.isclose(found["norm"], norm, rel_tol=1e-9):
            sys.exit(f"mode {mode} gives a result of norm {found['norm']}, PETSc's matrix {norm}")
        if mode != "vector" and result["ranks"] > 1:
            found["overlap"] = (result["vector"]["seconds"] - found["seconds"]) / comm if comm > 0 else None
    if result["naive"]["norm"] != result["task"]["norm"]:
        sys.exit("naive and task give other bits")
    return result


def runs_of(options):
    for name in options.matrices or DEFAULT:
        if name not in MATRICES:
            for ranks in options.ranks:
                yield name, "strong", ranks, name.removeprefix("generate ")
            continue
        words, sides = MATRICES[name]
        sides = [max(4, round(side * options.scale ** (1 / 3))) for side in sides]
        layers = max(4, round(sides[-1] / max(options.ranks)))
        if "strong" in options.scaling:
            for ranks in options.ranks:
                yield name, "strong", ranks, words.format("x".join(map(str, sides)))
        if "weak" in options.scaling:
            for ranks in options.ranks:
                yield name, "weak", ranks, words.format("x".join(map(str, (*sides[:-1], layers * ranks))))


def read(paths):
    """The results of files, with the machine of the last that names one; a later file's replace those of the same run."""
    machine, results = {}, {}
    for path in paths:
        content = json.loads(path.read_text())
        if isinstance(content, list):
            content = {"results": content}
        machine |= {key: value for key, value in content.items() if key != "results"}
        for r in content["results"]:
            results[r["words"], r["scaling"], r["ranks"], r.get("options", "")] = r
    return machine, list(results.values())


def of_one(r, results):
    """The result of one rank that the efficiency of r is over: of the same matrix, or of a rank's share of it."""
    for o in results:
        if (o["ranks"], o["matrix"], o["scaling"], o.get("options")) != (1, r["matrix"], r["scaling"], r.get("options")):
            continue
        rows = r["rows"] / o["rows"] if r["scaling"] == "weak" else 1
        if o["words"] == r["words"] or (r["scaling"] == "weak" and abs(rows - r["ranks"]) < 0.1 * r["ranks"]):
            return o
    return None


def table(paths):
    """Rows of markdown."""
    lines = ["| | | ranks | rows | nonzeros | peer | vector | naive | task | efficiency (peer) | local | nonlocal | exchange "
             "| overlap of naive | of task | task hides | most memory, MiB |", "|---" * 17 + "|"]
    results = read(paths)[1]
    for r in results:
        one = of_one(r, results)
        efficiency = ["-", "-"]
        if one is not None and r["ranks"] > 1:
            work = r["ranks"] if r["scaling"] == "strong" else 1
            efficiency = [f"{100 * min(one[k]['seconds'] for k in kinds) / work / min(r[k]['seconds'] for k in kinds):.0f} %"
                          for kinds in (MODES, ("peer",))]
        parts = [f"{1e6 * r[part]:.1f}" if part in r else "" for part in ("local", "nonlocal", "comm")]
        shares = [r[mode].get("overlap") for mode in MODES[1:]]
        shares.append((r["local"] + r["nonlocal"] + r["comm"] - r["task"]["seconds"]) / r["comm"] if r.get("comm") else None)
        cells = (" ".join((r["matrix"].removeprefix("generate "), f"`{r['options']}`" if r.get("options") else "")).strip(),
                 r["scaling"], r["ranks"], f"{r['rows']:,}", f"{r['nonzeros']:,.0f}",
                 *(f"{1e6 * r[kind]['seconds']:.1f}" for kind in ("peer", *MODES)),
                 "-" if one is None or r["ranks"] == 1 else f"{efficiency[0]} ({efficiency[1]})", *parts,
                 *("" if o is None else f"{100 * o:.0f} %" for o in shares),
                 max(r.get("gpu_mebibytes", {}).values(), default=""))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    for_petsc = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if arguments[:1] == ["--table"]:
        print(table([pathlib.Path(path) for path in arguments[1:]]))
        return
    parser.add_argument("plugin")
    parser.add_argument("program")
    parser.add_argument("matrices", nargs="*")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--scaling", type=lambda text: text.split(","), default=["strong", "weak"])
    parser.add_argument("--peer", default="aij")
    parser.add_argument("--type", default="aijspmvpack")
    parser.add_argument("--round", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--threads-of-a-rank", type=int, default=2, help="that are busy in mode task, for the mark")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args(arguments[:-len(for_petsc) - 1] if "--" in arguments else arguments)
    results, measured = [], {}
    processors = len(os.sched_getaffinity(0))
    print(f"{'matrix':12} {'':6} {'ranks':>5} {'rows':>10} {'nonzeros':>12} {'peer us':>9} "
          + " ".join(f"{mode + ' us':>9}" for mode in MODES)
          + f" {'local':>8} {'nonlocal':>8} {'comm':>8} {'overlap naive':>13} {'task':>6}")
    for name, kind, ranks, words in runs_of(options):
        if (ranks, words) not in measured:
            measured[ranks, words] = with_overlap(measure(options, for_petsc, ranks, words))
        r = measured[ranks, words]
        r = {"matrix": name, "scaling": kind, "words": words, "shared": ranks > processors,
             **({"options": " ".join(for_petsc)} if for_petsc else {}), **r}
        results.append(r)
        overlap = [r[mode].get("overlap") for mode in MODES[1:]]
        marks = [mark for mark, holds in (("ranks share processors", ranks > processors),
                                          ("task's threads do", ranks * options.threads_of_a_rank > processors)) if holds]
        print(f"{name[:12]:12} {kind:6} {ranks:5} {r['rows']:10,} {r['nonzeros']:12,.0f} {1e6 * r['peer']['seconds']:9.1f} "
              + " ".join(f"{1e6 * r[mode]['seconds']:9.1f}" for mode in MODES)
              + " " + " ".join(f"{1e6 * r[part]:8.1f}" if part in r else 8 * " " for part in ("local", "nonlocal", "comm"))
              + " "
              + " ".join(f"{'-' if o is None else format(o, '.2f'):>{width}}" for o, width in zip(overlap, (13, 6)))
              + f"  {'; '.join(marks)}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
