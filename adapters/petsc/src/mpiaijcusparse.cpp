// MATMPIAIJCUSPARSE whose two local blocks have our multiply, and whose ranks multiply together in one of the modes. As
// with the blocks, the name of the type stays.

#include "functions.hpp"
#include "modes.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

/// Those of every MATMPIAIJCUSPARSE.
ParallelFunctions of_aijcusparse;

PetscErrorCode take_over_blocks(Mat a) {
  Mat blocks[2] = {};
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &blocks[0], &blocks[1], nullptr));
  for (Mat block : blocks) {
    PetscBool is_aijcusparse = PETSC_FALSE;
    if (block != nullptr)
      PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(block), MATSEQAIJCUSPARSE, &is_aijcusparse));
    if (is_aijcusparse == PETSC_FALSE) continue;
    PetscCall(take_prefix(a, block));
    PetscCall(take_over_seq(block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_over(Mat a);

/// The blocks come into being, and the second one is made anew, with assemblies.
PetscErrorCode assembly_end(Mat a, MatAssemblyType type) {
  PetscFunctionBegin;
  PetscCall(of_aijcusparse.assembly_end(a, type));
  if (type == MAT_FINAL_ASSEMBLY) {
    PetscCall(agree(a, take_over_blocks(a)));
    PetscCall(check_exchange(a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode duplicate(Mat a, MatDuplicateOption option, Mat* copy) {
  PetscFunctionBegin;
  PetscCall(of_aijcusparse.duplicate(a, option, copy));
  PetscCall(take_over(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = A x, or with `y`, A x + y. MatHeaderMerge(), which MatAXPY() calls, gives a matrix the blocks of another,
/// without an assembly. PETSc does not merge the blocks of a matrix that is bound to the CPU.
PetscErrorCode multiply(Mat a, Vec x, Vec y, Vec z) {
  PetscBool bound = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatBoundToCPU(a, &bound));
  if (bound == PETSC_FALSE) {
    PetscCall(take_over_blocks(a));
    PetscCall(multiply_by_mode(a, x, y, z, take_over_seq));
  } else if (y == nullptr) {
    PetscCall(of_aijcusparse.mult(a, x, z));
  } else {
    PetscCall(of_aijcusparse.mult_add(a, x, y, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode mult(Mat a, Vec x, Vec y) { return multiply(a, x, nullptr, y); }
PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) { return multiply(a, x, y, z); }

constexpr ParallelFunctions ours{assembly_end, duplicate, mult, mult_add};

PetscErrorCode take_over(Mat a) {
  ParallelFunctions now;
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(get_functions(a, &now));
  if (now.assembly_end != assembly_end) {
    if (of_aijcusparse.assembly_end == nullptr) of_aijcusparse = now;
    PetscCall(set_functions(a, ours));
    for (const char* const from : {"mpiaij", "mpiaijcusparse", "mpiaijspmvpack"})
      PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(a),
                                           (std::string("MatConvert_") + from + "_" + gpu_mpi_type + "_C").c_str(),
                                           convert_to_gpu_mpi));
  }
  PetscCall(MatAssembled(a, &assembled));
  if (assembled != PETSC_FALSE) PetscCall(agree(a, take_over_blocks(a)));
  PetscCall(check_mode(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode convert_to_gpu_mpi(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  PetscFunctionBegin;
  PetscCall(matrix_to_change_of(MATMPIAIJCUSPARSE, a, reuse, &b));
  PetscCall(take_over(b));
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_gpu_mpi(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATMPIAIJCUSPARSE));
  PetscCall(take_over(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
