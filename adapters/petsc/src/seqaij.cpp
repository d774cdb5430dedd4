// MATSEQAIJ with another multiply. All else is AIJ's, and works on AIJ's arrays.

#include <algorithm>
#include <cstring>

#include "errors.hpp"
#include "types.hpp"

namespace spmvpack::petsc {

namespace {

constexpr const char* state_name = "spmvpack_state";
constexpr const char* retrieve_name = "MatRetrieveValues_C";
constexpr const char* aij_retrieve_name = "MatRetrieveValues_spmvpack_aij_C";

PetscErrorCode mult(Mat a, Vec x, Vec y);
PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z);
PetscErrorCode mult_transpose(Mat a, Vec x, Vec y);
PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z);
PetscErrorCode view(Mat a, PetscViewer viewer);
PetscErrorCode convert_to_seqaij(Mat a, MatType type, MatReuse reuse, Mat* converted);

constexpr Functions ours{mult, mult_add, mult_transpose, mult_transpose_add, view};

template <class F>
PetscErrorCode get_function(Mat a, MatOperation operation, F** function) {
  PetscAnyFunction any = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOperation(a, operation, &any));
  *function = reinterpret_cast<F*>(any);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode get_functions(Mat a, Functions* f) {
  PetscFunctionBegin;
  PetscCall(get_function(a, MATOP_MULT, &f->mult));
  PetscCall(get_function(a, MATOP_MULT_ADD, &f->mult_add));
  PetscCall(get_function(a, MATOP_MULT_TRANSPOSE, &f->mult_transpose));
  PetscCall(get_function(a, MATOP_MULT_TRANSPOSE_ADD, &f->mult_transpose_add));
  PetscCall(get_function(a, MATOP_VIEW, &f->view));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode set_functions(Mat a, const Functions& f) {
  const auto any = [](auto* function) { return reinterpret_cast<PetscAnyFunction>(function); };
  PetscFunctionBegin;
  PetscCall(MatSetOperation(a, MATOP_MULT, any(f.mult)));
  PetscCall(MatSetOperation(a, MATOP_MULT_ADD, any(f.mult_add)));
  PetscCall(MatSetOperation(a, MATOP_MULT_TRANSPOSE, any(f.mult_transpose)));
  PetscCall(MatSetOperation(a, MATOP_MULT_TRANSPOSE_ADD, any(f.mult_transpose_add)));
  PetscCall(MatSetOperation(a, MATOP_VIEW, any(f.view)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_options(Mat a, Options* options) {
  char layout[64] = "auto";
  const char* const targets[] = {"gpu", "host"};
  PetscInt target = static_cast<PetscInt>(options->encoding.aim.target), threads = options->encoding.threads;
  PetscReal at_most = options->encoding.at_most;
  PetscFunctionBegin;
  PetscObjectOptionsBegin(reinterpret_cast<PetscObject>(a));
  PetscCall(PetscOptionsString("-mat_spmvpack_layout", "Layout that encodes the matrix, auto for the fastest",
                               "spmvpack help layouts", layout, layout, sizeof layout, nullptr));
  PetscCall(PetscOptionsEList("-mat_spmvpack_target", "Machine for which auto predicts times", "", targets,
                              static_cast<PetscInt>(std::size(targets)), targets[target], &target, nullptr));
  PetscCall(PetscOptionsReal("-mat_spmvpack_at_most", "Share of csr's predicted time at which auto encodes", "",
                             at_most, &at_most, nullptr));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_after", "Multiplies by AIJ before a matrix is encoded", "",
                                   options->after, &options->after, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_min_nnz", "Fewest entries of a matrix that is encoded", "",
                                   options->min_nnz, &options->min_nnz, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_max_changes", "Changes of an encoded matrix before it stays on AIJ",
                                   "", options->max_changes, &options->max_changes, nullptr, 0));
  PetscCall(PetscOptionsBoundedInt("-mat_spmvpack_threads", "Threads that encode and multiply, 0 for all", "", threads,
                                   &threads, nullptr, 0));
  PetscCall(PetscOptionsBool("-mat_spmvpack_view", "Say what became of the matrix when it is destroyed", "",
                             options->view, &options->view, nullptr));
  PetscOptionsEnd();
  options->encoding.layout = layout;
  options->encoding.aim.target = static_cast<encoder::Target>(target);
  options->encoding.threads = static_cast<int>(threads);
  options->encoding.at_most = at_most;
  PetscCall(guarded([&] { check_layout(options->encoding.layout); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode delete_state(State* state) {
  PetscFunctionBegin;
  const bool multiplied = state->contents.row_ptr != nullptr;
  if (state->options.view != PETSC_FALSE && multiplied && state->nnz >= state->options.min_nnz) {
    int rank = 0;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    std::string text;
    PetscCall(guarded([&] { text = description_of(*state); }));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] spmvpack: %s", rank, text.c_str()));
  }
  delete state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatRetrieveValues() before PETSc 3.26 changes values and leaves the matrix's state as it is.
PetscErrorCode retrieve_values(Mat a) {
  PetscErrorCode (*of_aij)(Mat) = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(a), aij_retrieve_name, &of_aij));
  PetscCheck(of_aij != nullptr, PETSC_COMM_SELF, PETSC_ERR_SUP, "This matrix has no stored values to retrieve");
  PetscCall(of_aij(a));
  PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Composes a new State and all functions with a matrix whose own functions are `aij`.
PetscErrorCode attach(Mat a, const Functions& aij) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscErrorCode (*retrieve)(Mat) = nullptr;
  PetscContainer container = nullptr;
  State* state = nullptr;
  PetscFunctionBegin;
  PetscCall(guarded([&] { state = new State; }));
  PetscCall((make_container<State, delete_state>(state, &container)));
  PetscCall(PetscObjectCompose(object, state_name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PetscObjectGetId(object, &state->owner));
  state->aij = aij;
  PetscCall(read_options(a, &state->options));
  PetscCall(PetscObjectQueryFunction(object, retrieve_name, &retrieve));
  if (retrieve != nullptr && retrieve != retrieve_values) {
    PetscCall(PetscObjectComposeFunction(object, aij_retrieve_name, retrieve));
    PetscCall(PetscObjectComposeFunction(object, retrieve_name, retrieve_values));
  }
  PetscCall(compose_conversions(a, MATSEQAIJ, seq_type, convert_to_seqaij, convert_to_seq));
  PetscCall(set_functions(a, ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What attach() has composed, taken off again.
PetscErrorCode detach(Mat a, const Functions& aij) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscErrorCode (*retrieve)(Mat) = nullptr;
  PetscFunctionBegin;
  PetscCall(set_functions(a, aij));
  PetscCall(PetscObjectQueryFunction(object, aij_retrieve_name, &retrieve));
  if (retrieve != nullptr) {
    PetscCall(PetscObjectComposeFunction(object, retrieve_name, retrieve));
    PetscCall(PetscObjectComposeFunction(object, aij_retrieve_name, nullptr));
  }
  PetscCall(remove_conversions(a, MATSEQAIJ, seq_type));
  PetscCall(PetscObjectCompose(object, state_name, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The functions of any MATSEQAIJ.
PetscErrorCode functions_of_seqaij(Functions* aij) {
  Mat plain = nullptr;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &plain));
  PetscCall(MatSetSizes(plain, 0, 0, 0, 0));
  PetscCall(MatSetType(plain, MATSEQAIJ));
  PetscCall(get_functions(plain, aij));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix's State; a new one if it has another's or none. MatHeaderMerge() leaves a matrix its type and functions,
/// and gives it what is composed with another, which may be a plain MATSEQAIJ.
PetscErrorCode state_of(Mat a, State** state) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscObject found = nullptr;
  PetscObjectId id = 0;
  PetscFunctionBegin;
  for (Functions aij;;) {
    PetscCall(PetscObjectQuery(object, state_name, &found));
    if (found != nullptr) {
      void* pointer = nullptr;
      PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &pointer));
      *state = static_cast<State*>(pointer);
      PetscCall(PetscObjectGetId(object, &id));
      if ((*state)->owner == id) break;
      aij = (*state)->aij;
    } else {
      PetscCall(functions_of_seqaij(&aij));
    }
    PetscCall(attach(a, aij));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = op(A) x, or with `y`, which may be z, op(A) x + y. Vectors may be parallel: this rank's elements are meant.
PetscErrorCode multiply(Mat a, bool transpose, Vec x, Vec y, Vec z) {
  State* state = nullptr;
  Multiplier with;
  const PetscScalar *from = nullptr, *addend = nullptr;
  PetscScalar* to = nullptr;
  PetscLogDouble start = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(state_of(a, &state));
  PetscCall(find_multiplier(a, *state, transpose, &with));
  if (with.matrix == nullptr) {
    if (y == nullptr)
      PetscCall((transpose ? state->aij.mult_transpose : state->aij.mult)(a, x, z));
    else
      PetscCall((transpose ? state->aij.mult_transpose_add : state->aij.mult_add)(a, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto m = static_cast<std::uint64_t>(transpose ? state->cols : state->rows);
  const auto n = static_cast<std::uint64_t>(transpose ? state->rows : state->cols);
  PetscCall(VecGetArrayRead(x, &from));
  if (y == z) {
    PetscCall(VecGetArray(z, &to));
  } else {
    PetscCall(VecGetArrayWrite(z, &to));
    if (y != nullptr) {
      PetscCall(VecGetArrayRead(y, &addend));
      std::copy_n(addend, m, to);
      PetscCall(VecRestoreArrayRead(y, &addend));
    }
  }
  PetscCall(PetscLogEventBegin(events.multiply, a, x, z, 0));
  PetscCall(PetscTime(&start));
  PetscCall(guarded([&] {
    with.matrix->multiply<double>(1, {from, n}, y == nullptr ? 0 : 1, DenseView<double>(to, m),
                                  state->options.encoding.threads, describe<double>(with.operation));
  }));
  PetscCall(PetscTime(&end));
  const double first_products = y == nullptr ? static_cast<double>(with.of->encoding.filled_rows) : 0;
  PetscCall(PetscLogFlops(2.0 * state->nnz - first_products));
  PetscCall(PetscLogEventEnd(events.multiply, a, x, z, 0));
  ++with.of->multiplies;
  with.of->multiply_seconds += end - start;
  if (y == z)
    PetscCall(VecRestoreArray(z, &to));
  else
    PetscCall(VecRestoreArrayWrite(z, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mult(Mat a, Vec x, Vec y) { return multiply(a, false, x, nullptr, y); }
PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) { return multiply(a, false, x, y, z); }
PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) { return multiply(a, true, x, nullptr, y); }
PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z) { return multiply(a, true, x, y, z); }

PetscErrorCode view(Mat a, PetscViewer viewer) {
  State* state = nullptr;
  PetscBool ascii = PETSC_FALSE;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscFunctionBegin;
  PetscCall(state_of(a, &state));
  PetscCall(update(a, *state));
  PetscCall(state->aij.view(a, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_FALSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
    std::string text;
    PetscCall(guarded([&] { text = description_of(*state); }));
    PetscCall(PetscViewerASCIIPrintf(viewer, "spmvpack: %s", text.c_str()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_seqaij(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  State* state = nullptr;
  PetscBool is_ours = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(matrix_to_change(a, reuse, &b));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(b), seq_type, &is_ours));
  if (is_ours != PETSC_FALSE) {
    PetscCall(state_of(b, &state));
    const Functions aij = state->aij;
    PetscCall(detach(b, aij));
    PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(b), MATSEQAIJ));
  }
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode convert_to_seq(Mat a, MatType /*type*/, MatReuse reuse, Mat* converted) {
  Mat b = *converted;
  Functions aij;
  PetscBool is_ours = PETSC_FALSE, is_aij = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(matrix_to_change(a, reuse, &b));
  const auto object = reinterpret_cast<PetscObject>(b);
  PetscCall(PetscObjectTypeCompare(object, seq_type, &is_ours));
  if (is_ours == PETSC_FALSE) {
    PetscCall(PetscObjectTypeCompare(object, MATSEQAIJ, &is_aij));
    if (is_aij == PETSC_FALSE) PetscCall(MatConvert(b, MATSEQAIJ, MAT_INPLACE_MATRIX, &b));
    PetscCall(get_functions(b, &aij));
    PetscCall(PetscObjectChangeTypeName(object, seq_type));
    PetscCall(attach(b, aij));
  }
  *converted = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode host_state_of(Mat a, State** state) {
  PetscBool is_ours = PETSC_FALSE;
  PetscFunctionBegin;
  *state = nullptr;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(a), seq_type, &is_ours));
  if (is_ours != PETSC_FALSE) PetscCall(state_of(a, state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_seq(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATSEQAIJ));
  PetscCall(convert_to_seq(a, seq_type, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
