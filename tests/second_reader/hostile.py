"""Files that ask for far more than they are: small, and right in all that is checked before something is allocated.

hostile(directory) writes them and gives their paths. Most are containers whose checksums are right; some are sources.
mutants(golden, seed) gives containers that differ from golden ones in a few bytes, with all checksums made right again.
"""

import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import xxhash
import zstandard

from spmvc_format import BLOCK_ENTRY, HEADER, PARAMETER, PART, SECTION
from spmvc_writer import BLOCK, Image, Matrix, Part, Section, library_frame

MIB = 1 << 20
MOST_ROWS = 2**32 - 2
# Sections that a part without entries may have, by layout: their elements.
EMPTY_PARTS = {
    "coo": (("row_idx", "u32"), ("col_idx", "u32"), ("values", "f64")),
    "ell": (("col_idx", "u32"), ("values", "f64")),
    "dia": (("offsets", "u64"), ("values", "f64")),
    "ccoo": (("encoding", "u8"), ("row_base", "u32"), ("col_base", "u32"), ("blob_offset", "u64"), ("blob", "u8")),
}
PARAMETERS = {"ccoo": {"lanes": 256, "slots": 1}}


class Claimed(bytes):
    """Raw bytes that are only said to be there."""

    def __new__(cls, length):
        self = super().__new__(cls)
        self.length = length
        return self

    def __len__(self):
        return self.length


class Repeated(Section):
    """A section of `count` blocks, all with the same 1 MiB, which zstd makes small."""

    def __init__(self, name, element, block, count, **kinds):
        super().__init__(name, element, b"", **kinds)
        assert len(block) == BLOCK
        self.raw, self.codec = Claimed(count * BLOCK), 1
        self.frames = [library_frame(block)] * count

    def stored_blocks(self):
        return self.frames


def empty_part(layout, rows, columns):
    sections = [Section(name, element, b"") for name, element in EMPTY_PARTS[layout]]
    return Part(layout, "f64", rows, columns, 0, sections, PARAMETERS.get(layout, {}))


def image(parts, loose=(), rows=1, columns=1):
    """A container without entries; a matrix of 2^32 rows is not digested: what is too large is refused before."""
    img = Image(Matrix(1, 1, []), parts, loose)
    img.header.update(rows=rows, columns=columns)
    return img


