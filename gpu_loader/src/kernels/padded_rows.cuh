#pragma once
// What ell, ellpack_r, sell and pjds share on the GPU: a thread per row, whatever the geometry of its slots (Bell,
// Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA, NVR-2008-004, section 4.2). A thread stops at its
// row's first padding, so that none of these layouts needs the lengths of the rows, as ELLPACK-R has them.

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/call.hpp"
#include "kernels/columns.cuh"
#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/read_once.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/tuning.cuh"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/container/layouts/padded_rows_check.hpp"
#include "spmvpack/launch_rules/padded_rows.hpp"

namespace spmvpack::gpu_loader::padded_rows {

namespace rules = launch_rules::padded_rows;
using namespace spmvpack::layouts::padded_rows;
using spmvpack::layouts::no_column;

/// A part's slots in device memory.
template <class A>
struct Slots {
  const std::uint32_t* col_idx;
  const A* values;
};

template <class A>
Slots<A> slots_of(const PartView& part) {
  return {part.get<std::uint32_t>("col_idx").data(), part.get<A>("values").data()};
}

// ---- checks

/// Bits of errors[0] beside the violations of rows. The layouts' own come last; kernels that follow a geometry do
/// nothing if bad_geometry is set.
enum CheckBit : std::uint32_t {
  bad_totals = 1U << kind_of_totals,
  bad_geometry = 1U << kind_of_geometry,
  own = 1U << own_kind
};
constexpr std::array<std::string_view, 7> check_names(std::string_view geometry, std::string_view its_own) {
  return {"col_idx: a column is not below the part's columns",
          "col_idx: columns do not rise within a row",
          "col_idx: an entry after padding, or in a row that the part does not have",
          "values: padding with a value",
          "the entries are not as many, or the longest row not as long, as the part table says",
          geometry,
          its_own};
}

/// Checks the first `lanes` rows of the geometry. Counts the entries, and raises `longest` to the longest row.
/// `row_len`, if any, has the length of each row.
template <class A, class Geometry>
__global__ void check_kernel(Geometry geometry, Slots<A> s, std::uint64_t lanes, RowSizes sizes,
                             const std::uint32_t* row_len, std::uint32_t* errors, std::uint32_t* longest,
                             unsigned long long* entries) {
  if ((*errors & bad_geometry) != 0) return;
  std::uint32_t found = 0, most = 0;
  unsigned long long count = 0;
  for (std::uint64_t r = first_item(); r < lanes; r += stride()) {
    const RowCheck row = check_row(s.col_idx, s.values, geometry(r), r, sizes);
    found |= row.found & violation_kinds;
    if (row.found == sound && row_len != nullptr && row_len[r] != row.entries) found |= own;
    most = max(most, static_cast<std::uint32_t>(row.entries));
    count += row.entries;
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
  if (most != 0) atomicMax(longest, most);
}

inline constexpr std::uint64_t any_length = ~std::uint64_t{0};

static __global__ void check_totals_kernel(const std::uint32_t* longest, const unsigned long long* entries,
                                           std::uint64_t expected_longest, std::uint64_t nnz, std::uint32_t* errors) {
  // With other errors, rows may not have been counted.
  if (*errors == 0 && (*entries != nnz || (expected_longest != any_length && *longest != expected_longest)))
    *errors = bad_totals;
}

/// Launches these kernels. `width` is the length of the longest row, or any_length.
template <class Geometry>
void check(const PartView& part, const Geometry& geometry, std::uint64_t lanes, std::uint64_t width,
           std::uint32_t* errors, Stream stream, const std::uint32_t* order = nullptr,
           const std::uint32_t* row_len = nullptr) {
  std::uint32_t* const longest = errors + 1;
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  if (lanes != 0)
    dispatch(part.info().value_type, [&]<class A>(A) {
      launch_check(check_kernel<A, Geometry>, lanes, stream, geometry, slots_of<A>(part), lanes,
                   RowSizes{part.rows(), part.cols(), order}, row_len, errors, longest, entries);
    });
  launch(check_totals_kernel, 1, 1, stream, longest, entries, width, part.info().nnz, errors);
}

// ---- multiply

/// `batch` slots of a row are on their way together.
template <int batch, unsigned most, class A, class V, class Geometry>
__global__ void __launch_bounds__(most)
    rows_kernel(Geometry geometry, Slots<A> s, std::uint64_t rows, DeviceScalar<V> alpha_in, const V* __restrict__ x,
                DeviceScalar<V> beta_in, V* y, RowMap map, ReadOnce once, Prefetch prefetch) {
  const V alpha = alpha_in.get(), beta = beta_in.get();
  prefetch(alpha);
  const std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const auto row = geometry(r);
  V* const at = y + map(r);
  V sum = 0;
  bool empty = true;
  if (alpha != V{0})
    for (std::uint64_t step = 0; row.has(step); step += batch) {
      // Where there is no slot or no entry, what is loaded instead is there, and not used.
      std::uint32_t column[batch];
      V value[batch], element[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const bool has = row.has(step + i);
        const std::uint64_t slot = row.slot(has ? step + i : step);
        column[i] = once(s.col_idx + slot);
        value[i] = static_cast<V>(once(s.values + slot));
        column[i] = has ? column[i] : no_column;
      }
      issue_loads();
#pragma unroll
      for (int i = 0; i < batch; ++i) element[i] = __ldca(x + (column[i] != no_column ? column[i] : 0));
      issue_loads();
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        sum = column[i] != no_column ? fma(value[i], element[i], sum) : sum;
        empty = empty && column[i] == no_column;
      }
      if (column[batch - 1] == no_column) break;
    }
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

inline constexpr unsigned column_threads = 1024;

/// The same by several columns: each column lane takes the row.
template <class A, class V, class Geometry>
__global__ void __launch_bounds__(column_threads, 1)
    columns_kernel(Geometry geometry, Slots<A> s, std::uint64_t rows, ColumnOperands<V> o) {
  constexpr int batch = 4;
  const std::uint64_t item = first_item(), r = item / o.lanes;
  if (r >= rows) return;
  const ColumnLane<V> lane(o, static_cast<std::uint32_t>(item - r * o.lanes));
  const V alpha = o.alpha.get();
  const auto row = geometry(r);
  Pack<V> sum{};
  bool empty = true;
  if (alpha != V{0})
    for (std::uint64_t step = 0; row.has(step); step += batch) {
      std::uint32_t column[batch];
      V value[batch];
      Pack<V> element[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const bool has = row.has(step + i);
        const std::uint64_t slot = row.slot(has ? step + i : step);
        column[i] = o.once(s.col_idx + slot);
        value[i] = static_cast<V>(o.once(s.values + slot));
        column[i] = has ? column[i] : no_column;
      }
#pragma unroll
      for (int i = 0; i < batch; ++i) element[i] = lane.load(column[i], column[i] != no_column);
      issue_loads();
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        if (column[i] != no_column) sum.add_product(value[i], element[i]);
        empty = empty && column[i] == no_column;
      }
      if (column[batch - 1] == no_column) break;
    }
  lane.put(r, sum, !empty, alpha, o.beta.get());
}

/// `sorted`: by length, see launch_of().
template <class Geometry>
void multiply(const PartView& part, const Geometry& geometry, const MultiplyCall& call, bool sorted) {
  const std::uint64_t rows = part.rows();
  if (rows == 0) return;
  dispatch_types(part.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    if (call.row_major) {
      const ColumnOperands<V> operands(call);
      const unsigned threads = column_block(rows * operands.lanes, column_threads, call.device);
      return launch(columns_kernel<A, V, Geometry>, blocks_for(rows * operands.lanes, threads), threads, call.stream,
                    geometry, slots_of<A>(part), rows, operands);
    }
    const auto start = [&](auto kernel, unsigned block_threads) {
      const unsigned blocks = blocks_for(rows, block_threads);
      launch(kernel, blocks, block_threads, call.stream, geometry, slots_of<A>(part), rows,
             device_scalar<V>(call.alpha), static_cast<const V*>(call.columns.x), device_scalar<V>(call.beta),
             static_cast<V*>(call.columns.y), RowMap{call.row_list}, ReadOnce(call),
             Prefetch::of<V>(blocks, call, part, bytes_of(part.get<std::uint32_t>("col_idx")),
                             bytes_of(part.get<A>("values"))));
    };
    constexpr bool single = sizeof(V) == 4;
    const auto [batch, block_threads, held] =
        rules::launch_of(rows, part.info().nnz, single, call.device.multiprocessors, sorted);
    if (batch == rules::large_batch(single))
      start(rows_kernel<rules::large_batch(single), rules::most_threads_of_large, A, V, Geometry>, block_threads);
    else if (batch == rules::medium_batch)
      start(rows_kernel<rules::medium_batch, rules::most_threads_of_medium(single), A, V, Geometry>, block_threads);
    else
      start(rows_kernel<rules::small_batch, rules::most_threads_of_small(single), A, V, Geometry>, block_threads);
  });
}

}  // namespace spmvpack::gpu_loader::padded_rows
