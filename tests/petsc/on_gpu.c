/* What PETSc computes on a GPU with AIJCUSPARSE and with the plug-in's matrices: the same iterations, norms and
   products, whatever has been done to the matrices in between. On one rank or several, which may share a GPU:

     on_gpu -dll_append libspmvpack-petsc.so -mat_spmvpack_min_nnz 0 -mat_spmvpack_after 1 [-n 40]
     mpiexec -n 2 on_gpu ... -use_gpu_aware_mpi 0

   Products are compared with AIJ on the host, too. Prints a line for each group, and one for each difference; exits
   with 1 if there were any. */
#include <petscdevice.h>
#include <petscksp.h>
#include <stdarg.h>
#include <string.h>

#define PEER "aijcusparse"
#define OURS "aijcusparsespmvpack"

static PetscInt products = 0, failures = 0, size = 40, first = 0, last = 0; /* rows of this rank */
static PetscMPIInt rank = 0, ranks = 1;
static const char* group = "";

/* Counts a failure; the program goes on, so that one run shows them all. */
static void fail(const char* format, ...) {
  va_list arguments;

  ++failures;
  if (failures > 50) return;
  fprintf(stderr, "[%d] FAILED: %s: ", (int)rank, group);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n");
}

/* Diffusion on size x size points, with wind unless symmetric, as entries in any order: a row may have others' entries
   twice, which are added up. `scale` multiplies all. */
