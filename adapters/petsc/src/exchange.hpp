#pragma once
// The elements of x that a rank needs, brought together by a PetscSF.

#include <memory>
#include <vector>

#include "versions.hpp"

namespace spmvpack::petsc {

/// The exchange of mode task between GPUs, in place of the PetscSF's: others' elements come beside a multiply.
class GpuExchange {
 public:
  virtual ~GpuExchange() = default;
  /// As begin_exchange() and end_exchange().
  virtual PetscErrorCode begin(Vec x) = 0;
  virtual PetscErrorCode end(Vec* received) = 0;
  /// How elements go from one GPU to another.
  [[nodiscard]] virtual const char* way() const noexcept = 0;
};

/// The streams of CUDA on which an exchange has been used: the first time, and last.
struct Streams {
  const void *first = nullptr, *last = nullptr;
  bool used = false;
};

struct Exchange {
  std::vector<PetscInt> ghosts;  ///< the columns that others have, in the order of the off-diagonal block
  bool with_own = false;         ///< `received` begins with this rank's own elements
  PetscSF sf = nullptr;
  Vec received = nullptr;
  std::unique_ptr<GpuExchange> gpu;  ///< or null: the PetscSF
  bool on_gpu = false;
  Streams streams;
  // Between begin_exchange() and end_exchange():
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscMemType from_place = PETSC_MEMTYPE_HOST, to_place = PETSC_MEMTYPE_HOST;
};

/// For products with `a`, an assembled MATMPIAIJ. `beside`: a multiply is launched meanwhile. Collective.
PetscErrorCode make_exchange(Mat a, bool with_own, bool beside, Exchange* exchange);
PetscErrorCode destroy_exchange(Exchange* exchange);
/// Whether the columns that this rank needs are still those of `exchange`.
PetscErrorCode exchange_is_of(Mat a, const Exchange& exchange, bool* same);

/// Sends and receives, without waiting. `x` and `received` stay where they are until the end, and x may be read.
PetscErrorCode begin_exchange(Exchange& exchange, Vec x);
/// Waits for what others send. Whoever has begun has to end, whatever fails in between: others wait for it.
PetscErrorCode end_exchange(Exchange& exchange, Vec x);

/// For a matrix on GPUs, with the messages of `sf`; null for others. Collective.
PetscErrorCode make_gpu_exchange(Mat a, PetscSF sf, std::unique_ptr<GpuExchange>* exchange);
/// Waits for the GPU if an exchange begins on another stream than the one before, whose multiply may still read its
/// buffers, or on another than the first, if the exchange `keeps_first`, as a PetscSF does. end_on_stream(): the same.
PetscErrorCode begin_on_stream(Streams* streams, bool keeps_first);
PetscErrorCode end_on_stream(const Streams& streams);
/// When PETSc ends: what exchanges that are no more have kept for other ranks.
PetscErrorCode release_gpu_exchanges();

}  // namespace spmvpack::petsc
