// Layout `ell`: its kernel table, which needs no device.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace ell_tables {
namespace {

constexpr std::array kernels{
    KernelInfo{.name = "ell/rows", .layout = "ell"},
    KernelInfo{.name = "ell/padded", .layout = "ell"},
};

}  // namespace
}  // namespace ell_tables

const KernelTable ell{.layout = "ell", .kernels = ell_tables::kernels, .workspace_bytes = no_workspace};

}  // namespace spmvpack::gpu_loader::tables
