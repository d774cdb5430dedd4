// Layout `sell` on the GPU.

#include "kernels/padded_rows.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/container/layouts/sell_check.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace sell_kernels {
namespace {

using namespace spmvpack::layouts::sell;
using spmvpack::layouts::SellGeometry;

constexpr auto names =
    padded_rows::check_names("slice_ptr: it does not start at 0, falls, or does not end at the steps",
                             "slice_ptr: a slice has more steps than its longest row");

__global__ void check_slices_kernel(SellGeometry geometry, std::uint64_t slices, std::uint64_t steps,
                                    std::uint32_t* errors) {
  std::uint32_t found = first_item() == 0 ? check_ends(geometry, slices, steps) : sound;
  for (std::uint64_t s = first_item(); s < slices; s += stride()) found |= check_slice(geometry, s);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

__global__ void check_steps_kernel(SellGeometry geometry, const std::uint32_t* col_idx, std::uint64_t slices,
                                   std::uint32_t* errors) {
  if ((*errors & padded_rows::bad_geometry) != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t s = first_item(); s < slices; s += stride()) found |= check_steps(geometry, col_idx, s);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  const SellGeometry g = geometry(part);
  const std::uint64_t slices = slices_of(part.info());
  launch_check(check_slices_kernel, slices + 1, stream, g, slices, steps_of(part.info()), errors);
  padded_rows::check(part, g, slices * g.slice_rows, padded_rows::any_length, errors, stream);
  launch_check(check_steps_kernel, slices + 1, stream, g, part.get<std::uint32_t>("col_idx").data(), slices, errors);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call, call.row_list != nullptr);
}

}  // namespace
}  // namespace sell_kernels

const LayoutKernels sell{
    .check_names = sell_kernels::names, .check = sell_kernels::check, .multiply = sell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
