"""Solves the Poisson equation on a grid with SciPy's CG, on the encoded matrix.

usage: solve.py [GRID]
"""

import sys

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import cg

import spmvpack as sp


def main(n: int) -> None:
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    a = sparse.csr_array(sparse.kronsum(line, line))
    b = np.ones(n * n) / (n + 1) ** 2

    m = sp.encode(a)
    print(m)
    print(f"{m.device_bytes / sp.report(a).device_bytes['csr']:.1%} of CSR")
    u, info = cg(m, b)
    residual = np.linalg.norm(a @ u - b) / np.linalg.norm(b)
    print(f"cg: info {info}, residual {residual:.1e}, u between {u.min():.4f} and {u.max():.4f}")
    if info != 0 or residual > 1e-4:
        sys.exit("not solved")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
