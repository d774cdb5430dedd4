#include "modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <string>
#include <system_error>

#include "errors.hpp"
#include "exchange.hpp"
#include "helper.hpp"
#include "parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

constexpr const char* mode_names[] = {"vector", "naive", "task"};

/// Whether both blocks are, and multiply there.
PetscErrorCode is_on_gpu(Mat a, bool* on_gpu) {
  PetscBool is_aijcusparse = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(a), "mpiaijcusparse", &is_aijcusparse));
  *on_gpu = is_aijcusparse != PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char* parallel_state_name = "spmvpack_parallel_state";

Mode mode_of(const std::string& name) {
  const auto found = std::find(std::begin(mode_names), std::end(mode_names), name);
  if (found == std::end(mode_names))
    throw Error(errc::usage, fmt::format("-mat_spmvpack_mode {}: there is no such mode", name), {},
                "take vector, naive or task");
  return static_cast<Mode>(found - std::begin(mode_names));
}

PetscErrorCode read_options(Mat a, ModeOptions* options) {
  char name[64] = "naive";
  int provided = 0;
  bool on_gpu = false;
  PetscFunctionBegin;
  PetscCall(is_on_gpu(a, &on_gpu));
  if (on_gpu) PetscCall(PetscStrncpy(name, "task", sizeof name));
  PetscObjectOptionsBegin(reinterpret_cast<PetscObject>(a));
  PetscCall(PetscOptionsString("-mat_spmvpack_mode", "How ranks multiply together: vector, naive or task", "", name,
                               name, sizeof name, nullptr));
  PetscCall(PetscOptionsBool("-mat_spmvpack_view", "Say what became of the matrix when it is destroyed", "",
                             options->view, &options->view, nullptr));
  PetscOptionsEnd();
  PetscCallMPI(MPI_Query_thread(&provided));
  PetscCall(guarded([&] {
    options->mode = mode_of(name);
    if (options->mode == Mode::task && !on_gpu && provided < MPI_THREAD_FUNNELED)
      throw Error(errc::unsupported,
                  "-mat_spmvpack_mode task multiplies in a second thread, and MPI has been initialised for one thread",
                  {}, "call MPI_Init_thread() with MPI_THREAD_FUNNELED, or take mode naive, which gives the same bits");
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On GPUs mode task has another exchange, and ranks in different modes would wait for each other.
PetscErrorCode check_same_mode(Mat a, Mode mode) {
  bool on_gpu = false;
  const int own[2] = {static_cast<int>(mode), -static_cast<int>(mode)};
  int most[2] = {};
  PetscFunctionBegin;
  PetscCall(is_on_gpu(a, &on_gpu));
  if (!on_gpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(own, most, 2, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(a))));
  PetscCheck(most[0] == -most[1], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "spmvpack: -mat_spmvpack_mode is %s on one rank and %s on another; give all ranks the same",
             mode_names[-most[1]], mode_names[most[0]]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string description_of(const ParallelState& state) {
  const bool merged = state.options.mode == Mode::vector;
  return fmt::format("mode {}, {} of x from other ranks{}: {}; {} {}{}, exchange {}\n",
                     mode_names[static_cast<int>(state.options.mode)], counted(state.exchange.ghosts.size(), "element"),
                     state.exchange.gpu ? fmt::format(" (way {})", state.exchange.gpu->way()) : "",
                     counted(static_cast<std::uint64_t>(state.multiplies), "multiply", "multiplies"),
                     merged ? "merged" : "local", time_text(state.local_seconds),
                     merged ? "" : fmt::format(", nonlocal {}", time_text(state.nonlocal_seconds)),
                     time_text(state.exchange_seconds));
}

PetscErrorCode delete_state(ParallelState* state) {
  PetscFunctionBegin;
  if (state->options.view != PETSC_FALSE && state->multiplies != 0) {
    int rank = 0;
    std::string text;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCall(guarded([&] { text = description_of(*state); }));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] spmvpack: %s", rank, text.c_str()));
  }
  PetscCall(MatDestroy(&state->merged));
  PetscCall(destroy_exchange(&state->exchange));
  delete state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null if the matrix has none, or another's: lists of composed objects are copied with a matrix, and MatHeaderMerge()
/// exchanges the matrix under them.
PetscErrorCode find_state(Mat a, ParallelState** state) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscObject found = nullptr;
  PetscFunctionBegin;
  *state = nullptr;
  PetscCall(PetscObjectQuery(object, parallel_state_name, &found));
  if (found != nullptr) {
    void* pointer = nullptr;
    PetscObjectId id = 0;
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &pointer));
    PetscCall(PetscObjectGetId(object, &id));
    if (static_cast<ParallelState*>(pointer)->owner == id) *state = static_cast<ParallelState*>(pointer);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode parallel_state_of(Mat a, ParallelState** state) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscContainer container = nullptr;
  PetscObjectState pattern = 0;
  int ranks = 0;
  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(a, &pattern));
  PetscCall(find_state(a, state));
  if (*state != nullptr && (*state)->pattern == pattern) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded([&] { *state = new ParallelState; }));
  PetscCall((make_container<ParallelState, delete_state>(*state, &container)));
  PetscCall(PetscObjectCompose(object, parallel_state_name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PetscObjectGetId(object, &(*state)->owner));
  PetscCall(agree(a, read_options(a, &(*state)->options)));
  PetscCall(check_same_mode(a, (*state)->options.mode));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(object), &ranks));
  const bool with_own = (*state)->options.mode == Mode::vector && ranks > 1;
  PetscCall(make_exchange(a, with_own, (*state)->options.mode == Mode::task, &(*state)->exchange));
  (*state)->pattern = pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// z = block x, or block x + y: PETSc's functions check sizes of parallel vectors against the block's, so its table is
/// called, as MATMPIAIJ does.
PetscErrorCode multiply_by_block(Mat block, Vec x, Vec y, Vec z) {
  Mult* mult = nullptr;
  MultAdd* mult_add = nullptr;
  PetscFunctionBegin;
  if (y == nullptr) {
    PetscCall(get_operation(block, MATOP_MULT, &mult));
    PetscCall(mult(block, x, z));
  } else {
    PetscCall(get_operation(block, MATOP_MULT_ADD, &mult_add));
    PetscCall(mult_add(block, x, y, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode contents_of(Mat block, BlockContents* contents) {
  const auto object = reinterpret_cast<PetscObject>(block);
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(object, &contents->id));
  PetscCall(PetscObjectStateGet(object, &contents->state));
  PetscCall(MatGetNonzeroState(block, &contents->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode update_merged(Mat a, const Mat (&blocks)[2], ParallelState& state, TakeOver* take_over) {
  BlockContents now[2];
  State* before = nullptr;
  PetscBool on_gpu = PETSC_FALSE;
  bool own = false;
  PetscFunctionBegin;
  bool same = true, same_pattern = state.merged != nullptr;
  for (int k = 0; k < 2; ++k) {
    const BlockContents& then = state.merged_contents[k];
    PetscCall(contents_of(blocks[k], &now[k]));
    same = same && now[k] == then;
    same_pattern = same_pattern && now[k].id == then.id && now[k].pattern == then.pattern;
  }
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(blocks[0]), MATSEQAIJCUSPARSE, &on_gpu));
  same_pattern = same_pattern && on_gpu == PETSC_FALSE;
  Mat merged = same_pattern ? state.merged : nullptr;
  PetscCall(MatMPIAIJGetLocalMatMerge(a, same_pattern ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, nullptr, &merged));
  if (on_gpu != PETSC_FALSE) {
    // A multiply by the matrix that PETSc 3.26.1 merges on a GPU crashes: cuSPARSE takes scalars in device memory for
    // ones on the host. A copy is like any other matrix.
    Mat copy = nullptr;
    PetscCall(MatDuplicate(merged, MAT_COPY_VALUES, &copy));
    PetscCall(MatDestroy(&merged));
    merged = copy;
  }
  if (!same_pattern) {
    PetscCall(take_prefix(a, merged));
    PetscCall(take_over(merged));
    if (state.merged != nullptr) PetscCall(find_state(state.merged, &before, &own));
    if (before != nullptr && own) {
      State* after = nullptr;
      PetscCall(find_state(merged, &after, &own));
      after->changes = before->changes + (before->a.decided ? 1 : 0);
    }
    PetscCall(MatDestroy(&state.merged));
    state.merged = merged;
  }
  std::copy(std::begin(now), std::end(now), std::begin(state.merged_contents));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Everything is exchanged first; then one matrix multiplies.
PetscErrorCode multiply_merged(Mat a, const Mat (&blocks)[2], ParallelState& state, Vec x, Vec y, Vec z,
                               TakeOver* take_over) {
  Exchange& e = state.exchange;
  PetscFunctionBegin;
  PetscCall(timed(events.exchange, a, &state.exchange_seconds, [&]() -> PetscErrorCode {
    PetscCall(begin_exchange(e, x));
    PetscCall(end_exchange(e, x));
    return PETSC_SUCCESS;
  }));
  PetscCall(update_merged(a, blocks, state, take_over));
  PetscCall(
      timed(events.local, a, &state.local_seconds, [&] { return multiply_by_block(state.merged, e.received, y, z); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A multiply by the diagonal block in the helper's thread.
class HelpedMultiply {
 public:
  HelpedMultiply(Mat a, Vec x, Vec y, Vec z) : a_(a), x_(x), y_(y), z_(z) {}

  /// Begins it, if it can be done beside PETSc: the block is encoded, and everything is in host memory.
  PetscErrorCode start(Mat block, bool* started) {
    PetscMemType x_place = PETSC_MEMTYPE_HOST, y_place = PETSC_MEMTYPE_HOST, z_place = PETSC_MEMTYPE_HOST;
    PetscFunctionBegin;
    *started = false;
    PetscCall(host_state_of(block, &state_));
    if (state_ != nullptr) PetscCall(find_multiplier(block, *state_, false, &with_));
    if (with_.matrix == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecGetArrayReadAndMemType(x_, &from_, &x_place));
    if (y_ == z_)
      PetscCall(VecGetArrayAndMemType(z_, &to_, &z_place));
    else
      PetscCall(VecGetArrayWriteAndMemType(z_, &to_, &z_place));
    if (y_ != nullptr && y_ != z_) PetscCall(VecGetArrayReadAndMemType(y_, &addend_, &y_place));
    if (PetscMemTypeHost(x_place) && PetscMemTypeHost(y_place) && PetscMemTypeHost(z_place)) *started = start_thread();
    if (!*started) PetscCall(restore());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Instead of it, in this thread. What is to stay on AIJ has been counted as a multiply by start().
  PetscErrorCode here(Mat block) {
    PetscFunctionBegin;
    if (state_ == nullptr || with_.matrix != nullptr)
      PetscCall(multiply_by_block(block, x_, y_, z_));
    else if (y_ == nullptr)
      PetscCall(state_->aij.mult(block, x_, z_));
    else
      PetscCall(state_->aij.mult_add(block, x_, y_, z_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Waits for it; adds its seconds to `seconds`.
  PetscErrorCode finish(double* seconds) {
    PetscFunctionBegin;
    const PetscErrorCode error = guarded([] { finish_helper(); });
    PetscCall(restore());
    PetscCall(error);
    const double first_products = y_ == nullptr ? static_cast<double>(with_.of->encoding.filled_rows) : 0;
    PetscCall(PetscLogFlops(2.0 * state_->nnz - first_products));
    ++with_.of->multiplies;
    with_.of->multiply_seconds += seconds_;
    *seconds += seconds_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  bool start_thread() {
    if (!has_processor_for_helper()) {
      (void)PetscInfo(a_, "spmvpack: this rank has one processor alone, mode naive instead\n");
      return false;
    }
    try {
      start_helper([this] { multiply(); });
      return true;
    } catch (const std::exception& e) {
      (void)PetscInfo(a_, "spmvpack: no second thread, mode naive instead: %s\n", e.what());
      return false;
    }
  }
  void multiply() {
    const auto start = std::chrono::steady_clock::now();
    const auto m = static_cast<std::uint64_t>(state_->rows), n = static_cast<std::uint64_t>(state_->cols);
    if (addend_ != nullptr) std::copy_n(addend_, m, to_);
    with_.matrix->multiply<double>(1, {from_, n}, y_ == nullptr ? 0 : 1, DenseView<double>(to_, m),
                                   state_->options.encoding.threads, describe<double>(with_.operation));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  PetscErrorCode restore() {
    PetscFunctionBegin;
    if (addend_ != nullptr) PetscCall(VecRestoreArrayReadAndMemType(y_, &addend_));
    if (y_ == z_)
      PetscCall(VecRestoreArrayAndMemType(z_, &to_));
    else
      PetscCall(VecRestoreArrayWriteAndMemType(z_, &to_));
    PetscCall(VecRestoreArrayReadAndMemType(x_, &from_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat a_;
  Vec x_, y_, z_;
  State* state_ = nullptr;
  Multiplier with_;
  const PetscScalar *from_ = nullptr, *addend_ = nullptr;
  PetscScalar* to_ = nullptr;
  double seconds_ = 0;
};

/// Local, while others' elements are on their way: by this thread (naive), or by another while this one drives MPI. On
/// a GPU the multiply is launched, and runs while this thread drives MPI, in both modes; in mode naive this thread has
/// waited for what is sent before.
PetscErrorCode multiply_during_exchange(Mat a, Mat block, ParallelState& state, Vec x, Vec y, Vec z) {
  HelpedMultiply helped(a, x, y, z);
  bool started = false;
  PetscFunctionBegin;
  // Errors wait until the exchange has ended: others wait for it.
  PetscErrorCode error =
      timed(events.exchange, a, &state.exchange_seconds, [&] { return begin_exchange(state.exchange, x); });
  if (!state.exchange.gpu) PetscCall(error);
  if (error == PETSC_SUCCESS && state.options.mode == Mode::task) error = helped.start(block, &started);
  if (error == PETSC_SUCCESS && !started)
    error = timed(events.local, a, &state.local_seconds, [&] { return helped.here(block); });
  if (started) PetscCall(PetscLogEventBegin(events.local, a, 0, 0, 0));
  const PetscErrorCode ended =
      timed(events.exchange, a, &state.exchange_seconds, [&] { return end_exchange(state.exchange, x); });
  if (started) {
    error = helped.finish(&state.local_seconds);
    PetscCall(PetscLogEventEnd(events.local, a, 0, 0, 0));
  }
  PetscCall(error);
  PetscCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode agree(Mat a, PetscErrorCode error) {
  int rank = 0, failed = 0;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  const int own = error == PETSC_SUCCESS ? -1 : rank;
  PetscCallMPI(MPI_Allreduce(&own, &failed, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(error);
  PetscCheck(failed < 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "spmvpack: rank %d has failed and says why", failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_mode(Mat a) {
  ModeOptions options;
  PetscFunctionBegin;
  PetscCall(read_options(a, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_exchange(Mat a) {
  ParallelState* state = nullptr;
  bool same = true;
  int all_same = 0;
  PetscFunctionBegin;
  PetscCall(find_state(a, &state));
  if (state == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(exchange_is_of(a, state->exchange, &same));
  const int own = same ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(&own, &all_same, 1, MPI_INT, MPI_MIN, PetscObjectComm(reinterpret_cast<PetscObject>(a))));
  if (all_same == 0) PetscCall(remove_exchange(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_exchange(Mat a) {
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(a), parallel_state_name, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_by_mode(Mat a, Vec x, Vec y, Vec z, TakeOver* take_over) {
  ParallelState* state = nullptr;
  Mat blocks[2] = {};
  PetscInt columns = 0, elements = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(a, nullptr, &columns));
  PetscCall(VecGetLocalSize(x, &elements));
  PetscCheck(elements == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Incompatible partition of A (%" PetscInt_FMT ") and x (%" PetscInt_FMT ")", columns, elements);
  PetscCall(parallel_state_of(a, &state));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  ++state->multiplies;
  if (state->exchange.with_own) {
    PetscCall(multiply_merged(a, blocks, *state, x, y, z, take_over));
  } else {
    PetscCall(multiply_during_exchange(a, blocks[0], *state, x, y, z));
    PetscCall(timed(events.nonlocal, a, &state->nonlocal_seconds,
                    [&] { return multiply_by_block(blocks[1], state->exchange.received, z, z); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
