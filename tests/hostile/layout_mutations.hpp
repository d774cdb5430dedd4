#pragma once
// Mutations that know what a layout's bytes mean: they take an entry out of a part that has been checked, and leave
// what docs/FORMAT.md wants in its place, which chance would hardly find. The number of entries is not changed.

#include <bit>
#include <cstring>
#include <random>
#include <span>

#include "mutable_container.hpp"
#include "spmvpack/container/layouts/amb_entries.hpp"
#include "spmvpack/container/layouts/ccoo_entries.hpp"
#include "spmvpack/container/layouts/csell_entries.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pkt.hpp"
#include "spmvpack/container/layouts/sell.hpp"

namespace spmvpack::test::hostile {

using Random = std::mt19937_64;

/// Element i of a section becomes `value`.
template <class T>
void put(MutablePart& part, std::string_view section, std::uint64_t i, T value) {
  std::memcpy(part.find(section)->bytes.data() + i * sizeof(T), &value, sizeof(T));
}
inline void clear(MutablePart& part, std::string_view section, std::uint64_t byte, std::uint64_t bytes) {
  std::byte* const from = part.find(section)->bytes.data() + byte;
  std::fill(from, from + bytes, std::byte{0});
}

/// ell, ellpack_r, sell and pjds: the last slot of a row's entries.
template <class T, class Geometry>
void drop_last_slot(MutablePart& part, const Geometry& geometry, Random& random) {
  const std::uint64_t row = random() % part.info.rows.count;
  const auto columns = part.view().get<std::uint32_t>("col_idx");
  const std::uint64_t n = layouts::row_entries(columns.data(), geometry(row));
  if (n == 0) return;
  const std::uint64_t slot = geometry(row).slot(n - 1);
  put(part, "col_idx", slot, layouts::no_column);
  put(part, "values", slot, T{0});
  if (part.find("row_len") != nullptr) put(part, "row_len", row, static_cast<std::uint32_t>(n - 1));
}

/// ccoo: the last entry of a lane that has others, wherever the lane is in its row, becomes padding.
template <class T>
void pad_lane(MutablePart& part, Random& random) {
  using namespace layouts::ccoo;
  const PartView bytes = part.view();
  const View<T> v = view<T>(bytes);
  if (v.chunks == 0) return;
  const std::uint64_t c = random() % v.chunks;
  const Blob blob = Blob::of(v, c);
  const auto lane = static_cast<std::uint32_t>(random() % stored_lanes(v, c));
  std::uint32_t slot = lane * v.slots + v.slots - 1;
  while (slot > lane * v.slots && is_padding(blob, v.slots, slot)) --slot;
  if (slot == lane * v.slots) return;
  const std::uint32_t width = blob.encoding.column_bytes();
  const std::uint64_t columns = static_cast<std::uint64_t>(blob.columns - v.blob),
                      values = static_cast<std::uint64_t>(blob.values - v.blob),
                      size = v.single              ? 0
                             : blob.encoding.lut() ? 1
                                                   : sizeof(T);
  std::byte* const to = part.find("blob")->bytes.data() + columns;
  std::copy_n(to + std::size_t{slot - 1} * width, width, to + std::size_t{slot} * width);
  clear(part, "blob", values + slot * size, size);
}

/// amb: the last block of a lane that has others.
template <class T>
void drop_block(MutablePart& part, Random& random) {
  using namespace layouts::amb;
  const PartView bytes = part.view();
  const View<T> v = view<T>(bytes);
  if (v.chunks == 0) return;
  const std::uint64_t c = random() % v.chunks, lane = random() % v.chunk_rows, n = blocks_of(v, c, lane);
  if (n < 2) return;
  const std::uint16_t before = v.col_idx[v.place(c, n - 2, lane)];
  for (std::uint64_t step = n - 1; step < ChunkLength{v.cl[c]}.steps(); ++step) {
    put(part, "col_idx", v.place(c, step, lane), before);
    for (std::uint64_t i = 0; i < v.block; ++i) put(part, "values", v.slot(c, step, i, lane), T{0});
  }
}

/// pkt: the last entry of a thread.
template <class T>
void drop_of_thread(MutablePart& part, Random& random) {
  using namespace layouts::pkt;
  const PartView bytes = part.view();
  const View<T> v = view<T>(bytes);
  if (v.packets == 0) return;
  const std::uint64_t p = random() % v.packets, thread = random() % v.threads;
  for (std::uint64_t step = v.step_ptr[p + 1]; step > v.step_ptr[p]; --step) {
    const std::uint64_t slot = v.slot(step - 1, thread);
    if (LocalIndex{v.local_idx[slot]}.is_padding()) continue;
    put(part, "local_idx", slot, LocalIndex::padding);
    return put(part, "values", slot, T{0});
  }
}

/// csell, whose values are not in the order of the entries: that of a lane in a step that others are in, too. If the
/// step is one of the dictionary, all slices with the pattern lose it.
template <class T>
void clear_lane(MutablePart& part, Random& random) {
  using namespace layouts::csell;
  const PartView bytes = part.view();
  const View<T> v = view<T>(bytes);
  if (v.slice_count == 0 || v.source == Source::raw || has_mirrors(v.source)) return;
  const SliceView slice = SliceView::of(v, random() % v.slice_count);
  if (slice.n.total() == 0) return;
  const std::uint64_t g = random() % slice.n.total();
  const auto k = static_cast<std::uint32_t>(random() % group_steps),
             lane = static_cast<std::uint32_t>(random() % lanes);
  const std::uint32_t mask = slice.group(g).mask[k], bit = 1U << lane;
  if ((mask & bit) == 0 || mask == bit) return;
  const bool of_dictionary = g < slice.n.of[0];
  const auto* const group = reinterpret_cast<const std::byte*>(&slice.group(g).mask[k]);
  const auto* const begin =
      of_dictionary ? reinterpret_cast<const std::byte*>(v.patterns) : static_cast<const std::byte*>(v.stream);
  const std::uint64_t slot = std::uint64_t{lane} * group_steps + k;
  if (!of_dictionary) {
    const std::uint64_t width = std::uint64_t{1} << (static_cast<unsigned>(slice.columns(g)) - 1);
    clear(part, "stream", static_cast<std::uint64_t>(slice.words(g) - v.stream) + slot * width, width);
  }
  const std::uint64_t ids = static_cast<std::uint64_t>(slice.stream - v.stream) + slice.at.ids * unit;
  for (std::uint32_t e = 0; slice.id_bytes != 0 && e < slice.ids_of_entry; ++e)
    clear(part, "stream", ids + ((g * slice.ids_of_entry + e) * lanes * group_steps + slot) * slice.id_bytes,
          slice.id_bytes);
  put(part, of_dictionary ? "patterns" : "stream", static_cast<std::uint64_t>(group - begin) / sizeof mask,
      mask & ~bit);
}

/// Of a part that has been checked; of other layouts, nothing.
inline void drop_entry(MutablePart& part, Random& random) {
  if (part.info.rows.count == 0 || part.info.nnz == 0) return;
  dispatch(part.info.value_type, [&]<class T>(T) {
    const std::string& layout = part.info.layout;
    if (layout == "ell") drop_last_slot<T>(part, layouts::ell::geometry(part.view()), random);
    if (layout == "ellpack_r") drop_last_slot<T>(part, layouts::ellpack_r::geometry(part.view()), random);
    if (layout == "sell") drop_last_slot<T>(part, layouts::sell::geometry(part.view()), random);
    if (layout == "pjds") drop_last_slot<T>(part, layouts::pjds::geometry(part.view()), random);
    if (layout == "ccoo") pad_lane<T>(part, random);
    if (layout == "amb") drop_block<T>(part, random);
    if (layout == "pkt") drop_of_thread<T>(part, random);
    if (layout == "csell") clear_lane<T>(part, random);
  });
}

}  // namespace spmvpack::test::hostile
