#pragma once
// What a MatProduct with a dense matrix calls, on the host and on a GPU alike. PETSc finds it by the names of both
// types, composed with A.

#include "versions.hpp"

namespace spmvpack::petsc {

using OfMatrix = PetscErrorCode(Mat);

template <class F>
PetscErrorCode query(Mat a, const char* name, F** function) {
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(a), name, function));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class F>
PetscErrorCode compose(Mat a, const char* name, F function) {
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(a), name, function));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the product is A B or A^T B, the two that are ours.
inline PetscErrorCode is_ours(Mat c, bool* ours, bool* transpose) {
  MatProductType type = MATPRODUCT_UNSPECIFIED;
  PetscFunctionBegin;
  PetscCall(MatProductGetType(c, &type));
  *ours = type == MATPRODUCT_AB || type == MATPRODUCT_AtB;
  *transpose = type == MATPRODUCT_AtB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The phases of c = op(A) B: PETSc's symbolic phase makes c, and its numeric phase computes what `multiply` leaves
/// undone. `of_petsc` finds what PETSc calls for matrices of its own types, null if there is nothing: it then
/// multiplies column by column. `others`: that also does products that are not ours.
template <PetscErrorCode (*multiply)(Mat a, bool transpose, Mat b, Mat c, bool* done),
          PetscErrorCode (*of_petsc)(Mat a, Mat b, OfMatrix** set_from_options), bool others>
struct ProductsBy {
  /// PETSc may call it twice for one product.
  static PetscErrorCode set_from_options(Mat c) {
    Mat a = nullptr, b = nullptr;
    OfMatrix *original = nullptr, *phase = nullptr;
    bool ours = false, transpose = false;
    PetscFunctionBegin;
    PetscCall(is_ours(c, &ours, &transpose));
    PetscCall(MatProductGetMats(c, &a, &b, nullptr));
    PetscCall(of_petsc(a, b, &original));
    if (original == nullptr || !(ours || others)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(original(c));
    PetscCall(get_operation(c, MATOP_PRODUCTSYMBOLIC, &phase));
    if (!ours || phase == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(compose(c, symbolic_name, phase));
    PetscCall(set_operation(c, MATOP_PRODUCTSYMBOLIC, symbolic));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  // What PETSc would do, composed with the result.
  static constexpr const char* symbolic_name = "spmvpack_product_symbolic_C";
  static constexpr const char* numeric_name = "spmvpack_product_numeric_C";

  static PetscErrorCode symbolic(Mat c) {
    OfMatrix* phase = nullptr;
    PetscFunctionBegin;
    PetscCall(query(c, symbolic_name, &phase));
    PetscCall(phase(c));
    PetscCall(get_operation(c, MATOP_PRODUCTNUMERIC, &phase));
    PetscCall(compose(c, numeric_name, phase));
    PetscCall(set_operation(c, MATOP_PRODUCTNUMERIC, numeric));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode numeric(Mat c) {
    Mat a = nullptr, b = nullptr;
    OfMatrix* phase = nullptr;
    bool ours = false, transpose = false, done = false;
    PetscFunctionBegin;
    PetscCall(MatProductGetMats(c, &a, &b, nullptr));
    PetscCall(is_ours(c, &ours, &transpose));
    PetscCall(multiply(a, transpose, b, c, &done));
    if (!done) {
      PetscCall(query(c, numeric_name, &phase));
      PetscCall(phase(c));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(MatAssemblyBegin(c, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(c, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

}  // namespace spmvpack::petsc
