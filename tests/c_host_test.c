/* spmvpack.h from C, without a device: from arrays to a container in memory, to a file and back, and y = A x. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_require.h"
#include "spmvpack/spmvpack.h"

/* [ .5  .  .  2 ]
   [  .  .  .  . ]
   [ -1  7  3  . ]   whose columns are not in order, and whose 7 is given as 4 + 3 */
static const int32_t row_ptr[] = {0, 2, 2, 6};
static const int64_t row_ptr64[] = {0, 2, 2, 6};
static const int32_t col_idx[] = {0, 3, 2, 1, 0, 1};
static const int64_t col_idx64[] = {0, 3, 2, 1, 0, 1};
static const double values[] = {.5, 2, 3, 4, -1, 3};
static const float floats[] = {.5F, 2, 3, 4, -1, 3};

static spmvpack_csr matrix(void) {
  spmvpack_csr a = {3, 4, 6, row_ptr, col_idx, values, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};
  return a;
}

static int multiply(const spmvpack_container* container) {
  spmvpack_host_matrix* a = NULL;
  const double x[] = {1, 10, 100, 1000}, alpha = 2, beta = -1;
  double y[] = {1, 2, 3};
  REQUIRE(spmvpack_host_load(container, 1, &a) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * 2000.5 - 1 && y[1] == -2 && y[2] == 2 * 369 - 3);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, x, &beta, NULL, 0) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "y is null") == 0);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, y, &beta, y, 0) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_multiply(a, (spmvpack_type)3, &alpha, x, &beta, y, 0) == SPMVPACK_USAGE);
  spmvpack_host_free(a);
  return 0;
}

/* A^T: refused without it, and with it for x of A's rows. */
static int transposed(void) {
  const double x[] = {1, 10, 100}, alpha = 2, beta = -1;
  const spmvpack_csr a = matrix();
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_container* c = NULL;
  spmvpack_host_matrix* m = NULL;
  double y[] = {1, 2, 3, 4};
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_OK && spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "encode the matrix again with its transpose") != NULL);
  REQUIRE(y[0] == 1 && y[3] == 4);
  spmvpack_host_free(m);
  spmvpack_close(c);
  options.transpose = 1;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_OK && spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * -99.5 - 1 && y[1] == 1400 - 2 && y[2] == 600 - 3 && y[3] == 4 - 4);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, NULL, &beta, y, 2) == SPMVPACK_USAGE);
  spmvpack_close(c);
  c = NULL;
  REQUIRE(spmvpack_host_multiply_transposed(NULL, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_USAGE);
  spmvpack_host_free(m);
  return 0;
}

/* Encodes the matrix, multiplies, and returns the bytes of its container. */
static int bytes_of(const spmvpack_csr* a, const spmvpack_encode_options* options, void** bytes, uint64_t* size) {
  spmvpack_container* c = NULL;
  spmvpack_info info;
  REQUIRE(spmvpack_encode(a, options, &c) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_container_info(c, &info) == SPMVPACK_OK);
  REQUIRE(info.rows == 3 && info.cols == 4 && info.nonzeros == 5 && info.value_type == a->value_type);
  REQUIRE(spmvpack_save_memory(c, NULL, 0, size) == SPMVPACK_OK && *size > info.device_bytes);
  *bytes = malloc(*size);
  REQUIRE(*bytes != NULL);
  REQUIRE(spmvpack_save_memory(c, *bytes, *size - 1, size) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_save_memory(c, *bytes, *size, size) == SPMVPACK_OK);
  REQUIRE(multiply(c) == 0);
  spmvpack_close(c);
  return 0;
}

