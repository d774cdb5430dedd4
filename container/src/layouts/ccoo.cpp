#include "spmvpack/container/layouts/ccoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::ccoo {
namespace {

constexpr std::uint64_t chunks_per_task = 256;

/// A chunk with its rows and column offsets widened. One decoder serves checking and unpacking.
struct Slots {
  std::uint32_t lanes = 0, count = 0;  ///< stored lanes; stored slots = lanes times K
  std::array<std::uint32_t, default_lanes> row;
  std::array<std::uint32_t, std::size_t{default_lanes} * 8> offset;  ///< column - col_base
};

template <class Offset>
void widen(const std::byte* from, std::uint32_t count, std::uint32_t* to) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Offset offset;
    std::memcpy(&offset, from + std::size_t{i} * sizeof(Offset), sizeof(Offset));
    to[i] = offset;
  }
}

template <class T>
void decode(const View<T>& v, std::uint64_t c, Slots& s) {
  const Encoding e{v.encoding[c]};
  s.lanes = e.groups() * group_lanes(v.lanes);
  s.count = s.lanes * v.slots;
  const std::byte* const blob = v.blob + v.blob_offset[c];
  for (std::uint32_t lane = 0; lane < s.lanes; ++lane) s.row[lane] = lane_row(e, v.row_base[c], blob, lane);
  const std::byte* const columns = blob + blob_layout(e, s.lanes, v.slots, sizeof(T)).columns;
  switch (e.column_code()) {
    case 0:
      return widen<std::uint8_t>(columns, s.count, s.offset.data());
    case 1:
      return widen<std::uint16_t>(columns, s.count, s.offset.data());
    default:
      return widen<std::uint32_t>(columns, s.count, s.offset.data());
  }
}

/// Whether slot `slot` holds no entry, because it repeats the row and column of the slot before it.
bool is_padding(const Slots& s, std::uint32_t slots, std::uint32_t slot) {
  return slot != 0 && s.offset[slot] == s.offset[slot - 1] && s.row[slot / slots] == s.row[(slot - 1) / slots];
}

/// The first and last slot of a chunk, for comparison with its neighbours.
struct Ends {
  std::uint32_t first_row = 0, first_column = 0, last_row = 0, last_column = 0;
};

Ends ends(const Slots& s, std::uint32_t col_base) {
  return {s.row[0], col_base + s.offset[0], s.row[s.lanes - 1], col_base + s.offset[s.count - 1]};
}

template <class T>
Ends ends(const View<T>& v, std::uint64_t c) {
  Slots s;
  decode(v, c, s);
  return ends(s, v.col_base[c]);
}

