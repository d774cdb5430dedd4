// Layout `dia` on the GPU: a thread per row (Bell, Garland: NVR-2008-004, section 4.1).

#include <array>

#include "kernels/launch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/tuning.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/dia.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace dia_kernels {
namespace {

using spmvpack::layouts::dia::column_of;

constexpr unsigned threads = 256;
constexpr int batch = 4;  // diagonals whose loads are on their way together

constexpr std::array<std::string_view, 3> check_names{
    {"offsets: a diagonal outside the matrix, or not after the one before it", "values: a value without a column",
     "the entries are not as many as the part table says"}};

template <class A>
struct Diagonals {
  const std::uint64_t* offsets;
  const A* values;
  std::uint64_t count, rows, cols;
};

template <class A>
Diagonals<A> diagonals_of(const PartView& part) {
  const auto offsets = part.get<std::uint64_t>("offsets");
  return {offsets.data(), part.get<A>("values").data(), offsets.size(), part.rows(), part.cols()};
}

/// Works for a part without rows or columns, too, of which no diagonal is right.
template <class A>
__global__ void check_offsets_kernel(Diagonals<A> d, std::uint32_t* errors) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < d.count; i += stride)
    if (d.rows == 0 || d.cols == 0 || d.offsets[i] >= d.rows + d.cols - 1 ||
        (i != 0 && d.offsets[i] <= d.offsets[i - 1]))
      atomicOr(errors, 1U);
}

template <class A>
__global__ void check_values_kernel(Diagonals<A> d, std::uint32_t* errors, unsigned long long* entries) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t slot = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; slot < d.count * d.rows;
       slot += stride) {
    bits_of<A> bits = 0;
    memcpy(&bits, d.values + slot, sizeof bits);
    if (bits == 0) continue;
    ++count;
    if (column_of(slot % d.rows, d.offsets[slot / d.rows], d.rows) >= d.cols) found |= 2U;
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
}

/// `zeros` of the entries are in a list that only the host has.
__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t zeros, std::uint64_t nnz,
                                    std::uint32_t* errors) {
  if (*entries + zeros != nnz) atomicOr(errors, 4U);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const Diagonals<A> d = diagonals_of<A>(part);
    if (d.count == 0) return;
    launch(check_offsets_kernel<A>, stride_blocks(d.count, tuning::check_threads), tuning::check_threads, stream, d,
           errors);
    if (d.rows != 0)
      launch(check_values_kernel<A>, stride_blocks(d.count * d.rows, tuning::check_threads), tuning::check_threads,
             stream, d, errors, entries);
  });
  launch(check_totals_kernel, 1, 1, stream, entries, stored_zeros(part), part.info().nnz, errors);
}

template <class A, class V>
__global__ void __launch_bounds__(threads)
    rows_kernel(Diagonals<A> d, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y,
                RowMap map) {
  const std::uint64_t row = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (row >= d.rows) return;
  const V alpha = alpha_in.get(), beta = beta_in.get();
  V* const at = y + map(row);
  V sum = 0;
  bool empty = true;
  if (alpha != V{0})
    for (std::uint64_t first = 0; first < d.count; first += batch) {
      std::uint64_t column[batch];
      V value[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const std::uint64_t diagonal = first + i;
        column[i] = diagonal < d.count ? column_of(row, __ldg(d.offsets + diagonal), d.rows) : d.cols;
        value[i] = column[i] < d.cols ? static_cast<V>(__ldcs(d.values + diagonal * d.rows + row)) : V{0};
      }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (column[i] < d.cols) {
          sum = fma(value[i], __ldg(x + column[i]), sum);
          empty = false;
        }
    }
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  if (view.rows() == 0) return;
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    launch(rows_kernel<A, V>, blocks_for(view.rows(), threads), threads, call.stream, diagonals_of<A>(view),
           device_scalar<V>(call.alpha), static_cast<const V*>(call.x), device_scalar<V>(call.beta),
           static_cast<V*>(call.y), RowMap{call.row_list});
  });
}

}  // namespace
}  // namespace dia_kernels

const LayoutKernels dia{
    .check_names = dia_kernels::check_names, .check = dia_kernels::check, .multiply = dia_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
