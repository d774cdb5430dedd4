/* Loads a container into device memory and prints its facts; exits with the status of what failed. */

#include <stdio.h>

#include "spmvpack/spmvpack.h"

int main(int argc, char** argv) {
  spmvpack_matrix* matrix = NULL;
  spmvpack_info info;
  if (argc != 2) return 2;
  spmvpack_status status = spmvpack_load(argv[1], NULL, &matrix);
  if (status == SPMVPACK_OK) status = spmvpack_get_info(matrix, &info);
  if (status != SPMVPACK_OK) {
    fprintf(stderr, "%s\n", spmvpack_error_text());
    return (int)status;
  }
  printf("%.0f x %.0f, %.0f nonzeros\n", (double)info.rows, (double)info.cols, (double)info.nonzeros);
  spmvpack_free(matrix);
  return 0;
}