/// Checks everything that chunk c's header and bytes can get wrong. Returns its number of entries, and where it starts
/// and ends.
template <class T>
std::uint64_t check_chunk(const PartView& part, const View<T>& v, std::uint64_t c, std::uint64_t lut_size,
                          Ends& range) {
  const auto fail = [&](const std::string& what, std::string_view section = "blob") {
    part.fail(fmt::format("chunk {}: {}", c, what), section);
  };
  const Encoding e{v.encoding[c]};
  const std::uint32_t lanes = e.groups() * group_lanes(v.lanes);
  const std::byte* const blob = v.blob + v.blob_offset[c];
  const BlobLayout at = blob_layout(e, lanes, v.slots, sizeof(T));
  if (v.row_base[c] >= part.rows()) fail(fmt::format("row {} of {}", v.row_base[c], part.rows()), "row_base");
  if (v.col_base[c] >= part.cols()) fail(fmt::format("column {} of {}", v.col_base[c], part.cols()), "col_base");
  if (!e.one_row()) {
    if (blob[0] != std::byte{0}) fail("the first row byte is not 0");
    for (std::uint32_t lane = 1; lane < lanes; ++lane)
      if (blob[lane] < blob[lane - 1]) fail(fmt::format("row bytes fall at lane {}", lane));
    // In 64 bits, because the sum of base and byte may exceed 2^32.
    if (std::uint64_t{v.row_base[c]} + static_cast<std::uint8_t>(blob[lanes - 1]) >= part.rows())
      fail("rows past the last");
  }
  Slots s;
  decode(v, c, s);
  std::uint32_t smallest = ~0U;
  std::uint64_t entries = 0;
  const std::uint32_t group_slots = group_lanes(v.lanes) * v.slots;
  const std::uint64_t columns_left = part.cols() - v.col_base[c];
  const std::size_t value_size = e.lut() ? 1 : sizeof(T);
  bool after_padding = false, after_padding_lane = false;
  for (std::uint32_t slot = 0; slot < s.count; ++slot) {
    const std::uint32_t row = s.row[slot / v.slots], offset = s.offset[slot];
    if (offset >= columns_left)
      fail(fmt::format("slot {}: column {} of {}", slot, std::uint64_t{v.col_base[c]} + offset, part.cols()));
    smallest = std::min(smallest, offset);
    if (slot != 0 && row == s.row[(slot - 1) / v.slots] && offset < s.offset[slot - 1])
      fail(fmt::format("slot {}: columns fall within row {}", slot, row));
    const std::byte* const value = blob + at.values + slot * value_size;
    const bool padding = is_padding(s, v.slots, slot), lane_start = slot % v.slots == 0;
    // Kernels expect padding at the end of a lane, and lanes of padding at the end of a chunk, but nowhere else.
    if (!padding && (lane_start ? after_padding_lane : after_padding))
      fail(fmt::format("slot {}: an entry after padding", slot));
    after_padding = padding;
    after_padding_lane = after_padding_lane || (padding && lane_start);
    if (padding) {
      if (slot % group_slots == 0) fail(fmt::format("slot {}: a group starts with padding", slot));
      // Nothing reads the value of a padding slot; requiring zero makes the bytes of a matrix unique.
      if (std::any_of(value, value + value_size, [](std::byte b) { return b != std::byte{0}; }))
        fail(fmt::format("slot {}: padding with a value", slot));
    } else {
      ++entries;
    }
    if (e.lut() && static_cast<std::uint64_t>(*value) >= lut_size)
      fail(fmt::format("slot {}: value id {} of {}", slot, static_cast<unsigned>(*value), lut_size));
  }
  if (smallest != 0) fail("no column is at the column baseline");
  range = ends(s, v.col_base[c]);
  return entries;
}

template <class T>
void check_part_shape(const PartView& part) {
  const auto& params = part.info().params;
  const std::uint64_t lanes = params[param_lanes], slots = params[param_slots];
  part.require(std::has_single_bit(lanes) && lanes >= 8 && lanes <= default_lanes, {},
               [&] { return fmt::format("parameter B is {}", lanes); });
  part.require(std::has_single_bit(slots) && slots <= 8, {}, [&] { return fmt::format("parameter K is {}", slots); });
  const std::uint64_t lut_size = part.get<T>("lut").size();
  part.require(lut_size <= lut_capacity, "lut",
               [&] { return fmt::format("{} values, at most {}", lut_size, lut_capacity); });
}

template <class T>
void check_part(const PartView& part, int threads) {
  const std::uint64_t lanes = part.info().params[param_lanes], chunks = part.info().params[param_chunks];
  const std::uint64_t blob_size = part.get<std::byte>("blob").size(), lut_size = part.get<T>("lut").size();
  const View<T> v = view<T>(part);
  std::uint64_t end = 0;
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const Encoding e{v.encoding[c]};
    part.require(e.valid() && e.groups() <= lanes / group_lanes(v.lanes), "encoding",
                 [&] { return fmt::format("chunk {}: encoding {:#04x}", c, e.bits); });
    part.require(v.blob_offset[c] == end, "blob_offset",
                 [&] { return fmt::format("chunk {}: offset {}, expected {}", c, v.blob_offset[c], end); });
    end += blob_layout(e, e.groups() * group_lanes(v.lanes), v.slots, sizeof(T)).end;
    part.require(end <= blob_size, "blob", [&] { return fmt::format("chunk {} ends past the section", c); });
  }
  part.require(end == blob_size, "blob", [&] { return fmt::format("{} bytes, the chunks have {}", blob_size, end); });

  std::atomic<std::uint64_t> entries{0};
  parallel_pieces(chunks, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t sum = 0;
    Ends before = first == 0 ? Ends{} : ends(v, first - 1);
    for (std::uint64_t c = first; c < last; ++c) {
      Ends here;
      sum += check_chunk(part, v, c, lut_size, here);
      part.require(c == 0 || here.first_row > before.last_row ||
                       (here.first_row == before.last_row && here.first_column > before.last_column),
                   "blob", [&] { return fmt::format("chunk {} does not follow the one before it", c); });
      const bool continues = c != 0 && here.first_row == before.last_row;
      part.require(Encoding{v.encoding[c]}.continues() == continues, "encoding", [&] {
        return fmt::format("chunk {}: its first row {} that of the chunk before it", c,
                           continues ? "is, unannounced," : "is announced as");
      });
      before = here;
    }
    entries += sum;
  });
  part.require(entries == part.info().nnz, {},
               [&] { return fmt::format("{} entries, the part table says {}", entries.load(), part.info().nnz); });
}