def segmented(rows, segments):
    """bitflag without entries, whose rows of all segments have a sum each: `rows` is a multiple of 4,096."""
    chunks = np.zeros((segments * rows // 4096 + 1, 4), np.uint32)
    chunks[:, 0] = np.arange(len(chunks)) * 4096
    tiles = np.arange(segments + 1) * (rows // 4096)
    arrays = {"chunks": ("u32", 16, chunks.ravel()), "stream": ("u32", 32, []), "values": ("f64", 16, [1.0]),
              "hot": ("u32", 16, []), "segments": ("u32", 16, tiles)}
    sections = [Section(name, element, content, alignment=alignment)
                for name, (element, alignment, content) in arrays.items()]
    return Part("bitflag", "f64", rows, segments, 0, sections, {"source": 2, "tile_chunks": 1})


def lines_of(line):
    """1 MiB of whole lines."""
    text = line * (BLOCK // len(line))
    return text + b"x=" + b"a" * (BLOCK - len(text) - 3) + b"\n" if len(text) < BLOCK - 3 else text


def containers():
    """(name, bytes)"""
    comment = b"comment=" + b"a" * (BLOCK - 9) + b"\n"
    for name, block, count in (("long_comments", comment, 2000), ("short_comments", b"comment=aaaaaaa\n" * 65536, 300),
                               ("empty_comments", b"comment=\n" * (BLOCK // 9) + b"\n" * (BLOCK % 9), 300)):
        provenance = Repeated("provenance", "u8", block, count, flags=0, alignment=1)
        yield name, image([empty_part("coo", 1, 1)], [provenance]).pack()
    for layout in EMPTY_PARTS:
        yield f"tall_{layout}", image([empty_part(layout, MOST_ROWS, 1)], rows=MOST_ROWS).pack()
        yield f"wide_{layout}", image([empty_part(layout, 1, MOST_ROWS)], columns=MOST_ROWS).pack()
    yield "tall_without_parts", image([], rows=MOST_ROWS, columns=MOST_ROWS).pack()
    rows = 1 << 28  # whose pointers are 2 GiB of zeros
    pointers = Part("csr", "f64", rows - 1, 1, 0, [
        Repeated("row_ptr", "u64", bytes(BLOCK), rows * 8 // BLOCK), Section("col_idx", "u32", b""),
        Section("values", "f64", b"")
    ])
    yield "zero_pointers", image([pointers], rows=rows - 1).pack()
    for count in (1, 300):
        lists = [empty_part("coo", 0, MOST_ROWS).row_list([]) for _ in range(count)]
        yield f"row_lists_{count}", image(lists, rows=MOST_ROWS, columns=MOST_ROWS).pack()
    yield "many_parts", image([empty_part("coo", 1_000_000, 1) for _ in range(5000)], rows=1_000_000).pack()
    claims = image([empty_part("ell", 10, 10)], rows=10, columns=10)
    claims.header["nonzeros"] = claims.parts[0]["nonzeros"] = 2**63
    yield "many_entries", claims.pack()
    yield "segments", image([segmented(1 << 18, 64)], rows=1 << 18, columns=64).pack()


def large_tables(path):
    """A gigabyte of tables, nearly all of which are a hole in the file."""
    img = image([])
    count = (1 << 30) // 16
    img.header.update(B=count, tables_bytes=16 * count, file_length=4096 + 16 * count)
    tables = xxhash.xxh3_64()
    for _ in range(16 * count // MIB):
        tables.update(bytes(MIB))
    img.header["tables_checksum"] = tables.intdigest()
    with open(path, "wb") as file:
        file.write(img.pack())
        file.truncate(img.header["file_length"])


def large_block(path):
    """A gigabyte that is said to be one block of zstd, and is a hole in the file."""
    img = image([empty_part("coo", 1, 1)], [Section("provenance", "u8", b"a=\n", flags=0, alignment=1)])
    stored = 1 << 30
    provenance = img.sections[-1]
    provenance.update(codec=1, stored_bytes=stored)
    img.blocks[-1]["stored_bytes"] = stored
    img.payload = img.payload[:provenance["offset"] - 4096]
    end = provenance["offset"] + stored
    img.header.update(tables_offset=end, file_length=end + img.header["tables_bytes"])
    packed = img.pack()
    begin = 4096 + len(img.payload)
    with open(path, "wb") as file:
        file.write(packed[:begin])
        file.truncate(end)
        file.seek(end)
        file.write(packed[begin:])


BANNER = b"%%MatrixMarket matrix coordinate real general\n"


def repeated_gzip(head, block, count, tail):
    """gzip of head, `count` times `block`, and tail."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        file.write(head)
        for _ in range(count):
            file.write(block)
        file.write(tail)
    return out.getvalue()


def with_dictionary(xz, log):
    """A file of xz that asks for a dictionary of 2^log bytes: in the header of its first block, which ends with a CRC."""
    header = bytearray(xz[12:20])
    header[4] = 2 * (log - 12)
    return xz[:12] + header + struct.pack("<I", zlib.crc32(header)) + xz[24:]


def npy(shape, dtype, data=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in arrays.items():
            file.writestr(name + ".npy", content)
    return out.getvalue()


def sources():
    """(name, bytes)"""
    tail = b"1 1 1\n1 1 1\n"
    yield "comments.mtx.gz", repeated_gzip(BANNER, b"%\n" * (MIB // 2), 20, tail)
    yield "long_line.mtx.gz", repeated_gzip(BANNER + b"%", b"a" * MIB, 400, b"\n" + tail)
    yield "rows.mtx", BANNER + b"4000000000 1 0\n"
    yield "entries.mtx", BANNER + b"10 10 4000000000\n1 1 1\n"
    yield "array.mtx", b"%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n"
    window = zstandard.ZstdCompressionParameters.from_level(1, window_log=27)
    frame = zstandard.ZstdCompressor(compression_params=window).compressobj()
    noise = random.Random(5).randbytes(MIB // 2).hex().encode()  # 1 MiB that needs the window
    text = b"".join(frame.compress(b"%" + noise[:-2] + b"\n") for _ in range(200))
    yield "window.mtx.zst", frame.compress(BANNER) + text + frame.compress(tail) + frame.flush()
    line = b"%" + b"a" * (MIB - 2) + b"\n"
    packer = lzma.LZMACompressor(preset=0)
    packed = packer.compress(BANNER) + b"".join(packer.compress(line) for _ in range(200))
    packed += packer.compress(tail) + packer.flush()
    yield "counted_dictionary.mtx.xz", with_dictionary(packed, 27)
    yield "large_dictionary.mtx.xz", with_dictionary(packed, 30)
    shape = npy("(2,)", "<i8", struct.pack("<2q", 10, 10))
    name = npy("()", "|S3", b"csr")
    yield "data.npz", npz(format=name, shape=shape, data=npy("(2000000000,)", "<f8"))
    yield "no_type.npz", npz(format=npy("()", ">"), shape=shape)
    yield "empty_type.npz", npz(format=npy("()", ""), shape=shape)
    nothing = {"data": npy("(0,)", "<f8"), "indices": npy("(0,)", "<i4"), "indptr": npy("(0,)", "<i4")}
    yield "negative_shape.npz", npz(format=name, shape=npy("(2,)", "<i8", struct.pack("<2q", -1, 3)), **nothing)
    dimensions = npy(f"({'1,' * 32700})", "|u1", b"\1")
    yield "many_shapes.npz", npz(**{f"m{i}": dimensions for i in range(450)})
    known = ("format", "shape", "data", "indices", "indptr", "row", "col", "offsets")
    yield "known_shapes.npz", npz(**{member: dimensions for member in known})
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, format=tarfile.USTAR_FORMAT) as file:
        for i in range(50_000):
            file.addfile(tarfile.TarInfo(f"{'n' * 90}{i}"))
    yield "members.tar.gz", out.getvalue()
    yield "pointers.rua", (b"title".ljust(72) + b"key     \n" + b"%14d%14d%14d%14d%14d\n" % (4, 1, 1, 1, 0) +
                           b"RUA".ljust(14) + b"%14d%14d%14d%14d\n" % (4000000000, 4000000000, 4000000000, 0) +
                           b"(8I10)          (8I10)          (4E20.12)           \n1\n1\n1\n")


def hostile(directory):
    paths = []
    for name, content in (*((f"{name}.spmvc", content) for name, content in containers()), *sources()):
        paths.append(directory / name)
        paths[-1].write_bytes(content)
    for name, write in (("tables.spmvc", large_tables), ("block.spmvc", large_block)):
        paths.append(directory / name)
        write(paths[-1])
    return paths


# ---- mutants

RECORDS = {"header": (HEADER, 4096), "part": (PART, 96), "parameter": (PARAMETER, 24), "section": (SECTION, 96),
           "block": (BLOCK_ENTRY, 16)}


def places(record):
    """Where the fields of a record are: (offset, bytes)."""
    at, found = 0, []
    for _, code in record:
        size = struct.calcsize("<" + code)
        found.append((at, size))
        at += size
    return found


def interesting(rng, old):
    """Another value for an unsigned number."""
    return rng.choice((0, 1, old + 1, max(old, 1) - 1, 2 * old, old // 2, 2**31, 2**32 - 1, 2**32 - 2, 2**63,
                       2**64 - 1, 1 << rng.randrange(64), rng.randrange(1 << rng.randrange(1, 65))))


def mutate(golden, rng):
    """A container with a few other fields or bytes, and right checksums."""
    data = bytearray(golden)
    header = dict(zip((name for name, _ in HEADER), struct.unpack("<" + "".join(c for _, c in HEADER), data[:4096])))
    tables = header["tables_offset"]
    counts = {"header": 1, **{kind: header[kind + "s"] for kind in RECORDS if kind != "header"}}
    begins, end = {"header": 0}, tables
    for kind in (kind for kind in RECORDS if kind != "header"):
        begins[kind] = end
        end += RECORDS[kind][1] * counts[kind]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.choice([kind for kind, count in counts.items() if count] + ["payload"] * 4)
        if kind == "payload":
            if tables > 4096:
                at = rng.randrange(4096, tables)
                width = rng.choice((1, 2, 4, 8))
                old = int.from_bytes(data[at:at + width], "little")
                data[at:at + width] = (interesting(rng, old) % (1 << 8 * width)).to_bytes(width, "little")
            continue
        record, size = RECORDS[kind]
        offset, width = rng.choice(places(record))
        at = begins[kind] + size * rng.randrange(counts[kind]) + offset
        width = min(width, 8)
        old = int.from_bytes(data[at:at + width], "little")
        data[at:at + width] = (interesting(rng, old) % (1 << 8 * width)).to_bytes(width, "little")
    # Blocks first, then the tables that hold their checksums, then the header.
    for i in range(counts["section"]):
        at = begins["section"] + 96 * i
        offset, first, blocks = (struct.unpack_from("<Q", data, at + place)[0] for place in (56, 64, 72))
        for b in range(first, min(first + blocks, counts["block"])):
            entry = begins["block"] + 16 * b
            stored = struct.unpack_from("<I", data, entry + 8)[0]
            struct.pack_into("<Q", data, entry, xxhash.xxh3_64_intdigest(bytes(data[offset:offset + stored])))
            offset += stored
    struct.pack_into("<Q", data, 104, xxhash.xxh3_64_intdigest(bytes(data[tables:])))
    struct.pack_into("<Q", data, 4088, xxhash.xxh3_64_intdigest(bytes(data[:4088])))
    return bytes(data)


def mutants(directory, seed):
    """Mutants of the golden containers in `directory`, without end: (name, bytes)."""
    rng = random.Random(seed)
    golden = sorted(directory.glob("*.spmvc"))
    while True:
        chosen = rng.choice(golden)
        yield chosen.stem, mutate(chosen.read_bytes(), rng)
