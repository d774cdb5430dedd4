// Layout `csr`: its kernel table and default kernel, which need no device.

#include "spmvpack/container/layouts/csr.hpp"

#include <array>

#include "kernels/chunks.hpp"
#include "layouts/csr/kernels.hpp"
#include "layouts/csr/partition.hpp"
#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader::tables {
namespace {

using namespace layouts::csr_kernels;

constexpr std::array kernels{
    KernelInfo{.name = "csr/ipcsr", .layout = "csr", .prepared = true},
    KernelInfo{.name = "csr/vector", .layout = "csr"},
    KernelInfo{.name = "csr/scalar", .layout = "csr"},
    KernelInfo{.name = "csr/pcsr", .layout = "csr"},
    KernelInfo{.name = "csr/merge", .layout = "csr"},
};

std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors) {
  if (kernel == pcsr) return checked_mul(part.nnz, size_of(vectors), "workspace bytes");
  if (kernel == merge) return balanced::workspace_bytes(part.nnz, vectors);
  return 0;
}

std::size_t default_kernel(const PartInfo& part) {
  return is_very_long_row(part.params[spmvpack::layouts::csr::param_longest_row], part.nnz) ? merge : ipcsr;
}

}  // namespace

const KernelTable csr{
    .layout = "csr", .kernels = kernels, .workspace_bytes = workspace, .default_kernel = default_kernel};

}  // namespace spmvpack::gpu_loader::tables
