// The container's check() of bitflag, on the device.

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "layouts/bitflag/kernels.hpp"
#include "spmvpack/container/layouts/bitflag_check.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {
namespace {

using namespace spmvpack::layouts::bitflag;

constexpr std::uint32_t bad_count = 1U << 7;

/// `continued`: tiles that begin inside a row.
template <class T>
__global__ void check_headers_kernel(View<T> v, Sizes n, std::uint32_t* errors, std::uint32_t* continued) {
  std::uint32_t found = 0, tiles = 0;
  for (std::uint64_t c = first_item(); c <= v.chunk_count; c += stride()) {
    found |= check_header(v, n, c);
    tiles += continues_tile(v, c) ? 1 : 0;
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (tiles != 0) atomicAdd(continued, tiles);
}

/// One warp per chunk, if all are in their places: that none of them is read otherwise keeps reads inside the stream.
template <class T>
__global__ void check_kernel(View<T> v, Sizes n, std::uint32_t* errors, unsigned long long* entries_in_all) {
  if (__any_sync(full_warp, static_cast<int>(*errors != 0)) != 0) return;  // all lanes, or none
  const std::uint64_t warps = stride() / 32;
  const unsigned lane = lane_id(), lanes_before = (1U << lane) - 1;
  std::uint32_t found = 0;
  unsigned long long entries = 0;
  for (std::uint64_t c = first_item() / 32; c < v.chunk_count; c += warps) {
    const ChunkView chunk = ChunkView::of(v, c);
    const std::uint32_t count = chunk.chunk.info.entries();
    if (count == 0) continue;
    if (lane == 0) entries += count;
    found |= check_base(v, chunk.chunk);
    std::uint32_t starts = 0;
    for (std::uint32_t begin = 0; begin < count; begin += 32) {
      const std::uint32_t e = begin + lane;
      const bool is_start = e < count && chunk.starts_row(e);
      const std::uint32_t of_warp = __ballot_sync(full_warp, is_start);
      if (e < count) {
        const std::uint32_t before = e != 0 && !is_start ? chunk.column(e - 1) : 0;
        found |= check_entry(v, n, c, chunk, e, starts + __popc(of_warp & lanes_before), chunk.column(e), before);
      }
      starts += __popc(of_warp);
    }
    found |= check_unused(chunk, lane, 32);
    if (lane == 0) found |= check_rows(v, c, chunk, starts);
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (entries != 0) atomicAdd(entries_in_all, entries);
}

template <class T>
__global__ void check_hot_kernel(View<T> v, Sizes n, std::uint32_t* errors) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.hot_count; i += gridDim.x * blockDim.x)
    if (const std::uint32_t found = check_hot(v, n, i); found != 0) atomicOr(errors, found & violation_kinds);
}

template <class T>
__global__ void check_segments_kernel(View<T> v, std::uint32_t* errors) {
  for (std::uint32_t s = blockIdx.x * blockDim.x + threadIdx.x; s <= v.segment_count; s += gridDim.x * blockDim.x)
    if (const std::uint32_t found = check_segment(v, s); found != 0) atomicOr(errors, found & violation_kinds);
}

__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t nnz,
                                    const std::uint32_t* continued, std::uint64_t said, std::uint32_t* errors) {
  // With other errors, chunks may not have been counted.
  if (*errors == 0 && (*entries != nnz || *continued != said)) *errors = bad_count;
}

}  // namespace

const std::array<std::string_view, 8> check_names{{
    "chunks: a chunk's numbers make no sense, its bytes begin elsewhere, or hold more than its entries",
    "chunks: a chunk's rows are out of range or do not rise, or it does not continue the one before",
    "stream: rows start elsewhere than a chunk's numbers say",
    "stream: columns do not rise within a row, or one is not below the part's columns",
    "stream: a value's id is not below the table's size, or its exponent above 22",
    "hot: a column is not below the part's columns, or columns do not rise",
    "segments: a segment does not begin with a tile",
    "the entries, or the tiles that begin inside a row, are not as many as the part table says",
}};

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  std::uint32_t* const continued = errors + 1;
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of(part);
    launch_check(check_headers_kernel<T>, v.chunk_count + 1, stream, v, n, errors, continued);
    if (v.hot_count != 0) launch_check(check_hot_kernel<T>, v.hot_count, stream, v, n, errors);
    if (v.segment_count > 1) launch_check(check_segments_kernel<T>, v.segment_count + 1, stream, v, errors);
    if (v.chunk_count != 0) launch_check(check_kernel<T>, v.chunk_count * 32, stream, v, n, errors, entries);
  });
  launch(check_totals_kernel, 1, 1, stream, entries, part.info().nnz, continued, part.info().params[param_continued],
         errors);
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
