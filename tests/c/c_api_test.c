/* spmvpack.h from C. c_api_test A.spmvc, where A is the 5-point Laplacian on 300 x 200: without a device, or without
   CUDA, that everything says so; with one, y = 2 A x - y of a hand-made x. Exit code 77: no device. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_require.h"
#include "spmvpack/spmvpack.h"
#ifdef TEST_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#ifdef TEST_WITH_CUDA
static int multiply(const char* path) {
  enum { nx = 300, ny = 200, n = nx * ny };
  spmvpack_matrix* matrix = NULL;
  spmvpack_info info;
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_F64);
  const double alpha = 2, beta = -1;
  double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double)), *on_device = NULL;
  void* workspace = NULL;
  uint64_t bytes = 0;
  int i;
  REQUIRE(x != NULL && y != NULL);
  REQUIRE(spmvpack_load(path, NULL, &matrix) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_info(matrix, &info) == SPMVPACK_OK);
  REQUIRE(info.rows == n && info.cols == n && info.nonzeros == 299000 && info.value_type == SPMVPACK_F64);
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  /* x = i^2 of the column of the grid: inside, each row's sum is -2. y = 1. */
  for (i = 0; i < n; ++i) x[i] = (double)(i % nx) * (i % nx), y[i] = 1;
  REQUIRE(cudaMalloc((void**)&on_device, 2 * n * sizeof(double)) == cudaSuccess);
  REQUIRE(cudaMalloc(&workspace, bytes + 1) == cudaSuccess);
  REQUIRE(cudaMemcpy(on_device, x, n * sizeof(double), cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(on_device + n, y, n * sizeof(double), cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(spmvpack_multiply(matrix, &d, &alpha, on_device, &beta, on_device + n, workspace, bytes, NULL) ==
          SPMVPACK_OK);
  REQUIRE(cudaMemcpy(y, on_device + n, n * sizeof(double), cudaMemcpyDeviceToHost) == cudaSuccess);
  for (i = 0; i < n; ++i)
    if (i % nx != 0 && i % nx != nx - 1 && i >= nx && i < n - nx && y[i] != -5) {
      fprintf(stderr, "y[%d] is %g, expected -5\n", i, y[i]);
      return 1;
    }

  d = spmvpack_multiply_default(SPMVPACK_C128); /* n complex elements of x are where x and y were */
  REQUIRE(cudaMemset(on_device, 0, 2 * n * sizeof(double)) == cudaSuccess);
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  {
    double* other = NULL;
    void* room = NULL;
    REQUIRE(cudaMalloc((void**)&other, 2 * n * sizeof(double)) == cudaSuccess);
    REQUIRE(cudaMalloc(&room, bytes + 1) == cudaSuccess);
    REQUIRE(cudaMemset(other, 0, 2 * n * sizeof(double)) == cudaSuccess);
    REQUIRE(cudaMemcpy2D(on_device + 1, 2 * sizeof(double), x, sizeof(double), sizeof(double), n,
                         cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(spmvpack_multiply(matrix, &d, &alpha, on_device, &beta, other, room, bytes, NULL) == SPMVPACK_OK);
    for (i = 0; i < 2; ++i) {
      double* const found = malloc(n * sizeof(double));
      int at;
      REQUIRE(found != NULL);
      REQUIRE(cudaMemcpy2D(found, sizeof(double), other + i, 2 * sizeof(double), sizeof(double), n,
                           cudaMemcpyDeviceToHost) == cudaSuccess);
      for (at = 0; at < n; ++at)
        if (at % nx != 0 && at % nx != nx - 1 && at >= nx && at < n - nx) REQUIRE(found[at] == (i == 0 ? 0 : -4));
      free(found);
    }
    cudaFree(other);
    cudaFree(room);
  }
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.operation = SPMVPACK_OPERATION_T; /* the matrix equals its transpose, so that none need be stored */
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.right_hand_sides = 2;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.ldx = n;
  d.ldy = n + 7;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  d.ldx = n - 1;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "ldx is 59999, less than a column's 60000 elements") != NULL);
  d.ldx = 0;
  d.ldy = 1;
  REQUIRE(spmvpack_multiply(matrix, &d, &alpha, on_device, &beta, on_device + n, workspace, bytes, NULL) ==
          SPMVPACK_USAGE);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.operation = SPMVPACK_OPERATION_H;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.size = 0;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_USAGE);
  d = spmvpack_multiply_default(SPMVPACK_F32); /* with a matrix of doubles */
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_USAGE);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.kernel = 12345;
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_find_kernel("coo/balanced", &d.kernel) == SPMVPACK_OK); /* of no part */
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_find_kernel("ccoo/atomic", &d.kernel) == SPMVPACK_OK);
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK && bytes == 0);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  REQUIRE(spmvpack_multiply(matrix, &d, NULL, on_device, &beta, on_device + n, workspace, bytes, NULL) ==
          SPMVPACK_USAGE);
  REQUIRE(spmvpack_multiply(matrix, &d, &alpha, on_device, &beta, on_device, workspace, bytes, NULL) ==
          SPMVPACK_USAGE); /* x and y overlap */
  REQUIRE(spmvpack_update_values(matrix, SPMVPACK_F64, on_device, info.nonzeros, NULL) == SPMVPACK_USAGE);
  spmvpack_free(matrix);
  cudaFree(on_device);
  cudaFree(workspace);
  free(x);
  free(y);
  return 0;
}

