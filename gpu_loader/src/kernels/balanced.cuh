#pragma once
// Kernels with equal shares of the entries: coo's, and csr's `merge`. The entries are split into chunks of 256, one per
// warp, regardless of rows; a second pass finishes the rows that chunks share, in order. After listings 1.1 and 1.2 of
// Aliaga et al., Euro-Par 2020 Workshops, with K = 1 and without atomics. docs/LAYOUTS.md, "coo", defines the order.

#include "kernels/carries.cuh"
#include "kernels/chunks.hpp"
#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"
#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::balanced {

inline constexpr int groups = chunk_entries / 32;

/// What the chunks leave for the second pass. A chunk's first row goes on from the previous chunk if
/// last_row[c - 1] == first_row[c]; only then is first_sum[c] valid, and likewise last_sum.
template <class V>
struct Carries {
  V* first_sum;
  V* last_sum;
  std::uint32_t* first_row;
  std::uint32_t* last_row;
};

template <class V>
Carries<V> carries(std::byte* workspace, std::uint64_t nnz) {
  const std::uint64_t chunks = chunk_count(nnz);
  auto* const sums = reinterpret_cast<V*>(workspace);
  auto* const rows = reinterpret_cast<std::uint32_t*>(sums + 2 * chunks);
  return {sums, sums + chunks, rows, rows + chunks};
}

/// The chunks as the second pass sees them.
struct SharedRows {
  static constexpr bool in_workspace = true;
  std::uint64_t count;
  const std::uint32_t *first, *last;
  __device__ std::uint32_t first_row(std::uint64_t c) const { return first[c]; }
  __device__ bool continues(std::uint64_t c) const { return c != 0 && last[c - 1] == first[c]; }
};

/// Adds finished sums to y.
template <class V>
__device__ void add_to_row(V alpha, V sum, V* y, RowMap map, std::uint32_t row) {
  V* const at = y + map(row);
  *at = fma(alpha, sum, *at);
}

/// One warp per chunk. `Rows` knows the rows of entries: load() gives each lane those of entries begin + 32 g + lane
/// (arbitrary ones past the end of the last chunk), with a chunk's worth of shared memory if it `stages`; continues and
/// goes_on return whether the entry before or after the chunk is in the row. All lanes call them.
template <class A, class V, class Rows>
__global__ void __launch_bounds__(tuning::balanced_threads)
    chunk_kernel(Rows rows, const std::uint32_t* __restrict__ col_idx, const A* __restrict__ values, std::uint64_t nnz,
                 DeviceScalar<V> alpha_in, const V* __restrict__ x, V* y, RowMap map, Carries<V> carries) {
  const V alpha = alpha_in.get();
  if (alpha == V{0}) return;
  const std::uint64_t c = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = lane_id();
  const std::uint64_t begin = c * chunk_entries;
  if (begin >= nnz) return;
  const std::uint64_t end = nnz - begin < chunk_entries ? nnz : begin + chunk_entries;

  // All loads come before all sums.
  constexpr unsigned staged_entries = Rows::stages ? tuning::balanced_threads / 32 * chunk_entries : 1;
  __shared__ std::uint32_t staged[staged_entries];
  std::uint32_t row[groups];
  rows.load(begin, end, staged + (Rows::stages ? threadIdx.x / 32 * chunk_entries : 0), row);
  V product[groups];
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const std::uint64_t k = begin + static_cast<unsigned>(g) * 32 + lane;
    product[g] = k < end ? fma(static_cast<V>(values[k]), x[col_idx[k]], V{0}) : V{0};
  }

  const std::uint32_t first_row = __shfl_sync(full_warp, row[0], 0);
  const bool continues = rows.continues(begin, first_row);
  std::uint32_t open_row = first_row;
  V open_sum = 0;
  const auto finish_open = [&] {
    if (lane != 0) return;
    if (continues && open_row == first_row)
      carries.first_sum[c] = open_sum;
    else
      add_to_row(alpha, open_sum, y, map, open_row);
  };
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    const std::uint64_t first = begin + static_cast<unsigned>(g) * 32;
    if (first >= end) break;  // uniform across lanes
    const unsigned lanes = end - first < 32 ? static_cast<unsigned>(end - first) : 32;
    const std::uint32_t before = __shfl_up_sync(full_warp, row[g], 1);
    const unsigned heads = __ballot_sync(full_warp, lane < lanes && (lane == 0 || row[g] != before));
    const V sum = segment_sum(product[g], lane, segment_end(heads, lane, lanes));
    const unsigned last_head = 31U - static_cast<unsigned>(__clz(static_cast<int>(heads)));
    const std::uint32_t left_row = __shfl_sync(full_warp, row[g], 0);
    const V left_sum = __shfl_sync(full_warp, sum, 0);
    if (left_row == open_row) {
      open_sum = open_sum + left_sum;
    } else {
      finish_open();
      open_row = left_row;
      open_sum = left_sum;
    }
    if (last_head == 0) continue;
    finish_open();
    if (lane != 0 && lane != last_head && (heads >> lane & 1U) != 0) add_to_row(alpha, sum, y, map, row[g]);
    open_row = __shfl_sync(full_warp, row[g], static_cast<int>(last_head));
    open_sum = __shfl_sync(full_warp, sum, static_cast<int>(last_head));
  }
  // A row that fills the chunk and is shared on both sides leaves its sum in first_sum.
  if (rows.goes_on(end, open_row) && !(continues && open_row == first_row)) {
    if (lane == 0) carries.last_sum[c] = open_sum;
  } else {
    finish_open();
  }
  if (lane == 0) {
    carries.first_row[c] = first_row;
    carries.last_row[c] = open_row;
  }
}

/// y = alpha A x + beta y for a part; `rows` knows the rows of entries.
template <class A, class V, class Rows>
void multiply(const Rows& rows, const std::uint32_t* col_idx, const A* values, std::uint64_t nnz,
              std::uint64_t row_count, const MultiplyCall& call) {
  scale_vector(call.description.vectors, call.beta, call.y, call.row_list, row_count, call.stream);
  if (nnz == 0 || (call.alpha.device == nullptr && call.alpha.value == 0)) return;
  const auto alpha = device_scalar<V>(call.alpha);
  const Carries<V> room = carries<V>(call.workspace, nnz);
  auto* const y = static_cast<V*>(call.y);
  const RowMap map{call.row_list};
  const std::uint64_t chunks = chunk_count(nnz);
  launch(chunk_kernel<A, V, Rows>, blocks_for(chunks * 32, tuning::balanced_threads), tuning::balanced_threads,
         call.stream, rows, col_idx, values, nnz, alpha, static_cast<const V*>(call.x), y, map, room);
  add_carries<V>(SharedRows{chunks, room.first_row, room.last_row}, room.first_sum, room.last_sum, alpha,
                 {V{1}, nullptr}, y, map, call);
}

}  // namespace spmvpack::gpu_loader::balanced
