// Layout `ell` on the GPU.

#include "kernels/padded_rows.cuh"
#include "spmvpack/container/layouts/ell.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace ell_kernels {
namespace {

using spmvpack::layouts::ell::geometry;

constexpr auto names = padded_rows::check_names("", "");

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  padded_rows::check(part, geometry(part), part.rows(), spmvpack::layouts::ell::width_of(part), errors, stream);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call);
}

}  // namespace
}  // namespace ell_kernels

const LayoutKernels ell{
    .check_names = ell_kernels::names, .check = ell_kernels::check, .multiply = ell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
