// Layout `amb`: its kernel table, which needs no device.

#include "spmvpack/container/layouts/amb.hpp"

#include <array>

#include "layouts/amb/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace amb_tables {
namespace {

constexpr KernelInfo adds_atomically(std::string_view name) {
  return {.name = name, .layout = "amb", .determinism = Determinism::not_guaranteed};
}

constexpr std::array kernels{
    KernelInfo{.name = "amb/ordered", .layout = "amb", .prepared = true},
    adds_atomically("amb/atomic"),
    adds_atomically("amb/atomic32"),
    adds_atomically("amb/atomic64"),
    adds_atomically("amb/atomic128"),
    adds_atomically("amb/atomic512"),
};

/// `ordered`: the partial sums, or as many as there are lanes. Of more segments, only load finds that no row has many
/// lanes; the workspace is then not used.
std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t /*columns*/) {
  if (kernel != layouts::amb_kernels::ordered || layouts::amb_kernels::has_few_segments(part)) return 0;
  return checked_mul(layouts::amb_kernels::partials_by_lane(part) ? spmvpack::layouts::amb::lanes_of(part)
                                                                  : spmvpack::layouts::amb::shared_of(part),
                     size_of(vectors), "workspace bytes");
}

}  // namespace
}  // namespace amb_tables

const KernelTable amb{.layout = "amb", .kernels = amb_tables::kernels, .workspace_bytes = amb_tables::workspace};

}  // namespace spmvpack::gpu_loader::tables
