// Layout `coo`: its kernel table, which needs no device.

#include <array>

#include "kernels/chunks.hpp"
#include "layouts/coo/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace coo_tables {
namespace {

constexpr std::array kernels{
    KernelInfo{.name = "coo/balanced", .layout = "coo"},
    KernelInfo{.name = "coo/atomic", .layout = "coo", .determinism = Determinism::not_guaranteed},
    KernelInfo{.name = "coo/scan", .layout = "coo", .determinism = Determinism::not_guaranteed},
};

std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t /*columns*/) {
  if (kernel != layouts::coo_kernels::balanced) return 0;
  return balanced::workspace_bytes(part.nnz, vectors, true);
}

}  // namespace
}  // namespace coo_tables

const KernelTable coo{.layout = "coo", .kernels = coo_tables::kernels, .workspace_bytes = coo_tables::workspace};

}  // namespace spmvpack::gpu_loader::tables
