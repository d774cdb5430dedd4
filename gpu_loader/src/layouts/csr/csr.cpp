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
    KernelInfo{.name = "csr/merge", .layout = "csr", .prepared = true},
    KernelInfo{.name = "csr/long", .layout = "csr"},
};

std::uint64_t workspace(const PartInfo& part, std::size_t kernel, ValueType vectors) {
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

/// Where no lane has more than a few entries, the kernels without blocks are faster: `scalar` where all rows are short
/// (5 points in 4,000,000 rows 96 instead of 118 us), `vector` in small matrices (bcsstk16 7.6 instead of 10.5; H200).
std::size_t default_kernel(const PartInfo& part) {
  constexpr std::uint64_t few = 8, small = std::uint64_t{1} << 21;
  const std::uint64_t longest = part.params[spmvpack::layouts::csr::param_longest_row];
  if (are_few_long_rows(part.rows.count, longest, part.nnz)) return long_rows;
  if (is_very_long_row(longest, part.nnz)) return merge;
  if (longest <= few) return scalar;
  return part.nnz <= small && longest <= few * lanes_per_row(part.rows.count, part.nnz) ? vector : ipcsr;
}

}  // namespace

const KernelTable csr{
    .layout = "csr", .kernels = kernels, .workspace_bytes = workspace, .default_kernel = default_kernel};

}  // namespace spmvpack::gpu_loader::tables
