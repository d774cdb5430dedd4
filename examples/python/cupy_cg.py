"""Solves the Poisson equation on a GPU with CuPy's CG, on the encoded matrix. Exit code 77: no CuPy or no GPU.

usage: cupy_cg.py [GRID]
"""

import sys

from scipy import sparse

import spmvpack as sp

try:
    import cupy
    from cupyx.scipy.sparse.linalg import cg

    cupy.cuda.runtime.getDeviceCount()
except Exception as error:  # CuPy has a type of its own for a missing driver
    print(f"skipped: {error}")
    sys.exit(77)


def main(n: int) -> None:
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    a = sparse.csr_array(sparse.kronsum(line, line))
    b = cupy.ones(n * n) / (n + 1) ** 2

    d = sp.encode(a).to("cuda:0")
    print(d)
    u, info = cg(d.linear_operator(), b)
    residual = b.copy()
    d.multiply(u, residual, alpha=-1.0, beta=1.0)
    relative = float(cupy.linalg.norm(residual) / cupy.linalg.norm(b))
    print(f"cg: info {info}, residual {relative:.1e}")
    if info != 0 or relative > 1.1e-5:
        sys.exit("not solved")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
