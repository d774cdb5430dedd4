"""A naive writer of .spmvc files, written from docs/FORMAT.md, for hand-made containers.

An Image holds every field of the header and the tables as numbers that a test may bend before pack(), which only adds
the checksums of header and tables. So a file can break one rule and keep all the others.
"""

import itertools
import struct

import numpy as np
import xxhash
import zstandard

BLOCK = 1024 * 1024
ELEMENT = {"u8": 1, "u16": 2, "u32": 3, "u64": 4, "f32": 5, "f64": 6, "c64": 7, "c128": 8}
DTYPE = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16"}
ELEMENT_BYTES = {name: np.dtype(code).itemsize for name, code in DTYPE.items()}
VALUE_TYPE = {"f64": 1, "f32": 2, "c64": 3, "c128": 4}
NO_PART = 0xFFFFFFFF
ALL, RANGE, LIST = 0, 1, 2


class Section:
    """Name, element type and raw bytes of a section, and how to store it."""

    def __init__(self, name, element, array, flags=3, alignment=16):
        self.name, self.element, self.flags, self.alignment = name, element, flags, alignment
        self.raw = array if isinstance(array, bytes) else np.asarray(array, DTYPE[element]).tobytes()
        self.codec, self.filter, self.filter_width, self.compress = 0, 0, 0, None

    def zstd(self, filter_, width, compress):
        """`compress` turns the filtered bytes of one block into a zstd frame."""
        self.codec, self.filter, self.filter_width, self.compress = 1, filter_, width, compress
        return self

    def stored_blocks(self):
        blocks = [self.raw[i:i + BLOCK] for i in range(0, len(self.raw), BLOCK)]
        if self.codec == 0:
            return blocks
        return [self.compress(apply_filter(block, self.filter, self.filter_width)) for block in blocks]


def apply_filter(raw, filter_, width):
    if filter_ == 0:
        return raw
    elements = [int.from_bytes(raw[i:i + width], "little") for i in range(0, len(raw), width)]
    if filter_ == 2:
        elements = elements[:1] + [(b - a) % (1 << 8 * width) for a, b in zip(elements, elements[1:])]
    stored = [e.to_bytes(width, "little") for e in elements]
    return b"".join(bytes(e[byte] for e in stored) for byte in range(width))


# ---- zstd frames: by the library, and by hand so that they are the same bytes with every version of it

ZSTD_MAGIC = bytes.fromhex("28 B5 2F FD")
MOST = 128 * 1024  # bytes of a block


def library_frame(raw):
    return zstandard.ZstdCompressor(level=9).compress(raw)


def raw_frame(raw):
    """One raw block, a single segment with a 4-byte content size."""
    return ZSTD_MAGIC + bytes([0xA0]) + struct.pack("<I", len(raw)) + block(raw, 0, True)


def raw_frame_of_unknown_size(raw):
    """No content size; a window descriptor (1 KiB, or 1 MiB) instead. Two raw blocks; a content checksum (XXH64)."""
    window = bytes([0x00 if len(raw) <= 1024 else 10 << 3])
    half = len(raw) // 2
    return (ZSTD_MAGIC + bytes([0x04]) + window + block(raw[:half], 0, False) + block(raw[half:], 0, True) +
            struct.pack("<I", xxhash.xxh64_intdigest(raw) & 0xFFFFFFFF))


def zeros_frame(raw):
    """A raw block, then RLE blocks of the zeros that `raw` ends with."""
    used = raw.rstrip(b"\0")
    zeros = len(raw) - len(used)
    runs = [min(MOST, zeros - i) for i in range(0, zeros, MOST)]
    assert len(used) <= MOST
    frame = ZSTD_MAGIC + bytes([0xA0]) + struct.pack("<I", len(raw)) + block(used, 0, not runs)
    return frame + b"".join(struct.pack("<I", n << 3 | 1 << 1 | (i + 1 == len(runs)))[:3] + b"\0"
                            for i, n in enumerate(runs))


def rle_frame(raw):
    """Runs of equal bytes as RLE blocks (RFC 8878, 3.1.1.2), others as raw blocks."""
    blocks, i = [], 0  # content, kind, bytes
    while i < len(raw):
        n = 1
        while i + n < len(raw) and raw[i + n] == raw[i] and n < MOST:
            n += 1
        if n >= 4:
            blocks.append((raw[i:i + 1], 1, n))
        elif blocks and blocks[-1][1] == 0:
            held = blocks.pop()[0] + raw[i:i + n]
            blocks.append((held, 0, len(held)))
        else:
            blocks.append((raw[i:i + n], 0, n))
        i += n
    assert all(n <= MOST for _, _, n in blocks)
    return ZSTD_MAGIC + bytes([0xA0]) + struct.pack("<I", len(raw)) + b"".join(
        struct.pack("<I", n << 3 | kind << 1 | (k + 1 == len(blocks)))[:3] + content
        for k, (content, kind, n) in enumerate(blocks))


def block(content, kind, last):
    return struct.pack("<I", len(content) << 3 | kind << 1 | last)[:3] + content


# ---- the matrix, and its parts


class Matrix:
    """Entries are (row, column, value), of any order."""

    def __init__(self, rows, columns, entries, value="f64", field=None, symmetry=1):
        field = field or (4 if value in ("c64", "c128") else 1)
        self.rows, self.columns, self.value, self.field, self.symmetry = rows, columns, value, field, symmetry
        self.entries = sorted(entries, key=lambda e: e[:2])

    def transposed(self):
        return Matrix(self.columns, self.rows, [(c, r, v) for r, c, v in self.entries], self.value, self.field)

    def value_bytes(self, values):
        return np.array(values, DTYPE[self.value]).tobytes()

    def digest(self):
        pointers, k = [], 0
        for r in range(self.rows + 1):
            while k < len(self.entries) and self.entries[k][0] < r:
                k += 1
            pointers.append(k)
        streams = [
            struct.pack("<4Q", self.rows, self.columns, len(self.entries), VALUE_TYPE[self.value]),
            struct.pack(f"<{len(pointers)}Q", *pointers),
            b"".join(struct.pack("<I", e[1]) for e in self.entries),
            self.value_bytes([e[2] for e in self.entries])
        ]
        hashes = [hash_128(s[i:i + BLOCK]) for s in streams for i in range(0, len(s), BLOCK)]
        return hash_128(b"".join(hashes))


