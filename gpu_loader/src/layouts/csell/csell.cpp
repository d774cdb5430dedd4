// Layout `csell`: its kernel table, which needs no device.

#include "spmvpack/container/layouts/csell.hpp"

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "csell/slices", .layout = "csell"}};

}  // namespace

const KernelTable csell{.layout = "csell", .kernels = kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
