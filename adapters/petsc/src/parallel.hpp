#pragma once
// What is known of a parallel matrix whose ranks multiply together.

#include "exchange.hpp"
#include "modes.hpp"

namespace spmvpack::petsc {

enum class Mode { vector, naive, task };

struct ModeOptions {
  Mode mode = Mode::naive;
  PetscBool view = PETSC_FALSE;
};

/// What is known of a block when something is made of it.
struct BlockContents {
  PetscObjectId id = 0;
  PetscObjectState state = -1, pattern = -1;
  bool operator==(const BlockContents&) const = default;
};

/// Composed with a parallel matrix. That there is one, and that it is up to date, all ranks know alike.
struct ParallelState {
  PetscObjectId owner = 0;        ///< the matrix: see State
  PetscObjectState pattern = -1;  ///< of the whole matrix, the same on all ranks
  ModeOptions options;
  Exchange exchange;
  Mat merged = nullptr;              ///< both blocks in one, of mode vector
  BlockContents merged_contents[2];  ///< what it has been made of
  PetscInt64 multiplies = 0;
  double local_seconds = 0, nonlocal_seconds = 0, exchange_seconds = 0;
};

/// The state; a new one if there is none, or the pattern has changed. Collective.
PetscErrorCode parallel_state_of(Mat a, ParallelState** state);
/// Makes the merged matrix, or brings it up to date. It is a matrix like the blocks: it is encoded, or stays on AIJ, by
/// itself.
PetscErrorCode update_merged(Mat a, const Mat (&blocks)[2], ParallelState& state, TakeOver* take_over);

/// Calls f() in an event of -log_view, and adds up the seconds.
template <class F>
PetscErrorCode timed(PetscLogEvent event, Mat a, double* seconds, F&& f) {
  PetscLogDouble start = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event, a, 0, 0, 0));
  PetscCall(PetscTime(&start));
  const PetscErrorCode error = f();
  PetscCall(PetscTime(&end));
  *seconds += end - start;
  PetscCall(PetscLogEventEnd(event, a, 0, 0, 0));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
