#pragma once
// What the plug-in knows of one matrix of type seqaijspmvpack.

#include <cstdint>
#include <string>

#include "encoding.hpp"
#include "versions.hpp"

namespace spmvpack::petsc {

/// The options -mat_spmvpack_..., with the matrix's prefix.
struct Options {
  EncodingOptions encoding;
  PetscInt after = 10;           ///< multiplies, each with A or A^T, that AIJ does first
  PetscInt min_nnz = 20000;      ///< matrices with fewer entries stay on AIJ
  PetscInt max_changes = 4;      ///< a matrix that has changed more often under its encoding stays on AIJ
  PetscBool view = PETSC_FALSE;  ///< say what became of the matrix when it is destroyed
};

using Mult = PetscErrorCode(Mat, Vec, Vec);
using MultAdd = PetscErrorCode(Mat, Vec, Vec, Vec);
using View = PetscErrorCode(Mat, PetscViewer);

/// The functions of a matrix's table that are replaced.
struct Functions {
  Mult* mult = nullptr;
  MultAdd* mult_add = nullptr;
  Mult* mult_transpose = nullptr;
  MultAdd* mult_transpose_add = nullptr;
  View* view = nullptr;
};

/// What an encoding is of. MatHeaderMerge() and MatHeaderReplace() exchange a matrix's data without a new state.
struct Contents {
  PetscObjectState state = -1, pattern = -1;
  const PetscInt *row_ptr = nullptr, *col_idx = nullptr;
  const PetscScalar* values = nullptr;
  bool operator==(const Contents&) const = default;
};

/// A, or A^T, and what has been done with it.
struct Operator {
  PetscInt64 multiplies_of_aij = 0;  ///< since the contents are what they are
  bool decided = false;
  Encoding encoding;
  double encode_seconds = 0;  ///< of all encodings
  PetscInt64 multiplies = 0;  ///< with encodings
  double multiply_seconds = 0;
};

struct State {
  PetscObjectId owner = 0;  ///< the matrix: lists of composed objects are copied, and what they refer to is then shared
  Functions aij;            ///< what was there before ours
  Options options;
  Contents contents;
  PetscInt rows = 0, cols = 0, nnz = 0;
  PetscInt changes = 0;  ///< of contents for which something had been decided
  Operator a, transpose;
  bool transpose_is_a = false;  ///< or -A: known once A^T is to be encoded
};

/// Reads what the matrix holds, and forgets what is known of older contents.
PetscErrorCode update(Mat a, State& state);

/// What multiplies with A, or its transpose.
struct Multiplier {
  const host_loader::HostMatrix* matrix = nullptr;  ///< null: AIJ
  Operation operation = Operation::none;
  Operator* of = nullptr;  ///< whose matrix it is
};
/// Finds it, and encodes if it is time to. What fails to be encoded stays on AIJ, and a line on stderr says why.
PetscErrorCode find_multiplier(Mat a, State& state, bool transpose, Multiplier* multiplier);

/// "csell, 1,234 bytes (20.3 % of AIJ's 6,170), ..." of A, and of A^T if it was multiplied with; lines end with \n.
std::string description_of(const State& state);

}  // namespace spmvpack::petsc
