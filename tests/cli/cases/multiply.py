"""y = A x against SciPy, in every layout."""
import os
import subprocess

import numpy as np
import scipy.io
import scipy.sparse

from cli import layouts, spmvpack

random = np.random.default_rng(7)
# A few shapes, as every product is three processes, and two where those start slowly; host_multiply_test has more.
shapes = [(700, 300, 0.02, "f32"), (60, 60, 0.1, "f32"), (1, 1, 1, "f64"), (50, 70, 0.1, "f64"), (3, 4000, 0.3, "f64"),
          (4000, 3, 0.3, "f64")]
for rows, cols, density, value_type in shapes[1:3] if "SPMVPACK_TEST_SANITIZED" in os.environ else shapes:
    a = scipy.sparse.random(rows, cols, density, format="csr", random_state=random, data_rvs=random.standard_normal)
    x = random.standard_normal(cols)
    scipy.io.mmwrite("A.mtx", a, precision=17, symmetry="general")
    scipy.io.mmwrite("x.mtx", x.reshape(-1, 1), precision=17, symmetry="general")
    # Row by row: |y - ref| <= (n + 4) u sum |a x|, and two more roundings where A and x are rounded to f32.
    exact = scipy.io.mmread("A.mtx").tocsr().astype(np.longdouble)
    products = exact.multiply(x.astype(np.longdouble)).tocsr()
    reference = np.asarray(products.sum(axis=1)).ravel()
    size = np.asarray(abs(products).sum(axis=1)).ravel()
    for layout in layouts():
        if layout == "pkt" and rows != cols:
            continue  # refused
        spmvpack("encode", "A.mtx", "-qf", "--layout", layout, "--value-type", value_type, "--force-size")
        unit, roundings = {"f64": (2.0**-53, 4), "f32": (2.0**-24, 7)}[value_type]
        spmvpack("multiply", "A.spmvc", "--x", "x.mtx", "-o", "y.mtx", "-f", "-q")
        y = scipy.io.mmread("y.mtx").ravel()
        assert y.shape == (rows,)
        assert (abs(y - reference) <= (np.diff(exact.indptr) + roundings) * unit * size).all(), (rows, cols, layout)
        # Standard output has the same bytes as the file, at any number of threads.
        assert spmvpack("multiply", "A.spmvc", "--x", "x.mtx", "--threads", 3) == open("y.mtx").read()
    ones = np.array(spmvpack("multiply", "A.spmvc").splitlines()[2:], dtype=float)
    assert np.allclose(ones, a.sum(axis=1).A1, atol=1e-3)
    scipy.io.mmwrite("long.mtx", np.ones((cols + 1, 1)), symmetry="general")
    spmvpack("multiply", "A.spmvc", "--x", "long.mtx", exit_code=2)
# Complex matrices: A, A^T and A^H, with a complex and a real x, by stored parts and by symmetry.
for kind in ("general", "hermitian", "symmetric"):
    a = scipy.sparse.random(200, 200 if kind != "general" else 150, 0.05, random_state=random).tocsr()
    a = (a * (2 - 1j)).multiply(scipy.sparse.csr_matrix(a).power(0) * 1j + a).tocsr()
    a = a + a.conj().T if kind == "hermitian" else a + a.T if kind == "symmetric" else a
    scipy.io.mmwrite("C.mtx", a, precision=17, symmetry=kind)
    a = scipy.io.mmread("C.mtx").tocsr()
    for layout in ("csr", "coo"):
        for value_type, unit in (("c128", 2.0**-53), ("c64", 2.0**-24)):
            spmvpack("encode", "C.mtx", "-qf", "--layout", layout, "--value-type", value_type, "--transpose")
            for option, op in (("", a), ("--transpose", a.T), ("--conjugate-transpose", a.conj().T)):
                x = random.standard_normal(op.shape[1])
                for vector in (x, x * (1 - 2j)):
                    np.save("x.npy", vector)
                    spmvpack("multiply", "C.spmvc", "--x", "x.npy", "-o", "y.mtx", "-qf", *option.split())
                    y = scipy.io.mmread("y.mtx").ravel()
                    bound = abs(op) @ abs(vector) * (2 * np.diff(op.tocsr().indptr) + 8) * unit * 2
                    assert y.dtype == complex and (abs(y - op @ vector) <= bound).all(), (kind, layout, option)
assert "best of" in spmvpack("encode", "C.mtx", "-f", "--tune", "host")
text = spmvpack("report", "C.mtx")
assert "\nGPUs do not multiply by complex values yet; times are by those of real values.\n" in text, text
assert "not possible here: ell, " in text and "--details also has" not in text, text
assert "\nTimes of complex values are predicted by those of real ones.\n" in spmvpack("report", "C.mtx", "--target", "host")
spmvpack("multiply", "C.spmvc", "--transpose", "--conjugate-transpose", exit_code=2)
spmvpack("encode", "A.mtx", "-qf", "-o", "real.spmvc", "--layout", "csr", "--transpose")
assert spmvpack("multiply", "real.spmvc", "--transpose") == spmvpack("multiply", "real.spmvc", "--conjugate-transpose")
# x and y count: a small container may have long ones.
open("wide.mtx", "w").write("%%MatrixMarket matrix coordinate real general\n1 4000000000 1\n1 7 2\n")
spmvpack("encode", "wide.mtx", "-q")
spmvpack("multiply", "wide.spmvc", "--memory-limit", "1G", exit_code=7)
# An f32 matrix takes an x that f32 holds.
spmvpack("encode", "A.mtx", "-qf", "--value-type", "f32")
scipy.io.mmwrite("large.mtx", np.full((cols, 1), 1e300), symmetry="general")
spmvpack("multiply", "A.spmvc", "--x", "large.mtx", exit_code=3)
spmvpack("multiply", "A.spmvc", "--device", "moon", exit_code=2)
spmvpack("multiply", "A.spmvc", "--kernel", "csr/scalar", exit_code=2)
# Kernels are named LAYOUT/KERNEL, and known without a GPU.
spmvpack("multiply", "A.spmvc", "--device", "gpu", "--kernel", "scalar", exit_code=2)
# Where there is no GPU, or no code for one, that is told, and what to do.
without = {
    "multiply": [(5, "built without CUDA\nhint: build spmvpack where nvcc is found, with -DSPMVPACK_CUDA=ON\n"),
                 (6, "no GPU, or its driver is missing or too old\nhint: check nvidia-smi\n")],
    "bench": [(5, "this spmvpack was built without CUDA\nhint: use --device host, or build with CUDA\n"),
              (6, "no GPU, or no driver for one\nhint: use --device host, or check nvidia-smi\n")],
}
for command, errors in without.items():
    words = ["spmvpack", command, "A.spmvc", "--device", "gpu", *(["--peers", "none"] if command == "bench" else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    told = (done.returncode, done.stderr.removeprefix(f"spmvpack {command}: "))
    assert done.returncode == 0 or told in errors, (command, told)
