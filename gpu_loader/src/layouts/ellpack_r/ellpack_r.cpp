// Layout `ellpack_r`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "ellpack_r/rows", .layout = "ellpack_r"}};

}  // namespace

const KernelTable ellpack_r{.layout = "ellpack_r", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
