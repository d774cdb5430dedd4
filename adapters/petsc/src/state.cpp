#include "state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>

#include "errors.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/host_loader/timing.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

constexpr const char* state_name = "spmvpack_state";

PetscErrorCode contents_on_host(Mat a, Contents* contents) {
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

PetscErrorCode defaults_on_host(Options* options, std::string* target) {
  PetscFunctionBegin;
  options->encoding.aim.target = encoder::Target::host;
  if (options->tune != PETSC_FALSE) options->encoding.at_most = 0.8;  // AIJ may be faster than csr, as measured, too
  PetscCall(guarded([&] { *target = "host"; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

encoder::Tuner tuner_on_host(int threads) {
  return {host_loader::processor_name(), host_loader::measure_on_host(threads)};
}

/// Calls f with the matrix as it is in host memory. Of one whose newest values are on a GPU, PETSc copies these back.
template <class F>
PetscErrorCode with_csr(Mat a, const State& state, F&& f) {
  const auto rows = static_cast<std::size_t>(state.rows), nnz = static_cast<std::size_t>(state.nnz);
  const PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayRead(a, &values));
  PetscCall(guarded([&] {
    f(CsrView(rows, static_cast<std::uint64_t>(state.cols), std::span(state.contents.row_ptr, rows + 1),
              std::span(state.contents.col_idx, nnz), std::span(values, nnz)));
  }));
  PetscCall(MatSeqAIJRestoreArrayRead(a, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode update_on_host(Mat a, const State& state, Operator& op, std::string* failure) {
  const PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayRead(a, &values));
  *failure = failure_of([&] {
    update_values(op.encoding, {values, static_cast<std::size_t>(state.nnz)}, state.options.encoding.threads);
  });
  PetscCall(MatSeqAIJRestoreArrayRead(a, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's time over csr's on a host, as measured: about 2, but for rows that have the same columns as their neighbours
/// (inodes), with which AIJ multiplies at once.
PetscErrorCode find_aij_over_csr(Mat a, double* aij_over_csr) {
  PetscInt inodes = 0;
  PetscFunctionBegin;
  PetscCall(MatInodeGetInodeSizes(a, &inodes, nullptr, nullptr));
  *aij_over_csr = inodes == 0 ? 2 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void encode_operator(const State& state, Operator& op, const CsrView& csr, double aij_over_csr) {
  EncodingOptions options = state.options.encoding;
  options.for_device = state.place->device;
  options.transpose = &op == &state.transpose;
  options.updatable = state.updatable;
  options.multiplies_per_update = static_cast<double>(std::max(op.with_values_before, op.with_contents));
  options.aij_over_csr = aij_over_csr;
  if (state.options.tune != PETSC_FALSE) options.tuner = state.place->tuner(options.threads);
  op.encoding = encode(csr, options);
  if (!op.encoding.container) return;
  op.device = state.place->load(op.encoding, options.threads);
  op.encoding.container.reset();
  op.encoding.order = {};  // the device has it
}

/// What could not be encoded, or updated, multiplies by AIJ until it changes.
PetscErrorCode leave_to_aij(const State& state, Operator& op, const std::string& failure) {
  PetscFunctionBegin;
  op.device.reset();
  op.encoding = {};
  op.encoding.reason = failure;
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvpack: a matrix stays on %s: %s\n", state.place->stays_on,
                         failure.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Encodes A, or A and A^T, where the matrix is, if there is an encoder that has the layout. What it cannot take, the
/// host does.
PetscErrorCode decide_there(Mat a, State& state, bool transpose, bool* done) {
  PetscLogDouble start = 0, end = 0;
  EncodedThere made;
  PetscFunctionBegin;
  *done = false;
  if (state.place->encode == nullptr || !state.options.on_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&start));
  PetscCall(state.place->encode(a, state, transpose, &made));
  PetscCall(PetscTime(&end));
  if (!made.failure.empty())
    PetscCall(PetscInfo(a, "spmvpack: the host encodes, as the GPU cannot: %s\n", made.failure.c_str()));
  if (made.device == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  Operator& op = state.a;
  op.encoding = std::move(made.encoding);
  op.device = std::move(made.device);
  op.decided = op.current = *done = true;
  op.encode_seconds += end - start;
  ++op.encodes;
  ++op.encodes_there;
  PetscCall(PetscInfo(a, "spmvpack: %s", description_of(state).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Encodes A, or A^T, or finds that it is to stay on AIJ.
PetscErrorCode decide(Mat a, State& state, Operator& op) {
  PetscLogDouble start = 0, end = 0;
  double aij_over_csr = 1;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(events.encode, a, 0, 0, 0));
  PetscCall(PetscTime(&start));
  op.decided = true;
  if (!state.place->device) PetscCall(find_aij_over_csr(a, &aij_over_csr));
  std::string failure;
  PetscCall(with_csr(a, state, [&](const CsrView& csr) {
    failure = failure_of([&] { encode_operator(state, op, csr, aij_over_csr); });
  }));
  PetscCall(PetscTime(&end));
  op.encode_seconds += end - start;
  PetscCall(PetscLogEventEnd(events.encode, a, 0, 0, 0));
  if (!failure.empty()) PetscCall(leave_to_aij(state, op, failure));
  op.current = true;
  if (op.encoded()) ++op.encodes;
  PetscCall(PetscInfo(a, "spmvpack: %s", description_of(state).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Gives the encoding of A, or of A^T, the values that the matrix has now.
PetscErrorCode give_values(Mat a, const State& state, Operator& op) {
  PetscLogDouble start = 0, end = 0;
  std::string failure;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(events.update, a, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(state.place->update_values(a, state, op, &failure));
  PetscCall(PetscTime(&end));
  op.update_seconds += end - start;
  PetscCall(PetscLogEventEnd(events.update, a, 0, 0, 0));
  if (!failure.empty()) PetscCall(leave_to_aij(state, op, failure));
  op.current = true;
  if (op.encoded()) ++op.updates;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// "encoded in 34.4 ms", or if values have changed, "encoded 2 times in 62 ms, updated 9 times in 12 ms". For a device
/// it says who has encoded: "encoded 3 times in 40 ms (2 times on the GPU)".
std::string history_of(const State& state, const Operator& op) {
  std::string text = "encoded ";
  if (op.encodes > 1) text += fmt::format("{} times ", op.encodes);
  text += "in " + time_text(op.encode_seconds);
  if (state.place->device) {
    if (op.encodes_there == 0 || op.encodes_there == op.encodes)
      text += op.encodes_there == 0 ? " (on the host)" : " (on the GPU)";
    else
      text += fmt::format(" ({} on the GPU)", counted(static_cast<std::uint64_t>(op.encodes_there), "time"));
  }
  if (op.updates == 0) return text;
  text += ", updated " + counted(static_cast<std::uint64_t>(op.updates), "time");
  // Nobody waits for those of a device.
  return state.place->device ? text : text + " in " + time_text(op.update_seconds);
}

std::string line_of(const State& state, const Operator& op, const char* name) {
  if (!op.decided && op.multiplies == 0) return {};
  const std::string why = op.encoding.reason.empty() ? "" : ": " + op.encoding.reason;
  if (!op.encoded()) return fmt::format("{} on {}{}", name, state.place->stays_on, why);
  const auto share = static_cast<double>(op.encoding.bytes) / static_cast<double>(op.encoding.csr_bytes);
  std::string line = fmt::format("{} in {}, {} bytes ({} of AIJ's){}; {}, {}", name, op.encoding.layout,
                                 grouped(op.encoding.bytes), percent_text(share), why, history_of(state, op),
                                 counted(static_cast<std::uint64_t>(op.multiplies), "multiply", "multiplies"));
  if (!state.place->device) line += " in " + time_text(op.multiply_seconds);
  return line;
}

PetscErrorCode delete_state(State* state) {
  PetscFunctionBegin;
  const bool multiplied = state->contents.row_ptr != nullptr;
  if (state->options.view != PETSC_FALSE && multiplied && state->nnz >= state->options.min_nnz) {
    int rank = 0;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    std::string text;
    PetscCall(guarded([&] { text = description_of(*state); }));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] spmvpack: %s", rank, text.c_str()));
  }
  delete state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

const Place on_host{"AIJ", false, contents_on_host, defaults_on_host, tuner_on_host, nullptr, update_on_host};

PetscErrorCode get_functions(Mat a, Functions* f) {
  PetscFunctionBegin;
  PetscCall(get_operation(a, MATOP_MULT, &f->mult));
  PetscCall(get_operation(a, MATOP_MULT_ADD, &f->mult_add));
  PetscCall(get_operation(a, MATOP_MULT_TRANSPOSE, &f->mult_transpose));
  PetscCall(get_operation(a, MATOP_MULT_TRANSPOSE_ADD, &f->mult_transpose_add));
  PetscCall(get_operation(a, MATOP_VIEW, &f->view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_functions(Mat a, const Functions& f) {
  PetscFunctionBegin;
  PetscCall(set_operation(a, MATOP_MULT, f.mult));
  PetscCall(set_operation(a, MATOP_MULT_ADD, f.mult_add));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE, f.mult_transpose));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE_ADD, f.mult_transpose_add));
  PetscCall(set_operation(a, MATOP_VIEW, f.view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_state(Mat a, const Place& place, const Functions& aij, State** made) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscContainer container = nullptr;
  State* state = nullptr;
  PetscFunctionBegin;
  PetscCall(guarded([&] { state = new State; }));
  PetscCall((make_container<State, delete_state>(state, &container)));
  PetscCall(PetscObjectCompose(object, state_name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PetscObjectGetId(object, &state->owner));
  state->place = &place;
  state->aij = aij;
  PetscCall(read_options(a, place, &state->options));
  *made = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_state(Mat a, State** state, bool* own) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscObject found = nullptr;
  PetscObjectId id = 0;
  void* pointer = nullptr;
  PetscFunctionBegin;
  *state = nullptr;
  *own = false;
  PetscCall(PetscObjectQuery(object, state_name, &found));
  if (found == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &pointer));
  *state = static_cast<State*>(pointer);
  PetscCall(PetscObjectGetId(object, &id));
  *own = (*state)->owner == id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_state(Mat a) {
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(a), state_name, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_prefix(Mat whole, Mat block) {
  const char *of_whole = nullptr, *own = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOptionsPrefix(whole, &of_whole));
  PetscCall(MatGetOptionsPrefix(block, &own));
  if (of_whole == nullptr || own != nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetOptionsPrefix(block, of_whole));
  PetscCall(remove_state(block));  // of one that was ours before
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_with_state(Mat a, State& state, PetscViewer viewer) {
  PetscBool ascii = PETSC_FALSE;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscFunctionBegin;
  PetscCall(notice_changes(a, state));
  PetscCall(state.aij.view(a, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
    std::string text;
    PetscCall(guarded([&] { text = description_of(state); }));
    PetscCall(PetscViewerASCIIPrintf(viewer, "spmvpack: %s", text.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode notice_changes(Mat a, State& state) {
  Contents now;
  PetscInt rows = 0, cols = 0;
  PetscFunctionBegin;
  PetscCall(state.place->contents(a, &now));
  if (now == state.contents) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(a, &rows, &cols));
  const PetscInt nnz = now.row_ptr == nullptr ? 0 : now.row_ptr[rows];
  const bool only_values =
      now.same_pattern(state.contents) && rows == state.rows && cols == state.cols && nnz == state.nnz;
  bool forgets = false;
  for (Operator* op : {&state.a, &state.transpose}) {
    op->with_values_before = only_values ? op->with_contents : 0;
    op->with_contents = 0;
    op->current = false;
    if (only_values && op->encoding.updatable) continue;
    forgets = forgets || op->decided;
    op->decided = false;
    op->encoding = {};
    op->device.reset();
  }
  if (forgets) {
    ++state.changes;
    if (state.changes == state.options.max_changes + 1)
      PetscCall(PetscInfo(a, "spmvpack: has changed %" PetscInt_FMT " times and stays on %s\n", state.changes,
                          state.place->stays_on));
  }
  state.updatable = state.updatable || (only_values && forgets);
  state.transpose_is_a = false;
  state.rows = rows;
  state.cols = cols;
  state.nnz = nnz;
  state.contents = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_multiplier(Mat a, State& state, bool transpose, Multiplier* multiplier, PetscInt columns) {
  PetscFunctionBegin;
  *multiplier = {};
  PetscCall(notice_changes(a, state));
  if (state.nnz == 0 || state.nnz < state.options.min_nnz || state.changes > state.options.max_changes)
    PetscFunctionReturn(PETSC_SUCCESS);
  const bool by_a = !transpose || state.transpose_is_a || state.a.encoding.with_transpose;
  Operator* op = by_a ? &state.a : &state.transpose;
  // AIJ comes first, unless the values before have been multiplied with often enough.
  const PetscInt64 multiplies = std::max(op->with_values_before, op->with_contents);
  const bool waits = multiplies < state.options.after;
  // More multiplies than what has been decided for: once, as it pays then.
  if (op->decided && op->encoding.pays_from > 0 && static_cast<double>(multiplies) >= op->encoding.pays_from + 1)
    op->decided = false;
  op->with_contents += columns;
  if (waits && !(op->decided && op->current)) PetscFunctionReturn(PETSC_SUCCESS);
  bool there = false;
  if (!op->decided) PetscCall(decide_there(a, state, transpose, &there));
  if (there) op = &state.a;
  if (!op->decided) {
    // Of values that change, it is not said that A^T is A.
    if (transpose && !state.updatable) {
      PetscCall(with_csr(a, state, [&](const CsrView& csr) {
        state.transpose_is_a = symmetry_of(csr, state.options.encoding.threads) != Symmetry::general;
      }));
      if (state.transpose_is_a) op = &state.a;
    }
    if (!op->decided) PetscCall(decide(a, state, *op));
  }
  if (op->encoded() && !op->current) PetscCall(give_values(a, state, *op));
  if (!op->encoded()) PetscFunctionReturn(PETSC_SUCCESS);
  multiplier->device = op->device.get();
  if (op->encoding.matrix) multiplier->matrix = &*op->encoding.matrix;
  multiplier->operation = transpose && op == &state.a ? Operation::transpose : Operation::none;
  multiplier->of = op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string description_of(const State& state) {
  const std::string size =
      fmt::format("{} x {}, {} nonzeros", grouped(static_cast<std::uint64_t>(state.rows)),
                  grouped(static_cast<std::uint64_t>(state.cols)), grouped(static_cast<std::uint64_t>(state.nnz)));
  if (state.changes > state.options.max_changes)
    return fmt::format("{}: on {}, as it has changed {} times\n", size, state.place->stays_on, state.changes);
  const std::string a = line_of(state, state.a, state.a.encoding.with_transpose ? "A and A^T" : "A"),
                    transpose = line_of(state, state.transpose, "A^T");
  if (a.empty() && transpose.empty()) return fmt::format("{}: on {} so far\n", size, state.place->stays_on);
  return fmt::format("{}: {}{}{}\n", size, a, a.empty() || transpose.empty() ? "" : "; ", transpose);
}

}  // namespace spmvpack::petsc
