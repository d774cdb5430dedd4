// MatConvert() looks for a converter named after both types. A type that is AIJ but in name gets AIJ's.

#include <fmt/format.h>

#include <string_view>

#include "types.hpp"

namespace spmvpack::petsc {
namespace {

/// All that PETSc 3.18 to 3.26 converts AIJ to, but for AIJ's own other types: {"hypre", "is", ...} for both, and the
/// names behind "seq" or "mpi".
constexpr const char* whole_names[] = {"hypre", "is", "elemental", "scalapack", "shell", "preallocator", "nest"};
constexpr const char* half_names[] = {"dense",       "densecuda",   "densehip",     "baij",      "sbaij",  "sell",
                                      "sellcuda",    "sellhip",     "aijperm",      "aijsell",   "aijmkl", "aijcrl",
                                      "aijviennacl", "aijcusparse", "aijhipsparse", "aijkokkos", "baijmkl"};

/// Calls f(name of AIJ's converter, name of ours) for each.
template <class F>
PetscErrorCode each_conversion(const char* base, const char* own, F&& f) {
  const std::string_view half = std::string_view(base).substr(0, 3);
  PetscFunctionBegin;
  for (const char* const name : whole_names)
    PetscCall(f(fmt::format("MatConvert_{}_{}_C", base, name), fmt::format("MatConvert_{}_{}_C", own, name)));
  for (const char* const name : half_names)
    PetscCall(
        f(fmt::format("MatConvert_{}_{}{}_C", base, half, name), fmt::format("MatConvert_{}_{}{}_C", own, half, name)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode compose_conversions(Mat a, const char* base, const char* own, Converter* to_base, Converter* from_base) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscFunctionBegin;
  PetscCall(each_conversion(base, own, [&](const std::string& of_aij, const std::string& of_own) -> PetscErrorCode {
    Converter* converter = nullptr;
    PetscCall(PetscObjectQueryFunction(object, of_aij.c_str(), &converter));
    if (converter != nullptr) PetscCall(PetscObjectComposeFunction(object, of_own.c_str(), converter));
    return PETSC_SUCCESS;
  }));
  PetscCall(PetscObjectComposeFunction(object, fmt::format("MatConvert_{}_{}_C", own, base).c_str(), to_base));
  PetscCall(PetscObjectComposeFunction(object, fmt::format("MatConvert_{}_{}_C", base, own).c_str(), from_base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_conversions(Mat a, const char* base, const char* own) {
  const auto object = reinterpret_cast<PetscObject>(a);
  PetscFunctionBegin;
  PetscCall(each_conversion(base, own, [&](const std::string& /*of_aij*/, const std::string& of_own) -> PetscErrorCode {
    PetscCall(PetscObjectComposeFunction(object, of_own.c_str(), nullptr));
    return PETSC_SUCCESS;
  }));
  PetscCall(PetscObjectComposeFunction(object, fmt::format("MatConvert_{}_{}_C", own, base).c_str(), nullptr));
  PetscCall(PetscObjectComposeFunction(object, fmt::format("MatConvert_{}_{}_C", base, own).c_str(), nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode matrix_to_change(Mat a, MatReuse reuse, Mat* changed) {
  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX)
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, changed));
  else if (reuse == MAT_REUSE_MATRIX)
    PetscCall(MatCopy(a, *changed, DIFFERENT_NONZERO_PATTERN));
  else
    *changed = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode matrix_to_change_of(MatType type, Mat a, MatReuse reuse, Mat* changed) {
  PetscBool is_of_type = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(matrix_to_change(a, reuse, changed));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(*changed), type, &is_of_type));
  if (is_of_type == PETSC_FALSE) PetscCall(MatConvert(*changed, type, MAT_INPLACE_MATRIX, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
