"""Hand-made containers that every reader must reject, one for each rule of docs/FORMAT.md: reject() gives (name,
exit code, stage, bytes). 3 is no container, 4 is corrupt, 5 is unsupported. All checksums are right unless the rule is a
checksum."""

import pathlib
import struct

import numpy as np

import spmvc_writer as w
from golden_accept import (BOUND_OF_VALUES, TWO_PACKETS, amb_4_2, chunk_ends, figure_2, long_frame, long_provenance, most_rows,
                           name_of, permuted, sell_2, small)
from spmvc_writer import (PATTERNS, Image, Matrix, Section, SjdsSlices, amb, amb_part, bitflag, ccoo, ccoo_part, coo,
                          csell, csell_part, csr, dia, ell, ellpack_r, pjds, pkt, sell, sjds)

TOO_MANY = 2**32 - 1
NO_COLUMN = NO_ROW = 2**32 - 1
SHARED = 2**31
WRAP = 2**64
# Written when 0.2 was the format; nothing writes it any more.
OF_0_2 = pathlib.Path(__file__).resolve().parent.parent / "golden" / "witnesses" / "reject" / "version_0_2.spmvc"


def image(layout=csr, loose=()):
    m = small()
    return Image(m, [layout(m)], loose)


def ccoo_8_2(m):
    return ccoo(m, 8, 2)


def bend(img, table, index=0, **fields):
    """Sets fields of the header or of a table entry; a section is named or numbered."""
    entry = img.header
    if table != "header":
        entries = getattr(img, table)
        entry = entries[index] if isinstance(index, int) else next(e for e in entries if e["name"] == index.encode())
    for name, value in fields.items():
        assert name in entry, name
        entry[name] = value(entry[name]) if callable(value) else value
    return img


def with_byte(data, position, change=lambda b: b ^ 1):
    return data[:position] + bytes([change(data[position])]) + data[position + 1:]


def nonzero(size):
    return bytes(size - 1) + b"\1"


# ---- the file and its header


def whole_file():
    good = image().pack()
    yield "length_empty", 4, "length", b""
    yield "length_magic_begun", 4, "length", good[:5]
    yield "length_4095", 4, "length", good[:4095]
    yield "magic_text", 3, "magic", b"%%MatrixMarket matrix coordinate real general\n".ljust(4096, b"\n")
    yield "magic_short_text", 3, "magic", b"1 1\n"
    yield "magic_line_ends", 3, "magic", good[:4] + b"\n\x1a\n" + good[7:]
    for major, minor in ((0, 0), (0, 1), (0, 4), (1, 0), (256, 3)):
        yield f"version_{major}_{minor}", 5, "version", bend(image(), "header", major=major, minor=minor).pack()
    yield "version_0_2", 5, "version", OF_0_2.read_bytes()
    yield "header_checksum", 4, "header checksum", with_byte(good, 4088)
    yield "header_bit", 4, "header checksum", with_byte(good, 32)
    yield "header_reserved_bit", 4, "header checksum", with_byte(good, 2000)
    yield "file_truncated", 4, "file length", good[:-1]
    yield "file_trailing_byte", 4, "file length", good + b"\0"
    yield "file_length", 4, "file length", bend(image(), "header", file_length=lambda n: n + 256).pack()
    yield "tables_bit", 4, "tables checksum", with_byte(good, len(good) - 200)
    yield "tables_checksum", 4, "tables checksum", bend(image(), "header", tables_checksum=1).pack()


def shares():
    """A share of 2 x 4 in rank 1 of 3: rows 2 and 3 of 5, columns 3 and 4 of 7, and ghosts 1 and 6."""
    m, whole = Matrix(2, 4, [(0, 0, 1.0), (0, 2, 2.0), (1, 3, 3.0)]), small()

    def share(ghosts=(1, 6), rows=None, loose=None):
        lists = [w.share_list("ghosts", list(ghosts))] + ([] if rows is None else [w.share_list("original_rows", rows)])
        return Image(m, [csr(m)], lists if loose is None else loose).share_of(whole, 1, 3, 2, 3, 2)

    for name, exit_code, fields in (
        ("global_rows", 5, {"global_rows": TOO_MANY}), ("global_columns", 5, {"global_columns": TOO_MANY}),
        ("rank", 4, {"rank": 3}), ("ranks", 4, {"ranks": 0}), ("first_row", 4, {"first_row": 4}),
        ("first_row_wraps", 4, {"first_row": WRAP - 1}), ("first_column", 4, {"first_column": 6}),
        ("first_column_wraps", 4, {"first_column": WRAP - 1}), ("own_columns", 4, {"own_columns": 5, "first_column": 1}),
        ("columns", 4, {"global_columns": 3, "first_column": 0}), ("global_nonzeros", 4, {"global_nonzeros": 2}),
        ("rank_0_row", 4, {"rank": 0, "first_column": 0}), ("rank_0_column", 4, {"rank": 0, "first_row": 0}),
        ("last_rank_row", 4, {"rank": 2, "first_column": 5}), ("last_rank_column", 4, {"rank": 2, "first_row": 3})):
        yield f"share_{name}", exit_code, "header field", bend(share(), "header", **fields).pack()
    for name, img in (("without_ghosts", share(loose=[])), ("ghosts_count", share([1, 5, 6])),
                      ("original_rows_count", share(rows=[1])), ("ghosts_required", bend(share(), "sections", "ghosts", flags=1)),
                      ("ghosts_type", share(loose=[Section("ghosts", "u64", [1, 6], flags=0)])),
                      ("own_columns_fewer", bend(share(), "header", own_columns=1))):
        yield f"share_{name}", 4, "tables", img.pack()
    for name in ("ghosts", "original_rows"):
        yield f"share_{name}_of_no_share", 4, "tables", image(loose=[w.share_list(name, [])]).pack()
    for name, lists in (("ghosts_fall", ([6, 1],)), ("ghosts_twice", ([1, 1],)), ("ghosts_end", ([1, 7],)),
                        ("ghosts_own", ([1, 4],)), ("original_rows_fall", ([1, 6], [3, 2])),
                        ("original_rows_end", ([1, 6], [2, 5]))):
        yield f"share_{name}", 4, "structure", share(*lists).pack()


def header_fields():
    for name, exit_code, fields in (
        ("header_bytes", 4, {"header_bytes": 8192}), ("required_feature_0", 5, {"required": 1}),
        ("required_feature_63", 5, {"required": 1 << 63}), ("rows", 5, {"rows": TOO_MANY}),
        ("columns", 5, {"columns": TOO_MANY}), ("rows_64_bit", 5, {"rows": 2**63 + 5}),
        ("reserved_60", 4, {"zero_60": nonzero(4)}), ("reserved_124", 4, {"zero_124": nonzero(4)}),
        ("reserved_216", 4, {"zero_216": nonzero(3872)}), ("global_rows", 4, {"global_rows": 5}),
        ("global_columns", 4, {"global_columns": 7}),
        ("first_row", 4, {"first_row": 1}), ("rank", 4, {"rank": 1}), ("ranks", 4, {"ranks": 1}),
        ("first_column", 4, {"first_column": 1}), ("own_columns", 4, {"own_columns": 1}),
        ("global_nonzeros", 4, {"global_nonzeros": 6}), ("partition", 4, {"partition": 1}),
        ("global_digest", 4, {"global_digest": nonzero(16)}),
        ("tables_bytes", 4, {"tables_bytes": lambda n: n + 16}),
        ("tables_offset", 4, {"tables_offset": lambda n: n - 256}), ("tables_offset_zero", 4, {"tables_offset": 0}),
        ("parts", 4, {"P": 2}), ("parameters", 4, {"Q": 2}), ("parameters_most", 4, {"Q": TOO_MANY}),
        ("sections", 4, {"S": 2}),
        ("blocks", 4, {"B": 4}), ("blocks_wrap", 4, {"B": lambda n: n + 2**60})):
        yield f"header_{name}", exit_code, "header field", bend(image(), "header", **fields).pack()
    for field, reserved, undefined in (("value_type", (5, 6, 7), (0, 3, 4, 8, 255)), ("field", (), (0, 4, 5)),
                                       ("symmetry", (), (0, 4, 5)), ("digest_algorithm", (2, 255), (0, ))):
        for value in reserved + undefined:
            yield (f"header_{field}_{value}", 5 if value in reserved else 4, "header field",
                   bend(image(), "header", **{field: value}).pack())
    square = Matrix(2, 2, [(0, 1, 0.0), (1, 0, -0.0)])
    for name, n, features, symmetry in (
        ("both", Matrix(2, 2, []), 6, 1), ("symmetric_of_symmetric", Matrix(2, 2, []), 2, 2),
        ("skew_of_symmetric", Matrix(2, 2, []), 4, 2), ("symmetric_of_skew", square, 2, 3),
        ("skew_of_skew", square, 4, 3), ("symmetric_wide", Matrix(2, 3, []), 2, 1),
        ("skew_tall", Matrix(3, 2, [(0, 1, 1.0), (1, 0, -1.0)]), 4, 1)):
        img = bend(Image(n, [csr(n)]), "header", optional=features, symmetry=symmetry)
        yield f"header_found_{name}", 4, "header field", img.pack()
    # A plain multiply would stay within its vectors, one with A^T would not.
    for symmetry, name in ((2, "symmetric"), (3, "skew")):
        for rows, columns, shape in ((3, 2, "tall"), (2, 3, "wide"), (0, 1, "of_no_rows")):
            entries = [(0, 1, 1.0), (1, 0, -1.0 if symmetry == 3 else 1.0)] if rows else []
            m = Matrix(rows, columns, entries, symmetry=symmetry)
            yield f"header_{name}_{shape}", 4, "header field", Image(m, [csr(m)]).pack()
    n = Matrix(2, 2, [(0, 1, 1 + 1j), (1, 0, 1 - 1j)], "c128")
    for name, fields in (("real_field", {"field": 1}), ("hermitian_of_hermitian", {"optional": 8, "symmetry": 4}),
                         ("hermitian_and_symmetric", {"optional": 10}), ("f64", {"value_type": 1})):
        yield f"header_complex_{name}", 4, "header field", bend(Image(n, [csr(n)]), "header", **fields).pack()
    yield "header_65537_parts", 8, "header field", bend(image(), "header", P=65537).pack()
    img = image()
    img.payload += b"\1"  # the tables start one byte late
    bend(img, "header", tables_offset=lambda n: n + 1, file_length=lambda n: n + 1)
    yield "header_tables_not_aligned", 4, "header field", img.pack()


# ---- tables


def parts():
    for name, exit_code, fields in (
        ("layout_unknown", 5, {"layout": b"sell_c_sigma"}), ("layout_upper_case", 4, {"layout": b"CSR"}),
        ("layout_after_zero", 4, {"layout": b"csr\0x"}), ("layout_empty", 4, {"layout": b""}),
        ("value_type", 4, {"value_type": 2}), ("role_0", 4, {"role": 0}), ("role_2_alone", 4, {"role": 2}),
        ("role_3", 5, {"role": 3}), ("role_4", 4, {"role": 4}), ("row_map", 4, {"row_map": 3}),
        ("column_map", 4, {"column_map": 3}), ("reserved_20", 4, {"zero_20": nonzero(4)}),
        ("reserved_80", 4, {"zero_80": nonzero(16)}), ("all_with_begin", 4, {"row_begin": 1}),
        ("all_columns_with_begin", 4, {"column_begin": 1}), ("all_of_fewer_columns", 4, {"column_count": 6}),
        ("range_beyond", 4, {"column_map": w.RANGE, "column_begin": 1}),
        ("range_wraps", 4, {"row_map": w.RANGE, "row_begin": WRAP - 5}), ("nonzeros", 4, {"nonzeros": 5}),
        ("first_section", 4, {"first_section": 1}),
        ("first_section_far", 4, {"first_section": TOO_MANY}), ("sections_fewer", 4, {"sections": 2}),
        ("sections_more", 4, {"sections": 4}), ("sections_most", 4, {"sections": TOO_MANY}),
        ("first_parameter", 4, {"first_parameter": 1}), ("first_parameter_far", 4, {"first_parameter": TOO_MANY}),
        ("parameters_fewer", 4, {"parameters": 0}), ("parameters_more", 4, {"parameters": 2}),
        ("parameters_most", 4, {"parameters": TOO_MANY})):
        yield f"part_{name}", exit_code, bend(image(), "parts", **fields)

    m = small()
    t = m.transposed()
    yield "part_transpose_of_another_shape", 4, Image(m, [csr(m), csr(m).transpose()])
    yield "part_transpose_nonzeros", 4, Image(m, [csr(m), csr(Matrix(7, 5, t.entries[:5])).transpose()])
    yield "part_transpose_twice", 4, Image(m, [csr(m), csr(t).transpose(), csr(t).transpose()])
    yield "part_transpose_first", 4, Image(m, [csr(t).transpose(), csr(m)])
    yield "part_transpose_range", 4, Image(m, [csr(m), csr(t).row_range(1).transpose()])
    n = Matrix(2, 2, [(0, 1, 1.0), (1, 0, 1.0)], symmetry=2)
    yield "part_transpose_of_symmetric", 4, Image(n, [csr(n), csr(n).transpose()])
    n = Matrix(2, 2, [(0, 1, 1.0), (1, 0, 1.0)])
    yield "part_transpose_of_found", 4, bend(Image(n, [csr(n), csr(n).transpose()]), "header", optional=2)
    nothing = csr(Matrix(5, 7, []))
    yield "part_without_entries_among_others", 4, Image(m, [csr(m), nothing])
    yield "part_without_entries_first", 4, Image(m, [nothing, csr(m)])
    yield "part_without_entries_twice", 4, Image(Matrix(5, 7, []), [nothing, nothing])
    yield "part_of_transpose_without_entries", 4, Image(m, [csr(m), csr(t).transpose(),
                                                            coo(Matrix(7, 5, [])).transpose()])
    yield "part_rows_of_all", 8, Image(*most_rows(1))
    n, of_rows = most_rows(1)
    n = n.transposed()
    yield "part_rows_of_all_of_transpose", 8, Image(n, [coo(n)] + [part.transpose() for part in of_rows])
    part = csr(Matrix(4, 7, m.entries[:3]))
    yield "part_all_of_fewer_rows", 4, Image(Matrix(5, 7, m.entries[:3]), [part])
    yield "part_nonzeros_sum", 4, bend(image(), "header", nonzeros=7)
    yield "part_nonzeros_sum_wraps", 4, Image(m, [csr(m), bent_part(csr(Matrix(5, 7, [])), nonzeros=WRAP - 6)])
    yield "part_map_missing", 4, bend(image(), "parts", row_map=w.LIST)
    yield "part_map_with_begin", 4, Image(m, [bent_part(coo(m).row_list(range(5)), row_begin=1)])
    yield "part_map_without_list", 5, bend(Image(m, [csr(m).row_list(range(5))]), "parts", row_map=w.ALL)
    yield "part_map_count", 4, Image(m, [csr(m).row_list(range(4))])
    yield "part_map_element", 4, bend_list(m, element=2, count=10)
    yield "part_map_not_device", 4, bend_list(m, flags=1)
    yield "part_map_optional", 4, bend_list(m, flags=0)
    for name, b, k in (("b_0", 0, 1), ("b_4", 4, 1), ("b_12", 12, 1), ("b_512", 512, 1), ("k_0", 8, 0), ("k_3", 8, 3),
                       ("k_16", 8, 16)):
        yield f"part_ccoo_{name}", 4, Image(m, [with_parameters(ccoo_8_2(m), lanes=b, slots=k)])
    ones = Matrix(2, 2, [(0, 0, 1.0), (1, 1, 1.0)])
    for name, single, lut in (("2", 2, [1.0]), ("no_value", 1, []), ("two_values", 1, [1.0, 2.0])):
        part = with_parameters(ccoo(ones, 8, 2, [1.0], single=True), single=single)
        part.section("lut").raw = ones.value_bytes(lut)
        yield f"part_ccoo_single_{name}", 4, Image(ones, [part])


