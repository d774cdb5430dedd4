#!/usr/bin/python3
"""Makes tests/golden: containers written by hand (spmvc_writer.py), and what a reader must make of them.

    make_golden.py            write tests/golden
    make_golden.py --check    compare: exit 1 and a line for every file that is missing, extra or different

accept/NAME.spmvc with NAME.csr.txt: "rows columns nonzeros type", then one "row column value" per entry, sorted, from
row and column 0. A value is a hexadecimal float; a NaN is nan:BITS.
reject/NAME.spmvc with NAME.txt: "exit-code stage" (stages as in FORMAT.md, section 9).
"""

import argparse
import math
import pathlib
import struct
import sys

import zstandard

from golden_accept import accept
from golden_reject import reject

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
# Frames of the library may differ by its version; this one made the committed files.
LIBRARY_FRAMES = {"accept/zstd_none.spmvc", "accept/zstd_shuffle.spmvc", "accept/zstd_delta.spmvc"}
LIBRARY_VERSION = (1, 5, 4)


def listing(matrix):
    yield f"{matrix.rows} {matrix.columns} {len(matrix.entries)} {matrix.value}"
    for row, column, value in matrix.entries:
        if math.isnan(value):
            text = f"nan:{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
        else:
            text = struct.unpack("<f", struct.pack("<f", value))[0].hex() if matrix.value == "f32" else value.hex()
        yield f"{row} {column} {text}"


def files():
    made = {}

    def add(name, content):
        assert name not in made, name
        made[name] = content

    for name, matrix, container in accept():
        add(f"accept/{name}.spmvc", container)
        add(f"accept/{name}.csr.txt", "".join(line + "\n" for line in listing(matrix)).encode())
    for name, exit_code, stage, container in reject():
        add(f"reject/{name}.spmvc", container)
        add(f"reject/{name}.txt", f"{exit_code} {stage}\n".encode())
    return made


def check(made):
    """Yields a line per difference. Frames by another version of zstd may be other bytes of the same matrix."""
    committed = {str(p.relative_to(GOLDEN)): p.read_bytes() for p in GOLDEN.glob("*/*") if p.is_file()}
    for name in sorted(made.keys() | committed.keys()):
        if name not in committed:
            yield f"{name}: missing"
        elif name not in made:
            yield f"{name}: nothing makes it"
        elif name in LIBRARY_FRAMES and zstandard.ZSTD_VERSION != LIBRARY_VERSION:
            yield from same_matrix(name, made[name], committed[name])
        elif made[name] != committed[name]:
            yield f"{name}: differs"


def same_matrix(name, made, committed):
    import spmvc_reader  # only here: the golden files must not depend on the reader
    a, b = (spmvc_reader.read(container)[0].digest for container in (made, committed))
    if a != b:
        yield f"{name}: holds another matrix"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    made = files()
    if arguments.check:
        differences = list(check(made))
        print("\n".join(differences), end="\n" if differences else "")
        return 1 if differences else 0
    for name, content in made.items():
        path = GOLDEN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    print(f"{len(made)} files in {GOLDEN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
