// Layout `ell` on the GPU.

#include "kernels/padded_rows.cuh"
#include "layouts/ell/kernels.hpp"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/ell.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace ell_kernels {
namespace {

using spmvpack::layouts::ell::geometry;

constexpr auto names = padded_rows::check_names("", "");

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  padded_rows::check(part, geometry(part), part.rows(), spmvpack::layouts::ell::width_of(part), errors, stream);
}

constexpr unsigned padded_threads = 256;

/// ELLPACK as it is without the lengths of rows (Kreutzer et al., figure 2, beside ELLPACK-R): a thread per row, which
/// loads all slots and multiplies all of them. What padding gives is thrown away, so that no x makes a NaN of it.
template <class A, class V>
__global__ void __launch_bounds__(padded_threads)
    padded_kernel(spmvpack::layouts::EllGeometry geometry, padded_rows::Slots<A> s, DeviceScalar<V> alpha_in,
                  const V* __restrict__ x, DeviceScalar<V> beta_in, V* y, RowMap map, ReadOnce once) {
  using spmvpack::layouts::no_column;
  const std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= geometry.rows) return;
  const auto row = geometry(r);
  const V alpha = alpha_in.get(), beta = beta_in.get();
  V sum = 0;
  bool empty = true;
  if (alpha != V{0}) {
#pragma unroll 4
    for (std::uint64_t step = 0; step < row.width; ++step) {
      const std::uint64_t slot = row.slot(step);
      const std::uint32_t column = once(s.col_idx + slot);
      const bool has = column != no_column;
      const V with = fma(static_cast<V>(once(s.values + slot)), __ldg(x + (has ? column : 0)), sum);
      sum = has ? with : sum;
      empty = empty && !has;
    }
  }
  V* const at = y + map(r);
  const V before = scaled(beta, at);
  *at = empty ? before : fma(alpha, sum, before);
}

void multiply_padded(const PartView& part, const MultiplyCall& call) {
  if (part.rows() == 0) return;
  dispatch_types(part.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    launch(padded_kernel<A, V>, blocks_for(part.rows(), padded_threads), padded_threads, call.stream, geometry(part),
           padded_rows::slots_of<A>(part), device_scalar<V>(call.alpha), static_cast<const V*>(call.columns.x),
           device_scalar<V>(call.beta), static_cast<V*>(call.columns.y), RowMap{call.row_list}, ReadOnce(call));
  });
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  if (call.kernel == padded) return multiply_padded(part.view, call);
  padded_rows::multiply(part.view, geometry(part.view), call, false);
}

}  // namespace
}  // namespace ell_kernels

const LayoutKernels ell{
    .check_names = ell_kernels::names, .check = ell_kernels::check, .multiply = ell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
