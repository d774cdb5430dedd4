"""encode --device gpu: the file is the host's, byte for byte. Without a GPU, only that this is said, before anything is
read."""
import os
import subprocess
import sys

from cli import spmvpack

told = subprocess.run(["spmvpack", "encode", "missing.mtx", "--device", "gpu", "--layout", "csr"], capture_output=True,
                      text=True, check=False)
if told.returncode in (5, 6):
    assert "omit --device" in told.stderr and not os.listdir(), told
    print(told.stderr.strip())
    sys.exit(77)
assert told.returncode == 1 and "missing.mtx" in told.stderr, told

spmvpack("generate", "elasticity", "--grid", "9x8x7", "-o", "mesh.mtx", "-q")
spmvpack("generate", "rmat", "--scale", "11", "-o", "graph.mtx", "-q")
spmvpack("generate", "convection-diffusion", "--grid", "20x17x13", "--coefficients", "random", "-o", "grid.mtx", "-q")
with open("symmetric.mtx", "w", encoding="ascii") as file:
    file.write("%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n5 5 5\n1 1 7\n2 1 3\n4 2 0\n5 5 1\n5 1 2\n")
with open("empty.mtx", "w", encoding="ascii") as file:
    file.write("%%MatrixMarket matrix coordinate real general\n0 3 0\n")
for matrix in ("mesh", "graph", "grid", "symmetric", "empty"):
    for words in (["--layout", "csr"], ["--layout", "sell", "--codec", "zstd:3"],
                  ["--layout", "csell", "--set", "csell.values=raw", "--value-type", "f32"],
                  ["--layout", "csell", "--updatable", "--transpose"],
                  ["--layout", "bitflag", "--set", "bitflag.values=raw", "--transpose"],
                  ["--layout", "ell", "--force-size"]):
        spmvpack("encode", f"{matrix}.mtx", "-o", "host.spmvc", "-f", "-q", *words)
        text = spmvpack("encode", f"{matrix}.mtx", "-o", "gpu.spmvc", "-f", "--device", "gpu", *words)
        with open("host.spmvc", "rb") as host, open("gpu.spmvc", "rb") as gpu:
            assert host.read() == gpu.read(), (matrix, words)
        assert f"\n  layout   {words[1]}" in text and "\n  memory   " in text, text
