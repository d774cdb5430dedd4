#pragma once
// A thread beside the one that calls PETSc and MPI.

#include <functional>

#include "versions.hpp"

namespace spmvpack::petsc {

/// Whether this process may run on two processors: on one, the thread would only be in the way.
bool has_processor_for_helper();
/// Lets the helper do `work`, which calls neither PETSc nor MPI. One work at a time. std::system_error if there can be
/// no such thread.
void start_helper(std::function<void()> work);
/// Waits until the work is done, and throws what it has thrown.
void finish_helper();
/// Ends the thread, if there is one.
PetscErrorCode stop_helper();

}  // namespace spmvpack::petsc
