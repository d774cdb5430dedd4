"""The names, numbers and records of docs/FORMAT.md, and the error of a file that breaks it."""

import argparse
import struct

# FORMAT.md, section 9, in its order.
STAGES = ("magic", "length", "version", "header checksum", "file length", "header field", "tables checksum", "tables",
          "padding", "block checksum", "decode", "structure", "digest", "field and symmetry")

BLOCK = 1 << 20
NO_PART = 0xFFFFFFFF
MOST_PARTS, MOST_PARAMETERS, MOST_ROW_SHARE, MOST_PROVENANCE = 65536, 16, 64, 1 << 20  # the limits of sections 2, 3, 8
MAGIC = bytes.fromhex("89 53 50 56 0D 0A 1A 0A")
SIGNATURE = "signature"
GHOSTS, ORIGINAL_ROWS = "ghosts", "original_rows"
ELEMENTS = {1: "<u1", 2: "<u2", 3: "<u4", 4: "<u8", 5: "<f4", 6: "<f8", 7: "<c8", 8: "<c16"}
VALUE_ELEMENT = {1: 6, 2: 5, 3: 7, 4: 8}  # value type -> element type
U8, U16, U32, U64 = 1, 2, 3, 4
ROLE_A, ROLE_TRANSPOSE = 1, 2
MAP_ALL, MAP_RANGE, MAP_LIST = 0, 1, 2
CODEC_NONE, CODEC_ZSTD = 0, 1
FILTER_NONE, FILTER_SHUFFLE, FILTER_DELTA = 0, 1, 2
REQUIRED, DEVICE = 1, 2

# (field, struct code), as the tables of sections 2 and 3 list them.
HEADER = (("magic", "8s"), ("version_major", "H"), ("version_minor", "H"), ("header_bytes", "I"), ("required", "Q"),
          ("optional", "Q"), ("rows", "Q"), ("columns", "Q"), ("nonzeros", "Q"), ("value_type", "B"), ("field", "B"),
          ("symmetry", "B"), ("digest_algorithm", "B"), ("reserved_60", "4s"), ("file_length", "Q"), ("digest", "16s"),
          ("tables_offset", "Q"), ("tables_bytes", "Q"), ("tables_checksum", "Q"), ("parts", "I"), ("parameters", "I"),
          ("sections", "I"), ("reserved_124", "4s"), ("blocks", "Q"), ("global_rows", "Q"), ("global_columns", "Q"),
          ("first_row", "Q"), ("rank", "I"), ("ranks", "I"), ("first_column", "Q"), ("own_columns", "Q"),
          ("global_nonzeros", "Q"), ("partition", "Q"), ("global_digest", "16s"), ("reserved_216", "3872s"),
          ("checksum", "Q"))
SHARE = ("global_columns", "first_row", "rank", "ranks", "first_column", "own_columns", "global_nonzeros", "partition")
PART = (("layout", "16s"), ("value_type", "B"), ("role", "B"), ("row_map", "B"), ("column_map", "B"),
        ("reserved_20", "4s"), ("row_begin", "Q"), ("row_count", "Q"), ("column_begin", "Q"), ("column_count", "Q"),
        ("nonzeros", "Q"), ("first_section", "I"), ("sections", "I"), ("first_parameter", "I"), ("parameters", "I"),
        ("reserved_80", "16s"))
PARAMETER = (("name", "16s"), ("value", "Q"))
SECTION = (("name", "16s"), ("part", "I"), ("element", "B"), ("codec", "B"), ("filter", "B"), ("flags", "B"),
           ("alignment", "I"), ("filter_width", "B"), ("reserved_29", "3s"), ("count", "Q"), ("raw_bytes", "Q"),
           ("stored_bytes", "Q"), ("offset", "Q"), ("first_block", "Q"), ("blocks", "Q"), ("reserved_80", "16s"))
BLOCK_ENTRY = (("checksum", "Q"), ("stored_bytes", "I"), ("reserved_12", "4s"))


class SpmvcError(Exception):
    """A file that is no container (exit code 3), corrupt (4), unsupported (5) or too large (8); `stage` is one of
    STAGES."""

    def __init__(self, exit_code, stage, message):
        super().__init__(f"{stage}: {message}")
        assert stage in STAGES
        self.exit_code = exit_code
        self.stage = stage


def require(condition, stage, message):
    if not condition:
        raise SpmvcError(4, stage, message)


def supported(condition, stage, message):
    if not condition:
        raise SpmvcError(5, stage, message)


def within(condition, stage, message):
    if not condition:
        raise SpmvcError(8, stage, message)


def align(n):
    return -(-n // 256) * 256


def unpack(layout, data, stage, what):
    """One record as a namespace; its reserved bytes must be zero."""
    values = struct.unpack("<" + "".join(code for _, code in layout), data)
    record = argparse.Namespace(**{name: value for (name, _), value in zip(layout, values)})
    for name, value in vars(record).items():
        if name.startswith("reserved_"):
            require(not any(value), stage, f"{what}: reserved bytes at {name[9:]} are not zero")
    return record


def unpack_name(data, what):
    name = data.rstrip(b"\0")
    require(name and all(c in b"abcdefghijklmnopqrstuvwxyz0123456789_" for c in name), "tables",
            f"{what}: {data!r} is not a name")
    return name.decode("ascii")
