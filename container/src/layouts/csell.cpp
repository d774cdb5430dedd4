#include "spmvpack/container/layouts/csell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::csell {
namespace {

constexpr std::uint64_t slices_per_task = 64;

/// Calls f(group, step of the group, place) for the steps of a slice in which the lane has an entry; `place` is the
/// entry's, counted in entries from the slice's first value.
template <class F>
void each_step(const SliceView& slice, std::uint32_t lane, F&& f) {
  const std::uint64_t groups = slice.n.total();
  std::uint64_t before = 0;
  for (std::uint64_t g = 0; g < groups; ++g)
    for (std::uint32_t k = 0; k < group_steps; ++k) {
      const std::uint32_t mask = slice.group(g).mask[k], below = (1U << lane) - 1;
      if ((mask >> lane & 1U) != 0) f(g, k, before + static_cast<std::uint32_t>(std::popcount(mask & below)));
      before += static_cast<std::uint32_t>(std::popcount(mask));
    }
}

std::uint64_t entries_of(const SliceView& slice) {
  std::uint64_t n = 0;
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (const std::uint32_t mask : slice.group(g).mask) n += static_cast<std::uint32_t>(std::popcount(mask));
  return n;
}

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", csell::parameters.at(param), p.at(param)); });
  };
  const auto source = static_cast<Source>(p[param_source]);
  require(p[param_source] < source_names.size(), param_source);
  require(p[param_block] >= 1 && p[param_block] <= max_block, param_block);
  require(part.rows() % p[param_block] == 0 && part.cols() % p[param_block] == 0, param_block);
  require(p[param_sums] == 1 || p[param_sums] == 2 || p[param_sums] == 4, param_sums);
  require(p[param_patterns] <= max_patterns, param_patterns);
  require(p[param_stream] <= 0xFFFFFFFF, param_stream);
  require((p[param_tile_slices] != 0) == (source == Source::table), param_tile_slices);
  require(p[param_tile_slices] <= 0xFFFFFFFF, param_tile_slices);  // a view has 32 bits for it
  const std::uint64_t block_values = p[param_block] * p[param_block];
  if (source == Source::step)
    require(p[param_values] == checked_mul(p[param_patterns], group_steps * block_values, "values of csell"),
            param_values);
  if (source == Source::single) require(p[param_values] == 1, param_values);
  if (has_mirrors(source))
    require(p[param_values] % slot_values(static_cast<std::uint32_t>(p[param_block])) == 0, param_values);
  part.require((part.find("references") != nullptr) == has_mirrors(source), "references",
               [] { return std::string("there must be this section if there are mirrors, and else not"); });
}

/// The groups [first, last) are sound.
void check_groups(const PartView& part, const Group* first, const Group* last, std::string_view section) {
  for (const Group* g = first; g != last; ++g)
    part.require(g->is_sound(), section,
                 [&] { return fmt::format("group {} is empty, or has steps after its end", g - first); });
}

template <class T>
bool all_zero(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T value) { return std::bit_cast<bits_of<T>>(value) == 0; });
}

/// Steps of the dictionary that are nothing have no value.
template <class T>
void check_step_values(const PartView& part, const View<T>& v) {
  const std::size_t block_values = std::size_t{v.block} * v.block;
  for (std::uint64_t step = 0; step < part.info().params[param_patterns] * group_steps; ++step)
    part.require(v.patterns[step / group_steps].mask[step % group_steps] != 0 ||
                     all_zero(std::span(v.values + step * block_values, block_values)),
                 "values", [&] { return fmt::format("step {} is nothing, but has a value", step); });
}

/// Steps of the dictionary that are nothing have no reference.
template <class T>
void check_step_references(const PartView& part, const View<T>& v) {
  for (std::uint64_t step = 0; step < part.info().params[param_patterns] * group_steps; ++step)
    part.require(v.patterns[step / group_steps].mask[step % group_steps] != 0 || v.references[step] == 0, "references",
                 [&] { return fmt::format("step {} is nothing, but has a reference", step); });
}

