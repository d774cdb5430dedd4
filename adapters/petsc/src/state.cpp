#include "state.hpp"

#include <fmt/format.h>

#include <exception>
#include <span>

#include "errors.hpp"
#include "spmvpack/container/text.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

/// What the matrix holds now. Of a matrix on a GPU, whose arrays are there, this is where device CSR would come from.
PetscErrorCode read_contents(Mat a, Contents* contents) {
  PetscMemType place = PETSC_MEMTYPE_HOST;
  PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &contents->state));
  PetscCall(MatGetNonzeroState(a, &contents->pattern));
  PetscCall(MatSeqAIJGetCSRAndMemType(a, &contents->row_ptr, &contents->col_idx, &values, &place));
  PetscCheck(PetscMemTypeHost(place), PETSC_COMM_SELF, PETSC_ERR_SUP, "spmvpack: the matrix is not in host memory");
  contents->values = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

CsrView view_of(const State& state) {
  const auto rows = static_cast<std::size_t>(state.rows), nnz = static_cast<std::size_t>(state.nnz);
  return {rows, static_cast<std::uint64_t>(state.cols), std::span(state.contents.row_ptr, rows + 1),
          std::span(state.contents.col_idx, nnz), std::span(state.contents.values, nnz)};
}

/// Encodes A, or A^T, or finds that it is to stay on AIJ.
PetscErrorCode decide(Mat a, State& state, Operator& op) {
  PetscLogDouble start = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(events.encode, a, 0, 0, 0));
  PetscCall(PetscTime(&start));
  op.decided = true;
  std::string failure;
  try {
    const CsrView view = view_of(state);
    op.encoding = &op == &state.a ? encode(view, state.options.encoding)
                                  : encode(transposed(view, state.options.encoding.threads), state.options.encoding);
  } catch (const std::exception& e) {
    failure = e.what();
    op.encoding = {};
    op.encoding.reason = failure;
  }
  PetscCall(PetscTime(&end));
  op.encode_seconds += end - start;
  PetscCall(PetscLogEventEnd(events.encode, a, 0, 0, 0));
  if (!failure.empty())
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvpack: a matrix stays on AIJ: %s\n", failure.c_str()));
  PetscCall(PetscInfo(a, "spmvpack: %s", description_of(state).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string line_of(const Operator& op, const char* name) {
  if (!op.decided && op.multiplies == 0) return {};
  if (!op.encoding.matrix)
    return fmt::format("{} on AIJ{}{}", name, op.encoding.reason.empty() ? "" : ": ", op.encoding.reason);
  const auto share = static_cast<double>(op.encoding.bytes) / static_cast<double>(op.encoding.csr_bytes);
  return fmt::format("{} in {}, {} bytes ({} of AIJ's){}{}; encoded in {}, {} in {}", name, op.encoding.layout,
                     grouped(op.encoding.bytes), percent_text(share), op.encoding.reason.empty() ? "" : ": ",
                     op.encoding.reason, time_text(op.encode_seconds),
                     counted(static_cast<std::uint64_t>(op.multiplies), "multiply", "multiplies"),
                     time_text(op.multiply_seconds));
}

}  // namespace

PetscErrorCode update(Mat a, State& state) {
  Contents now;
  PetscFunctionBegin;
  PetscCall(read_contents(a, &now));
  if (now == state.contents) PetscFunctionReturn(PETSC_SUCCESS);
  // Here, and here alone, new values in an old pattern could be put in their places. They are encoded anew.
  if (state.a.decided || state.transpose.decided) {
    ++state.changes;
    if (state.changes == state.options.max_changes + 1)
      PetscCall(PetscInfo(a, "spmvpack: has changed %" PetscInt_FMT " times and stays on AIJ\n", state.changes));
  }
  for (Operator* op : {&state.a, &state.transpose}) {
    op->multiplies_of_aij = 0;
    op->decided = false;
    op->encoding = {};
  }
  state.transpose_is_a = false;
  PetscCall(MatGetLocalSize(a, &state.rows, &state.cols));
  state.nnz = now.row_ptr == nullptr ? 0 : now.row_ptr[state.rows];
  state.contents = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_multiplier(Mat a, State& state, bool transpose, Multiplier* multiplier) {
  PetscFunctionBegin;
  *multiplier = {};
  PetscCall(update(a, state));
  if (state.nnz == 0 || state.nnz < state.options.min_nnz || state.changes > state.options.max_changes)
    PetscFunctionReturn(PETSC_SUCCESS);
  Operator* op = transpose && !state.transpose_is_a ? &state.transpose : &state.a;
  if (!op->decided) {
    if (op->multiplies_of_aij++ < state.options.after) PetscFunctionReturn(PETSC_SUCCESS);
    if (transpose) {
      PetscCall(guarded([&] {
        const Symmetry found = symmetry_of(view_of(state), state.options.encoding.threads);
        state.transpose_is_a = found != Symmetry::general;
      }));
      if (state.transpose_is_a) op = &state.a;
    }
    if (!op->decided) PetscCall(decide(a, state, *op));
  }
  if (!op->encoding.matrix) PetscFunctionReturn(PETSC_SUCCESS);
  multiplier->matrix = &*op->encoding.matrix;
  multiplier->operation = transpose && op == &state.a ? Operation::transpose : Operation::none;
  multiplier->of = op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string description_of(const State& state) {
  const std::string size =
      fmt::format("{} x {}, {} nonzeros", grouped(static_cast<std::uint64_t>(state.rows)),
                  grouped(static_cast<std::uint64_t>(state.cols)), grouped(static_cast<std::uint64_t>(state.nnz)));
  if (state.changes > state.options.max_changes)
    return fmt::format("{}: on AIJ, as it has changed {} times\n", size, state.changes);
  const std::string a = line_of(state.a, "A"), transpose = line_of(state.transpose, "A^T");
  if (a.empty() && transpose.empty()) return fmt::format("{}: on AIJ so far\n", size);
  return fmt::format("{}: {}{}{}\n", size, a, a.empty() || transpose.empty() ? "" : "; ", transpose);
}

}  // namespace spmvpack::petsc
