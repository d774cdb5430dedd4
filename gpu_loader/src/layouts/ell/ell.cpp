// Layout `ell`: its kernel, without a device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "ell/rows", .layout = "ell"}};

std::uint64_t workspace(const PartInfo& /*part*/, std::size_t /*kernel*/, ValueType /*vectors*/) { return 0; }

}  // namespace

const KernelTable ell{.layout = "ell", .kernels = kernels, .workspace_bytes = workspace};

}  // namespace spmvpack::gpu_loader::tables
