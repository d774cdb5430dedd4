// Layout `ell`: its kernel table, which needs no device.

#include <array>

#include "layouts/ell/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace ell_tables {
namespace {

constexpr std::array kernels{
    KernelInfo{.name = "ell/rows", .layout = "ell"},
    KernelInfo{.name = "ell/padded", .layout = "ell"},
};

/// `padded` multiplies what padding it reads, which is what it is for: by one column.
std::uint64_t row_major(const PartInfo& /*part*/, std::size_t kernel) {
  return kernel == layouts::ell_kernels::padded ? 0 : launch_rules::columns::most;
}

}  // namespace
}  // namespace ell_tables

const KernelTable ell{.layout = "ell",
                      .kernels = ell_tables::kernels,
                      .workspace_bytes = no_workspace,
                      .row_major_columns = ell_tables::row_major};

}  // namespace spmvpack::gpu_loader::tables
