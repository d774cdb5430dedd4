/* Values that change while the pattern stays: time steps of heat whose conductivity changes, by MatSetValues() and by
   MatSetValuesCOO(), and Newton's method. An ordinary program of PETSc, which knows nothing of spmvpack. Each matrix is
   there twice, as MATAIJ and of the type that options ask for, and must give the same products, up to rounding.

     mpiexec -n 2 new_values -mat_type aijspmvpack [-n 20] [-steps 6] [-pattern]

   Prints how many steps of Newton's method there were; exits with 1 after a difference. */
#include <petscsnes.h>

static PetscInt n = 20, first = 0, last = 0, differences = 0;

/* Conductivity between two of the n x n points, at a time. */
static PetscScalar conductivity(PetscInt row, PetscInt col, PetscInt time) {
  return 1 + (PetscScalar)((3 * row + 5 * col + 7 * time) % 17) / 16;
}

/* The entries of this rank's rows at a time; diagonals come in two halves. Room for six a row. */
static PetscInt entries(PetscInt time, PetscInt* rows, PetscInt* cols, PetscScalar* values) {
  PetscInt count = 0;
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / n, j = row % n, beside[4] = {row - n, row - 1, row + 1, row + n};
    const PetscBool inside[4] = {(PetscBool)(i > 0), (PetscBool)(j > 0), (PetscBool)(j < n - 1),
                                 (PetscBool)(i < n - 1)};
    for (int k = 0; k < 6; ++k) {
      if (k < 4 && !inside[k]) continue;
      rows[count] = row;
      cols[count] = k < 4 ? beside[k] : row;
      values[count++] = k < 4 ? -conductivity(row, beside[k], time) : 2.5 + conductivity(row, row, time);
    }
  }
  return count;
}

static PetscErrorCode make(PetscBool from_options, Mat* a) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, last - first, last - first, n * n, n * n));
  if (from_options)
    PetscCall(MatSetFromOptions(*a));
  else
    PetscCall(MatSetType(*a, MATAIJ));
  PetscFunctionReturn(0);
}

static PetscErrorCode assemble(Mat a) {
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode compare(const char* what, PetscInt time, Vec expected, Vec found) {
  PetscReal norm, apart;
  PetscFunctionBeginUser;
  PetscCall(VecNorm(expected, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(found, -1, expected));
  PetscCall(VecNorm(found, NORM_INFINITY, &apart));
  if (!(apart <= 1e-13 * norm)) {
    ++differences;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, time %d: products differ by %g of %g\n", what, (int)time,
                          (double)apart, (double)norm));
  }
  PetscFunctionReturn(0);
}