def hash_128(data):
    n = xxhash.xxh3_128_intdigest(data)
    return struct.pack("<QQ", n & (2**64 - 1), n >> 64)


class Part:
    """A part with its sections; local rows and columns are those of the sections. `parameters`: {name: value}, in the
    order of the layout; those that are 0 are not stored."""

    def __init__(self, layout, value, rows, columns, nonzeros, sections, parameters={}):
        self.sections, self.parameters = sections, dict(parameters)
        self.fields = {
            "layout": layout.encode(), "value_type": VALUE_TYPE[value], "role": 1, "row_map": ALL, "column_map": ALL,
            "zero_20": bytes(4), "row_begin": 0, "row_count": rows, "column_begin": 0, "column_count": columns,
            "nonzeros": nonzeros, "first_section": 0, "sections": 0, "first_parameter": 0, "parameters": 0,
            "zero_80": bytes(16)
        }

    def row_range(self, begin):
        self.fields.update(row_map=RANGE, row_begin=begin)
        return self

    def column_range(self, begin):
        self.fields.update(column_map=RANGE, column_begin=begin)
        return self

    def row_list(self, rows):
        self.fields.update(row_map=LIST)
        self.sections.append(Section("row_map", "u32", rows))
        return self

    def column_list(self, columns):
        self.fields.update(column_map=LIST)
        self.sections.append(Section("col_map", "u32", columns))
        return self

    def transpose(self):
        """A part of the transpose."""
        self.fields.update(role=2)
        return self

    def section(self, name):
        return next(s for s in self.sections if s.name == name)


def csr(matrix, **override):
    """A csr part; `override` replaces the content of a section."""
    counts = [0] * (matrix.rows + 1)
    for r, _, _ in matrix.entries:
        counts[r + 1] += 1
    arrays = {"row_ptr": np.cumsum(counts), "col_idx": [e[1] for e in matrix.entries],
              "values": matrix.value_bytes([e[2] for e in matrix.entries])}
    return simple_part("csr", matrix, {**arrays, **override}, {"longest_row": max(counts)})


def coo(matrix, **override):
    arrays = {"row_idx": [e[0] for e in matrix.entries], "col_idx": [e[1] for e in matrix.entries],
              "values": matrix.value_bytes([e[2] for e in matrix.entries])}
    return simple_part("coo", matrix, {**arrays, **override})


NO_SLOT = (0xFFFFFFFF, 0.0)


def rows_of(matrix):
    """The entries of every row: (column, value)."""
    return [[(c, v) for r, c, v in matrix.entries if r == row] for row in range(matrix.rows)]


def side_by_side(rows):
    """Slot by slot, the rows side by side; a slot without an entry has the column 2^32 - 1 and the value 0."""
    return [row[i] if i < len(row) else NO_SLOT for i in range(max(map(len, rows), default=0)) for row in rows]


def slot_arrays(matrix, slots):
    return {"col_idx": [c for c, _ in slots], "values": matrix.value_bytes([v for _, v in slots])}


def ell(matrix, **override):
    rows = rows_of(matrix)
    return simple_part("ell", matrix, {**slot_arrays(matrix, side_by_side(rows)), **override})


def ellpack_r(matrix, **override):
    rows = rows_of(matrix)
    arrays = {"row_len": [len(row) for row in rows], **slot_arrays(matrix, side_by_side(rows))}
    return simple_part("ellpack_r", matrix, {**arrays, **override})


