#!/usr/bin/python3
"""Makes the golden files: containers written by hand (spmvc_writer.py), and what a reader must make of them.

    make_golden.py DIRECTORY    write them into DIRECTORY, which a build does; exit 1 and a line for every file that is
                                not the one in tests/golden/manifest.txt, or not the witness of its name
    make_golden.py --update     write the manifest and the witnesses, for you to read the differences

accept/NAME.spmvc with NAME.csr.txt: "rows columns nonzeros type", then one "row column value" per entry, sorted, from
row and column 0. A value is a hexadecimal float; a NaN is nan:BITS.
reject/NAME.spmvc with NAME.txt: "exit-code stage" (stages as in FORMAT.md, section 9).

The manifest has a line for each file: its name, size and SHA-256; then, of a file to accept, the SHA-256 of its listing,
of one to reject exit code and stage. tests/golden/witnesses has some of the files as they are, some for each layout and
one for each way to be refused, so that a mistake that writer and manifest share does not pass unseen.
"""

import argparse
import hashlib
import math
import pathlib
import shutil
import struct
import sys

import zstandard

from golden_accept import accept
from golden_reject import reject

COMMITTED = pathlib.Path(__file__).resolve().parent.parent / "golden"
MANIFEST, WITNESSES = COMMITTED / "manifest.txt", COMMITTED / "witnesses"
# Frames of the library may differ by its version; this one made the witnesses, which stand in for those of others.
LIBRARY_FRAMES = {"accept/zstd_none.spmvc", "accept/zstd_shuffle.spmvc", "accept/zstd_delta.spmvc"}
LIBRARY_VERSION = (1, 5, 4)
KEPT = {"reject/version_0_2.spmvc", "accept/parts_row_lists.spmvc", "accept/share_1.spmvc"}


def number(value, narrow):
    if math.isnan(value):
        return f"nan:{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"
    return struct.unpack("<f", struct.pack("<f", value))[0].hex() if narrow else value.hex()


def listing(matrix):
    yield f"{matrix.rows} {matrix.columns} {len(matrix.entries)} {matrix.value}"
    for row, column, value in matrix.entries:
        narrow = matrix.value in ("f32", "c64")
        parts = (value.real, value.imag) if matrix.field == 4 else (value, )
        yield " ".join([f"{row} {column}", *(number(part, narrow) for part in parts)])


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


def lines(made):
    """The manifest."""
    def digest(name):
        return hashlib.sha256(made[name]).hexdigest()

    for name in sorted(made):
        stem, _, suffix = name.partition(".")
        if suffix == "spmvc":
            verdict = digest(f"{stem}.csr.txt") if name.startswith("accept/") else made[f"{stem}.txt"].decode().rstrip("\n")
            yield f"{name} {len(made[name])} {digest(name)} {verdict}"


def witnesses(made):
    """The names of some files: the first of each layout and kind of part that is accepted, and what the library
    compresses; of each exit code and stage the first that is refused, and what nothing writes any more."""
    seen = set()
    for name in sorted(made):
        stem, _, suffix = name.partition(".")
        if suffix != "spmvc":
            continue
        kind = name.partition("_")[0] if name.startswith("accept/") else made[f"{stem}.txt"]
        if kind not in seen or name in LIBRARY_FRAMES or name in KEPT:
            seen.add(kind)
            yield from (other for other in made if other.startswith(f"{stem}."))


def with_library_frames(made):
    """Frames by another version of zstd are other bytes of the same matrix: that is checked, and the witnesses taken."""
    if zstandard.ZSTD_VERSION == LIBRARY_VERSION:
        return made
    import spmvc_reader  # only here: the golden files must not depend on the reader
    witness = {name: (WITNESSES / name).read_bytes() for name in LIBRARY_FRAMES}
    for name, content in witness.items():
        a, b = (spmvc_reader.read(container)[0].digest for container in (made[name], content))
        assert a == b, f"{name}: holds another matrix"
    return made | witness


def differences(made):
    """Yields a line for each file that is not as the manifest and the witnesses say."""
    def by_name(some):
        return dict(line.split(" ", 1) for line in some)

    wanted, found = by_name(MANIFEST.read_text(encoding="ascii").splitlines()), by_name(lines(made))
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            yield f"{name}: the manifest says {wanted.get(name, 'nothing')}, found {found.get(name, 'nothing')}"
    kept = written(WITNESSES)
    for name in sorted(kept.keys() | set(witnesses(made))):
        if kept.get(name) != made.get(name):
            yield f"{name}: not the witness"


def written(directory):
    """What write() has written."""
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.glob("*/*")}


def write(made, directory):
    for name, content in made.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("directory", nargs="?", type=pathlib.Path)
    what.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    made = with_library_frames(files())
    if arguments.update:
        MANIFEST.write_text("".join(line + "\n" for line in lines(made)), encoding="ascii")
        shutil.rmtree(WITNESSES, ignore_errors=True)
        write({name: made[name] for name in witnesses(made)}, WITNESSES)
        return 0
    found = list(differences(made))
    print("\n".join(found), end="\n" if found else "")
    if found:
        return 1
    write(made, arguments.directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
