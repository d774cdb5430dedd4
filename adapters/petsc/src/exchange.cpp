#include "exchange.hpp"

#include <algorithm>
#include <numeric>

#include "errors.hpp"

namespace spmvpack::petsc {
namespace {

/// The columns of the off-diagonal block.
PetscErrorCode ghosts_of(Mat a, const PetscInt** columns, PetscInt* count) {
  Mat diagonal = nullptr, off_diagonal = nullptr;
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &diagonal, &off_diagonal, columns));
  PetscCall(MatGetLocalSize(off_diagonal, nullptr, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode make_exchange(Mat a, bool with_own, bool beside, Exchange* exchange) {
  const PetscInt* columns = nullptr;
  PetscInt count = 0, first = 0, last = 0, size = 0;
  PetscBool on_gpu = PETSC_FALSE;
  PetscLayout layout = nullptr;
  VecType type = nullptr;
  std::vector<PetscInt> wanted;
  PetscFunctionBegin;
  PetscCall(ghosts_of(a, &columns, &count));
  PetscCall(MatGetOwnershipRangeColumn(a, &first, &last));
  PetscCall(guarded([&] {
    exchange->ghosts.assign(columns, columns + count);
    if (with_own) wanted.resize(static_cast<std::size_t>(last - first));
    std::iota(wanted.begin(), wanted.end(), first);
    wanted.insert(wanted.end(), columns, columns + count);
  }));
  exchange->with_own = with_own;
  size = static_cast<PetscInt>(wanted.size());
  PetscCall(MatGetLayouts(a, nullptr, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), &exchange->sf));
  PetscCall(PetscSFSetFromOptions(exchange->sf));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(a), "mpiaijcusparse", &on_gpu));
  exchange->on_gpu = on_gpu != PETSC_FALSE;
  // The exchange on GPUs only asks it who sends what to whom, and window does not tell.
  if (beside && exchange->on_gpu) PetscCall(PetscSFSetType(exchange->sf, PETSCSFBASIC));
  PetscCall(PetscSFSetGraphLayout(exchange->sf, layout, size, nullptr, PETSC_COPY_VALUES, wanted.data()));
  PetscCall(PetscSFSetUp(exchange->sf));
  if (beside) PetscCall(make_gpu_exchange(a, exchange->sf, &exchange->gpu));
  if (exchange->gpu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetVecType(a, &type));
  PetscCall(VecCreate(PETSC_COMM_SELF, &exchange->received));
  PetscCall(VecSetSizes(exchange->received, size, size));
  PetscCall(VecSetType(exchange->received, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_exchange(Exchange* exchange) {
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&exchange->sf));
  if (!exchange->gpu) PetscCall(VecDestroy(&exchange->received));
  exchange->gpu.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode exchange_is_of(Mat a, const Exchange& exchange, bool* same) {
  const PetscInt* columns = nullptr;
  PetscInt count = 0;
  PetscFunctionBegin;
  PetscCall(ghosts_of(a, &columns, &count));
  *same = std::equal(exchange.ghosts.begin(), exchange.ghosts.end(), columns, columns + count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode begin_exchange(Exchange& e, Vec x) {
  PetscFunctionBegin;
  if (e.on_gpu) PetscCall(begin_on_stream(&e.streams, !e.gpu));
  if (e.gpu) {
    PetscCall(e.gpu->begin(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayReadAndMemType(x, &e.from, &e.from_place));
  PetscCall(VecGetArrayWriteAndMemType(e.received, &e.to, &e.to_place));
  PetscCall(PetscSFBcastWithMemTypeBegin(e.sf, MPIU_SCALAR, e.from_place, e.from, e.to_place, e.to, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode end_exchange(Exchange& e, Vec x) {
  PetscFunctionBegin;
  if (e.gpu) {
    PetscCall(e.gpu->end(&e.received));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSFBcastEnd(e.sf, MPIU_SCALAR, e.from, e.to, MPI_REPLACE));
  if (e.on_gpu) PetscCall(end_on_stream(e.streams));
  PetscCall(VecRestoreArrayWriteAndMemType(e.received, &e.to));
  PetscCall(VecRestoreArrayReadAndMemType(x, &e.from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
