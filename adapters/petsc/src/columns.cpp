// A parallel matrix times a dense one: others' rows of X are received column by column, and each block multiplies all
// columns at once.

#include <algorithm>
#include <vector>

#include "errors.hpp"
#include "parallel.hpp"
#include "products.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

/// Columns whose elements from other ranks are in memory at once.
constexpr PetscInt columns_at_once = 16;

/// A sequential vector that lies where it is told to.
class PlacedVector {
 public:
  PlacedVector() = default;
  PlacedVector(const PlacedVector&) = delete;
  PlacedVector& operator=(const PlacedVector&) = delete;
  ~PlacedVector() { (void)VecDestroy(&vector_); }
  PetscErrorCode make(std::uint64_t size) {
    PetscFunctionBegin;
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(size), nullptr, &vector_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Calls f(vector) while it is there.
  template <class F>
  PetscErrorCode at(const PetscScalar* place, F&& f) {
    PetscFunctionBegin;
    PetscCall(VecPlaceArray(vector_, place));
    const PetscErrorCode error = f(vector_);
    PetscCall(VecResetArray(vector_));
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  Vec vector_ = nullptr;
};

/// Y = block X, or with `adds`, block X + Y: by us if the block is encoded, else by AIJ, column by column.
PetscErrorCode multiply_by_block(Mat block, const DenseView<const double>& x, bool adds, const DenseView<double>& y) {
  State* state = nullptr;
  Functions aij;
  PlacedVector from, to;
  bool done = false;
  PetscFunctionBegin;
  PetscCall(host_state_of(block, &state));
  if (state != nullptr) PetscCall(multiply_columns(block, *state, false, x, adds, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (state != nullptr)
    aij = state->aij;
  else
    PetscCall(get_functions(block, &aij));
  PetscCall(from.make(x.rows));
  PetscCall(to.make(y.rows));
  for (std::uint64_t j = 0; j < x.cols; ++j)
    PetscCall(from.at(x.column(j), [&](Vec x_column) {
      return to.at(y.column(j), [&](Vec y_column) {
        return adds ? aij.mult_add(block, x_column, y_column, y_column) : aij.mult(block, x_column, y_column);
      });
    }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
DenseView<T> some(const DenseView<T>& all, PetscInt first, PetscInt count) {
  return {all.column(static_cast<std::uint64_t>(first)), all.rows, static_cast<std::uint64_t>(count), all.row_stride,
          all.col_stride};
}

/// Y = A X for some columns. Errors wait until the exchange has ended: others wait for it.
PetscErrorCode multiply_some(Mat a, const Mat (&blocks)[2], ParallelState& state, const DenseView<const double>& x,
                             const DenseView<double>& y, const DenseView<double>& received) {
  const Exchange& e = state.exchange;
  PetscErrorCode error = PETSC_SUCCESS;
  PetscFunctionBegin;
  PetscCall(timed(events.exchange, a, &state.exchange_seconds, [&]() -> PetscErrorCode {
    for (std::uint64_t j = 0; j < x.cols; ++j)
      PetscCall(PetscSFBcastBegin(e.sf, MPIU_SCALAR, x.column(j), received.column(j), MPI_REPLACE));
    return PETSC_SUCCESS;
  }));
  if (!e.with_own)
    error = timed(events.local, a, &state.local_seconds, [&] { return multiply_by_block(blocks[0], x, false, y); });
  PetscCall(timed(events.exchange, a, &state.exchange_seconds, [&]() -> PetscErrorCode {
    for (std::uint64_t j = 0; j < x.cols; ++j)
      PetscCall(PetscSFBcastEnd(e.sf, MPIU_SCALAR, x.column(j), received.column(j), MPI_REPLACE));
    return PETSC_SUCCESS;
  }));
  PetscCall(error);
  const DenseView<const double> others = received;
  if (e.with_own) {
    PetscCall(update_merged(a, blocks, state, take_over_host));
    PetscCall(timed(events.local, a, &state.local_seconds,
                    [&] { return multiply_by_block(state.merged, others, false, y); }));
  } else {
    PetscCall(timed(events.nonlocal, a, &state.nonlocal_seconds,
                    [&] { return multiply_by_block(blocks[1], others, true, y); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode multiply_columns_by_mode(Mat a, Mat b, Mat c) {
  ParallelState* state = nullptr;
  Mat blocks[2] = {};
  PetscInt size = 0;
  DenseRead x;
  DenseWrite y;
  std::vector<double> memory;
  PetscErrorCode error = PETSC_SUCCESS;
  PetscFunctionBegin;
  PetscCall(parallel_state_of(a, &state));
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  PetscCall(PetscSFGetGraph(state->exchange.sf, nullptr, &size, nullptr, nullptr));
  PetscCall(x.get(b));
  PetscCall(y.get(c));
  const auto columns = static_cast<PetscInt>(x.view.cols);
  state->multiplies += columns;
  PetscCall(guarded([&] {
    memory.resize(static_cast<std::size_t>(size) * static_cast<std::size_t>(std::min(columns, columns_at_once)));
  }));
  for (PetscInt first = 0; first < columns && error == PETSC_SUCCESS; first += columns_at_once) {
    const PetscInt count = std::min(columns_at_once, columns - first);
    const DenseView<double> received(memory.data(), static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(count),
                                     1, size);
    error = multiply_some(a, blocks, *state, some(x.view, first, count), some(y.view, first, count), received);
  }
  PetscCall(y.restore(c));
  PetscCall(x.restore(b));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
