// Layout `bitflag`: its kernel table, which needs no device.

#include "spmvpack/container/layouts/bitflag.hpp"

#include <array>

#include "layouts/bitflag/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace bitflag_tables {
namespace {

using namespace spmvpack::layouts::bitflag;

constexpr std::array kernels{KernelInfo{.name = "bitflag/tiles", .layout = "bitflag"}};

/// Segments, of which every column would need a copy of its own, are multiplied by one.
std::uint64_t row_major(const PartInfo& part, std::size_t /*kernel*/) {
  return segments_of(part) > 1 ? 0 : launch_rules::columns::of_bitflag;
}

/// Of one column: the hot elements of x or the sums of segments, and two sums for each tile if tiles share rows. Of
/// several: these two for each.
std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t columns) {
  const std::uint64_t tiles = part.params[param_continued] == 0 ? 0 : chunks_of(part) / part.params[param_tile_chunks];
  if (columns > 1 && row_major(part, kernel) > 1)
    return checked_mul(tiles * 2 * size_of(vectors), columns, "workspace bytes");
  return layouts::bitflag_kernels::near_workspace(part, vectors) + tiles * 2 * size_of(vectors);
}

}  // namespace
}  // namespace bitflag_tables

const KernelTable bitflag{.layout = "bitflag",
                          .kernels = bitflag_tables::kernels,
                          .workspace_bytes = bitflag_tables::workspace,
                          .row_major_columns = bitflag_tables::row_major};

}  // namespace spmvpack::gpu_loader::tables
