// MATMPIAIJ whose two local blocks are of type seqaijspmvpack, and whose ranks multiply together in one of the modes.

#include "functions.hpp"
#include "modes.hpp"
#include "products.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

/// Those of MATMPIAIJ. They are not kept with each matrix, since MatHeaderMerge() takes away what is composed with one.
ParallelFunctions functions_of_mpiaij;

/// Converts both blocks in place.
PetscErrorCode convert_blocks(Mat a, MatType type) {
  Mat blocks[2] = {};
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks) {
    if (block == nullptr) continue;
    PetscCall(take_prefix(a, block));
    PetscCall(MatConvert(block, type, MAT_INPLACE_MATRIX, &block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same, but before the first assembly, when there may be none.
PetscErrorCode convert_assembled_blocks(Mat a, MatType type) {
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatAssembled(a, &assembled));
  if (assembled != PETSC_FALSE) PetscCall(convert_blocks(a, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The blocks come into being, and the second one is made anew, with assemblies.
PetscErrorCode assembly_end(Mat a, MatAssemblyType type) {
  PetscFunctionBegin;
  PetscCall(functions_of_mpiaij.assembly_end(a, type));
  if (type == MAT_FINAL_ASSEMBLY) {
    PetscCall(agree(a, convert_blocks(a, seq_type)));
    PetscCall(check_exchange(a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode parallel_mult(Mat a, Vec x, Vec y) { return multiply_by_mode(a, x, nullptr, y, take_over_host); }
PetscErrorCode parallel_mult_add(Mat a, Vec x, Vec y, Vec z) { return multiply_by_mode(a, x, y, z, take_over_host); }

constexpr ParallelFunctions parallel_functions{assembly_end, nullptr, parallel_mult, parallel_mult_add};

/// What may fail on one rank alone when a matrix becomes one of ours.
PetscErrorCode prepare(Mat a) {
  PetscFunctionBegin;
  PetscCall(check_mode(a));
  PetscCall(convert_assembled_blocks(a, seq_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_mpiaij(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  PetscBool is_ours = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(matrix_to_change(a, reuse, &b));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(b), mpi_type, &is_ours));
  if (is_ours != PETSC_FALSE) {
    PetscCall(convert_assembled_blocks(b, MATSEQAIJ));
    PetscCall(set_functions(b, functions_of_mpiaij));
    PetscCall(remove_exchange(b));
    PetscCall(remove_conversions(b, MATMPIAIJ, mpi_type));
    PetscCall(remove_mpi_products(b));
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(b), MATMPIAIJ));
  }
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode convert_to_mpi(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  PetscBool is_ours = PETSC_FALSE, is_aij = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(matrix_to_change(a, reuse, &b));
  const auto object = reinterpret_cast<PetscObject>(b);
  PetscCall(PetscObjectTypeCompare(object, mpi_type, &is_ours));
  if (is_ours == PETSC_FALSE) {
    PetscCall(PetscObjectTypeCompare(object, MATMPIAIJ, &is_aij));
    if (is_aij == PETSC_FALSE) PetscCall(MatConvert(b, MATMPIAIJ, MAT_INPLACE_MATRIX, &b));
    if (functions_of_mpiaij.assembly_end == nullptr) PetscCall(get_functions(b, &functions_of_mpiaij));
    PetscCall(set_functions(b, parallel_functions));
    PetscCall(PetscObjectChangeTypeName(object, mpi_type));
    PetscCall(compose_conversions(b, MATMPIAIJ, mpi_type, convert_to_mpiaij, convert_to_mpi));
    PetscCall(compose_mpi_products(b));
  }
  PetscCall(agree(b, prepare(b)));
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_mpi(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATMPIAIJ));
  PetscCall(convert_to_mpi(a, mpi_type, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
