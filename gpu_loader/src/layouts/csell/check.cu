// csell: the structure check on the device.

#include <array>

#include "kernels/launch.cuh"
#include "layouts/csell/kernels.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {
namespace {

using namespace spmvpack::layouts::csell;

enum Bit : std::uint32_t {
  bad_tiles = 1,
  bad_places = 2,
  bad_groups = 4,
  bad_columns = 8,
  bad_ids = 16,
  bad_totals = 32,
  bad_unused = 64,
  bad_slots = 128,
  bad_mirrors = 256
};
constexpr std::array<std::string_view, 9> names{
    {"tiles: a table is out of range, or the tables are not all of the values",
     "slices: a slice's pieces are out of range, or do not follow the slice before",
     "patterns or stream: a group is empty, or has steps after its end",
     "patterns or stream: a column is out of range, comes twice or falls, or is of a row that the part does not have",
     "stream: an id is not in the table", "the entries are not as many as the part table says",
     "stream, values or references: an offset, id, count, value or reference of no entry",
     "references or stream: a slot that the slice does not have, or of two entries",
     "references or stream: a mirror of another entry than the transposed one, or of a mirror"}};

__device__ std::uint64_t first_item() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// Sizes that the part table says.
struct Sizes {
  std::uint64_t patterns, stream, values, tiles, largest_tile, cols, nnz;
  Source source;
};

__device__ std::uint64_t entries_of(const SliceView& slice) {
  std::uint64_t n = 0;
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (const std::uint32_t mask : slice.group(g).mask) n += static_cast<std::uint32_t>(__popc(mask));
  return n;
}

template <class A>
__device__ bool has_bits(const A* values, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) {
    bits_of<A> bits = 0;
    memcpy(&bits, values + i, sizeof bits);
    if (bits != 0) return true;
  }
  return false;
}

/// One thread, in order: tables may be shared, but leave no gap.
template <class A>
__global__ void check_tiles_kernel(View<A> v, Sizes sizes, std::uint32_t* errors) {
  std::uint64_t end = 0, largest = 0;
  bool found = false;
  for (std::uint64_t t = 0; t < sizes.tiles; ++t) {
    const Tile tile = v.tiles[t];
    const std::uint64_t stop = std::uint64_t{tile.begin} + tile.count;
    found = found || tile.count > max_table || stop > sizes.values || tile.begin > end;
    end = stop > end ? stop : end;
    largest = tile.count > largest ? tile.count : largest;
  }
  if (found || (sizes.source == Source::table && end != sizes.values) || largest != sizes.largest_tile)
    atomicOr(errors, bad_tiles);
}

template <class A>
__global__ void check_patterns_kernel(View<A> v, Sizes sizes, std::uint32_t* errors) {
  const std::uint64_t block_values = std::uint64_t{v.block} * v.block;
  std::uint32_t found = 0;
  for (std::uint64_t g = first_item(); g < sizes.patterns; g += stride()) {
    if (!v.patterns[g].is_sound()) found |= bad_groups;
    if (has_mirrors(sizes.source))
      for (std::uint32_t k = 0; k < group_steps; ++k)
        if (v.patterns[g].mask[k] == 0 && v.references[g * group_steps + k] != 0) found |= bad_unused;
    if (sizes.source != Source::step) continue;
    for (std::uint32_t k = 0; k < group_steps; ++k) {
      const std::uint64_t begin = (g * group_steps + k) * block_values;
      if (v.patterns[g].mask[k] == 0 && has_bits(v.values, begin, begin + block_values)) found |= bad_unused;
    }
  }
  if (found != 0) atomicOr(errors, found);
}