template <class T>
CsrMatrix unpack_part(const PartView& part, int threads) {
  const View<T> v = view<T>(part);
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  auto& values = std::get<Array<T>>(m.values);
  std::fill(m.row_ptr.begin(), m.row_ptr.end(), 0);

  // Entries are in CSR order, so each chunk's position follows from the counts of those before it.
  CountedVector<std::uint64_t> start(v.chunks + 1);
  parallel_pieces(v.chunks, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    Slots s;
    for (std::uint64_t c = first; c < last; ++c) {
      decode(v, c, s);
      std::uint64_t run = 0;  // entries of the lane's row so far
      for (std::uint32_t slot = 0; slot < s.count; ++slot) {
        run += is_padding(s, v.slots, slot) ? 0 : 1;
        const std::uint32_t row = s.row[slot / v.slots];
        if (slot + 1 < s.count && s.row[(slot + 1) / v.slots] == row) continue;
        std::atomic_ref(m.row_ptr[row + std::uint64_t{1}]).fetch_add(run, std::memory_order_relaxed);
        start[c + 1] += run;
        run = 0;
      }
    }
  });
  for (std::uint64_t c = 0; c < v.chunks; ++c) start[c + 1] += start[c];
  for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];

  parallel_pieces(v.chunks, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    Slots s;
    for (std::uint64_t c = first; c < last; ++c) {
      decode(v, c, s);
      const Encoding e{v.encoding[c]};
      const std::byte* const raw = v.blob + v.blob_offset[c] + blob_layout(e, s.lanes, v.slots, sizeof(T)).values;
      std::uint64_t to = start[c];
      for (std::uint32_t slot = 0; slot < s.count; ++slot) {
        if (is_padding(s, v.slots, slot)) continue;
        m.col_idx[to] = v.col_base[c] + s.offset[slot];
        const void* const value =
            e.lut() ? static_cast<const void*>(v.lut + static_cast<std::uint8_t>(raw[slot])) : raw + slot * sizeof(T);
        std::memcpy(&values[to++], value, sizeof(T));
      }
    }
  });
  return m;
}

void check_shape(const PartView& part) {
  dispatch(part.info().value_type, [&]<class T>(T) { check_part_shape<T>(part); });
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) { check_part<T>(part, threads); });
}

CsrMatrix unpack(const PartView& part, int threads) {
  return dispatch(part.info().value_type, [&]<class T>(T) { return unpack_part<T>(part, threads); });
}

}  // namespace

template <class T>
View<T> view(const PartView& part) {
  const auto& params = part.info().params;
  return {static_cast<std::uint32_t>(params[param_lanes]),
          static_cast<std::uint32_t>(params[param_slots]),
          params[param_chunks],
          part.get<std::uint8_t>("encoding").data(),
          part.get<std::uint32_t>("row_base").data(),
          part.get<std::uint32_t>("col_base").data(),
          part.get<std::uint64_t>("blob_offset").data(),
          part.get<std::byte>("blob").data(),
          part.get<T>("lut").data()};
}
#define SPMVPACK_INSTANTIATE(T) template View<T> view(const PartView&);
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

const Layout layout{"ccoo", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::ccoo
