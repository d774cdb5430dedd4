// Layout `sell`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "sell/rows", .layout = "sell"}};

}  // namespace

const KernelTable sell{.layout = "sell", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
