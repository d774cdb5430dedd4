// Layout `ell`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "ell/rows", .layout = "ell"}};

}  // namespace

const KernelTable ell{.layout = "ell", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
