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
  bad_unused = 64
};
constexpr std::array<std::string_view, 7> names{
    {"tiles: a table is out of range, or the tables are not all of the values",
     "slices: a slice's pieces are out of range, or do not follow the slice before",
     "patterns or stream: a group is empty, or has steps after its end",
     "patterns or stream: a column is out of range, comes twice or falls, or is of a row that the part does not have",
     "stream: an id is not in the table", "the entries are not as many as the part table says",
     "stream or values: an offset, id, count or value of no entry"}};

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
      (sizes.stream != 0 || (sizes.source == Source::raw && sizes.values != 0)))
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
    if ((many && view.n.counts() != SliceGroups::many) ||
        std::uint64_t{slice.pattern} + view.n.of[0] > sizes.patterns || (view.n.of[0] == 0 && slice.pattern != 0) ||
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
    if (sizes.source != Source::table) continue;
    const std::uint32_t table = v.tiles[s / v.tile_slices].count;
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

__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t block_values, std::uint64_t nnz,
                                    std::uint32_t* errors) {
  // With other errors, lanes may not have been counted.
  if (*errors == 0 && *entries * block_values != nnz) atomicOr(errors, bad_totals);
}

}  // namespace

const std::span<const std::string_view> check_names{names};

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
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
    launch(check_totals_kernel, 1, 1, stream, entries, std::uint64_t{v.block} * v.block, part.info().nnz, errors);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
