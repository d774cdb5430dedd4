// Layout `pjds`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "pjds/rows", .layout = "pjds"}};

}  // namespace

const KernelTable pjds{.layout = "pjds", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