def parameters():
    """The table of parameters. A csr part has one, an amb part three, a coo part none."""
    m, longest = small(), ("longest_row", 3)
    for name, exit_code, stored in (
        ("unknown", 5, [longest, ("shortest_row", 1)]), ("unknown_first", 5, [("a", 1), longest]),
        ("of_another_layout", 5, [longest, ("basis", 1)]), ("twice", 4, [longest, longest]),
        ("upper_case", 4, [("Longest_row", 3)]), ("name_empty", 4, [("", 3)]),
        ("name_after_zero", 4, [("longest_row\0x", 3)]),
        ("sixteen", 5, [longest] + [(f"later_{i}", 1) for i in range(15)]),
        ("seventeen", 8, [longest] + [(f"later_{i}", 1) for i in range(16)])):
        yield f"parameter_{name}", exit_code, image().set_parameters(stored)
    yield "parameter_of_coo", 5, image(coo).set_parameters([longest])
    yield "parameter_of_no_part", 4, image().set_parameters([longest, longest], of=1)
    nothing = Matrix(5, 7, [])
    yield "parameter_of_0", 4, Image(nothing, [csr(nothing)]).set_parameters([("longest_row", 0)])
    good = [("segment_cols", 4), ("block", 2), ("chunk_rows", 2)]
    assert image(amb_4_2).parameters == image(amb_4_2).set_parameters(good).parameters
    yield "parameter_order", 4, image(amb_4_2).set_parameters([good[0], good[2], good[1]])
    yield "parameter_order_reversed", 4, image(amb_4_2).set_parameters(good[::-1])
    two = Image(m, [csr(Matrix(5, 7, m.entries[:3])), csr(Matrix(5, 7, m.entries[3:]))])
    yield "parameter_of_two_parts", 4, bend(two, "parts", 1, first_parameter=0)


def layout_parts():
    """Sections and parameters of the layouts whose rows are padded."""
    m, four, nothing = small(), Matrix(4, 7, small().entries[:3]), Matrix(3, 3, [])
    zero = Matrix(5, 7, m.entries + [(2, 2, 0.0)])
    for layout in (ellpack_r, sell_2, pjds, dia, amb_4_2):
        for name in (s.name for s in layout(zero).sections if s.name != "row_map"):
            kind = name_of(layout(zero))
            part = layout(zero)
            section = part.section(name)
            elements = np.frombuffer(section.raw, w.DTYPE[section.element])
            section.element = "u32" if section.element == "u64" else "u64"
            section.raw = elements.view("<u8").tobytes() if name == "values" else elements.astype(
                w.DTYPE[section.element]).tobytes()
            yield f"section_{kind}_{name}_element", 4, Image(zero, [part])
            if name not in ("col_start", "empty_rows", "shared_rows", "stored_zeros"):  # of any count
                part = layout(zero)
                part.section(name).raw += bytes(elements.itemsize)
                yield f"section_{kind}_{name}_count", 4, Image(zero, [part])
    for layout in (dia, amb_4_2):
        for name, flags in (("required", 1), ("device", 2), ("required_device", 3)):
            part = layout(zero)
            part.section("stored_zeros").flags = flags
            yield f"section_{name_of(part)}_stored_zeros_{name}", 4, Image(zero, [part])
        part = layout(zero)
        part.sections.insert(0, part.sections.pop())
        yield f"section_{name_of(part)}_stored_zeros_first", 4, Image(zero, [part])
        part = layout(zero)
        part.section("stored_zeros").alignment = 8
        yield f"section_{name_of(part)}_stored_zeros_alignment", 4, Image(zero, [part])
    yield "section_amb_stored_zeros_of_b1", 4, Image(m, [amb(m, 4, 1, 2, 4, stored_zeros=[])])

    # One slot, or block, that is of no row, step or lane.
    for part in (ellpack_r(m), sell_2(m), amb(m, 4, 1, 2, 4)):
        part.section("col_idx").raw += bytes(w.ELEMENT_BYTES[part.section("col_idx").element])
        part.section("values").raw += bytes(8)
        yield f"section_{name_of(part)}_slots", 4, Image(m, [part])
    part = ellpack_r(Matrix(0, 7, []), col_idx=[NO_COLUMN], values=bytes(8))
    yield "section_ellpack_r_slots_of_no_row", 4, Image(Matrix(0, 7, []), [part])
    yield "section_pjds_col_start_empty", 4, Image(m, [pjds(m, col_start=[])])
    for name in ("encoding", "row_base"):
        part = ccoo_8_2(m)
        part.section(name).raw += bytes(w.ELEMENT_BYTES[part.section(name).element])
        yield f"section_ccoo_{name}_count", 4, Image(m, [part])

    for name, matrix, part, parameters in (
        ("slice_rows_0", nothing, sell_2(nothing), {"slice_rows": 0}),
        ("slice_rows_3", m, sell_2(m), {"slice_rows": 3}),
        ("slice_rows_65537", nothing, sell(nothing, 65536), {"slice_rows": 65537}),
        ("slice_rows_far", nothing, sell(nothing, 65536), {"slice_rows": WRAP - 1}),
        ("basis_2", m, pjds(m), {"basis": 2}), ("permuted_wide", m, pjds(m).column_list(range(7)), {"basis": 1}),
        ("block_rows_65537", nothing, pjds(nothing), {"block_rows": 65537}),
        ("block_rows_far", nothing, pjds(nothing), {"block_rows": WRAP - 1}),
        ("permuted_without_list", Matrix(7, 7, m.entries), pjds(Matrix(7, 7, m.entries)), {"basis": 1}),
        ("permuted_without_lists", four, without_list(pjds(Matrix(4, 4, four.entries))), {"basis": 1}),
        ("segment_cols_0", nothing, amb_4_2(nothing), {"segment_cols": 0}),
        ("segment_cols_65537", nothing, amb_4_2(nothing), {"segment_cols": 65537}),
        ("block_0", nothing, amb_4_2(nothing), {"block": 0}), ("block_9", nothing, amb_4_2(nothing), {"block": 9}),
        ("block_3", m, amb_4_2(m), {"block": 3}), ("chunk_rows_0", nothing, amb_4_2(nothing), {"chunk_rows": 0}),
        ("chunk_rows_1025", nothing, amb_4_2(nothing), {"chunk_rows": 1025}),
        ("chunk_rows_3", m, amb_4_2(m), {"chunk_rows": 3})):
        yield f"part_{name_of(part)}_{name}", 4, Image(matrix, [with_parameters(part, **parameters)])
    for name, matrix, part, parameters in csell_parts():
        yield f"part_csell_{name}", 4, Image(matrix, [with_parameters(part, **parameters)])
    for name, matrix, part, parameters in bitflag_parts():
        yield f"part_bitflag_{name}", 4, Image(matrix, [with_parameters(part, **parameters)])
    for name, matrix, part, parameters in sjds_parts():
        yield f"part_sjds_{name}", 4, Image(matrix, [with_parameters(part, **parameters)])
    for name, matrix, part, parameters in pkt_parts():
        yield f"part_pkt_{name}", 4, Image(matrix, [with_parameters(part, **parameters)])
    for name, element in (("packet_ptr", "u64"), ("step_ptr", "u64"), ("rows", "u16"), ("local_idx", "u16"),
                          ("values", "u64")):
        part = one_packet()
        part.section(name).element = element
        yield f"section_pkt_{name}_element", 4, Image(inside_packets(), [part])
    for name, size in (("packet_ptr", 4), ("step_ptr", 4), ("rows", 4), ("local_idx", 8), ("values", 8)):
        part = one_packet()
        part.section(name).raw += bytes(size)
        yield f"section_pkt_{name}_count", 4, Image(inside_packets(), [part])
        part = one_packet()
        part.sections.remove(part.section(name))
        yield f"section_pkt_{name}_not_there", 4, Image(inside_packets(), [part])
    for source, name, size in (("raw", "windows", 4), ("raw", "slices", 4), ("raw", "values", 8), ("raw", "codes", 4),
                               ("code", "slices", 4)):
        part = sjds(m, source)
        part.section(name).raw += bytes(size)
        yield f"section_sjds_{source}_{name}_count", 4, Image(m, [part])
    part = sjds(m)
    part.section("values").raw = part.section("values").raw[8:]
    yield "section_sjds_raw_values_missing", 4, Image(m, [part])
    yield "section_sjds_raw_values_of_code", 4, Image(m, [sjds(m, values=m.value_bytes([1.5]), codes=[0])])
    for name, alignment in (("windows", 4), ("slices", 32), ("stream", 64), ("values", 8), ("codes", 4)):
        part = sjds(m, "code")
        part.section(name).alignment = alignment
        yield f"section_sjds_{name}_alignment", 4, Image(m, [part])
    for name, element in (("windows", "f32"), ("slices", "f32"), ("stream", "f32"), ("values", "u64"),
                          ("codes", "f32")):
        part = sjds(m, "code")
        part.section(name).element = element
        yield f"section_sjds_{name}_element", 4, Image(m, [part])
    for source, name in (("code", "windows"), ("code", "slices"), ("code", "stream"), ("raw", "values"),
                         ("code", "values"), ("raw", "codes"), ("code", "codes")):
        part = sjds(m, source)
        part.sections.remove(part.section(name))
        yield f"section_sjds_{source}_{name}_not_there", 4, Image(m, [part])
    part = sjds(m, "code")
    part.sections.append(part.sections.pop(3))
    yield "section_sjds_codes_before_values", 4, Image(m, [part])
    part = sjds(m, "code")
    part.section("values").name = "table"
    yield "section_sjds_table", 5, Image(m, [part])
    two_rows = Matrix(2, 2, [])
    img = bend(Image(two_rows, [bitflag(two_rows, in_segments=2)]), "header", rows=2**23 + 1)
    yield "part_bitflag_segments_of_too_many_rows", 4, bend(img, "parts", row_count=2**23 + 1)
    for name in ("chunks", "stream"):  # of four and of eight u32
        part = bitflag(m, "table", hot=[6])
        part.section(name).raw += bytes(4)
        yield f"section_bitflag_{name}_count", 4, Image(m, [part])
    yield "section_bitflag_no_end", 4, Image(m, [bitflag(m, chunks=[])])
    for segments in ([0], [0, 1]):
        part = bitflag(m, segments=segments)
        yield f"section_bitflag_segments_of_{len(segments)}", 4, Image(m, [part])
    for name in ("slices", "patterns", "stream", "tiles"):
        part = csell_table(m)
        part.section(name).raw += bytes(4)
        yield f"section_csell_{name}_count", 4, Image(m, [part])
    img = bend(Image(nothing, [amb_4_2(nothing)]), "header", rows=SHARED + 1)
    yield "part_amb_rows", 4, bend(img, "parts", row_count=SHARED + 1)


def csell_table(matrix):
    return csell(matrix, "table", tile_slices=1)


def csell_parts():
    m = small()
    odd_rows, odd_columns = Matrix(5, 6, m.entries[:-1]), Matrix(6, 7, m.entries)
    ones = Matrix(5, 7, [(r, c, 1.0) for r, c, _ in m.entries])
    yield "source_6", m, csell(m), {"source": 6}
    yield "block_0", m, csell(m, slices=[]), {"block": 0}
    yield "block_5", m, csell(m), {"block": 5}
    yield "block_of_odd_rows", odd_rows, csell(odd_rows), {"block": 2}
    yield "block_of_odd_columns", odd_columns, csell(odd_columns), {"block": 2}
    yield "sums_3", m, csell(m), {"sums": 3}
    yield "patterns_only_2", m, csell(m, "raw", PATTERNS), {"patterns_only": 2}
    yield "step_values", m, csell(m, "step", PATTERNS, values=bytes(12 * 8)), {}
    yield "single_values", ones, csell(ones, "single", values=ones.value_bytes([1, 1])), {}
    pair = Matrix(2, 2, [(0, 1, 1.5), (1, 0, 1.5)])
    mirror = csell(pair, "mirror", PATTERNS)
    mirror.sections = [s for s in mirror.sections if s.name != "references"]
    yield "mirror_without_references", pair, mirror, {}
    yield "mirror_of_33_values", pair, csell(pair, "mirror", PATTERNS, values=bytes(8 * 33)), {}
    raw = csell(pair)
    raw.sections.append(Section("references", "u16", [], flags=2))
    yield "references_of_raw", pair, raw, {}
    yield "tile_slices_of_raw", m, csell(m, tiles=[0, 0]), {"tile_slices": 1}
    yield "tile_slices_0", m, csell(m, "table", tile_slices=1, tiles=[]), {"tile_slices": 0}
    yield "tile_slices_far", m, csell(m, tiles=[0, 8]), {"source": 1, "tile_slices": 2**32, "largest_tile": 8}


def inside_packets():
    """Rows 0, 2 and 4, and 1, 3 and 5, with what is inside of these packets."""
    return Matrix(6, 6, [(0, 0, 1.0), (0, 2, 2.0), (0, 4, 3.0), (1, 1, 4.0), (1, 3, 5.0), (2, 0, 6.0), (2, 2, 7.0),
                         (3, 3, 8.0), (5, 5, 9.0)])


def one_packet(threads=2):
    return pkt(inside_packets(), TWO_PACKETS, threads)


def pkt_parts():
    n, nothing = inside_packets(), Matrix(3, 3, [])
    yield "packet_rows_3073", n, one_packet(), {"packet_rows": 3073}
    yield "packet_rows_far", n, one_packet(), {"packet_rows": 2**63}
    yield "threads_0", nothing, pkt(nothing, [[0, 1, 2]], 1), {"threads": 0}
    yield "threads_1025", nothing, pkt(nothing, [[0, 1, 2]], 1), {"threads": 1025}
    yield "threads_3", n, one_packet(), {"threads": 3}
    yield "no_pointers", nothing, pkt(nothing, [[0, 1, 2]], 1, packet_ptr=[], step_ptr=[]), {}
    yield "fewer_slots_than_entries", n, pkt(n, TWO_PACKETS, 2, local_idx=[0, 1], values=n.value_bytes([1, 2])), {}
    wide = Matrix(6, 7, n.entries)
    yield "not_square", wide, pkt(wide, TWO_PACKETS, 2), {}


