// Layout `csr` on the GPU: its kernels by name.

#include "spmvpack/container/layouts/csr.hpp"

#include <array>

#include "layouts/csr/kernels.hpp"
#include "layouts/csr/partition.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace {

using namespace csr_kernels;

constexpr std::array<KernelInfo, 5> kernels{{
    {"ipcsr", Determinism::bitwise, true},
    {"vector"},
    {"scalar"},
    {"pcsr"},
    {"merge"},
}};
constexpr std::array<std::string_view, 4> check_names{
    {"row_ptr: it does not start at 0 or does not end at the number of nonzeros",
     "row_ptr: a row pointer falls or is past the nonzeros", "col_idx: a column is not below the part's columns",
     "col_idx: columns do not increase within a row"}};

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  return !context.wants(kernels[ipcsr], true) ? nullptr : make_row_blocks(part, context);
}

std::uint64_t workspace_bytes(const DevicePart& part, std::size_t kernel, ValueType vectors) {
  const std::uint64_t nnz = part.view.info().nnz;
  if (kernel == pcsr) return spmvpack::layouts::csr::pcsr_workspace(nnz, vectors);
  if (kernel == merge) return spmvpack::layouts::csr::merge_workspace(nnz, vectors);
  return 0;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  if (view.rows() == 0) return;
  switch (call.kernel) {
    case vector:
      return multiply_rows(view, call, lanes_per_row(view.rows(), view.info().nnz));
    case scalar:
      return multiply_rows(view, call, 1);
    case pcsr:
      return multiply_pcsr(view, call);
    case ipcsr:
      return multiply_ipcsr(view, static_cast<const RowBlocksOnDevice&>(*part.state), call);
    default:
      return multiply_merge(view, call);
  }
}

std::size_t default_kernel(const DevicePart& part) {
  return spmvpack::layouts::csr::merges(part.view.info()) ? merge : ipcsr;
}

}  // namespace

const LayoutKernels csr{"csr",
                        kernels,
                        spmvpack::layouts::csr::check_shape,
                        check_names,
                        csr_kernels::check,
                        prepare,
                        workspace_bytes,
                        multiply,
                        default_kernel};

}  // namespace spmvpack::gpu_loader::layouts
