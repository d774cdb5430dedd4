// csr by several columns, with the sums of `vector`, `scalar` and `ipcsr` for each.

#include "kernels/columns.cuh"
#include "kernels/reduce.cuh"
#include "layouts/csr/kernels.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {
namespace {

constexpr unsigned column_threads = 256;

/// A row has each * group sums, of which a thread has `each` neighbouring ones, and `group` threads all of a column
/// lane's: sum i has entries i, i + each * group, ...
template <unsigned each, unsigned group, class A, class V, class P>
__global__ void __launch_bounds__(column_threads) rows_columns_kernel(Arrays<A, P> a, ColumnOperands<V> o) {
  using Columns = Pack<V>;
  constexpr unsigned all = each * group, together = each < 4 ? 4 : each;
  const std::uint64_t item = first_item(), of_lane = item / group, row = of_lane / o.lanes;
  const auto mine = static_cast<unsigned>(item % group) * each;
  const bool has_row = row < a.rows;
  const ColumnLane<V> lane(o, static_cast<std::uint32_t>(of_lane - row * o.lanes));
  const V alpha = o.alpha.get();
  std::uint64_t begin = 0, end = 0;
  if (has_row && alpha != V{0}) {
    begin = a.row_ptr[row];
    end = a.row_ptr[row + 1];
  }
  const bool empty = begin == end;
  Columns sum[each] = {};
  for (; begin < end; begin += all * (together / each)) {
    V value[together];
    Columns element[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t k = begin + mine + i;
      const bool has = k < end;
      value[i] = has ? static_cast<V>(o.once(a.values + k)) : V{0};
      element[i] = lane.load(has ? o.once(a.col_idx + k) : 0, has);
    }
#pragma unroll
    for (unsigned i = 0; i < together; ++i)
      if (begin + mine + i < end) sum[i % each].add_product(value[i], element[i]);
  }
#pragma unroll
  for (unsigned distance = 1; distance < each; distance *= 2)
#pragma unroll
    for (unsigned i = 0; i < each; i += 2 * distance) sum[i] = sum[i] + sum[i + distance];
#pragma unroll
  for (unsigned distance = 1; distance < group; distance *= 2) {
    Columns right;
#pragma unroll
    for (unsigned c = 0; c < Columns::size; ++c)
      right.of[c] = __shfl_down_sync(full_warp, sum[0].of[c], distance, group);
    sum[0] = sum[0] + right;
  }
  if (has_row && mine == 0) lane.put(row, sum[0], !empty, alpha, o.beta.get());
}

constexpr RowBlockLimits block_limits;
static_assert(block_limits.threads == column_threads);

/// ipcsr: a block of threads has the row block, and `block_limits.threads` sums of each column lane in shared memory.
template <class A, class V, class P>
__global__ void __launch_bounds__(column_threads)
    blocks_columns_kernel(Arrays<A, P> a, const std::uint32_t* __restrict__ starts, ColumnOperands<V> o) {
  using Columns = Pack<V>;
  extern __shared__ __align__(16) std::byte shared_bytes[];
  auto* const sums = reinterpret_cast<Columns*>(shared_bytes);  // by sum, then by column lane
  const V alpha = o.alpha.get(), beta = o.beta.get();
  const std::uint32_t first_row = starts[blockIdx.x], rows = starts[blockIdx.x + std::uint64_t{1}] - first_row;
  const unsigned each = rows == 1 ? block_limits.threads : threads_per_row(block_limits.threads, rows);
  // Calls f(n, lane) for n below `count`, by all threads.
  const auto for_each = [&](unsigned count, auto&& f) {
    for (unsigned j = threadIdx.x; j < count * o.lanes; j += column_threads) f(j / o.lanes, j % o.lanes);
  };
  for_each(rows * each, [&](unsigned n, unsigned lane) {
    const ColumnLane<V> columns(o, lane);
    const std::uint64_t row = first_row + std::uint64_t{n / each};
    const std::uint64_t end = alpha == V{0} ? 0 : a.row_ptr[row + 1];
    Columns sum{};
    constexpr unsigned together = 4;
    for (std::uint64_t begin = a.row_ptr[row] + n % each; begin < end; begin += std::uint64_t{together} * each) {
      V value[together];
      Columns x[together];
#pragma unroll
      for (unsigned i = 0; i < together; ++i) {
        const std::uint64_t k = begin + i * each;
        const bool has = k < end;
        value[i] = has ? static_cast<V>(o.once(a.values + k)) : V{0};
        x[i] = columns.load(has ? o.once(a.col_idx + k) : 0, has);
      }
#pragma unroll
      for (unsigned i = 0; i < together; ++i) {
        if (begin + i * each >= end) break;
        if (rows == 1) {
          sum.add_product(value[i], x[i]);
        } else {
#pragma unroll
          for (unsigned c = 0; c < Columns::size; ++c) {
            const V product = value[i] * x[i].of[c];
            sum.of[c] = sum.of[c] + product;
          }
        }
      }
    }
    sums[n * o.lanes + lane] = sum;
  });
  for (unsigned distance = 1; distance < each; distance *= 2) {
    __syncthreads();
    for_each(rows * each / (2 * distance), [&](unsigned n, unsigned lane) {
      Columns& left = sums[2 * distance * n * o.lanes + lane];
      left = left + sums[(2 * distance * n + distance) * o.lanes + lane];
    });
  }
  __syncthreads();
  for_each(rows, [&](unsigned n, unsigned lane) {
    const std::uint64_t row = first_row + std::uint64_t{n};
    const bool empty = alpha == V{0} || a.row_ptr[row] == a.row_ptr[row + 1];
    ColumnLane<V>(o, lane).put(row, sums[n * each * o.lanes + lane], !empty, alpha, beta);
  });
}

}  // namespace

void multiply_rows_by_columns(const PartView& part, const MultiplyCall& call, std::uint32_t lanes) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const ColumnOperands<V> operands(call);
    const auto start = [&](auto kernel, std::uint64_t group) {
      launch(kernel, blocks_for(a.rows * group * operands.lanes, column_threads), column_threads, call.stream, a,
             operands);
    };
    dispatch_constant<1, 2, 4, 8, 16, 32>(static_cast<int>(lanes), [&](auto sums) {
      constexpr unsigned each = sums() < 8 ? sums() : 8;
      start(rows_columns_kernel<each, sums() / each, A, V, P>, sums() / each);
    });
  });
}

void multiply_blocks_by_columns(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call) {
  with_arrays(part, call.description.vectors, [&]<class A, class P, class V>(const Arrays<A, P>& a, V) {
    const ColumnOperands<V> operands(call);
    cudaLaunchConfig_t config = launch_config(static_cast<unsigned>(blocks.count), column_threads, call.stream);
    config.dynamicSmemBytes = std::size_t{block_limits.threads} * operands.lanes * sizeof(Pack<V>);
    launch(config, blocks_columns_kernel<A, V, P>, a, blocks.starts(), operands);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
