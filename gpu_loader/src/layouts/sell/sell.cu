// Layout `sell` on the GPU.

#include "kernels/padded_rows.cuh"
#include "spmvpack/container/layouts/sell.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace sell_kernels {
namespace {

using spmvpack::layouts::SellGeometry;
using spmvpack::layouts::sell::geometry;

constexpr auto names =
    padded_rows::check_names("slice_ptr: it does not start at 0, falls, or does not end at the steps",
                             "slice_ptr: a slice has more steps than its longest row");

__global__ void check_slices_kernel(const std::uint32_t* slice_ptr, std::uint64_t slices, std::uint64_t steps,
                                    std::uint32_t* errors) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  bool found = first == 0 && (slice_ptr[0] != 0 || slice_ptr[slices] != steps);
  for (std::uint64_t s = first; s < slices; s += stride) found = found || slice_ptr[s] > slice_ptr[s + 1];
  if (found) atomicOr(errors, padded_rows::bad_geometry);
}

/// The last step of each slice holds an entry.
__global__ void check_widths_kernel(SellGeometry geometry, const std::uint32_t* col_idx, std::uint64_t slices,
                                    std::uint32_t* errors) {
  if ((*errors & padded_rows::bad_geometry) != 0) return;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t s = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; s < slices; s += stride) {
    const auto row = geometry(s * geometry.slice_rows);
    bool found = row.width == 0;
    for (std::uint64_t lane = 0; lane < geometry.slice_rows && !found; ++lane)
      found = col_idx[row.slot(row.width - 1) + lane] != spmvpack::layouts::no_column;
    if (!found) atomicOr(errors, padded_rows::own);
  }
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  using namespace spmvpack::layouts::sell;
  const std::uint64_t slices = slices_of(part.info());
  const unsigned blocks = stride_blocks(slices + 1, tuning::check_threads);
  launch(check_slices_kernel, blocks, tuning::check_threads, stream, geometry(part).slice_ptr, slices,
         steps_of(part.info()), errors);
  padded_rows::check(part, geometry(part), slices * part.info().params[param_slice_rows], padded_rows::any_length,
                     errors, stream);
  launch(check_widths_kernel, blocks, tuning::check_threads, stream, geometry(part),
         part.get<std::uint32_t>("col_idx").data(), slices, errors);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call);
}

}  // namespace
}  // namespace sell_kernels

const LayoutKernels sell{
    .check_names = sell_kernels::names, .check = sell_kernels::check, .multiply = sell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