/* Three multiplies with A and with A^T at a time. */
static PetscErrorCode multiply(const char* what, PetscInt time, Mat aij, Mat ours) {
  Vec x, y, z;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(aij, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  for (PetscInt row = first; row < last; ++row)
    PetscCall(VecSetValue(x, row, (PetscScalar)((13 * row + 7 * time) % 29) / 28 - 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  for (int again = 0; again < 3; ++again) {
    PetscCall(MatMult(aij, x, y));
    PetscCall(MatMult(ours, x, z));
    PetscCall(compare(what, time, y, z));
    PetscCall(MatMultTranspose(aij, x, y));
    PetscCall(MatMultTranspose(ours, x, z));
    PetscCall(compare(what, time, y, z));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Another pattern with as many entries: every row has one further to the right, and its first one no more. */
static PetscErrorCode change_pattern(Mat a, PetscInt time) {
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt row = first; row < last; ++row)
    PetscCall(MatSetValue(a, row, (row + 2) % (n * n), conductivity(row, row, time), INSERT_VALUES));
  PetscCall(assemble(a));
  PetscFunctionReturn(0);
}

static PetscErrorCode steps(PetscBool coo, PetscInt steps, PetscBool pattern) {
  const char* const what = coo ? "MatSetValuesCOO" : "MatSetValues";
  const size_t most = 6 * (size_t)(last - first);
  PetscInt *rows, *cols, count;
  PetscScalar* values;
  Mat a[2];
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(most, &rows, most, &cols, most, &values));
  for (int k = 0; k < 2; ++k) {
    PetscCall(make((PetscBool)k, &a[k]));
    count = entries(0, rows, cols, values); /* again: MatSetPreallocationCOO() moves indices */
    if (coo) {
      PetscCall(MatSetPreallocationCOO(a[k], count, rows, cols));
      continue;
    }
    PetscCall(MatSeqAIJSetPreallocation(a[k], 6, NULL));
    PetscCall(MatMPIAIJSetPreallocation(a[k], 6, NULL, 4, NULL));
  }
  for (PetscInt time = 0; time < steps + (pattern ? 2 : 0); ++time) {
    for (int k = 0; k < 2; ++k) {
      count = entries(time, rows, cols, values);
      if (coo && time == steps) PetscCall(MatSetPreallocationCOO(a[k], count, cols, rows)); /* of the transpose */
      if (coo) {
        PetscCall(MatSetValuesCOO(a[k], values, time % 3 == 2 ? ADD_VALUES : INSERT_VALUES));
        continue;
      }
      PetscCall(MatZeroEntries(a[k]));
      for (PetscInt e = 0; e < count; ++e) PetscCall(MatSetValue(a[k], rows[e], cols[e], values[e], ADD_VALUES));
      PetscCall(assemble(a[k]));
      if (time == steps) PetscCall(change_pattern(a[k], time));
    }
    PetscCall(multiply(what, time, a[0], a[1]));
  }
  for (int k = 0; k < 2; ++k) PetscCall(MatDestroy(&a[k]));
  PetscCall(PetscFree3(rows, cols, values));
  PetscFunctionReturn(0);
}

/* -laplace(u) = 1 + u^3 / 2, by differences without the distance's square. */
static PetscErrorCode residual(SNES snes, Vec u, Vec f, void* matrix) {
  const PetscScalar* at;
  PetscScalar* to;
  PetscFunctionBeginUser;
  (void)snes;
  PetscCall(MatMult((Mat)matrix, u, f));
  PetscCall(VecGetArrayRead(u, &at));
  PetscCall(VecGetArray(f, &to));
  for (PetscInt k = 0; k < last - first; ++k) to[k] -= 0.01 * (1 + at[k] * at[k] * at[k] / 2);
  PetscCall(VecRestoreArray(f, &to));
  PetscCall(VecRestoreArrayRead(u, &at));
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_jacobian(Mat j, const PetscScalar* u) {
  PetscFunctionBeginUser;
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt beside[4] = {row / n > 0 ? row - n : -1, row % n > 0 ? row - 1 : -1, row % n < n - 1 ? row + 1 : -1,
                                row / n < n - 1 ? row + n : -1};
    const PetscScalar ones[4] = {-1, -1, -1, -1};
    const PetscScalar at = u ? u[row - first] : 0;
    PetscCall(MatSetValues(j, 1, &row, 4, beside, ones, INSERT_VALUES));
    PetscCall(MatSetValue(j, row, row, 4 - 0.015 * at * at, INSERT_VALUES));
  }
  PetscCall(assemble(j));
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian(SNES snes, Vec u, Mat j, Mat p, void* context) {
  const PetscScalar* at;
  PetscFunctionBeginUser;
  (void)snes;
  (void)p;
  (void)context;
  PetscCall(VecGetArrayRead(u, &at));
  PetscCall(fill_jacobian(j, at));
  PetscCall(VecRestoreArrayRead(u, &at));
  PetscFunctionReturn(0);
}

static PetscErrorCode newton(PetscInt* jacobians) {
  PetscInt linear[2], nonlinear[2];
  Vec u[2], f;
  Mat laplace;
  PetscFunctionBeginUser;
  PetscCall(make(PETSC_FALSE, &laplace));
  PetscCall(MatSetUp(laplace));
  PetscCall(fill_jacobian(laplace, NULL));
  PetscCall(MatCreateVecs(laplace, NULL, &f));
  for (int k = 0; k < 2; ++k) {
    SNES snes;
    KSP ksp;
    PC pc;
    Mat j;
    PetscCall(make((PetscBool)k, &j));
    PetscCall(MatSetUp(j));
    PetscCall(VecDuplicate(f, &u[k]));
    PetscCall(VecSet(u[k], 1));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetFunction(snes, f, residual, laplace));
    PetscCall(SNESSetJacobian(snes, j, j, jacobian, NULL));
    PetscCall(SNESSetTolerances(snes, 1e-11, 1e-11, 1e-12, 20, 1000));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(SNESSolve(snes, NULL, u[k]));
    PetscCall(SNESGetIterationNumber(snes, &nonlinear[k]));
    PetscCall(SNESGetLinearSolveIterations(snes, &linear[k]));
    PetscCall(SNESDestroy(&snes));
    PetscCall(MatDestroy(&j));
  }
  if (nonlinear[0] != nonlinear[1] || PetscAbsInt(linear[0] - linear[1]) > linear[0] / 50) {
    ++differences;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Newton's method: %d steps and %d of CG, instead of %d and %d\n",
                          (int)nonlinear[1], (int)linear[1], (int)nonlinear[0], (int)linear[0]));
  }
  PetscReal norm, apart;
  PetscCall(VecNorm(u[0], NORM_INFINITY, &norm));
  PetscCall(VecAXPY(u[1], -1, u[0]));
  PetscCall(VecNorm(u[1], NORM_INFINITY, &apart));
  if (!(apart <= 1e-9 * norm)) ++differences;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Newton's method: %d steps, solutions differ by %g of %g\n",
                        (int)nonlinear[1], (double)apart, (double)norm));
  *jacobians = nonlinear[1];
  for (int k = 0; k < 2; ++k) PetscCall(VecDestroy(&u[k]));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&laplace));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt times = 6, jacobians, rows = PETSC_DECIDE, all;
  PetscBool pattern = PETSC_FALSE;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &times, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pattern", &pattern, NULL));
  all = n * n;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &rows, &all));
  PetscCallMPI(MPI_Scan(&rows, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  first = last - rows;
  PetscCall(steps(PETSC_FALSE, times, pattern));
  PetscCall(steps(PETSC_TRUE, times, pattern));
  PetscCall(newton(&jacobians));
  PetscCall(PetscFinalize());
  return differences == 0 ? 0 : 1;
}