def bitflag_parts():
    m = small()
    ones = Matrix(5, 7, [(r, c, 1.0) for r, c, _ in m.entries])
    yield "source_3", m, bitflag(m), {"source": 3}
    yield "tile_chunks_0", m, bitflag(m), {"tile_chunks": 0}
    yield "tile_chunks_0_continued", m, bitflag(m), {"tile_chunks": 0, "continued": 1}  # a workspace divides by it
    yield "tile_chunks_33", m, bitflag(m, tile=33), {}
    yield "chunks_of_no_tile", m, bitflag(m), {"tile_chunks": 2}
    yield "raw_values", m, bitflag(m, values=m.value_bytes([1])), {}
    yield "table_of_no_value", m, bitflag(m, "table", values=[]), {}
    yield "table_of_257_values", m, bitflag(m, "table", values=m.value_bytes(range(257))), {}
    yield "single_values", ones, bitflag(ones, "single", values=ones.value_bytes([1, 1])), {}
    yield "source_5", m, bitflag(m), {"source": 5}
    yield "window_of_no_value", Matrix(5, 7, []), bitflag(Matrix(5, 7, []), "window"), {}
    yield "decimal_values", ones, bitflag(ones, "decimal", values=ones.value_bytes([1])), {}
    yield "decimal_of_f32", Matrix(5, 7, [], "f32"), bitflag(Matrix(5, 7, [], "f32"), "decimal"), {}
    yield "hot_32769", Matrix(1, 32769, []), bitflag(Matrix(1, 32769, []), hot=range(32769)), {}
    wide = Matrix(1, 2**31 + 1, [(0, 7, 1.0)])
    yield "hot_of_too_many_columns", wide, bitflag(wide, hot=[7]), {}
    for segments in (5, 8):  # the fifth has no columns; there are seven
        yield f"segments_{segments}", m, bitflag(m, segments=[0] * (segments + 1)), {}
    yield "segments_and_hot", m, bitflag(m, hot=[6], in_segments=2), {}
    yield "segments_too_wide", Matrix(1, 131073, []), bitflag(Matrix(1, 131073, []), in_segments=2), {}


