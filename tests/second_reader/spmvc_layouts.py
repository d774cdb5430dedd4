"""FORMAT.md, section 7. A layout names its sections and parameters, checks the parameters and says what is expected of
the sections (name, element type, count, alignment), and unpacks them: (rows, columns, values), local, in stored order,
or sorted if the layout has an order of its own. Sections are required and of the device; a fifth item gives other
flags, and one without REQUIRED may be missing: None. A count may be a range; an empty one forbids the section."""

import numpy as np

from spmvc_format import MAP_LIST, U8, U16, U32, U64, VALUE_ELEMENT, require


ANY = range(2**63)


def rises(rows, columns):
    """Sorted by row, then column, with no entry twice."""
    return bool(np.all((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (columns[1:] > columns[:-1]))))


def has_bits(values):
    return values.view(f"<u{values.itemsize}") != 0


class Csr:
    names = ("row_ptr", "col_idx", "values")
    parameters = ("longest_row",)

    @staticmethod
    def expect(p, _):
        pointer = U32 if p.nonzeros < 2**31 else U64
        return (("row_ptr", pointer, p.row_count + 1, 16), ("col_idx", U32, p.nonzeros, 16),
                ("values", VALUE_ELEMENT[p.value_type], p.nonzeros, 16))

    @staticmethod
    def unpack(p, what, row_ptr, col_idx, values):
        require(row_ptr[0] == 0, "structure", f"{what}: row_ptr does not start at 0")
        require(np.all(row_ptr[1:] >= row_ptr[:-1]), "structure", f"{what}: row_ptr falls")
        require(row_ptr[-1] == p.nonzeros, "structure", f"{what}: row_ptr does not end at the nonzeros")
        longest = max(np.diff(row_ptr.astype(np.int64)), default=0)
        require(p.parameters["longest_row"] == longest, "structure", f"{what}: the longest row has {longest} entries")
        return np.repeat(np.arange(p.row_count), np.diff(row_ptr.astype(np.int64))), col_idx, values


class Coo:
    names = ("row_idx", "col_idx", "values")
    parameters = ()

    @staticmethod
    def expect(p, _):
        return (("row_idx", U32, p.nonzeros, 16), ("col_idx", U32, p.nonzeros, 16),
                ("values", VALUE_ELEMENT[p.value_type], p.nonzeros, 16))

    @staticmethod
    def unpack(_p, _what, row_idx, col_idx, values):
        return row_idx, col_idx, values


NO_COLUMN = 0xFFFFFFFF


def padded_rows(p, what, row, slot, columns, values):
    """The entries of padded rows, and the number of entries of each row. `row` and `slot` say where an element is."""
    order = np.lexsort((slot, row))
    row, columns, values = row[order], columns[order], values[order]
    entry = columns != NO_COLUMN
    require(not np.any(entry[1:] & ~entry[:-1] & (row[1:] == row[:-1])), "structure", f"{what}: an entry after padding")
    require(not np.any(has_bits(values) & ~entry), "structure", f"{what}: padding with a value")
    row, columns, values = row[entry], columns[entry], values[entry]
    require(np.all(row < p.row_count), "structure", f"{what}: an entry past the last row")
    return row, columns, values, np.bincount(row, minlength=p.row_count)


def blocks_longest(lengths, rows):
    """The longest row of every `rows` rows."""
    return np.append(lengths, np.zeros(-len(lengths) % rows, lengths.dtype)).reshape(-1, rows).max(axis=1, initial=0)


class Ell:
    names = ("col_idx", "values")
    parameters = ()

    @staticmethod
    def expect(p, what):
        slots = p.counts["col_idx"]
        require(slots % p.row_count == 0 if p.row_count else slots == 0, "tables", f"{what}: {slots} slots")
        return (("col_idx", U32, slots, 16), ("values", VALUE_ELEMENT[p.value_type], slots, 16))

    @staticmethod
    def unpack(p, what, col_idx, values):
        return Ell.unpack_rows(p, what, col_idx, values)[:3]

    @staticmethod
    def unpack_rows(p, what, col_idx, values):
        rows = p.row_count
        width = len(col_idx) // max(rows, 1)
        slot, row = np.divmod(np.arange(width * rows), max(rows, 1))
        *entries, lengths = padded_rows(p, what, row, slot, col_idx, values)
        require(max(lengths, default=0) == width, "structure", f"{what}: no row has {width} entries")
        return *entries, lengths


class EllpackR:
    names = ("row_len", "col_idx", "values")
    parameters = ()

    @staticmethod
    def expect(p, what):
        return (("row_len", U32, p.row_count, 16), *Ell.expect(p, what))

    @staticmethod
    def unpack(p, what, row_len, col_idx, values):
        *entries, lengths = Ell.unpack_rows(p, what, col_idx, values)
        require(np.array_equal(row_len, lengths), "structure", f"{what}: row_len is not the entries of each row")
        return entries


