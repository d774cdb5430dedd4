#!/usr/bin/python3
"""A second reader of .spmvc files, written from docs/FORMAT.md alone: plain, strict, slow.

    spmvc_reader.py A.spmvc                 verify and print a summary
    spmvc_reader.py A.spmvc --csr out.npz   also write rows, cols, row_ptr, col_idx, values

Exit codes: 0 valid, 1 not readable, 2 usage, 3 no container, 4 corrupt, 5 unsupported, 8 too large. From 3 on the first
line of stderr is `STAGE: message`, where STAGE is one of spmvc_format.STAGES.
"""

import argparse
import dataclasses
import math
import re
import struct
import sys

import numpy as np
import xxhash
import zstandard

from spmvc_format import (BLOCK, BLOCK_ENTRY, CODEC_NONE, CODEC_ZSTD, DEVICE, ELEMENTS, FILTER_DELTA, FILTER_NONE,
                          FILTER_SHUFFLE, GHOSTS, HEADER, MAGIC, MAP_ALL, MAP_LIST, MAP_RANGE, MOST_PARAMETERS, MOST_PARTS,
                          MOST_PROVENANCE, MOST_ROW_SHARE, NO_PART, ORIGINAL_ROWS, PARAMETER, PART, REQUIRED,
                          ROLE_A, ROLE_TRANSPOSE, SECTION, SHARE, SIGNATURE, U8, U32, VALUE_ELEMENT,
                          SpmvcError, align, require, supported, unpack, unpack_name, within)
from spmvc_layouts import LAYOUTS, rises


# ---- header and tables


def read_header(data):
    if not MAGIC.startswith(data[:8]):
        raise SpmvcError(3, "magic", "this is not an .spmvc file")
    require(len(data) >= 4096, "length", f"{len(data)} bytes are less than a header")
    major, minor = struct.unpack_from("<HH", data, 8)
    supported((major, minor) == (0, 3), "version", f"version {major}.{minor}; this reader knows 0.3")
    checksum, = struct.unpack_from("<Q", data, 4088)
    require(xxhash.xxh3_64_intdigest(data[:4088]) == checksum, "header checksum", "the header is damaged")
    file_length, = struct.unpack_from("<Q", data, 64)
    require(file_length == len(data), "file length", f"{len(data)} bytes; the header says {file_length}")

    stage = "header field"
    h = unpack(HEADER, data[:4096], stage, "header")
    require(h.header_bytes == 4096, stage, f"header bytes are {h.header_bytes}")
    supported(h.required == 0, stage, f"unknown required features {h.required:#x}")
    supported(h.rows < 2**32 - 1 and h.columns < 2**32 - 1, stage, f"{h.rows} x {h.columns} is too large")
    for what, value, known, reserved in (("value type", h.value_type, (1, 2, 3, 4), (5, 6, 7)),
                                         ("field", h.field, (1, 2, 3, 4), ()),
                                         ("symmetry", h.symmetry, (1, 2, 3, 4), ()),
                                         ("digest algorithm", h.digest_algorithm, (1,), range(2, 256))):
        supported(value not in reserved, stage, f"{what} {value} is reserved")
        require(value in known, stage, f"{what} {value} is not defined")
    is_complex = h.value_type in (3, 4)
    require((h.field == 4) == is_complex, stage, f"field {h.field} of values of type {h.value_type}")
    require(h.symmetry != 4 or is_complex, stage, "a Hermitian matrix of real values")
    check_share(h)
    # What the writer has found about a matrix whose source says that it is general.
    found = [kind for bit, kind in ((2, 2), (4, 3), (8, 4)) if h.optional & bit and (kind != 4 or is_complex)]
    require(not found or (len(found) == 1 and h.symmetry == 1), stage, f"several symmetries: {h.symmetry}, {found}")
    require(not found or h.rows == h.columns, stage, f"{h.rows} x {h.columns} of a matrix that is its own mirror image")
    h.mirror = found[0] if found else h.symmetry
    require(h.symmetry == 1 or h.rows == h.columns, stage, f"symmetry {h.symmetry} of {h.rows} x {h.columns}")
    within(h.parts <= MOST_PARTS, stage, f"{h.parts} parts")
    require(h.tables_bytes == 96 * h.parts + 24 * h.parameters + 96 * h.sections + 16 * h.blocks, stage, "tables bytes "
            f"are not those of {h.parts} parts, {h.parameters} parameters, {h.sections} sections and {h.blocks} blocks")
    require(h.tables_offset >= 4096 and h.tables_offset % 256 == 0, stage, f"tables offset {h.tables_offset}")
    require(h.tables_offset + h.tables_bytes == h.file_length, stage, "the tables do not end where the file ends")
    return h