def sjds_parts():
    m, nothing = small(), Matrix(5, 7, [])
    yield "source_2", nothing, sjds(nothing), {"source": 2}
    for rows in (0, 4, 12, 65544, 2**32 + 8):
        windows = [0] * (-(-5 // max(rows, 1)) + 1)
        yield f"window_rows_{rows}", nothing, sjds(nothing, windows=windows), {"window_rows": rows}
    yield "windows_of_fewer_rows", Matrix(17, 7, []), sjds(Matrix(17, 7, []), windows=[0, 0]), {}
    yield "windows_missing", nothing, sjds(nothing, windows=[]), {}
    for size in (5, 7):
        yield f"slices_of_{size}", nothing, sjds(nothing, slices=[0] * size), {}
    for pieces in (3, 2**32 + 1, 2**64 - 1):
        yield f"pieces_{pieces}", m, sjds(m, long=2), {"pieces": pieces}
    yield "table_of_17_values", m, with_section(sjds(m, "code"), "values", range(17)), {}


def without_list(part):
    part.sections.pop()
    return bent_part(part, row_map=w.RANGE, column_map=w.RANGE)


def permuted_parts():
    """A permuted basis is one of the whole matrix: permute() takes all of a vector through the part's list."""
    entries = [(0, 1, 1.5), (1, 4, 2.0), (4, 2, 3.0), (4, 4, -1.0)]
    for rows, columns, shape in ((7, 7, "a_part"), (5, 7, "wide"), (7, 5, "tall")):
        yield f"part_pjds_permuted_{shape}_of_matrix", 4, Image(
            Matrix(rows, columns, entries), [permuted(Matrix(5, 5, entries))])


def bent_part(part, **fields):
    part.fields.update(fields)
    return part


def patched(part, **changes):
    """Sets elements of sections: section={index: value}."""
    for name, elements in changes.items():
        section = part.section(name)
        array = np.frombuffer(section.raw, w.DTYPE[section.element]).copy()
        for i, value in elements.items():
            array[i] = value
        section.raw = array.tobytes()
        if "patterns_only" in part.parameters and name == "slices":  # which no longer may be what the part says of them
            part.parameters["patterns_only"] = int(np.all(array[3::4] <= 255))
    return part


def with_parameters(part, **parameters):
    for name, value in parameters.items():
        assert name in part.parameters, name
        part.parameters[name] = value
    return part


def bend_list(m, **fields):
    return bend(Image(m, [csr(m).row_list(range(5))]), "sections", "row_map", **fields)


def sections():
    n = Matrix(2, 2, [(0, 1, 1 + 1j)], "c128")
    part = csr(n)
    part.fields["layout"], part.parameters = b"dia", {}
    yield "part_complex_dia", 5, Image(n, [part])
    m = small()
    for name, exit_code, fields in (
        ("name_upper_case", 4, {"name": b"Values"}), ("name_after_zero", 4, {"name": b"values\0x"}),
        ("name_empty", 4, {"name": b""}), ("name_twice", 4, {"name": b"col_idx"}),
        ("unknown_required", 5, {"name": b"sigma"}), ("missing", 4, {"name": b"sigma", "flags": 2}),
        ("part", 4, {"part": 1}), ("part_none", 4, {"part": w.NO_PART}), ("element_0", 4, {"element": 0}),
        ("element_7", 4, {"element": 7}), ("element_8", 4, {"element": 8}), ("element_9", 4, {"element": 9}),
        ("element_other", 4, {"element": 4}), ("codec", 5, {"codec": 2}),
        ("filter", 5, {"codec": 1, "filter": 3, "filter_width": 8}),
        ("filter_without_codec", 4, {"filter": 1, "filter_width": 8}),
        ("filter_width_without_filter", 4, {"filter_width": 8}), ("filter_width_0", 4, {"codec": 1, "filter": 1}),
        ("filter_width_3", 4, {"codec": 1, "filter": 1, "filter_width": 3}),
        ("filter_width_16_without_filter", 4, {"filter_width": 16}),
        ("filter_width_32", 4, {"codec": 1, "filter": 1, "filter_width": 32}), ("flags_reserved", 4, {"flags": 7}),
        ("not_required", 4, {"flags": 2}), ("not_device", 4, {"flags": 1}), ("alignment_0", 4, {"alignment": 0}),
        ("alignment_3", 4, {"alignment": 3}), ("alignment_512", 4, {"alignment": 512}),
        ("alignment_other", 4, {"alignment": 8}), ("reserved_29", 4, {"zero_29": nonzero(3)}),
        ("reserved_80", 4, {"zero_80": nonzero(16)}), ("count", 4, {"count": 5}),
        ("count_and_raw_bytes", 4, {"count": 5, "raw_bytes": 40}), ("raw_bytes", 4, {"raw_bytes": 47}),
        ("stored_bytes", 4, {"stored_bytes": 47}), ("offset", 4, {"offset": lambda n: n + 256}),
        ("offset_overlaps", 4, {"offset": lambda n: n - 256}), ("offset_not_aligned", 4, {"offset": lambda n: n + 16}),
        ("offset_far", 4, {"offset": WRAP - 256}), ("first_block", 4, {"first_block": 1}),
        ("first_block_far", 4, {"first_block": WRAP - 1}), ("blocks_0", 4, {"blocks": 0}),
        ("blocks_2", 4, {"blocks": 2}), ("blocks_far", 4, {"blocks": WRAP - 2})):
        yield f"section_{name}", exit_code, bend(image(), "sections", "values", **fields)

    optional = Section("note", "u64", [1, 2, 3, 4], flags=0, alignment=8)
    yield "section_count_wraps", 4, bend(image(loose=[optional]), "sections", "note", count=2**61 + 4)
    yield "section_loose_twice", 4, image(loose=[optional, optional])
    yield "section_loose_required", 5, bend(image(loose=[optional]), "sections", "note", flags=1)
    for flags in (0, 1, 2):
        signature = Section("signature", "u8", bytes(64), flags=flags)
        yield f"section_signature_{flags}", 5, image(loose=[signature])
    yield "section_loose_of_part", 4, bend(image(loose=[optional]), "sections", "note", part=0)
    yield "section_values_of_no_part", 5, image(loose=[Section("values", "f64", [], flags=3)])
    yield "provenance_too_long", 8, image(loose=[long_provenance((1 << 20) + 1)])
    yield "block_stored_bytes_of_frame", 4, Image(m, [long_frame(BOUND_OF_VALUES + 1)])
    yield "provenance_element", 4, image(loose=[Section("provenance", "u16", b"ab=cd\n", flags=0)])
    odd = Section("note", "u8", bytes(7), flags=0).zstd(0, 0, w.raw_frame)
    yield "section_filter_divides", 4, bend(image(loose=[odd]), "sections", "note", filter=1, filter_width=2)
    for a, b in ((0, 1), (1, 2)):
        part = csr(m)
        part.sections[a], part.sections[b] = part.sections[b], part.sections[a]
        yield f"section_order_{a}", 4, Image(m, [part])
    yield "section_row_ptr_count", 4, Image(m, [csr(m, row_ptr=[0, 0, 2, 3, 3])])
    part = csr(m)
    part.sections[0].element, part.sections[0].raw = "u64", struct.pack("<6Q", 0, 0, 2, 3, 3, 6)
    yield "section_row_ptr_of_64_bits", 4, Image(m, [part])
    yield "section_coo_row_count", 4, Image(m, [coo(m, row_idx=[1, 1, 2, 4, 4])])
    lut = [i / 2 for i in range(257)]
    yield "section_lut_of_257", 4, Image(m, [ccoo(m, 8, 2, lut)])

    img = image()
    img.payload += bytes(256)
    bend(img, "header", tables_offset=lambda n: n + 256, file_length=lambda n: n + 256)
    yield "gap_before_tables", 4, img
    img = image()
    img.payload[:0] = bytes(256)
    for s in img.sections:
        s["offset"] += 256
    bend(img, "header", tables_offset=lambda n: n + 256, file_length=lambda n: n + 256)
    yield "gap_before_sections", 4, img
    yield "block_stored_bytes", 4, bend(image(), "blocks", 2, stored_bytes=49)
    yield "block_reserved", 4, bend(image(), "blocks", 2, zero_12=nonzero(4))
    img = image()
    img.blocks.append(img.blocks[-1])
    bend(img, "header", B=4, tables_bytes=lambda n: n + 16, file_length=lambda n: n + 16)
    yield "block_unused", 4, img


# ---- padding, block checksums, decoding


def payload():
    img = image()
    img.payload[255] = 1
    yield "padding_between_sections", 4, "padding", img.pack()
    img = image()
    img.payload[-1] = 1
    yield "padding_before_tables", 4, "padding", img.pack()
    yield "block_bit", 4, "block checksum", with_byte(image().pack(), 4096 + 512)
    yield "block_checksum", 4, "block checksum", bend(image(), "blocks", 1, checksum=lambda n: n ^ 1 << 63).pack()
    img = image(loose=[Section("note", "u8", b"anything", flags=0)])
    img.payload[768] ^= 1
    yield "block_bit_of_unknown_section", 4, "block checksum", img.pack()
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    for name, frame in (
        ("no_frame", lambda raw: raw), ("empty", lambda raw: b""), ("truncated", lambda raw: w.library_frame(raw)[:-1]),
        ("header_only", lambda raw: w.raw_frame(raw)[:9]), ("trailing_byte", lambda raw: w.raw_frame(raw) + b"\0"),
        ("two_frames", lambda raw: w.raw_frame(raw[:8]) + w.raw_frame(raw[8:])),
        ("empty_frame_after", lambda raw: w.raw_frame(raw) + w.raw_frame(b"")),
        ("skippable_frame_before", lambda raw: skippable + w.raw_frame(raw)),
        ("skippable_frame_after", lambda raw: w.raw_frame(raw) + skippable),
        ("too_short", lambda raw: w.raw_frame(raw[:-1])), ("too_long", lambda raw: w.raw_frame(raw + b"\0")),
        ("too_short_unknown_size", lambda raw: w.raw_frame_of_unknown_size(raw[:-1])),
        ("too_long_unknown_size", lambda raw: w.raw_frame_of_unknown_size(raw + b"\0")),
        ("content_size_lies", lambda raw: w.raw_frame(raw[:-1]).replace(struct.pack("<I", 47), struct.pack("<I", 48))),
        ("content_checksum", lambda raw: with_byte(w.raw_frame_of_unknown_size(raw), -4 % (len(raw) + 16))),
        ("dictionary", lambda raw: w.ZSTD_MAGIC + b"\xa1" + b"\x07" + w.raw_frame(raw)[5:]),
        ("reserved_bit", lambda raw: with_byte(w.raw_frame(raw), 4, lambda b: b | 8)),
        ("bomb", bomb)):
        m = small()
        part = csr(m)
        part.section("values").zstd(1, 8, frame)
        yield f"zstd_{name}", 4, "decode", Image(m, [part]).pack()


def bomb(_):
    """20 RLE blocks of 128 KiB that claim to be less than 1 KiB of content."""
    rle = struct.pack("<I", 128 * 1024 << 3 | 1 << 1)[:3] + b"\0"
    return w.ZSTD_MAGIC + b"\x00\x38" + 20 * rle + w.block(b"", 0, True)


# ---- structure


def structure():
    m = small()
    for name, layout, arrays in (
        ("csr_row_ptr_start", csr, {"row_ptr": [1, 1, 2, 3, 3, 6]}),
        ("csr_row_ptr_falls", csr, {"row_ptr": [0, 2, 0, 3, 3, 6]}),
        ("csr_row_ptr_far", csr, {"row_ptr": [0, 0, TOO_MANY, 3, 3, 6]}),
        ("csr_row_ptr_ends_early", csr, {"row_ptr": [0, 0, 2, 3, 3, 5]}),
        ("csr_row_ptr_ends_late", csr, {"row_ptr": [0, 0, 2, 3, 3, 7]}),
        ("csr_column", csr, {"col_idx": [0, 2, 1, 0, 1, 7]}),
        ("csr_column_far", csr, {"col_idx": [0, 2, 1, 0, 1, TOO_MANY]}),
        ("csr_columns_fall", csr, {"col_idx": [2, 0, 1, 0, 1, 6]}),
        ("csr_column_twice", csr, {"col_idx": [0, 2, 1, 0, 6, 6]}),
        ("coo_row", coo, {"row_idx": [1, 1, 2, 4, 4, 5]}),
        ("coo_row_far", coo, {"row_idx": [1, 1, 2, 4, 4, TOO_MANY]}),
        ("coo_rows_fall", coo, {"row_idx": [1, 1, 2, 4, 4, 3]}),
        ("coo_column", coo, {"col_idx": [0, 2, 1, 0, 1, 7]}),
        ("coo_columns_fall", coo, {"col_idx": [2, 0, 1, 0, 1, 6]}),
        ("coo_entry_twice", coo, {"col_idx": [0, 2, 1, 0, 1, 1]})):
        yield name, Image(m, [layout(m, **arrays)])
    yield from ccoo_structure()

    for name, text in (("unended", b"source=a.mtx\nentries=6"), ("no_key", b"source\n"), ("empty_line", b"a=b\n\n"),
                       ("twice", b"entries=6\nentries=7\n"), ("unknown_twice", b"colour=red\ncolour=red\n"),
                       ("not_utf8", b"source=\xff.mtx\n"), ("surrogate", b"source=\xed\xa0\x80\n"),
                       ("overlong", b"source=\xc0\xaf\n"), ("beyond_unicode", b"source=\xf4\x90\x80\x80\n"),
                       ("key_not_utf8", b"\xe2\x82=1\n"), ("no_count", b"entries=\n"), ("count", b"entries=many\n"),
                       ("count_signed", b"rounded=-1\n"), ("left_out", b"comments_left_out=some\n"), ("count_of_65_bits", b"duplicates=18446744073709551616\n"),
                       ("error", b"max_relative_error=0x1p-3\n"), ("error_signed", b"max_relative_error=-1\n"),
                       ("error_infinite", b"max_relative_error=inf\n"),
                       ("error_overflows", b"max_relative_error=1e999\n"),
                       ("error_underflows", b"max_relative_error=1e-999\n"),
                       ("measured_words", b"measured=csr 1\n"),
                       ("measured_number", b"measured=csr 1 -2\n"),
                       ("measured_fields", b"measured=" + 8 * b"," + b"\n")):
        yield f"provenance_{name}", image(loose=[Section("provenance", "u8", text, flags=0)])
    yield "row_map_twice", Image(m, [csr(m).row_list([0, 1, 1, 3, 4])])
    yield "row_map_beyond", Image(m, [csr(m).row_list([0, 1, 2, 3, 5])])
    yield "row_map_far", Image(m, [csr(m).row_list([0, 1, 2, 3, TOO_MANY])])
    yield "column_map_twice", Image(m, [coo(m).column_list([6, 1, 2, 3, 4, 5, 6])])
    yield "column_map_beyond", Image(m, [coo(m).column_list([0, 1, 2, 3, 4, 5, 7])])
    nothing = Matrix(5, 7, [])
    yield "row_map_of_empty_part_twice", Image(nothing, [csr(Matrix(2, 7, [])).row_list([4, 4])])
    for layouts in (ell_structure, sell_structure, pjds_structure, dia_structure, amb_structure, pkt_structure, csell_structure,
                    csell_mirrors, bitflag_structure,
                    bitflag_segments, bitflag_values,
                    sjds_windows, sjds_slices, sjds_pieces, sjds_stream, sjds_columns):
        for name, matrix, part in layouts():
            yield name, Image(matrix, [part])
    for longest in (0, 2, 4):
        yield f"csr_longest_row_{longest}", Image(m, [with_parameters(csr(m), longest_row=longest)])
    twice = Matrix(5, 7, m.entries + m.entries[3:4])
    yield "parts_share_an_entry", Image(twice, [csr(m), csr(Matrix(5, 7, m.entries[3:4]))])
    one = coo(Matrix(1, 1, [(0, 0, 9.0)])).row_list([4]).column_range(0)
    yield "parts_share_a_mapped_entry", Image(twice, [coo(m), one])
    t = m.transposed()
    yield "transpose_parts_share_an_entry", Image(
        m, [csr(m), csr(Matrix(7, 5, t.entries[:5])).transpose(), csr(Matrix(7, 5, t.entries[4:5])).transpose()])
    yield "transpose_row_map_beyond", Image(m, [csr(m), csr(t).row_list([0, 1, 2, 3, 4, 5, 7]).transpose()])
    yield "transpose_column_beyond", Image(m, [csr(m), patched(coo(t), col_idx={0: 5}).transpose()])


def ccoo_structure():
    """Chunks of the figure: 8 row bytes, 8 column bytes, 8 ids into a lut of two."""
    m, (good, ) = figure_2()
    blob = good.section("blob").raw
    lut = [-1.0, 4.0]

    def one(encoding=0x08, row_base=4, col_base=20, content=blob, matrix=m, b=8, values=lut, **override):
        return Image(matrix, [ccoo_part(matrix, b, 1, [(encoding, row_base, col_base, content)], values, **override)])

    def changed(position, value):
        return blob[:position] + bytes([value]) + blob[position + 1:]

    raw_values = blob[:16] + m.value_bytes([e[2] for e in m.entries])
    assert one(0x00, content=raw_values).pack() and one().pack() == Image(*figure_2()).pack()
    yield "ccoo_first_chunk_continues", one(0x88)
    yield "ccoo_encoding_unused_columns", one(0x0E, content=blob[:8] + bytes(64) + blob[16:])
    yield "ccoo_groups", one(0x18, content=2 * blob)
    yield "ccoo_groups_of_b_64", one(0x28, b=64, content=bytes(3 * 96))
    yield "ccoo_wider_columns", one(0x0A)
    yield "ccoo_values_not_ids", one(0x00)
    yield "ccoo_blob_offset_0", one(blob_offset=[1], content=b"\0" + blob)
    yield "ccoo_blob_offset_far", one(blob_offset=[WRAP - 8])
    yield "ccoo_blob_longer", one(content=blob + bytes(8))
    yield "ccoo_blob_shorter", one(content=blob[:-1])
    yield "ccoo_blob_empty", one(content=b"")
    yield "ccoo_first_row_byte", one(content=bytes(b + 1 for b in blob[:8]) + blob[8:], row_base=3)
    yield "ccoo_row_bytes_fall", one(content=changed(1, 1))
    yield "ccoo_no_column_offset_0", one(col_base=19, content=blob[:8] + bytes(b + 1 for b in blob[8:16]) + blob[16:])
    yield "ccoo_row", one(row_base=5)
    yield "ccoo_row_wraps", one(row_base=TOO_MANY)
    yield "ccoo_column", one(col_base=23)
    yield "ccoo_column_wraps", one(col_base=2**32 - 20)
    yield "ccoo_columns_fall", one(content=changed(8 + 7, 3))
    yield "ccoo_id", one(content=changed(16 + 7, 2))
    ones = Matrix(8, 30, [(r, c, 4.0) for r, c, _ in m.entries])

    def single(encoding, content):
        return Image(ones, [ccoo_part(ones, 8, 1, [(encoding, 4, 20, content)], [4.0], single=True)])
    assert single(0x08, blob[:16]).pack()
    yield "ccoo_single_raw", single(0x00, blob[:16])
    yield "ccoo_single_raw_values", single(0x00, blob[:16] + ones.value_bytes([4.0] * 8))
    yield "ccoo_single_with_ids", single(0x08, blob[:16] + bytes(8))
    yield "ccoo_single_columns_fall", single(0x08, changed(8 + 7, 3)[:16])
    # The last slot as padding: the same row and column as the one before it.
    seven = Matrix(8, 30, m.entries[:7])
    padded = changed(8 + 7, 4)
    assert one(content=padded, matrix=seven).pack()
    yield "ccoo_padding_id", one(content=padded[:-1] + b"\1", matrix=seven)
    values = seven.value_bytes([e[2] for e in seven.entries] + [-0.0])
    yield "ccoo_padding_value", one(0x00, content=padded[:16] + values, matrix=seven)
    yield "ccoo_lut_empty", one(values=[])
    yield "ccoo_padding_counted", one(content=changed(8 + 7, 4))
    n = Matrix(8, 30, m.entries + [(7, 28, 4.0)])
    two = [(0x08, 4, 20, blob), (0x89, 7, 28, bytes(8) + b"\1" + bytes(7))]
    assert Image(n, [ccoo_part(n, 8, 1, two, lut)]).pack()
    for name, chunk in (("chunk_row_falls", (0x09, 6, 28)), ("chunk_column_falls", (0x89, 7, 26)),
                        ("chunk_entry_twice", (0x89, 7, 27)), ("chunk_continues_unannounced", (0x09, 7, 28))):
        yield f"ccoo_{name}", Image(n, [ccoo_part(n, 8, 1, [two[0], chunk + two[1][3:]], lut)])
    apart = Matrix(9, 30, m.entries + [(8, 28, 4.0)])
    assert Image(apart, [ccoo_part(apart, 8, 1, [two[0], (0x09, 8, 28, two[1][3])], lut)]).pack()
    yield "ccoo_chunk_continues_nothing", Image(
        apart, [ccoo_part(apart, 8, 1, [two[0], (0x89, 8, 28, two[1][3])], lut)])
    yield "ccoo_blob_offset_overlaps", Image(n, [ccoo_part(n, 8, 1, two, lut, blob_offset=[0, 16])])
    yield "ccoo_blob_offset_falls", Image(n, [ccoo_part(n, 8, 1, two, lut, blob_offset=[24, 0])])
    # K = 2, one row: an entry may follow a lane whose second slot is padding, but not one whose first slot is.
    three = Matrix(1, 20, [(0, 3, 4.0), (0, 5, 4.0), (0, 9, 4.0)])

    def of_2(*columns):
        lanes = bytes(c - 3 for c in columns) + bytes([6] * (16 - len(columns)))
        ids = bytes(int(i == 0 or lanes[i] != lanes[i - 1]) for i in range(16))
        return Image(three, [ccoo_part(three, 8, 2, [(0x09, 0, 3, lanes + ids)], lut)])

    yield "ccoo_entry_after_padding_lane", of_2(3, 5, 5, 5, 9)
    of_4 = bytes([0, 2, 2, 6] + 28 * [6])
    yield "ccoo_entry_after_padding", Image(three, [
        ccoo_part(three, 8, 4, [(0x09, 0, 3, of_4 + bytes([1, 1, 0, 1] + 28 * [0]))], lut)])
    # Two groups of 32 lanes; the first slot of the second repeats the slot before it.
    wide = Matrix(1, 63, [(0, c, 4.0) for c in range(63)])
    columns = [c if c < 32 else c - 1 for c in range(64)]
    yield "ccoo_group_starts_with_padding", Image(
        wide, [ccoo_part(wide, 64, 1, [(0x19, 0, 0, bytes(columns) + 32 * b"\1" + b"\0" + 31 * b"\1")], lut)])
    far = chunk_ends()
    fewer = ccoo(Matrix(far.rows, far.columns, far.entries[:-1]), 8, 1)
    yield "ccoo_entry_missing", Image(far, [bent_part(fewer, nonzeros=len(far.entries))])


# Name, matrix and part.


def ell_structure():
    m, none = small(), NO_COLUMN  # rows 0 and 3 of 5 are empty, the longest has 3
    wider = Matrix(5, 7, m.entries[:-2])  # no row has the width any more
    for layout in (ell, ellpack_r):
        kind = layout.__name__
        for name, columns in (("column", [none, 0, 1, none, 7] + [none, 2, none, none, 8] + [none] * 4 + [9]),
                              ("falls", [none, 2, 1, none, 0] + [none, 0, none, none, 1] + [none] * 4 + [6]),
                              ("gap", [none, none, 1, none, 0] + [none, 0, none, none, 1] + [none, 2, none, none, 6])):
            yield f"{kind}_{name}", m, layout(m, col_idx=columns)
        yield f"{kind}_padding_value", m, layout(m, values=m.value_bytes([1.0] * 15))
        part = layout(m, col_idx=[none, 0, 1, none, 0, none, 2] + [none] * 8,
                      values=m.value_bytes([0, 1.5, 0.1, 0, 1e300, 0, -2.0] + [0] * 8))
        if layout == ellpack_r:
            patched(part, row_len={4: 1})
        yield f"{kind}_width", wider, bent_part(part, nonzeros=4)
    for name, length in (("less", 2), ("more", 4), ("far", TOO_MANY)):
        yield f"ellpack_r_row_len_{name}", m, patched(ellpack_r(m), row_len={4: length})
    yield "ellpack_r_row_len_of_empty_row", m, patched(ellpack_r(m), row_len={0: 1})


def sell_structure():
    """Slices of 2 rows: 0 and 1; 2 and 3; 4."""
    m = small()
    for name, changes in (("start", {0: 1}), ("falls", {1: 3, 2: 2}), ("far", {1: TOO_MANY}), ("ends_early", {3: 5}),
                          ("ends_late", {3: 7})):
        yield f"sell_slice_ptr_{name}", m, patched(sell_2(m), slice_ptr=changes)
    for name, changes in (("column", {10: 7}), ("column_far", {10: TOO_MANY - 1}), ("falls", {1: 2, 3: 0}),
                          ("entry_twice", {3: 0})):
        yield f"sell_{name}", m, patched(sell_2(m), col_idx=changes)
    yield "sell_padding_value", m, patched(sell_2(m), values={0: -0.0})
    n = Matrix(2, 4, [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.0), (1, 3, 4.0)])
    assert sell_2(n).section("values").raw == n.value_bytes([1, 4, 2, 0, 3, 0])
    yield "sell_gap", n, patched(sell_2(n), col_idx={1: NO_COLUMN, 3: 3}, values={1: 0, 3: 4.0})
    n = Matrix(1, 2, [(0, 0, 1.0), (0, 1, 2.0)])
    yield "sell_entry_past_the_last_row", n, sell(n, 2, slice_ptr=[0, 1], col_idx=[0, 1],
                                                  values=n.value_bytes([1.0, 2.0]))
    yield "sell_slice_wider", n, sell(n, 1, slice_ptr=[0, 3], col_idx=[0, 1, NO_COLUMN],
                                      values=n.value_bytes([1, 2, 0]))


def pjds_structure():
    m, none = small(), NO_COLUMN
    # 40 rows, the last two empty, one longer than the others: jagged columns of 40 and 32.
    n = Matrix(40, 3, [(r, r % 3, 1.0) for r in range(38)] + [(5, 0, 2.0)])
    assert pjds(n).section("col_start").raw == struct.pack("<3Q", 0, 40, 72)
    for name, changes in (("start", {0: 1}), ("falls", {1: 80}), ("far", {1: WRAP - 1}), ("ends_early", {2: 71}),
                          ("ends_late", {2: 104})):
        yield f"pjds_col_start_{name}", n, patched(pjds(n), col_start=changes)
    for name, heights in (("without_slots", [40, 32, 0]), ("ends_in_block", [40, 8]), ("beyond_rows", [64, 32]),
                          ("longer_than_needed", [40, 40]), ("of_padding", [40, 32, 32])):
        yield f"pjds_jagged_{name}", n, pjds(n, heights=heights)
    first = Matrix(40, 3, [e for e in n.entries if e[0] < 32])
    assert Image(first, [pjds(first, heights=[32, 32])]).pack() == Image(first, [pjds(first)]).pack()
    yield "pjds_jagged_rises", first, pjds(first, heights=[32, 40])
    # Blocks of four: the second jagged column has four rows at least.
    assert pjds(n, block=4).section("col_start").raw == struct.pack("<3Q", 0, 40, 44)
    for name, heights in (("ends_in_block_of_4", [40, 5]), ("longer_than_block_of_4", [40, 8])):
        yield f"pjds_jagged_{name}", n, pjds(n, block=4, heights=heights)
    yield "pjds_jagged_padding_in_blocks_of_1", n, pjds(n, block=1, heights=[40, 1])
    yield "pjds_jagged_of_other_blocks", n, with_parameters(pjds(n, block=4), block_rows=8)

    # Rows 4, 1, 2, 0 and 3 of 3, 2, 1, 0 and 0 entries.
    assert pjds(m).section("col_idx").raw[:40] == struct.pack("<10I", 0, 0, 1, none, none, 1, 2, none, none, none)
    for name, changes in (("column", {10: 7}), ("column_far", {10: TOO_MANY - 1}), ("falls", {1: 2, 6: 0}),
                          ("entry_twice", {6: 0})):
        yield f"pjds_{name}", m, patched(pjds(m), col_idx=changes)
    yield "pjds_padding_value", m, patched(pjds(m), values={3: -0.0})
    yield "pjds_gap", m, patched(pjds(m), col_idx={6: none, 11: 2}, values={6: 0, 11: -2.0})
    yield "pjds_rows_rise", m, patched(pjds(m), col_idx={1: 1, 2: 0, 6: none, 7: 2},
                                       values={1: 0.1, 2: 1.5, 6: 0, 7: -2.0})

    # In the permuted basis, row 4 has the columns 3, 1, 6: 0, 1 and 6 of the matrix.
    n = Matrix(7, 7, m.entries)
    assert permuted(n).section("col_idx").raw[:4] == struct.pack("<I", 3)
    yield "pjds_permuted_sorted_by_part", n, patched(permuted(n), col_idx={0: 1, 7: 3})
    yield "pjds_permuted_entry_twice", n, patched(permuted(n), col_idx={7: 3})
    yield "pjds_permuted_column", n, patched(permuted(n), col_idx={0: 7})
    yield "pjds_permuted_column_far", n, patched(permuted(n), col_idx={0: TOO_MANY - 1})
    yield "pjds_permuted_lists_differ", n, patched(permuted(n), col_map={5: 6, 6: 5})


def dia_structure():
    m = small()  # offsets 0, 1, 3, 5, 6; the column of row 0 on the first is -4
    for name, changes in (("twice", {0: 1}), ("fall", {0: 1, 1: 0})):
        yield f"dia_offsets_{name}", m, patched(dia(m), offsets=changes)
    yield "dia_value_left_of_the_part", m, patched(dia(m), values={0: -0.0})
    n = Matrix(2, 1, [(0, 0, 1.0)])
    yield "dia_value_right_of_the_part", n, patched(dia(n), values={1: -0.0})

    one = Matrix(2, 2, [(0, 0, 1.0)])
    for name, offset in (("beyond", 3), ("far", WRAP - 1)):
        yield f"dia_offset_{name}", one, dia(one, offsets=[1, offset], values=one.value_bytes([1, 0, 0, 0]))
    for rows, columns in ((0, 0), (0, 2), (2, 0)):
        nothing = Matrix(rows, columns, [])
        yield f"dia_diagonal_of_{rows}x{columns}", nothing, dia(nothing, offsets=[0], values=bytes(8 * rows))

    # The values are 0 (without a column), 1, 0 and 0.
    n = Matrix(2, 2, [(0, 0, 0.0), (1, 0, 1.0), (1, 1, 0.0)])
    for name, zeros in (("fall", [3, 2]), ("twice", [2, 2]), ("beyond", [2, 4]), ("far", [2, WRAP - 1]),
                        ("of_an_entry", [1, 2]), ("outside_of_the_part", [0, 2]), ("missing", [2]),
                        ("more", [0, 2, 3])):
        yield f"dia_stored_zeros_{name}", n, dia(n, stored_zeros=zeros)
    part = dia(n)
    part.sections.pop()
    yield "dia_without_stored_zeros", n, part


def pkt_structure():
    """Slots of packet 0: 0 2, 0 2, 0 -, of rows; of packet 1: 1 3, 1 5."""
    n = inside_packets()
    good = one_packet()
    local = [0, 1 << 16, 1, 1 << 16 | 1, 2, NO_ROW, 0, 1 << 16 | 1, 1, 2 << 16 | 2]
    assert good.section("local_idx").raw == struct.pack("<10I", *local)
    assert good.section("step_ptr").raw == struct.pack("<3I", 0, 3, 5)
    for name, changes in (
        ("starts_late", {"packet_ptr": {0: 1}}), ("steps_start_late", {"step_ptr": {0: 1}}),
        ("ends_early", {"packet_ptr": {2: 5}}), ("ends_late", {"packet_ptr": {2: 7}}),
        ("ends_far", {"packet_ptr": {2: TOO_MANY}}), ("steps_end_early", {"step_ptr": {2: 4}}),
        ("steps_end_late", {"step_ptr": {2: 6}}), ("steps_end_far", {"step_ptr": {2: TOO_MANY}}),
        ("packets_fall", {"packet_ptr": {1: 6}}), ("packet_of_no_rows", {"packet_ptr": {1: 0}}),
        ("packet_too_large", {"packet_ptr": {1: 2}}), ("steps_fall", {"step_ptr": {1: 6}}),
        ("row_twice", {"rows": {3: 2}}), ("row_beyond", {"rows": {5: 6}}), ("row_far", {"rows": {5: TOO_MANY}}),
        ("rows_fall", {"rows": {0: 2, 1: 0}}), ("row_outside", {"local_idx": {9: 3 << 16 | 2}}),
        ("column_outside", {"local_idx": {9: 2 << 16 | 3}}), ("row_far_outside", {"local_idx": {9: 0xFFFE0002}}),
        ("column_far_outside", {"local_idx": {9: 0x0002FFFF}}), ("columns_fall", {"local_idx": {2: 0, 0: 1}}),
        ("column_twice", {"local_idx": {2: 0}}), ("rows_of_thread_fall", {"local_idx": {7: 2 << 16 | 2, 9: 1 << 16 | 1}}),
        ("row_of_two_threads", {"local_idx": {7: 1}}), ("row_of_two_threads_later", {"local_idx": {8: 2 << 16}}),
        ("entry_after_padding", {"local_idx": {3: NO_ROW}, "values": {3: 0}}),
        ("entry_after_padding_at_once", {"local_idx": {1: NO_ROW, 5: 1 << 16 | 2}, "values": {1: 0, 5: 1.0}}),
        ("padding_with_value", {"values": {5: 1.0}}), ("padding_of_minus_0", {"values": {5: -0.0}}),
        ("entry_more", {"local_idx": {5: 1 << 16 | 2}, "values": {5: 1.0}}),
        ("entry_less", {"local_idx": {9: NO_ROW}, "values": {9: 0}})):
        yield f"pkt_{name}", n, patched(one_packet(), **changes)
    part = pkt(n, TWO_PACKETS, 2, step_ptr=[0, 3, 6], local_idx=[*local, NO_ROW, NO_ROW],
               values=n.value_bytes([1, 6, 2, 7, 3, 0, 4, 8, 5, 9, 0, 0]))
    part.fields["nonzeros"] = 9
    yield "pkt_steps_of_padding", n, part


def amb_structure():
    """Two lanes a chunk, blocks of two. Chunks: rows 1 and 2, two steps; row 4; row 4 in the second segment."""
    m = small()
    good = amb_4_2(m)
    assert good.section("row_idx").raw == struct.pack("<6I", 1, 2, SHARED, NO_ROW, SHARED + 1, NO_ROW)
    assert good.section("col_idx").raw == struct.pack("<8H", 0, 1, 2, 1, 0, 0, 1, 0)
    for name, changes in (
        ("steps", {"cl": {2: 1 << 16 | 1}}), ("steps_of_chunks", {"cl": {0: 0, 1: 1}}),
        ("segment", {"cl": {2: 2 << 16}}), ("segment_far", {"cl": {2: 0xFFFF << 16}}), ("cs", {"cs": {1: 1}}),
        ("cs_start", {"cs": {0: 1}}), ("cs_far", {"cs": {2: TOO_MANY}}), ("row_twice", {"row_idx": {1: 1}}),
        ("row_beyond", {"row_idx": {1: 5}}), ("row_far", {"row_idx": {1: SHARED - 1}}),
        ("row_and_shared", {"row_idx": {1: 4}}), ("row_and_empty", {"row_idx": {1: 3}}),
        ("row_missing", {"row_idx": {1: NO_ROW}, "col_idx": {1: 0, 3: 0}, "values": {1: 0}}),
        ("partial_sum_twice", {"row_idx": {4: SHARED}}), ("partial_sum_beyond", {"row_idx": {4: SHARED + 2}}),
        ("partial_sum_far", {"row_idx": {4: NO_ROW - 1}}),
        ("partial_sum_missing", {"row_idx": {4: NO_ROW}, "col_idx": {6: 0}, "values": {14: 0}}),
        ("partial_sums_fall", {"row_idx": {2: SHARED + 1, 4: SHARED}}), ("shared_row", {"shared_rows": {1: 5}}),
        ("shared_row_far", {"shared_rows": {0: TOO_MANY, 1: TOO_MANY}}),
        ("shared_row_and_empty", {"shared_rows": {0: 3, 1: 3}}), ("empty_row_and_row", {"empty_rows": {1: 2}}),
        ("empty_rows_fall", {"empty_rows": {0: 3, 1: 0}}), ("empty_row_twice", {"empty_rows": {1: 0}}),
        ("empty_row_far", {"empty_rows": {1: TOO_MANY}}), ("columns_fall", {"col_idx": {0: 2, 2: 0}}),
        ("column_without_row", {"col_idx": {5: 1}}), ("value_without_row", {"values": {9: -0.0}}),
        ("block_leaves_segment", {"col_idx": {2: 3}}),
        ("block_leaves_part", {"col_idx": {6: 2}, "values": {12: -0.25, 14: 0}}),
        ("block_far", {"col_idx": {2: 0xFFFF}}), ("padding_value", {"values": {5: -0.0}})):
        yield f"amb_{name}", m, patched(amb_4_2(m), **changes)
    yield "amb_empty_row_missing", m, amb(m, 4, 2, 2, 4, empty_rows=[0])
    yield "amb_empty_row_beyond", m, amb(m, 4, 2, 2, 4, empty_rows=[0, 3, 5])
    # The first block loses its entry, which its row has elsewhere: two entries in the next block.
    yield "amb_block_without_entries", m, patched(amb_4_2(m), values={0: 0, 6: 1.5})
    values = np.frombuffer(good.section("values").raw)
    yield "amb_chunk_longer_than_its_lanes", m, amb(
        m, 4, 2, 2, 4, cl=[1, 1, 1 << 16], cs=[0, 2, 4], col_idx=[0, 1, 2, 1, 0, 0, 0, 0, 1, 0],
        values=np.insert(values, 12, [0] * 4))
    yield "amb_chunk_without_rows", m, amb(
        m, 4, 2, 2, 4, cl=[1, 0, 1 << 16, 0], cs=[0, 2, 3, 4],
        row_idx=[1, 2, SHARED, NO_ROW, SHARED + 1, NO_ROW, NO_ROW, NO_ROW],
        col_idx=[0, 1, 2, 1, 0, 0, 1, 0, 0, 0], values=np.append(values, [0] * 4))
    narrow = amb(m, 4, 1, 4, 4)  # row 2 has the third lane, and one block
    assert narrow.section("row_idx").raw[:12] == struct.pack("<3I", 1, SHARED, 2)
    yield "amb_padding_value_of_b1", m, patched(narrow, values={6: -0.0})

    n = Matrix(3, 9, [(r, c, 1.0) for r in (0, 2) for c in (1, 5)])
    assert amb_4_2(n).section("shared_rows").raw == struct.pack("<4I", 0, 0, 2, 2)
    yield "amb_shared_rows_fall", n, patched(amb_4_2(n), shared_rows={0: 2, 1: 2, 2: 0, 3: 0})
    n = Matrix(1, 1, [(0, 0, 1.0)])
    yield "amb_shared_row_with_one_sum", n, amb(n, 1, 1, 1, 1, row_idx=[SHARED], shared_rows=[0])
    n = Matrix(1, 4, [(0, 0, 1.0), (0, 2, 2.0)])
    two = [(0, [(0, [(column, [value, None])])]) for _, column, value in n.entries]
    yield "amb_partial_sums_of_one_segment", n, amb_part(n, 4, 2, 1, two, row_idx=[SHARED, SHARED + 1])
    n = Matrix(2, 8, [(0, 0, 1.0), (0, 2, 2.0), (0, 4, 3.0), (1, 0, 4.0), (1, 2, 5.0)])
    assert amb(n, 8, 2, 2, 2).section("col_idx").raw == struct.pack("<6H", 0, 0, 2, 2, 4, 2)
    yield "amb_block_after_padding", n, patched(amb(n, 8, 2, 2, 2), col_idx={3: 0}, values={5: 0, 9: 5.0})

    # Blocks of columns 5 to 8 and 6 to 9, which overlap.
    n = Matrix(1, 10, [(0, 5, 1.0), (0, 8, 2.0), (0, 9, 3.0)])
    assert amb(n, 10, 4, 1, 1).section("values").raw == n.value_bytes([1, 0, 0, 2, 0, 0, 0, 3])
    yield "amb_entries_fall", n, patched(amb(n, 10, 4, 1, 1), values={5: 3.0, 7: 0})
    yield "amb_entry_twice", n, patched(amb(n, 10, 4, 1, 1), values={6: 3.0, 7: 0})

    # The first block of row 0 holds two zeros, the second a 1; row 1 has one block, and padding.
    n = Matrix(2, 8, [(0, 0, 0.0), (0, 1, 0.0), (0, 4, 1.0), (1, 2, 5.0)])
    assert amb(n, 8, 2, 2, 2).section("stored_zeros").raw == struct.pack("<2Q", 0, 2)
    for name, zeros in (("fall", [2, 0]), ("twice", [0, 0]), ("beyond", [0, 8]), ("far", [0, WRAP - 1]),
                        ("of_an_entry", [0, 4]), ("of_padding", [0, 5]), ("missing", [0]), ("more", [0, 2, 3])):
        yield f"amb_stored_zeros_{name}", n, amb(n, 8, 2, 2, 2, stored_zeros=zeros)


def csell_structure():
    """One slice. As offsets: one group of three steps. As a pattern: four steps and one."""
    m, many = small(), 2**32 - 1
    assert csell(m).section("slices").raw == struct.pack("<4I", 0, 0, 0, 1 << 8)
    assert csell(m).section("stream").raw[:48] == struct.pack("<12I", 0, 1, 6, 0, 0b10110, 0b10010, 0b10000, 0, 0,
                                                              0x100, 1, 0)
    assert csell(m).section("values").raw == m.value_bytes([1.5, 0.1, 1e300, -2, 3, -0.25, 0, 0])
    assert pattern_of(m).section("patterns").raw[:16] == struct.pack("<4I", *(b % 2**32 for b in (-4, -3, -1, 1)))
    for name, changes in (
        ("stream_begins_late", {"slices": {1: 1}}), ("stream_ends_early", {"slices": {3: 2 << 8}}),
        ("stream_goes_on", {"slices": {3: 0}}), ("values_begin_late", {"slices": {2: 1}}),
        ("padding_value", {"values": {7: -0.0}}), ("group_empty", {"stream": {4: 0}}),
        ("offset_of_no_entry", {"stream": {8: 1}}), ("column", {"stream": {2: 7}}),
        ("column_repeats", {"stream": {2: 1}}), ("row", {"stream": {6: 1 << 5}}),
        ("entry_missing", {"stream": {2: 0, 6: 0}, "values": {5: 0}}),
        ("entry_more", {"stream": {6: 0b10010}, "values": {5: 1.0, 6: -0.25}})):
        yield f"csell_{name}", m, patched(csell(m), **changes)
    values = csell(m).section("values").raw
    yield "csell_values_end_early", m, csell(m, values=values[:32])
    yield "csell_values_go_on", m, csell(m, values=values + bytes(32))
    two = Matrix(33, 7, m.entries + [(32, 0, 1.0)])
    assert csell(two).section("slices").raw == struct.pack("<8I", 0, 0, 0, 1 << 8, 0, 5, 2, 1 << 8)
    for name, changes in (("stream_overlaps", {5: 4}), ("stream_far", {5: many, 7: many}), ("values_overlap", {6: 1})):
        yield f"csell_{name}", two, patched(csell(two), slices=changes)
    none = Matrix(0, 3, [])
    yield "csell_stream_of_no_slice", none, csell(none, stream=bytes(32))
    yield "csell_largest_tile_of_raw", m, with_parameters(csell(m), largest_tile=1)
    # A slice of offsets, one of more than 255 patterns, and slices that are patterns, or none, of which it is not said.
    most = Matrix(3, 1030, [(1, c, 4.0) for c in range(1025)])
    for name, matrix, part, said in (("offsets", m, csell(m), 1),
                                     ("many_patterns", most, csell(most, "single", PATTERNS), 1),
                                     ("patterns", m, pattern_of(m), 0), ("nothing", none, csell(none), 0)):
        assert part.parameters["patterns_only"] == 1 - said
        yield f"csell_patterns_only_{said}_of_{name}", matrix, with_parameters(part, patterns_only=said)

    for name, changes in (
        ("beyond", {"slices": {0: 1}}), ("step_after_end", {"patterns": {14: 1}}),
        ("base_of_no_step", {"patterns": {9: 1}}), ("columns_fall", {"patterns": {0: 2**32 - 3, 1: 2**32 - 4}}),
        ("column_negative", {"patterns": {0: 2**32 - 5}})):
        yield f"csell_pattern_{name}", m, patched(pattern_of(m), **changes)
    yield "csell_pattern_not_used", m, csell(m, slices=[1, 0, 0, 1 << 8], patterns=w.csell_group([(0, {0: None})]))
    n = Matrix(1, 2, [(0, 0, 1.0), (0, 1, 2.0)])
    steps = [[(1, {0: (1, [1.0])})], [(1, {0: (1, [2.0])})], [], []]
    yield "csell_column_of_two_kinds", n, csell_part(n, "raw", 1, [steps])

    few = struct.pack("<8I", 0, 1, *6 * [0]) + csell(m).section("stream").raw
    yield "csell_few_groups_in_a_unit", m, csell(m, slices=[0, 0, 0, many], stream=few)
    nothing = Matrix(3, 3, [])
    yield "csell_unit_of_counts_missing", nothing, csell(nothing, slices=[0, 0, 0, many])
    n = Matrix(1, 1021, [(0, c, 4.0) for c in range(1021)])
    yield "csell_counts_of_more_kinds", n, patched(csell(n, "single", PATTERNS), stream={4: 1})

    yield "csell_values_of_its_own", m, patched(csell_table(m), slices={2: 1})
    yield "csell_step_of_offsets", m, csell(m, "step")
    yield "csell_value_of_no_step", m, patched(csell(m, "step", PATTERNS), values={6: -0.0})

    for name, changes in (("beyond", {"tiles": {1: 7}}), ("after_a_gap", {"tiles": {0: 1, 1: 5}}),
                          ("without_all_values", {"tiles": {1: 5}})):
        yield f"csell_tile_{name}", m, patched(csell_table(m), **changes)
    yield "csell_largest_tile", m, with_parameters(csell_table(m), largest_tile=7)
    part = with_parameters(csell(m, "table", tile_slices=1, tiles=[0, 65537], values=bytes(65537 * 8)),
                           largest_tile=65537)
    part.section("values").zstd(0, 0, w.zeros_frame)
    yield "csell_tile_too_large", m, part
    yield "csell_id", m, patched(csell_table(m), stream={40 + 1: 6})
    yield "csell_id_of_no_entry", m, patched(csell_table(m), stream={40: 1})
    n = Matrix(32, 9, [(r, c, r + c / 16) for r in range(32) for c in range(9)])
    assert csell_table(n).parameters["largest_tile"] == 288
    yield "csell_id_of_16_bits", n, patched(csell_table(n), stream={3 * 5 * 8: 288})
    n = Matrix(4, 4, [(r, c, float(r)) for r, c in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3))])
    block = csell(n, "table", PATTERNS, block=2, tile_slices=1)
    last = 3 * 32  # words of ids: of the blocks' last values
    yield "csell_id_of_a_block", n, patched(block, stream={last: 4})
    yield "csell_id_of_no_entry_of_a_block", n, patched(block, stream={last + 2: 1})


