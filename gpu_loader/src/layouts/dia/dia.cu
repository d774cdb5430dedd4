// Layout `dia` on the GPU: a thread per row (Bell, Garland: NVR-2008-004, section 4.1).

#include <array>

#include "kernels/checks.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/tuning.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/dia_check.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace dia_kernels {
namespace {

using namespace spmvpack::layouts::dia;

constexpr unsigned threads = 256;
constexpr int batch = 4;  // diagonals whose loads are on their way together

constexpr std::uint32_t bad_totals = 1U << 2;
constexpr std::array<std::string_view, 3> check_names{
    {"offsets: a diagonal outside the matrix, or not after the one before it", "values: a value without a column",
     "the entries are not as many as the part table says"}};

template <class A>
struct Diagonals : View {
  const A* values;
};

template <class A>
Diagonals<A> diagonals_of(const PartView& part) {
  return {spmvpack::layouts::dia::view(part), part.get<A>("values").data()};
}

__global__ void check_diagonals_kernel(View d, std::uint32_t* errors) {
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < d.count; i += stride()) found |= check_diagonal(d, i);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

template <class A>
__global__ void check_values_kernel(Diagonals<A> d, std::uint32_t* errors, unsigned long long* entries) {
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t slot = first_item(); slot < d.count * d.rows; slot += stride()) {
    bits_of<A> bits = 0;
    memcpy(&bits, d.values + slot, sizeof bits);
    if (bits == 0) continue;
    ++count;
    found |= check_entry(d, slot % d.rows, slot / d.rows);
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, count);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const Diagonals<A> d = diagonals_of<A>(part);
    if (d.count == 0) return;
    launch_check(check_diagonals_kernel, d.count, stream, d, errors);
    if (d.rows != 0) launch_check(check_values_kernel<A>, d.count * d.rows, stream, d, errors, entries);
  });
  // The host alone has the list of zeros that are entries.
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz - stored_zeros(part), bad_totals, errors);
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
           device_scalar<V>(call.alpha), static_cast<const V*>(call.columns.x), device_scalar<V>(call.beta),
           static_cast<V*>(call.columns.y), RowMap{call.row_list});
  });
}

}  // namespace
}  // namespace dia_kernels

const LayoutKernels dia{
    .check_names = dia_kernels::check_names, .check = dia_kernels::check, .multiply = dia_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
