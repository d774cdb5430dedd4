#include <array>

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {
namespace {

// In the order of kernel_tables().
#define SPMVPACK_POINTER(name) &layouts::name,
constexpr std::array layouts_on_device{SPMVPACK_GPU_LAYOUTS(SPMVPACK_POINTER)};
#undef SPMVPACK_POINTER

}  // namespace

const LayoutKernels& layout_kernels(std::size_t layout) { return *layouts_on_device[layout]; }

}  // namespace spmvpack::gpu_loader