static PetscErrorCode entries(PetscScalar scale, PetscBool symmetric, PetscCount* count, PetscInt** rows,
                              PetscInt** cols, PetscScalar** values) {
  const size_t most = 6 * (size_t)(last - first);
  PetscInt n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(most, rows, most, cols, most, values));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / size, j = row % size, at[4][2] = {{i, j + 1}, {i, j - 1}, {i + 1, j}, {i - 1, j}};
    const PetscScalar wind[4] = {0, symmetric ? 0 : 0.4, 0, symmetric ? 0 : 0.2};
    PetscScalar diagonal = 0.01;

    for (int k = 0; k < 4; ++k) {
      const PetscScalar c =
          1 + (PetscScalar)((7 * PetscMin(i, at[k][0]) + 3 * PetscMin(j, at[k][1]) + 40) % 11) / 10 + wind[k];
      diagonal += c;
      if (at[k][0] < 0 || at[k][0] >= size || at[k][1] < 0 || at[k][1] >= size) continue;
      (*rows)[n] = row;
      (*cols)[n] = at[k][0] * size + at[k][1];
      (*values)[n++] = -scale * c;
    }
    for (int half = 0; half < 2; ++half) {
      (*rows)[n] = row;
      (*cols)[n] = row;
      (*values)[n++] = scale * diagonal / 2;
    }
  }
  *count = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(MatType type, PetscBool coo, PetscBool symmetric, Mat* a) {
  PetscCount count = 0;
  PetscInt *rows, *cols;
  PetscScalar* values;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, last - first, last - first, size * size, size * size));
  PetscCall(MatSetType(*a, type));
  if (!coo) PetscCall(MatSeqAIJSetPreallocation(*a, 5, NULL));
  if (!coo) PetscCall(MatMPIAIJSetPreallocation(*a, 5, NULL, 5, NULL));
  PetscCall(entries(1, symmetric, &count, &rows, &cols, &values));
  if (coo) {
    PetscCall(MatSetPreallocationCOO(*a, count, rows, cols));
    PetscCall(MatSetValuesCOO(*a, values, INSERT_VALUES));
  } else {
    for (PetscCount k = 0; k < count; ++k) PetscCall(MatSetValue(*a, rows[k], cols[k], values[k], ADD_VALUES));
    PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(rows, cols, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two vectors must be rounding. */
static PetscErrorCode same(const char* what, Vec expected, Vec found) {
  Vec difference;
  PetscReal norm, apart;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(expected, &difference));
  PetscCall(VecCopy(found, difference));
  PetscCall(VecAXPY(difference, -1, expected));
  PetscCall(VecNorm(expected, NORM_INFINITY, &norm));
  PetscCall(VecNorm(difference, NORM_INFINITY, &apart));
  if (!(apart <= 1e-12 * (norm + 1)) && rank == 0)
    fail("%s: the products differ by %g of %g", what, (double)apart, (double)norm);
  PetscCall(VecDestroy(&difference));
  ++products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All four multiplies, some times over, so that the matrix is encoded. A^T x + w is computed in place of w by the
   expected matrix: PETSc 3.26.1's AIJCUSPARSE adds what y was before to MatMultTransposeAdd(A, x, w, y). */
static PetscErrorCode compare(const char* what, Mat expected, Mat found) {
  Vec x, y, z, w;
  char text[256];
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(expected, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(VecSetRandom(w, random));
  for (int times = 0; times < 3; ++times) {
    PetscCall(MatMult(expected, x, y));
    PetscCall(MatMult(found, x, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A x, time %d", what, times));
    PetscCall(same(text, y, z));
    PetscCall(MatMultTranspose(expected, x, y));
    PetscCall(MatMultTranspose(found, x, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A^T x, time %d", what, times));
    PetscCall(same(text, y, z));
    PetscCall(MatMultAdd(expected, x, w, y));
    PetscCall(MatMultAdd(found, x, w, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A x + w, time %d", what, times));
    PetscCall(same(text, y, z));
    PetscCall(VecCopy(w, z)); /* in place */
    PetscCall(MatMultAdd(found, x, z, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A x + w in place, time %d", what, times));
    PetscCall(same(text, y, z));
    PetscCall(VecCopy(w, y));
    PetscCall(MatMultTransposeAdd(expected, x, y, y));
    PetscCall(MatMultTransposeAdd(found, x, w, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A^T x + w, time %d", what, times));
    PetscCall(same(text, y, z));
    PetscCall(VecCopy(w, z));
    PetscCall(MatMultTransposeAdd(found, x, z, z));
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, A^T x + w in place, time %d", what, times));
    PetscCall(same(text, y, z));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often MatView() says `text` of this rank's diagonal block, twice if it says it of A and A^T together. In mode
   vector, -1: the block is not encoded; a matrix of both blocks is, of which -mat_spmvpack_view tells. */
static PetscErrorCode count_said(Mat a, const char* text, int* found) {
  Mat block = a;
  char mode[64] = "";
  PetscViewer viewer;
  char line[1024];
  FILE* file = tmpfile();

  PetscFunctionBeginUser;
  *found = -1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmvpack_mode", mode, sizeof(mode), NULL));
  if (ranks > 1 && strcmp(mode, "vector") == 0) {
    fclose(file);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *found = 0;
  if (ranks > 1) PetscCall(MatGetDiagonalBlock(a, &block));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(block, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  while (fgets(line, sizeof(line), file)) {
    if (strstr(line, "spmvpack:") == NULL) continue;
    const int each = strstr(line, "A and A^T in ") != NULL ? 2 : 1;
    for (const char* at = line; (at = strstr(at, text)) != NULL; ++at) *found += each;
  }
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode require_said(const char* what, Mat a, const char* text, int least) {
  int found = 0;

  PetscFunctionBeginUser;
  PetscCall(count_said(a, text, &found));
  if (found >= 0 && found < least)
    fail("%s: \"%s\" is said %d times of the matrix, and not %d", what, text, found, least);
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode require_encoded(const char* what, Mat a) { return require_said(what, a, "nonzeros: A ", 1); }

/* What a program may do with a matrix; with both, and again. */
static PetscErrorCode scale(Mat a) { return MatScale(a, 1.5); }
static PetscErrorCode shift(Mat a) { return MatShift(a, 2); }
static PetscErrorCode diagonal_scale(Mat a) {
  Vec l, r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(a, &r, &l));
  PetscCall(MatGetDiagonal(a, l));
  PetscCall(VecSet(r, 0.5));
  PetscCall(MatDiagonalScale(a, l, r));
  PetscCall(VecDestroy(&l));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode one_value(Mat a) {
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(a, first, first, 17, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode new_pattern(Mat a) {
  PetscFunctionBeginUser;
  PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt row = first; row < last; row += 3)
    PetscCall(MatSetValue(a, row, (row + 5 * size / 2) % (size * size), 0.25, ADD_VALUES));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode zero_rows(Mat a) {
  const PetscInt rows[2] = {first, last - 1};

  PetscFunctionBeginUser;
  PetscCall(MatZeroRows(a, 2, rows, 3, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode axpy_same(Mat a) {
  Mat other;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &other));
  PetscCall(MatAXPY(a, 0.5, other, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode axpy_different(Mat a) {
  Mat other;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(a, &type));
  PetscCall(make(type, PETSC_FALSE, PETSC_FALSE, &other));
  PetscCall(new_pattern(other));
  PetscCall(MatAXPY(a, 0.5, other, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode zero_entries(Mat a) {
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(a));
  PetscCall(MatShift(a, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode mutations(void) {
  static const struct {
    const char* name;
    PetscErrorCode (*change)(Mat);
  } changes[] = {{"scale", scale},
                 {"shift", shift},
                 {"diagonal scale", diagonal_scale},
                 {"one value", one_value},
                 {"zero rows", zero_rows},
                 {"axpy, same", axpy_same},
                 {"new pattern", new_pattern},
                 {"axpy, different", axpy_different},
                 {"zero entries", zero_entries}};

  PetscFunctionBeginUser;
  for (int coo = 0; coo < 2; ++coo) {
    for (size_t k = 0; k < sizeof(changes) / sizeof(*changes); ++k) {
      Mat peer, ours, host;

      if (coo && (changes[k].change == new_pattern || changes[k].change == axpy_different)) continue;
      PetscCall(make(PEER, (PetscBool)coo, PETSC_FALSE, &peer));
      PetscCall(make(OURS, (PetscBool)coo, PETSC_FALSE, &ours));
      PetscCall(make(MATAIJ, (PetscBool)coo, PETSC_FALSE, &host));
      PetscCall(MatSetVecType(host, VECCUDA)); /* for vectors that both take */
      PetscCall(compare("at first", peer, ours));
      PetscCall(require_encoded(changes[k].name, ours));
      for (int again = 0; again < 2; ++again) {
        PetscCall(changes[k].change(peer));
        PetscCall(changes[k].change(ours));
        PetscCall(changes[k].change(host));
        PetscCall(MatSetVecType(host, VECCUDA)); /* which MatAXPY() forgets where it makes a new matrix */
        PetscCall(compare(changes[k].name, peer, ours));
        PetscCall(compare(changes[k].name, host, ours));
        PetscCall(require_encoded(changes[k].name, ours));
      }
      PetscCall(MatDestroy(&peer));
      PetscCall(MatDestroy(&ours));
      PetscCall(MatDestroy(&host));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B and A^T B of both, some times over, on the device and on the host: beside each other; and each column of ours has
   the bits of a multiply with it alone, once A is encoded. */
static PetscErrorCode dense_products(void) {
  static const char* const types[] = {MATDENSECUDA, MATDENSE};
  static const PetscInt columns[] = {1, 3, 17};
  Mat peer, ours;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(make(PEER, PETSC_FALSE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_FALSE, PETSC_FALSE, &ours));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  for (int type = 0; type < 2; ++type)
    for (int k = 0; k < 3; ++k)
      for (int transpose = 0; transpose < 2; ++transpose) {
        Mat b, expected = NULL, found = NULL;
        Vec x, y, z, alone;

        PetscCall(MatCreate(PETSC_COMM_WORLD, &b));
        PetscCall(MatSetSizes(b, last - first, PETSC_DECIDE, size * size, columns[k]));
        PetscCall(MatSetType(b, types[type]));
        PetscCall(MatSetUp(b));
        PetscCall(MatSetRandom(b, random));
        for (int times = 0; times < 3; ++times) {
          const MatReuse reuse = times == 0 ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;
          if (transpose) {
            PetscCall(MatTransposeMatMult(peer, b, reuse, PETSC_DEFAULT, &expected));
            PetscCall(MatTransposeMatMult(ours, b, reuse, PETSC_DEFAULT, &found));
          } else {
            PetscCall(MatMatMult(peer, b, reuse, PETSC_DEFAULT, &expected));
            PetscCall(MatMatMult(ours, b, reuse, PETSC_DEFAULT, &found));
          }
          PetscCall(MatCreateVecs(ours, NULL, &alone));
          for (PetscInt j = 0; j < columns[k]; ++j) {
            PetscBool equal = PETSC_TRUE;
            char text[256];

            PetscCall(PetscSNPrintf(text, sizeof(text), "%s, %sB, column %d of %d, time %d", types[type],
                                    transpose ? "A^T " : "A ", (int)j, (int)columns[k], times));
            PetscCall(MatDenseGetColumnVecRead(expected, j, &y));
            PetscCall(MatDenseGetColumnVecRead(found, j, &z));
            PetscCall(same(text, y, z));
            if (times == 2 && type == 0 && ranks == 1) {
              PetscCall(MatDenseGetColumnVecRead(b, j, &x));
              for (int again = 0; again < 3; ++again)
                PetscCall(transpose ? MatMultTranspose(ours, x, alone) : MatMult(ours, x, alone));
              PetscCall(VecEqual(alone, z, &equal));
              if (!equal) fail("%s: other bits than those of the column alone", text);
              PetscCall(MatDenseRestoreColumnVecRead(b, j, &x));
            }
            PetscCall(MatDenseRestoreColumnVecRead(found, j, &z));
            PetscCall(MatDenseRestoreColumnVecRead(expected, j, &y));
          }
          PetscCall(VecDestroy(&alone));
        }
        PetscCall(MatDestroy(&b));
        PetscCall(MatDestroy(&expected));
        PetscCall(MatDestroy(&found));
      }
  PetscCall(PetscRandomDestroy(&random));
  if (ranks == 1) PetscCall(require_encoded("products with dense matrices", ours));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that come into being on the device, again and again; the copy in host memory is then an older one. */
static PetscErrorCode assembly_on_device(void) {
  Mat peer, ours;
  PetscCount count = 0;
  PetscInt *rows = NULL, *cols = NULL;
  PetscScalar *values = NULL, *staged = NULL, *on_device = NULL;
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(make(PEER, PETSC_TRUE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_TRUE, PETSC_FALSE, &ours));
  for (int times = 1; times < 5; ++times) {
    PetscCall(entries(times, PETSC_FALSE, &count, &rows, &cols, &values));
    PetscCall(PetscDeviceMalloc(context, PETSC_MEMTYPE_CUDA, (size_t)count, &on_device));
    PetscCall(
        PetscDeviceMalloc(context, PETSC_MEMTYPE_HOST, (size_t)count, &staged)); /* PETSc copies from its own alone */
    PetscCall(PetscArraycpy(staged, values, count));
    PetscCall(PetscDeviceArrayCopy(context, on_device, staged, (size_t)count));
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCall(PetscDeviceFree(context, staged));
    PetscCall(MatSetValuesCOO(peer, on_device, times % 2 ? INSERT_VALUES : ADD_VALUES));
    PetscCall(MatSetValuesCOO(ours, on_device, times % 2 ? INSERT_VALUES : ADD_VALUES));
    PetscCall(PetscDeviceContextSynchronize(context));
    PetscCall(PetscDeviceFree(context, on_device));
    PetscCall(PetscFree3(rows, cols, values));
    PetscCall(compare("assembly on the device", peer, ours));
    PetscCall(require_encoded("assembly on the device", ours));
  }
  /* Encoded with the first values, updatable with the second; A and A^T. */
  PetscCall(require_said("assembly on the device", ours, ", updated 2 times", 2));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that change on the host, by MatSetValues() and MatSetValuesCOO(), and on the device: updated from the third
   values on. Then another pattern. */
static PetscErrorCode new_values(void) {
  PetscFunctionBeginUser;
  for (int coo = 0; coo < 2; ++coo) {
    Mat pair[2];

    PetscCall(make(PEER, (PetscBool)coo, PETSC_FALSE, &pair[0]));
    PetscCall(make(OURS, (PetscBool)coo, PETSC_FALSE, &pair[1]));
    PetscCall(compare("first values", pair[0], pair[1]));
    for (int times = 2; times < 7; ++times) {
      PetscCount count = 0;
      PetscInt *rows, *cols;
      PetscScalar* values;

      PetscCall(entries(times, PETSC_FALSE, &count, &rows, &cols, &values));
      for (int k = 0; k < 2; ++k) {
        if (times % 3 == 0) {
          PetscCall(MatScale(pair[k], -times));
        } else if (coo) {
          PetscCall(MatSetValuesCOO(pair[k], values, INSERT_VALUES));
        } else {
          PetscCall(MatZeroEntries(pair[k]));
          for (PetscCount e = 0; e < count; ++e)
            PetscCall(MatSetValue(pair[k], rows[e], cols[e], values[e], ADD_VALUES));
          PetscCall(MatAssemblyBegin(pair[k], MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(pair[k], MAT_FINAL_ASSEMBLY));
        }
      }
      PetscCall(PetscFree3(rows, cols, values));
      PetscCall(compare("new values", pair[0], pair[1]));
      PetscCall(require_encoded("new values", pair[1]));
    }
    /* On the device, A^T is encoded with A, once more. */
    int there = 0;
    PetscCall(count_said(pair[1], "on the GPU)", &there));
    PetscCall(require_said("new values", pair[1], there > 0 ? "encoded 4 times in " : "encoded 2 times in ", 2));
    PetscCall(require_said("new values", pair[1], ", updated 4 times", 2));
    if (!coo) {
      for (int k = 0; k < 2; ++k) PetscCall(new_pattern(pair[k]));
      PetscCall(compare("new pattern", pair[0], pair[1]));
      for (int k = 0; k < 2; ++k) PetscCall(MatScale(pair[k], 0.5));
      PetscCall(compare("new values of it", pair[0], pair[1]));
      PetscCall(require_encoded("new values of it", pair[1]));
    }
    for (int k = 0; k < 2; ++k) PetscCall(MatDestroy(&pair[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrices that are encoded where they are, or on the host: with another pattern and with new values. */
static PetscErrorCode encoding(void) {
  static const char *const layouts[] = {"csr", "sell", "csell", "bitflag"}, *const encoders[] = {"device", "host"};
  char layout[64] = "", encoder[64] = "";
  PetscBool has_layout, has_encoder;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmvpack_layout", layout, sizeof(layout), &has_layout));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmvpack_encode", encoder, sizeof(encoder), &has_encoder));
  for (size_t k = 0; k < sizeof(layouts) / sizeof(*layouts); ++k)
    for (int host = 0; host < 2; ++host)
      for (int symmetric = 0; symmetric < 2; ++symmetric) {
        Mat pair[2];
        char text[64];
        const char* const where = host ? "(on the host)" : "(on the GPU)";

        PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_layout", layouts[k]));
        PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_encode", encoders[host]));
        const PetscBool coo = (PetscBool)symmetric; /* assembled on the device, always in its pattern */
        PetscCall(make(PEER, coo, (PetscBool)symmetric, &pair[0]));
        PetscCall(make(OURS, coo, (PetscBool)symmetric, &pair[1]));
        PetscCall(compare(encoders[host], pair[0], pair[1]));
        PetscCall(require_said(layouts[k], pair[1], where, 1));
        PetscCall(PetscSNPrintf(text, sizeof(text), "%s in %s, ", host ? "A" : "A and A^T", layouts[k]));
        PetscCall(require_said(layouts[k], pair[1], text, 1));
        if (!host) PetscCall(require_said(layouts[k], pair[1], "encoded 2 times in ", 2));
        if (!coo) {
          for (int m = 0; m < 2; ++m) PetscCall(new_pattern(pair[m]));
          PetscCall(compare("another pattern", pair[0], pair[1]));
          PetscCall(require_said("another pattern", pair[1], where, 1));
          if (!host) PetscCall(require_said("another pattern", pair[1], "encoded 4 times in ", 2));
        }
        /* Encoded again, to be updatable, and then updated. */
        for (int times = 0; times < 3; ++times) {
          for (int m = 0; m < 2; ++m) PetscCall(MatScale(pair[m], times % 2 ? 2 : -0.75));
          PetscCall(compare("new values of it", pair[0], pair[1]));
        }
        PetscCall(require_said("new values of it", pair[1], where, 1));
        PetscCall(require_said("new values of it", pair[1], ", updated 2 times", 2));
        if (!host)
          PetscCall(require_said("new values of it", pair[1], coo ? "encoded 4 times in " : "encoded 6 times in ", 2));
        for (int m = 0; m < 2; ++m) PetscCall(MatDestroy(&pair[m]));
      }
  /* What the device does not have is the host's. */
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_layout", "ccoo"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_encode", "device"));
  Mat peer, ours;
  PetscCall(make(PEER, PETSC_FALSE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_FALSE, PETSC_FALSE, &ours));
  PetscCall(compare("a layout of the host", peer, ours));
  PetscCall(require_said("a layout of the host", ours, "(on the host)", 1));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  if (has_layout) {
    PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_layout", layout));
  } else {
    PetscCall(PetscOptionsClearValue(NULL, "-mat_spmvpack_layout"));
  }
  if (has_encoder) {
    PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_encode", encoder));
  } else {
    PetscCall(PetscOptionsClearValue(NULL, "-mat_spmvpack_encode"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies, and matrices and vectors that are bound to the CPU for a while. */
static PetscErrorCode places(void) {
  Mat peer, ours, copy;
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(make(PEER, PETSC_FALSE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_FALSE, PETSC_FALSE, &ours));
  PetscCall(compare("a matrix", peer, ours));
  PetscCall(MatDuplicate(ours, MAT_COPY_VALUES, &copy));
  PetscCall(compare("its copy", peer, copy));
  PetscCall(require_encoded("its copy", copy));
  PetscCall(MatScale(copy, 2));
  PetscCall(compare("the first one", peer, ours));
  PetscCall(MatDestroy(&copy));
  PetscCall(MatConvert(peer, OURS, MAT_INITIAL_MATRIX, &copy));
  PetscCall(compare("a converted one", peer, copy));
  PetscCall(require_encoded("a converted one", copy));
  PetscCall(MatConvert(copy, MATAIJ, MAT_INPLACE_MATRIX, &copy));
  PetscCall(MatConvert(copy, OURS, MAT_INPLACE_MATRIX, &copy));
  PetscCall(compare("to AIJ and back", peer, copy));
  PetscCall(MatDestroy(&copy));
  for (int times = 0; times < 2; ++times) {
    PetscCall(MatBindToCPU(ours, PETSC_TRUE));
    PetscCall(compare("bound to the CPU", peer, ours));
    PetscCall(MatBindToCPU(ours, PETSC_FALSE));
    PetscCall(compare("on the GPU again", peer, ours));
    PetscCall(MatScale(ours, 3));
    PetscCall(MatScale(peer, 3));
    PetscCall(compare("changed on the GPU again", peer, ours));
    PetscCall(require_encoded("on the GPU again", ours));
  }
  PetscCall(MatCreateVecs(ours, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(peer, x, y));
  for (int which = 1; which < 4; ++which) {
    PetscCall(VecBindToCPU(x, (PetscBool)((which & 1) != 0)));
    PetscCall(VecBindToCPU(z, (PetscBool)((which & 2) != 0)));
    PetscCall(VecSet(z, -1));
    PetscCall(MatMult(ours, x, z));
    PetscCall(VecBindToCPU(x, PETSC_FALSE));
    PetscCall(VecBindToCPU(z, PETSC_FALSE));
    PetscCall(same("a vector bound to the CPU", y, z));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatBindToCPU(ours, PETSC_TRUE)); /* for good: PETSc does not know on its return what changed meanwhile */
  PetscCall(MatScale(ours, 3));
  PetscCall(MatScale(peer, 3));
  PetscCall(compare("changed while bound to the CPU", peer, ours));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies on one stream and another by turns, which nothing but the matrix has in common. */
static PetscErrorCode streams(void) {
  enum { count = 3 };
  Mat peer, ours;
  Vec x[count], y[count], z[count];
  PetscDeviceContext contexts[count];
  PetscDevice device;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(make(PEER, PETSC_FALSE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_FALSE, PETSC_FALSE, &ours));
  PetscCall(compare("on one stream", peer, ours));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscDeviceContextGetCurrentContext(&contexts[0]));
  PetscCall(PetscDeviceContextGetDevice(contexts[0], &device));
  for (int k = 0; k < count; ++k) {
    PetscCall(MatCreateVecs(peer, &x[k], &y[k]));
    PetscCall(VecDuplicate(y[k], &z[k]));
    PetscCall(VecSetRandom(x[k], random));
    PetscCall(MatMult(peer, x[k], y[k]));
    if (k == 0) continue;
    PetscCall(PetscDeviceContextCreate(&contexts[k]));
    PetscCall(PetscDeviceContextSetDevice(contexts[k], device));
    PetscCall(PetscDeviceContextSetStreamType(contexts[k], PETSC_STREAM_NONBLOCKING));
    PetscCall(PetscDeviceContextSetUp(contexts[k]));
  }
  PetscCall(PetscDeviceContextSynchronize(contexts[0]));
  for (int times = 0; times < 10; ++times) {
    for (int k = 0; k < count; ++k) {
      PetscCall(PetscDeviceContextSetCurrentContext(contexts[k]));
      PetscCall(MatMult(ours, x[k], z[k]));
    }
  }
  for (int k = 0; k < count; ++k) PetscCall(PetscDeviceContextSynchronize(contexts[k]));
  PetscCall(PetscDeviceContextSetCurrentContext(contexts[0]));
  for (int k = 0; k < count; ++k) PetscCall(same("on several streams", y[k], z[k]));
  /* New values on each of the streams by turns, while multiplies with the old ones may run on the others. */
  for (int times = 0; times < 9; ++times) {
    for (int k = times; k < times + count; ++k) {
      PetscCall(PetscDeviceContextSetCurrentContext(contexts[k % count]));
      if (k == times) {
        PetscCall(MatScale(ours, times % 2 ? 0.25 : 2));
        PetscCall(PetscDeviceContextSynchronize(contexts[k % count]));
      }
      for (int again = 0; again < 5; ++again) PetscCall(MatMult(ours, x[k % count], z[k % count]));
    }
  }
  PetscCall(PetscDeviceContextSetCurrentContext(contexts[0]));
  PetscCall(MatScale(peer, 2 * PetscPowInt(2, 4) * PetscPowReal(0.25, 4)));
  for (int k = 0; k < count; ++k) PetscCall(MatMult(peer, x[k], y[k]));
  PetscCall(PetscDeviceContextSynchronize(contexts[0]));
  for (int k = count; k-- > 0;) {
    PetscCall(PetscDeviceContextSynchronize(contexts[k]));
    PetscCall(PetscDeviceContextSetCurrentContext(contexts[0]));
    if (k > 0) PetscCall(PetscDeviceContextDestroy(&contexts[k]));
  }
  for (int k = 0; k < count; ++k) {
    PetscCall(same("new values on several streams", y[k], z[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(VecDestroy(&z[k]));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One rank after the other fails before it has sent anything: in mode task nobody waits for it, and the next multiply
   is right again. */
static PetscErrorCode failing_ranks(void) {
  Mat peer, ours;
  Vec x, y, z;
  char mode[64] = "task";
  PetscDeviceContext context, host;
  PetscDevice device;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_spmvpack_mode", mode, sizeof(mode), NULL));
  if (ranks == 1 || strcmp(mode, "task") != 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make(PEER, PETSC_FALSE, PETSC_FALSE, &peer));
  PetscCall(make(OURS, PETSC_FALSE, PETSC_FALSE, &ours));
  /* Nor does it matter here how PETSc would send. */
  PetscCall(PetscOptionsSetValue(NULL, "-sf_type", "window"));
  PetscCall(MatCreateVecs(ours, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(ours, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscOptionsClearValue(NULL, "-sf_type"));
  PetscCall(compare("before", peer, ours));
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextCreate(&host));
  PetscCall(PetscDeviceCreate(PETSC_DEVICE_HOST, PETSC_DECIDE, &device));
  PetscCall(PetscDeviceContextSetDevice(host, device));
  PetscCall(PetscDeviceContextSetUp(host));
  for (PetscMPIInt failing = 0; failing < ranks; ++failing) {
    PetscCall(MatCreateVecs(ours, &x, &y)); /* a failed multiply leaves its own locked */
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecSet(x, 1 + failing));
    PetscCall(VecSet(z, 0));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    if (rank == failing) PetscCall(PetscDeviceContextSetCurrentContext(host)); /* which has no stream of CUDA */
    const PetscErrorCode error = MatMult(ours, x, z);
    if (rank == failing) PetscCall(PetscDeviceContextSetCurrentContext(context));
    PetscCall(PetscPopErrorHandler());
    if ((error != PETSC_SUCCESS) != (rank == failing)) fail("error %d where rank %d fails", (int)error, (int)failing);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(compare("after a rank has failed", peer, ours));
  }
  PetscCall(PetscDeviceContextDestroy(&host));
  PetscCall(PetscDeviceDestroy(&device));
  PetscCall(MatDestroy(&peer));
  PetscCall(MatDestroy(&ours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve(Mat a, KSPType ksp_type, PCType pc_type, PetscInt* iterations, PetscReal* norm) {
  Vec x, b;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, 10000));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(VecNorm(x, NORM_2, norm));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solvers(void) {
  static const struct {
    KSPType ksp;
    PCType pc;
    PetscBool symmetric;
  } cases[] = {{KSPCG, PCJACOBI, PETSC_TRUE},      {KSPCG, PCGAMG, PETSC_TRUE},      {KSPBCGS, PCJACOBI, PETSC_FALSE},
               {KSPGMRES, PCBJACOBI, PETSC_FALSE}, {KSPBICG, PCJACOBI, PETSC_FALSE}, {KSPCGNE, PCJACOBI, PETSC_TRUE},
               {KSPPIPECG, PCJACOBI, PETSC_TRUE},  {KSPGMRES, PCGAMG, PETSC_FALSE}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); ++k) {
    Mat peer, ours;
    PetscInt iterations[2] = {0, 0};
    PetscReal norms[2] = {0, 0};

    PetscCall(make(PEER, PETSC_FALSE, cases[k].symmetric, &peer));
    PetscCall(make(OURS, PETSC_FALSE, cases[k].symmetric, &ours));
    PetscCall(solve(peer, cases[k].ksp, cases[k].pc, &iterations[0], &norms[0]));
    PetscCall(solve(ours, cases[k].ksp, cases[k].pc, &iterations[1], &norms[1]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %d iterations, norm %.10g\n", cases[k].ksp, cases[k].pc,
                          (int)iterations[1], (double)norms[1]));
    const PetscInt rounding =
        iterations[0] / (strcmp(cases[k].ksp, KSPBCGS) == 0 ? 5 : 50); /* which BiCGSTAB carries on */
    if (rank == 0 && (PetscAbsInt(iterations[0] - iterations[1]) > rounding ||
                      !(PetscAbsReal(norms[0] - norms[1]) <= 1e-7 * norms[0])))
      fail("%s, %s: %d iterations, norm %.10g instead of %d, %.10g", cases[k].ksp, cases[k].pc, (int)iterations[1],
           (double)norms[1], (int)iterations[0], (double)norms[0]);
    PetscCall(require_encoded(cases[k].ksp, ours));
    PetscCall(MatDestroy(&peer));
    PetscCall(MatDestroy(&ours));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    PetscErrorCode (*check)(void);
  } groups[] = {{"changed matrices", mutations},
                {"new values", new_values},
                {"encoding on the device and on the host", encoding},
                {"assembly on the device", assembly_on_device},
                {"copies, conversions, bound to the CPU", places},
                {"several streams", streams},
                {"products with dense matrices", dense_products},
                {"ranks that fail", failing_ranks},
                {"solvers", solvers}};

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &size, NULL));
  PetscInt rows = PETSC_DECIDE, all = size * size;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &rows, &all));
  PetscCallMPI(MPI_Scan(&rows, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  first = last - rows;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_at_most", "1e9"));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmvpack_max_changes", "100"));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  for (size_t k = 0; k < sizeof(groups) / sizeof(*groups); ++k) {
    const PetscInt before = failures;

    group = groups[k].name;
    if (groups[k].check() != PETSC_SUCCESS) { /* others might wait for a rank that has failed */
      fail("PETSc reports an error");
      if (ranks > 1) PetscCallMPI(MPI_Abort(PETSC_COMM_WORLD, 1));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", group, failures == before ? "ok" : "FAILED"));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d products, %d failures\n", (int)products, (int)failures));
  PetscCall(PetscFinalize());
  return failures == 0 ? 0 : 1;
}
