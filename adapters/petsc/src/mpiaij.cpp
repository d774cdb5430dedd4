// MATMPIAIJ whose two local blocks are of type seqaijspmvpack. The exchange between ranks is PETSc's.

#include "types.hpp"

namespace spmvpack::petsc {
namespace {

using AssemblyEnd = PetscErrorCode(Mat, MatAssemblyType);

PetscErrorCode get_assembly_end(Mat a, AssemblyEnd** function) {
  PetscAnyFunction any = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOperation(a, MATOP_ASSEMBLY_END, &any));
  *function = reinterpret_cast<AssemblyEnd*>(any);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode set_assembly_end(Mat a, AssemblyEnd* function) {
  PetscFunctionBegin;
  PetscCall(MatSetOperation(a, MATOP_ASSEMBLY_END, reinterpret_cast<PetscAnyFunction>(function)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// That of MATMPIAIJ. It is not kept with each matrix, since MatHeaderMerge() takes away what is composed with one.
AssemblyEnd* assembly_end_of_aij = nullptr;

/// Converts both blocks in place.
PetscErrorCode convert_blocks(Mat a, MatType type) {
  Mat blocks[2] = {};
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks)
    if (block != nullptr) PetscCall(MatConvert(block, type, MAT_INPLACE_MATRIX, &block));
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
  PetscCall(assembly_end_of_aij(a, type));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(convert_blocks(a, seq_type));
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
    PetscCall(set_assembly_end(b, assembly_end_of_aij));
    PetscCall(remove_conversions(b, MATMPIAIJ, mpi_type));
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
    if (assembly_end_of_aij == nullptr) PetscCall(get_assembly_end(b, &assembly_end_of_aij));
    PetscCall(set_assembly_end(b, assembly_end));
    PetscCall(PetscObjectChangeTypeName(object, mpi_type));
    PetscCall(compose_conversions(b, MATMPIAIJ, mpi_type, convert_to_mpiaij, convert_to_mpi));
  }
  PetscCall(convert_assembled_blocks(b, seq_type));
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