def csell_mirrors():
    """One slice of 33 rows and one of one. References: 5, 3, 0, 2 and 4 of steps at distances from -2 to 2."""
    n = Matrix(33, 33, [(r, c, min(r, c) * 3 + max(r, c) + 0.5) for r in range(33) for c in range(33)
                        if abs(r - c) <= 2])

    def part(**changes):
        return patched(csell(n, "mirror", PATTERNS), **changes)

    assert list(np.frombuffer(part().section("references").raw, "<u2"))[:8] == [5, 3, 0, 2, 4, 0, 0, 0]
    assert list(np.frombuffer(part().section("slices").raw, "<u4")) == [0, 0, 0, 2, 2, 0, 24, 1]
    for name, changes in (
        ("of_another_column", {"references": {0: 3}}), ("of_a_mirror", {"references": {3: 3}}),
        ("of_a_slot_beyond", {"references": {0: 7}}), ("slot_beyond", {"references": {4: 6}}),
        ("slot_of_two_entries", {"references": {4: 2}}), ("reference_of_no_step", {"references": {5: 1}}),
        ("slots_begin_late", {"slices": {2: 8}}), ("slots_begin_within_one", {"slices": {6: 23}}),
        ("slots_beyond", {"slices": {6: 1 << 20}}), ("slots_taken", {"slices": {6: 16}}),
        ("references_missing", {"slices": {0: 1 << 30}}), ("references_of_three_bytes", {"slices": {0: 3 << 30}}),
        ("value_of_no_entry", {"values": {96 + 5: -0.0}})):
        yield f"csell_mirror_{name}", n, part(**changes)
    wide = Matrix(2, 3, [(0, 1, 1.5), (1, 0, 1.5), (1, 2, 2.5)])
    assert list(np.frombuffer(csell(wide, "mirror", PATTERNS).section("references").raw, "<u2")) == [1, 0, 0, 0]
    yield "csell_mirror_of_a_row_beyond", wide, csell_part(wide, "mirror", 1, [
        [[(2**32 - 1, {1: (0, [1.5])}), (1, {0: (1, [1.5]), 1: (2, [2.5])})], [], [], []]], references=[1, 1, 0, 0])
    yield "csell_mirror_reference_of_no_entry", wide, patched(
        csell(wide, "mirror", PATTERNS, widths=(1, )), stream={0: 2})
    part = csell(wide, "mirror", widths=(1, ))
    yield "csell_mirror_offsets_without_references", wide, patched(part, slices={0: 0})
    yield "csell_reference_bytes_of_raw", small(), patched(csell(small()), slices={0: 1 << 30})


