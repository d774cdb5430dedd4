#pragma once
// amb: rows with several lanes. Where all have few, `ordered` gives each row to a thread; otherwise a second kernel
// adds up its partial sums.

#include <algorithm>
#include <memory>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/amb/kernels.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {
namespace {

using spmvpack::layouts::amb::ChunkLength;
using spmvpack::layouts::amb::LaneRow;

constexpr unsigned threads = 256;

/// The partial sums of rows with several lanes, which the order of additions takes row by row.
template <class V>
struct Partials {
  V* sums;
  bool by_lane;
  __device__ void put(std::uint64_t lane, LaneRow to, V sum) const { sums[by_lane ? lane : to.index()] = sum; }
};

/// A row with several lanes: its first partial sum and how many it has.
struct SharedRow {
  std::uint32_t first, count, row;
};

/// All of them; and where partial sums are, if not in their own order.
struct SharedRows {
  const SharedRow* list;
  const std::uint32_t* lane_of;
  std::uint32_t count;
};

/// Where the partial sum of each lane is wanted: element k of `lane_of` is the lane of partial sum k.
__global__ void lanes_of_kernel(const std::uint32_t* row_idx, std::uint64_t lanes, std::uint32_t* lane_of) {
  for (std::uint64_t i = first_item(); i < lanes; i += stride()) {
    const LaneRow to{row_idx[i]};
    if (!to.is_none() && to.is_shared()) lane_of[to.index()] = static_cast<std::uint32_t>(i);
  }
}

/// From each row's first lane to its others. Of each lane: the row that begins there, with LaneRow::shared_bit if it
/// has others, or none; and its next lane, or none.
struct LanesOfRows {
  const std::uint32_t *heads, *next;
};

__global__ void lanes_of_rows_kernel(const std::uint32_t* row_idx, std::uint64_t lanes,
                                     const std::uint32_t* shared_rows, std::uint32_t shared,
                                     const std::uint32_t* lane_of, std::uint32_t* heads, std::uint32_t* next) {
  for (std::uint64_t i = first_item(); i < lanes; i += stride()) {
    const LaneRow to{row_idx[i]};
    std::uint32_t head = to.bits, then = LaneRow::none;
    if (!to.is_none() && to.is_shared()) {
      const std::uint32_t k = to.index(), row = shared_rows[k];
      head = k == 0 || shared_rows[k - 1] != row ? row | LaneRow::shared_bit : LaneRow::none;
      if (k + 1 < shared && shared_rows[k + 1] == row) then = lane_of[k + 1];
    }
    heads[i] = head;
    next[i] = then;
  }
}

/// Whether a row has more than `most` lanes.
__global__ void many_lanes_kernel(const std::uint32_t* shared_rows, std::uint64_t shared, std::uint64_t most,
                                  std::uint32_t* many) {
  for (std::uint64_t i = first_item(); i + most < shared; i += stride())
    if (shared_rows[i] == shared_rows[i + most]) *many = 1;
}

/// The steps of the longest chunk.
__global__ void longest_kernel(const std::uint32_t* cl, std::uint64_t chunks, std::uint32_t* longest) {
  std::uint32_t most = 0;
  for (std::uint64_t i = first_item(); i < chunks; i += stride()) most = max(most, ChunkLength{cl[i]}.steps());
  if (most != 0) atomicMax(longest, most);
}

/// Lists the rows with several lanes. Rows are neighbours in the list if they are in the matrix, but for where a warp's
/// end; no result depends on which warp's come first.
__global__ void shared_rows_kernel(const std::uint32_t* shared_rows, std::uint32_t shared, SharedRow* list,
                                   std::uint32_t* count) {
  const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
  const bool starts = i < shared && (i == 0 || shared_rows[i - 1] != shared_rows[i]);
  const unsigned all = __ballot_sync(full_warp, starts);
  std::uint32_t place = 0;
  if (lane_id() == 0 && all != 0) place = atomicAdd(count, static_cast<unsigned>(__popc(all)));
  place = __shfl_sync(full_warp, place, 0) + static_cast<unsigned>(__popc(all & ((1U << lane_id()) - 1)));
  if (!starts) return;
  std::uint32_t end = i + 1;
  while (end < shared && shared_rows[end] == shared_rows[i]) ++end;
  list[place] = {i, end - i, shared_rows[i]};
}

using launch_rules::amb::sums_in_flight;

/// Adds up the partial sums of each row, in order. Neighbouring rows have theirs near each other in each segment. What
/// does not change between multiplies is loaded before the kernel that writes the sums has ended.
template <class V>
__global__ void __launch_bounds__(threads)
    add_partials_kernel(SharedRows rows, const V* partial, DeviceScalar<V> alpha_in, DeviceScalar<V> beta_in, V* y,
                        RowMap map) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  const V alpha = alpha_in.get(), beta = beta_in.get();
  const SharedRow sums = i < rows.count ? rows.list[i] : SharedRow{};
  V* const at = y + (i < rows.count ? map(sums.row) : 0);
  std::uint32_t place[sums_in_flight];
  const auto find = [&](std::uint32_t k) {
#pragma unroll
    for (int j = 0; j < sums_in_flight; ++j) {
      const std::uint32_t of = sums.first + k + static_cast<unsigned>(j);
      place[j] = rows.lane_of != nullptr && k + j < sums.count ? __ldg(rows.lane_of + of) : of;
    }
    issue_loads();
  };
  find(0);
  wait_for_last_kernel();
  if (i >= rows.count) return;
  V sum = 0;
  for (std::uint32_t k = 0;;) {
    V next[sums_in_flight];
#pragma unroll
    for (int j = 0; j < sums_in_flight; ++j) next[j] = k + j < sums.count ? partial[place[j]] : V{0};
    issue_loads();
#pragma unroll
    for (int j = 0; j < sums_in_flight; ++j) {
      if (k + j == 0)
        sum = next[0];
      else if (k + j < sums.count)
        sum = sum + next[j];
    }
    k += sums_in_flight;
    if (k >= sums.count) break;
    find(k);
  }
  const V before = scaled(beta, at);
  *at = alpha != V{0} ? fma(alpha, sum, before) : before;
}

