"""Hand-made containers that every reader must accept: accept() gives (name, matrix, bytes)."""

import struct

import xxhash

import spmvc_writer as w
from spmvc_writer import (OFFSETS_8, OFFSETS_16, OFFSETS_32, PATTERNS, Image, Matrix, Part, Section, amb, bitflag, ccoo,
                          ccoo_part, coo, csell, csell_part, csr, dia, ell, ellpack_r, pjds, pkt,
                          provenance, sell, sjds)

# Rows 0 and 3 are empty.
SMALL = [(1, 0, 1.5), (1, 2, -2.0), (2, 1, 0.1), (4, 0, 1e300), (4, 1, 3.0), (4, 6, -0.25)]
SMALL_PARTS = [[e for e in SMALL if e[1] < 2], [e for e in SMALL if e[1] >= 2]]


def small(value="f64"):
    entries = SMALL if value == "f64" else [(r, c, min(v, 1e30)) for r, c, v in SMALL]
    return Matrix(5, 7, entries, value)


def from_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def special_values():
    bits = [0x8000000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
            0x7FF8000000000000, 0x7FF8000000000123, 0xFFF8000000000001, 0x7FEFFFFFFFFFFFFF, 0x0000000000000000]
    return Matrix(2, 10, [(i % 2, i, from_bits(b)) for i, b in enumerate(bits)])


def figure_2():
    """One chunk of B = 8 lanes of K = 1 slots, in the style of figure 2 of the CCOO paper, written down by hand.

    COO, with row 4 + and column 20 + taken out:
        i  0  0  0  1  1  3  3  3
        j  0  1  5  1  2  0  4  7
        a  4 -1 -1  4 -1  4 -1 -1
    """
    values = [4.0, -1.0, -1.0, 4.0, -1.0, 4.0, -1.0, -1.0]
    rows = [4, 4, 4, 5, 5, 7, 7, 7]
    columns = [20, 21, 25, 21, 22, 20, 24, 27]
    matrix = Matrix(8, 30, list(zip(rows, columns, values)))
    blob = bytes.fromhex("00 00 00 01 01 03 03 03"
                         "00 01 05 01 02 00 04 07"
                         "01 00 00 01 00 01 00 00")
    lut = struct.pack("<2d", -1.0, 4.0)
    encoding = 0b0_000_1_00_0  # one group of 8 lanes, ids, u8 columns, several rows
    sections = [
        Section("encoding", "u8", [encoding]), Section("row_base", "u32", [4]), Section("col_base", "u32", [20]),
        Section("blob_offset", "u64", [0]), Section("blob", "u8", blob, alignment=256), Section("lut", "f64", lut)
    ]
    return matrix, [Part("ccoo", "f64", 8, 30, 8, sections, {"lanes": 8, "slots": 1})]


def banded(rows, width, values, value="f64"):
    """Rows of 0 to 2 width + 1 entries near the diagonal; values are taken in turn."""
    entries, k = [], 0
    for r in range(rows):
        for c in range(max(0, r - width), min(rows, r + 1 + r % (width + 1))):
            entries.append((r, c, values[k % len(values)]))
            k += 1
    return Matrix(rows, rows, entries, value)


