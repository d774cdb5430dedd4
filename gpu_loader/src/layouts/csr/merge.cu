// csr: equal shares of the entries, regardless of rows.

#include "kernels/balanced.cuh"
#include "layouts/csr/kernels.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

/// The last row in [0, rows) whose pointer is at most k. The whole warp searches: 32 probes at a time.
template <class P>
__device__ std::uint32_t row_of_by_warp(const P* row_ptr, std::uint32_t rows, std::uint64_t k) {
  std::uint64_t low = 0, count = rows;  // the row is in [low, low + count)
  while (count > 1) {
    const std::uint64_t step = (count + 31) / 32, probe = lane_id() * step;
    const bool at_most = probe < count && row_ptr[low + probe] <= k;
    const unsigned before = __ballot_sync(full_warp, at_most);
    const std::uint64_t skip = before == 0 ? 0 : static_cast<unsigned>(__popc(before) - 1) * step;
    low += skip;
    count = count - skip < step ? count - skip : step;
  }
  return static_cast<std::uint32_t>(low);
}

/// The rows of entries, from the row pointers: each warp records where rows start in its chunk.
template <class P>
struct RowsOfPointers {
  const P* row_ptr;
  std::uint32_t row_count;

  static constexpr bool stages = true, has_gaps = false;
  __device__ balanced::ChunkRows load(std::uint64_t begin, std::uint64_t end, std::uint32_t* staged) const {
    using balanced::no_row;
    balanced::ChunkRows of;
    const unsigned lane = lane_id();
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) staged[g * 32 + lane] = no_row;
    __syncwarp();
    std::uint64_t first = row_of_by_warp(row_ptr, row_count, begin);
    of.before = row_ptr[first] < begin ? static_cast<std::uint32_t>(first) : no_row;
    for (bool more = true; more;) {
      const std::uint64_t r = first + lane;
      const bool is_row = r < row_count;
      const std::uint64_t from = is_row ? row_ptr[r] : end, to = is_row ? row_ptr[r + 1] : end;
      const std::uint64_t start = from > begin ? from : begin;
      const bool has_entries = to > start && start < end;
      if (has_entries) staged[start - begin] = static_cast<std::uint32_t>(r);
      more = __any_sync(full_warp, static_cast<int>(to >= end)) == 0;
      // Skips a run of empty rows, which may be long.
      if (more && __any_sync(full_warp, static_cast<int>(has_entries)) == 0)
        first = row_of_by_warp(row_ptr, row_count, __shfl_sync(full_warp, to, 31));
      else
        first += 32;
    }
    __syncwarp();
    std::uint32_t open = 0;
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) {
      const std::uint32_t mine = staged[g * 32 + lane];
      const unsigned starts = __ballot_sync(full_warp, mine != no_row);
      const unsigned before = starts & (full_warp >> (31U - lane));
      const int head = before != 0 ? 31 - __clz(static_cast<int>(before)) : 0;
      const std::uint32_t found = __shfl_sync(full_warp, mine, head);
      of.row[g] = before != 0 ? found : open;
      open = __shfl_sync(full_warp, of.row[g], 31);
    }
    of.after = row_ptr[open + std::uint64_t{1}] > end ? open : no_row;
    return of;
  }
};

}  // namespace

void multiply_merge(const PartView& part, const MultiplyCall& call) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    balanced::multiply<A, V>(RowsOfPointers<P>{a.row_ptr, a.rows}, a.col_idx, a.values, a.nnz, a.rows, call);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
