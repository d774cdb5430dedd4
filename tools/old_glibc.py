#!/usr/bin/env python3
"""Makes shared libraries run with an older glibc than that of the machine where they were linked.

usage: old_glibc.py VERSION LIBRARY...     VERSION: such as 2.28. Needs patchelf.

glibc keeps the old versions of a function beside the new one, and a linker takes the newest. This takes, for each
function that is newer than VERSION, the newest of those that are not: the functions that moved to libc.so.6 in 2.34,
such as pthread_create(), are older than that. A function that has no older version is an error; who wants it defines it
(python/src/old_glibc.c).
"""

import os
import struct
import subprocess
import sys

HIDDEN, FIRST_VERSION = 0x8000, 2
# Where functions were before they moved to libc.so.6.
FORMER_LIBRARIES = ("libpthread.so.0", "libdl.so.2", "librt.so.1")


class Elf:
    """The dynamic symbols of a 64-bit little-endian ELF file, and their versions."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path}: not a 64-bit little-endian ELF file")
        offset, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]
        self.sections = {self.text(headers[names][4] + h[0]): h for h in headers}

    def text(self, at):
        return self.data[at:self.data.index(0, at)].decode()

    def start(self, section):
        return self.sections[section][4]

    def strings(self):
        """The bytes that names are taken from."""
        return bytes(self.data[self.start(".dynstr"):self.start(".dynstr") + self.sections[".dynstr"][5]])

    def symbols(self):
        """(name, whether it is defined here, index of its version, where that index is) of each."""
        for i in range(1, self.sections[".dynsym"][5] // 24):
            name, _, _, section = struct.unpack_from("<IBBH", self.data, self.start(".dynsym") + 24 * i)
            at = self.start(".gnu.version") + 2 * i
            yield self.text(self.start(".dynstr") + name), section != 0, struct.unpack_from("<H", self.data, at)[0], at

    def needed_versions(self):
        """(library, version, index, where its entry is) of each."""
        need = self.start(".gnu.version_r")
        for _ in range(self.sections[".gnu.version_r"][7]):
            _, count, library, aux, following = struct.unpack_from("<HHIII", self.data, need)
            at = need + aux
            for _ in range(count):
                _, _, index, name, after = struct.unpack_from("<IHHII", self.data, at)
                yield (self.text(self.start(".dynstr") + library), self.text(self.start(".dynstr") + name), index, at)
                at += after
            need += following

    def defined_versions(self):
        """{index: version}."""
        versions, at = {}, self.start(".gnu.version_d")
        for _ in range(self.sections[".gnu.version_d"][7]):
            _, _, index, _, _, aux, following = struct.unpack_from("<HHHHIII", self.data, at)
            versions[index] = self.text(self.start(".dynstr") + struct.unpack_from("<I", self.data, at + aux)[0])
            at += following
        return versions


def number(version):
    """GLIBC_2.34 as (2, 34); of other names, such as GLIBC_PRIVATE, none."""
    name, _, digits = version.partition("_")
    parts = digits.split(".")
    return tuple(map(int, parts)) if name == "GLIBC" and all(p.isdigit() for p in parts) else None


def elf_hash(name):
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def system_library(name):
    """Where this machine has a library of glibc."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libc = next(line.split()[-1] for line in maps if os.path.basename(line.split()[-1]) == "libc.so.6")
    return os.path.join(os.path.dirname(libc), name)


def versions_of(library):
    """{function: [versions]} that a library of glibc has."""
    elf, found = Elf(system_library(library)), {}
    names = elf.defined_versions()
    for name, defined, index, _ in elf.symbols():
        if defined and index & ~HIDDEN >= FIRST_VERSION:
            found.setdefault(name, []).append(names[index & ~HIDDEN])
    return found


def older_versions(elf, limit):
    """{(library, function): version} for each function that is newer than the limit."""
    by_index = {index: (library, version) for library, version, index, _ in elf.needed_versions()}
    available, chosen, without = {}, {}, []
    for name, defined, index, _ in elf.symbols():
        library, version = by_index.get(index & ~HIDDEN, (None, ""))
        if defined or number(version) is None or number(version) <= limit:
            continue
        if library not in available:
            available[library] = versions_of(library)
        old = [v for v in available[library].get(name, []) if number(v) is not None and number(v) <= limit]
        if old:
            chosen[library, name] = max(old, key=number)
        else:
            without.append(f"{name}@{version}")
    if without:
        sys.exit(f"{elf.path}: no version up to {'.'.join(map(str, limit))} of {', '.join(sorted(without))}")
    return chosen


def patchelf(*arguments):
    subprocess.run(["patchelf", *arguments], check=True)


def rewrite(path, limit):
    if ".gnu.version_r" not in Elf(path).sections:
        return
    chosen = older_versions(Elf(path), limit)
    if chosen:
        # All at once: each call may move what the one before moved, and one that moves an empty segment makes a file that
        # cannot be loaded. Names of versions stay among the file's strings when they are needed no more.
        strings = Elf(path).strings()
        versions = [v for v in sorted(set(chosen.values())) if v.encode() + b"\0" not in strings]
        patchelf(*[word for name in (*versions, *FORMER_LIBRARIES) for word in ("--add-needed", name)], path)
        if versions:
            patchelf(*[word for name in versions for word in ("--remove-needed", name)], path)
    elf = Elf(path)
    entries = {}  # of the versions that may stay
    for library, version, index, at in elf.needed_versions():
        if number(version) is None or number(version) <= limit:
            entries[library, version] = index
    strings = elf.strings()
    # Each entry of a version that is too new becomes that of one which is not, if only once more.
    for library, version, index, at in list(elf.needed_versions()):
        if number(version) is None or number(version) <= limit:
            continue
        wanted = sorted({v for (of, _), v in chosen.items() if of == library and (of, v) not in entries}, key=number)
        kept = [v for of, v in entries if of == library and number(v) is not None]
        if not wanted and not kept:
            sys.exit(f"{path}: {library} {version} is needed for no function")
        name = wanted[0] if wanted else kept[0]
        struct.pack_into("<I", elf.data, at, elf_hash(name))
        struct.pack_into("<I", elf.data, at + 8, strings.index(name.encode() + b"\0"))
        entries.setdefault((library, name), index)
    libraries = {index: library for library, _, index, _ in elf.needed_versions()}
    for name, defined, index, at in elf.symbols():
        key = libraries.get(index & ~HIDDEN), name
        if not defined and key in chosen:
            struct.pack_into("<H", elf.data, at, entries[key[0], chosen[key]])
    with open(path, "r+b") as file:
        file.write(elf.data)
    left = [v for _, v, _, _ in Elf(path).needed_versions() if number(v) is not None and number(v) > limit]
    if left:
        sys.exit(f"{path}: still needs {', '.join(left)}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    limit = tuple(map(int, sys.argv[1].split(".")))
    for path in sys.argv[2:]:
        rewrite(path, limit)


if __name__ == "__main__":
    main()
