#pragma once
// From exceptions to PETSc's errors: none leaves the plug-in.

#include <exception>
#include <new>
#include <string>

#include "spmvpack/container/base/error.hpp"
#include "versions.hpp"

namespace spmvpack::petsc {

/// PETSc's number for one of our errors.
inline PetscErrorCode number_of(errc code) noexcept {
  switch (code) {
    case errc::usage:
      return PETSC_ERR_USER_INPUT;
    case errc::unsupported:
      return PETSC_ERR_SUP;
    case errc::out_of_memory:
      return PETSC_ERR_MEM;
    default:
      return PETSC_ERR_LIB;
  }
}

/// Calls f(); what it throws becomes an error of PETSc with the same text.
template <class F>
PetscErrorCode guarded(F&& f) {
  PetscFunctionBegin;
  try {
    f();
  } catch (const Error& e) {
    SETERRQ(PETSC_COMM_SELF, number_of(e.code()), "spmvpack: %s", e.what());
  } catch (const std::bad_alloc&) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "spmvpack: out of memory");
  } catch (const std::exception& e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "spmvpack: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Calls f(), and returns what it throws as text; empty if it returns.
template <class F>
std::string failure_of(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace spmvpack::petsc
