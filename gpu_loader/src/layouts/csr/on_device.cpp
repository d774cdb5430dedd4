// Layout `csr` on the GPU: its check, what load builds, and the choice of a multiply's kernel.

#include <array>

#include "layouts/csr/kernels.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace {

using namespace csr_kernels;

constexpr std::array<std::string_view, 5> check_names{
    {"row_ptr: it does not start at 0 or does not end at the number of nonzeros",
     "row_ptr: a row pointer falls or is past the nonzeros", "col_idx: a column is not below the part's columns",
     "col_idx: columns do not increase within a row", "the longest row is not as long as the part table says"}};

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  auto state = std::make_unique<State>();
  if (context.wants(ipcsr)) state->row_blocks = make_row_blocks(part, context, {});
  if (context.wants(ipcsr_printed)) {
    const RowBlockLimits limits = printed_limits(size_of(part.info().value_type));
    const bool same = context.wants(ipcsr) && limits.entries == RowBlockLimits{}.entries;
    state->printed_blocks = same ? state->row_blocks : make_row_blocks(part, context, limits);
  }
  const bool wants_runs = context.wants(ipcsr) || context.wants(vector) || context.wants(vector32);
  if (wants_runs &&
      looks_for_runs(part.rows(), part.info().params[spmvpack::layouts::csr::param_longest_row], part.info().nnz))
    state->runs = rows_are_runs(part, context);
  if (context.wants(merge)) state->chunk_ends = make_chunk_ends(part, context);
  return state;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  if (view.rows() == 0) return;
  const auto& state = static_cast<const State&>(*part.state);
  if (call.row_major) {
    if (call.kernel == ipcsr) return multiply_blocks_by_columns(view, state.row_blocks, call);
    return multiply_rows_by_columns(view, call,
                                    call.kernel == scalar     ? 1
                                    : call.kernel == vector32 ? 32
                                                              : lanes_per_row(view.rows(), view.info().nnz));
  }
  switch (call.kernel) {
    case vector:
      return multiply_rows(view, call, lanes_per_row(view.rows(), view.info().nnz), state.runs);
    case vector32:  // CSR-vector as Bell and Garland have it: a warp for each row
      return multiply_rows(view, call, 32, state.runs);
    case scalar:
      return multiply_rows(view, call, 1, false);
    case pcsr:
      return multiply_pcsr(view, call);
    case ipcsr:
      return multiply_ipcsr(view, state.row_blocks, call, state.runs);
    case ipcsr_printed:
      return multiply_ipcsr_printed(view, state.printed_blocks, call);
    case merge:
      return multiply_merge(view, state.chunk_ends, call);
    default:
      return multiply_long(view, call);
  }
}

}  // namespace

const LayoutKernels csr{
    .check_names = check_names, .check = csr_kernels::check, .prepare = prepare, .multiply = multiply};

}  // namespace spmvpack::gpu_loader::layouts
