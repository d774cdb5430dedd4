// The kernel tables, which need no device, of layouts that have one kernel and no workspace.

#include <array>

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

constexpr std::array kernels{
    KernelInfo{.name = "csell/slices", .layout = "csell"},       KernelInfo{.name = "dia/rows", .layout = "dia"},
    KernelInfo{.name = "ellpack_r/rows", .layout = "ellpack_r"}, KernelInfo{.name = "pjds/rows", .layout = "pjds"},
    KernelInfo{.name = "pkt/packets", .layout = "pkt"},          KernelInfo{.name = "sell/rows", .layout = "sell"},
    KernelInfo{.name = "sjds/lanes", .layout = "sjds"}};

constexpr KernelTable table_of(const KernelInfo& kernel) {
  return {.layout = kernel.layout, .kernels = {&kernel, 1}, .workspace_bytes = no_workspace};
}
constexpr KernelTable with_columns(KernelTable table) {
  table.row_major_columns = many_columns;
  return table;
}

}  // namespace

const KernelTable csell = with_columns(table_of(kernels[0])), dia = table_of(kernels[1]),
                  ellpack_r = with_columns(table_of(kernels[2])), pjds = with_columns(table_of(kernels[3])),
                  pkt = table_of(kernels[4]), sell = with_columns(table_of(kernels[5])), sjds = table_of(kernels[6]);

}  // namespace spmvpack::gpu_loader::tables
