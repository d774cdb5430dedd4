"""FORMAT.md, section 7. A layout names its sections, says what is expected of them (name, element type, count,
alignment) and its parameters, None where any number will do, and unpacks them: (rows, columns, values), local, in
stored order. Sections are required and of the device; a fifth item gives other flags."""

import numpy as np

from spmvc_format import U8, U32, U64, VALUE_ELEMENT, require


def rises(rows, columns):
    """Sorted by row, then column, with no entry twice."""
    return bool(np.all((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (columns[1:] > columns[:-1]))))


class Csr:
    names = ("row_ptr", "col_idx", "values")

    @staticmethod
    def expect(p, _):
        pointer = U32 if p.nonzeros < 2**31 else U64
        return (("row_ptr", pointer, p.row_count + 1, 16), ("col_idx", U32, p.nonzeros, 16),
                ("values", VALUE_ELEMENT[p.value_type], p.nonzeros, 16)), (None, )

    @staticmethod
    def unpack(p, what, row_ptr, col_idx, values):
        require(row_ptr[0] == 0, "structure", f"{what}: row_ptr does not start at 0")
        require(np.all(row_ptr[1:] >= row_ptr[:-1]), "structure", f"{what}: row_ptr falls")
        require(row_ptr[-1] == p.nonzeros, "structure", f"{what}: row_ptr does not end at the nonzeros")
        longest = max(np.diff(row_ptr.astype(np.int64)), default=0)
        require(p.parameters[0] == longest, "structure", f"{what}: the longest row has {longest} entries")
        return np.repeat(np.arange(p.row_count), np.diff(row_ptr.astype(np.int64))), col_idx, values


class Coo:
    names = ("row_idx", "col_idx", "values")

    @staticmethod
    def expect(p, _):
        return (("row_idx", U32, p.nonzeros, 16), ("col_idx", U32, p.nonzeros, 16),
                ("values", VALUE_ELEMENT[p.value_type], p.nonzeros, 16)), ()

    @staticmethod
    def unpack(_p, _what, row_idx, col_idx, values):
        return row_idx, col_idx, values


class Ell:
    names = ("col_idx", "values")
    NO_COLUMN = 0xFFFFFFFF

    @staticmethod
    def expect(p, _):
        slots = p.row_count * p.parameters[0]
        return (("col_idx", U32, slots, 16), ("values", VALUE_ELEMENT[p.value_type], slots, 16)), (None, )

    @staticmethod
    def unpack(p, what, col_idx, values):
        width, rows = p.parameters[0], p.row_count
        columns, values = col_idx.reshape(width, rows).T, values.reshape(width, rows).T  # a row of each, slot by slot
        entry = columns != Ell.NO_COLUMN
        require(not np.any(entry[:, 1:] & ~entry[:, :-1]), "structure", f"{what}: an entry after padding")
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(rows, width, values.itemsize)
        require(not np.any(raw[~entry]), "structure", f"{what}: padding with a value")
        longest = max(entry.sum(axis=1), default=0)
        require(longest == width, "structure", f"{what}: the longest row has {longest} entries")
        return np.nonzero(entry)[0], columns[entry], values[entry]


class Ccoo:
    names = ("encoding", "row_base", "col_base", "blob_offset", "blob", "lut")

    @staticmethod
    def expect(p, what):
        lanes, slots_per_lane, chunks = p.parameters[:3]
        require(lanes in (8, 16, 32, 64, 128, 256), "tables", f"{what}: B is {lanes}")
        require(slots_per_lane in (1, 2, 4, 8), "tables", f"{what}: K is {slots_per_lane}")
        value = VALUE_ELEMENT[p.value_type]
        return (("encoding", U8, chunks, 16), ("row_base", U32, chunks, 16), ("col_base", U32, chunks, 16),
                ("blob_offset", U64, chunks, 16), ("blob", U8, range(2**63), 256),
                ("lut", value, range(257), 16)), (lanes, slots_per_lane, chunks)

    @staticmethod
    def unpack(p, what, encoding, row_base, col_base, blob_offset, blob, lut):
        b, k = p.parameters[:2]
        group = min(b, 32)
        one_row, width_code, ids, groups = encoding & 1, encoding >> 1 & 3, encoding >> 3 & 1, (encoding >> 4 & 7) + 1
        require(np.all(width_code != 3), "structure", f"{what}: unused column encoding")
        require(np.all(groups <= b // group), "structure", f"{what}: a chunk of more than B lanes")
        lanes = groups.astype(np.int64) * group
        column_width = 1 << width_code.astype(np.int64)
        value_width = np.where(ids == 1, 1, lut.itemsize)
        sizes = np.where(one_row == 1, 0, lanes) + lanes * k * (column_width + value_width)
        ends = np.cumsum(sizes)
        require(np.array_equal(blob_offset, ends - sizes), "structure", f"{what}: blob_offset")
        require(len(blob) == sizes.sum(), "structure", f"{what}: the chunks do not fill the blob")

        chunks = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, lut.dtype))]
        for c in range(len(encoding)):
            chunks.append(
                Ccoo.unpack_chunk(f"{what}, chunk {c}", blob[ends[c] - sizes[c]:ends[c]].tobytes(), int(lanes[c]), k,
                                  group, bool(one_row[c]), int(column_width[c]), bool(ids[c]), int(row_base[c]),
                                  int(col_base[c]), lut))
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


LAYOUTS = {"csr": Csr, "coo": Coo, "ell": Ell, "ccoo": Ccoo}
