#pragma once
// The types of matrices that the plug-in registers, and what their sources share.

#include "state.hpp"

struct CUstream_st;

namespace spmvpack::petsc {

inline constexpr const char* seq_type = "seqaijspmvpack";
inline constexpr const char* mpi_type = "mpiaijspmvpack";
inline constexpr const char* root_type = "aijspmvpack";

/// Those on a GPU: names by which to ask for them. A matrix keeps the name of PETSc's type, for which its functions
/// ask.
inline constexpr const char* gpu_seq_type = "seqaijcusparsespmvpack";
inline constexpr const char* gpu_mpi_type = "mpiaijcusparsespmvpack";
inline constexpr const char* gpu_root_type = "aijcusparsespmvpack";

/// MatSetType(A, seq_type), MatSetType(A, mpi_type).
PetscErrorCode create_seq(Mat a);
PetscErrorCode create_mpi(Mat a);
/// Registers the types on a GPU. Without CUDA, in PETSc or in this build, they refuse with a sentence.
PetscErrorCode register_gpu_types();
/// Registers both again, so that MatLoad() also takes containers (load.cpp).
PetscErrorCode register_types_that_load();
/// Gives a MATSEQAIJ our multiply, in place.
PetscErrorCode take_over_host(Mat a);
/// A converter as MatSeqAIJRegister() and MatConvert() take it: from any type that begins with seqaij.
PetscErrorCode convert_to_seq(Mat a, MatType type, MatReuse reuse, Mat* converted);
/// The same for types that begin with mpiaij.
PetscErrorCode convert_to_mpi(Mat a, MatType type, MatReuse reuse, Mat* converted);

/// Gives a MATSEQAIJCUSPARSE our multiply, unless it has it.
PetscErrorCode take_over_seq(Mat a);
/// MatSetType(A, gpu_mpi_type), and its converter: MATMPIAIJCUSPARSE.
PetscErrorCode create_gpu_mpi(Mat a);
PetscErrorCode convert_to_gpu_mpi(Mat a, MatType type, MatReuse reuse, Mat* converted);

/// The stream on which PETSc works now, with vectors, too. Error if that is not one of CUDA.
PetscErrorCode current_stream(CUstream_st** stream);

using Converter = PetscErrorCode(Mat, MatType, MatReuse, Mat*);
/// Lets `a`, of type `own`, be converted to whatever AIJ's type `base` can be, by AIJ's converters, to `base` itself
/// and from there: PETSc looks converters up by the names of types.
PetscErrorCode compose_conversions(Mat a, const char* base, const char* own, Converter* to_base, Converter* from_base);
PetscErrorCode remove_conversions(Mat a, const char* base, const char* own);
/// The matrix that a converter changes: `a` itself, a copy, or one that the caller has.
PetscErrorCode matrix_to_change(Mat a, MatReuse reuse, Mat* changed);
/// The same, as a matrix of this type of PETSc's.
PetscErrorCode matrix_to_change_of(MatType type, Mat a, MatReuse reuse, Mat* changed);

/// The State of a matrix of type seqaijspmvpack, null for others.
PetscErrorCode host_state_of(Mat a, State** state);

/// The events of -log_view.
struct Events {
  PetscLogEvent encode = -1, update = -1, multiply = -1;
  PetscLogEvent local = -1, nonlocal = -1, exchange = -1;  ///< of the modes of parallel matrices
};
extern Events events;

}  // namespace spmvpack::petsc
