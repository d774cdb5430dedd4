// MATSEQAIJ with another multiply. All else is AIJ's, and works on AIJ's arrays.

#include <algorithm>
#include <cstring>

#include "errors.hpp"
#include "functions.hpp"
#include "products.hpp"

namespace spmvpack::petsc {

namespace {

constexpr const char* retrieve_name = "MatRetrieveValues_C";
constexpr const char* aij_retrieve_name = "MatRetrieveValues_spmvpack_aij_C";

PetscErrorCode state_of(Mat a, State** state);
PetscErrorCode multiply(Mat a, bool transpose, Vec x, Vec y, Vec z);
PetscErrorCode convert_to_seqaij(Mat a, MatType type, MatReuse reuse, Mat* converted);

constexpr const Functions& ours = FunctionsBy<multiply, state_of>::all;

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
  State* state = nullptr;
  PetscFunctionBegin;
  PetscCall(make_state(a, on_host, aij, &state));
  PetscCall(PetscObjectQueryFunction(object, retrieve_name, &retrieve));
  if (retrieve != nullptr && retrieve != retrieve_values) {
    PetscCall(PetscObjectComposeFunction(object, aij_retrieve_name, retrieve));
    PetscCall(PetscObjectComposeFunction(object, retrieve_name, retrieve_values));
  }
  PetscCall(compose_conversions(a, MATSEQAIJ, seq_type, convert_to_seqaij, convert_to_seq));
  PetscCall(compose_seq_products(a));
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
  PetscCall(remove_seq_products(a));
  PetscCall(remove_state(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The functions of any MATSEQAIJ.
PetscErrorCode functions_of_seqaij(Functions* aij) {
  Mat plain = nullptr;
  State* state = nullptr;
  bool own = false;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &plain));
  PetscCall(MatSetSizes(plain, 0, 0, 0, 0));
  PetscCall(MatSetType(plain, MATSEQAIJ));
  PetscCall(find_state(plain, &state, &own));
  if (state != nullptr)  // -mat_seqaij_type has made it one of ours
    *aij = state->aij;
  else
    PetscCall(get_functions(plain, aij));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The matrix's State; a new one if it has another's or none. MatHeaderMerge() leaves a matrix its type and functions,
/// and gives it what is composed with another, which may be a plain MATSEQAIJ.
PetscErrorCode state_of(Mat a, State** state) {
  bool own = false;
  PetscFunctionBegin;
  for (Functions aij;;) {
    PetscCall(find_state(a, state, &own));
    const bool of_seqaij = *state != nullptr && (*state)->place == &on_host;
    if (own && of_seqaij) break;
    if (of_seqaij)
      aij = (*state)->aij;
    else
      PetscCall(functions_of_seqaij(&aij));
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

PetscErrorCode take_over_host(Mat a) { return MatConvert(a, seq_type, MAT_INPLACE_MATRIX, &a); }

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