def sell(matrix, c, **override):
    rows = rows_of(matrix)
    slices = [side_by_side((rows[i:i + c] + [[]] * c)[:c]) for i in range(0, len(rows), c)]
    ends = np.cumsum([0] + [len(s) // c for s in slices])
    arrays = {"slice_ptr": ends, **slot_arrays(matrix, sum(slices, []))}
    return simple_part("sell", matrix, {**arrays, **override}, {"slice_rows": c})


def pjds(matrix, permuted=False, heights=None, block=32, **override):
    """Lists the rows, and in the permuted basis the columns alike. `heights` are lengths of the jagged columns, `block`
    the rows that are padded alike."""
    rows = rows_of(matrix)
    order = sorted(range(len(rows)), key=lambda r: -len(rows[r]))
    rows = [rows[r] for r in order]
    if permuted:
        rows = [[(order.index(c), v) for c, v in row] for row in rows]
    if heights is None:
        longer = [sum(len(row) > s for row in rows) for s in range(max(map(len, rows), default=0))]
        heights = [min(len(rows), -(-n // block) * block) for n in longer]
    rows += [[]] * (max(heights, default=0) - len(rows))
    slots = [row[s] if s < len(row) else NO_SLOT for s, height in enumerate(heights) for row in rows[:height]]
    arrays = {"col_start": np.cumsum([0] + list(heights)), **slot_arrays(matrix, slots)}
    part = simple_part("pjds", matrix, {**arrays, **override}, {"basis": int(permuted), "block_rows": 0 if block == 32 else block},
                       col_start="u64").row_list(order)
    return part.column_list(order) if permuted else part


def dia(matrix, **override):
    """Sorted diagonals, a value for every row on each. Without stored zeros there is no section of them."""
    offsets = sorted({c - r + matrix.rows - 1 for r, c, _ in matrix.entries})
    values, stored_zeros = [0.0] * (len(offsets) * matrix.rows), []
    for r, c, v in matrix.entries:
        place = offsets.index(c - r + matrix.rows - 1) * matrix.rows + r
        values[place] = v
        stored_zeros += [place] if is_stored_zero(matrix, v) else []
    arrays = {"offsets": offsets, "values": matrix.value_bytes(values), **zeros_section(stored_zeros)}
    return simple_part("dia", matrix, {**arrays, **override}, offsets="u64")


def is_stored_zero(matrix, value):
    return not any(matrix.value_bytes([value]))


def zeros_section(places):
    return {"stored_zeros": sorted(places)} if places else {}


def amb(matrix, segment_cols, block, chunk_rows, sigma, **override):
    """`sigma` consecutive rows of a segment are sorted by their number of blocks before they are cut into chunks."""
    segments = []  # of each: (row, its blocks)
    for begin in range(0, matrix.columns, segment_cols):
        width = min(segment_cols, matrix.columns - begin)
        inside = [[(c - begin, v) for c, v in row if begin <= c < begin + width] for row in rows_of(matrix)]
        lanes = [(r, amb_blocks(row, block, width)) for r, row in enumerate(inside) if row]
        segments.append(sum((sorted(lanes[i:i + sigma], key=lambda lane: -len(lane[1]))
                             for i in range(0, len(lanes), sigma)), []))
    chunks = [(segment, lanes[i:i + chunk_rows]) for segment, lanes in enumerate(segments)
              for i in range(0, len(lanes), chunk_rows)]
    return amb_part(matrix, segment_cols, block, chunk_rows, chunks, **override)


def amb_blocks(entries, block, width):
    """(first column, block values, None where there is no entry). A block that would leave the segment moves left."""
    blocks, last = [], -1
    for c, v in entries:
        if c > last:
            start = min(c, width - block)
            assert start >= 0
            blocks.append((start, [None] * block))
            last = start + block - 1
        blocks[-1][1][c - blocks[-1][0]] = v
    return blocks


def amb_part(matrix, segment_cols, block, chunk_rows, chunks, **override):
    """A chunk is (segment, [(row, blocks)])."""
    lanes_of = [r for _, lanes in chunks for r, _ in lanes]
    pieces = sorted((r, segment) for segment, lanes in chunks for r, _ in lanes if lanes_of.count(r) > 1)
    cl, cs, row_idx, col_idx, values, stored_zeros = [], [], [], [], [], []
    for segment, lanes in chunks:
        steps = max(len(blocks) for _, blocks in lanes)
        cl.append(steps - 1 | segment << 16)
        cs.append(len(col_idx) // chunk_rows)
        row_idx += [2**31 + pieces.index((r, segment)) if (r, segment) in pieces else r for r, _ in lanes]
        row_idx += [0xFFFFFFFF] * (chunk_rows - len(lanes))
        padded = [blocks + [(blocks[-1][0], [None] * block)] * (steps - len(blocks)) for _, blocks in lanes]
        padded += [[(0, [None] * block)] * steps] * (chunk_rows - len(lanes))
        for step in zip(*padded):
            col_idx += [column for column, _ in step]
            for element in zip(*(held for _, held in step)):
                stored_zeros += [len(values) + i for i, v in enumerate(element)
                                 if v is not None and is_stored_zero(matrix, v)]
                values += [0.0 if v is None else v for v in element]
    arrays = {"cl": cl, "cs": cs, "row_idx": row_idx, "col_idx": col_idx, "values": matrix.value_bytes(values),
              "shared_rows": [r for r, _ in pieces],
              "empty_rows": [r for r in range(matrix.rows) if r not in lanes_of],
              **zeros_section(stored_zeros if block > 1 else [])}
    return simple_part("amb", matrix, {**arrays, **override},
                       {"segment_cols": segment_cols, "block": block, "chunk_rows": chunk_rows}, col_idx="u16")


def pkt(matrix, packets, threads, **override):
    """A pkt part of the entries inside of `packets`, lists of rows: dealt to threads, the longest first, each to the one
    that has the fewest."""
    steps, local_idx, values = [0], [], []
    for packet in packets:
        inside = [[(packet.index(c), v) for c, v in rows_of(matrix)[r] if c in packet] for r in packet]
        dealt = [[] for _ in range(threads)]
        for row in sorted(range(len(packet)), key=lambda row: -len(inside[row])):
            min(dealt, key=lambda rows: sum(len(inside[r]) for r in rows)).append(row)
        dealt = [[(row << 16 | c, v) for row in sorted(rows) for c, v in inside[row]] for rows in dealt]
        height = max(map(len, dealt))
        for step in zip(*(entries + [(0xFFFFFFFF, 0.0)] * (height - len(entries)) for entries in dealt)):
            local_idx += [at for at, _ in step]
            values += [v for _, v in step]
        steps.append(steps[-1] + height)
    arrays = {"packet_ptr": np.cumsum([0] + [len(packet) for packet in packets]), "step_ptr": steps,
              "rows": sum(packets, []), "local_idx": local_idx, "values": matrix.value_bytes(values)}
    part = simple_part("pkt", matrix, {**arrays, **override},
                       {"packet_rows": max(map(len, packets), default=0), "threads": threads})
    part.fields["nonzeros"] = sum(at != 0xFFFFFFFF for at in local_idx)
    return part


CSELL_SOURCES = ("raw", "table", "step", "single", "mirror", "skew")
PATTERNS, OFFSETS_8, OFFSETS_16, OFFSETS_32 = ([[(kind, 0, 2**32)]] for kind in range(4))


def csell(matrix, source="raw", kinds=OFFSETS_8, block=1, **options):
    """`kinds` has for every slice, by turns, [(kind of columns, begin, end)]: how the entries of these columns (of
    blocks) are stored."""
    entries = {(r, c): v for r, c, v in matrix.entries}
    rows = [[] for _ in range(matrix.rows // block)]  # of each block: (column, its values)
    for row, column in sorted({(r // block, c // block) for r, c in entries}):
        rows[row].append((column, [entries[row * block + i, column * block + j]
                                   for i in range(block) for j in range(block)]))
    slices = []
    for s, first in enumerate(range(0, len(rows), 32)):
        slices.append([[], [], [], []])
        for kind, begin, end in kinds[s % len(kinds)]:
            inside = [[b for b in row if begin <= b[0] < end] for row in rows[first:first + 32]]
            slices[s][kind] += csell_offsets(inside) if kind else csell_pattern(matrix, inside, first, source == "step")
    return csell_part(matrix, source, block, slices, **options)


def csell_pattern(matrix, rows, first, by_value):
    """Steps (base, {lane: block}) of equal column - row, and of equal values if `by_value`."""
    steps = {}
    for lane, row in enumerate(rows):
        for column, values in row:
            key = column - first - lane, matrix.value_bytes(values) if by_value else b""
            steps.setdefault(key, {})[lane] = (column, values)
    return [(key[0] % 2**32, steps[key]) for key in sorted(steps)]


def csell_offsets(rows):
    """Step t has the t-th block of every lane."""
    steps = [{lane: row[t] for lane, row in enumerate(rows) if t < len(row)} for t in range(max(map(len, rows)))]
    return [(min(column for column, _ in lanes.values()), lanes) for lanes in steps]


def csell_part(matrix, source, block, slices, /, sums=1, tile_slices=0, widths=(0, ), **override):
    """A slice has steps (base, {lane: block}) of each kind of columns. With mirrors, `widths` has for every slice, by
    turns, the bytes of its references: 0 where it has patterns alone."""
    mirrors, held = source in ("mirror", "skew"), {}
    if mirrors:
        held = {(s * 32 + lane, column): values for s, kinds in enumerate(slices) for _, lanes in sum(kinds, [])
                for lane, (column, values) in lanes.items()}
    slots = [csell_slots(matrix, source, block, s, kinds, held) if mirrors else {} for s, kinds in enumerate(slices)]
    tables, pool = [], []  # of values, and what they are pieces of
    for t in range(0, len(slices) if tile_slices else 0, tile_slices or 1):
        held = [v for kinds in slices[t:t + tile_slices] for _, lanes in sum(kinds, []) for _, vs in lanes.values()
                for v in vs]
        tables.append(list(dict.fromkeys(matrix.value_bytes([v]) for v in held)))
    tiles = [n for table in tables for n in (place_in(pool, table), len(table))]
    headers, dictionary, stream, raw = [], [], b"", b""
    for s, kinds in enumerate(slices):
        groups = [[steps[i:i + 4] for i in range(0, len(steps), 4)] for steps in kinds]
        n = [len(of_kind) for of_kind in groups]
        many = max(n) > 255 or min(n) == 255
        pattern = [(csell_group(group), csell_step_values(matrix, group, block) if source == "step" else b"")
                   for group in groups[0]]
        width = widths[s % len(widths)]
        if mirrors:
            words = [[0 if width else csell_reference(slots, s, lanes) for _, lanes in group] for group in groups[0]]
            pattern = [(group, struct.pack("<4H", *of_group, *[0] * (4 - len(of_group))))
                       for (group, _), of_group in zip(pattern, words)]
        headers += [place_in(dictionary, pattern) + (width << 30), len(stream) // 32, len(raw) // 32,
                    2**32 - 1 if many else sum(count << 8 * kind for kind, count in enumerate(n))]
        stream += struct.pack("<4I16x", *n) if many else b""
        stream += b"".join(csell_group(group) for of_kind in groups[1:] for group in of_kind)
        for kind in (1, 2, 3):
            for group in groups[kind]:
                stream += csell_words(group, 1 << kind - 1, lambda base, held: (held[0] - base) % 2**32)
        if source == "table":
            table = tables[s // tile_slices]
            for group in sum(groups, []):
                for e in range(block**2):
                    stream += csell_words(group, 1 if len(table) <= 256 else 2,
                                          lambda _, held, e=e: table.index(matrix.value_bytes([held[1][e]])))
        for group in sum(groups, []) if width else []:
            named = [(0, {lane: csell_reference(slots, s, {lane: b}) for lane, b in lanes.items()})
                     for _, lanes in group]
            stream += csell_words(named, width, lambda _, reference: reference)
        if mirrors:
            count = max(slots[s].values(), default=-1) + 1
            of = {(slot, row % 32): held[row, column] for (row, column), slot in slots[s].items()}
            raw += b"".join(matrix.value_bytes([of[slot, lane][e] if (slot, lane) in of else 0.0])
                            for slot in range(count) for e in range(block**2) for lane in range(32))
        if source == "raw":
            # Of a step's blocks first all first elements, by lanes.
            raw += b"".join(matrix.value_bytes([lanes[lane][1][e] for lane in sorted(lanes)])
                            for _, lanes in sum(kinds, []) for e in range(block**2))
            raw += bytes(-len(raw) % 32)
    values = {"raw": raw, "table": b"".join(pool), "step": b"".join(values for _, values in dictionary),
              "single": matrix.value_bytes([e[2] for e in matrix.entries[:1]])}.get(source, raw)
    patterns = b"".join(group for group, _ in dictionary)
    arrays = {"slices": headers, "patterns": patterns, "stream": stream, "values": values, "tiles": tiles}
    if mirrors:
        arrays["references"] = b"".join(references for _, references in dictionary)
    part = simple_part("csell", matrix, {**arrays, **override}, {
        "source": CSELL_SOURCES.index(source), "block": block, "sums": sums, "tile_slices": tile_slices,
        "largest_tile": max(map(len, tables), default=0),
        "patterns_only": int(all(counts <= 255 for counts in override.get("slices", headers)[3::4]))}, references="u16")
    if mirrors:
        part.section("references").flags = 2
    for name in ("patterns", "stream", "values"):
        part.section(name).alignment = 32
    return part


def csell_slots(matrix, source, block, s, kinds, held):
    """The slots of a slice's entries by (row, column): of those that are no mirrors, one for each step that has any."""
    slots, count = {}, 0
    for _, lanes in sum(kinds, []):
        own = []
        for lane, (column, values) in lanes.items():
            row = s * 32 + lane
            other = held.get((column, row)) if column < row else None
            if other:
                other = [(-1 if source == "skew" else 1) * other[c * block + r]
                         for r in range(block) for c in range(block)]
            if not other or matrix.value_bytes(other) != matrix.value_bytes(values):
                own.append((row, column))
        slots.update({entry: count for entry in own})
        count += 1 if own else 0
    return slots


def csell_reference(slots, s, lanes):
    """That of all entries of a step of slice s."""
    found = {2 * slots[s][row, column] if (row, column) in slots[s] else 2 * slots[column // 32][column, row] + 1
             for row, column in ((s * 32 + lane, b[0]) for lane, b in lanes.items())}
    assert len(found) == 1
    return found.pop()


def place_in(pool, items):
    """Where these items are, in a row; adds them where they are not. 0 without items."""
    for place in range(len(pool) - len(items) + 1):
        if pool[place:place + len(items)] == items:
            return place
    pool += items
    return len(pool) - len(items)


def csell_group(steps):
    padded = steps + [(0, {})] * (4 - len(steps))
    return struct.pack("<8I", *(base for base, _ in padded), *(sum(1 << lane for lane in lanes) for _, lanes in padded))


def csell_step_values(matrix, steps, block):
    """The block of each step of a group, as its first lane has it."""
    held = [lanes[min(lanes)][1] for _, lanes in steps]
    return matrix.value_bytes(sum(held, []) + [0.0] * block**2 * (4 - len(steps)))


def csell_words(steps, width, word):
    """What each lane has for the four steps of a group: word(base, block), 0 where it has no entry."""
    padded = steps + [(0, {})] * (4 - len(steps))
    return b"".join((word(base, lanes[lane]) if lane in lanes else 0).to_bytes(width, "little")
                    for lane in range(32) for base, lanes in padded)


BITFLAG_SOURCES = ("raw", "table", "single", "window", "decimal")


def bitflag(matrix, source="raw", tile=1, size=256, hot=(), column_bytes=1, row_bytes=1, trailing=False,
            in_segments=1, window=0, decimals=(0, 0), table=(), hot_base=0, **override):
    """Chunks of `size` entries, or fewer before a row 4,096 after the first of their own. `column_bytes` and
    `row_bytes` are the least; with hot columns there are 4, unless `column_bytes` is 3, from `hot_base` on. `trailing`
    gives the last chunk the empty rows at the end. `window`: chunks of windows take turns between one at 0 and one so
    many steps of 4,096 further. `decimals`: the least exponent and bits of others. `table`: the first values."""
    width = -(-matrix.columns // in_segments)
    entries = sorted((c // width * matrix.rows + r if in_segments > 1 else r, c, v) for r, c, v in matrix.entries)
    table = [matrix.value_bytes([v]) for v in table]
    if source in ("table", "window"):
        table += [v for v in dict.fromkeys(matrix.value_bytes([v]) for _, _, v in entries) if v not in table]
    chunks, stream, tiles, continued = [], b"", [], 0
    for s in range(in_segments):
        tiles.append(len(chunks) // tile)
        next_row, end_row, k = s * matrix.rows, (s + 1) * matrix.rows, 0
        own = [e for e in entries if next_row <= e[0] < end_row]
        while k < len(own):
            row = own[k][0]
            continues = k != 0 and own[k - 1][0] == row
            if row - next_row >= 4096:
                chunks.append([next_row, 0, len(stream) // 32, 0])
                next_row += 4096
                continue
            taken = [e for e in own[k:k + size] if e[0] - next_row < 4096]
            k += len(taken)
            first = [r != before for r, before in zip((r for r, _, _ in taken),
                                                      [row if continues else -1] + [r for r, _, _ in taken])]
            rows = [e[0] for e, starts in zip(taken, first) if starts]
            origin = row if continues else next_row
            end = end_row if trailing and k == len(own) else rows[-1] + 1 if rows else next_row
            base = hot_base if hot else s * width if in_segments > 1 else min(c for _, c, _ in taken)
            most = max(c - base for _, c, _ in taken)
            word_bytes = max(column_bytes, 1 if most < 2**8 else 2 if most < 2**16 else 3 if most < 2**24 else 4)
            word_bytes = 4 if hot and column_bytes != 3 else word_bytes
            words = [2 ** (8 * word_bytes - 1) + hot.index(c) if c in hot else c - base for _, c, _ in taken]
            assert not hot or all(0 <= w < 2 ** (8 * word_bytes - 1) or c in hot for (_, c, _), w in zip(taken, words))
            offset_bytes = 0
            if rows and rows != list(range(next_row, end)):
                offset_bytes = max(row_bytes, 1 if rows[-1] - origin < 256 else 2)
            continued += continues and len(chunks) % tile == 0
            width_code = (1, 2, 4, 3).index(word_bytes)
            chunks.append([origin, base, len(stream) // 32, len(taken) | len(rows) << 9 | width_code << 18 |
                           offset_bytes << 20 | continues << 22])
            if source == "window":
                begin = len(chunks) % 2 * window
                chunks[-1][3] |= begin << 23
            elif source == "decimal":
                chunks[-1][3] |= decimals[0] << 23 | decimals[1] // 4 << 28
            stream += np.packbits(first + [False] * (256 - len(first)), bitorder="little").tobytes()
            for low, high in ((0, 2), (2, 3)) if word_bytes == 3 else ((0, word_bytes),):
                stream += bitflag_piece([word.to_bytes(word_bytes, "little")[low:high] for word in words])
            if source == "raw":
                stream += bitflag_piece([matrix.value_bytes([v]) for _, _, v in taken])
            elif source == "table":
                stream += bitflag_piece([bytes([table.index(matrix.value_bytes([v]))]) for _, _, v in taken])
            elif source == "window":
                again = {v: i for i, v in reversed(list(enumerate(table))) if i >= begin * 4096}
                stream += bitflag_piece([struct.pack("<H", again[matrix.value_bytes([v])] - begin * 4096)
                                         for _, _, v in taken])
            elif source == "decimal":
                stream += bitflag_decimals([v for _, _, v in taken], *decimals)
            stream += b"".join((r - origin).to_bytes(offset_bytes, "little") for r in rows if offset_bytes)
            stream += bytes(-len(stream) % 32)
            next_row = end
        while next_row < end_row:
            chunks.append([next_row, 0, len(stream) // 32, 0])
            next_row = min(end_row, next_row + 4096)
        while len(chunks) % tile:
            chunks.append([end_row, 0, len(stream) // 32, 0])
    headers = sum(chunks, []) + [in_segments * matrix.rows, 0, len(stream) // 32, 0]
    values = matrix.value_bytes([e[2] for e in entries[:1]]) if source == "single" else b"".join(table)
    arrays = {"chunks": headers, "stream": stream, "values": values, "hot": hot,
              "segments": tiles + [len(chunks) // tile] if in_segments > 1 else []}
    part = simple_part("bitflag", matrix, {**arrays, **override}, {
        "source": BITFLAG_SOURCES.index(source), "tile_chunks": tile, "continued": int(continued)})
    part.section("stream").alignment = 32
    return part


def bitflag_decimals(values, least, bits):
    """Integers and exponents: the least of each from `least` on, or that alone without bits for others."""
    found = []
    for v in values:
        exponents = range(least, min(22, least + 2**bits - 1) + 1)
        found.append(next((m, e) for e in exponents for m in [round(v * 10.0**e)]
                          if abs(m) < 2**31 and m / float(f"1e{e}") == v))
    more = [e - least for _, e in found] + [0] * (-len(found) % 32)
    held = bytes(more) if bits == 8 else bytes(a | b << 4 for a, b in zip(more[::2], more[1::2])) if bits == 4 else b""
    return bitflag_piece([struct.pack("<i", m) for m, _ in found]) + held + bytes(-len(held) % 32)


def bitflag_piece(elements):
    """What a lane has, 16 bytes of it together, then the next lane; zeros where there is no entry."""
    width = len(elements[0])
    lanes, together = -(-len(elements) // 32) * 4, min(8, 16 // width)
    slots = [bytes(width)] * (8 * lanes)
    for e, element in enumerate(elements):
        slots[(e % 8 // together * lanes + e // 8) * together + e % together] = element
    return b"".join(slots)


SJDS_SOURCES = ("raw", "code")


def sjds(matrix, source="raw", window_rows=8, long=4096, sort=True, listed=False, wide=False, base=None, steps=True,
         table=(), **override):
    """Rows with more than `long` entries are pieces. Without `sort`, only the rows of a slice are sorted by length.
    `listed`: lists where rows follow each other, too; `wide`: all columns have 32 bits; `base`: c, by default the least
    of a slice's columns; `steps`: whether those that fit are window steps, or which of them. `table`: the first
    values."""
    slices = SjdsSlices(matrix, source, table)
    options = {"wide": wide, "base": base, "steps": steps if callable(steps) else lambda _: steps}
    rows, windows = rows_of(matrix), []
    for begin in range(0, matrix.rows, window_rows):
        mine = range(begin, min(begin + window_rows, matrix.rows))
        held = [r for r in mine if 0 < len(rows[r]) <= long]
        windows.append(len(slices.elements) | (len(held) < len(mine)) << 31)
        held.sort(key=lambda r: -len(rows[r]) if sort else 0)
        for i in range(0, len(held), 8):
            numbers = sorted(held[i:i + 8], key=lambda r: -len(rows[r]))
            slices.add(begin, [rows[r] for r in numbers], numbers=numbers, listed=listed, **options)
    windows.append(len(slices.elements))
    for r, row in enumerate(rows):
        for i in range(0, len(row) if len(row) > long else 0, 4096):
            piece = row[i:i + 4096]
            slices.add(r, [piece[lane::8] for lane in range(8)], continues=i != 0, **options)
    return slices.part(window_rows, windows, **override)


class SjdsSlices:
    """The slices of an sjds part, one after the other."""

    def __init__(self, matrix, source, table=()):
        self.matrix, self.source = matrix, source
        self.elements, self.stream, self.values, self.codes = [], b"", b"", []
        if source == "code":
            self.table = [matrix.value_bytes([v]) for v in table]
            self.table += [v for v in dict.fromkeys(matrix.value_bytes([v]) for _, _, v in matrix.entries)
                           if v not in self.table]
            self.values = b"".join(self.table)

    def add(self, r, lanes, numbers=None, continues=False, listed=False, wide=False, base=None, steps=lambda _: True):
        """`lanes` are the (column, value) of each; `numbers` are their rows, in a window that begins at r, or None of a
        piece of row r."""
        matrix = self.matrix
        full = min(map(len, lanes)) if len(lanes) == 8 else 0
        taken = [[lane[k] for lane in lanes if k < len(lane)] for k in range(max(map(len, lanes)))]

        def fits(k):
            columns = [c for c, _ in taken[k]]
            return matrix.columns >= 16 and max(columns) < min(min(columns), matrix.columns - 16) + 16

        windows = [k for k in range(full) if fits(k) and steps(k)]
        taken = [taken[k] for k in windows] + [step for k, step in enumerate(taken) if k not in windows]
        w, tail, content = len(windows), taken[full:], b""
        if numbers is not None:
            listed = listed or numbers != list(range(numbers[0], numbers[0] + len(numbers)))
            if listed:
                content += struct.pack("<8H", *(n - r for n in numbers), *[0] * (8 - len(numbers)))
            r = r if listed else numbers[0]
        for step in taken[:w]:
            begin = min(min(c for c, _ in step), matrix.columns - 16)
            content += struct.pack("<2I", begin, sum(c - begin << 4 * lane for lane, (c, _) in enumerate(step)))
        content += bytes(len(step) for step in tail)
        content += bytes(-len(content) % 4)
        columns = [c for step in taken[w:] for c, _ in step]
        base = min(columns, default=0) if base is None or not columns else base
        wide = wide or max(columns, default=0) - base >= 65536
        base, width = (0, 4) if wide else (base, 2)
        content += b"".join((c - base).to_bytes(width, "little") for c in columns) + bytes(7 * width if tail else 0)
        content += bytes(-len(content) % 4)

        count = len(lanes) if numbers is not None else 1
        held = len(self.codes) if self.source == "code" else len(self.values) // len(matrix.value_bytes([0.0]))
        self.elements.append([len(self.stream) // 4, held, r, base,
                              w | full - w << 13 | count - 1 << 26 | wide << 29 | listed << 30 | continues << 31,
                              len(tail) | sum(map(len, tail)) << 13])
        self.stream += content
        if self.source == "code":
            self.codes += [sum(self.table.index(matrix.value_bytes([v])) << 4 * lane for lane, (_, v) in enumerate(step))
                           for step in taken]
        else:
            self.values += matrix.value_bytes([v for step in taken for _, v in step])

    def part(self, window_rows, windows, /, **override):
        arrays = {"windows": windows, "slices": sum(self.elements, []), "stream": self.stream, "values": self.values,
                  "codes": self.codes}
        return simple_part("sjds", self.matrix, {**arrays, **override}, {
            "source": SJDS_SOURCES.index(self.source), "window_rows": window_rows,
            "pieces": len(self.elements) - windows[-1]})


def simple_part(layout, matrix, arrays, parameters={}, **elements):
    elements = {"values": matrix.value, "stored_zeros": "u64", **elements}
    sections = [Section(name, elements.get(name, "u32"), a, flags=0 if name == "stored_zeros" else 3)
                for name, a in arrays.items()]
    return Part(layout, matrix.value, matrix.rows, matrix.columns, len(matrix.entries), sections, parameters)


def ccoo(matrix, b, k, lut=(), single=False, fills=(), **override):
    """A ccoo part. A chunk is closed when it has b lanes or a row would be more than 255 from its base. `single`: lut has
    the value of all entries. `fills`: how many slots lanes fill, by turns; all, if there are none."""
    fills = itertools.cycle(fills or (k,))
    lanes = []  # (row, [(column, value)] of length k, padded)
    for row in sorted({e[0] for e in matrix.entries}):
        entries = [(c, v) for r, c, v in matrix.entries if r == row]
        while entries:
            filled = next(fills)
            lane, entries = entries[:filled], entries[filled:]
            lanes.append((row, lane + [(lane[-1][0], None)] * (k - len(lane))))
    chunks = []
    for lane in lanes:
        if not chunks or len(chunks[-1]) == b or lane[0] - chunks[-1][0][0] > 255:
            chunks.append([])
        chunks[-1].append(lane)
    continues = [False] + [chunk[0][0] == before[-1][0] for before, chunk in zip(chunks, chunks[1:])]
    packed = [ccoo_chunk(matrix, chunk, min(b, 32), list(lut), c, single) for chunk, c in zip(chunks, continues)]
    return ccoo_part(matrix, b, k, packed, lut, single, **override)


def ccoo_chunk(matrix, lanes, group, lut, continues, single=False):
    """(encoding, row base, column base, blob)"""
    while len(lanes) % group:
        row, slots = lanes[-1]
        lanes = lanes + [(row, [(slots[-1][0], None)] * len(slots))]
    rows = [row for row, _ in lanes]
    slots = [slot for _, lane in lanes for slot in lane]
    row_base, col_base = rows[0], min(c for c, _ in slots)
    widest = max(c for c, _ in slots) - col_base
    code = 0 if widest < 256 else 1 if widest < 65536 else 2
    one_row = rows[0] == rows[-1]
    ids = single or all(v is None or v in lut for _, v in slots)
    blob = b"" if one_row else bytes(r - row_base for r in rows)
    blob += b"".join((c - col_base).to_bytes(1 << code, "little") for c, _ in slots)
    if single:
        assert len({matrix.value_bytes([v]) for v in lut} | {matrix.value_bytes([v]) for _, v in slots if v is not None}) == 1
    elif ids:
        blob += bytes(0 if v is None else lut.index(v) for _, v in slots)
    else:
        blob += matrix.value_bytes([0.0 if v is None else v for _, v in slots])
    encoding = one_row | code << 1 | ids << 3 | (len(lanes) // group - 1) << 4 | continues << 7
    return encoding, row_base, col_base, blob


def ccoo_part(matrix, b, k, chunks, lut, single=False, **override):
    offsets = [sum(len(c[3]) for c in chunks[:i]) for i in range(len(chunks))]
    arrays = {"encoding": [c[0] for c in chunks], "row_base": [c[1] for c in chunks],
              "col_base": [c[2] for c in chunks], "blob_offset": offsets, "blob": b"".join(c[3] for c in chunks),
              "lut": matrix.value_bytes(lut)}
    arrays.update(override)
    elements = {"encoding": "u8", "row_base": "u32", "col_base": "u32", "blob_offset": "u64", "blob": "u8",
                "lut": matrix.value}
    sections = [Section(name, elements[name], a, alignment=256 if name == "blob" else 16) for name, a in arrays.items()]
    return Part("ccoo", matrix.value, matrix.rows, matrix.columns, len(matrix.entries), sections,
                {"lanes": b, "slots": k, "single": int(single)})


# ---- the file


class Image:
    """header, parts, parameters, sections, blocks: dicts of fields in file order; payload: the bytes from 4,096 to the
    tables."""

    def __init__(self, matrix, parts, loose=()):
        owned = [(i, s) for i, part in enumerate(parts) for s in part.sections] + [(NO_PART, s) for s in loose]
        self.parts, self.parameters, self.sections, self.blocks, self.payload = [], [], [], [], bytearray()
        first = 0
        for part in parts:
            stored = [{"name": name.encode(), "value": value} for name, value in part.parameters.items() if value != 0]
            self.parts.append({**part.fields, "first_section": first, "sections": len(part.sections),
                               "first_parameter": len(self.parameters), "parameters": len(stored)})
            self.parameters += stored
            first += len(part.sections)
        for i, s in owned:
            self.payload += bytes(-len(self.payload) % 256)
            stored = s.stored_blocks()
            self.sections.append({
                "name": s.name.encode(), "part": i, "element": ELEMENT[s.element], "codec": s.codec,
                "filter": s.filter, "flags": s.flags, "alignment": s.alignment, "filter_width": s.filter_width,
                "zero_29": bytes(3), "count": len(s.raw) // np.dtype(DTYPE[s.element]).itemsize,
                "raw_bytes": len(s.raw), "stored_bytes": sum(map(len, stored)), "offset": 4096 + len(self.payload),
                "first_block": len(self.blocks), "blocks": len(stored), "zero_80": bytes(16)
            })
            for content in stored:
                self.blocks.append({"checksum": xxhash.xxh3_64_intdigest(content), "stored_bytes": len(content),
                                    "zero_12": bytes(4)})
                self.payload += content
        self.payload += bytes(-len(self.payload) % 256)
        tables_bytes = self.tables_bytes()
        self.header = {
            "magic": bytes([0x89, 0x53, 0x50, 0x56, 0x0D, 0x0A, 0x1A, 0x0A]), "major": 0, "minor": 3,
            "header_bytes": 4096, "required": 0, "optional": 0, "rows": matrix.rows, "columns": matrix.columns,
            "nonzeros": len(matrix.entries), "value_type": VALUE_TYPE[matrix.value], "field": matrix.field,
            "symmetry": matrix.symmetry, "digest_algorithm": 1, "zero_60": bytes(4),
            "file_length": 4096 + len(self.payload) + tables_bytes, "digest": matrix.digest(),
            "tables_offset": 4096 + len(self.payload), "tables_bytes": tables_bytes, "tables_checksum": None,
            "P": len(parts), "Q": len(self.parameters), "S": len(owned), "zero_124": bytes(4), "B": len(self.blocks),
            "global_rows": 0, "global_columns": 0, "first_row": 0, "rank": 0, "ranks": 0, "first_column": 0,
            "own_columns": 0, "global_nonzeros": 0, "partition": 0, "global_digest": bytes(16), "zero_216": bytes(3872)
        }

    def share_of(self, whole, rank, ranks, first_row, first_column, own_columns, partition=0x0123456789ABCDEF):
        """Makes it the share of a matrix that begins there; its lists are among the loose sections."""
        self.header.update(global_rows=whole.rows, global_columns=whole.columns, first_row=first_row, rank=rank,
                           ranks=ranks, first_column=first_column, own_columns=own_columns,
                           global_nonzeros=len(whole.entries), partition=partition, global_digest=whole.digest())
        return self

    def tables_bytes(self):
        return 96 * len(self.parts) + 24 * len(self.parameters) + 96 * len(self.sections) + 16 * len(self.blocks)

    def set_parameters(self, stored, of=None):
        """The table of parameters as a list of (name, value), all of part 0 unless `of` are how many of them are."""
        self.parameters = [{"name": name.encode(), "value": value} for name, value in stored]
        self.parts[0]["parameters"] = len(stored) if of is None else of
        self.header.update(Q=len(stored), tables_bytes=self.tables_bytes(),
                           file_length=self.header["tables_offset"] + self.tables_bytes())
        return self

    def pack(self):
        tables = b"".join(
            [struct.pack("<16s4B4s5Q4I16s", *p.values()) for p in self.parts] +
            [struct.pack("<16sQ", *p.values()) for p in self.parameters] +
            [struct.pack("<16sI4BIB3s6Q16s", *s.values()) for s in self.sections] +
            [struct.pack("<QI4s", *b.values()) for b in self.blocks])
        header = dict(self.header)
        if header["tables_checksum"] is None:
            header["tables_checksum"] = xxhash.xxh3_64_intdigest(tables)
        packed = struct.pack("<8sHHIQQQQQ4B4sQ16sQQQ3I4sQ3Q2I4Q16s3872s", *header.values())
        return packed + struct.pack("<Q", xxhash.xxh3_64_intdigest(packed)) + bytes(self.payload) + tables


def share_list(name, numbers):
    return Section(name, "u32", numbers, flags=0, alignment=4)


def provenance(text):
    return Section("provenance", "u8", text.encode(), flags=0, alignment=1)
