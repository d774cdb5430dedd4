#include "products.hpp"

#include "errors.hpp"
#include "product_functions.hpp"
#include "types.hpp"

namespace spmvpack::petsc {
namespace {

constexpr const char* seq_products = "MatProductSetFromOptions_seqaijspmvpack_seqdense_C";
constexpr const char* seq_products_of_aij = "MatProductSetFromOptions_seqaij_seqdense_C";
constexpr const char* mpi_products = "MatProductSetFromOptions_mpiaijspmvpack_mpidense_C";

PetscErrorCode multiply_seq(Mat a, bool transpose, Mat b, Mat c, bool* done) {
  State* state = nullptr;
  DenseRead x;
  DenseWrite y;
  PetscFunctionBegin;
  PetscCall(host_state_of(a, &state));
  if (state == nullptr) PetscFunctionReturn(PETSC_SUCCESS);  // it has been converted since
  PetscCall(x.get(b));
  PetscCall(y.get(c));
  const PetscErrorCode error = multiply_columns(a, *state, transpose, x.view, false, y.view, done);
  PetscCall(y.restore(c));
  PetscCall(x.restore(b));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode products_of_aij(Mat a, Mat b, OfMatrix** set_from_options) {
  PetscFunctionBegin;
  PetscCall(query(a, seq_products_of_aij, set_from_options));
  if (*set_from_options == nullptr) PetscCall(query(b, seq_products_of_aij, set_from_options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using SeqProducts = ProductsBy<multiply_seq, products_of_aij, false>;

PetscErrorCode mpi_numeric(Mat c) {
  Mat a = nullptr, b = nullptr;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(multiply_columns_by_mode(a, b, c));
  PetscCall(MatAssemblyBegin(c, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// As PETSc makes the result where it multiplies column by column.
PetscErrorCode mpi_symbolic(Mat c) {
  Mat a = nullptr, b = nullptr;
  PetscInt rows = 0, all_rows = 0, columns = 0, all_columns = 0;
  PetscBool is_dense = PETSC_FALSE;
  MatType type = nullptr;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  PetscCall(MatGetSize(a, &all_rows, nullptr));
  PetscCall(MatGetLocalSize(b, nullptr, &columns));
  PetscCall(MatGetSize(b, nullptr, &all_columns));
  PetscCall(MatSetSizes(c, rows, columns, all_rows, all_columns));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(c), MATMPIDENSE, &is_dense));
  if (is_dense == PETSC_FALSE) {
    PetscCall(MatGetType(b, &type));
    PetscCall(MatSetType(c, type));
    PetscCall(set_operation(c, MATOP_PRODUCTSYMBOLIC, mpi_symbolic));  // MatSetType() has taken it away
  }
  PetscCall(set_operation(c, MATOP_PRODUCTNUMERIC, mpi_numeric));
  PetscCall(MatSetUp(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A^T B is left to PETSc, which multiplies by both blocks column by column.
PetscErrorCode mpi_set_from_options(Mat c) {
  Mat a = nullptr, b = nullptr;
  PetscInt columns = 0, rows = 0;
  bool ours = false, transpose = false;
  PetscFunctionBegin;
  PetscCall(is_ours(c, &ours, &transpose));
  if (!ours || transpose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(MatGetLocalSize(a, nullptr, &columns));
  PetscCall(MatGetLocalSize(b, &rows, nullptr));
  PetscCheck(rows == columns, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Incompatible partition of A (%" PetscInt_FMT ") and B (%" PetscInt_FMT ")", columns, rows);
  PetscCall(set_operation(c, MATOP_PRODUCTSYMBOLIC, mpi_symbolic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sizes and leading dimension, with the elements of a matrix's own.
template <class View, class T>
PetscErrorCode view_of(Mat matrix, T* elements, View* view) {
  PetscInt rows = 0, columns = 0, leading = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatGetSize(matrix, nullptr, &columns));
  PetscCall(MatDenseGetLDA(matrix, &leading));
  *view = {elements, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), 1, leading};
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode DenseRead::get(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatDenseGetArrayRead(matrix, &elements));
  PetscCall(view_of(matrix, elements, &view));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DenseRead::restore(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayRead(matrix, &elements));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DenseWrite::get(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatDenseGetArrayWrite(matrix, &elements));
  PetscCall(view_of(matrix, elements, &view));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode DenseWrite::restore(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayWrite(matrix, &elements));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose_seq_products(Mat a) { return compose(a, seq_products, SeqProducts::set_from_options); }
PetscErrorCode remove_seq_products(Mat a) { return compose(a, seq_products, nullptr); }
PetscErrorCode compose_mpi_products(Mat a) { return compose(a, mpi_products, mpi_set_from_options); }
PetscErrorCode remove_mpi_products(Mat a) { return compose(a, mpi_products, nullptr); }

PetscErrorCode multiply_columns(Mat a, State& state, bool transpose, const DenseView<const double>& x, bool adds,
                                const DenseView<double>& y, bool* done) {
  Multiplier with;
  PetscLogDouble start = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(find_multiplier(a, state, transpose, &with, static_cast<PetscInt>(x.cols)));
  *done = with.matrix != nullptr;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(events.multiply, a, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(guarded([&] {
    with.matrix->multiply<double>(1, x, adds ? 1 : 0, y, state.options.encoding.threads,
                                  describe<double>(with.operation));
  }));
  PetscCall(PetscTime(&end));
  const double first_products = adds ? 0 : static_cast<double>(with.of->encoding.filled_rows);
  PetscCall(PetscLogFlops(static_cast<double>(x.cols) * (2.0 * state.nnz - first_products)));
  PetscCall(PetscLogEventEnd(events.multiply, a, 0, 0, 0));
  with.of->multiplies += static_cast<PetscInt64>(x.cols);
  with.of->multiply_seconds += end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