/// Slots of a slice, whose places have been checked.
template <class T>
std::uint64_t slots_of(const PartView& part, const View<T>& v, std::uint64_t s) {
  constexpr std::uint64_t per_unit = unit / sizeof(T);
  const std::uint64_t end =
      s + 1 < v.slice_count ? v.slices[s + 1].values * per_unit : part.info().params[param_values];
  return (end - v.slices[s].values * per_unit) / slot_values(v.block);
}

/// Where everything lies, so that reading a slice afterwards stays in its sections.
template <class T>
void check_places(const PartView& part, const View<T>& v) {
  const auto& p = part.info().params;
  const std::uint64_t units = p[param_stream], per_unit = unit / sizeof(T);
  const Source source = source_of(part.info());
  const auto table = source == Source::table;
  std::uint64_t end = 0, largest = 0;
  for (std::uint64_t t = 0; t < tiles_of(part.info()); ++t) {
    const Tile tile = v.tiles[t];
    part.require(
        tile.count <= max_table && std::uint64_t{tile.begin} + tile.count <= p[param_values] && tile.begin <= end,
        "tiles", [&] { return fmt::format("tile {}: its table is out of range", t); });
    end = std::max(end, std::uint64_t{tile.begin} + tile.count);
    largest = std::max<std::uint64_t>(largest, tile.count);
  }
  part.require(!table || end == p[param_values], "tiles", [] { return std::string("values that no tile has"); });
  part.require(largest == p[param_largest_tile], "tiles", [&] {
    return fmt::format("the largest has {} values, the part table says {}", largest, p[param_largest_tile]);
  });
  check_groups(part, v.patterns, v.patterns + p[param_patterns], "patterns");
  std::uint64_t stream = 0, values = 0;
  for (std::uint64_t s = 0; s < v.slice_count; ++s) {
    const Slice slice = v.slices[s];
    const auto require = [&](bool ok, std::string_view what) {
      part.require(ok, "slices", [&] { return fmt::format("slice {}: {}", s, what); });
    };
    const bool many = slice.counts == SliceGroups::many;
    require(slice.stream == stream && stream + (many ? 1 : 0) <= units, "its stream begins elsewhere");
    const SliceView view = SliceView::of(v, s);
    require(!many || view.n.counts() == SliceGroups::many, "few groups in a unit of their own");
    require(!many || std::all_of(view.stream + sizeof(SliceGroups), view.stream + unit,
                                 [](std::byte b) { return b == std::byte{0}; }),
            "more than the numbers of its groups in their unit");
    require(std::uint64_t{slice.first_group()} + view.n.of[0] <= p[param_patterns], "its pattern is out of range");
    require(view.n.of[0] != 0 || slice.first_group() == 0, "a pattern that it does not use");
    require(source != Source::step || view.n.total() == view.n.of[0], "columns without values");
    if (has_mirrors(source))
      require(slice.reference_bytes() <= 2 &&
                  (slice.reference_bytes() == 0 ? view.n.total() == view.n.of[0] : view.n.total() != 0),
              "references that it does not have, or entries without");
    else
      require(slice.reference_bytes() == 0, "its pattern is out of range");
    require(view.at.end <= units - stream, "its stream ends elsewhere");
    const auto* const groups = reinterpret_cast<const Group*>(view.stream + view.at.groups * unit);
    check_groups(part, groups, groups + (view.n.total() - view.n.of[0]), "stream");
    stream += view.at.end;
    if (has_mirrors(source)) {
      // The slots of a slice end where those of the next begin.
      require(
          s == 0 ? slice.values == 0 : slice.values * per_unit >= values && slice.values * per_unit <= p[param_values],
          "its slots begin elsewhere");
      require(slice.values * per_unit % slot_values(v.block) == 0, "its slots begin within one");
      values = slice.values * per_unit;
      continue;
    }
    if (source != Source::raw) {
      require(slice.values == 0, "values of its own");
      continue;
    }
    require(slice.values * per_unit == values, "its values begin elsewhere");
    const std::uint64_t own_end = values + entries_of(view) * v.block * v.block;
    values = round_up(own_end, per_unit);
    require(values <= p[param_values], "its values end elsewhere");
    require(all_zero(std::span(v.values + own_end, v.values + values)), "padding with a value");
  }
  part.require(stream == units, "slices", [&] { return fmt::format("the stream has {} units more", units - stream); });
  part.require(!has_mirrors(source) || v.slice_count != 0 || p[param_values] == 0, "slices",
               [] { return std::string("slots of no slice"); });
  part.require(source != Source::raw || values == p[param_values], "slices",
               [&] { return fmt::format("{} values, the part table says {}", values, p[param_values]); });
}