/// Each slice ends where the next begins, and the last where the section does.
template <class A>
__global__ void check_places_kernel(View<A> v, Sizes sizes, std::uint32_t* errors) {
  if ((*errors & bad_tiles) != 0) return;
  constexpr std::uint64_t per_unit = unit / sizeof(A);
  std::uint32_t found = 0;
  if (first_item() == 0 && v.slice_count == 0 &&
      (sizes.stream != 0 || ((sizes.source == Source::raw || has_mirrors(sizes.source)) && sizes.values != 0)))
    found = bad_places;
  for (std::uint64_t s = first_item(); s < v.slice_count; s += stride()) {
    const Slice slice = v.slices[s];
    const bool many = slice.counts == SliceGroups::many, last = s + 1 == v.slice_count;
    const std::uint64_t stream_end = last ? sizes.stream : v.slices[s + 1].stream;
    if ((s == 0 && (slice.stream != 0 || slice.values != 0)) || stream_end > sizes.stream ||
        std::uint64_t{slice.stream} + (many ? 1 : 0) > stream_end) {
      found |= bad_places;
      continue;
    }
    const SliceView view = SliceView::of(v, s);
    const bool is_referring = slice.reference_bytes() != 0,
               wrong_width = has_mirrors(sizes.source)
                                 ? slice.reference_bytes() > 2 ||
                                       (is_referring ? view.n.total() == 0 : view.n.total() != view.n.of[0])
                                 : is_referring;
    if (wrong_width || (many && view.n.counts() != SliceGroups::many) ||
        std::uint64_t{slice.first_group()} + view.n.of[0] > sizes.patterns ||
        (view.n.of[0] == 0 && slice.first_group() != 0) ||
        (sizes.source == Source::step && view.n.total() != view.n.of[0]) || slice.stream + view.at.end != stream_end) {
      found |= bad_places;
      continue;
    }
    if (many)
      for (std::size_t i = sizeof(SliceGroups); i < unit; ++i)
        if (view.stream[i] != std::byte{0}) found |= bad_unused;
    const auto* const groups = reinterpret_cast<const Group*>(view.stream + view.at.groups * unit);
    for (std::uint64_t g = 0; g < view.n.total() - view.n.of[0]; ++g)
      if (!groups[g].is_sound()) found |= bad_groups;
    if (has_mirrors(sizes.source)) {
      const std::uint64_t begin = slice.values * per_unit,
                          end = last ? sizes.values : v.slices[s + 1].values * per_unit;
      if (begin > end || end > sizes.values || begin % slot_values(v.block) != 0) found |= bad_places;
      continue;
    }
    if (sizes.source != Source::raw) {
      if (slice.values != 0) found |= bad_places;
      continue;
    }
    const std::uint64_t values_end = last ? sizes.values : v.slices[s + 1].values * per_unit;
    const std::uint64_t own_end = slice.values * per_unit + entries_of(view) * v.block * v.block;
    if (values_end > sizes.values || round_up(own_end, per_unit) != values_end)
      found |= bad_places;
    else if (has_bits(v.values, own_end, values_end))
      found |= bad_unused;
  }
  if (found != 0) atomicOr(errors, found);
}

/// The next entry of a lane in the groups [group, end) of one kind of columns.
struct Cursor {
  std::uint64_t group, end;
  std::uint32_t step = 0;
  std::uint64_t column = ~std::uint64_t{0};  ///< none
  bool found_unused = false;                 ///< a step without an entry of the lane has an offset

  __device__ void next(const SliceView& slice, std::uint32_t lane, std::uint32_t row) {
    for (; group < end; ++group, step = 0)
      for (; step < group_steps; ++step) {
        if ((slice.group(group).mask[step] >> lane & 1U) != 0) {
          column = slice.column(group, step, lane, row);
          ++step;
          return;
        }
        if (slice.column(group, step, lane, 0) != slice.group(group).base[step]) found_unused = true;
      }
    column = ~std::uint64_t{0};
  }
};

/// A thread per lane. The entries of each kind rise, so that merging them finds those that come twice.
template <class A>
__global__ void check_lanes_kernel(View<A> v, Sizes sizes, std::uint32_t* errors, unsigned long long* entries) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride()) {
    const std::uint64_t s = i / lanes;
    const auto lane = static_cast<std::uint32_t>(i % lanes), row = static_cast<std::uint32_t>(i);
    const SliceView slice = SliceView::of(v, s);
    Cursor cursors[4];
    std::uint64_t begin = 0;
    for (std::uint32_t kind = 0; kind < 4; ++kind) {
      cursors[kind].group = begin;
      cursors[kind].end = begin += slice.n.of[kind];
      cursors[kind].next(slice, lane, row);
    }
    std::uint64_t before = ~std::uint64_t{0};
    while (true) {
      std::uint32_t least = 0;
      for (std::uint32_t kind = 1; kind < 4; ++kind)
        if (cursors[kind].column < cursors[least].column) least = kind;
      const std::uint64_t column = cursors[least].column;
      if (column == ~std::uint64_t{0}) break;
      if (i >= v.rows || column >= sizes.cols || column == before) found |= bad_columns;
      before = column;
      ++count;
      cursors[least].next(slice, lane, row);
      if (cursors[least].column <= column) found |= bad_columns;
    }
    for (const Cursor& cursor : cursors)
      if (cursor.found_unused) found |= bad_unused;
    if (slice.id_bytes == 0) continue;
    const std::uint32_t table = sizes.source == Source::table ? v.tiles[s / v.tile_slices].count : ~0U;
    for (std::uint64_t g = 0; g < slice.n.total(); ++g)
      for (std::uint32_t k = 0; k < group_steps; ++k)
        if ((slice.group(g).mask[k] >> lane & 1U) == 0) {
          if (!slice.ids_below(g, k, lane, 1)) found |= bad_unused;
        } else if (!slice.ids_below(g, k, lane, table)) {
          found |= bad_ids;
        }
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
}

