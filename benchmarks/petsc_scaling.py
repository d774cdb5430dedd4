#!/usr/bin/env python3
"""PETSc's plug-in on many ranks: its modes vector, naive and task beside PETSc's own matrices, strong and weak scaling.

    cmake --build --preset release --target spmvpack_petsc petsc_scaling
    benchmarks/petsc_scaling.py build/release/adapters/petsc/libspmvpack-petsc.so build/release/benchmarks/petsc_scaling \\
        --ranks 1,2,4,8 --scale 0.1 --json scaling.json [MATRIX...] [-- PETSC OPTIONS]

MATRIX is one of those below (default: all), or 'generate WORDS' as one argument, or a file in PETSc's binary format.
--scale makes the lattices smaller or larger, to about that share of the rows. Strong scaling has the same matrix at all
numbers of ranks; weak scaling has as many layers for each rank as strong scaling has for one of --ranks' most. Each rank
makes its own rows.

The types are measured by turns in one run; times are medians over its rounds, the slowest rank's. overlap is
(T_vector - T_mode) / T_comm, the share of the exchange that a mode hides; T_comm is the exchange in mode vector, of the
rank with the least, which is not kept waiting by slower ones. With --peer aijcusparse --type
aijcusparsespmvpack all is on GPUs. With more ranks than processors the figures are good for nothing, and marked.
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
}
MODES = ("vector", "naive", "task")


def measure(options, for_petsc, ranks, words):
    source = ["-generate", words] if not pathlib.Path(words).is_file() else ["-load", words]
    command = [*options.mpirun.split(), "-n", str(ranks), options.program, *source, "-dll_append", options.plugin,
               "-peer", options.peer, "-type", options.type, "-round", str(options.round), "-rounds", str(options.rounds),
               *for_petsc]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"ranks"')]
    if done.returncode != 0 or len(lines) != 1:
        sys.exit(f"{' '.join(command)} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(lines[0])


def with_overlap(result):
    norm = result["peer"]["norm"]
    comm = result["vector"]["exchange"]
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
    for name in options.matrices or MATRICES:
        if name not in MATRICES:
            for ranks in options.ranks:
                yield name, "strong", ranks, name.removeprefix("generate ")
            continue
        words, sides = MATRICES[name]
        sides = [max(4, round(side * options.scale ** (1 / 3))) for side in sides]
        for ranks in options.ranks:
            yield name, "strong", ranks, words.format("x".join(map(str, sides)))
        layers = max(4, round(sides[-1] / max(options.ranks)))
        for ranks in options.ranks:
            yield name, "weak", ranks, words.format("x".join(map(str, (*sides[:-1], layers * ranks))))


def main():
    arguments = sys.argv[1:]
    for_petsc = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin")
    parser.add_argument("program")
    parser.add_argument("matrices", nargs="*")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--peer", default="aij")
    parser.add_argument("--type", default="aijspmvpack")
    parser.add_argument("--round", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--threads-of-a-rank", type=int, default=2, help="that are busy in mode task, for the mark")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args(arguments[:-len(for_petsc) - 1] if "--" in arguments else arguments)
    results = []
    processors = len(os.sched_getaffinity(0))
    print(f"{'matrix':12} {'':6} {'ranks':>5} {'rows':>10} {'nonzeros':>12} {'peer us':>9} "
          + " ".join(f"{mode + ' us':>9}" for mode in MODES)
          + f" {'local':>8} {'nonlocal':>8} {'comm':>8} {'overlap naive':>13} {'task':>6}")
    for name, kind, ranks, words in runs_of(options):
        r = with_overlap(measure(options, for_petsc, ranks, words))
        r = {"matrix": name, "scaling": kind, "words": words, "shared": ranks > processors, **r}
        results.append(r)
        overlap = [r[mode].get("overlap") for mode in MODES[1:]]
        marks = [mark for mark, holds in (("ranks share processors", ranks > processors),
                                          ("task's threads do", ranks * options.threads_of_a_rank > processors)) if holds]
        print(f"{name[:12]:12} {kind:6} {ranks:5} {r['rows']:10,} {r['nonzeros']:12,.0f} {1e6 * r['peer']['seconds']:9.1f} "
              + " ".join(f"{1e6 * r[mode]['seconds']:9.1f}" for mode in MODES)
              + f" {1e6 * r['naive']['SpmvpackLocal']:8.1f} {1e6 * r['naive']['SpmvpackNonlocal']:8.1f}"
              + f" {1e6 * r['vector']['exchange']:8.1f} "
              + " ".join(f"{'-' if o is None else format(o, '.2f'):>{width}}" for o, width in zip(overlap, (13, 6)))
              + f"  {'; '.join(marks)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