/* A diagonal of 3 whose values and x are on the device, encoded there; and its container, multiplied on the host. */
static int encoded_there(const double* values, const double* x, double* y, const double* expected) {
  const int32_t row_ptr[4] = {0, 1, 2, 3}, col_idx[3] = {0, 1, 2};
  const double ones[3] = {1, 1, 1}, alpha = 1, beta = 0;
  int32_t* indices = NULL;
  double found[3];
  spmvpack_csr csr;
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_F64);
  spmvpack_matrix* matrix = NULL;
  spmvpack_container* container = NULL;
  spmvpack_host_matrix* host = NULL;
  int i;
  REQUIRE(cudaMalloc((void**)&indices, 7 * sizeof(int32_t)) == cudaSuccess);
  REQUIRE(cudaMemcpy(indices, row_ptr, sizeof row_ptr, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(indices + 4, col_idx, sizeof col_idx, cudaMemcpyHostToDevice) == cudaSuccess);
  csr.rows = csr.cols = csr.nonzeros = 3;
  csr.row_ptr_type = csr.col_idx_type = SPMVPACK_I32;
  csr.value_type = SPMVPACK_F64;
  csr.row_ptr = indices;
  csr.col_idx = indices + 4;
  csr.values = values;
  options.layout = "csell";
  options.zstd_level = 1;
  REQUIRE(spmvpack_encode_on_device(&csr, &options, NULL, &matrix) == SPMVPACK_USAGE && matrix == NULL);
  options.zstd_level = 0;
  options.layout = "ccoo";
  REQUIRE(spmvpack_encode_on_device(&csr, &options, NULL, &matrix) == SPMVPACK_UNSUPPORTED);
  options.layout = "csell";
  options.force_size = 1;
  REQUIRE(spmvpack_encode_on_device(&csr, &options, NULL, &matrix) == SPMVPACK_OK);
  REQUIRE(spmvpack_multiply(matrix, &d, &alpha, x, &beta, y, NULL, 0, NULL) == SPMVPACK_OK);
  REQUIRE(cudaMemcpy(found, y, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (i = 0; i < 3; ++i) REQUIRE(found[i] == expected[i]);
  REQUIRE(spmvpack_matrix_get_container(matrix, NULL, &container) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_load(container, 1, &host) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_multiply(host, SPMVPACK_F64, &alpha, ones, &beta, found, 1) == SPMVPACK_OK);
  for (i = 0; i < 3; ++i) REQUIRE(found[i] == expected[i]);
  spmvpack_host_free(host);
  spmvpack_close(container);
  spmvpack_free(matrix);
  cudaFree(indices);
  return 0;
}

/* A diagonal of 3, whose values come from a list that has each entry twice. */
static int update(void) {
  enum { n = 3 };
  const int32_t row_ptr[n + 1] = {0, 1, 2, 3}, col_idx[n] = {0, 1, 2};
  const double values[n] = {1, 2, 3}, list[2 * n] = {1, 2, 3, 10, 20, 30}, x[n] = {1, 1, 1}, alpha = 1, beta = 0;
  const int32_t pairs[2 * n] = {2, 0, 1, 1, 0, 2};
  const double expected[n] = {22, 13, 31};
  double *place = NULL, found[n];
  void* workspace = NULL;
  uint64_t bytes = 0;
  spmvpack_csr csr;
  spmvpack_encode_options encode = spmvpack_encode_default();
  spmvpack_load_options load = spmvpack_load_default();
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_F64);
  spmvpack_container* container = NULL;
  spmvpack_matrix* matrix = NULL;
  spmvpack_assembly* map = NULL;
  spmvpack_device_assembly* on_device = NULL;
  int i;
  csr.rows = csr.cols = csr.nonzeros = n;
  csr.row_ptr_type = csr.col_idx_type = SPMVPACK_I32;
  csr.value_type = SPMVPACK_F64;
  csr.row_ptr = row_ptr;
  csr.col_idx = col_idx;
  csr.values = values;
  encode.updatable = 1;
  load.updatable = 1;
  REQUIRE(spmvpack_encode(&csr, &encode, &container) == SPMVPACK_OK);
  REQUIRE(spmvpack_load_with(container, &load, NULL, &matrix) == SPMVPACK_OK);
  REQUIRE(spmvpack_assembly_create(n, n, 2 * n, SPMVPACK_I32, pairs, pairs, 1, &map) == SPMVPACK_OK);
  REQUIRE(spmvpack_assembly_to_device(map, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_assembly_to_device(map, NULL, &on_device) == SPMVPACK_OK);
  spmvpack_assembly_free(map);
  REQUIRE(cudaMalloc((void**)&place, 12 * n * sizeof(double)) == cudaSuccess);
  REQUIRE(cudaMemcpy(place, list, sizeof list, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(place + 3 * n, x, sizeof x, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(spmvpack_device_assembly_sum(on_device, SPMVPACK_F64, place, SPMVPACK_INSERT, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_device_assembly_sum(on_device, SPMVPACK_F64, place, SPMVPACK_INSERT, place + 2 * n, NULL) ==
          SPMVPACK_OK);
  REQUIRE(spmvpack_update_values(matrix, SPMVPACK_F64, place + 2 * n, n - 1, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_update_values(matrix, SPMVPACK_F64, place + 2 * n, n, NULL) == SPMVPACK_OK);
  REQUIRE(spmvpack_require_updated(matrix, NULL) == SPMVPACK_OK);
  REQUIRE(spmvpack_workspace_bytes(matrix, &d, &bytes) == SPMVPACK_OK);
  REQUIRE(cudaMalloc(&workspace, bytes + 1) == cudaSuccess);
  REQUIRE(spmvpack_multiply(matrix, &d, &alpha, place + 3 * n, &beta, place + 4 * n, workspace, bytes, NULL) ==
          SPMVPACK_OK);
  REQUIRE(cudaMemcpy(found, place + 4 * n, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (i = 0; i < n; ++i) REQUIRE(found[i] == expected[i]);
  REQUIRE(encoded_there(place + 2 * n, place + 3 * n, place + 4 * n, expected) == 0);
  spmvpack_device_assembly_free(on_device);
  spmvpack_free(matrix);
  spmvpack_close(container);
  cudaFree(place);
  cudaFree(workspace);
  return 0;
}
#endif

int main(int argc, char** argv) {
  spmvpack_matrix* matrix = (spmvpack_matrix*)argv; /* must become null */
  spmvpack_info info;
  spmvpack_status status;
  uint32_t kernel = 0, other = 0;
  if (argc != 2) return 2;
  REQUIRE(strcmp(spmvpack_error_text(), "") == 0);
  spmvpack_free(NULL);
  REQUIRE(spmvpack_load(NULL, NULL, &matrix) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "path is null") == 0);
  REQUIRE(spmvpack_load(argv[1], NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_get_info(NULL, &info) == SPMVPACK_USAGE);

  REQUIRE(spmvpack_find_kernel("csr/vector", &kernel) == SPMVPACK_OK && kernel != 0);
  REQUIRE(spmvpack_find_kernel("ccoo/ordered", &other) == SPMVPACK_OK && other != 0 && other != kernel);
  REQUIRE(spmvpack_find_kernel("vector", &kernel) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "csr/vector") != NULL); /* what there is */
  REQUIRE(spmvpack_find_kernel(NULL, &kernel) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_find_kernel("csr/vector", NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_multiply_default(SPMVPACK_F64).kernel == 0);

  status = spmvpack_load(argv[1], NULL, &matrix);
  if (status != SPMVPACK_OK) {
    REQUIRE(matrix == NULL && strlen(spmvpack_error_text()) > 10);
    REQUIRE(status == SPMVPACK_UNSUPPORTED || status == SPMVPACK_NO_DEVICE);
    printf("skipped: %s\n", spmvpack_error_text());
    return 77;
  }
  spmvpack_free(matrix);
#ifdef TEST_WITH_CUDA
  REQUIRE(spmvpack_load("/nowhere.spmvc", NULL, &matrix) == SPMVPACK_IO);
  return multiply(argv[1]) || update();
#else
  fprintf(stderr, "loaded without CUDA\n");
  return 1;
#endif
}