/// Lanes without an entry in a step have no offset and no id.
void check_unused(const PartView& part, const SliceView& slice, std::uint64_t s) {
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (std::uint32_t k = 0; k < group_steps; ++k)
      for (std::uint32_t without = ~slice.group(g).mask[k]; without != 0; without &= without - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(without));
        part.require(slice.column(g, k, lane, 0) == slice.group(g).base[k] &&
                         (slice.id_bytes == 0 || slice.ids_below(g, k, lane, 1)),
                     "stream",
                     [&] { return fmt::format("slice {}, lane {}: an offset, id or reference of no entry", s, lane); });
      }
}

/// With mirrors: which entry each slot's lane is of, by slot_place().
using SlotColumns = std::vector<std::uint32_t>;
constexpr std::uint32_t no_column = 0xFFFFFFFF;

/// The slot's place among all slots and lanes of the part.
template <class T>
std::uint64_t slot_place(const View<T>& v, std::uint32_t row, std::uint32_t slot) {
  return v.slices[row / lanes].values * (unit / sizeof(T)) / (std::uint64_t{v.block} * v.block) +
         std::uint64_t{slot} * lanes + row % lanes;
}

/// The slots that a slice's rows have: one for each entry that is no mirror. What no entry has is zero.
template <class T>
void check_slots(const PartView& part, const View<T>& v, std::uint64_t s, SlotColumns& columns) {
  const SliceView slice = SliceView::of(v, s);
  const std::uint64_t slots = slots_of(part, v, s);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const auto row = static_cast<std::uint32_t>(s * lanes + lane);
    const auto require = [&](bool ok, std::string_view section, std::string_view what) {
      part.require(ok, section, [&] { return fmt::format("slice {}, lane {}: {}", s, lane, what); });
    };
    each_step(slice, lane, [&](std::uint64_t g, std::uint32_t k, std::uint64_t) {
      const Reference reference = slice.reference(g, k, lane);
      if (reference.is_mirror()) return;
      require(reference.slot() < slots, "references or stream", "a slot that the slice does not have");
      std::uint32_t& column = columns[slot_place(v, row, reference.slot())];
      require(column == no_column, "references or stream", "a slot of two entries");
      column = slice.column(g, k, lane, row);
    });
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const T* const block = v.values + v.place(Reference::own(slot), row, 0, 0, 0);
      if (columns[slot_place(v, row, slot)] != no_column) continue;
      for (std::uint64_t e = 0; e < std::uint64_t{v.block} * v.block; ++e)
        require(all_zero(std::span(block + e * lanes, 1)), "values", "a value of no entry");
    }
  }
}

