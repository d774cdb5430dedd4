// Layout `ellpack_r` on the GPU: listing 1 of Kreutzer et al.

#include "kernels/padded_rows.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace ellpack_r_kernels {
namespace {

using spmvpack::layouts::ellpack_r::geometry;

constexpr auto names = padded_rows::check_names("", "row_len: a row does not have so many entries");

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  padded_rows::check(part, spmvpack::layouts::ell::geometry(part), part.rows(),
                     spmvpack::layouts::ellpack_r::width_of(part), errors, stream, nullptr, geometry(part).row_len);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call, false);
}

}  // namespace
}  // namespace ellpack_r_kernels

const LayoutKernels ellpack_r{.check_names = ellpack_r_kernels::names,
                              .check = ellpack_r_kernels::check,
                              .multiply = ellpack_r_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
