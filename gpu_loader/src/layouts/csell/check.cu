// csell: the structure check on the device.

#include <array>

#include "kernels/checks.cuh"
#include "layouts/csell/kernels.hpp"
#include "spmvpack/container/layouts/csell_check.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {
namespace {

using namespace spmvpack::layouts::csell;

constexpr std::uint32_t bad_totals = 1U << 5;
constexpr std::array<std::string_view, 10> names{
    {"tiles: a table is out of range, or the tables are not all of the values",
     "slices: a slice's pieces are out of range, or do not follow the slice before",
     "patterns or stream: a group is empty, or has steps after its end",
     "patterns or stream: a column is out of range, comes twice or falls, or is of a row that the part does not have",
     "stream: an id is not in the table", "the entries are not as many as the part table says",
     "stream, values or references: an offset, id, count, value or reference of no entry",
     "references or stream: a slot that the slice does not have, or of two entries",
     "references or stream: a mirror of another entry than the transposed one, or of a mirror",
     "slices: whether all are patterns is not what the part table says"}};

/// One thread, in order.
template <class A>
__global__ void check_tiles_kernel(View<A> v, Sizes n, std::uint32_t* errors) {
  Tables tables;
  std::uint32_t found = 0;
  for (std::uint64_t t = 0; t < n.tiles; ++t) found |= tables.add(v.tiles[t], n);
  found |= tables.check(v.source, n) | check_no_slices(v, n);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// A thread per step of the dictionary.
template <class A>
__global__ void check_patterns_kernel(View<A> v, Sizes n, std::uint32_t* errors) {
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < n.patterns * group_steps; i += stride()) {
    found |= check_step(v, i);
    if (i % group_steps == 0 && !v.patterns[i / group_steps].is_sound()) found |= bad_pattern;
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// Of the kernels from here on, each looks only at parts in which those before have found nothing, so that no read
/// leaves its section.
template <class A>
__global__ void check_slices_kernel(View<A> v, Sizes n, std::uint32_t* errors, std::uint32_t* others) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t s = first_item(); s < v.slice_count; s += stride()) {
    found |= check_slice(v, n, s) | check_kind(v.slices[s], n);
    if (!v.slices[s].is_pattern()) *others = 1;
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// A thread per lane.
template <class A>
__global__ void check_lanes_kernel(View<A> v, Sizes n, std::uint32_t* errors, unsigned long long* entries) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  std::uint64_t count = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride()) {
    const SliceView slice = SliceView::of(v, i / lanes);
    const std::uint32_t lane = i % lanes;
    found |= check_lane(v, n, slice, i / lanes, lane, count);
    for (std::uint64_t g = 0; g < slice.n.total(); ++g)
      for (std::uint32_t k = 0; k < group_steps; ++k)
        if ((slice.group(g).mask[k] >> lane & 1U) == 0) found |= check_unused(slice, g, k, lane);
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, static_cast<unsigned long long>(count));
}

/// With mirrors: a thread per lane.
template <class A>
__global__ void check_slots_kernel(View<A> v, Sizes n, std::uint32_t* errors, std::uint32_t* columns) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride())
    found |= check_slots(v, n, i / lanes, i % lanes, columns);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

template <class A>
__global__ void check_mirrors_kernel(View<A> v, Sizes n, std::uint32_t* errors, const std::uint32_t* columns) {
  if (*errors != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.slice_count * lanes; i += stride())
    found |= check_mirrors(v, n, i / lanes, i % lanes, columns);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// `others`: whether a slice is no pattern.
__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t block_values, std::uint64_t nnz,
                                    const std::uint32_t* others, Sizes n, std::uint32_t* errors) {
  if (*errors != 0) return;  // then slices and lanes may not have been counted
  const std::uint32_t found = (*entries * block_values != nnz ? bad_totals : 0) | check_kinds(*others != 0, n);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) {
  const std::uint64_t block = part.params[param_block];
  return has_mirrors(source_of(part)) ? values_of(part) / (block * block) : 0;
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  std::uint32_t* const others = errors + 1;
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const View<A> v = view<A>(part);
    const Sizes n = sizes_of(part);
    const auto over = [&](std::uint64_t work, auto kernel, auto... arguments) {
      launch_check(kernel, work + 1, stream, v, n, errors, arguments...);
    };
    launch(check_tiles_kernel<A>, 1, 1, stream, v, n, errors);
    over(n.patterns * group_steps, check_patterns_kernel<A>);
    over(v.slice_count, check_slices_kernel<A>, others);
    over(v.slice_count * lanes, check_lanes_kernel<A>, entries);
    if (has_mirrors(v.source)) {
      over(v.slice_count * lanes, check_slots_kernel<A>, scratch);
      over(v.slice_count * lanes, check_mirrors_kernel<A>, scratch);
    }
    launch(check_totals_kernel, 1, 1, stream, entries, std::uint64_t{v.block} * v.block, part.info().nnz, others, n,
           errors);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
