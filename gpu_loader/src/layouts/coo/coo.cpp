// Layout `coo`: its kernel table, which needs no device.

#include <array>

#include "kernels/chunks.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{KernelInfo{.name = "coo/balanced", .layout = "coo"}};

std::uint64_t workspace(const PartInfo& part, std::size_t /*kernel*/, ValueType vectors) {
  return balanced::workspace_bytes(part.nnz, vectors, true);
}

}  // namespace

const KernelTable coo{.layout = "coo", .kernels = kernels, .workspace_bytes = workspace};

}  // namespace spmvpack::gpu_loader::tables
