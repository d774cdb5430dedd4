// csr: equal shares of the entries, regardless of rows. Load finds the rows at the ends of the chunks (what the merge
// path of Merrill and Garland, SC 2016, searches for in every multiply), so that a multiply waits for no search.

#include "kernels/balanced.cuh"
#include "layouts/csr/kernels.hpp"
#include "layouts/csr/tuning.cuh"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

using balanced::no_row;

/// The last row in [low, rows) whose pointer is at most k; that of row `low` is.
template <class P>
__device__ std::uint32_t row_of(const P* row_ptr, std::uint32_t low, std::uint32_t rows, std::uint64_t k) {
  for (std::uint32_t high = rows; high - low > 1;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (row_ptr[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The rows of the first and the last entry of each chunk, and in `widest` the most rows that a chunk writes if it
/// writes rows without entries, too: those after the row of the entry before it, up to its own last one.
template <class P>
__global__ void chunk_ends_kernel(const P* row_ptr, std::uint32_t rows, std::uint64_t nnz, std::uint64_t chunks,
                                  std::uint32_t* first, std::uint32_t* last, std::uint32_t* widest) {
  std::uint32_t most = 0;
  for (std::uint64_t c = first_item(); c < chunks; c += stride()) {
    const std::uint64_t begin = c * balanced::chunk_entries;
    const std::uint64_t end = nnz - begin < balanced::chunk_entries ? nnz : begin + balanced::chunk_entries;
    const std::uint32_t before = c != 0 ? row_of(row_ptr, 0, rows, begin - 1) : no_row;
    first[c] = row_of(row_ptr, c != 0 ? before : 0, rows, begin);
    last[c] = row_of(row_ptr, first[c], rows, end - 1);
    most = max(most, (end != nnz ? last[c] : rows - 1) - before);  // no_row is -1
  }
  if (most != 0) atomicMax(widest, most);
}

/// The last row in [low, low + count) whose pointer is at most k. The whole warp searches: 32 probes at a time.
template <class P>
__device__ std::uint64_t row_of_by_warp(const P* row_ptr, std::uint64_t low, std::uint64_t count, std::uint64_t k) {
  while (count > 1) {
    const std::uint64_t step = (count + 31) / 32, probe = lane_id() * step;
    const bool at_most = probe < count && row_ptr[low + probe] <= k;
    const unsigned before = __ballot_sync(full_warp, at_most);
    const std::uint64_t skip = before == 0 ? 0 : static_cast<unsigned>(__popc(before) - 1) * step;
    low += skip;
    count = count - skip < step ? count - skip : step;
  }
  return low;
}

/// The rows of entries, from the row pointers: each warp records where rows start in its chunk.
template <class P>
struct RowsOfPointers {
  using Ends = balanced::ChunkEnds<false>;
  static constexpr bool stages = true, scales_first = false;
  static constexpr unsigned batch = sizeof(P) == 4 ? 4 : 2;  ///< of 32 rows, whose pointers are on their way together
  const P* row_ptr;
  std::uint32_t row_count;
  Ends ends;
  bool writes_gaps;

  /// The rows [at, end) are looked at; the lane's are `at` + lane and those 32 further each.
  struct Place {
    std::uint32_t before, after;
    std::uint64_t at, end;
  };
  struct Pointers {
    P from[batch], to[batch];
  };
  __device__ Place place(std::uint64_t c, std::uint64_t /*begin*/, std::uint64_t /*end*/) const {
    Place place{c != 0 ? ends.last[c - 1] : no_row, c + 1 != ends.count ? ends.first[c + 1] : no_row, ends.first[c],
                std::uint64_t{ends.last[c]} + 1};
    if (!writes_gaps) return place;
    if (place.before != place.at) place.at = place.before + 1;  // no_row is -1
    if (place.after == no_row) place.end = row_count;
    return place;
  }
  __device__ Pointers pointers(const Place& place) const {
    Pointers p;
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      const std::uint64_t r = place.at + k * 32 + lane_id();
      p.from[k] = r < place.end ? row_ptr[r] : 0;
      p.to[k] = r < place.end ? row_ptr[r + 1] : 0;
    }
    return p;
  }
  template <class V>
  __device__ balanced::ChunkRows of_entries(Place place, Pointers p, std::uint64_t begin, std::uint32_t* staged,
                                            const RowSums<V>& to) const {
    const unsigned lane = lane_id();
    balanced::ChunkRows of;
    of.before = place.before;
    of.after = place.after;
    if (place.at + 1 == place.end) {  // a single row, and none without entries
#pragma unroll
      for (int g = 0; g < balanced::groups; ++g) of.row[g] = static_cast<std::uint32_t>(place.at);
      return of;
    }
#pragma unroll
    for (int g = 0; g < balanced::groups; ++g) staged[g * 32 + lane] = no_row;
    __syncwarp();
    for (;;) {
      bool has_entries = false;
#pragma unroll
      for (unsigned k = 0; k < batch; ++k) {
        const std::uint64_t r = place.at + k * 32 + lane;
        if (p.to[k] != p.from[k]) {
          staged[p.from[k] > begin ? p.from[k] - begin : 0] = static_cast<std::uint32_t>(r);
          has_entries = true;
        } else if (writes_gaps && r < place.end) {
          to.scale(r);
        }
      }
      // Where gaps are not written, a run of empty rows may be long, and is skipped.
      const bool skips = !writes_gaps && __any_sync(full_warp, static_cast<int>(has_entries)) == 0;
      place.at += batch * 32;
      if (place.at >= place.end) break;
      if (skips) {
        const std::uint64_t entry = row_ptr[place.at];
        place.at = row_of_by_warp(row_ptr, place.at, place.end - place.at, entry);
      }
      p = pointers(place);
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
    return of;
  }
};

}  // namespace

ChunkEndsOnDevice make_chunk_ends(const PartView& part, const LoadContext& context) {
  ChunkEndsOnDevice ends;
  ends.count = balanced::chunk_count(part.info().nnz);
  if (ends.count == 0) return ends;
  ends.memory = context.allocate((2 * ends.count + 1) * sizeof(std::uint32_t));
  auto* const words = static_cast<std::uint32_t*>(ends.memory.get());
  std::uint32_t* const widest = words + 2 * ends.count;
  require_cuda(cudaMemsetAsync(widest, 0, sizeof *widest, context.stream), "clearing device memory");
  with_arrays(part, part.info().value_type, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    launch(chunk_ends_kernel<P>, stride_blocks(ends.count, tuning::vector_threads), tuning::vector_threads,
           context.stream, a.row_ptr, a.rows, a.nnz, ends.count, words, words + ends.count, widest);
  });
  std::uint32_t most = 0;
  require_cuda(cudaMemcpyAsync(&most, widest, sizeof most, cudaMemcpyDeviceToHost, context.stream),
               "reading the rows of chunks back");
  require_cuda(cudaStreamSynchronize(context.stream), "reading the rows of chunks back");
  ends.writes_gaps = most <= tuning::merge_rows;
  return ends;
}

void multiply_merge(const PartView& part, const ChunkEndsOnDevice& ends, const MultiplyCall& call) {
  const auto* const words = static_cast<const std::uint32_t*>(ends.memory.get());
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const RowsOfPointers<P> rows{a.row_ptr, a.rows, {ends.count, words, words + ends.count}, ends.writes_gaps};
    balanced::multiply<A, V>(rows, a.col_idx, a.values, a.nnz, reinterpret_cast<V*>(call.workspace), call);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