int main(void) {
  const char* const settings[] = {"ccoo.k=2", NULL};
  const char* const wrong[] = {"ccoo.k", NULL};
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_csr a = matrix();
  spmvpack_container* c = (spmvpack_container*)&a; /* must become null */
  spmvpack_host_matrix* host = NULL;
  void *bytes = NULL, *same = NULL;
  uint64_t size = 0, same_size = 0;

  /* All types of indices make the same container, in memory and from a file. */
  REQUIRE(bytes_of(&a, NULL, &bytes, &size) == 0);
  a.row_ptr = row_ptr64, a.row_ptr_type = SPMVPACK_I64;
  a.col_idx = col_idx64, a.col_idx_type = SPMVPACK_I64;
  REQUIRE(bytes_of(&a, &options, &same, &same_size) == 0);
  REQUIRE(size == same_size && memcmp(bytes, same, size) == 0);
  free(same);
  REQUIRE(spmvpack_open_memory(bytes, size, &c) == SPMVPACK_OK);
  remove("c_host.spmvc");
  REQUIRE(spmvpack_save(c, "c_host.spmvc", 0) == SPMVPACK_OK);
  REQUIRE(spmvpack_save(c, "c_host.spmvc", 0) == SPMVPACK_EXISTS);
  REQUIRE(spmvpack_save(c, "c_host.spmvc", 1) == SPMVPACK_OK);
  spmvpack_close(c);
  REQUIRE(spmvpack_open("c_host.spmvc", &c) == SPMVPACK_OK);
  REQUIRE(multiply(c) == 0);
  spmvpack_close(c);

  /* Layouts, settings, codecs and types. */
  a = matrix();
  options.layout = "ccoo";
  options.settings = settings;
  options.zstd_level = 19;
  REQUIRE(bytes_of(&a, &options, &same, &same_size) == 0);
  free(same);
  options = spmvpack_encode_default();
  a.values = floats, a.value_type = SPMVPACK_F32;
  REQUIRE(bytes_of(&a, &options, &same, &same_size) == 0); /* f32 values, f64 vectors */
  free(same);

  REQUIRE(transposed() == 0);

  /* What is refused. */
  a = matrix();
  options.settings = wrong;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE && c == NULL);
  options = spmvpack_encode_default();
  options.layout = "ccooo";
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "ccooo") != NULL);
  options = spmvpack_encode_default();
  options.zstd_level = 20;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE);
  options = spmvpack_encode_default();
  options.size -= 1;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_encode(NULL, NULL, &c) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_encode(&a, NULL, NULL) == SPMVPACK_USAGE);
  a.cols = 3;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_BAD_INPUT);
  REQUIRE(strstr(spmvpack_error_text(), "column 3 of a matrix with 3 columns") != NULL);
  a.col_idx = col_idx64, a.col_idx_type = SPMVPACK_I64;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_BAD_INPUT);
  a = matrix();
  a.nonzeros = 5;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_BAD_INPUT);
  a = matrix();
  a.values = NULL;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_USAGE);
  a = matrix();
  a.row_ptr_type = (spmvpack_index)0;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_USAGE);
  a = matrix();
  a.rows = UINT64_MAX;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_UNSUPPORTED);
  REQUIRE(spmvpack_open_memory(bytes, size - 1, &c) == SPMVPACK_CORRUPT && c == NULL);
  REQUIRE(spmvpack_open_memory("%%MatrixMarket", 14, &c) == SPMVPACK_BAD_INPUT);
  ((char*)bytes)[4096] ^= 1; /* of a section, which opening does not read */
  REQUIRE(spmvpack_open_memory(bytes, size, &c) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_load(c, 0, &host) == SPMVPACK_CORRUPT && host == NULL);
  REQUIRE(spmvpack_save(c, "c_host.spmvc", 1) == SPMVPACK_CORRUPT);
  spmvpack_close(c);
  free(bytes);
  spmvpack_close(NULL);
  spmvpack_host_free(NULL);
  REQUIRE(spmvpack_open("/nowhere.spmvc", &c) == SPMVPACK_IO);
  REQUIRE(spmvpack_host_load(NULL, 0, &host) == SPMVPACK_USAGE);
  remove("c_host.spmvc");
  return 0;
}
