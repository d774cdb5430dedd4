#pragma once
/// What a part of ccoo must be like, for host and device: each predicate looks at one chunk, lane or slot and its
/// neighbours, and returns what is violated. Once check_place() of all chunks has found nothing, the others read
/// nothing outside the part's sections.

#include "spmvpack/container/layouts/ccoo_entries.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::ccoo {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  bad_encoding = violation(1, 0),
  blob_elsewhere = violation(2, 1),
  blob_past_end = violation(3, 1),
  blob_goes_on = violation(4, 1),
  row_out_of_range = violation(5, 2),
  base_out_of_range = violation(6, 3),
  first_row_byte = violation(7, 4),
  row_bytes_fall = violation(8, 4),
  rows_past_last = violation(9, 2),
  column_out_of_range = violation(10, 3),
  columns_fall = violation(11, 5),
  entry_after_padding = violation(12, 6),
  group_of_padding = violation(13, 6),
  padding_with_value = violation(14, 6),
  id_out_of_range = violation(15, 7),
  base_of_no_column = violation(16, 5),
  chunk_does_not_follow = violation(17, 8),
  continues_unannounced = violation(18, 9),
  announced_as_continuing = violation(19, 9),
};

/// What the sections and the part table say beyond a View.
struct Sizes {
  std::uint64_t blob, lut, rows, cols;
};
template <class T>
Sizes sizes_of(const PartView& part) {
  return {part.get<std::byte>("blob").size(), part.get<T>("lut").size(), part.rows(), part.cols()};
}

/// Where the blob of chunk c begins, or the last one's ends.
template <class T>
SPMVPACK_HOST_DEVICE std::uint64_t blob_begin(const View<T>& v, std::uint64_t c) {
  return c == 0 ? 0 : v.blob_offset[c - 1] + blob_layout(v, c - 1).end;
}

/// Chunks follow each other in the blob.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_place(const View<T>& v, const Sizes& n, std::uint64_t c) {
  const Encoding e{v.encoding[c]};
  if (!e.valid() || stored_lanes(v, c) > v.lanes || (v.single && !e.lut())) return bad_encoding;
  const std::uint64_t begin = v.blob_offset[c], bytes = blob_layout(v, c).end;
  if (begin != blob_begin(v, c)) return blob_elsewhere;
  return begin > n.blob || bytes > n.blob - begin ? blob_past_end : sound;
}

/// Where the last chunk ends, the section does.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_end(const View<T>& v, const Sizes& n) {
  return blob_begin(v, v.chunks) != n.blob ? blob_goes_on : sound;
}

template <class T>
SPMVPACK_HOST_DEVICE Violation check_bases(const View<T>& v, const Sizes& n, std::uint64_t c) {
  if (v.row_base[c] >= n.rows) return row_out_of_range;
  return v.col_base[c] >= n.cols ? base_out_of_range : sound;
}

/// The row byte of a lane, in a chunk that has them.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_row_byte(const View<T>& v, const Sizes& n, std::uint64_t c, std::uint32_t lane) {
  const std::byte* const rows = v.blob + v.blob_offset[c];
  if (lane == 0) return rows[0] != std::byte{0} ? first_row_byte : sound;
  if (rows[lane] < rows[lane - 1]) return row_bytes_fall;
  // In 64 bits, because the sum of base and byte may exceed 2^32.
  const std::uint64_t row = std::uint64_t{v.row_base[c]} + static_cast<std::uint8_t>(rows[lane]);
  return lane + 1 == stored_lanes(v, c) && row >= n.rows ? rows_past_last : sound;
}

/// A slot of a chunk in whose bases nothing is wrong, and the slots before it; Slots as of is_padding().
template <class T, class Slots>
SPMVPACK_HOST_DEVICE Violation check_slot(const View<T>& v, const Sizes& n, std::uint64_t c, const Blob& blob,
                                          const Slots& s, std::uint32_t slot) {
  const std::uint32_t k = v.slots, offset = s.offset(slot);
  if (offset >= n.cols - v.col_base[c]) return column_out_of_range;
  if (slot != 0 && offset < s.offset(slot - 1) && s.row(slot / k) == s.row((slot - 1) / k)) return columns_fall;
  const bool lut = blob.encoding.lut();
  const std::size_t size = v.single ? 0 : lut ? 1 : sizeof(T);
  const std::byte* const value = blob.values + slot * size;
  if (is_padding(s, k, slot)) {
    if ((slot & (group_lanes(v.lanes) * k - 1)) == 0) return group_of_padding;
    // Nothing reads the value of a padding slot; requiring zero makes the bytes of a matrix unique.
    for (std::size_t b = 0; b < size; ++b)
      if (value[b] != std::byte{0}) return padding_with_value;
  } else if (slot != 0 && is_padding(s, k, slot - ((slot & (k - 1)) == 0 ? k : 1))) {
    // Kernels expect padding at the end of a lane, and lanes of padding at the end of a chunk, but nowhere else.
    return entry_after_padding;
  }
  return lut && !v.single && static_cast<std::uint64_t>(*value) >= n.lut ? id_out_of_range : sound;
}

/// The first and last slot of a chunk, for comparison with its neighbours.
struct Ends {
  std::uint32_t first_row = 0, first_column = 0, last_row = 0, last_column = 0;

  template <class T, class Slots>
  static SPMVPACK_HOST_DEVICE Ends of(const View<T>& v, std::uint64_t c, const Slots& s) {
    const std::uint32_t lanes = stored_lanes(v, c), base = v.col_base[c];
    return {s.row(0), base + s.offset(0), s.row(lanes - 1), base + s.offset(lanes * v.slots - 1)};
  }
};

/// A chunk and the one before it.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_order(const View<T>& v, std::uint64_t c, const Ends& before, const Ends& here) {
  const bool continues = c != 0 && here.first_row == before.last_row;
  if (c != 0 && !(continues ? here.first_column > before.last_column : here.first_row > before.last_row))
    return chunk_does_not_follow;
  if (Encoding{v.encoding[c]}.continues() == continues) return sound;
  return continues ? continues_unannounced : announced_as_continuing;
}

}  // namespace spmvpack::layouts::ccoo