def pattern_of(matrix):
    return csell(matrix, "raw", PATTERNS)


def bitflag_structure():
    """One chunk, whose flags, columns, ids and rows begin at words 0, 8, 16 and 24 of the stream; and two."""
    m = small()
    good, info = bitflag(m, "table"), 6 | 3 << 9 | 1 << 20
    words = struct.unpack("<32I", good.section("stream").raw)
    assert good.section("chunks").raw == struct.pack("<8I", 0, 0, 0, info, 5, 0, 4, 0)
    assert [words[i] for i in (0, 8, 9, 16, 17, 24)] == [0b1101, 0x00010200, 0x0601, 0x03020100, 0x0504, 0x00040201]
    for name, chunks in (
        ("bit_23", {3: info | 1 << 23}), ("entries_257", {3: info + 251}), ("starts", {3: info + (4 << 9)}),
        ("column_code_3", {3: info | 3 << 18}), ("row_bytes_3", {3: info | 3 << 20}), ("no_row", {3: 6}),
        ("row_bytes_without_rows", {3: 6 | 1 << 20 | 1 << 22}), ("end_with_starts", {7: 1 << 9}),
        ("end_with_a_width", {7: 1 << 18}), ("end_with_a_base", {5: 1}), ("stream_begins_late", {2: 1}),
        ("stream_ends_early", {6: 3}), ("stream_ends_late", {6: 5}), ("wider_columns", {3: info | 1 << 18}),
        ("rows_begin_late", {0: 1}), ("rows_far", {0: TOO_MANY}), ("rows_end_late", {4: 6}), ("rows_end_early", {4: 4}),
        ("more_starts_than_rows", {3: info + (3 << 9)}), ("end_continues", {7: 1 << 22}),
        ("end_with_entries", {7: info}), ("row_skipped_without_offsets", {3: 6 | 3 << 9, 6: 3}),
        ("continues_at_first", {3: info | 1 << 22}), ("continues_at_first_far", {0: TOO_MANY, 3: info | 1 << 22}),
        ("base_beyond", {1: 7}),
        ("base_far", {1: TOO_MANY})):
        yield f"bitflag_{name}", m, patched(bitflag(m, "table"), chunks=chunks)
    for name, stream in (
        ("more_rows_start", {0: 0b1111}), ("fewer_rows_start", {0: 0b1001, 8: 0x00030200}),
        ("first_entry_starts_no_row", {0: 0b1110}), ("start_of_no_entry", {0: 0b1001101}), ("start_far", {7: 1 << 31}),
        ("columns_fall", {8: 0x00010002}), ("column_twice", {8: 0x00010000}), ("column", {9: 0x0701}),
        ("column_of_no_entry", {9: 0x010601}), ("id", {17: 0x0604}), ("id_of_no_entry", {23: 1 << 24}),
        ("rows_fall", {24: 0x00040102}), ("row_twice", {24: 0x00040202}), ("row", {24: 0x00050201}),
        ("row_offset_of_no_row", {24: 0x01040201}), ("row_offset_far", {31: 1 << 24})):
        yield f"bitflag_{name}", m, patched(bitflag(m, "table"), stream=stream)
    # Columns of 3 bytes: two of each in words 8 to 23, the highest ones from word 24 on.
    three = bitflag(m, "table", column_bytes=3)
    assert struct.unpack("<3I", three.section("stream").raw[32:44]) == (0x00020000, 0x00000001, 0x00060001)
    for name, stream in (("column", {24: 1 << 8}), ("column_falls", {8: 0x00020005}),
                         ("column_of_no_entry", {25: 1 << 16}), ("column_far", {24: 0xFF << 24})):
        yield f"bitflag_24_bits_{name}", m, patched(bitflag(m, "table", column_bytes=3), stream=stream)
    for name, stream in (("place", {8: 0x00020001}), ("place_of_another", {24: 0x80008080})):
        yield f"bitflag_24_bits_hot_{name}", m, patched(bitflag(m, "table", hot=[0], column_bytes=3), stream=stream)
    yield "bitflag_stream_goes_on", m, bitflag(m, stream=bitflag(m).section("stream").raw + bytes(32))
    yield "bitflag_value_of_no_entry", m, patched(bitflag(m), stream={16 + 63: 1})
    yield "bitflag_entry_missing", m, patched(bitflag(m, "table"), chunks={3: info - 1}, stream={9: 1, 17: 4})

    n = Matrix(4, 3, [(r, 1, float(r)) for r in range(4)])
    assert bitflag(n).section("chunks").raw == struct.pack("<8I", 0, 1, 0, 4 | 4 << 9, 4, 0, 10, 0)
    listed = bitflag(n, stream=bitflag(n).section("stream").raw + bytes(range(4)) + bytes(28))
    yield "bitflag_offsets_of_consecutive_rows", n, patched(listed, chunks={3: 4 | 4 << 9 | 1 << 20, 6: 11})

    # Four entries, then two of the last row: from word 32 on their flags, columns and ids.
    def two(**options):
        return bitflag(m, "table", size=4, **options)

    second = 2 | 1 << 22
    assert two().section("chunks").raw == struct.pack("<12I", 0, 0, 0, 4 | 3 << 9 | 1 << 20, 4, 1, 4, second,
                                                      5, 0, 7, 0)
    assert two().parameters["continued"] == 1
    for name, chunks in (("row_continued", {4: 3}), ("row_continued_later", {4: 5}), ("row_not_continued", {7: 2}),
                         ("columns_fall_across", {5: 0}), ("rows_begin_again", {4: 0, 7: 2 | 1 << 9})):
        yield f"bitflag_{name}", m, patched(two(), chunks=chunks)
    yield "bitflag_row_starts_and_continues", m, patched(two(), stream={32: 1})
    yield "bitflag_continued_0", m, with_parameters(two(), continued=0)
    yield "bitflag_continued_2", m, with_parameters(two(), continued=2)
    yield "bitflag_continued_in_a_tile", m, with_parameters(two(tile=2), continued=1)

    n = Matrix(5000, 1, [(4096, 0, 1.0)])
    assert bitflag(n).section("chunks").raw == struct.pack("<16I", 0, 0, 0, 0, 4096, 0, 0, 1 | 1 << 9, 4097, 0, 10, 0,
                                                           5000, 0, 10, 0)
    for name, chunks in (("too_many_rows", {4: 4097}), ("rows_fall_back", {8: 4000}), ("base_of_no_entry", {9: 1})):
        yield f"bitflag_{name}", n, patched(bitflag(n), chunks=chunks)

    yield "bitflag_nothing_to_continue", n, with_parameters(
        patched(bitflag(n), chunks={4: 4095, 7: 1 | 1 << 9 | 1 << 22}), continued=1)

    for name, hot in (("falls", [6, 0]), ("twice", [6, 6]), ("beyond", [0, 7]), ("far", [0, TOO_MANY])):
        yield f"bitflag_hot_{name}", m, bitflag(m, hot=hot)
    hot = bitflag(m, hot=[0, 6])
    words = struct.unpack(f"<{len(hot.section('stream').raw) // 4}I", hot.section("stream").raw)
    assert words[8:12] == (SHARED, 2, 1, SHARED)
    for name, word in (("place", SHARED + 2), ("place_far", TOO_MANY)):
        yield f"bitflag_hot_{name}", m, patched(bitflag(m, hot=[0, 6]), stream={8: word})
    yield "bitflag_hot_below_base", m, patched(bitflag(m, hot=[0, 6]), chunks={1: 1}, stream={9: 1, 10: 0, 24: 0})


