"""Real matrices: what is encoded verifies against its source and decodes to it."""
import os
import pathlib
import sys

from cli import spmvpack

directory = os.environ.get("SPMVPACK_TEST_MATRICES")
if not directory:
    print("SPMVPACK_TEST_MATRICES is not set")
    sys.exit(77)
sources = [p for p in sorted(pathlib.Path(directory).iterdir()) if ".mtx" in p.suffixes and "complex" not in p.name]
assert sources, f"no matrix in {directory}"
for source in sources:
    spmvpack("encode", source, "-o", "A.spmvc", "-qf")
    spmvpack("verify", "A.spmvc", "--against", source, "-q")
    if source.stat().st_size < 1 << 20:
        spmvpack("decode", "A.spmvc", "-o", "B.mtx", "-qf")
        spmvpack("verify", "A.spmvc", "--against", "B.mtx", "-q")
        spmvpack("encode", source, "-o", "C.spmvc", "-qf", "--value-type", "f32", "--codec", "zstd", exit_code=0)
        spmvpack("verify", "C.spmvc", "--against", source, "-q")
