// Layout `ccoo`: its kernel table, which needs no device.

#include "spmvpack/container/layouts/ccoo.hpp"

#include <array>

#include "layouts/ccoo/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace ccoo_tables {
namespace {

constexpr std::array kernels{
    KernelInfo{.name = "ccoo/ordered", .layout = "ccoo"},
    KernelInfo{.name = "ccoo/atomic", .layout = "ccoo", .determinism = Determinism::not_guaranteed},
};

/// `ordered`: two sums of the vectors' type for each chunk.
std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t /*columns*/) {
  if (kernel == layouts::ccoo_kernels::atomic) return 0;
  return checked_mul(spmvpack::layouts::ccoo::chunks_of(part), 2 * size_of(vectors), "workspace bytes");
}

}  // namespace
}  // namespace ccoo_tables

const KernelTable ccoo{.layout = "ccoo", .kernels = ccoo_tables::kernels, .workspace_bytes = ccoo_tables::workspace};

}  // namespace spmvpack::gpu_loader::tables
