#pragma once
// What the plug-in knows of one matrix whose multiply is spmvpack's.

#include <cstdint>
#include <memory>
#include <string>

#include "encoding.hpp"
#include "versions.hpp"

namespace spmvpack::petsc {

/// The options -mat_spmvpack_..., with the matrix's prefix.
struct Options {
  EncodingOptions encoding;
  PetscBool tune = PETSC_FALSE;  ///< choose by measured times, not by predicted ones
  PetscInt after = 10;           ///< multiplies, each with A or A^T, that AIJ does first
  PetscInt min_nnz = 20000;      ///< matrices with fewer entries stay on AIJ
  PetscInt max_changes = 4;      ///< a matrix that has lost its encoding more often, by changes, stays on AIJ
  PetscBool view = PETSC_FALSE;  ///< say what became of the matrix when it is destroyed
  bool on_device = true;         ///< encode where the matrix is, if that is a device whose encoder has the layout
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
  const PetscScalar* values = nullptr;  ///< null where they may be in the memory of a GPU
  bool operator==(const Contents&) const = default;
  /// PETSc counts up whenever entries, or their arrays, become others.
  [[nodiscard]] bool same_pattern(const Contents& o) const noexcept {
    return pattern == o.pattern && row_ptr == o.row_ptr && col_idx == o.col_idx;
  }
};

class DeviceOperator;
struct Operator;
struct State;

/// What a device made of a matrix.
struct EncodedThere {
  Encoding encoding;
  std::shared_ptr<DeviceOperator> device;  ///< null: nothing
  std::string failure;                     ///< why not; empty, too, if it has no such layout
};

/// Where matrices multiply, and what is different there: on this host, or on a GPU.
struct Place {
  const char* stays_on;  ///< the type whose multiply is taken otherwise: "AIJ"
  bool device = false;
  /// What the matrix holds now. Nothing is moved for it: every multiply asks.
  PetscErrorCode (*contents)(Mat a, Contents* contents) = nullptr;
  /// What the options start from.
  PetscErrorCode (*defaults)(Options* options, std::string* target) = nullptr;
  /// For the option tune. Throws an Error.
  encoder::Tuner (*tuner)(int threads) = nullptr;
  /// Loads Encoding::container to the device where matrices multiply on one. Throws an Error.
  std::shared_ptr<DeviceOperator> (*load)(const Encoding& encoding, int threads) = nullptr;
  /// Gives what is encoded the values that the matrix has now; `failure` says why it could not.
  PetscErrorCode (*update_values)(Mat a, const State& state, Operator& op, std::string* failure) = nullptr;
  /// Encodes A, or with `transpose` A and A^T, in the memory of the device that has it. Null: the host encodes.
  PetscErrorCode (*encode)(Mat a, const State& state, bool transpose, EncodedThere* made) = nullptr;
};
/// This host; AIJ's arrays are where they are multiplied with.
extern const Place on_host;

/// A, or A^T, and what has been done with it.
struct Operator {
  PetscInt64 with_contents = 0;       ///< multiplies since the contents are what they are, AIJ's among them
  PetscInt64 with_values_before = 0;  ///< those with the values that the same pattern had before
  bool decided = false;  ///< for these contents; an updatable encoding, or why there is none, for this pattern
  bool current = false;  ///< what is encoded has the values of the contents
  Encoding encoding;
  std::shared_ptr<DeviceOperator> device;                  ///< what was loaded of it, in place of encoding.matrix
  PetscInt64 encodes = 0, encodes_there = 0, updates = 0;  ///< of the encodes, those by a device
  double encode_seconds = 0;                               ///< of all encodings
  double update_seconds = 0;                               ///< on a host
  PetscInt64 multiplies = 0;                               ///< with encodings
  double multiply_seconds = 0;                             ///< on a host
  [[nodiscard]] bool encoded() const noexcept { return encoding.matrix.has_value() || device != nullptr; }
};

struct State {
  const Place* place = &on_host;
  PetscObjectId owner = 0;  ///< the matrix: lists of composed objects are copied, and what they refer to is then shared
  Functions aij;            ///< what was there before ours
  Options options;
  Contents contents;
  PetscInt rows = 0, cols = 0, nnz = 0;
  PetscInt changes = 0;    ///< of contents for which something had been decided, and had to be forgotten
  bool updatable = false;  ///< values have changed after something was decided for them: they may again
  Operator a, transpose;
  bool transpose_is_a = false;  ///< or -A: known once A^T is to be encoded
};

/// Reads the matrix's options, from the place's defaults on.
PetscErrorCode read_options(Mat a, const Place& place, Options* options);

/// Composes a new State of this place with a matrix whose own functions are `aij`, in place of another's.
PetscErrorCode make_state(Mat a, const Place& place, const Functions& aij, State** made);
/// The State that is composed with the matrix, which may be of another one; null if there is none.
PetscErrorCode find_state(Mat a, State** state, bool* own);
PetscErrorCode remove_state(Mat a);
/// Gives a local block, or what is made of both, the prefix of the whole matrix, unless it has one: PETSc's have none,
/// and options are read with it.
PetscErrorCode take_prefix(Mat whole, Mat block);

PetscErrorCode get_functions(Mat a, Functions* functions);
PetscErrorCode set_functions(Mat a, const Functions& functions);

/// The matrix's view, with a line of ours.
PetscErrorCode view_with_state(Mat a, State& state, PetscViewer viewer);

/// Reads what the matrix holds, and forgets what is known of older contents; but for new values in the same pattern,
/// which an updatable encoding can be given.
PetscErrorCode notice_changes(Mat a, State& state);

/// What multiplies with A, or its transpose.
struct Multiplier {
  const host_loader::HostMatrix* matrix = nullptr;
  DeviceOperator* device = nullptr;  ///< null, as is `matrix`: AIJ
  Operation operation = Operation::none;
  Operator* of = nullptr;  ///< whose matrix it is
};
/// Finds it, and encodes, or updates values, if it is time to. What fails to be encoded stays on AIJ, and a line on
/// stderr says why. A product with k columns counts as k multiplies.
PetscErrorCode find_multiplier(Mat a, State& state, bool transpose, Multiplier* multiplier, PetscInt columns = 1);

/// "csell, 1,234 bytes (20.3 % of AIJ's 6,170), ..." of A, and of A^T if it was multiplied with; lines end with \n.
std::string description_of(const State& state);

}  // namespace spmvpack::petsc
