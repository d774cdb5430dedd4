#pragma once
// How the ranks of a parallel matrix multiply together: -mat_spmvpack_mode vector, naive or task, those of Kreutzer et
// al. 2012, "Sparse matrix-vector multiplication on GPGPU clusters", section 3.1.

#include "versions.hpp"

namespace spmvpack::petsc {

/// Gives a matrix of the kind of the blocks our multiply, in place.
using TakeOver = PetscErrorCode(Mat);

/// z = A x, or with `y`, which may be z, A x + y. `a` is an assembled MATMPIAIJ whose blocks have our multiply. Vectors
/// may be on a GPU if the blocks are. Collective.
PetscErrorCode multiply_by_mode(Mat a, Vec x, Vec y, Vec z, TakeOver* take_over);

/// Error if the options ask for a mode that cannot be.
PetscErrorCode check_mode(Mat a);
/// To be called after each final assembly: forgets the exchange if a rank needs other columns now. Collective.
PetscErrorCode check_exchange(Mat a);
PetscErrorCode remove_exchange(Mat a);

/// Error on all ranks if one has one; `error` is this rank's. No rank waits for one that has thrown. Collective.
PetscErrorCode agree(Mat a, PetscErrorCode error);

}  // namespace spmvpack::petsc