def bitflag_segments():
    """Columns 0 to 3 in chunks of rows 0 to 4; columns 4 to 6 in one of row 9, which is row 4."""
    m = small()
    good = bitflag(m, in_segments=2)
    assert good.section("chunks").raw == struct.pack("<12I", 0, 0, 0, 5 | 3 << 9 | 1 << 20, 5, 4, 11,
                                                     1 | 1 << 9 | 1 << 20, 10, 0, 22, 0)
    assert good.section("segments").raw == struct.pack("<3I", 0, 1, 2)
    for name, segments in (("begin_late", {0: 1}), ("skip_a_tile", {1: 2}), ("end_early", {2: 1}), ("fall", {1: 0}),
                           ("end_late", {2: 3}), ("far", {1: TOO_MANY})):
        yield f"bitflag_segments_{name}", m, patched(bitflag(m, in_segments=2), segments=segments)
    for name, chunks in (("base", {5: 3}), ("row", {4: 4}), ("end", {8: 5}),
                         ("wide_columns", {7: 1 | 1 << 9 | 6 << 18})):
        yield f"bitflag_segments_{name}", m, patched(bitflag(m, in_segments=2), chunks=chunks)
    yield "bitflag_segments_column", m, patched(bitflag(m, in_segments=2), stream={8: 0x00010400})
    yield "bitflag_segments_in_one_chunk", m, with_section(bitflag(m), "segments", [0, 0, 1])
    wide = Matrix(1, 65538, [(0, 0, 1.0), (0, 65537, 2.0)])
    yield "bitflag_segments_of_wide_columns", wide, bitflag(wide, in_segments=2, column_bytes=4)
    n = Matrix(2, 4, [(1, c, 1.0) for c in range(4)])
    part = bitflag(n, "single", in_segments=2, size=1)
    assert struct.unpack("<20I", part.section("chunks").raw)[8:12:3] == (2, 1 | 1 << 9 | 1 << 20)
    yield "bitflag_segment_continues", n, with_parameters(
        patched(part, chunks={8: 1, 11: 1 | 1 << 22}), continued=part.parameters["continued"] + 1)


