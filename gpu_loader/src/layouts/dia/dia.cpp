// Layout `dia`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "dia/rows", .layout = "dia"}};

}  // namespace

const KernelTable dia{.layout = "dia", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