class Sell:
    names = ("slice_ptr", "col_idx", "values")
    parameters = ("slice_rows",)

    @staticmethod
    def expect(p, what):
        lanes, slots = p.parameters["slice_rows"], p.counts["col_idx"]
        require(1 <= lanes <= 65536, "tables", f"{what}: slices of {lanes} rows")
        return (("slice_ptr", U32, -(-p.row_count // lanes) + 1, 16),
                ("col_idx", U32, range(0, 2**32 * lanes, lanes), 16), ("values", VALUE_ELEMENT[p.value_type], slots, 16))

    @staticmethod
    def unpack(p, what, slice_ptr, col_idx, values):
        lanes = p.parameters["slice_rows"]
        steps = len(col_idx) // lanes
        slice_ptr = slice_ptr.astype(np.int64)
        widths = np.diff(slice_ptr)
        require(slice_ptr[0] == 0, "structure", f"{what}: slice_ptr does not start at 0")
        require(np.all(widths >= 0), "structure", f"{what}: slice_ptr falls")
        require(slice_ptr[-1] == steps, "structure", f"{what}: slice_ptr does not end at the steps")
        step, lane = np.divmod(np.arange(steps * lanes), lanes)
        of_slice = np.repeat(np.arange(len(widths)), widths)[step]
        *entries, lengths = padded_rows(p, what, of_slice * lanes + lane, step - slice_ptr[of_slice], col_idx, values)
        require(np.array_equal(blocks_longest(lengths, lanes), widths), "structure",
                f"{what}: a slice is not as wide as its longest row")
        return entries


class Pjds:
    names = ("col_start", "col_idx", "values")
    parameters = ("basis", "block_rows")

    @staticmethod
    def expect(p, what):
        basis = p.parameters["basis"]
        require(basis in (0, 1), "tables", f"{what}: basis {basis}")
        require(p.parameters["block_rows"] <= 65536, "tables", f"{what}: blocks of {p.parameters['block_rows']} rows")
        require(basis == 0 or (p.row_map == p.column_map == MAP_LIST and p.row_count == p.matrix_rows ==
                               p.column_count == p.matrix_columns), "tables",
                f"{what}: basis 1 without lists of all rows and columns, which are as many")
        return (("col_start", U64, range(1, 2**63), 16), ("col_idx", U32, ANY, 16),
                ("values", VALUE_ELEMENT[p.value_type], p.counts["col_idx"], 16))

    @staticmethod
    def unpack(p, what, col_start, col_idx, values):
        width, slots, basis = len(col_start) - 1, len(col_idx), p.parameters["basis"]
        block = p.parameters["block_rows"] or 32
        require(col_start[0] == 0, "structure", f"{what}: col_start does not start at 0")
        require(np.all(col_start[1:] > col_start[:-1]), "structure", f"{what}: a jagged column without slots")
        require(col_start[-1] == slots, "structure", f"{what}: col_start does not end at the slots")
        col_start = col_start.astype(np.int64)
        heights = np.diff(col_start)
        require(np.all(heights[1:] <= heights[:-1]), "structure", f"{what}: a jagged column is longer than the last")
        require(np.all((heights == p.row_count) | ((heights < p.row_count) & (heights % block == 0))), "structure",
                f"{what}: a jagged column ends within a block of rows")
        slot = np.repeat(np.arange(width), heights)
        *entries, lengths = padded_rows(p, what, np.arange(slots) - col_start[slot], slot, col_idx, values)
        require(np.all(lengths[1:] <= lengths[:-1]), "structure", f"{what}: rows are not sorted by length")
        widths = [np.count_nonzero(heights > row) for row in range(0, p.row_count, block)]
        require(np.array_equal(blocks_longest(lengths, block), widths), "structure",
                f"{what}: a block of rows is not as wide as its longest")
        require(max(lengths, default=0) == width, "structure", f"{what}: no row has {width} entries")
        return entries if basis == 0 else Pjds.in_part_order(p, what, *entries)

    @staticmethod
    def in_part_order(p, what, rows, columns, values):
        """Entries sorted by the matrix's columns become sorted by the part's."""
        require(np.array_equal(p.row_list, p.column_list), "structure", f"{what}: the two lists differ")
        require(np.all(columns < p.column_count), "structure", f"{what}: a column is out of range")
        require(rises(rows, p.column_list[columns]), "structure", f"{what}: columns do not rise in the matrix")
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], values[order]


def with_stored_zeros(what, entry, stored_zeros):
    """Which values are entries: those with bits, and those that stored_zeros names."""
    if stored_zeros is None:
        return entry
    require(np.all(stored_zeros[1:] > stored_zeros[:-1]), "structure", f"{what}: stored_zeros do not rise")
    require(np.all(stored_zeros < len(entry)), "structure", f"{what}: a stored zero is out of range")
    require(not np.any(entry[stored_zeros]), "structure", f"{what}: a stored zero is not +0")
    entry = entry.copy()
    entry[stored_zeros] = True
    return entry


class Dia:
    names = ("offsets", "values", "stored_zeros")
    parameters = ()

    @staticmethod
    def expect(p, _):
        slots = p.counts["offsets"] * p.row_count
        return (("offsets", U64, ANY, 16), ("values", VALUE_ELEMENT[p.value_type], slots, 16),
                ("stored_zeros", U64, ANY, 16, 0))

    @staticmethod
    def unpack(p, what, offsets, values, stored_zeros):
        rows, columns = p.row_count, p.column_count
        require(np.all(offsets[1:] > offsets[:-1]), "structure", f"{what}: offsets do not rise")
        last = rows + columns - 1 if rows and columns else 0
        require(np.all(offsets < last), "structure", f"{what}: a diagonal outside of the part")
        diagonal, row = np.divmod(np.arange(len(values)), max(rows, 1))
        column = row + offsets.astype(np.int64)[diagonal] - (rows - 1)
        entry = with_stored_zeros(what, has_bits(values), stored_zeros)
        require(not np.any(entry & ((column < 0) | (column >= columns))), "structure",
                f"{what}: an entry outside of the part")
        row, column, values = row[entry], column[entry], values[entry]
        order = np.lexsort((column, row))
        return row[order], column[order], values[order]


class Ccoo:
    names = ("encoding", "row_base", "col_base", "blob_offset", "blob", "lut")
    parameters = ("lanes", "slots", "single")

    @staticmethod
    def expect(p, what):
        lanes, slots_per_lane, chunks = p.parameters["lanes"], p.parameters["slots"], p.counts["encoding"]
        require(lanes in (8, 16, 32, 64, 128, 256), "tables", f"{what}: B is {lanes}")
        require(slots_per_lane in (1, 2, 4, 8), "tables", f"{what}: K is {slots_per_lane}")
        single = p.parameters["single"]
        require(single in (0, 1), "tables", f"{what}: single is {single}")
        value = VALUE_ELEMENT[p.value_type]
        return (("encoding", U8, ANY, 16), ("row_base", U32, chunks, 16), ("col_base", U32, chunks, 16),
                ("blob_offset", U64, chunks, 16), ("blob", U8, ANY, 256), ("lut", value, 1 if single else range(257), 16))

    @staticmethod
    def unpack(p, what, encoding, row_base, col_base, blob_offset, blob, lut):
        b, k, single = p.parameters["lanes"], p.parameters["slots"], p.parameters["single"]
        group = min(b, 32)
        one_row, width_code, ids, groups = encoding & 1, encoding >> 1 & 3, encoding >> 3 & 1, (encoding >> 4 & 7) + 1
        require(np.all(width_code != 3), "structure", f"{what}: unused column encoding")
        require(np.all(groups <= b // group), "structure", f"{what}: a chunk of more than B lanes")
        require(not single or np.all(ids == 1), "structure", f"{what}: raw values beside a single one")
        lanes = groups.astype(np.int64) * group
        column_width = 1 << width_code.astype(np.int64)
        value_width = np.where(ids == 1, 0 if single else 1, lut.itemsize)
        sizes = np.where(one_row == 1, 0, lanes) + lanes * k * (column_width + value_width)
        ends = np.cumsum(sizes)
        require(np.array_equal(blob_offset, ends - sizes), "structure", f"{what}: blob_offset")
        require(len(blob) == sizes.sum(), "structure", f"{what}: the chunks do not fill the blob")

        chunks = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, lut.dtype))]
        for c in range(len(encoding)):
            chunks.append(
                Ccoo.unpack_chunk(f"{what}, chunk {c}",
                                  blob[ends[c] - sizes[c]:ends[c]].tobytes() + (bytes(lanes[c] * k) if single else b""),
                                  int(lanes[c]), k, group, bool(one_row[c]), int(column_width[c]), bool(ids[c]),
                                  int(row_base[c]), int(col_base[c]), lut))
            before = chunks[-2][0]
            continues = c != 0 and before[-1] == chunks[-1][0][0]
            require(continues == bool(encoding[c] >> 7), "structure", f"{what}: chunk {c} continues a row: {continues}")
        return tuple(np.concatenate(column) for column in zip(*chunks))

    @staticmethod
    def unpack_chunk(what, blob, lanes, k, group, one_row, column_width, ids, row_base, col_base, lut):
        slots = lanes * k
        row_bytes = np.zeros(lanes, np.int64)
        position = 0
        if not one_row:
            row_bytes = np.frombuffer(blob, np.uint8, lanes).astype(np.int64)
            position = lanes
            require(row_bytes[0] == 0, "structure", f"{what}: the first row byte is not 0")
            require(np.all(row_bytes[1:] >= row_bytes[:-1]), "structure", f"{what}: row bytes fall")
        offsets = np.frombuffer(blob, f"<u{column_width}", slots, position).astype(np.int64)
        position += slots * column_width
        require(offsets.min() == 0, "structure", f"{what}: no column offset is 0")
        raw = np.frombuffer(blob, np.uint8, slots if ids else slots * lut.itemsize, position).reshape(slots, -1)
        values = raw[:, 0] if ids else raw.reshape(-1).view(lut.dtype)
        if ids:
            require(values.max() < len(lut), "structure", f"{what}: a value id is out of range")
            values = lut[values]

        rows = row_base + np.repeat(row_bytes, k)
        columns = col_base + offsets
        entry = np.ones(slots, bool)
        entry[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        require(np.all(entry[::group * k]), "structure", f"{what}: a group starts with padding")
        by_lane = entry.reshape(lanes, k)
        require(not np.any(by_lane[:, 1:] & ~by_lane[:, :-1]), "structure", f"{what}: an entry after padding in a lane")
        used = int(by_lane[:, 0].sum())
        require(np.all(by_lane[:used, 0]) and not np.any(by_lane[used:]), "structure",
                f"{what}: an entry after a lane of padding")
        require(not np.any(raw[~entry]), "structure", f"{what}: padding with a value")
        return rows[entry], columns[entry], values[entry]


class Amb:
    names = ("cl", "cs", "row_idx", "col_idx", "values", "shared_rows", "empty_rows", "stored_zeros")
    parameters = ("segment_cols", "block", "chunk_rows")
    SHARED, NO_ROW = 1 << 31, 0xFFFFFFFF

    @staticmethod
    def expect(p, what):
        segment_cols, block, lanes = p.parameters.values()
        chunks, blocks = p.counts["cl"], p.counts["col_idx"]
        for name, number, most in (("segment_cols", segment_cols, 65536), ("block", block, 8),
                                   ("chunk_rows", lanes, 1024)):
            require(1 <= number <= most, "tables", f"{what}: {name} is {number}")
        require(p.row_count <= Amb.SHARED, "tables", f"{what}: more than 2^31 rows")
        return (("cl", U32, ANY, 16), ("cs", U32, chunks, 16), ("row_idx", U32, chunks * lanes, 16),
                ("col_idx", U16, range(0, 2**32 * lanes, lanes), 16),
                ("values", VALUE_ELEMENT[p.value_type], blocks * block, 16),
                ("shared_rows", U32, range(2**31), 16), ("empty_rows", U32, ANY, 16),
                ("stored_zeros", U64, ANY if block > 1 else range(0), 16, 0))

    @staticmethod
    def unpack(p, what, cl, cs, row_idx, col_idx, values, shared_rows, empty_rows, stored_zeros):
        segment_cols, block, lanes = p.parameters.values()
        chunks, steps = len(cl), len(col_idx) // lanes
        chunk_steps, segment = (cl & 0xFFFF).astype(np.int64) + 1, (cl >> 16).astype(np.int64)
        ends = np.cumsum(chunk_steps)
        require(np.array_equal(cs, ends - chunk_steps), "structure", f"{what}: cs")
        require(chunk_steps.sum() == steps, "structure", f"{what}: the chunks have other steps than the part")
        row_idx = row_idx.astype(np.int64).reshape(chunks, lanes)
        rows = Amb.lane_rows(p, what, row_idx, segment, shared_rows.astype(np.int64), empty_rows.astype(np.int64))

        # Steps by lanes. A block is the first of its lane, or its column is larger than the one before.
        chunk = np.repeat(np.arange(chunks), chunk_steps)
        first = np.isin(np.arange(steps), cs)[:, None]
        columns = col_idx.reshape(steps, lanes).astype(np.int64)
        change = np.diff(columns, axis=0, prepend=0)
        has_row = (row_idx != Amb.NO_ROW)[chunk]
        filled = np.where(first, has_row, change > 0)
        require(not np.any((change < 0) & ~first), "structure", f"{what}: the columns of a lane fall")
        require(not np.any(filled[1:] & ~filled[:-1] & ~first[1:]), "structure", f"{what}: a block after padding")
        require(not np.any(columns[~has_row]), "structure", f"{what}: a lane without a row has a column")
        require(np.all(filled[ends - 1].any(axis=1)), "structure",
                f"{what}: a chunk has more steps than its longest lane")
        room = np.minimum(segment_cols, p.column_count - segment * segment_cols)
        require(np.all(columns + block <= room[chunk, None]), "structure", f"{what}: a block leaves its segment")

        # Steps by elements of a block by lanes.
        has_value = has_bits(values)
        entry = with_stored_zeros(what, has_value, stored_zeros).reshape(steps, block, lanes)
        filled = filled[:, None, :]
        require(not np.any(entry & ~filled), "structure", f"{what}: an entry in padding")
        entry = filled if block == 1 else entry
        require(np.array_equal(entry.any(axis=1, keepdims=True), filled), "structure",
                f"{what}: a block without entries")
        step, element, lane = np.nonzero(entry)
        place = chunk[step] * lanes + lane
        column = columns[step, lane] + element
        order = np.lexsort((element, step, place))
        require(rises(place[order], column[order]), "structure", f"{what}: the columns of a lane's entries do not rise")
        row, column = rows[chunk[step], lane], column + (segment * segment_cols)[chunk[step]]
        order = np.lexsort((column, row))
        return row[order], column[order], values.reshape(entry.shape)[entry][order]

    @staticmethod
    def lane_rows(p, what, row_idx, segment, shared_rows, empty_rows):
        """The row of every lane, -1 without one. Every row is where it belongs."""
        is_shared = (row_idx >= Amb.SHARED) & (row_idx != Amb.NO_ROW)
        numbers = row_idx[is_shared] - Amb.SHARED
        require(np.array_equal(np.sort(numbers), np.arange(len(shared_rows))), "structure",
                f"{what}: not every partial sum has one lane")
        require(np.all(shared_rows[1:] >= shared_rows[:-1]), "structure", f"{what}: shared_rows fall")
        require(np.all(empty_rows[1:] > empty_rows[:-1]), "structure", f"{what}: empty_rows do not rise")
        several, sums = np.unique(shared_rows, return_counts=True)
        require(np.all(sums > 1), "structure", f"{what}: a shared row with one partial sum")
        placed = np.concatenate((row_idx[row_idx < Amb.SHARED], several, empty_rows))
        require(np.array_equal(np.sort(placed), np.arange(p.row_count)), "structure",
                f"{what}: not every row is in one place")
        by_number = np.nonzero(is_shared)[0][np.argsort(numbers)]  # chunks
        require(rises(shared_rows, segment[by_number]), "structure",
                f"{what}: the segments of a shared row's partial sums do not rise")
        rows = np.where(row_idx < Amb.SHARED, row_idx, -1)
        rows[is_shared] = shared_rows[numbers]
        return rows


class Pkt:
    names = ("packet_ptr", "step_ptr", "rows", "local_idx", "values")
    parameters = ("packet_rows", "threads")
    PADDING = 0xFFFFFFFF

    @staticmethod
    def expect(p, what):
        packet_rows, threads = p.parameters.values()
        require(packet_rows <= 3072, "tables", f"{what}: packet_rows is {packet_rows}")
        require(1 <= threads <= 1024, "tables", f"{what}: threads is {threads}")
        require(p.row_count == p.column_count, "tables", f"{what}: not as many rows as columns")
        require(p.nonzeros <= p.counts["local_idx"], "tables", f"{what}: fewer slots than entries")
        return (("packet_ptr", U32, range(1, 2**32), 16), ("step_ptr", U32, p.counts["packet_ptr"], 16),
                ("rows", U32, p.row_count, 16), ("local_idx", U32, range(0, 2**32 * threads, threads), 16),
                ("values", VALUE_ELEMENT[p.value_type], p.counts["local_idx"], 16))

    @staticmethod
    def unpack(p, what, packet_ptr, step_ptr, rows, local_idx, values):
        packet_rows, threads = p.parameters.values()
        steps = len(local_idx) // threads
        packet_ptr, step_ptr, rows = (a.astype(np.int64) for a in (packet_ptr, step_ptr, rows))
        sizes, heights = np.diff(packet_ptr), np.diff(step_ptr)
        require(packet_ptr[0] == step_ptr[0] == 0, "structure", f"{what}: packets do not begin at 0")
        require(packet_ptr[-1] == p.row_count and step_ptr[-1] == steps, "structure",
                f"{what}: packets do not end with the rows and the steps")
        require(np.all((sizes >= 1) & (sizes <= packet_rows)), "structure", f"{what}: a packet of no or too many rows")
        require(np.all(heights >= 0), "structure", f"{what}: step_ptr falls")
        require(np.array_equal(np.sort(rows), np.arange(p.row_count)), "structure", f"{what}: not every row is once")
        packet_of = np.repeat(np.arange(len(sizes)), sizes)
        require(np.all((np.diff(rows) > 0) | (np.diff(packet_of) != 0)), "structure", f"{what}: rows of a packet fall")

        # Steps by threads.
        packet = np.repeat(np.arange(len(heights)), heights)
        local = local_idx.reshape(steps, threads)
        entry = local != Pkt.PADDING
        require(not np.any(has_bits(values).reshape(entry.shape) & ~entry), "structure", f"{what}: padding with a value")
        first = np.isin(np.arange(steps), step_ptr)[:, None]
        before = np.vstack((np.zeros((1, threads), bool), entry[:-1])) if steps else entry
        require(not np.any(entry & ~before & ~first), "structure", f"{what}: an entry after padding")
        last = step_ptr[1:][heights > 0] - 1
        require(np.all(entry[last].any(axis=1)), "structure", f"{what}: more steps than the longest thread has")
        row, column = (local >> 16).astype(np.int64), (local & 0xFFFF).astype(np.int64)
        inside = (row < sizes[packet][:, None]) & (column < sizes[packet][:, None])
        require(np.all(inside | ~entry), "structure", f"{what}: an entry outside of its packet")
        follows = np.vstack((np.ones((1, threads), bool), local[1:] > local[:-1])) if steps else entry
        require(np.all(follows | first | ~entry), "structure", f"{what}: the entries of a thread do not rise")

        step, thread = np.nonzero(entry)
        place = packet_ptr[packet[step]] + row[step, thread]  # in `rows`
        owners = np.unique(np.stack((place, thread)), axis=1)[0]
        require(len(np.unique(owners)) == len(owners), "structure", f"{what}: a row of two threads")
        columns = rows[packet_ptr[packet[step]] + column[step, thread]]
        order = np.lexsort((columns, rows[place]))
        return rows[place][order], columns[order], values.reshape(entry.shape)[entry][order]


class Csell:
    names = ("slices", "patterns", "stream", "values", "tiles", "references")
    parameters = ("source", "block", "sums", "tile_slices", "largest_tile", "patterns_only")
    RAW, TABLE, STEP, SINGLE, MIRROR, SKEW = range(6)
    LANES, STEPS, MANY = 32, 4, 0xFFFFFFFF

    @staticmethod
    def expect(p, what):
        source, block, sums, tile_slices, _, patterns_only = p.parameters.values()
        patterns = p.counts["patterns"] // 8
        require(source <= Csell.SKEW, "tables", f"{what}: source {source}")
        require(1 <= block <= 4, "tables", f"{what}: block is {block}")
        require(p.row_count % block == p.column_count % block == 0, "tables", f"{what}: not made of blocks of {block}")
        require(sums in (1, 2, 4), "tables", f"{what}: {sums} sums")
        require(patterns_only <= 1, "tables", f"{what}: patterns_only is {patterns_only}")
        require(1 <= tile_slices < 2**32 if source == Csell.TABLE else tile_slices == 0, "tables",
                f"{what}: tile_slices is {tile_slices}")
        mirrors = source >= Csell.MIRROR
        values = {Csell.STEP: patterns * Csell.STEPS * block**2, Csell.SINGLE: 1}.get(
            source, range(0, 2**63, Csell.LANES * block**2) if mirrors else ANY)
        slices = -(-p.row_count // (block * Csell.LANES))
        tiles = -(-slices // tile_slices) if tile_slices else 0
        return (("slices", U32, slices * 4, 16), ("patterns", U32, range(0, 2**33, 8), 32),
                ("stream", U32, range(0, 2**35, 8), 32),
                ("values", VALUE_ELEMENT[p.value_type], values, 32), ("tiles", U32, tiles * 2, 16),
                ("references", U16, patterns * Csell.STEPS if mirrors else range(0), 16, 2))

    @staticmethod
    def unpack(p, what, slices, patterns, stream, values, tiles, references):
        source, block, tile_slices = (p.parameters[name] for name in ("source", "block", "tile_slices"))
        patterns_only = all(counts <= 255 for counts in slices[3::4].tolist())
        require(p.parameters["patterns_only"] == patterns_only, "structure",
                f"{what}: patterns_only is {p.parameters['patterns_only']}")
        tiles = Csell.tables(p, what, tiles, len(values))
        dictionary = Csell.groups(what, patterns)
        if source == Csell.STEP:
            unused = values.reshape(-1, block**2)[dictionary[1].reshape(-1) == 0]
            require(not np.any(has_bits(unused)), "structure", f"{what}: a value of no step")
        slots, width = None, 0
        if source >= Csell.MIRROR:
            require(references is not None, "tables", f"{what}: mirrors without references")
            unused = references[dictionary[1].reshape(-1) == 0]
            require(not np.any(unused), "structure", f"{what}: a reference of no step")
            slots = Slots(p, what, slices.reshape(-1, 4), values)
        stream, raw = Units(what, "stream", stream), Units(what, "values", values)
        pieces = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, values.dtype))]
        for s, (pattern, begin, first_value, counts) in enumerate(slices.reshape(-1, 4).tolist()):
            at = f"{what}, slice {s}"
            require(begin == stream.position, "structure", f"{at}: its stream begins elsewhere")
            require(slots or first_value == raw.position, "structure", f"{at}: its values begin elsewhere")
            table = tiles[s // tile_slices] if source == Csell.TABLE else None
            if slots:
                width, pattern = divmod(pattern, 2**30)
                require(width <= 2, "structure", f"{at}: references of {width} bytes")
                table = (0, 256**width) if width else None  # like ids, of which an entry has one
            entry, columns, ids = Csell.read_slice(at, stream, counts, pattern, dictionary, s, table, source,
                                                   1 if slots else block)
            # Entries in the order of the steps, then of the lanes; their values are those of blocks, row by row.
            step, lane = np.nonzero(entry)
            element = np.arange(block**2)
            if source == Csell.RAW:
                found = Csell.raw_values(at, raw, entry, block)
            elif source == Csell.TABLE:
                found = values[table[0] + ids[step, lane]]
            elif slots:
                found = slots.take(at, s, lane, columns[step, lane],
                                   ids[step, lane, 0] if width else references[pattern * Csell.STEPS + step])
            elif source == Csell.STEP:
                found = values[((pattern * Csell.STEPS + step) * block**2)[:, None] + element]
            else:
                found = np.full((len(step), block**2), values[0])
            row, column = (s * Csell.LANES + lane) * block, columns[step, lane] * block
            pieces.append(((row[:, None] + element // block).reshape(-1),
                           (column[:, None] + element % block).reshape(-1), found.reshape(-1)))
        stream.require_end()
        if source == Csell.RAW:
            raw.require_end()
        if slots:
            slots.check()
        rows, columns, values = (np.concatenate(piece) for piece in zip(*pieces))
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], values[order]

    @staticmethod
    def tables(p, what, tiles, values):
        """(begin, count) of each tile's."""
        tiles = [tuple(tile) for tile in tiles.reshape(-1, 2).tolist()]
        end = 0
        for begin, count in tiles:
            require(count <= 65536, "structure", f"{what}: a table of {count} values")
            require(begin <= end, "structure", f"{what}: a gap before a table")
            end = max(end, begin + count)
        require(p.parameters["source"] != Csell.TABLE or end == values, "structure",
                f"{what}: the tables are not all of the values")
        largest = max((count for _, count in tiles), default=0)
        require(p.parameters["largest_tile"] == largest, "structure", f"{what}: the largest table has {largest} values")
        return tiles

    @staticmethod
    def groups(what, words):
        """Bases and masks by groups and steps."""
        bases, masks = words.reshape(-1, 2, Csell.STEPS).astype(np.int64).transpose(1, 0, 2)
        used = masks != 0
        require(np.all(used[:, 0]), "structure", f"{what}: a group without steps")
        require(not np.any(used[:, 1:] & ~used[:, :-1]), "structure", f"{what}: a step after the end of its group")
        require(not np.any(bases[~used]), "structure", f"{what}: a base of no step")
        return bases, masks

    @staticmethod
    def counts(what, stream, counts, source, referring):
        """Groups of each kind of columns."""
        n = [counts >> 8 * kind & 0xFF for kind in range(4)]
        if counts == Csell.MANY:
            unit = stream.take(1, "<u4").tolist()
            n = unit[:4]
            require(max(n) > 255 or min(n) == 255, "structure", f"{what}: few groups in a unit of their own")
            require(not any(unit[4:]), "structure", f"{what}: more than four counts")
        require(source != Csell.STEP or not any(n[1:]), "structure", f"{what}: columns without values")
        require(source < Csell.MIRROR or (any(n) if referring else not any(n[1:])), "structure",
                f"{what}: groups without references, or references without groups")
        return n

    @staticmethod
    def read_slice(what, stream, counts, pattern, dictionary, s, table, source, block):
        """Which lanes have an entry, their columns and the ids of their blocks' values, by steps and lanes."""
        lanes, steps = Csell.LANES, Csell.STEPS
        n = Csell.counts(what, stream, counts, source, table is not None)
        require(pattern + n[0] <= len(dictionary[0]), "structure", f"{what}: its pattern is out of range")
        require(n[0] != 0 or pattern == 0, "structure", f"{what}: a pattern that it does not use")
        own = Csell.groups(what, stream.take(sum(n[1:]), "<u4"))
        bases, masks = (np.concatenate((d[pattern:pattern + n[0]], g)) for d, g in zip(dictionary, own))

        # What a lane has for the four steps of a group is together.
        entry = masks[:, None, :] >> np.arange(lanes)[:, None] & 1 != 0
        rows = np.broadcast_to((s * lanes + np.arange(lanes))[:, None], (n[0], lanes, steps))
        offsets = [stream.take(n[kind] * 2 << kind, f"<u{1 << kind - 1}").reshape(-1, lanes, steps).astype(np.int64)
                   for kind in (1, 2, 3)]
        offsets = np.concatenate(offsets)
        require(not np.any(offsets[~entry[n[0]:]]), "structure", f"{what}: an offset of no entry")
        columns = (bases[:, None, :] + np.concatenate((rows, offsets))) % 2**32
        entry, columns = (a.transpose(0, 2, 1).reshape(-1, lanes) for a in (entry, columns))
        ids = None
        if table:
            width = 1 if table[1] <= 256 else 2
            ids = stream.take(len(masks) * 4 * width * block**2, f"<u{width}").reshape(-1, block**2, lanes, steps)
            ids = ids.transpose(0, 3, 2, 1).reshape(-1, lanes, block**2).astype(np.int64)
            require(np.all(ids[entry] < table[1]), "structure", f"{what}: an id out of range")
            require(not np.any(ids[~entry]), "structure", f"{what}: an id of no entry")

        kind = np.repeat(np.arange(4), np.array(n) * steps)
        lane, step = np.nonzero(entry.T)
        require(rises(lane * 4 + kind[step], columns[step, lane]), "structure", f"{what}: columns do not rise")
        return entry, columns, ids

    @staticmethod
    def raw_values(what, raw, entry, block):
        """Step by step; of its blocks all first elements, then all second ones."""
        n = entry.sum(axis=1)
        held = int(n.sum()) * block**2
        mine = raw.take(-(-held * raw.dtype.itemsize // 32), raw.dtype)
        require(not np.any(has_bits(mine[held:])), "structure", f"{what}: padding with a value")
        before = np.repeat(np.cumsum(n) - n, n)
        rank = np.arange(len(before)) - before
        return mine[(before * block**2 + rank)[:, None] + np.arange(block**2) * np.repeat(n, n)[:, None]]


class Slots:
    """The values of csell with mirrors. A slot has an entry of each of 32 lanes, block by block element by element."""

    def __init__(self, p, what, slices, values):
        self.what, self.block = what, p.parameters["block"]
        self.rows, self.skew = p.row_count // self.block, p.parameters["source"] == Csell.SKEW
        self.values = values.reshape(-1, self.block**2, Csell.LANES)
        units = self.block**2 * values.dtype.itemsize  # of a slot
        begins = np.append(slices[:, 2], [len(self.values) * units]).astype(np.int64)
        require(begins[0] == 0 and np.all(begins[1:] >= begins[:-1]), "structure", f"{what}: slots of no slice, or two")
        require(not np.any(begins % units), "structure", f"{what}: slots that begin within one")
        self.begins = begins // units
        self.column = np.full((len(self.values), Csell.LANES), -1)  # of the entry that a slot is of
        self.mirrors = []  # (slot, lane, row)

    def take(self, what, s, lane, column, reference):
        """The entries' blocks, row by row."""
        slot, opposite = np.divmod(reference.astype(np.int64), 2)
        row, opposite = s * Csell.LANES + lane, opposite == 1
        owner = np.where(opposite, column, row)
        require(np.all(owner < self.rows), "structure", f"{what}: a row that the part does not have")
        slot = slot + self.begins[owner // Csell.LANES]
        require(np.all(slot < self.begins[owner // Csell.LANES + 1]), "structure", f"{what}: a slot of another slice")
        own = slot[~opposite] * Csell.LANES + lane[~opposite]
        require(len(np.unique(own)) == len(own), "structure", f"{what}: a slot of two entries")
        self.column.reshape(-1)[own] = column[~opposite]
        self.mirrors.append((slot[opposite], owner[opposite] % Csell.LANES, row[opposite]))
        found = self.values[slot, :, owner % Csell.LANES]
        across = found.reshape(-1, self.block, self.block).transpose(0, 2, 1).reshape(found.shape)
        bits = np.where(opposite[:, None], across, found).view(f"<u{found.dtype.itemsize}")
        sign = bits.dtype.type(1 << 8 * bits.dtype.itemsize - 1)
        return np.where(opposite[:, None] & self.skew, bits ^ sign, bits).view(found.dtype)

    def check(self):
        for slot, lane, row in self.mirrors:
            require(np.array_equal(self.column[slot, lane], row), "structure",
                    f"{self.what}: a mirror of another entry, or of a mirror")
        unused = self.values.transpose(0, 2, 1)[self.column < 0]
        require(not np.any(has_bits(unused)), "structure", f"{self.what}: a value of no entry")


class Units:
    """A section that is taken piece by piece, in units of 32 bytes."""

    def __init__(self, what, name, section):
        self.what, self.dtype, self.bytes, self.position = f"{what}: {name}", section.dtype, section.tobytes(), 0

    def take(self, units, dtype):
        begin, self.position = self.position * 32, self.position + units
        require(self.position * 32 <= len(self.bytes), "structure", f"{self.what} ends early")
        return np.frombuffer(self.bytes[begin:self.position * 32], dtype)

    def require_end(self):
        require(self.position * 32 == len(self.bytes), "structure", f"{self.what} goes on after its last piece")


class Bitflag:
    names = ("chunks", "stream", "values", "hot", "segments")
    parameters = ("source", "tile_chunks", "continued")
    RAW, TABLE, SINGLE, WINDOW, DECIMAL = range(5)
    ENTRIES, LANE, MOST_ROWS = 256, 8, 4096

    @staticmethod
    def expect(p, what):
        source, tile_chunks, _ = p.parameters.values()
        hot, segments = p.counts["hot"], max(p.counts["segments"] - 1, 1)
        require(source <= Bitflag.DECIMAL, "tables", f"{what}: source {source}")
        require(source != Bitflag.DECIMAL or p.value_type == 1, "tables", f"{what}: decimals of f32")
        require(1 <= tile_chunks <= 32, "tables", f"{what}: tiles of {tile_chunks} chunks")
        values = {Bitflag.RAW: range(1), Bitflag.TABLE: range(1, 257), Bitflag.SINGLE: range(1, 2),
                  Bitflag.WINDOW: range(1, 511 * 4096 + 65536 + 1), Bitflag.DECIMAL: range(1)}[source]
        require(segments == 1 or segments <= p.column_count and hot == 0, "tables", f"{what}: {segments} segments")
        width = -(-p.column_count // segments)
        require(segments == 1 or width <= 65536 and (segments - 1) * width < p.column_count, "tables",
                f"{what}: {segments} segments of {width} columns")
        require(segments == 1 or segments * p.row_count <= min(max(p.nonzeros, 2**24), 2**32 - 2), "tables",
                f"{what}: {segments} segments of {p.row_count} rows")
        return (("chunks", U32, range(4, 2**34, 4 * tile_chunks), 16), ("stream", U32, range(0, 2**35, 8), 32),
                ("values", VALUE_ELEMENT[p.value_type], values, 16),
                ("hot", U32, range(32769 if p.column_count <= 2**31 else 1), 16),
                ("segments", U32, segments + 1 if segments > 1 else 0, 16))

    @staticmethod
    def unpack(p, what, chunks, stream, values, hot, segments):
        count, tile_chunks = max(len(segments) - 1, 1), p.parameters["tile_chunks"]
        require(np.all(hot[1:] > hot[:-1]), "structure", f"{what}: hot columns do not rise")
        require(np.all(hot < p.column_count), "structure", f"{what}: a hot column is out of range")
        chunks = chunks.reshape(-1, 4).tolist()
        info = [Bitflag.info(f"{what}, chunk {c}", p.parameters["source"], chunk) for c, chunk in enumerate(chunks)]
        begins = [chunk[0] + i["continues"] for chunk, i in zip(chunks, info)]
        require(begins[0] == 0, "structure", f"{what}: the first chunk's rows do not begin at 0")
        require(chunks[-1][0] == p.row_count * count and info[-1]["entries"] == 0, "structure", f"{what}: no end")
        continued = sum(i["continues"] for i in info[:-1:tile_chunks])
        require(p.parameters["continued"] == continued, "structure", f"{what}: {continued} tiles begin inside a row")
        for s, tile in enumerate(segments.tolist()):
            require(tile * tile_chunks < len(chunks) and begins[tile * tile_chunks] == s * p.row_count, "structure",
                    f"{what}: segment {s} does not begin with tile {tile}")
            require(not info[tile * tile_chunks]["continues"], "structure", f"{what}: segment {s} continues a row")
        require(count == 1 or (segments[0] == 0 and segments[-1] * tile_chunks == len(chunks) - 1 and
                               np.all(segments[1:] >= segments[:-1])), "structure", f"{what}: tiles of no segment")
        stream = Units(what, "stream", stream)
        pieces, last = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, values.dtype))], None
        for c, (chunk, i) in enumerate(zip(chunks, info)):
            at = f"{what}, chunk {c}"
            require(chunk[2] == stream.position, "structure", f"{at}: its stream begins elsewhere")
            if i["continues"]:
                require(last == chunk[0], "structure", f"{at}: it does not continue the row before")
            if c + 1 < len(chunks):
                require(begins[c] <= begins[c + 1] <= begins[c] + Bitflag.MOST_ROWS, "structure",
                        f"{at}: its rows fall, or are too many")
            if i["entries"]:
                rows, columns, found = Bitflag.read_chunk(p, at, stream, chunk, i, range(begins[c], begins[c + 1]),
                                                          values, hot)
                pieces.append((rows, columns, found))
                last = rows[-1]
                if count > 1:
                    width = -(-p.column_count // count)
                    require(chunk[1] == rows[0] // p.row_count * width and i["column_bytes"] <= 2, "structure",
                            f"{at}: columns do not count from the segment's first")
                    require(np.all(columns < chunk[1] + width), "structure", f"{at}: columns of another segment")
            else:
                last = None
        stream.require_end()
        rows, columns, values = (np.concatenate(piece) for piece in zip(*pieces))
        if count == 1:
            return rows, columns, values
        require(rises(rows, columns), "structure", f"{what}: columns do not rise in a segment")
        rows %= max(p.row_count, 1)
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], values[order]

    @staticmethod
    def info(what, source, chunk):
        _, base, _, bits = chunk
        i = {"entries": bits & 511, "starts": bits >> 9 & 511, "column_bytes": (1, 2, 4, 3)[bits >> 18 & 3],
             "row_bytes": bits >> 20 & 3, "continues": bits >> 22 & 1, "window": 0, "exponent": 0, "exponent_bits": 0}
        unused = 23
        if source == Bitflag.WINDOW:
            i["window"], unused = (bits >> 23) * 4096, 32
        elif source == Bitflag.DECIMAL:
            i["exponent"], i["exponent_bits"], unused = bits >> 23 & 31, (bits >> 28 & 3) * 4, 30
            require(i["exponent"] <= 22 and i["exponent_bits"] <= 8, "structure", f"{what}: its exponents")
        require(bits >> unused == 0 and i["starts"] <= i["entries"] <= Bitflag.ENTRIES, "structure",
                f"{what}: its numbers")
        require(i["row_bytes"] <= 2, "structure", f"{what}: the bytes of its offsets")
        require(i["starts"] or i["row_bytes"] == 0, "structure", f"{what}: row offsets without rows")
        require(i["entries"] or bits == base == 0, "structure", f"{what}: numbers of no entry")
        require(not i["entries"] or i["starts"] or i["continues"], "structure", f"{what}: entries of no row")
        return i

    @staticmethod
    def read_chunk(p, what, stream, chunk, info, own, values, hot):
        """Rows, columns and values of its entries."""
        row, base, _, _ = chunk
        n, starts, width = info["entries"], info["starts"], info["column_bytes"]
        lanes = -(-n // 32) * 4

        def elements(dtype):
            """A piece: what a lane has, 16 bytes of it together, in the order of the entries."""
            size = np.dtype(dtype).itemsize
            together = min(Bitflag.LANE, 16 // size)
            taken = stream.take(lanes * Bitflag.LANE * size // 32, dtype)
            taken = taken.reshape(-1, lanes, together).transpose(1, 0, 2).reshape(-1)
            raw = taken.view("u1").reshape(len(taken), -1)
            require(not np.any(raw[n:]), "structure", f"{what}: something of no entry")
            return taken[:n]

        first = np.unpackbits(stream.take(1, "u1"), bitorder="little").astype(bool)
        require(not np.any(first[n:]), "structure", f"{what}: a start of no entry")
        first = first[:n]
        require(first.sum() == starts, "structure", f"{what}: {first.sum()} rows start, not {starts}")
        require(first[0] != bool(info["continues"]), "structure", f"{what}: its first entry")
        columns = elements("<u2" if width == 3 else f"<u{width}").astype(np.int64)
        if width == 3:
            columns += elements("u1").astype(np.int64) << 16
        if len(hot) and width >= 3:
            least = 2 ** (8 * width - 1)
            is_hot = columns >= least
            require(np.all(columns[is_hot] - least < len(hot)), "structure", f"{what}: a hot column out of range")
            named = hot.astype(np.int64)[np.where(is_hot, columns - least, 0)]
            columns = np.where(is_hot, named, base + columns)
            require(np.all(columns >= base), "structure", f"{what}: a column below the base")
        else:
            columns = base + columns
        source = p.parameters["source"]
        if source == Bitflag.RAW:
            found = elements(values.dtype)
        elif source == Bitflag.TABLE:
            ids = elements("u1")
            require(np.all(ids < len(values)), "structure", f"{what}: an id out of range")
            found = values[ids]
        elif source == Bitflag.WINDOW:
            ids = info["window"] + elements("<u2").astype(np.int64)
            require(np.all(ids < len(values)), "structure", f"{what}: an id out of range")
            found = values[ids]
        elif source == Bitflag.DECIMAL:
            integers, exponents = elements("<i4"), np.full(n, info["exponent"])
            if info["exponent_bits"]:
                more = stream.take(-(-lanes * info["exponent_bits"] // 32), "u1")
                if info["exponent_bits"] == 4:
                    more = np.stack((more & 15, more >> 4), axis=1).reshape(-1)
                require(not np.any(more[n:]), "structure", f"{what}: an exponent of no entry")
                exponents += more[:n]
            require(np.all(exponents <= 22), "structure", f"{what}: an exponent out of range")
            found = integers / np.array([float(f"1e{e}") for e in range(23)])[exponents]
        else:
            found = np.full(n, values[0])
        if info["row_bytes"] == 0:
            require(starts in (0, len(own)), "structure", f"{what}: not all of its own rows start")
            rows = np.arange(own.start, own.start + starts)
        else:
            held = stream.take(-(-starts * info["row_bytes"] // 32), f"<u{info['row_bytes']}")
            require(not np.any(held[starts:]), "structure", f"{what}: an offset of no row")
            rows = row + held[:starts].astype(np.int64)
            require(np.all(rows[1:] > rows[:-1]), "structure", f"{what}: rows do not rise")
            require(rows[0] >= own.start and rows[-1] < own.stop, "structure", f"{what}: a row out of range")
            require(starts < len(own), "structure", f"{what}: offsets of consecutive rows")
        if info["continues"]:
            rows = np.concatenate(([row], rows))
        return rows[np.cumsum(first) - (not info["continues"])], columns, found


class Sjds:
    names = ("windows", "slices", "stream", "values", "codes")
    parameters = ("source", "window_rows", "pieces")
    RAW, CODE = range(2)
    LANES, PIECE, WINDOW = 8, 4096, 16

    @staticmethod
    def expect(p, what):
        source, window_rows, pieces = p.parameters.values()
        require(source in (Sjds.RAW, Sjds.CODE), "tables", f"{what}: source {source}")
        require(window_rows % 8 == 0 and 8 <= window_rows <= 65536, "tables", f"{what}: windows of {window_rows} rows")
        require(pieces <= p.counts["slices"] // 6, "tables", f"{what}: {pieces} pieces")
        coded = source == Sjds.CODE
        require(coded or p.nonzeros < 2**32, "tables", f"{what}: {p.nonzeros} values")
        return (("windows", U32, -(-p.row_count // window_rows) + 1, 16), ("slices", U32, range(0, 6 * 2**31, 6), 16),
                ("stream", U32, range(2**32), 16),
                ("values", VALUE_ELEMENT[p.value_type], range(17) if coded else p.nonzeros, 16),
                ("codes", U32, range(2**32 if coded else 1), 16))

    @staticmethod
    def unpack(p, what, windows, slices, stream, values, codes):
        source, window_rows, pieces = p.parameters.values()
        slices = slices.reshape(-1, 6).tolist()
        first = (windows & 0x7FFFFFFF).astype(np.int64)
        require(first[0] == 0, "structure", f"{what}: the first window's slices do not begin at 0")
        require(np.all(first[1:] >= first[:-1]), "structure", f"{what}: the windows' slices fall")
        require(first[-1] == len(slices) - pieces, "structure", f"{what}: {pieces} pieces")
        require(windows[-1] >> 31 == 0, "structure", f"{what}: the end of the windows has rows")
        stream = Taken("stream", stream)
        # Values of entries, or codes of steps; a code names one of the values, which then are the table.
        held, table = (Taken("codes", codes), values) if source == Sjds.CODE else (Taken("values", values), None)
        taken = np.zeros(p.row_count, bool)
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, values.dtype))]
        for window in range(len(windows) - 1):
            rows = range(window * window_rows, min((window + 1) * window_rows, p.row_count))
            for s in range(first[window], first[window + 1]):
                at = f"{what}, slice {s}"
                info = Sjds.info(at, slices[s], stream, held)
                found.append(Sjds.read_rows(p, at, stream, held, table, info, rows, s + 1 == first[window + 1]))
                mine = np.unique(found[-1][0])
                require(not np.any(taken[mine]), "structure", f"{at}: a row of another slice")
                taken[mine] = True
            others = not np.all(taken[rows.start:rows.stop])
            require(others == bool(windows[window] >> 31), "structure",
                    f"{what}: window {window} has rows of no slice of it: {others}")
        row, entries = -1, Sjds.PIECE
        for s in range(first[-1], len(slices)):
            at = f"{what}, slice {s}"
            info = Sjds.info(at, slices[s], stream, held)
            if info["continues"]:
                require(info["row"] == row and entries == Sjds.PIECE, "structure", f"{at}: a piece that continues none")
            else:
                require(info["row"] > row, "structure", f"{at}: rows of pieces do not rise")
                require(info["row"] < p.row_count and not taken[info["row"]], "structure",
                        f"{at}: a row beyond the last, or of another slice")
            row = info["row"]
            columns, piece_values = Sjds.read_piece(p, at, stream, held, table, info)
            entries = len(columns)
            found.append((np.full(entries, row), columns, piece_values))
        stream.require_end(what)
        held.require_end(what)
        rows, columns, values = (np.concatenate(piece) for piece in zip(*found))
        # Pieces of a row follow one another: a stable sort by rows shows whether they rise.
        order = np.argsort(rows, kind="stable")
        return rows[order], columns[order], values[order]

    @staticmethod
    def info(what, element, stream, held):
        stream_place, held_place, row, base, steps, tail = element
        i = {"row": row, "base": base, "window_steps": steps & 0x1FFF, "further": steps >> 13 & 0x1FFF,
             "rows": (steps >> 26 & 7) + 1, "wide": steps >> 29 & 1, "listed": steps >> 30 & 1,
             "continues": steps >> 31, "tail": tail & 0x1FFF, "tail_entries": tail >> 13 & 0x7FFF}
        stream.require_place(what, stream_place)
        held.require_place(what, held_place)
        require(tail >> 28 == 0, "structure", f"{what}: bits that are not 0")
        has_columns = i["further"] or i["tail"]
        require(base == 0 or (has_columns and not i["wide"]), "structure", f"{what}: a base of no 16-bit column")
        return i

    @staticmethod
    def read_rows(p, what, stream, held, table, info, window, is_last):
        """The entries of a window's slice, sorted, with their rows."""
        lanes, full, tail = info["rows"], info["window_steps"] + info["further"], info["tail"]
        require(not info["continues"], "structure", f"{what}: a piece among slices of rows")
        require(full + tail <= Sjds.PIECE, "structure", f"{what}: {full + tail} steps")
        if lanes == Sjds.LANES:
            require(full != 0, "structure", f"{what}: a row without entries")
        else:
            require(is_last, "structure", f"{what}: few rows, but not the window's last")
            require(full == 0 and tail != 0, "structure", f"{what}: {full} steps of all lanes of {lanes} rows")
        rows = info["row"] + np.arange(lanes)
        if info["listed"]:
            require(info["row"] == window.start, "structure", f"{what}: a list that does not count from its window")
            listed = stream.take(what, Sjds.LANES, "<u2").astype(np.int64)
            require(not np.any(listed[lanes:]), "structure", f"{what}: a row of no lane")
            rows = info["row"] + listed[:lanes]
        require(rows.min() >= window.start and rows.max() < window.stop, "structure",
                f"{what}: a row out of its window")
        require(len(np.unique(rows)) == lanes, "structure", f"{what}: a row twice")
        lane, columns, values, counts = Sjds.read_steps(p, what, stream, held, table, info, min(lanes, 7))
        require(lanes == Sjds.LANES or counts[0] == lanes, "structure", f"{what}: a row without entries")
        in_windows = Sjds.LANES * info["window_steps"]
        for kind in (slice(in_windows), slice(in_windows, None)):
            order = np.argsort(lane[kind], kind="stable")
            same = np.diff(lane[kind][order]) == 0
            require(np.all(~same | (np.diff(columns[kind][order]) > 0)), "structure",
                    f"{what}: columns do not rise in a lane")
        order = np.lexsort((columns, rows[lane]))
        rows, columns, values = rows[lane][order], columns[order], values[order]
        require(rises(rows, columns), "structure", f"{what}: a column twice in a row")
        return rows, columns, values

    @staticmethod
    def read_piece(p, what, stream, held, table, info):
        full = info["window_steps"] + info["further"]
        require(info["rows"] == 1 and not info["listed"], "structure", f"{what}: a piece of several rows")
        require(info["tail"] <= 1 and 0 < Sjds.LANES * full + info["tail_entries"] <= Sjds.PIECE, "structure",
                f"{what}: a piece of {full} and {info['tail']} steps")
        _, columns, values, _ = Sjds.read_steps(p, what, stream, held, table, info, 7)
        # The steps of all lanes by their first columns, then the tail: so lane l has every eighth entry.
        firsts = columns[:Sjds.LANES * full:Sjds.LANES]
        for kind in (firsts[:info["window_steps"]], firsts[info["window_steps"]:]):
            require(np.all(np.diff(kind) > 0), "structure", f"{what}: steps do not rise")
        order = np.arange(len(columns))
        order[:Sjds.LANES * full] = order[:Sjds.LANES * full].reshape(-1, Sjds.LANES)[np.argsort(firsts)].reshape(-1)
        columns, values = columns[order], values[order]
        require(np.all(np.diff(columns) > 0), "structure", f"{what}: columns do not rise from lane to lane")
        return columns, values

    @staticmethod
    def read_steps(p, what, stream, held, table, info, most):
        """Lanes, columns and values as they are stored, and the lanes of the tail's steps, at most `most`."""
        lanes = Sjds.LANES
        window_steps, further, tail = info["window_steps"], info["further"], info["tail"]
        base, places = stream.take(what, 2 * window_steps, "<u4").reshape(-1, 2).astype(np.int64).T
        require(np.all(base + Sjds.WINDOW <= p.column_count), "structure", f"{what}: a window step beyond the columns")
        counts = stream.take(what, tail, "u1").astype(np.int64)
        require(np.all((counts >= 1) & (counts <= most)), "structure", f"{what}: lanes of the tail")
        require(np.all(counts[1:] <= counts[:-1]), "structure", f"{what}: lanes of the tail rise")
        require(counts.sum() == info["tail_entries"], "structure", f"{what}: {counts.sum()} entries of the tail")
        stored = lanes * further + info["tail_entries"]
        offsets = stream.take(what, stored + (7 if tail else 0), "<u4" if info["wide"] else "<u2").astype(np.int64)
        require(not np.any(offsets[stored:]), "structure", f"{what}: a column of no entry")
        columns = np.concatenate(((base[:, None] + nibbles(places)).reshape(-1), offsets[:stored] + info["base"]))
        require(np.all(columns < p.column_count), "structure", f"{what}: a column is out of range")
        entry = np.arange(lanes) < np.append(np.full(window_steps + further, lanes), counts)[:, None]
        if table is None:
            values = held.take(what, len(columns))
        else:
            codes = nibbles(held.take(what, len(entry)).astype(np.int64))
            require(not np.any(codes[~entry]), "structure", f"{what}: a code of no entry")
            require(np.all(codes[entry] < len(table)), "structure", f"{what}: a code out of range")
            values = table[codes[entry]]
        return np.nonzero(entry)[1], columns, values, counts


def nibbles(words):
    return words[:, None] >> 4 * np.arange(8) & 15


class Taken:
    """A section that slices take one after the other."""

    def __init__(self, name, elements):
        self.name, self.elements, self.position = name, elements, 0

    def require_place(self, what, place):
        require(place == self.position, "structure", f"{what}: {self.name}: it begins elsewhere")

    def take(self, what, count, dtype=None):
        """The next elements, or `count` of another type that they hold, filled with zeros."""
        dtype = np.dtype(dtype or self.elements.dtype)
        begin, self.position = self.position, self.position + -(-count * dtype.itemsize // self.elements.itemsize)
        require(self.position <= len(self.elements), "structure", f"{what}: {self.name}: its end comes early")
        taken = self.elements[begin:self.position].view(dtype)
        require(not np.any(taken[count:]), "structure", f"{what}: what fills is not 0")
        return taken[:count]

    def require_end(self, what):
        require(self.position == len(self.elements), "structure", f"{what}: {self.name}: more than the slices")


LAYOUTS = {"csr": Csr, "coo": Coo, "ell": Ell, "ellpack_r": EllpackR, "sell": Sell, "pjds": Pjds, "dia": Dia,
           "ccoo": Ccoo, "amb": Amb, "pkt": Pkt, "csell": Csell, "bitflag": Bitflag, "sjds": Sjds}