/// With mirrors, the slots of a slice.
template <class A>
__device__ std::uint64_t slots_of(const View<A>& v, const Sizes& sizes, std::uint64_t s) {
  constexpr std::uint64_t per_unit = unit / sizeof(A);
  const std::uint64_t end = s + 1 < v.slice_count ? v.slices[s + 1].values * per_unit : sizes.values;
  return (end - v.slices[s].values * per_unit) / slot_values(v.block);
}

/// A slot of a row among those of all rows.
template <class A>
__device__ std::uint64_t slot_place(const View<A>& v, std::uint32_t row, std::uint32_t slot) {
  return v.slices[row / lanes].values * std::uint64_t{unit / sizeof(A)} / (v.block * v.block) +
         std::uint64_t{slot} * lanes + row % lanes;
}

/// Calls f(column, reference) for the entries of a lane.
template <class A, class F>
__device__ void each_reference(const View<A>& v, std::uint64_t i, F&& f) {
  const auto lane = static_cast<std::uint32_t>(i % lanes), row = static_cast<std::uint32_t>(i);
  const SliceView slice = SliceView::of(v, i / lanes);
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (std::uint32_t k = 0; k < group_steps; ++k)
      if ((slice.group(g).mask[k] >> lane & 1U) != 0) f(slice.column(g, k, lane, row), slice.reference(g, k, lane));
}

/// A thread per lane: which column each of its slots is of, counted from 1, so that 0 is none.
template <class A>
__global__ void check_slots_kernel(View<A> v, Sizes sizes, std::uint32_t* errors, std::uint32_t* columns) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride()) {
    const auto row = static_cast<std::uint32_t>(i);
    const std::uint64_t slots = slots_of(v, sizes, i / lanes);
    each_reference(v, i, [&](std::uint32_t column, Reference reference) {
      if (reference.is_mirror()) return;
      if (reference.slot() >= slots) {
        found |= bad_slots;
        return;
      }
      std::uint32_t& known = columns[slot_place(v, row, reference.slot())];
      if (known != 0) found |= bad_slots;
      known = column + 1;
    });
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      if (columns[slot_place(v, row, slot)] != 0) continue;
      for (std::uint64_t e = 0; e < std::uint64_t{v.block} * v.block; ++e) {
        const std::uint64_t at = v.place(Reference::own(slot), row, 0, 0, 0) + e * lanes;
        if (has_bits(v.values, at, at + 1)) found |= bad_unused;
      }
    }
  }
  if (found != 0) atomicOr(errors, found);
}

template <class A>
__global__ void check_mirrors_kernel(View<A> v, Sizes sizes, std::uint32_t* errors, const std::uint32_t* columns) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride())
    each_reference(v, i, [&](std::uint32_t column, Reference reference) {
      if (!reference.is_mirror()) return;
      if (column >= v.rows || reference.slot() >= slots_of(v, sizes, column / lanes) ||
          columns[slot_place(v, column, reference.slot())] != static_cast<std::uint32_t>(i) + 1)
        found |= bad_mirrors;
    });
  if (found != 0) atomicOr(errors, found);
}

__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t block_values, std::uint64_t nnz,
                                    std::uint32_t* errors) {
  // With other errors, lanes may not have been counted.
  if (*errors == 0 && *entries * block_values != nnz) atomicOr(errors, bad_totals);
}

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) {
  const std::uint64_t block = part.params[param_block];
  return has_mirrors(source_of(part)) ? part.params[param_values] / (block * block) : 0;
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  const auto& p = part.info().params;
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const View<A> v = view<A>(part);
    const Sizes sizes{p[param_patterns],     p[param_stream],       p[param_values], tiles_of(part.info()),
                      p[param_largest_tile], part.cols() / v.block, part.info().nnz, source_of(part.info())};
    const auto over = [&](std::uint64_t work, auto kernel, auto... arguments) {
      launch(kernel, stride_blocks(work + 1, tuning::check_threads), tuning::check_threads, stream, v, sizes, errors,
             arguments...);
    };
    launch(check_tiles_kernel<A>, 1, 1, stream, v, sizes, errors);
    over(sizes.patterns, check_patterns_kernel<A>);
    over(v.slice_count, check_places_kernel<A>);
    over(v.slice_count * lanes, check_lanes_kernel<A>, entries);
    if (has_mirrors(v.source)) {
      over(v.slice_count * lanes, check_slots_kernel<A>, scratch);
      over(v.slice_count * lanes, check_mirrors_kernel<A>, scratch);
    }
    launch(check_totals_kernel, 1, 1, stream, entries, std::uint64_t{v.block} * v.block, part.info().nnz, errors);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