/// For `ordered`. Without memory if no row has several lanes.
struct State final : LayoutState {
  std::shared_ptr<void> heads, next;  ///< of all lanes, where rows_kernel takes them; otherwise:
  std::shared_ptr<void> lane_of;      ///< of partial sums; empty if they are written in their own order
  std::shared_ptr<void> list;         ///< of rows with several lanes
  struct Found {
    std::uint32_t longest = 0, many_lanes = 0, shared_rows = 0;  ///< steps of the longest chunk; rows in the list
  } found;

  [[nodiscard]] LanesOfRows lanes() const {
    return {static_cast<const std::uint32_t*>(heads.get()), static_cast<const std::uint32_t*>(next.get())};
  }
  [[nodiscard]] SharedRows rows() const {
    return {static_cast<const SharedRow*>(list.get()), static_cast<const std::uint32_t*>(lane_of.get()),
            found.shared_rows};
  }
};

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  auto state = std::make_unique<State>();
  if (!context.wants(ordered)) return state;
  const std::uint64_t shared = spmvpack::layouts::amb::shared_of(part.info());
  const auto cl = part.get<std::uint32_t>("cl"), rows = part.get<std::uint32_t>("row_idx"),
             shared_rows = part.get<std::uint32_t>("shared_rows");
  if (cl.empty()) return state;
  const std::shared_ptr<void> memory = context.scratch(sizeof(State::Found));
  auto* const found = static_cast<State::Found*>(memory.get());
  const auto read_back = [&] {
    require_cuda(cudaMemcpyAsync(&state->found, found, sizeof *found, cudaMemcpyDeviceToHost, context.stream),
                 "reading back what was counted");
    require_cuda(cudaStreamSynchronize(context.stream), "reading back what was counted");
  };
  require_cuda(cudaMemsetAsync(found, 0, sizeof *found, context.stream), "clearing device memory");
  launch(longest_kernel, stride_blocks(cl.size(), threads), threads, context.stream, cl.data(), cl.size(),
         &found->longest);
  if (shared != 0)
    launch(many_lanes_kernel, stride_blocks(shared, threads), threads, context.stream, shared_rows.data(), shared,
           launch_rules::amb::most_lanes_of_thread, &found->many_lanes);
  read_back();
  if (shared == 0) return state;
  const auto find_lanes = [&](const std::shared_ptr<void>& lane_of) {
    launch(lanes_of_kernel, stride_blocks(rows.size(), threads), threads, context.stream, rows.data(), rows.size(),
           static_cast<std::uint32_t*>(lane_of.get()));
  };
  const std::uint64_t lanes_bytes = rows.size() * sizeof(std::uint32_t);
  if (has_few_segments(part.info()) ||
      (state->found.many_lanes == 0 && may_take_rows(part.info()) && 2 * lanes_bytes <= context.room)) {
    const std::shared_ptr<void> lane_of = context.scratch(shared * sizeof(std::uint32_t));
    find_lanes(lane_of);
    state->heads = context.allocate(lanes_bytes);
    state->next = context.allocate(lanes_bytes);
    launch(lanes_of_rows_kernel, stride_blocks(rows.size(), threads), threads, context.stream, rows.data(), rows.size(),
           shared_rows.data(), static_cast<std::uint32_t>(shared), static_cast<const std::uint32_t*>(lane_of.get()),
           static_cast<std::uint32_t*>(state->heads.get()), static_cast<std::uint32_t*>(state->next.get()));
    require_cuda(cudaStreamSynchronize(context.stream), "finding the lanes of rows");  // before lane_of is released
    return state;
  }
  if (partials_by_lane(part.info())) {
    state->lane_of = context.allocate(shared * sizeof(std::uint32_t));
    find_lanes(state->lane_of);
  }
  state->list = context.allocate(shared / 2 * sizeof(SharedRow));  // a row in it has two partial sums at least
  launch(shared_rows_kernel, blocks_for(shared, threads), threads, context.stream, shared_rows.data(),
         static_cast<std::uint32_t>(shared), static_cast<SharedRow*>(state->list.get()), &found->shared_rows);
  read_back();
  return state;
}

}  // namespace
}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
