#!/usr/bin/env python3
"""hypre's PCG with spmvpack's multiply and with its own (adapters/hypre/examples/pcg.cpp): the same iterations and norms.

usage: hypre_test.py HYPRE_PCG

Exits with 77, for skipped, without mpiexec.
"""

import os
import re
import shutil
import subprocess
import sys

ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
    "OMPI_MCA_mpi_yield_when_idle": "1",  # more ranks than processors
}


def run(ranks, *options):
    done = subprocess.run(["mpiexec", "--oversubscribe", "-n", str(ranks), sys.argv[1], "-n", "60", *options],
                          env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=300)
    return done.returncode, done.stdout


def solve(ranks, *options):
    """Iterations, norm, the ranks that multiplied by spmvpack, and all that was said."""
    status, said = run(ranks, *options)
    found = re.search(r"(\d+) iterations, residual \S+, norm (\S+)", said)
    if status != 0 or found is None:
        sys.exit(f"{ranks} ranks, {options}: status {status}\n{said}")
    return int(found[1]), float(found[2]), said.count("multiplies by spmvpack"), said


def main():
    if shutil.which("mpiexec") is None:
        print("skipped: no mpiexec")
        sys.exit(77)
    for ranks in (1, 2, 3):
        for preconditioner in ([], ["-amg"]):
            iterations, norm, encoded, _ = solve(ranks, "-hypre", *preconditioner)
            assert iterations > 3 and encoded == 0
            for options, least in (([], ranks), (["-layout", "csell"], ranks), (["-memory", "1000"], ranks - 1)):
                if preconditioner and options:
                    continue
                found = solve(ranks, *preconditioner, *options)
                # Sums in another order are rounded differently.
                same = abs(found[0] - iterations) <= iterations // 50 and abs(found[1] - norm) <= 1e-9 * norm
                if not same or found[2] != least:
                    sys.exit(f"{ranks} ranks, {options}: {found} instead of {(iterations, norm, least)}")
                # A rank that has not enough memory says so, and multiplies as hypre does.
                assert ("1000 are allowed" in found[3]) == ("-memory" in options), found[3]
    status, said = run(2, "-layout", "none")
    assert status != 0 and "the layout 'none' is not known" in said, (status, said)
    status, said = run(1, "-n", "0")
    assert status != 0 and "no such option, or no value of it" in said, (status, said)
    print("hypre's PCG at 1, 2 and 3 ranks: as with its own multiply")


if __name__ == "__main__":
    main()