def check_share(h):
    stage = "header field"
    if h.global_rows == 0:
        require(not any(getattr(h, name) for name in SHARE) and not any(h.global_digest), stage, "fields of no share")
        return
    supported(h.global_rows < 2**32 - 1 and h.global_columns < 2**32 - 1, stage, "the whole is too large")
    row_end, column_end = h.first_row + h.rows, h.first_column + h.own_columns
    require(h.rank < h.ranks, stage, f"rank {h.rank} of {h.ranks}")
    require(row_end <= h.global_rows and column_end <= h.global_columns, stage, "the share lies outside of the whole")
    require(h.own_columns <= h.columns <= h.global_columns, stage, f"{h.own_columns} own columns of {h.columns}")
    require(h.nonzeros <= h.global_nonzeros, stage, f"{h.nonzeros} of {h.global_nonzeros} nonzeros")
    require(h.rank != 0 or h.first_row == h.first_column == 0, stage, "rank 0 does not begin at 0")
    require(h.rank != h.ranks - 1 or (row_end, column_end) == (h.global_rows, h.global_columns), stage,
            "the last rank does not end where the whole does")


def read_tables(data, h):
    tables = data[h.tables_offset:]
    require(xxhash.xxh3_64_intdigest(tables) == h.tables_checksum, "tables checksum", "the tables are damaged")
    records, position = [], 0
    for what, layout, size, count in (("part", PART, 96, h.parts), ("parameter", PARAMETER, 24, h.parameters),
                                      ("section", SECTION, 96, h.sections), ("block", BLOCK_ENTRY, 16, h.blocks)):
        records.append([
            unpack(layout, tables[position + i * size:position + (i + 1) * size], "tables", f"{what} {i}")
            for i in range(count)
        ])
        position += count * size
    parts, parameters, sections, blocks = records
    check_sections(h, parts, sections, blocks)
    check_parts(h, parts, parameters, sections)
    return parts, sections, blocks


