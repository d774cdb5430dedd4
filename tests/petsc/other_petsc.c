/* Loaded before PETSc, what PETSc says of itself: where SPMVPACK_TEST_PETSC is "complex", "index64" or "version", it is
   as if the program ran with a PETSc of that kind; where it is "thread", as if MPI were for one thread. */
#include <mpi.h>
#include <petscversion.h>
#include <stdlib.h>
#include <string.h>

static int is(const char* kind) {
  const char* const chosen = getenv("SPMVPACK_TEST_PETSC");
  return chosen != NULL && strcmp(chosen, kind) == 0;
}

int PetscOptionsStringToInt(const char* text, void* value);
int PetscOptionsStringToInt(const char* text, void* value) {
  const long long wide = atoll(text);
  const int narrow = (int)wide;
  if (is("index64"))
    memcpy(value, &wide, sizeof wide);
  else
    memcpy(value, &narrow, sizeof narrow);
  return 0;
}

int PetscOptionsStringToScalar(const char* text, void* value);
int PetscOptionsStringToScalar(const char* text, void* value) {
  const double parts[2] = {atof(text), 0};
  memcpy(value, parts, is("complex") ? sizeof parts : sizeof parts[0]);
  return 0;
}

int PetscGetVersionNumber(int* major, int* minor, int* subminor, int* release);
int PetscGetVersionNumber(int* major, int* minor, int* subminor, int* release) {
  *major = PETSC_VERSION_MAJOR;
  *minor = PETSC_VERSION_MINOR - is("version");
  if (subminor != NULL) *subminor = PETSC_VERSION_SUBMINOR;
  if (release != NULL) *release = PETSC_VERSION_RELEASE;
  return 0;
}

int MPI_Query_thread(int* provided) {
  const int result = PMPI_Query_thread(provided);
  if (is("thread")) *provided = MPI_THREAD_SINGLE;
  return result;
}
