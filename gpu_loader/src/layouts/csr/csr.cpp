// Layout `csr`: its kernel table and default kernel, which need no device.

#include "spmvpack/container/layouts/csr.hpp"

#include <array>

#include "kernels/chunks.hpp"
#include "layouts/csr/kernels.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace csr_tables {
namespace {

using namespace layouts::csr_kernels;

constexpr std::array kernels{
    KernelInfo{.name = "csr/ipcsr", .layout = "csr", .prepared = true},
    KernelInfo{.name = "csr/vector", .layout = "csr"},
    KernelInfo{.name = "csr/scalar", .layout = "csr"},
    KernelInfo{.name = "csr/pcsr", .layout = "csr"},
    KernelInfo{.name = "csr/merge", .layout = "csr", .prepared = true},
    KernelInfo{.name = "csr/long", .layout = "csr"},
    KernelInfo{.name = "csr/vector32", .layout = "csr"},
    KernelInfo{.name = "csr/ipcsr_printed", .layout = "csr", .prepared = true},
};

std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t /*columns*/) {
  if (kernel == pcsr) return checked_mul(part.nnz, size_of(vectors), "workspace bytes");
  if (kernel == long_rows)
    return checked_mul(
        part.rows.count,
        LongRows::blocks(part.rows.count, part.params[spmvpack::layouts::csr::param_longest_row], part.nnz) *
            size_of(vectors),
        "workspace bytes of csr/long");
  if (kernel == merge) return balanced::workspace_bytes(part.nnz, vectors, false);
  return 0;
}

std::uint64_t row_major(const PartInfo& /*part*/, std::size_t kernel) {
  return launch_rules::columns::of_csr(static_cast<launch_rules::csr::Kernel>(kernel));
}

std::size_t default_of(const PartInfo& part) {
  return launch_rules::csr::default_kernel(part.rows.count, part.params[spmvpack::layouts::csr::param_longest_row],
                                           part.nnz);
}

}  // namespace
}  // namespace csr_tables

const KernelTable csr{.layout = "csr",
                      .kernels = csr_tables::kernels,
                      .workspace_bytes = csr_tables::workspace,
                      .row_major_columns = csr_tables::row_major,
                      .default_kernel = csr_tables::default_of};

}  // namespace spmvpack::gpu_loader::tables
