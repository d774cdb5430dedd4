/* Heat that spreads in a square: implicit steps in time, each a linear system with the same matrix. An ordinary program
   of PETSc, which knows nothing of spmvpack:

     cc heat.c $(pkg-config --cflags --libs PETSc mpi-c) -o heat
     mpiexec -n 2 ./heat -n 500
     export PETSC_OPTIONS="-dll_append libspmvpack-petsc.so -mat_seqaij_type seqaijspmvpack -mat_spmvpack_view"
     mpiexec -n 2 ./heat -n 500 */
#include <petscksp.h>

/* The matrix of u - dt * laplace(u) on n x n points with a distance of 1/(n+1). */
static PetscErrorCode assemble(PetscInt n, PetscReal dt, Mat* a) {
  const PetscReal weight = dt * (PetscReal)((n + 1) * (n + 1));
  PetscInt first, last;
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSeqAIJSetPreallocation(*a, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*a, 5, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / n, j = row % n;
    if (i > 0) PetscCall(MatSetValue(*a, row, row - n, -weight, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - 1, -weight, INSERT_VALUES));
    PetscCall(MatSetValue(*a, row, row, 1 + 4 * weight, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -weight, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n, -weight, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 100, steps = 10, iterations = 0;
  PetscReal dt = 1e-3, heat;
  Mat a;
  Vec u;
  KSP ksp;
  PC pc;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "Implicit steps of the heat equation on a square.\n"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(assemble(n, dt, &a));
  PetscCall(MatCreateVecs(a, &u, NULL));
  PetscCall(VecSet(u, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt step = 0; step < steps; ++step) {
    PetscInt of_step;
    PetscCall(KSPSolve(ksp, u, u));
    PetscCall(KSPGetIterationNumber(ksp, &of_step));
    iterations += of_step;
  }
  PetscCall(VecSum(u, &heat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps, %d iterations, heat %.6f\n", (int)steps, (int)iterations,
                        (double)(heat / ((PetscReal)(n + 1) * (PetscReal)(n + 1)))));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
