// What PETSc calls when it loads the library (-dll_append): checks that this is the PETSc it was built for, and
// registers the types.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "helper.hpp"
#include "types.hpp"

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE) || defined(PETSC_USE_64BIT_INDICES)
#error "spmvpack's plug-in is for a PETSc with real scalars in double precision and 32-bit indices"
#endif

namespace spmvpack::petsc {

Events events;

namespace {

/// How many bytes a number takes in the PETSc that runs: `parse` writes one over bytes that are all ones. The headers
/// tell of the PETSc that this was built with.
template <class T>
PetscErrorCode size_of_number(PetscErrorCode (*parse)(const char*, T*), std::size_t* bytes) {
  alignas(16) unsigned char place[32];
  std::memset(place, 0xFF, sizeof place);
  PetscFunctionBegin;
  PetscCall(parse("0", reinterpret_cast<T*>(place)));
  *bytes = 0;
  while (*bytes < sizeof place && place[*bytes] == 0) ++*bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuses a PETSc that this was not built for, whose names may be the same.
PetscErrorCode check_petsc() {
  PetscInt major = 0, minor = 0;
  std::size_t of_int = 0, of_scalar = 0;
  PetscFunctionBegin;
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) {  // the one that this is linked with has not begun, and reports no errors
    std::fputs(
        "spmvpack: this plug-in is linked with another PETSc library than the program, which is perhaps one with "
        "complex scalars or 64-bit indices; build it for the program's\n",
        stderr);
    PetscFunctionReturn(PETSC_ERR_SUP);
  }
  PetscCall(PetscGetVersionNumber(&major, &minor, nullptr, nullptr));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "spmvpack: this plug-in is for PETSc %d.%d, the program runs with %d.%d; build it for that",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, static_cast<int>(major), static_cast<int>(minor));
  PetscCall(size_of_number(PetscOptionsStringToInt, &of_int));
  PetscCheck(of_int == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "spmvpack: this plug-in is for a PETSc with 32-bit indices, the program's has %d-bit ones",
             static_cast<int>(8 * of_int));
  PetscCall(size_of_number(PetscOptionsStringToScalar, &of_scalar));
  PetscCheck(of_scalar == sizeof(PetscScalar), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "spmvpack: this plug-in is for a PETSc with real scalars of 8 bytes, the program's have %d bytes%s",
             static_cast<int>(of_scalar), of_scalar == 2 * sizeof(PetscScalar) ? " (complex)" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace
}  // namespace spmvpack::petsc

/// The name that PETSc makes of libspmvpack-petsc.so.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_spmvpack_petsc() {
  using namespace spmvpack::petsc;
  PetscFunctionBegin;
  PetscCall(check_petsc());
  PetscCall(MatRegister(seq_type, create_seq));
  PetscCall(MatRegister(mpi_type, create_mpi));
  PetscCall(register_types_that_load());
  PetscCall(MatRegisterRootName(root_type, seq_type, mpi_type));
  PetscCall(MatSeqAIJRegister(seq_type, convert_to_seq));
  PetscCall(register_gpu_types());
  PetscCall(PetscLogEventRegister("SpmvpackEncode", MAT_CLASSID, &events.encode));
  PetscCall(PetscLogEventRegister("SpmvpackUpdate", MAT_CLASSID, &events.update));
  PetscCall(PetscLogEventRegister("SpmvpackMult", MAT_CLASSID, &events.multiply));
  PetscCall(PetscLogEventRegister("SpmvpackLocal", MAT_CLASSID, &events.local));
  PetscCall(PetscLogEventRegister("SpmvpackNonlocal", MAT_CLASSID, &events.nonlocal));
  PetscCall(PetscLogEventRegister("SpmvpackComm", MAT_CLASSID, &events.exchange));
  PetscCall(PetscRegisterFinalize(stop_helper));
  PetscFunctionReturn(PETSC_SUCCESS);
}
