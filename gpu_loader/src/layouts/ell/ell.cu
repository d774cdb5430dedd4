// Layout `ell` on the GPU: a thread per row (Bell, Garland: Efficient Sparse Matrix-Vector Multiplication on CUDA,
// NVR-2008-004, section 4.2). A thread stops at its row's first padding, as ELLPACK-R does by a list of row lengths
// (Vazquez et al., as quoted by Kreutzer et al., listing 1).

#include <array>

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/tuning.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/ell.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace {

using spmvpack::layouts::ell::no_column;

constexpr unsigned threads = 256;
constexpr int batch = 4;  // slots of a row whose loads are on their way together

constexpr std::array<std::string_view, 5> check_names{
    {"col_idx: a column is not below the part's columns", "col_idx: columns do not rise within a row",
     "col_idx: an entry after padding", "values: padding with a value",
     "the entries are not as many, or the longest row not as long, as the part table says"}};

/// A part's arrays in device memory. Slot `step` of row r is element step * rows + r.
template <class A>
struct Slots {
  const std::uint32_t* col_idx;
  const A* values;
  std::uint64_t rows, width;
};

template <class A>
Slots<A> slots_of(const PartView& part) {
  return {part.get<std::uint32_t>("col_idx").data(), part.get<A>("values").data(), part.rows(),
          part.info().params[spmvpack::layouts::ell::param_width]};
}

/// Counts the entries, and whether a row has the whole width.
template <class A>
__global__ void check_kernel(Slots<A> s, std::uint64_t cols, std::uint32_t* errors, unsigned long long* entries,
                             std::uint32_t* full) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < s.rows; r += stride) {
    bool ended = false;
    std::uint32_t before = 0;
    for (std::uint64_t step = 0; step < s.width; ++step) {
      const std::uint64_t slot = step * s.rows + r;
      const std::uint32_t column = s.col_idx[slot];
      if (column == no_column) {
        ended = true;
        bits_of<A> bits = 0;
        memcpy(&bits, s.values + slot, sizeof bits);
        if (bits != 0) found |= 8U;
        continue;
      }
      ++count;
      if (column >= cols) found |= 1U;
      if (step != 0 && column <= before) found |= 2U;
      if (ended) found |= 4U;
      before = column;
    }
    if (!ended) atomicOr(full, 1U);
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
}

__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t nnz, const std::uint32_t* full,
                                    bool needs_full, std::uint32_t* errors) {
  if (*entries != nnz || (needs_full && *full == 0)) atomicOr(errors, 16U);
}

void check(const PartView& part, std::uint32_t* errors, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  std::uint32_t* const full = errors + 1;
  const std::uint64_t width = part.info().params[spmvpack::layouts::ell::param_width];
  if (part.rows() != 0 && width != 0)
    dispatch(part.info().value_type, [&]<class A>(A) {
      launch(check_kernel<A>, stride_blocks(part.rows(), tuning::check_threads), tuning::check_threads, stream,
             slots_of<A>(part), part.cols(), errors, entries, full);
    });
  launch(check_totals_kernel, 1, 1, stream, entries, part.info().nnz, full, width != 0, errors);
}

template <class A, class V>
__global__ void __launch_bounds__(threads) rows_kernel(Slots<A> s, DeviceScalar<V> alpha_in, const V* __restrict__ x,
                                                       DeviceScalar<V> beta_in, V* y, RowMap map) {
  const std::uint64_t row = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (row >= s.rows) return;
  const V alpha = alpha_in.get(), beta = beta_in.get();
  V* const at = y + map(row);
  V sum = 0;
  bool empty = true;
  const std::uint64_t slots = alpha != V{0} ? s.rows * s.width : 0;
  for (std::uint64_t slot = row; slot < slots;) {
    std::uint32_t column[batch];
    V value[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i, slot += s.rows) {
      column[i] = slot < slots ? __ldcs(s.col_idx + slot) : no_column;
      // Padding's value is loaded with the others: waiting to know that it is padding would cost more.
      value[i] = slot < slots ? static_cast<V>(__ldcs(s.values + slot)) : V{0};
    }
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (column[i] != no_column) {
        sum = fma(value[i], __ldg(x + column[i]), sum);
        empty = false;
      }
    if (column[batch - 1] == no_column) break;
  }
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  if (view.rows() == 0) return;
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    launch(rows_kernel<A, V>, blocks_for(view.rows(), threads), threads, call.stream, slots_of<A>(view),
           device_scalar<V>(call.alpha), static_cast<const V*>(call.x), device_scalar<V>(call.beta),
           static_cast<V*>(call.y), RowMap{call.row_list});
  });
}

}  // namespace

const LayoutKernels ell{.check_names = check_names, .check = check, .multiply = multiply};

}  // namespace spmvpack::gpu_loader::layouts
