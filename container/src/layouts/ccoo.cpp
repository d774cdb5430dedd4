#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/ccoo_check.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::ccoo {
namespace {

constexpr std::uint64_t chunks_per_task = 256, places_per_task = 1U << 16U;

/// A chunk with its rows and column offsets widened.
struct Slots {
  std::uint32_t lanes = 0, count = 0;  ///< stored lanes; stored slots = lanes times K
  std::array<std::uint32_t, default_lanes> rows;
  std::array<std::uint32_t, std::size_t{default_lanes} * 8> offsets;
  [[nodiscard]] std::uint32_t row(std::uint32_t lane) const { return rows[lane]; }
  [[nodiscard]] std::uint32_t offset(std::uint32_t slot) const { return offsets[slot]; }
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
  s.lanes = stored_lanes(v, c);
  s.count = s.lanes * v.slots;
  const std::byte* const blob = v.blob + v.blob_offset[c];
  for (std::uint32_t lane = 0; lane < s.lanes; ++lane) s.rows[lane] = lane_row(e, v.row_base[c], blob, lane);
  const std::byte* const columns = blob + blob_layout(v, c).columns;
  switch (e.column_code()) {
    case 0:
      return widen<std::uint8_t>(columns, s.count, s.offsets.data());
    case 1:
      return widen<std::uint16_t>(columns, s.count, s.offsets.data());
    default:
      return widen<std::uint32_t>(columns, s.count, s.offsets.data());
  }
}

constexpr std::array<ViolationText, 19> texts{{
    {"encoding", "chunk {0}: encoding {2:#04x}"},
    {"blob_offset", "chunk {0}: offset {2}, expected {3}"},
    {"blob", "chunk {} ends past the section"},
    {"blob", "{2} bytes, the chunks have {3}"},
    {"row_base", "chunk {0}: row {2} of {3}"},
    {"col_base", "chunk {0}: column {2} of {3}"},
    {"blob", "chunk {}: the first row byte is not 0"},
    {"blob", "chunk {}: row bytes fall at lane {}"},
    {"blob", "chunk {}: rows past the last"},
    {"blob", "chunk {}: slot {}: column {} of {}"},
    {"blob", "chunk {}: slot {}: columns fall within row {}"},
    {"blob", "chunk {}: slot {}: an entry after padding"},
    {"blob", "chunk {}: slot {}: a group starts with padding"},
    {"blob", "chunk {}: slot {}: padding with a value"},
    {"blob", "chunk {}: slot {}: value id {} of {}"},
    {"blob", "chunk {}: no column is at the column baseline"},
    {"blob", "chunk {} does not follow the one before it"},
    {"encoding", "chunk {}: its first row is, unannounced, that of the chunk before it"},
    {"encoding", "chunk {}: its first row is announced as that of the chunk before it"},
}};
static_assert(texts.size() == number_of(announced_as_continuing));

/// Says what is found. `at`: the lane or slot.
template <class T>
void fail(Violation found, const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t c, std::uint32_t at) {
  std::uint64_t is = 0, expected = 0;
  switch (found) {
    case bad_encoding:
      is = v.encoding[c];
      break;
    case blob_elsewhere:
      is = v.blob_offset[c], expected = blob_begin(v, c);
      break;
    case blob_goes_on:
      is = n.blob, expected = blob_begin(v, c);
      break;
    case row_out_of_range:
      is = v.row_base[c], expected = n.rows;
      break;
    case base_out_of_range:
      is = v.col_base[c], expected = n.cols;
      break;
    case column_out_of_range:
      is = std::uint64_t{v.col_base[c]} + Blob::of(v, c).offset(at), expected = n.cols;
      break;
    case columns_fall:
      is = Blob::of(v, c).row(at / v.slots);
      break;
    case id_out_of_range:
      is = static_cast<std::uint64_t>(Blob::of(v, c).values[at]), expected = n.lut;
      break;
    default:
      break;
  }
  require_sound(found, part, texts, c, at, is, expected);
}

template <class T>
void require_sound(Violation found, const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t c,
                   std::uint32_t at = 0) {
  if (found != sound) fail(found, part, v, n, c, at);
}

/// Checks everything that chunk c's header and bytes can get wrong. Returns its number of entries, and where it starts
/// and ends.
template <class T>
std::uint64_t check_chunk(const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t c, Ends& range) {
  const auto require = [&](Violation found, std::uint32_t at = 0) { require_sound(found, part, v, n, c, at); };
  require(check_bases(v, n, c));
  const Blob blob = Blob::of(v, c);
  if (!blob.encoding.one_row())
    for (std::uint32_t lane = 0; lane < stored_lanes(v, c); ++lane) require(check_row_byte(v, n, c, lane), lane);
  Slots s;
  decode(v, c, s);
  bool at_base = false;
  std::uint64_t entries = 0;
  for (std::uint32_t slot = 0; slot < s.count; ++slot) {
    require(check_slot(v, n, c, blob, s, slot), slot);
    at_base = at_base || s.offset(slot) == 0;
    entries += is_padding(s, v.slots, slot) ? 0 : 1;
  }
  require(at_base ? sound : base_of_no_column);
  range = Ends::of(v, c, s);
  return entries;
}

template <class T>
void check_part_shape(const PartView& part) {
  const auto& params = part.info().params;
  const std::uint64_t lanes = params[param_lanes], slots = params[param_slots], single = params[param_single];
  part.require(std::has_single_bit(lanes) && lanes >= 8 && lanes <= default_lanes, {},
               [&] { return fmt::format("parameter B is {}", lanes); });
  part.require(std::has_single_bit(slots) && slots <= 8, {}, [&] { return fmt::format("parameter K is {}", slots); });
  part.require(single <= 1, {}, [&] { return fmt::format("parameter single is {}", single); });
  const std::uint64_t lut_size = part.get<T>("lut").size();
  part.require(lut_size <= lut_capacity, "lut",
               [&] { return fmt::format("{} values, at most {}", lut_size, lut_capacity); });
  part.require(single == 0 || lut_size == 1, "lut",
               [&] { return fmt::format("{} values, but all entries have the same", lut_size); });
}

template <class T>
void check_part(const PartView& part, int threads) {
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of<T>(part);
  parallel_items(v.chunks, places_per_task, threads,
                 [&](std::uint64_t c) { require_sound(check_place(v, n, c), part, v, n, c); });
  require_sound(check_end(v, n), part, v, n, v.chunks);

  std::atomic<std::uint64_t> entries{0};
  parallel_pieces(v.chunks, chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t sum = 0;
    Ends before = first == 0 ? Ends{} : Ends::of(v, first - 1, Blob::of(v, first - 1));
    for (std::uint64_t c = first; c < last; ++c) {
      Ends here;
      sum += check_chunk(part, v, n, c, here);
      require_sound(check_order(v, c, before, here), part, v, n, c);
      before = here;
    }
    entries += sum;
  });
  require_entries(part, entries);
}

void check_shape(const PartView& part) {
  dispatch(part.info().value_type, [&]<class T>(T) { check_part_shape<T>(part); });
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) { check_part<T>(part, threads); });
}

}  // namespace

template <class T>
View<T> view(const PartView& part) {
  const auto& params = part.info().params;
  return {static_cast<std::uint32_t>(params[param_lanes]),
          static_cast<std::uint32_t>(params[param_slots]),
          params[param_single] != 0,
          chunks_of(part.info()),
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

const Layout layout{.name = "ccoo",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack<Entries>,
                    .values = &value_functions<Entries>,
                    .part_values = [](const PartInfo& part) {
                      const bool has_table = part.counts[section_lut] != 0;  // of chunks whose entries share values
                      return PartValues{has_table ? ValuesAre::shared : ValuesAre::own};
                    }};

}  // namespace spmvpack::layouts::ccoo