def bitflag_values():
    """Three entries in one row, in 4 lanes: ids or integers begin at word 16 of the stream; 128 bytes of integers are
    followed by exponents."""
    n = Matrix(1, 3, [(0, 0, 2e9), (0, 1, 0.5), (0, 2, 7.0)])
    info = 3 | 1 << 9
    assert bitflag(n, "window").section("chunks").raw == struct.pack("<8I", 0, 0, 0, info, 1, 0, 4, 0)
    for name, chunks in (("window_far", {3: info | 1 << 23}), ("window_farthest", {3: info | 511 << 23}),
                         ("window_of_no_entry", {7: 1 << 23})):
        yield f"bitflag_{name}", n, patched(bitflag(n, "window"), chunks=chunks)
    for name, stream in (("id", {16: 3}), ("id_far", {17: 0xFFFF}), ("id_of_no_entry", {17: 1 << 16 | 2}),
                         ("id_of_no_lane", {31: 1})):
        yield f"bitflag_window_{name}", n, patched(bitflag(n, "window"), stream=stream)
    for bits in (4, 8):
        good = bitflag(n, "decimal", decimals=(0, bits))
        words = struct.unpack(f"<{len(good.section('stream').raw) // 4}I", good.section("stream").raw)
        assert len(words) == 56 and words[16:20] == (2000000000, 5, 7, 0)
        assert words[48] == (0x10 if bits == 4 else 0x100)
        assert struct.unpack("<8I", good.section("chunks").raw)[3] == info | bits // 4 << 28
        for name, stream in ((f"{bits}_of_no_entry", {48: 1 << 3 * bits | words[48]}), (f"{bits}_of_no_lane", {55: 1})):
            yield f"bitflag_exponent_{name}", n, patched(bitflag(n, "decimal", decimals=(0, bits)), stream=stream)
        for name, chunks in (("exponents_of_12_bits", {3: info | 3 << 28}), ("exponents_missing", {3: info}),
                             ("bit_30", {3: info | bits // 4 << 28 | 1 << 30}),
                             ("bit_31", {3: info | bits // 4 << 28 | 1 << 31}),
                             ("exponent_23", {3: info | bits // 4 << 28 | 23 << 23}),
                             ("exponents_above_22", {3: info | bits // 4 << 28 | 22 << 23}),
                             ("exponent_of_no_entries", {7: 1 << 23})):
            yield f"bitflag_decimal_{bits}_{name}", n, patched(bitflag(n, "decimal", decimals=(0, bits)), chunks=chunks)
    yield "bitflag_exponent_255", n, patched(bitflag(n, "decimal", decimals=(0, 8)), stream={48: 0xFF00})
    yield "bitflag_exponent_15_and_8", n, patched(bitflag(n, "decimal", decimals=(0, 4)), stream={48: 0x80},
                                                  chunks={3: info | 1 << 28 | 15 << 23})
    yield "bitflag_integer_of_no_entry", n, patched(bitflag(n, "decimal", decimals=(0, 4)), stream={19: 1})


def jagged(source="code"):
    """Windows of 16 rows; the first step of eight lanes is a window step. Slices: rows 0 to 7, with a tail of a step;
    rows 8 and 9; with a list, rows 17 and 19; a piece of 20 entries, of row 18."""
    entries = [(r, r + c, 1.0 + r) for r in range(9) for c in (0, 3)] + [(0, 30, 9.0), (9, 2, 5.0)]
    entries += [(17, c, 2.0) for c in (1, 5, 39)] + [(19, 4, 3.0)] + [(18, 2 * c, 4.0) for c in range(20)]
    m = Matrix(20, 40, entries)
    part = sjds(m, source, 16, long=5, steps=lambda k: k == 0)
    assert list(np.frombuffer(part.section("windows").raw, "<u4")) == [SHARED, SHARED | 2, 3]
    if source == "code":
        assert np.array_equal(np.frombuffer(part.section("slices").raw, "<u4").reshape(-1, 6), [
            [0, 0, 0, 3, 1 | 1 << 13 | 7 << 26, 1 | 1 << 13], [11, 3, 8, 2, 1 << 26, 2 | 3 << 13],
            [17, 5, 16, 1, 1 << 26 | 1 << 30, 3 | 4 << 13], [28, 8, 18, 16, 1 | 1 << 13, 1 | 4 << 13]])
    return m, part


def bent_jagged(source="code", **changes):
    m, part = jagged(source)
    return m, patched_bytes(part, **changes)


def patched_bytes(part, stream={}, **changes):
    """Sets bytes of the stream, and elements of other sections."""
    raw = bytearray(part.section("stream").raw)
    for i, value in stream.items():
        raw[i] = value
    part.section("stream").raw = bytes(raw)
    return patched(part, **changes)


def sjds_windows():
    for name, windows in (
        ("begin_late", {0: SHARED | 1}), ("fall", {1: SHARED | 4}), ("far", {1: TOO_MANY}),
        ("end_early", {2: 2}), ("end_late", {2: 4}), ("end_with_rows", {2: SHARED | 3}),
        ("without_flag", {0: 0}), ("of_a_long_row_without_flag", {1: 2})):
        yield f"sjds_windows_{name}", *bent_jagged(windows=windows)
    for pieces in (0, 2, 4):
        m, part = jagged()
        yield f"sjds_pieces_counted_{pieces}", m, with_parameters(part, pieces=pieces)
    n = Matrix(16, 16, [(r, r, 1.0) for r in range(16)])
    yield "sjds_windows_flag_of_no_row", n, patched(sjds(n), windows={0: SHARED})
    n = Matrix(32, 16, [(r, r % 16, 1.0) for r in range(32) if r % 16 < 8])
    assert list(np.frombuffer(sjds(n, window_rows=16).section("windows").raw, "<u4")) == [SHARED, SHARED | 1, 2]
    for name, first in (("with_slices_of_the_next", 2), ("without_their_slices", 0)):
        yield f"sjds_windows_{name}", n, patched(sjds(n, window_rows=16), windows={1: SHARED | first})
    n = Matrix(2, 16, [(0, c, 1.0) for c in range(9)] + [(1, 0, 1.0)])
    yield "sjds_windows_of_one_long_row_without_flag", n, patched(sjds(n, long=8), windows={0: 0})
    yield "sjds_windows_of_no_rows", Matrix(0, 5, []), sjds(Matrix(0, 5, []), windows=[1])


def sjds_slices():
    full, few, listed = 1 | 1 << 13 | 7 << 26, 1 << 26, 1 << 26 | 1 << 30
    for name, slices in (
        ("stream_begins_late", {0: 1}), ("stream_after_a_gap", {6: 12}), ("stream_overlaps", {6: 10}),
        ("stream_far", {18: TOO_MANY}), ("row_out_of_its_window", {2: 9}), ("row_far", {2: TOO_MANY}),
        ("row_twice", {8: 7}), ("list_without_its_window", {14: 17}), ("list_far", {14: TOO_MANY}),
        ("list_missing", {16: few}), ("list_of_none", {10: listed}), ("bit_28", {5: 1 | 1 << 13 | 1 << 28}),
        ("bit_31", {11: 2 | 3 << 13 | 1 << 31}), ("continues", {4: full | 1 << 31}),
        ("wider_columns", {3: 0, 4: full | 1 << 29}), ("more_window_steps", {4: full + 1}),
        ("most_window_steps", {4: full | 0x1FFF}), ("further_step_missing", {4: full - (1 << 13)}),
        ("most_further_steps", {4: full | 0x1FFF << 13}), ("tail_missing", {5: 0}),
        ("longer_tail", {5: 2 | 1 << 13}), ("longest_tail", {5: 0x1FFF | 1 << 13}),
        ("more_tail_entries", {5: 1 | 2 << 13}), ("most_tail_entries", {5: 1 | 0x7FFF << 13}),
        ("fewer_tail_entries", {5: 1}), ("full_of_few_rows", {4: 1 | 1 << 13 | 6 << 26}),
        ("row_without_entries", {10: 2 << 26}), ("lanes_of_more_rows", {10: 0}), ("codes_begin_late", {1: 1}),
        ("codes_after_a_gap", {7: 4}), ("codes_overlap", {7: 2}), ("codes_far", {19: TOO_MANY}),
        ("codes_begin_again", {7: 0, 13: 0, 19: 0})):
        yield f"sjds_{name}", *bent_jagged(slices=slices)
    for name, slices in (("begin_late", {1: 1}), ("after_a_gap", {7: 18}), ("overlap", {7: 16}),
                         ("far", {19: TOO_MANY}), ("of_steps", {7: 3, 13: 5, 19: 8}),
                         ("begin_again", {7: 0, 13: 0, 19: 0})):
        yield f"sjds_values_{name}", *bent_jagged("raw", slices=slices)
    for name, changes in (
        ("row_twice_in_a_list", {"stream": {70: 1}}), ("listed_row_beyond", {"stream": {70: 4}}),
        ("listed_row_far", {"stream": {70: 255, 71: 255}}), ("listed_row_of_no_lane", {"stream": {72: 2}}),
        ("list_counts_from_its_first_row", {"slices": {14: 17}, "stream": {68: 0, 70: 2}})):
        yield f"sjds_{name}", *bent_jagged(**changes)
    n = Matrix(20, 16, [(r, r, 1.0) for r in range(8)])
    part = patched_bytes(sjds(n, window_rows=16, listed=True), stream={0: 16})
    yield "sjds_listed_row_out_of_its_window", n, part
    n = Matrix(9, 16, [(r, r, 1.0) for r in range(9)])
    yield "sjds_row_beyond", n, patched(sjds(n), slices={8: 9})
    n = Matrix(8, 16, [(r, r, 1.0) for r in range(7)])
    yield "sjds_eight_rows_without_full_steps", n, patched(sjds(n), slices={4: 7 << 26}, windows={0: 0})
    n = Matrix(32, 16, [(r, r, 1.0) for r in range(10)])
    yield "sjds_few_rows_first", n, sjds_of_slices(n, (0, 2), (2, 10))
    yield "sjds_few_rows_twice", n, sjds_of_slices(n, (0, 8), (8, 9), (9, 10))
    n = Matrix(1, 4097, [(0, c, 1.0) for c in range(4097)], "f32")
    yield "sjds_steps_4097", n, sjds(n, "code", long=5000)
    n = Matrix(8, 16, [(r, r + c, 1.0) for r in range(8) for c in (0, 1)])
    columns = [r + c for c in (0, 1) for r in range(8)]
    part = sjds(n, stream=struct.pack("<4B24H", 8, 0, 0, 0, *columns, *[0] * 8))
    yield "sjds_tail_of_eight_lanes", n, patched(part, slices={3: 0, 4: 1 << 13 | 7 << 26, 5: 1 | 8 << 13})
    # c of a slice or a piece that adds it to no column.
    n = Matrix(8, 40, [(r, r + c, 1.0) for r in range(8) for c in (0, 3)])
    for base in (1, TOO_MANY):
        yield f"sjds_base_{base}_of_window_steps", n, patched(sjds(n, "code"), slices={3: base})
    n = Matrix(1, 40, [(0, c, 1.0) for c in range(16)])
    yield "sjds_base_of_window_steps_of_a_piece", n, patched(sjds(n, "code", long=0), slices={3: 5})


def sjds_of_slices(n, *ranges):
    """One window of 32 rows in slices of these ranges of rows."""
    slices, rows = SjdsSlices(n, "raw"), w.rows_of(n)
    for begin, end in ranges:
        slices.add(0, rows[begin:end], numbers=list(range(begin, end)))
    return slices.part(32, [SHARED, len(ranges)])


def sjds_of_pieces(n, *pieces, steps=lambda _: True):
    """Pieces are (row, lanes), with the columns of each lane; all values are 1."""
    slices, last = SjdsSlices(n, "code"), None
    for row, lanes in pieces:
        slices.add(row, [[(c, 1.0) for c in lane] for lane in lanes], continues=row == last, steps=steps)
        last = row
    return slices.part(8, [SHARED] * -(-n.rows // 8) + [0])


def eighths(columns):
    return [columns[lane::8] for lane in range(8)]


def sjds_pieces():
    piece = 1 | 1 << 13
    for name, slices in (
        ("of_a_row_of_slices", {20: 17}), ("of_a_row_beyond", {20: 20}), ("of_a_row_far", {20: TOO_MANY}),
        ("of_two_rows", {22: piece | 1 << 26}), ("with_a_list", {22: piece | 1 << 30}),
        ("continues_nothing", {22: piece | 1 << 31})):
        yield f"sjds_piece_{name}", *bent_jagged(slices=slices)
    m, part = jagged()
    yield "sjds_piece_among_slices", m, with_parameters(patched(part, windows={2: 4}), pieces=0)
    yield "sjds_piece_of_a_list", m, with_parameters(patched(jagged()[1], windows={2: 2}), pieces=2)

    def row_of(columns, row=0):
        return [(row, c, 1.0) for c in columns]

    n = Matrix(2, 40, row_of(range(16)))
    for name, pieces in (
        ("of_fewer_before_another", ((0, eighths(range(8))), (0, eighths(range(8, 16))))),
        ("row_twice", ((0, eighths(range(16))), (1, [[0]]), (0, [[0]]))),
        ("of_halves", ((0, [range(2 * lane, 2 * lane + 2) for lane in range(8)]), )),
        ("with_a_tail_of_two_steps", ((0, [[0, 8, 9, 10]] + [[lane, 10 + lane] for lane in range(1, 8)]), ))):
        found = n if name != "row_twice" else Matrix(2, 40, n.entries + row_of((0, ), 1))
        found = found if name != "with_a_tail_of_two_steps" else Matrix(2, 40, row_of((*range(11), *range(11, 18))))
        part = sjds_of_pieces(found, *pieces)
        yield f"sjds_piece_{name}", bent_matrix(found, part), part
    n = Matrix(2, 40, row_of(range(9)) + row_of(range(9), 1))
    good = sjds_of_pieces(n, (0, eighths(range(9))), (1, eighths(range(9))))
    assert good.section("slices").raw == sjds(n, "code", long=0).section("slices").raw
    yield "sjds_piece_rows_fall", n, patched(good, slices={2: 1, 8: 0})
    yield "sjds_piece_row_again", n, patched(sjds(n, "code", long=0), slices={8: 0})
    yield "sjds_piece_without_entries", Matrix(2, 40, row_of(range(8))), sjds_of_pieces(
        Matrix(2, 40, row_of(range(8))), (0, eighths(range(8))), (1, [[]]))

    whole = range(1, 4097)
    n = Matrix(2, 5000, row_of(range(4097)), "f32")
    yield "sjds_piece_of_4097", n, sjds_of_pieces(n, (0, eighths(range(4097))))
    good = sjds(n, "code")
    assert list(np.frombuffer(good.section("slices").raw, "<u4"))[10] == 1 << 31
    yield "sjds_piece_continues_unannounced", n, patched(good, slices={10: 0})
    yield "sjds_piece_continues_another_row", n, patched(sjds(n, "code"), slices={8: 1})
    yield "sjds_piece_columns_fall", n, sjds_of_pieces(n, (0, eighths(whole)), (0, [[0]]))
    yield "sjds_piece_column_twice", n, sjds_of_pieces(n, (0, eighths(range(4096))), (0, [[4095]]))
    n = Matrix(2, 5000, row_of(range(4096)), "f32")
    part = sjds_of_pieces(n, (0, eighths(range(4096))), (0, [[]]))
    yield "sjds_piece_without_more_entries", n, part

    # Steps, as the columns of their lanes, that are not in the order of a row's entries.
    low, high, last = range(8), range(9, 17), [17]
    for name, steps, kinds in (
        ("tail_before_a_window_step", (high, [3]), True), ("tail_before_a_further_step", (high, [3]), False),
        ("tail_between_window_steps", (low, high, [8]), True), ("tail_between_further_steps", (low, high, [8]), False),
        ("tail_before_the_last_window_step", (low, high, [8]), [1]),
        ("tail_before_the_first_window_step", (high, range(18, 26), [8]), [0]),
        ("window_steps_fall", (high, low, last), True), ("further_steps_fall", (high, low, last), False),
        ("lanes_of_a_window_step_fall", ((0, 1, 3, 2, 4, 5, 6, 7), high), True),
        ("lanes_of_a_further_step_fall", ((0, 1, 3, 2, 4, 5, 6, 7), high), False),
        ("lanes_of_the_tail_fall", (low, (18, 17)), True),
        ("lane_of_another_step", ((0, 9, *range(2, 8)), (8, 1, *range(10, 16))), True),
        ("window_step_in_a_further_step", ((0, 1, 2, 3, 12, 13, 14, 15), range(4, 12)), [1]),
        ("further_step_in_a_window_step", ((0, 1, 2, 3, 12, 13, 14, 15), range(4, 12)), [0])):
        n = Matrix(1, 40, row_of(sorted(c for step in steps for c in step)))
        lanes = [[step[lane] for step in steps if lane < len(step)] for lane in range(8)]
        in_windows = (lambda k, kinds=kinds: k in kinds) if isinstance(kinds, list) else lambda _, kinds=kinds: kinds
        yield f"sjds_piece_{name}", n, sjds_of_pieces(n, (0, lanes), steps=in_windows)


def bent_matrix(matrix, part):
    """The matrix, of which the part says that it has the entries."""
    part.fields["nonzeros"] = len(matrix.entries)
    return matrix


def sjds_stream():
    """See jagged(): slice 0 is bytes 0 to 43, slice 1 to 67, slice 2 to 111, the piece to 163; in slices with steps of
    all lanes, the tail's counts begin at 8 and 120."""
    m, part = jagged()
    words, codes = part.section("stream").raw, np.frombuffer(part.section("codes").raw, "<u4")
    assert len(words) == 164 and words[8:14] == bytes.fromhex("01 00 00 00 00 00") and words[28:30] == b"\x1b\0"
    assert words[44:54] == bytes.fromhex("02 01 00 00 06 00 00 00 09 00")
    assert words[84:96] == bytes.fromhex("02 01 01 00 00 00 03 00 04 00 26 00") and words[120:124] == b"\4\0\0\0"
    assert list(codes) == [0x87654320, 0x87654320, 1, 0x51, 1, 0x32, 2, 2, 0x44444444, 0x44444444, 0x4444]
    for name, stream in (
        ("column_of_no_entry", {30: 1}), ("column_of_no_entry_last", {43: 1}),
        ("column_of_no_entry_of_a_piece", {161: 1}),
        ("fill_of_columns", {110: 1}), ("fill_at_the_end", {163: 1}), ("fill_of_the_tail", {9: 1}),
        ("fill_of_the_tail_last", {87: 1}), ("tail_of_no_lane", {86: 0}), ("tail_of_fewer_entries", {120: 3}),
        ("tail_of_more_entries", {85: 2}), ("tail_of_more_entries_of_a_piece", {120: 5}), ("tail_far", {8: 255}),
        ("tail_of_eight_lanes_of_a_piece", {120: 8}), ("tail_of_no_entry", {8: 0}),
        ("tail_without_the_last_row", {44: 1, 45: 1})):
        yield f"sjds_stream_{name}", *bent_jagged(stream=stream)
    for name, changes in (("", {5: 0x39}), ("_far", {5: 0x3F}), ("_of_no_entry", {2: 0x11}),
                          ("_of_no_lane", {5: 0x232}), ("_of_no_entry_of_a_piece", {10: 0x14444}),
                          ("_of_the_last_lane", {0: 0x97654320})):
        yield f"sjds_code{name}", *bent_jagged(codes=changes)
    yield "sjds_code_of_no_value", m, with_section(jagged()[1], "values", [])
    for name, section, elements in (
        ("stream_ends_early", "stream", np.frombuffer(words, "<u4")[:-1]),
        ("stream_goes_on", "stream", [*np.frombuffer(words, "<u4"), 0]), ("stream_empty", "stream", []),
        ("codes_end_early", "codes", codes[:-1]), ("codes_go_on", "codes", [*codes, 0]), ("codes_empty", "codes", [])):
        yield f"sjds_{name}", m, with_section(jagged()[1], section, elements)
    nothing = Matrix(3, 3, [])
    yield "sjds_stream_without_slices", nothing, sjds(nothing, stream=bytes(4))
    yield "sjds_codes_without_slices", nothing, sjds(nothing, "code", codes=[0])
    # As many values as the header says, but more or fewer than the slices take.
    m, part = jagged("raw")
    values = np.frombuffer(part.section("values").raw)
    more = Matrix(m.rows, m.columns, m.entries + [(19, 39, 1.0)])
    fewer = Matrix(m.rows, m.columns, [e for e in m.entries if e[0] != 19])
    yield "sjds_values_go_on", bent_matrix(more, part), with_section(part, "values", [*values, 1.0])
    part = jagged("raw")[1]
    yield "sjds_values_end_early", bent_matrix(fewer, part), with_section(part, "values", values[:-1])
    # Tails of 3, 2 and a lane.
    n = Matrix(8, 16, [(r, c, 1.0) for r, length in enumerate((4, 3, 2, 1, 1, 1, 1, 1)) for c in range(length)])
    at = sjds(n, "code").section("stream").raw.index(b"\3\2\1")
    for name, lanes in (("rises", (2, 3, 1)), ("rises_at_the_end", (3, 1, 2)), ("with_an_empty_step", (3, 3, 0))):
        part = patched_bytes(sjds(n, "code"), stream={at + i: lane for i, lane in enumerate(lanes)})
        yield f"sjds_tail_{name}", n, part


def sjds_columns():
    for name, stream in (
        ("window_step_beyond", {0: 25}), ("window_step_far", {i: 255 for i in range(4)}),
        ("column", {28: 37}), ("column_far", {28: 255, 29: 255}), ("column_of_both_kinds", {4: 0x13}),
        ("column_of_the_tail_twice", {28: 0}), ("column_of_the_tail_in_a_window_step", {28: 7, 4: 0x1A}),
        ("columns_of_a_tail_fall", {92: 38, 94: 4}), ("columns_of_a_piece_fall", {126: 5}),
        ("column_of_a_piece_twice", {126: 0}), ("column_of_a_window_step_of_a_piece_twice", {116: 0x00}),
        ("column_of_the_tail_of_a_piece_twice", {140: 14}), ("column_of_the_tail_of_a_piece_falls", {140: 13})):
        yield f"sjds_{name}", *bent_jagged(stream=stream)
    yield "sjds_columns_far", *bent_jagged(slices={3: TOO_MANY - 20})
    n = Matrix(9, 15, [(r, c, 1.0) for r in range(8) for c in range(2)])
    wider = sjds(Matrix(9, 16, n.entries))
    wider.fields["column_count"] = 15
    yield "sjds_window_step_of_15_columns", n, wider
    n = Matrix(1, 40, [(0, 7, 1.0), (0, 9, 2.0)])
    yield "sjds_column_wraps", n, patched(sjds(n, base=0), slices={3: TOO_MANY})
    yield "sjds_base_of_wide_columns", n, patched_bytes(sjds(n, wide=True), stream={4: 6, 8: 8}, slices={3: 1})
    for name, column in (("", 40), ("_far", TOO_MANY)):
        changed = {8 + i: b for i, b in enumerate(struct.pack("<I", column))}
        yield f"sjds_wide_column{name}", n, patched_bytes(sjds(n, wide=True), stream=changed)
    wide = patched_bytes(sjds(n, wide=True), stream={39: 1})
    yield "sjds_wide_column_of_no_entry", n, wide
    yield "sjds_columns_of_the_tail_fall", n, patched_bytes(sjds(n), stream={4: 2, 6: 0})
    n = Matrix(8, 40, [(r, r + c, 1.0) for r in range(8) for c in (2, 5)])
    for steps, name in ((False, "further"), (True, "window")):
        for kind, first in (("twice", 5), ("fall", 6)):
            stream = {0: first - (0 if steps else 2)}
            yield f"sjds_columns_of_{name}_steps_{kind}", n, patched_bytes(sjds(n, steps=steps), stream=stream)
    m, part = jagged()
    fewer = Matrix(m.rows, m.columns, m.entries + [(15, 0, 1.0)])
    yield "sjds_entry_missing", bent_matrix(fewer, part), part


def with_section(part, name, elements):
    section = part.section(name)
    section.raw = np.asarray(elements, w.DTYPE[section.element]).tobytes()
    return part


def digests():
    m = small()
    yield "digest_bit", bend(image(), "header", digest=lambda d: with_byte(d, 15))
    for name, change in (("value", lambda e: (e[0], e[1], 2 * e[2])),
                         ("place", lambda e: ((e[0] + 1) % 7, e[1], e[2]))):
        entries = m.transposed().entries
        lie = Matrix(7, 5, entries[:2] + [change(entries[2])] + entries[3:])
        yield f"digest_transpose_{name}", Image(m, [csr(m), csr(lie).transpose()])
    yield "digest_halves_swapped", bend(image(), "header", digest=lambda d: d[8:] + d[:8])
    values = [e[2] for e in m.entries]
    yield "digest_value", Image(m, [csr(m, values=m.value_bytes(values[:-1] + [-0.5]))])
    yield "digest_row", Image(m, [csr(m, row_ptr=[0, 0, 2, 2, 3, 6])])
    yield "digest_column", Image(m, [coo(m, col_idx=[0, 2, 1, 0, 1, 5])])
    zero = Matrix(1, 1, [(0, 0, 0.0)])
    yield "digest_sign_of_zero", Image(zero, [csr(zero, values=zero.value_bytes([-0.0]))])
    taller = Matrix(6, 7, m.entries)
    yield "digest_shape", bend(Image(taller, [csr(taller)]), "header", digest=m.digest())


def claims():
    """Matrices that are not what field (2: integer, 3: pattern) and symmetry (2, 3: skew) say."""

    def matrix(name, entries, **claim):
        m = Matrix(2, 2, entries, **claim)
        return f"claim_{name}", Image(m, [csr(m)])

    yield matrix("pattern_of_two", [(0, 0, 1.0), (1, 1, 2.0)], field=3)
    yield matrix("pattern_of_minus_one", [(0, 0, -1.0)], field=3)
    yield matrix("integer_half", [(0, 0, 0.5)], field=2)
    yield matrix("integer_infinite", [(0, 0, float("inf"))], field=2)
    yield matrix("integer_nan", [(0, 0, float("nan"))], field=2)
    yield matrix("integer_half_f32", [(0, 0, 0.5)], value="f32", field=2)
    yield matrix("symmetric_without_mirror", [(0, 1, 1.0)], symmetry=2)
    yield matrix("symmetric_other_value", [(0, 1, 1.0), (1, 0, 2.0)], symmetry=2)
    yield matrix("symmetric_other_zero", [(0, 1, 0.0), (1, 0, -0.0)], symmetry=2)
    yield matrix("skew_same_sign", [(0, 1, 1.0), (1, 0, 1.0)], symmetry=3)
    yield matrix("skew_same_sign_f32", [(0, 1, 1.0), (1, 0, 1.0)], value="f32", symmetry=3)
    yield matrix("skew_same_zero", [(0, 1, 0.0), (1, 0, 0.0)], symmetry=3)
    yield matrix("skew_without_mirror", [(1, 0, 1.0)], symmetry=3)
    yield matrix("skew_diagonal", [(0, 0, 0.0)], symmetry=3)

    for name, entries, symmetry in (("same", [(0, 1, 1 + 1j), (1, 0, 1 + 1j)], 4), ("real", [(0, 1, 1 + 1j), (1, 0, 2 - 1j)], 4),
                                    ("same_zero", [(0, 1, complex(1.0, 0.0)), (1, 0, complex(1.0, 0.0))], 4),
                                    ("diagonal", [(0, 0, 1 + 1j)], 4), ("skew", [(0, 1, 1 + 1j), (1, 0, -1 + 1j)], 3),
                                    ("symmetric", [(0, 1, 1 + 1j), (1, 0, 1 - 1j)], 2)):
        yield matrix(f"of_complex_{name}", entries, value="c128", symmetry=symmetry)

    def found(name, features, entries, value="f64"):
        m = Matrix(2, 2, entries, value)
        return f"claim_found_{name}", bend(Image(m, [csr(m)]), "header", optional=features)

    yield found("symmetric_without_mirror", 2, [(0, 1, 1.0)])
    yield found("symmetric_other_zero", 2, [(0, 1, 0.0), (1, 0, -0.0)])
    yield found("skew_same_sign", 4, [(0, 1, 1.0), (1, 0, 1.0)])
    yield found("skew_same_sign_f32", 4, [(0, 1, 1.0), (1, 0, 1.0)], "f32")
    yield found("skew_diagonal", 4, [(0, 0, 0.0)])
    yield found("unlike_conjugate_complex", 8, [(0, 1, 1 + 1j), (1, 0, 1 + 1j)], "c64")


def reject():
    yield from whole_file()
    yield from header_fields()
    yield from shares()
    for name, exit_code, img in list(parts()) + list(parameters()) + list(layout_parts()) + list(permuted_parts()) + list(sections()):
        yield name, exit_code, "tables", img.pack()
    yield from payload()
    for name, img in structure():
        yield name, 4, "structure", img.pack()
    for name, img in digests():
        yield name, 4, "digest", img.pack()
    for name, img in claims():
        yield name, 4, "field and symmetry", img.pack()