/// Mirrors are of entries that have a slot: of the row that is their column, in the column that is their row.
template <class T>
void check_mirrors(const PartView& part, const View<T>& v, std::uint64_t s, const SlotColumns& columns) {
  const SliceView slice = SliceView::of(v, s);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const auto row = static_cast<std::uint32_t>(s * lanes + lane);
    each_step(slice, lane, [&](std::uint64_t g, std::uint32_t k, std::uint64_t) {
      const Reference reference = slice.reference(g, k, lane);
      if (!reference.is_mirror()) return;
      const auto require = [&](bool ok, std::string_view what) {
        part.require(ok, "references or stream", [&] { return fmt::format("slice {}, lane {}: {}", s, lane, what); });
      };
      const std::uint32_t column = slice.column(g, k, lane, row);
      require(column < v.rows, "a mirror of a row that the part does not have");
      require(reference.slot() < slots_of(part, v, column / lanes), "a mirror of a slot that the slice does not have");
      require(columns[slot_place(v, column, reference.slot())] == row,
              "a mirror of another entry than the transposed one, or of a mirror");
    });
  }
}

/// Every entry of a slice: in range, once, and rising within each kind of columns. Returns the number of entries.
template <class T>
std::uint64_t check_entries(const PartView& part, const View<T>& v, std::uint64_t s) {
  const SliceView slice = SliceView::of(v, s);
  const std::uint64_t first_row = s * lanes, cols = part.cols() / v.block;
  const std::uint32_t table = v.tile_slices == 0 ? 0 : v.tiles[s / v.tile_slices].count;
  std::uint64_t entries = 0;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    columns.clear();
    const auto require = [&](bool ok, std::string_view section, std::string_view what) {
      part.require(ok, section, [&] { return fmt::format("slice {}, lane {}: {}", s, lane, what); });
    };
    const auto row = static_cast<std::uint32_t>(first_row + lane);
    std::size_t kind_begin = 0;
    auto kind = Columns::pattern;
    each_step(slice, lane, [&](std::uint64_t g, std::uint32_t k, std::uint64_t) {
      require(first_row + lane < v.rows, "patterns or stream", "an entry of a row that the part does not have");
      const std::uint32_t column = slice.column(g, k, lane, row);
      require(column < cols, "patterns or stream", "a column out of range");
      if (slice.columns(g) != kind) kind = slice.columns(g), kind_begin = columns.size();
      require(columns.size() == kind_begin || column > columns.back(), "patterns or stream", "columns do not rise");
      columns.push_back(column);
      require(v.tile_slices == 0 || slice.ids_below(g, k, lane, table), "stream", "an id out of range");
    });
    entries += columns.size();
    std::sort(columns.begin(), columns.end());
    require(std::adjacent_find(columns.begin(), columns.end()) == columns.end(), "patterns or stream",
            "a column comes twice");
  }
  check_unused(part, slice, s);
  return entries;
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    check_places(part, v);
    if (source_of(part.info()) == Source::step) check_step_values(part, v);
    if (has_mirrors(v.source)) check_step_references(part, v);
    std::atomic<std::uint64_t> entries{0};
    parallel_pieces(v.slice_count, slices_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t s = first; s < last; ++s) sum += check_entries(part, v, s);
      entries += sum;
    });
    const std::uint64_t nnz = part.info().nnz, block_values = std::uint64_t{v.block} * v.block;
    part.require(entries <= nnz && entries * block_values == nnz, {},
                 [&] { return fmt::format("{} entries, the part table says {}", entries * block_values, nnz); });
    if (!has_mirrors(v.source)) return;
    SlotColumns columns(part.info().params[param_values] / block_values, no_column);
    const auto each_slice = [&](auto&& f) {
      parallel_pieces(v.slice_count, slices_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t s = first; s < last; ++s) f(part, v, s, columns);
      });
    };
    each_slice(check_slots<T>);
    each_slice(check_mirrors<T>);
  });
}

template <class T>
constexpr bits_of<T> sign_bit = ValueTraits<T>::sign_bits;

