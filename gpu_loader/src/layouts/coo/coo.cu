// Layout `coo` on the GPU.

#include <array>

#include "kernels/balanced.cuh"
#include "kernels/vectors.hpp"
#include "layouts/coo/kernels.hpp"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/coo.hpp"
#include "spmvpack/container/layouts/coo_check.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace coo_kernels {
namespace {

constexpr std::array<std::string_view, 3> check_names{
    {"row_idx: a row is not below the part's rows", "col_idx: a column is not below the part's columns",
     "row_idx and col_idx: an entry does not follow the one before it"}};

__global__ void check_kernel(spmvpack::layouts::coo::Indices e, std::uint64_t nnz, std::uint32_t* errors) {
  std::uint32_t found = 0;
  for (std::uint64_t k = first_item(); k < nnz; k += stride()) found |= check_entry(e, k);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  const auto rows = part.get<std::uint32_t>("row_idx"), cols = part.get<std::uint32_t>("col_idx");
  if (rows.empty()) return;
  launch_check(check_kernel, rows.size(), stream,
               spmvpack::layouts::coo::Indices{rows.data(), cols.data(), part.rows(), part.cols()}, rows.size(),
               errors);
}

/// The rows of entries are stored with them.
struct StoredRows {
  using Ends = balanced::ChunkEnds<true>;
  static constexpr bool stages = false, scales_first = true;
  const std::uint32_t* row_idx;
  std::uint64_t nnz, row_count;
  Ends ends;
  bool writes_gaps;

  __device__ balanced::ChunkRows place(std::uint64_t /*chunk*/, std::uint64_t begin, std::uint64_t end) const {
    balanced::ChunkRows of;
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) {
      const std::uint64_t k = begin + static_cast<unsigned>(g) * 32 + lane_id();
      of.row[g] = row_idx[k < end ? k : end - 1];
    }
    of.before = begin != 0 ? row_idx[begin - 1] : balanced::no_row;
    of.after = end != nnz ? row_idx[end] : balanced::no_row;
    return of;
  }
  struct None {};
  __device__ None pointers(const balanced::ChunkRows& /*place*/) const { return {}; }
  template <class V>
  __device__ balanced::ChunkRows of_entries(const balanced::ChunkRows& place, None /*pointers*/,
                                            std::uint64_t /*begin*/, std::uint32_t* /*staged*/,
                                            const RowSums<V>& /*to*/) const {
    return place;
  }
};

constexpr unsigned atomic_threads = 256;  ///< B and K of the paper
constexpr int atomic_entries = 4;

/// Balanced COO of Compressed COO's paper (listing 1.1): K neighbouring entries a thread, whose sum it adds to y
/// atomically. There rows are padded to K; here a thread whose entries are of several rows adds a sum for each. With
/// `scans`, the sums of the threads' last rows first go through the segmented scan of each warp (listing 1.2). y has
/// been scaled.
template <class A, class V, bool scans>
__global__ void __launch_bounds__(atomic_threads)
    atomic_kernel(const std::uint32_t* row_idx, const std::uint32_t* col_idx, const A* values, std::uint64_t nnz,
                  DeviceScalar<V> alpha_in, const V* __restrict__ x, V* y, RowMap map) {
  const std::uint64_t begin = (std::uint64_t{blockIdx.x} * atomic_threads + threadIdx.x) * atomic_entries;
  const V alpha = alpha_in.get();
  if (alpha == V{0} || (!scans && begin >= nnz)) return;
  const bool has_entries = begin < nnz;
  if constexpr (scans)
    if (begin - lane_id() * atomic_entries >= nnz) return;  // so has the whole warp
  std::uint32_t row[atomic_entries];
  V product[atomic_entries];
#pragma unroll
  for (int k = 0; k < atomic_entries; ++k) {
    const std::uint64_t at = begin + k < nnz ? begin + k : nnz - 1;  // none past the end is added
    row[k] = __ldcs(row_idx + at);
    product[k] = static_cast<V>(__ldcs(values + at)) * __ldg(x + __ldcs(col_idx + at));
  }
  V sum = product[0];
#pragma unroll
  for (int k = 1; k < atomic_entries; ++k) {
    if (begin + k >= nnz) break;
    if (row[k] != row[k - 1]) {
      atomicAdd(y + map(row[k - 1]), alpha * sum);
      sum = V{0};
    }
    sum = sum + product[k];
  }
  const std::uint64_t last = has_entries && nnz - begin < atomic_entries ? nnz - begin - 1 : atomic_entries - 1;
  std::uint32_t last_row = row[0];
#pragma unroll
  for (int k = 1; k < atomic_entries; ++k)
    if (k <= last) last_row = row[k];
  if constexpr (scans) {
    const unsigned lane = lane_id();
    if (!has_entries) last_row = balanced::no_row;
    __syncwarp();
    const std::uint32_t before = __shfl_up_sync(full_warp, last_row, 1);
    const bool starts = lane == 0 || last_row != before;
    sum = segment_sum(sum, lane, segment_end(__ballot_sync(full_warp, starts), lane, 32));
    if (!starts || !has_entries) return;
  }
  atomicAdd(y + map(last_row), alpha * sum);
}

template <bool scans>
void multiply_atomically(const PartView& view, const MultiplyCall& call) {
  scale_vector(call.description.vectors, call.beta, call.columns.y, call.row_list, view.rows(), call.stream);
  const std::uint64_t nnz = view.info().nnz;
  if (nnz == 0) return;
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    launch(atomic_kernel<A, V, scans>, blocks_for((nnz + atomic_entries - 1) / atomic_entries, atomic_threads),
           atomic_threads, call.stream, view.get<std::uint32_t>("row_idx").data(),
           view.get<std::uint32_t>("col_idx").data(), view.get<A>("values").data(), nnz, device_scalar<V>(call.alpha),
           static_cast<const V*>(call.columns.x), static_cast<V*>(call.columns.y), RowMap{call.row_list});
  });
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  if (call.kernel == atomic) return multiply_atomically<false>(view, call);
  if (call.kernel == scan) return multiply_atomically<true>(view, call);
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    const std::uint64_t nnz = view.info().nnz, chunks = balanced::chunk_count(nnz);
    auto* const sums = reinterpret_cast<V*>(call.workspace);
    auto* const ends = reinterpret_cast<std::uint32_t*>(sums + 2 * chunks);
    const bool writes_gaps = view.rows() <= std::max(tuning::gap_rows, 2 * nnz);
    const StoredRows rows{
        view.get<std::uint32_t>("row_idx").data(), nnz, view.rows(), {chunks, ends, ends + chunks}, writes_gaps};
    balanced::multiply<A, V>(rows, view.get<std::uint32_t>("col_idx").data(), view.get<A>("values").data(), nnz, sums,
                             call);
  });
}

}  // namespace
}  // namespace coo_kernels

const LayoutKernels coo{
    .check_names = coo_kernels::check_names, .check = coo_kernels::check, .multiply = coo_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