def all_encodings():
    """With B = 8 and K = 1, a chunk of every encoding: column width x one row x ids."""
    lut, entries, row = [1.0, 2.0], [], 0
    for span in (100, 1000, 100000):
        for one_row in (False, True):
            for ids in (False, True):
                for i in range(8):
                    value = lut[i % 2] if ids else 0.1 * i + row
                    entries.append((row + (0 if one_row else i // 2), 5 + i * (span // 7), value))
                row += 1 if one_row else 4
    return Matrix(row, 100006, entries), lut


def complex_values():
    entries = [(0, 1, 1.5 - 2j), (0, 4, complex(-0.0, 0.0)), (1, 0, complex(0.0, -0.0)), (1, 3, -1e30 + 0.25j),
               (3, 4, complex(from_bits(0x7FF0000000000000), -1.0))]
    for value in ("c64", "c128"):
        n = Matrix(4, 5, entries, value)
        yield f"complex_csr_{value}", n, [csr(n)]
        yield f"complex_coo_{value}", n, [coo(n)]
    n = Matrix(4, 5, entries, "c128")
    yield "complex_transpose", n, [csr(n), coo(n.transposed()).transpose()]
    nan = from_bits(0x7FF8000000000123)
    n = Matrix(1, 2, [(0, 0, complex(nan, -0.0)), (0, 1, complex(1.0, nan))], "c128")
    yield "complex_nan", n, [csr(n)]
    # Zeros keep their signs: conjugates differ in that of the imaginary part, and the diagonal has any.
    mirrors = {2: lambda v: v, 3: lambda v: complex(-v.real, -v.imag), 4: lambda v: v.conjugate()}
    lower = [(1, 0, complex(0.0, 0.0)), (2, 0, complex(-0.0, -3.0)), (2, 1, 1 + 2j)]
    diagonal = {2: [(0, 0, 1 + 1j)], 3: [], 4: [(0, 0, complex(2.0, 0.0)), (1, 1, complex(3.0, -0.0))]}
    for symmetry, mirror in mirrors.items():
        entries = lower + [(c, r, mirror(v)) for r, c, v in lower] + diagonal[symmetry]
        for value in ("c64", "c128"):
            n = Matrix(3, 3, entries, value, symmetry=symmetry)
            yield f"complex_symmetry_{symmetry}_{value}", n, [csr(n)]


def chunk_ends():
    """A row that spans three chunks, and rows more than 255 apart."""
    entries = [(2, c, 1.0 + c) for c in range(20)]
    entries += [(r, r % 21, 0.5 * r) for r in (3, 257, 258, 259, 514, 515, 9999)]
    return Matrix(10000, 21, entries)


def zstd(matrix, compress, filters):
    part = csr(matrix)
    for section, (kind, width) in zip(part.sections, filters):
        section.zstd(kind, width, compress)
    return matrix, [part]


def many_rows():
    """300,000 rows: row_ptr has two blocks, the digest three pieces of row pointers."""
    matrix = Matrix(300000, 3, [(7, 1, 1.0), (140000, 0, 2.0), (299999, 2, 3.0)])
    part = csr(matrix)
    part.section("row_ptr").zstd(1, 4, w.rle_frame)
    return matrix, [part]


def parts_of(matrix, *parts):
    """The matrix as several parts: each is (layout, entries in local numbering, local rows, local columns)."""
    return [layout(Matrix(rows, columns, entries, matrix.value)) for layout, entries, rows, columns in parts]


def two_parts():
    m = small()
    top, bottom = [e for e in SMALL if e[0] < 2], [(r - 2, c, v) for r, c, v in SMALL if r >= 2]
    a, b = parts_of(m, (csr, top, 2, 7), (coo, bottom, 3, 7))
    yield "parts_row_ranges", m, [a.row_range(0), b.row_range(2)]

    even, odd = [(r // 2, c, v) for r, c, v in SMALL if r % 2 == 0], [(r // 2, c, v) for r, c, v in SMALL if r % 2]
    a, b = parts_of(m, (coo, even, 3, 7), (csr, odd, 2, 7))
    yield "parts_row_lists", m, [a.row_list([0, 2, 4]), b.row_list([1, 3])]

    yield "parts_overlapping_rows", m, parts_of(m, (csr, SMALL_PARTS[0], 5, 7), (csr, SMALL_PARTS[1], 5, 7))

    a, = parts_of(m, (csr, SMALL_PARTS[0], 5, 2))
    b = ccoo(Matrix(5, 5, [(r, c - 2, v) for r, c, v in SMALL_PARTS[1]]), 8, 2)
    yield "parts_column_ranges", m, [a.column_range(0), b.column_range(2)]

    near, far = [e for e in SMALL if e[1] in (0, 1)], [(r, {2: 0, 6: 1}[c], v) for r, c, v in SMALL if c in (2, 6)]
    a, b = parts_of(m, (csr, near, 5, 2), (coo, far, 5, 2))
    yield "parts_column_lists", m, [a.column_list([0, 1]), b.column_list([2, 6])]

    corner = [(0, 0, -2.0), (1, 1, -0.25)]  # rows 1 and 4, columns 2 and 6
    a, b = parts_of(m, (csr, SMALL_PARTS[0], 5, 7), (csr, corner, 2, 2))
    yield "parts_rows_and_columns", m, [a, b.row_list([1, 4]).column_list([2, 6])]
    nothing = Matrix(5, 7, [])
    c, d = parts_of(nothing, (csr, [], 0, 0), (coo, [], 2, 3))
    yield "part_of_no_rows_and_columns", nothing, [c.row_range(5).column_list([])]
    yield "part_without_entries", nothing, [d.row_list([4, 1]).column_range(4)]


def most_rows(extra=0):
    """65 parts of 10,000 rows and an entry, but for the last of which there are fewer rows, so that all have
    64 (10,000 + 65) rows together, and `extra`."""
    n = Matrix(10000, 65, [(7 * i, i, i + 0.5) for i in range(65)])
    parts = []
    for i, (row, _, value) in enumerate(n.entries):
        last = i == 64
        part = coo(Matrix(4160 + extra if last else 10000, 65, [(row, i, value)]))
        parts.append(part.row_range(0) if last else part)
    return n, parts


def frame_of_bytes(size):
    """A frame of exactly `size` bytes with raw blocks of few bytes, which compresses nothing."""

    def frame(raw):
        more = size - 9 - 3 - len(raw)  # bytes of further blocks' headers, and of a content checksum
        checked = more % 3 == 1
        blocks = 1 + (more - 4 * checked) // 3
        assert more >= 0 and more % 3 != 2 and blocks <= len(raw), (more, blocks)
        pieces = [raw[i:i + 1] for i in range(blocks - 1)] + [raw[blocks - 1:]]
        held = b"".join(w.block(piece, 0, i + 1 == blocks) for i, piece in enumerate(pieces))
        check = struct.pack("<I", xxhash.xxh64_intdigest(raw) & 0xFFFFFFFF) if checked else b""
        return w.ZSTD_MAGIC + bytes([0xA4 if checked else 0xA0]) + struct.pack("<I", len(raw)) + held + check

    return frame


# The values of SMALL are 48 bytes: ZSTD_compressBound(48) = 48 + 48 // 256 + (131072 - 48) // 2048.
BOUND_OF_VALUES = 48 + 63


def long_frame(size):
    part = csr(small())
    part.section("values").zstd(0, 0, frame_of_bytes(size))
    return part


def long_provenance(size):
    text = "comment=" + (size - 9) * "a" + "\n"
    return provenance(text).zstd(0, 0, w.rle_frame)


def limits():
    """What is just within a limit of the format."""
    m = small()
    yield "limit_stored_bytes", m, [long_frame(BOUND_OF_VALUES)]
    yield "limit_provenance", m, [csr(m)], [long_provenance(1 << 20)]
    n, parts = most_rows()
    yield "limit_rows_of_parts", n, parts
    t = n.transposed()
    yield "limit_rows_of_parts_of_transpose", t, [coo(t)] + [part.transpose() for part in most_rows()[1]]


def transposes():
    """A and its transpose, in parts of their own."""
    m = small()
    t = m.transposed()
    for part in (csr(t), coo(t), ell(t), sell(t, 2), pjds(t), dia(t), ccoo(t, 8, 2), csell(t), bitflag(t),
                 sjds(t)):
        yield f"transpose_{name_of(part)}", m, [csr(m), part.transpose()]
    n = small("f32")
    yield "transpose_f32", n, [ccoo(n, 8, 1), csr(n.transposed()).transpose()]
    n = special_values()
    yield "transpose_special_values", n, [csr(n), coo(n.transposed()).transpose()]
    # Two parts each, which have nothing to do with each other.
    a, = parts_of(m, (csr, SMALL_PARTS[0], 5, 2))
    b = ccoo(Matrix(5, 5, [(r, c - 2, v) for r, c, v in SMALL_PARTS[1]]), 8, 2)
    top, bottom = [e for e in t.entries if e[0] < 1], [(r - 1, c, v) for r, c, v in t.entries if r >= 1]
    c, d = parts_of(t, (coo, top, 1, 5), (csr, bottom, 6, 5))
    yield "transpose_of_parts", m, [a.column_range(0), b.column_range(2), c.row_list([0]).transpose(),
                                    d.row_range(1).transpose()]
    n = Matrix(3, 2, [])
    yield "transpose_of_nothing", n, [csr(n), csr(n.transposed()).transpose()]
    yield "transpose_without_a_part_of_a", n, [csr(n.transposed()).transpose()]


def sell_2(matrix):
    return sell(matrix, 2)


def amb_4_2(matrix):
    return amb(matrix, 4, 2, 2, 4)


def permuted(matrix):
    return pjds(matrix, permuted=True)


def name_of(part):
    return part.fields["layout"].decode()


def padded():
    for value in ("f64", "f32"):
        n = small(value)
        for part in (ellpack_r(n), sell_2(n), pjds(n), dia(n), amb_4_2(n)):
            yield f"{name_of(part)}_{value}", n, [part]
        n = Matrix(7, 7, n.entries, value)
        yield f"pjds_permuted_{value}", n, [permuted(n)]
    n = special_values()
    for part in (ellpack_r(n), sell_2(n), pjds(n), dia(n), amb_4_2(n)):
        yield f"{name_of(part)}_special_values", n, [part]
    n = banded(70, 5, [0.1 * i for i in range(1, 12)])
    for c in (1, 32, 100):
        yield f"sell_c{c}", n, [sell(n, c)]
    yield "pjds_three_blocks", n, [pjds(n)]
    yield "pjds_three_blocks_permuted", n, [permuted(n)]
    for block in (1, 4, 70, 65536):
        yield f"pjds_blocks_of_{block}", n, [pjds(n, block=block)]
    yield "pjds_blocks_of_4_permuted", n, [pjds(n, permuted=True, block=4)]
    part = pjds(n)
    part.parameters["block_rows"] = 32  # the same as none
    yield "pjds_blocks_of_32", n, [part]
    n = Matrix(40, 3, [(r, c, 1.0 + r) for r in range(38) for c in range(1 if r else 3)])
    part = pjds(n)
    part.sections.pop()
    part.fields.update(row_map=w.ALL)
    yield "pjds_rows_sorted_already", n, [part]
    yield "parts_padded", n, parts_of(n, (dia, n.entries[:20], 40, 3), (sell_2, n.entries[20:], 40, 3))


def diagonals():
    for rows, columns in ((3, 8), (8, 3), (5, 5)):
        n = Matrix(rows, columns, [(r, c, (0.0, -0.0, 2.0)[(r + c) % 3]) for r in range(rows) for c in range(columns)
                                   if (2 * r + c) % 5 < 2])
        yield f"dia_zeros_{rows}x{columns}", n, [dia(n)]
    n = Matrix(2, 2, [(0, 0, 1.0)])
    yield "dia_list_of_no_zeros", n, [dia(n, stored_zeros=[])]
    part = dia(n, offsets=[1, 2], values=n.value_bytes([1, 0, 0, 0]))
    yield "dia_diagonal_without_entries", n, [part]
    part = dia(Matrix(2, 2, [(0, 0, 0.0)]))
    part.sections[1:1] = [Section("hint_17", "u8", b"anything", flags=0)]
    yield "dia_unknown_section_between", Matrix(2, 2, [(0, 0, 0.0)]), [part]


def blocked():
    n = banded(20, 5, [0.1 * i for i in range(1, 12)] + [0.0, -0.0])
    for b in range(1, 9):
        yield f"amb_b{b}", n, [amb(n, 12, b, 4, 8)]
    yield "amb_one_segment", n, [amb(n, 65536, 3, 32, 20)]
    yield "amb_one_lane", n, [amb(n, 5, 2, 1, 1)]
    # Rows 1, 4 and 5 lie in several segments, row 3 in one, the others are empty; a segment has no entry.
    n = Matrix(7, 20, [(r, c, 1.0 + c) for r, c in ((1, 0), (1, 7), (1, 19), (3, 4), (4, 3), (4, 5), (4, 6), (5, 0),
                                                    (5, 1), (5, 2), (5, 3), (5, 18))])
    yield "amb_shared_rows", n, [amb(n, 4, 2, 2, 7)]
    # The second block would leave the segment, and so overlaps the first.
    n = Matrix(2, 10, [(0, 5, 1.0), (0, 8, 0.0), (0, 9, 2.0), (1, 9, 0.0)])
    yield "amb_blocks_moved_left", n, [amb(n, 10, 4, 2, 2)]
    n = Matrix(1, 1, [(0, 0, 1.0)], "f32")
    yield "amb_most_lanes", n, [amb(n, 1, 1, 1024, 1)]
    n = Matrix(3, 131077, [(r, c, r + 0.5) for r in (0, 2) for c in (0, 65535, 65536, 131071, 131072, 131076)])
    yield "amb_widest_segments", n, [amb(n, 65536, 4, 2, 3)]


def with_rest(matrix, packets, threads):
    """The entries inside of packets, and the others in a coo part."""
    packet_of = {r: i for i, packet in enumerate(packets) for r in packet}
    rest = [e for e in matrix.entries if packet_of[e[0]] != packet_of[e[1]]]
    part = pkt(matrix, packets, threads)
    return [part, coo(Matrix(matrix.rows, matrix.columns, rest, matrix.value))] if rest else [part]


def pkt_example():
    """That of docs/LAYOUTS.md."""
    columns = [[0, 2, 4], [1, 3], [0, 2, 5], [3], [], [0, 5]]
    places = [(r, c) for r, row in enumerate(columns) for c in row]
    return Matrix(6, 6, [(r, c, 1.0 + k) for k, (r, c) in enumerate(places)])


TWO_PACKETS = [[0, 2, 4], [1, 3, 5]]


def in_packets():
    n = pkt_example()
    yield "pkt_example", n, with_rest(n, TWO_PACKETS, 2)
    for value in ("f64", "f32"):
        n = Matrix(7, 7, small(value).entries, value)
        yield f"pkt_{value}", n, with_rest(n, [[1, 2, 5, 6], [0, 3, 4]], 3)
    n = Matrix(10, 10, special_values().entries)
    yield "pkt_special_values", n, with_rest(n, [list(range(10))], 2)
    n = banded(70, 5, [0.1 * i for i in range(1, 12)] + [0.0, -0.0])
    for threads in (1, 3, 32):
        yield f"pkt_t{threads}", n, with_rest(n, [list(range(70))], threads)
    yield "pkt_many_packets", n, with_rest(n, [list(range(i, 70, 9)) for i in (4, 0, 8, 1, 7, 2, 6, 3, 5)], 4)
    yield "pkt_of_neighbours", n, with_rest(n, [list(range(i, min(i + 12, 70))) for i in range(0, 70, 12)], 5)
    yield "pkt_one_row_each", n, with_rest(n, [[r] for r in range(70)], 2)
    n = Matrix(1, 1, [(0, 0, 1.0)], "f32")
    yield "pkt_most_threads", n, [pkt(n, [[0]], 1024)]
    n = Matrix(3073, 3073, [(r, c, r + 0.5) for r in (0, 1, 3071) for c in (0, 1700, 3071)] + [(3072, 3072, 1.0)])
    yield "pkt_largest_packet", n, [pkt(n, [list(range(3072)), [3072]], 2)]
    n = pkt_example()
    part = pkt(n, TWO_PACKETS, 2)
    part.parameters["packet_rows"] = 3072
    yield "pkt_room_for_more", n, [part, *with_rest(n, TWO_PACKETS, 2)[1:]]
    t = n.transposed()
    yield "pkt_transpose", n, with_rest(n, TWO_PACKETS, 2) + [p.transpose() for p in with_rest(t, TWO_PACKETS, 2)]


# Of every kind of columns; those of rows near the diagonal are patterns.
ALL_KINDS = [[(0, 0, 100), (1, 100, 300), (2, 300, 66000), (3, 66000, 2**32)]]


def of_all_kinds(values, value):
    """Three slices, the last of few rows; some rows are empty. Kinds have full groups, some of few steps, or none."""
    entries = []
    for r in range(70):
        if r % 9 == 4:
            continue
        columns = [c for c in (r - 1, r, r + 3) if 0 <= c < 100 and (c + r) % 5]
        columns += range(100 + r, 100 + r + r % 8)
        columns += [300 + 700 * (r % 32) + 9 * i for i in range(r % 3 if r < 32 else 0)]
        columns += [66000 + 2100 * (r % 32) + r, 140000] if r >= 64 or r % 4 == 0 else []
        entries += [(r, c, values[(len(entries) + i) % len(values)]) for i, c in enumerate(columns)]
    return Matrix(70, 140001, entries, value)


def full_blocks(rows, columns, block, values, value):
    """A matrix of full blocks; rows and columns are of blocks."""
    places = [(r, c) for r in range(rows) for c in range(columns) if (c - r) % 7 in (0, 3) and r % 5 != 3]
    return Matrix(rows * block, columns * block, [
        (r * block + i, c * block + j, values[(c - r + 50 + i * block + j) % len(values)])
        for r, c in places for i in range(block) for j in range(block)], value)


def halves(rows, distances, block, value, sign=1):
    """Full blocks at these distances right of the diagonal, and the transposed ones, with `sign`, left of it."""
    entries = {}
    for r in range(rows):
        for c in (r + d for d in distances if r + d < rows):
            for i in range(block):
                for j in range(block):
                    row, column = r * block + i, c * block + j
                    low, high = min(row, column), max(row, column)
                    entries[row, column] = (low * 7 + high * 3) % 59 / 4 + 1
                    if r != c:
                        entries[column, row] = sign * entries[row, column]
    return Matrix(rows * block, rows * block, [(r, c, v) for (r, c), v in sorted(entries.items())], value)


def mirrored():
    for block, value, source, kinds, widths in ((1, "f64", "mirror", PATTERNS, (0, )),
                                                (3, "f32", "mirror", PATTERNS, (0, )),
                                                (1, "f32", "skew", OFFSETS_8, (1, )),
                                                (3, "f64", "skew", OFFSETS_16, (2, 1)),
                                                (2, "f64", "mirror", OFFSETS_32, (1, 2)),
                                                (4, "f64", "mirror", PATTERNS, (0, 1, 2))):
        n = halves(70, (0, 2, 9, 33), block, value, -1 if source == "skew" else 1)
        yield f"csell_b{block}_{source}_{value}", n, [csell(n, source, kinds, block=block, sums=block // 2 * 2 or 1,
                                                            widths=widths)]
    # Pairs that differ, some in a sign alone, in steps with mirrors.
    n = halves(40, (0, 1, 3), 1, "f64")
    n.entries = [(r, c, (-v if r % 2 else v + 1) if c < r and r % 5 == 0 else v) for r, c, v in n.entries]
    yield "csell_mirror_some", n, [csell(n, "mirror", PATTERNS, widths=(1, ))]


def sliced():
    for value, source, sums in (("f64", "raw", 4), ("f32", "table", 2), ("f32", "single", 4)):
        n = of_all_kinds([2.5] if source == "single" else [0.1 * i for i in range(1, 12)], value)
        part = csell(n, source, ALL_KINDS, sums=sums, tile_slices=1 if source == "table" else 0)
        yield f"csell_all_kinds_{source}_{value}", n, [part]
    for block, value, source, kinds in ((2, "f32", "raw", OFFSETS_16), (3, "f64", "raw", PATTERNS),
                                        (4, "f32", "raw", OFFSETS_8), (2, "f64", "step", PATTERNS),
                                        (3, "f32", "step", PATTERNS), (4, "f64", "single", OFFSETS_32),
                                        (2, "f32", "table", OFFSETS_16), (4, "f64", "table", OFFSETS_8)):
        n = full_blocks(35, 9, block, [3.0] if source == "single" else [0.5 * i for i in range(13)], value)
        yield f"csell_b{block}_{source}_{value}", n, [csell(n, source, kinds, block=block, sums=block // 2 * 2 or 1,
                                                            tile_slices=1 if source == "table" else 0)]
    n = full_blocks(35, 9, 3, [0.0], "f64")
    n.entries = [(r, c, i % 300 / 4) for i, (r, c, _) in enumerate(n.entries)]
    yield "csell_b3_table_f64", n, [csell(n, "table", PATTERNS, block=3, tile_slices=1)]  # ids of two bytes
    n = special_values()
    yield "csell_special_values_table", n, [csell(n, "table", tile_slices=1)]
    yield "csell_special_values_step", n, [csell(n, "step", PATTERNS)]
    n = Matrix(2, 2, [(0, 1, from_bits(0xFFF8000000000001)), (1, 0, from_bits(0xFFF8000000000001))])
    yield "csell_single_nan", n, [csell(n, "single", PATTERNS)]
    yield from mirrored()
    # Tiles of two slices: 256 values; none; 257; those of the first again; few of the third, in one slice.
    entries = [(r, 3 * i, (r * 8 + i) / 256) for r in range(32) for i in range(8)]
    entries += [(r + 130, 2 * i, (r * 8 + i) / 256) for r in range(32) for i in range(8)] + [(190, 20, 1.0)]
    entries += [(r + 192, i, (r * 8 + i) / 256) for r in range(32) for i in range(8)]
    entries += [(r + 256, r % 30, 0.5 + r / 256) for r in range(20)]
    n = Matrix(280, 30, entries, "f32")
    yield "csell_tiles", n, [csell(n, "table", tile_slices=2)]
    # The middle slices share two groups, the last has the second of them, and one group is nobody's.
    n = Matrix(128, 137, [(r, r + d, 1.0) for r in range(128) for d in ((-2, -1, 0, 5, 9) if r < 96 else (9, ))
                          if r + d >= 0])
    part = csell(n, "single", PATTERNS)
    assert [header[0] for header in struct.iter_unpack("<4I", part.section("slices").raw)] == [0, 2, 2, 1]
    part.section("patterns").raw += w.csell_group([(5, {3: None})])
    yield "csell_patterns_shared", n, [part]
    # More than 255 groups of a kind, or 255 of each.
    n = Matrix(3, 1030, [(1, c, 4.0) for c in range(1025)])
    yield "csell_many_patterns", n, [csell(n, "single", PATTERNS)]
    n = Matrix(33, 1030, [(1, c, float(c % 5)) for c in range(1021)] + [(32, 1029, 1.0)], "f32")
    yield "csell_many_offsets", n, [csell(n, "raw")]
    n = Matrix(1, 4080, [(0, c, 1.0) for c in range(4080)])
    part = csell(n, "single", [[(kind, 1020 * kind, 1020 * kind + 1020) for kind in range(4)]])
    part.section("stream").zstd(0, 0, w.zeros_frame)
    yield "csell_255_groups_of_each_kind", n, [part]
    # Columns are sums modulo 2^32, of offsets, too.
    n = Matrix(2, 300, [(0, 3, 1.0), (1, 299, 2.0)])
    yield "csell_offsets_wrap", n, [csell_part(n, "raw", 1, [
        [[], [], [(2**32 - 1, {0: (3, [1.0]), 1: (299, [2.0])})], []]])]
    # Lanes without an entry have offset 0, and no column.
    n = Matrix(5, 7, [(r, r, 1.0) for r in range(5)])
    yield "csell_offsets_wrap_single", n, [csell_part(n, "single", 1, [
        [[], [(2**32 - 16, {r: (r, [1.0]) for r in range(5)})], [], []]])]


def flagged():
    # Full chunks, and a last one of few lanes; rows that go on; tiles with chunks that lack entries.
    for value in ("f64", "f32"):
        for source, values in (("raw", [0.1 * i for i in range(1, 12)]), ("table", [i / 4 for i in range(251)]),
                               ("single", [2.5])):
            n = banded(120, 6, values, value)
            yield f"bitflag_{source}_{value}", n, [bitflag(n, source, tile=4)]
            yield f"bitflag_{source}_hot_{value}", n, [bitflag(n, source, tile=32, hot=[0, 7, 8, 9, 60, 119])]
    n = Matrix(4, 64, [(i // 64, i % 64, i / 256) for i in range(256)], "f32")
    yield "bitflag_table_of_256", n, [bitflag(n, "table")]
    # Small chunks: of one entry, of a lane, of all lanes that are stored, of one more.
    n = banded(40, 6, [0.1 * i for i in range(1, 12)])
    for size in (1, 8, 32, 33):
        yield f"bitflag_chunks_of_{size}", n, [bitflag(n, "table", tile=3, size=size)]
    # A row of many chunks and tiles, among rows of a chunk or less.
    n = Matrix(6, 700, [(1, 5, 0.5)] + [(2, c, c / 2) for c in range(700)] + [(3, c, 1.0) for c in range(600)] +
               [(5, 699, 2.0)])
    for size, tile in ((16, 1), (16, 32), (100, 3), (256, 1)):
        yield f"bitflag_long_rows_{size}_{tile}", n, [bitflag(n, "raw", tile, size)]
    for name, widest in (("8", 255), ("16", 256), ("16_most", 65535), ("24", 65536), ("24_most", 2**24 - 1),
                         ("32", 2**24)):
        columns = 2**24 + 1001 if widest > 65536 else 70001
        n = Matrix(2, columns, [(0, 1000, 1.0), (1, 1100, 2.0), (1, 1000 + widest, 3.0)])
        yield f"bitflag_columns_{name}", n, [bitflag(n)]
    for column_bytes in (2, 3, 4):
        n = banded(20, 3, [1.5, 2.5])
        yield f"bitflag_columns_of_{column_bytes}_bytes", n, [bitflag(n, "table", column_bytes=column_bytes)]
    # Columns of 3 bytes: in chunks of a few lanes and of all; hot ones among them, up to the last that fits.
    n = banded(120, 6, [0.1 * i for i in range(1, 12)], "f32")
    n.columns, n.entries = 2**23, [(r, c + (2**23 - 120 if c >= 60 else 0), v) for r, c, v in n.entries]
    for size in (33, 256):
        yield f"bitflag_columns_of_24_bits_chunks_of_{size}", n, [bitflag(n, "table", tile=3, size=size)]
    m = Matrix(120, 2**23, [(r, c + 3 if c < 60 else c, v) for r, c, v in n.entries], "f32")
    for column_bytes in (3, 4):  # others count from a base
        part = bitflag(m, "table", tile=2, hot=[3, 7, 2**23 - 60], column_bytes=column_bytes, hot_base=2)
        yield f"bitflag_hot_with_a_base_{column_bytes}", m, [part]
    hot = [0, 7, 2**23 - 60, 2**23 - 1]
    for source in ("raw", "table", "window"):
        yield f"bitflag_{source}_hot_24", n, [bitflag(n, source, tile=4, hot=hot, column_bytes=3)]
    for gap in (254, 255, 256, 4094, 4095, 4096, 10000):
        n = Matrix(2 * gap + 9, 3, [(gap, c, 1.0 + c) for c in range(3)] + [(gap + 1, 0, 5.0), (2 * gap + 2, 2, 6.0)])
        yield f"bitflag_gaps_of_{gap}", n, [bitflag(n)]
        yield f"bitflag_gaps_of_{gap}_continued", n, [bitflag(n, size=2, trailing=gap < 4000, row_bytes=2)]
    # Segments of few columns, without entries in some rows, or in any; of most columns; chunks that go on in them.
    n = banded(40, 6, [0.1 * i for i in range(1, 12)])
    for segments, tile, size in ((2, 1, 256), (3, 4, 8), (14, 2, 5), (40, 1, 256)):
        yield f"bitflag_segments_{segments}", n, [bitflag(n, "table", tile, size, in_segments=segments)]
    n = Matrix(4100, 10, [(0, 0, 1.0), (1, 9, 2.0), (4099, 8, 3.0), (4099, 9, 4.0)], "f32")
    yield "bitflag_segments_far_apart_rows", n, [bitflag(n, in_segments=5)]
    n = Matrix(2, 3 * 65536, [(r, c, 1.0) for r in range(2) for c in (0, 65535, 65536, 131072 + r, 196607)])
    yield "bitflag_widest_segments", n, [bitflag(n, "single", in_segments=3)]
    # Windows: at the first value, and further on, from where values may come again.
    for value in ("f64", "f32"):
        n = banded(120, 6, [0.1 * i for i in range(1, 300)], value)
        yield f"bitflag_window_{value}", n, [bitflag(n, "window", tile=4)]
        yield f"bitflag_window_hot_{value}", n, [bitflag(n, "window", tile=32, hot=[0, 7, 8, 9, 60, 119])]
    n = banded(60, 4, [5000.0, 4096.0, 4500.0], "f32")
    yield "bitflag_windows", n, [bitflag(n, "window", size=33, window=1, table=range(5001))]
    n = banded(60, 4, [0.5, 1.5, 2.5], "f32")
    values = [0.5, 1.5, 2.5] * 1367
    yield "bitflag_windows_of_the_same_values", n, [bitflag(n, "window", size=33, window=1, table=values)]
    # Decimals: one exponent for a chunk, others in 4 and 8 bits; negative ones, and of many integers.
    n = banded(120, 6, [i / 100 for i in range(-300, 300)])
    yield "bitflag_decimal", n, [bitflag(n, "decimal", tile=4, decimals=(2, 0))]
    yield "bitflag_decimal_hot", n, [bitflag(n, "decimal", tile=4, decimals=(1, 4), hot=[0, 7, 8, 9, 60, 119])]
    yield "bitflag_decimal_segments", n, [bitflag(n, "decimal", tile=2, decimals=(0, 8), in_segments=3)]
    n = banded(25, 4, [i / 100 for i in range(-300, 300, 7)])
    for size in (1, 8, 32, 33, 65):
        for bits in (4, 8):
            yield f"bitflag_decimal_{bits}_chunks_of_{size}", n, [bitflag(n, "decimal", 3, size, decimals=(0, bits))]
    n = Matrix(2, 8, [(0, c, v) for c, v in enumerate((2147483647.0, -2147483647.0, 0.0, 2147483647e-22, -1e-22, 0.1,
                                                       123456.789, 1e-15))])
    yield "bitflag_decimal_extremes", n, [bitflag(n, "decimal", decimals=(0, 8))]
    n = Matrix(1, 3, [(0, 0, 2e9), (0, 1, 0.5), (0, 2, -1e-15)])
    yield "bitflag_decimal_far_apart", n, [bitflag(n, "decimal", decimals=(0, 4))]
    yield "bitflag_decimal_empty", Matrix(3, 3, []), [bitflag(Matrix(3, 3, []), "decimal")]
    n = special_values()
    yield "bitflag_special_values_window", n, [bitflag(n, "window")]
    for source in ("raw", "table"):
        yield f"bitflag_special_values_{source}", n, [bitflag(n, source)]
    n = Matrix(2, 2, [(0, 1, from_bits(0xFFF8000000000001)), (1, 0, from_bits(0xFFF8000000000001))])
    yield "bitflag_single_nan", n, [bitflag(n, "single")]
    n = small()
    yield "bitflag_hot_not_used", n, [bitflag(n, hot=[3, 4])]
    part = bitflag(n)
    part.section("hot").raw = struct.pack("<2I", 0, 6)  # columns have a byte
    yield "bitflag_hot_and_narrow", n, [part]
    part = bitflag(n, "table")
    part.section("values").raw += n.value_bytes([9.0, 1.5])
    yield "bitflag_values_not_used", n, [part]


def every_other(k):
    return k % 2 == 0


def ragged(rows, columns, values, value="f64"):
    """Rows of 0 to 22 entries, some next to each other, others far apart; a few windows of eight rows are empty."""
    entries = []
    for r in range(rows):
        if r % 40 < 32:
            near, far = r * columns // rows, range(r % 3, columns, 2 * columns // 9 + 1)
            wanted = {min(near + c, columns - 1) for c in range(r * 7 % 13)} | set(far if r % 4 else ())
            entries += [(r, c, values[(len(entries) + i) % len(values)]) for i, c in enumerate(sorted(wanted))]
    return Matrix(rows, columns, entries, value)


def in_one_slice(matrix, steps, tail, stream):
    """Eight rows, whose values are 1, in a slice that no list is of and that adds 0 to columns."""
    count = (steps & 0x1FFF) + (steps >> 13 & 0x1FFF) + (tail & 0x1FFF)
    return sjds(matrix, "code", windows=[0, 1], slices=[0, 0, 0, 0, steps, tail], stream=stream, codes=[0] * count)


def jagged():
    tenths = [0.1 * i for i in range(1, 17)]
    for value in ("f64", "f32"):
        for source in ("raw", "code"):
            n = ragged(90, 100, tenths, value)
            yield f"sjds_{source}_{value}", n, [sjds(n, source, 32)]
            yield f"sjds_{source}_windows_of_8_{value}", n, [sjds(n, source, listed=True, steps=every_other)]
    n = ragged(90, 100, tenths)
    yield "sjds_one_window", n, [sjds(n, "code", 65536)]
    yield "sjds_rows_of_slices_sorted", n, [sjds(n, "code", 24, sort=False)]
    yield "sjds_no_window_steps", n, [sjds(n, "code", 32, steps=False)]
    yield "sjds_wide_columns", n, [sjds(n, "code", 16, wide=True, steps=every_other)]
    yield "sjds_base_of_0", n, [sjds(n, "code", 16, base=0)]
    n = ragged(40, 30, tenths[:3])
    yield "sjds_values_not_used", n, [sjds(n, "code", table=[7.0, *tenths[:3], 7.0, 8.0])]
    n = ragged(20, 30, [0.1], "f32")
    yield "sjds_one_value", n, [sjds(n, "code", 16)]
    # Slices of fewer than eight rows, of one length and of several, with and without others in the window.
    for rows in range(1, 8):
        n = Matrix(rows + 16, 20, [(r, c, 1.0 + r) for r in range(rows + 8) for c in range(r % 3 + 1)])
        yield f"sjds_few_rows_{rows}", n, [sjds(n, window_rows=8 if rows % 2 else 16, steps=every_other)]
    # Window steps reach the last column; there are just enough columns for them, or too few.
    for columns in (15, 16, 17, 40):
        n = Matrix(9, columns, [(r, columns - 15 + c, 0.5 + c) for r in range(9) for c in (r % 2, 3, 14)], "f32")
        yield f"sjds_last_columns_{columns}", n, [sjds(n, "code")]
    # Columns that 16 bits just hold, and just do not, from a base far from 0.
    for span in (65535, 65536):
        n = Matrix(8, 200000, [(r, 100000 + r + c, 1.5) for r in range(8) for c in (0, 30 * r + 1, span - 7)])
        yield f"sjds_span_{span}", n, [sjds(n, "code")]
    # The last row of the largest window, and one of the next; windows without entries before the last.
    n = Matrix(65536 + 9, 3, [(0, 0, 1.0), (65535, 2, 2.0), (65536, 1, 3.0), (65544, 0, 4.0)])
    yield "sjds_widest_window", n, [sjds(n, window_rows=65536)]
    n = Matrix(100, 3, [(99, 2, 1.0)])
    yield "sjds_empty_windows", n, [sjds(n)]
    # Window steps alone, which need no columns of either width; others that take other entries of their lanes.
    n = Matrix(8, 40, [(r, r + c, 2.0 + c) for r in range(8) for c in (0, 3)])
    for wide in (False, True):
        yield f"sjds_window_steps_alone{'_wide' if wide else ''}", n, [sjds(n, "code", wide=wide)]
    n = Matrix(8, 40, [(r, c, 1.0) for r in range(8) for c in ((3, 5, 9) if r == 0 else (5, 8 + r))])
    yield "sjds_window_step_of_other_entries", n, [in_one_slice(
        n, 1 | 1 << 13 | 7 << 26, 1 | 1 << 13,
        struct.pack("<2I4B16H", 5, 0, 1, 0, 0, 0, 3, *range(9, 16), 9, *[0] * 7))]
    n = Matrix(8, 40, [(r, c, 1.0) for r in range(8) for c in ((0, 10) if r == 0 else (10, ))])
    yield "sjds_tail_before_a_window_step", n, [in_one_slice(n, 1 | 7 << 26, 1 | 1 << 13,
                                                             struct.pack("<2I4B8H", 10, 0, 1, 0, 0, 0, *[0] * 8))]
    n = Matrix(8, 40, [(r, c, 1.0) for r in range(8) for c in ((7, 20, 30) if r == 0 else (10 + r, 21))])
    yield "sjds_tail_between_steps", n, [in_one_slice(n, 2 << 13 | 7 << 26, 1 | 1 << 13, struct.pack(
        "<4B24H", 1, 0, 0, 0, 7, *range(11, 18), 20, *[21] * 7, 30, *[0] * 7))]
    # Rows that are pieces: of one entry to some steps; among rows of slices; of 4,096 entries and one more.
    n = Matrix(20, 60, [(r, 3 * c, 1.0 + c) for r in range(20) for c in range(r)])
    yield "sjds_pieces_of_0_to_19", n, [sjds(n, long=0)]
    yield "sjds_pieces_of_wide_columns", n, [sjds(n, long=0, wide=True, steps=False)]
    n = ragged(90, 100, tenths)
    yield "sjds_pieces_and_slices", n, [sjds(n, "code", 16, long=9, steps=every_other)]
    n = Matrix(3, 4103, [(0, 2, 3.0)] + [(1, c, 1.0) for c in range(4096)] + [(2, c, 2.0) for c in range(4097)], "f32")
    yield "sjds_pieces_of_4096", n, [sjds(n, "code", long=4095)]
    yield "sjds_rows_of_4096", n, [sjds(n, "code")]
    n = Matrix(1, 80, [(0, c, 1.0 + c % 5) for c in range(60)])
    for name, steps in (("alone", True), ("between", every_other), ("first", [0, 1]), ("last", [5, 6])):
        yield f"sjds_window_steps_of_a_piece_{name}", n, [
            sjds(n, "code", long=0, steps=steps if not isinstance(steps, list) else steps.__contains__)]
    n = Matrix(1, 80, [(0, c, 1.0 + c % 5) for c in range(16)])
    yield "sjds_piece_of_window_steps", n, [sjds(n, long=0)]
    n = special_values()
    for source in ("raw", "code"):
        yield f"sjds_special_values_{source}", n, [sjds(n, source)]
        yield f"sjds_special_values_{source}_pieces", n, [sjds(n, source, long=0)]
    yield "sjds_codes_of_no_value", Matrix(3, 3, []), [sjds(Matrix(3, 3, []), "code")]
    m = small()
    even, odd = [(r // 2, c, v) for r, c, v in SMALL if r % 2 == 0], [(r // 2, c, v) for r, c, v in SMALL if r % 2]
    a, b = parts_of(m, (sjds, even, 3, 7), (sjds, odd, 2, 7))
    yield "sjds_parts", m, [a.row_list([0, 2, 4]), b.row_list([1, 3])]
    n = ragged(40, 30, tenths)
    yield "sjds_of_transpose", n, [sjds(n, "code", 16), sjds(n.transposed(), window_rows=24).transpose()]


COMMENTED = ("version=0.1.0\noptions=--layout auto\ntarget=gpu\nsource=tiny.mtx\nentries=6\nduplicates=0\n"
             "explicit_zeros=0\nrounded=0\nmax_relative_error=0\ncomment= made by hand\ncomment= \u00e9\u00e8 = \u221a\ncomment=\n")


def containers():
    m = small()
    yield "ccoo_figure_2", *figure_2()
    for value in ("f64", "f32"):
        n = small(value)
        yield f"csr_{value}", n, [csr(n)]
        yield f"coo_{value}", n, [coo(n)]
        yield f"ell_{value}", n, [ell(n)]
        yield f"ccoo_b8_{value}", n, [ccoo(n, 8, 1)]
        yield f"ccoo_b32_{value}", n, [ccoo(n, 32, 4, [-2.0, 3.0])]
        n = Matrix(1, 257, [(0, c, c / 2) for c in range(257)], value)
        yield f"coo_257_{value}", n, [coo(n)]
    n = special_values()
    yield "csr_special_values", n, [csr(n)]
    yield "ell_special_values", n, [ell(n)]
    yield "ccoo_special_values", n, [ccoo(n, 16, 2)]
    for field, symmetry in ((2, 1), (3, 2), (1, 3)):
        n = Matrix(2, 2, [(0, 1, 1.0), (1, 0, -1.0 if symmetry == 3 else 1.0)], field=field, symmetry=symmetry)
        yield f"field_{field}_symmetry_{symmetry}", n, [csr(n)]
    for symmetry in (2, 3):  # zeros, infinities and a NaN that carries something
        bits = [0x0000000000000000, 0x7FF0000000000000, 0x7FF8000000000123, 0x8000000000000001]
        lower = [(3, 0), (2, 1), (3, 1), (3, 2)]
        flip = 1 << 63 if symmetry == 3 else 0
        entries = [(r, c, from_bits(b)) for (r, c), b in zip(lower, bits)]
        entries += [(c, r, from_bits(b ^ flip)) for (r, c), b in zip(lower, bits)]
        n = Matrix(4, 4, entries, symmetry=symmetry)
        yield f"special_values_symmetry_{symmetry}", n, [coo(n)]
    yield from complex_values()
    # Small chunks: padding inside a row, between rows and at the end, and a row that goes on in the next chunk.
    n = Matrix(3, 20, [(0, c, 4.0) for c in (3, 5, 9)] + [(2, c, -1.0) for c in range(18)])
    yield "ccoo_padding_places", n, [ccoo(n, 8, 2, [-1.0, 4.0])]
    for k in (1, 2, 4, 8):
        n = banded(60, 5, [0.1 * i for i in range(1, 12)])
        yield f"ccoo_b256_k{k}", n, [ccoo(n, 256, k, [0.1 * i for i in range(1, 12)])]
    n = Matrix(4, 64, [(i // 64, i % 64, i / 256) for i in range(256)], "f32")
    yield "ccoo_lut_of_256", n, [ccoo(n, 64, 2, [i / 256 for i in range(256)])]
    # One value: padding inside a row and at the end, a row that goes on in the next chunk, columns of 8, 16 and 32 bits.
    for value, k in (("f64", 2), ("f32", 1)):
        entries = [(0, c, -0.0) for c in (3, 5, 9)] + [(2, c, -0.0) for c in range(17)]
        entries += [(300, 7, -0.0), (300, 900, -0.0), (600, 0, -0.0), (600, 99999, -0.0)]
        n = Matrix(601, 100000, entries, value)
        yield f"ccoo_single_{value}", n, [ccoo(n, 8, k, [-0.0], single=True)]
    n = Matrix(2, 40, [(r, c, from_bits(0x7FF8000000000123)) for r in range(2) for c in range(40)])
    yield "ccoo_single_nan", n, [ccoo(n, 32, 4, [from_bits(0x7FF8000000000123)], single=True)]
    # Lanes that end with padding anywhere in a row, of chunks of several rows and of one; ids and raw values.
    for k, value in ((2, "f64"), (4, "f32"), (8, "f64")):
        lengths = [3, 0, 1, 12, 7, 300]
        n = Matrix(6, 301, [(r, c, (r * c % 11 - 5) / (8 if r == 4 else 2)) for r in range(6) for c in range(lengths[r])],
                   value)
        lut = sorted({v for r, _, v in n.entries if r != 4})
        yield f"ccoo_padding_inside_rows_k{k}", n, [ccoo(n, 32, k, lut, fills=range(1, k + 1))]
    n = Matrix(3, 40, [(r, c, -1.5) for r in range(3) for c in range(0, 40, r + 1)])
    yield "ccoo_padding_inside_rows_single", n, [ccoo(n, 32, 4, [-1.5], single=True, fills=(3, 4, 1))]
    n, lut = all_encodings()
    yield "ccoo_all_encodings", n, [ccoo(n, 8, 1, lut)]
    n = Matrix(8, 30, [(7, 20, 4.0), (7, 24, -1.0), (7, 27, -1.0)])
    chunk = (0b0_000_1_00_0, 7, 20, bytes(8) + bytes([0, 4] + 6 * [7]) + bytes([1] + 7 * [0]))
    yield "ccoo_one_row_with_row_bytes", n, [ccoo_part(n, 8, 1, [chunk], [-1.0, 4.0])]
    n = chunk_ends()
    yield "ccoo_chunk_ends", n, [ccoo(n, 8, 1)]

    yield from padded()
    yield from diagonals()
    yield from blocked()
    yield from in_packets()
    yield from sliced()
    yield from flagged()
    yield from jagged()

    three = [(0, 0), (1, 4), (2, 8)]
    yield "zstd_none", *zstd(m, w.library_frame, [(0, 0)] * 3)
    yield "zstd_shuffle", *zstd(m, w.library_frame, [(1, 4), (1, 4), (1, 8)])
    yield "zstd_delta", *zstd(m, w.library_frame, [(2, 4), (2, 4), (2, 8)])
    yield "zstd_raw_frames", *zstd(m, w.raw_frame, three)
    yield "zstd_unknown_size", *zstd(m, w.raw_frame_of_unknown_size, [(2, 2), (1, 1), (2, 4)])
    yield "zstd_rle_frames", *zstd(m, w.rle_frame, [(2, 8), (2, 4), (1, 2)])
    yield "zstd_two_blocks", *many_rows()

    for rows, columns in ((0, 0), (0, 3), (3, 0), (3, 3)):
        n = Matrix(rows, columns, [])
        for part in (csr(n), coo(n), ell(n), ellpack_r(n), sell(n, 32), pjds(n), dia(n), ccoo(n, 256, 4),
                     amb(n, 65536, 4, 32, 32), csell(n), bitflag(n), sjds(n)):
            yield f"empty_{rows}x{columns}_{name_of(part)}", n, [part]
        if rows == columns:
            yield f"empty_{rows}x{columns}_pkt", n, [pkt(n, [list(range(rows))] if rows else [], 2)]
    yield "no_parts", Matrix(3, 3, []), []
    yield from two_parts()
    yield from transposes()
    yield from limits()
    yield "provenance", m, [csr(m)], [provenance(COMMENTED)]
    yield "provenance_unknown_key", m, [csr(m)], [provenance("colour=green\n")]
    yield "provenance_comments_left_out", m, [csr(m)], [provenance(COMMENTED + "comments_left_out=17\n")]
    field = "csell            1.50000e-05 1.75000e-05"
    tuned = f"measured_on={'A GPU':64}\nmeasured={field},{7 * (40 * ' ' + ',')}".rstrip(",") + "\n"
    yield "provenance_measured", m, [csr(m)], [provenance(tuned)]
    yield "provenance_measured_loosely", m, [csr(m)], [provenance("measured_on=\nmeasured=a 0 1e3,, b 1 2 ,\n")]
    odd = "source=a\r\0\x1b\x7f\u0085\u2028\U0010ffff=\n=\nentries=18446744073709551615\nmax_relative_error=1.e-310\n"
    yield "provenance_odd_text", m, [csr(m)], [provenance(odd)]
    # Lists are in any order: local row 0 is row 4, and so on; columns alike.
    rows, columns = [4, 0, 3, 1, 2], [2, 6, 0, 5, 1, 4, 3]
    n = Matrix(5, 7, [(rows.index(r), columns.index(c), v) for r, c, v in SMALL])
    for part in (csr(n), coo(n), ell(n), ellpack_r(n), sell_2(n), dia(n), ccoo(n, 32, 2), amb_4_2(n), csell(n),
                 bitflag(n), sjds(n)):
        yield f"lists_in_any_order_{name_of(part)}", m, [part.row_list(rows).column_list(columns)]
    n = Matrix(5, 7, [(r, columns.index(c), v) for r, c, v in SMALL])
    yield "lists_in_any_order_pjds", m, [pjds(n).column_list(columns)]
    square, order, other = pkt_example(), [3, 0, 5, 1, 4, 2], [1, 5, 0, 4, 2, 3]
    n = Matrix(6, 6, [(order.index(r), other.index(c), v) for r, c, v in square.entries])
    yield "lists_in_any_order_pkt", square, [pkt(n, [list(range(6))], 2).row_list(order).column_list(other)]
    part = csr(m)
    part.sections.append(Section("hint_17", "u16", [1, 2, 3], flags=0, alignment=2))
    yield "unknown_optional_sections", m, [part], [Section("note", "u8", b"anything", flags=0, alignment=1)]
    # Sections that this version does not know are not decoded, and may stand anywhere.
    part = csr(m).row_list(range(5))
    part.sections.insert(0, part.sections.pop())
    part.sections.insert(2, Section("hint_17", "u8", b"anything", flags=0).zstd(0, 0, lambda raw: b"no frame"))
    loose = Section("note", "u8", b"anything", flags=0).zstd(0, 0, lambda raw: b"no frame")
    yield "unknown_sections_not_decoded", m, [part], [loose]


def shares():
    """The matrix small() in shares of three ranks, of rows 0-1, 2 and 3-4, and columns 0-2, 3-4 and 5-6; and in two,
    renumbered."""
    whole = small()
    for rank, (rows, columns, ghosts) in enumerate((((0, 2), (0, 3), []), ((2, 3), (3, 5), [1]), ((3, 5), (5, 7), [0, 1]))):
        place = {c: i for i, c in enumerate([*range(*columns), *ghosts])}
        share = Matrix(rows[1] - rows[0], len(place),
                       sorted((r - rows[0], place[c], v) for r, c, v in whole.entries if rows[0] <= r < rows[1]))
        image = Image(share, [csr(share)], [w.share_list("ghosts", ghosts), provenance(COMMENTED)])
        yield f"share_{rank}", share, image.share_of(whole, rank, 3, rows[0], columns[0], columns[1] - columns[0])
    square = Matrix(3, 3, [(0, 0, 1.0), (1, 0, 2.0), (1, 2, 3.0), (2, 1, 4.0)])
    # Rank 1 has row 1 of the source, rank 0 the others, which the whole calls 2, 0 and 1.
    share = Matrix(1, 3, [(0, 1, 2.0), (0, 2, 3.0)])
    lists = [w.share_list("original_rows", [1]).zstd(0, 0, w.raw_frame), w.share_list("ghosts", [0, 1])]
    yield "share_renumbered", share, Image(share, [coo(share)], lists).share_of(square, 1, 2, 2, 2, 1)
    nobody = Matrix(0, 0, [])
    empty = Image(nobody, [csr(nobody)], [w.share_list("ghosts", [])])
    yield "share_without_rows", nobody, empty.share_of(square, 1, 3, 3, 3, 0)
    yield "share_of_one_rank", square, Image(square, [csr(square)], [w.share_list("ghosts", [])]).share_of(
        square, 0, 1, 0, 0, 3)


def accept():
    for name, matrix, image in shares():
        yield name, matrix, image.pack()
    for name, matrix, parts, *loose in containers():
        yield name, matrix, Image(matrix, parts, *loose).pack()
    image = Image(small(), [csr(small())])
    image.header["optional"] = 1 << 63 | 1
    yield "optional_features", small(), image.pack()
    # General for the source, found to be symmetric or skew-symmetric; the other bits mean nothing.
    for name, feature, sign in (("symmetric", 2, 1.0), ("skew", 4, -1.0)):
        n = Matrix(4, 4, [(0, 2, 0.0), (2, 0, 0.0 * sign), (1, 3, -5.0), (3, 1, -5.0 * sign)])
        image = Image(n, [csr(n)])
        image.header["optional"] = feature | 1 << 63 | 1
        yield f"found_{name}", n, image.pack()
