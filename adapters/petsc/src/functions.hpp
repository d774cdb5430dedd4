#pragma once
// What types on the host and on a GPU replace alike in the tables of the types that they stand on.

#include "types.hpp"

namespace spmvpack::petsc {

/// The functions of one rank's matrix, by its State and by z = op(A) x, or with `y`, which may be z, z = op(A) x + y.
template <PetscErrorCode (*multiply)(Mat a, bool transpose, Vec x, Vec y, Vec z),
          PetscErrorCode (*state_of)(Mat, State**)>
struct FunctionsBy {
  static PetscErrorCode mult(Mat a, Vec x, Vec y) { return multiply(a, false, x, nullptr, y); }
  static PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) { return multiply(a, false, x, y, z); }
  static PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) { return multiply(a, true, x, nullptr, y); }
  static PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z) { return multiply(a, true, x, y, z); }
  static PetscErrorCode view(Mat a, PetscViewer viewer) {
    State* state = nullptr;
    PetscFunctionBegin;
    PetscCall(state_of(a, &state));
    PetscCall(view_with_state(a, *state, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static constexpr Functions all{mult, mult_add, mult_transpose, mult_transpose_add, view};
};

/// The functions of a parallel matrix's table that are replaced; none where a type leaves one alone.
struct ParallelFunctions {
  PetscErrorCode (*assembly_end)(Mat, MatAssemblyType) = nullptr;
  PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat*) = nullptr;
  Mult* mult = nullptr;
  MultAdd* mult_add = nullptr;
};

inline PetscErrorCode get_functions(Mat a, ParallelFunctions* f) {
  PetscFunctionBegin;
  PetscCall(get_operation(a, MATOP_ASSEMBLY_END, &f->assembly_end));
  PetscCall(get_operation(a, MATOP_DUPLICATE, &f->duplicate));
  PetscCall(get_operation(a, MATOP_MULT, &f->mult));
  PetscCall(get_operation(a, MATOP_MULT_ADD, &f->mult_add));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline PetscErrorCode set_functions(Mat a, const ParallelFunctions& f) {
  PetscFunctionBegin;
  PetscCall(set_operation(a, MATOP_ASSEMBLY_END, f.assembly_end));
  if (f.duplicate != nullptr) PetscCall(set_operation(a, MATOP_DUPLICATE, f.duplicate));
  PetscCall(set_operation(a, MATOP_MULT, f.mult));
  PetscCall(set_operation(a, MATOP_MULT_ADD, f.mult_add));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
