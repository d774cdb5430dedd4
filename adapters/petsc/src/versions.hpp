#pragma once
// PETSc's headers, and what differs between PETSc 3.18 and 3.26: nothing else knows a version.

#include <petscmat.h>
#include <petscsf.h>

// PetscObjectStateGet(); of all private headers this one alone is installed for plug-ins.
#include <petsc/private/petscimpl.h>

// How MatGetOperation() and MatSetOperation() take a function.
#if PETSC_VERSION_GE(3, 24, 0)
using PetscAnyFunction = PetscErrorCodeFn*;
#else
using PetscAnyFunction = void (*)();
#endif

#if !PETSC_VERSION_GE(3, 19, 0)
inline constexpr PetscErrorCode PETSC_SUCCESS = 0;
#endif

namespace spmvpack::petsc {

/// A function of a matrix's table.
template <class F>
PetscErrorCode get_operation(Mat a, MatOperation operation, F** function) {
  PetscAnyFunction any = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOperation(a, operation, &any));
  *function = reinterpret_cast<F*>(any);
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class F>
PetscErrorCode set_operation(Mat a, MatOperation operation, F* function) {
  PetscFunctionBegin;
  PetscCall(MatSetOperation(a, operation, reinterpret_cast<PetscAnyFunction>(function)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A container of PETSc that calls Delete(object) when it is destroyed.
template <class T, PetscErrorCode (*Delete)(T*)>
PetscErrorCode make_container(T* object, PetscContainer* container) {
  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, container));
  PetscCall(PetscContainerSetPointer(*container, object));
#if PETSC_VERSION_GE(3, 23, 0)
  PetscCall(PetscContainerSetCtxDestroy(
      *container,  // a void** up to 3.25, a void* that stands for one in 3.26
      [](auto context) -> PetscErrorCode { return Delete(*static_cast<T**>(static_cast<void*>(context))); }));
#else
  PetscCall(PetscContainerSetUserDestroy(
      *container, [](void* context) -> PetscErrorCode { return Delete(static_cast<T*>(context)); }));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
