// The kernel tables, which need no device, of layouts that have one kernel and no workspace.

#include <array>

#include "layouts/kernel_table.hpp"
#include "spmvpack/container/layouts/csell.hpp"

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
constexpr KernelTable with_columns(KernelTable table,
                                   std::uint64_t (*columns)(const PartInfo&, std::size_t) = many_columns) {
  table.row_major_columns = columns;
  return table;
}
/// The values of mirrors are where only a single column's lanes find them side by side.
std::uint64_t unless_mirrors(const PartInfo& part, std::size_t kernel) {
  using namespace spmvpack::layouts::csell;
  return has_mirrors(source_of(part)) ? 0 : many_columns(part, kernel);
}

}  // namespace

const KernelTable csell = with_columns(table_of(kernels[0]), unless_mirrors), dia = table_of(kernels[1]),
                  ellpack_r = with_columns(table_of(kernels[2])), pjds = with_columns(table_of(kernels[3])),
                  pkt = table_of(kernels[4]), sell = with_columns(table_of(kernels[5])), sjds = table_of(kernels[6]);

}  // namespace spmvpack::gpu_loader::tables