def check_sections(h, parts, sections, blocks):
    """The directory by itself: every field, block and offset; which part each section belongs to."""
    stage = "tables"
    owner = []
    for i, part in enumerate(parts):
        require(part.first_section == len(owner), stage, f"part {i} starts at section {part.first_section}")
        owner += [i] * part.sections if part.sections <= len(sections) else []
        require(part.first_section + part.sections == len(owner) <= len(sections), stage, f"part {i}: its sections")
    owner += [NO_PART] * (len(sections) - len(owner))

    end, next_block, names = 4096, 0, set()
    for i, s in enumerate(sections):
        what = f"section {i}"
        s.name = unpack_name(s.name, what)
        require(s.part == owner[i], stage, f"{what} claims part {s.part}")
        require((s.part, s.name) not in names, stage, f"{what}: '{s.name}' appears twice")
        names.add((s.part, s.name))
        require(s.element in ELEMENTS, stage, f"{what}: element type {s.element}")
        supported(s.codec in (CODEC_NONE, CODEC_ZSTD), stage, f"{what}: codec {s.codec}")
        supported(s.filter in (FILTER_NONE, FILTER_SHUFFLE, FILTER_DELTA), stage, f"{what}: filter {s.filter}")
        require(s.flags & ~(REQUIRED | DEVICE) == 0, stage, f"{what}: reserved flags {s.flags:#x}")
        require(s.alignment in (1, 2, 4, 8, 16, 32, 64, 128, 256), stage, f"{what}: alignment {s.alignment}")
        require(s.filter_width in ((0,) if s.filter == FILTER_NONE else (1, 2, 4, 8, 16)), stage,
                f"{what}: filter width {s.filter_width}")
        require(s.codec != CODEC_NONE or s.filter == FILTER_NONE, stage, f"{what}: a filter without a codec")
        s.dtype = np.dtype(ELEMENTS[s.element])
        require(s.raw_bytes == s.count * s.dtype.itemsize, stage, f"{what}: raw bytes {s.raw_bytes}")
        require(s.filter == FILTER_NONE or s.raw_bytes % s.filter_width == 0, stage,
                f"{what}: the filter width does not divide its last block")
        require(s.blocks == -(-s.raw_bytes // BLOCK), stage, f"{what}: {s.blocks} blocks")
        require(s.first_block == next_block and next_block + s.blocks <= len(blocks), stage, f"{what}: first block")
        s.block_entries = blocks[next_block:next_block + s.blocks]
        next_block += s.blocks
        require(s.stored_bytes == sum(b.stored_bytes for b in s.block_entries), stage, f"{what}: stored bytes")
        for k, b in enumerate(s.block_entries):
            b.raw_bytes = min(BLOCK, s.raw_bytes - k * BLOCK)
            bound = b.raw_bytes + b.raw_bytes // 256 + max(0, 131072 - b.raw_bytes) // 2048
            require(b.stored_bytes == b.raw_bytes if s.codec == CODEC_NONE else b.stored_bytes <= bound, stage,
                    f"{what}: stored bytes of block {k}")
        require(s.offset == align(end), stage, f"{what}: offset {s.offset}")
        end = s.offset + s.stored_bytes
        if s.part == NO_PART:
            supported(s.name != SIGNATURE, stage, "a signature, which this reader does not know")
            supported(s.name in ("provenance", GHOSTS, ORIGINAL_ROWS) or not s.flags & REQUIRED, stage, f"unknown required section '{s.name}'")
            if s.name in (GHOSTS, ORIGINAL_ROWS):
                require(h.global_rows != 0, stage, f"'{s.name}' of a whole matrix")
                require(s.element == U32 and s.flags == 0, stage, f"'{s.name}' is u32 and not for the device")
                require(s.count == (h.columns - h.own_columns if s.name == GHOSTS else h.rows), stage,
                        f"{s.count} elements of '{s.name}'")
            if s.name == "provenance":
                require(s.element == U8 and s.flags == 0, stage, "provenance is optional, u8 and not for the device")
                within(s.raw_bytes <= MOST_PROVENANCE, stage, f"a provenance of {s.raw_bytes} bytes")
    require(h.global_rows == 0 or (NO_PART, GHOSTS) in names, stage, "a share without ghosts")
    require(next_block == len(blocks), stage, "blocks that no section uses")
    require(h.tables_offset == align(end), stage, f"tables offset {h.tables_offset}")


def read_parameters(p, what, stored):
    """The part's parameters by name; those that are not stored are 0."""
    stage, known, next_place = "tables", LAYOUTS[p.layout].parameters, 0
    p.parameters = dict.fromkeys(known, 0)
    for parameter in stored:
        name = unpack_name(parameter.name, f"{what}: a parameter")
        supported(name in known, stage, f"{what}: unknown parameter '{name}'")
        require(known.index(name) >= next_place, stage, f"{what}: '{name}' comes twice, or too late")
        require(parameter.value != 0, stage, f"{what}: '{name}' is stored, and 0")
        p.parameters[name], next_place = parameter.value, known.index(name) + 1


def check_parts(h, parts, parameters, sections):
    stage, next_parameter = "tables", 0
    for i, p in enumerate(parts):
        what = f"part {i}"
        p.layout = unpack_name(p.layout, what)
        supported(p.layout in LAYOUTS, stage, f"{what}: unknown layout '{p.layout}'")
        first, count = p.first_parameter, p.parameters
        require(first == next_parameter and first + count <= len(parameters), stage, f"{what}: its parameters")
        within(count <= MOST_PARAMETERS, stage, f"{what}: {count} parameters")
        next_parameter += count
        read_parameters(p, what, parameters[first:next_parameter])
        require(p.value_type == h.value_type, stage, f"{what}: value type {p.value_type}")
        supported(p.value_type < 3 or p.layout in ("csr", "coo"), stage, f"{what}: complex values in {p.layout}")
        supported(p.role != 3, stage, f"{what}: role {p.role} is reserved")
        require(p.role in (ROLE_A, ROLE_TRANSPOSE), stage, f"{what}: role {p.role} is not defined")
        require(p.role == ROLE_A or h.mirror == 1, stage, f"{what}: the transpose of a symmetric matrix")
        require(i == 0 or parts[i - 1].role <= p.role, stage, f"{what} is of A, the part before it of its transpose")
        p.matrix_rows, p.matrix_columns = (h.rows, h.columns) if p.role == ROLE_A else (h.columns, h.rows)
        for kind, begin, count, size in ((p.row_map, p.row_begin, p.row_count, p.matrix_rows),
                                         (p.column_map, p.column_begin, p.column_count, p.matrix_columns)):
            require(kind in (MAP_ALL, MAP_RANGE, MAP_LIST), stage, f"{what}: map {kind} is not defined")
            require(kind == MAP_RANGE or begin == 0, stage, f"{what}: begin {begin}")
            require(kind != MAP_ALL or count == size, stage, f"{what}: {count} is not all of {size}")
            require(begin + count <= size, stage, f"{what}: {begin} + {count} is more than {size}")
        check_part_sections(p, what, sections[p.first_section:p.first_section + p.sections])
    require(next_parameter == len(parameters), stage, "parameters of no part")
    for role in roles(parts):
        own = [p for p in parts if p.role == role]
        require(len(own) < 2 or all(p.nonzeros for p in own), stage, f"a part of role {role} has no entries")
        require(sum(p.nonzeros for p in own) == h.nonzeros, stage,
                f"the nonzeros of the parts of role {role} do not add up")
        rows = h.rows if role == ROLE_A else h.columns
        within(sum(p.row_count for p in own) <= MOST_ROW_SHARE * (rows + h.nonzeros), stage,
               f"the parts of role {role} have too many rows")


def roles(parts):
    """A's own always, even without a part; its transpose's if there is one."""
    return sorted({ROLE_A} | {p.role for p in parts})


def check_part_sections(p, what, sections):
    """The sections that the part's layout and maps call for, each with its element type, count and flags."""
    stage = "tables"
    p.counts = dict.fromkeys(LAYOUTS[p.layout].names, 0) | {s.name: s.count for s in sections}
    layout_sections = LAYOUTS[p.layout].expect(p, what)
    wanted = {name: (element, count, flags[0] if flags else REQUIRED | DEVICE, alignment)
              for name, element, count, alignment, *flags in layout_sections}
    if p.row_map == MAP_LIST:
        wanted["row_map"] = (U32, p.row_count, REQUIRED | DEVICE, None)
    if p.column_map == MAP_LIST:
        wanted["col_map"] = (U32, p.column_count, REQUIRED | DEVICE, None)

    by_name = {s.name: s for s in sections}
    for s in sections:
        supported(s.name in wanted or not s.flags & REQUIRED, stage, f"{what}: unknown required section '{s.name}'")
    for name, (element, count, flags, alignment) in wanted.items():
        if name not in by_name:
            require(not flags & REQUIRED, stage, f"{what}: no section '{name}'")
            continue
        s = by_name[name]
        require(s.element == element, stage, f"{what}: element type of '{name}'")
        require(s.count in count if isinstance(count, range) else s.count == count, stage,
                f"{what}: '{name}' has {s.count} elements")
        require(s.flags == flags, stage, f"{what}: flags of '{name}'")
        require(alignment in (None, s.alignment), stage, f"{what}: alignment of '{name}'")
    order = [s.name for s in sections if s.name in LAYOUTS[p.layout].names]
    require(order == [name for name, *_ in layout_sections if name in by_name], stage,
            f"{what}: sections out of order")
    p.known_sections = [by_name[name] for name in wanted if name in by_name]


# ---- blocks


def check_padding(data, h, sections):
    ends = [4096] + [s.offset + s.stored_bytes for s in sections]
    starts = [s.offset for s in sections] + [h.tables_offset]
    for end, start in zip(ends, starts):
        require(not any(data[end:start]), "padding", f"bytes {end} to {start - 1} are not all zero")


def stored_blocks(data, section):
    position = section.offset
    for b in section.block_entries:
        yield b, data[position:position + b.stored_bytes]
        position += b.stored_bytes


def inflate(frame, raw_bytes, what):
    """Exactly one zstd frame without a dictionary; never inflates more than raw_bytes."""
    require(frame[:4] == b"\x28\xb5\x2f\xfd", "decode", f"{what} is not a zstd frame")
    try:
        parameters = zstandard.get_frame_parameters(frame)
        require(parameters.dict_id == 0, "decode", f"{what} needs a dictionary")
        require(parameters.content_size in (raw_bytes, zstandard.CONTENTSIZE_UNKNOWN), "decode",
                f"{what} inflates to {parameters.content_size} bytes, not {raw_bytes}")
        raw = zstandard.ZstdDecompressor().decompress(frame, max_output_size=raw_bytes, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise SpmvcError(4, "decode", f"{what}: {error}") from error
    require(len(raw) == raw_bytes, "decode", f"{what} inflates to {len(raw)} bytes, not {raw_bytes}")
    return raw


def unfilter(raw, kind, width):
    if kind == FILTER_NONE:
        return raw
    planes = np.frombuffer(raw, np.uint8).reshape(width, -1)
    raw = planes.T.tobytes()
    if kind == FILTER_DELTA:
        raw = np.cumsum(np.frombuffer(raw, f"<u{width}"), dtype=f"<u{width}").tobytes()
    return raw


def decode_section(data, section):
    pieces = []
    for k, (b, stored) in enumerate(stored_blocks(data, section)):
        if section.codec == CODEC_ZSTD:
            stored = inflate(stored, b.raw_bytes, f"block {k} of section '{section.name}'")
        pieces.append(unfilter(stored, section.filter, section.filter_width))
    return np.frombuffer(b"".join(pieces), section.dtype)


def unpack_part(p, arrays, what):
    """The part's entries as rows, columns and values of the matrix."""
    p.row_list, p.column_list = arrays.get("row_map"), arrays.get("col_map")
    rows, columns, values = LAYOUTS[p.layout].unpack(p, what, *(arrays.get(n) for n in LAYOUTS[p.layout].names))
    rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    require(len(rows) == p.nonzeros, "structure", f"{what}: {len(rows)} entries, not {p.nonzeros}")
    require(np.all(rows < p.row_count), "structure", f"{what}: a row is out of range")
    require(np.all(columns < p.column_count), "structure", f"{what}: a column is out of range")
    require(rises(rows, columns), "structure", f"{what}: entries are not sorted, or one appears twice")
    return (to_global(rows, p.row_map, p.row_begin, p.row_list, p.matrix_rows, f"{what}: row_map"),
            to_global(columns, p.column_map, p.column_begin, p.column_list, p.matrix_columns, f"{what}: col_map"),
            values)


def to_global(local, kind, begin, listed, size, what):
    if kind != MAP_LIST:
        return begin + local
    listed = listed.astype(np.int64)
    require(len(np.unique(listed)) == len(listed), "structure", f"{what} has an index twice")
    require(np.all(listed < size), "structure", f"{what} is out of range")
    return listed[local]


# ---- the matrix


@dataclasses.dataclass
class Matrix:
    """Entries sorted by row, then column."""
    shape: tuple
    value_type: int
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def row_pointers(self, begin, end):
        """Row pointers begin to end - 1, so that the digest of a matrix of many empty rows needs no memory."""
        return np.searchsorted(self.rows, np.arange(begin, end)).astype("<u8")

    def digest(self):
        sizes = struct.pack("<4Q", *self.shape, len(self.values), self.value_type)
        hashes = hash_pieces(sizes)
        step = BLOCK // 8
        for begin in range(0, self.shape[0] + 1, step):
            hashes += hash_pieces(self.row_pointers(begin, min(begin + step, self.shape[0] + 1)).tobytes())
        hashes += hash_pieces(self.columns.astype("<u4").tobytes())
        hashes += hash_pieces(self.values.tobytes())
        return hash_128(hashes)


def hash_128(data):
    return xxhash.xxh3_128_intdigest(data).to_bytes(16, "little")


def hash_pieces(stream):
    return b"".join(hash_128(stream[i:i + BLOCK]) for i in range(0, len(stream), BLOCK))


def check_fit(h, matrix):
    """The matrix is what field and symmetry say of it."""
    stage, values = "field and symmetry", matrix.values
    if h.field == 3:
        require(np.all(values == 1), stage, "a pattern with a value that is not 1")
    if h.field == 2:
        require(np.all(np.isfinite(values) & (np.trunc(values) == values)), stage, "a value that is not an integer")
    if h.mirror == 1:
        return
    parts = 2 if h.field == 4 else 1
    part = values.itemsize // parts
    bits = values.view(f"<u{part}").reshape(len(values), parts)  # a row for each value
    sign = bits.dtype.type(1 << (8 * part - 1))
    flip = np.array({2: [0], 3: [sign], 4: [0, sign]}[h.mirror], bits.dtype)
    order = np.lexsort((matrix.rows, matrix.columns))  # the transpose, sorted
    require(np.array_equal(matrix.columns[order], matrix.rows) and np.array_equal(matrix.rows[order], matrix.columns),
            stage, "the pattern is not its own mirror image")
    diagonal = matrix.rows == matrix.columns
    require(np.all((bits[order] ^ flip == bits)[~diagonal]), stage, "the matrix is not its own mirror image")
    require(h.mirror != 3 or not np.any(diagonal), stage, "an entry on the diagonal of a skew-symmetric matrix")
    require(h.mirror != 4 or np.all(values.imag[diagonal] == 0), stage, "a Hermitian matrix's diagonal is not real")


def read(data):
    """Checks everything; returns header, parts, sections and the Matrix. Raises SpmvcError."""
    h = read_header(data)
    parts, sections, _ = read_tables(data, h)
    check_padding(data, h, sections)
    for s in sections:
        for k, (b, stored) in enumerate(stored_blocks(data, s)):
            require(xxhash.xxh3_64_intdigest(stored) == b.checksum, "block checksum",
                    f"block {k} of section '{s.name}' is damaged")
    # Everything is decoded before any structure is judged.
    decoded = [{s.name: decode_section(data, s) for s in p.known_sections} for p in parts]
    for s in sections:
        if s.part == NO_PART and s.name in (GHOSTS, ORIGINAL_ROWS):
            check_list(h, s.name, decode_section(data, s).astype(np.int64))
        if s.part == NO_PART and s.name == "provenance":
            s.lines = provenance_lines(decode_section(data, s).tobytes())
    entries = [unpack_part(p, arrays, f"part {i}") for i, (p, arrays) in enumerate(zip(parts, decoded))]
    matrices = [assemble(h, [e for p, e in zip(parts, entries) if p.role == role], role) for role in roles(parts)]
    for matrix in matrices:
        require(matrix.digest() == h.digest, "digest", "the matrix is not the one that the header names")
    check_fit(h, matrices[0])
    return h, parts, sections, matrices[0]


def check_list(h, name, listed):
    size = h.global_columns if name == GHOSTS else h.global_rows
    require(np.all(np.diff(listed) > 0) and np.all(listed < size), "structure", f"'{name}' does not rise below {size}")
    require(name != GHOSTS or not np.any((listed >= h.first_column) & (listed < h.first_column + h.own_columns)),
            "structure", "a ghost that is the rank's own")


def assemble(h, entries, role):
    """The matrix from the entries of its parts, or from those of its transpose."""
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, ELEMENTS[VALUE_ELEMENT[h.value_type]]))
    rows, columns, values = (np.concatenate(column) for column in zip(nothing, *entries))
    if role == ROLE_TRANSPOSE:
        rows, columns = columns, rows
    order = np.lexsort((columns, rows))
    matrix = Matrix((h.rows, h.columns), h.value_type, rows[order], columns[order], values[order])
    require(rises(matrix.rows, matrix.columns), "structure", f"two parts of role {role} hold the same entry")
    return matrix


def read_file(path):
    with open(path, "rb") as file:
        return read(file.read())


def provenance_lines(text):
    try:
        lines = text.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise SpmvcError(4, "structure", f"provenance: {error}") from error
    require(lines[-1] == "", "structure", "provenance: the last line does not end")
    require(all("=" in line for line in lines[:-1]), "structure", "provenance: a line that is not key=value")
    keys = [line.split("=", 1)[0] for line in lines[:-1]]
    once = [key for key in keys if key != "comment"]
    require(len(once) == len(set(once)), "structure", "provenance: a key appears twice")
    for line in lines[:-1]:
        key, value = line.split("=", 1)
        valid = {"max_relative_error": is_error, "measured": is_measured}.get(key, is_count if key in COUNTS else lambda _: True)
        require(valid(value), "structure", f"provenance: {key} is not a number")
    return lines[:-1]


COUNTS = ("entries", "duplicates", "explicit_zeros", "rounded", "comments_left_out")


def is_count(text):
    return re.fullmatch("[0-9]+", text) is not None and int(text) < 2**64


def is_error(text):
    if not re.fullmatch(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", text):
        return False
    underflows = float(text) == 0 and re.search("[1-9]", re.split("[eE]", text)[0])
    return math.isfinite(float(text)) and not underflows


def is_measured(text):
    fields = [[word for word in field.split(" ") if word] for field in text.split(",")]
    return len(fields) <= 8 and all(not words or (len(words) == 3 and is_error(words[1]) and is_error(words[2]))
                                    for words in fields)


def summary(h, parts, sections):
    field = ("real", "integer", "pattern", "complex")[h.field - 1]
    symmetry = ("general", "symmetric", "skew-symmetric", "hermitian")[h.symmetry - 1]
    found = "" if h.mirror == h.symmetry else f", A^T is {('A', '-A', 'the conjugate of A')[h.mirror - 2]}"
    yield f"{h.rows} x {h.columns}, {h.nonzeros} nonzeros, {('f64', 'f32', 'c64', 'c128')[h.value_type - 1]}, {field} {symmetry}{found}"
    yield f"{h.file_length} bytes, {sum(s.raw_bytes for s in sections if s.flags & DEVICE)} on the device"
    yield f"digest {h.digest.hex()}"
    if h.global_rows != 0:
        yield (f"share of rank {h.rank} of {h.ranks}, {h.global_rows} x {h.global_columns}, {h.global_nonzeros} nonzeros, "
               f"from row {h.first_row}, column {h.first_column}: {h.own_columns} columns of its own")
    for i, p in enumerate(parts):
        yield f"part {i}: {'' if p.role == ROLE_A else 'transpose, '}{p.layout} {p.row_count} x {p.column_count}, {p.nonzeros} nonzeros, parameters {p.parameters}"
    for s in sections:
        yield (f"section {s.name}: {s.count} x {s.dtype.name}, {('none', 'zstd')[s.codec]}, "
               f"{('plain', 'shuffle', 'delta')[s.filter]} {s.filter_width}, {s.raw_bytes} -> {s.stored_bytes} bytes")
        if hasattr(s, "lines"):
            yield from ("  " + ascii(line)[1:-1] for line in s.lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--csr", metavar="OUT.npz")
    arguments = parser.parse_args()
    try:
        h, parts, sections, matrix = read_file(arguments.file)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    except SpmvcError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print("\n".join(summary(h, parts, sections)))
    if arguments.csr:
        np.savez(arguments.csr, rows=h.rows, cols=h.columns, row_ptr=matrix.row_pointers(0, h.rows + 1),
                 col_idx=matrix.columns.astype("<u4"), values=matrix.values)
    return 0


if __name__ == "__main__":
    sys.exit(main())