/// The value in row r and column c of a block.
template <class T>
const T* value_of(const View<T>& v, const SliceView& slice, Source source, std::uint64_t s, std::uint64_t g,
                  std::uint32_t k, std::uint32_t lane, std::uint64_t place, std::uint32_t r, std::uint32_t c) {
  const std::uint64_t block_values = std::uint64_t{v.block} * v.block, element = std::uint64_t{r} * v.block + c;
  switch (source) {
    case Source::raw: {
      // Element by element of the block, those of the step's entries side by side.
      const std::uint32_t mask = slice.group(g).mask[k];
      const auto n = static_cast<std::uint64_t>(std::popcount(mask));
      const auto rank = static_cast<std::uint64_t>(std::popcount(mask & ((1U << lane) - 1)));
      return v.values + v.slices[s].values * (unit / sizeof(T)) + (place - rank) * block_values + element * n + rank;
    }
    case Source::table:
      return v.values + v.tiles[s / v.tile_slices].begin + slice.id(g, k, lane, static_cast<std::uint32_t>(element));
    case Source::step:
      return v.values + ((v.slices[s].first_group() + g) * group_steps + k) * block_values + element;
    case Source::mirror:
    case Source::skew: {
      const auto row = static_cast<std::uint32_t>(s * lanes + lane);
      return v.values + v.place(slice.reference(g, k, lane), row, slice.column(g, k, lane, row), r, c);
    }
    default:
      return v.values;
  }
}

CsrMatrix unpack(const PartView& part, int threads) {
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  const Source source = source_of(part.info());
  m.row_ptr[0] = 0;
  dispatch(m.value_type(), [&]<class T>(T) {
    const View<T> v = view<T>(part);
    auto& to = std::get<Array<T>>(m.values);
    const auto each_lane = [&](auto&& f) {  // f(slice, its view, lane, row)
      parallel_pieces(v.slice_count, slices_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t s = first; s < last; ++s) {
          const SliceView slice = SliceView::of(v, s);
          for (std::uint32_t lane = 0; lane < lanes && s * lanes + lane < v.rows; ++lane)
            f(s, slice, lane, s * lanes + lane);
        }
      });
    };
    each_lane([&](std::uint64_t, const SliceView& slice, std::uint32_t lane, std::uint64_t row) {
      std::uint64_t n = 0;
      each_step(slice, lane, [&](std::uint64_t, std::uint32_t, std::uint64_t) { ++n; });
      for (std::uint64_t r = row * v.block; r < (row + 1) * v.block; ++r) m.row_ptr[r + 1] = n * v.block;
    });
    for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
    each_lane([&](std::uint64_t s, const SliceView& slice, std::uint32_t lane, std::uint64_t row) {
      struct Entry {
        std::uint32_t column, k;
        std::uint64_t g, place;
      };
      std::vector<Entry> entries;
      each_step(slice, lane, [&](std::uint64_t g, std::uint32_t k, std::uint64_t place) {
        entries.push_back({slice.column(g, k, lane, static_cast<std::uint32_t>(row)), k, g, place});
      });
      std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
      for (std::uint32_t r = 0; r < v.block; ++r) {
        std::uint64_t at = m.row_ptr[row * v.block + r];
        for (const Entry& e : entries) {
          const bool flipped = source == Source::skew && slice.reference(e.g, e.k, lane).is_mirror();
          for (std::uint32_t c = 0; c < v.block; ++c) {
            m.col_idx[at] = e.column * v.block + c;
            bits_of<T> bits = 0;  // a copy of a NaN keeps them
            std::memcpy(&bits, value_of(v, slice, source, s, e.g, e.k, lane, e.place, r, c), sizeof(T));
            if (flipped) bits ^= sign_bit<T>;
            std::memcpy(&to[at++], &bits, sizeof(T));
          }
        }
      }
    });
  });
  return m;
}

}  // namespace

const Layout layout{.name = "csell",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack,
                    .shares_entries = true,
                    .source_names = source_names};

}  // namespace spmvpack::layouts::csell
