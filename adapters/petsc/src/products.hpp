#pragma once
// Products with dense matrices, MatMatMult() and MatTransposeMatMult(): all columns in one multiply.

#include "spmvpack/container/multiply/multiply.hpp"
#include "state.hpp"

namespace spmvpack::petsc {

/// Lets PETSc find our products of `a`, of type seq_type or mpi_type, with dense matrices.
PetscErrorCode compose_seq_products(Mat a);
PetscErrorCode remove_seq_products(Mat a);
PetscErrorCode compose_mpi_products(Mat a);
PetscErrorCode remove_mpi_products(Mat a);

/// Y = op(A) X, or with `adds`, op(A) X + Y, if A is encoded on this host; else `*done` is false, and nothing has been
/// computed.
PetscErrorCode multiply_columns(Mat a, State& state, bool transpose, const DenseView<const double>& x, bool adds,
                                const DenseView<double>& y, bool* done);

/// c = A b, both dense matrices in host memory, as multiply_by_mode() has it, of which each column has the bits.
/// Collective.
PetscErrorCode multiply_columns_by_mode(Mat a, Mat b, Mat c);

/// The elements of a dense matrix, this rank's, between a call of get and one of restore.
struct DenseRead {
  PetscErrorCode get(Mat matrix);
  PetscErrorCode restore(Mat matrix);
  const PetscScalar* elements = nullptr;
  DenseView<const double> view;
};
struct DenseWrite {
  PetscErrorCode get(Mat matrix);
  PetscErrorCode restore(Mat matrix);
  PetscScalar* elements = nullptr;
  DenseView<double> view;
};

}  // namespace spmvpack::petsc
