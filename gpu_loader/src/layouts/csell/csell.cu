// Layout `csell` on the GPU: what load finds out, and the choice of a multiply's kernel.

#include "kernels/launch.cuh"
#include "layouts/csell/kernels.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace csell_kernels {
namespace {

using namespace spmvpack::layouts::csell;

/// Sets *found if a slice is more than a pattern.
__global__ void find_offsets_kernel(const Slice* slices, std::uint64_t count, std::uint32_t* found) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t s = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; s < count; s += stride)
    if (!slices[s].is_pattern()) *found = 1;
}

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  const std::uint64_t slices = slices_of(part.info());
  if (slices == 0) return nullptr;
  const std::shared_ptr<void> memory = context.scratch(sizeof(std::uint32_t));
  auto* const found = static_cast<std::uint32_t*>(memory.get());
  require_cuda(cudaMemsetAsync(found, 0, sizeof *found, context.stream), "looking at the slices");
  launch(find_offsets_kernel, stride_blocks(slices, tuning::check_threads), tuning::check_threads, context.stream,
         reinterpret_cast<const Slice*>(part.get<std::uint32_t>("slices").data()), slices, found);
  std::uint32_t has_offsets = 0;
  require_cuda(cudaMemcpyAsync(&has_offsets, found, sizeof has_offsets, cudaMemcpyDeviceToHost, context.stream),
               "looking at the slices");
  require_cuda(cudaStreamSynchronize(context.stream), "looking at the slices");
  auto kinds = std::make_unique<SliceKinds>();
  kinds->patterns_only = has_offsets == 0;
  const Source source = source_of(part.info());
  if (source == Source::table) reserve_tables(part.info());
  if (kinds->patterns_only && (source == Source::step || source == Source::single) &&
      part.info().params[param_block] == 1 && part.info().params[param_sums] == 1)
    kinds->windows = make_windows(part, context);
  return kinds;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  if (slices_of(part.view.info()) == 0) return;
  const auto& kinds = static_cast<const SliceKinds&>(*part.state);
  if (kinds.windows != nullptr && multiply_windows(part, *kinds.windows, call)) return;
  switch (source_of(part.view.info())) {
    case Source::raw:
      return multiply_source<Source::raw>(part, call);
    case Source::table:
      return multiply_source<Source::table>(part, call);
    case Source::step:
      return multiply_source<Source::step>(part, call);
    case Source::mirror:
    case Source::skew:
      return multiply_source<Source::mirror>(part, call);
    default:
      return multiply_source<Source::single>(part, call);
  }
}

}  // namespace
}  // namespace csell_kernels

const LayoutKernels csell{.check_names = csell_kernels::check_names,
                          .check_scratch = csell_kernels::check_scratch,
                          .check = csell_kernels::check,
                          .prepare = csell_kernels::prepare,
                          .multiply = csell_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
