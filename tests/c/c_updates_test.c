/* spmvpack.h from C, without a device: new values in an old pattern. */

#include <string.h>

#include "c_require.h"
#include "spmvpack/spmvpack.h"

/* [ .5  .  .  2 ]
   [  .  .  .  . ]
   [ -1  7  3  . ] */
static const int32_t row_ptr[] = {0, 2, 2, 5};
static const int32_t col_idx[] = {0, 3, 0, 1, 2};
static const double values[] = {.5, 2, -1, 7, 3};
static const spmvpack_csr matrix = {3, 4, 5, row_ptr, col_idx, values, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};

/* New values in the old pattern, and the container with them. */
static int updated(void) {
  static const double other[] = {1, 2, 3, 4, 5}, x[] = {1, 10, 100, 1000}, alpha = 1, beta = 0;
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_load_options load = spmvpack_load_default();
  spmvpack_container *c = NULL, *one = NULL, *two = NULL;
  spmvpack_host_matrix* m = NULL;
  double y[3], found[5];
  int32_t ptr[4], col[5];
  unsigned char one_bytes[20000], two_bytes[20000];
  uint64_t one_size = 0, two_size = 0;
  const spmvpack_csr_arrays to = {3, 4, 5, ptr, col, found, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};
  options.layout = "csr", options.transpose = 1, load.updatable = 1;
  REQUIRE(spmvpack_encode(&matrix, &options, &c) == SPMVPACK_OK && spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_F64, other, 5, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "was not loaded for new values") != NULL);
  REQUIRE(spmvpack_host_get_container(m, 1, &one) == SPMVPACK_USAGE && one == NULL);
  spmvpack_host_free(m);
  REQUIRE(spmvpack_host_load_with(c, &load, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_F64, other, 4, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_F64, NULL, 5, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_F32, other, 5, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_C128, other, 5, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "new values, and lists of them, are real") != NULL);
  REQUIRE(spmvpack_host_update_values(NULL, SPMVPACK_F64, other, 5, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_update_values(m, SPMVPACK_F64, other, 5, 2) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_multiply(m, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_OK);
  REQUIRE(y[0] == 2001 && y[1] == 0 && y[2] == 543);
  REQUIRE(spmvpack_host_get_container(m, 1, &one) == SPMVPACK_OK);
  REQUIRE(spmvpack_host_get_container(m, 1025, &two) == SPMVPACK_USAGE && two == NULL);
  spmvpack_host_free(m);
  REQUIRE(spmvpack_decode(one, NULL, &to) == SPMVPACK_OK && memcmp(found, other, sizeof other) == 0);
  REQUIRE(spmvpack_with_values(c, SPMVPACK_F64, other, 3, NULL, &two) == SPMVPACK_USAGE && two == NULL);
  REQUIRE(spmvpack_with_values(c, SPMVPACK_F64, other, 5, NULL, &two) == SPMVPACK_OK);
  REQUIRE(spmvpack_save_memory(one, one_bytes, sizeof one_bytes, &one_size) == SPMVPACK_OK);
  REQUIRE(spmvpack_save_memory(two, two_bytes, sizeof two_bytes, &two_size) == SPMVPACK_OK);
  REQUIRE(one_size == two_size && memcmp(one_bytes, two_bytes, one_size) == 0);
  REQUIRE(spmvpack_decode(c, NULL, &to) == SPMVPACK_OK && found[0] == .5);
  spmvpack_close(one), spmvpack_close(two), spmvpack_close(c);
  REQUIRE(spmvpack_update_values(NULL, SPMVPACK_F64, other, 5, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_require_updated(NULL, NULL) == SPMVPACK_USAGE);
  return 0;
}

/* Values of A's nonzeros from a list in which they repeat. */
static int assembled(void) {
  static const int32_t rows[] = {2, 0, -1, 2, 0, 2}, cols[] = {1, 3, 0, 0, -4, 1};
  static const int64_t rows64[] = {0, 2, 2}, cols64[] = {0, 2, 3};
  static const double list[] = {4, 2, 99, -1, 99, 3};
  static const float narrow[] = {1, 2};
  spmvpack_csr pattern = matrix;
  spmvpack_assembly* map = NULL;
  uint64_t nonzeros = 0;
  int32_t ptr[4], col[5];
  double found[5] = {1, 1, 1, 1, 1};
  float found32[5];
  spmvpack_csr_arrays to = {3, 4, 3, ptr, col, NULL, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};
  static const int32_t unordered[] = {3, 0, 0, 1, 2};
  pattern.values = NULL;
  REQUIRE(spmvpack_assembly_create(3, 4, 6, SPMVPACK_I32, rows, cols, 1, &map) == SPMVPACK_OK);
  REQUIRE(spmvpack_assembly_nonzeros(map, &nonzeros) == SPMVPACK_OK && nonzeros == 3);
  REQUIRE(spmvpack_assembly_pattern(map, &to) == SPMVPACK_OK);
  REQUIRE(ptr[0] == 0 && ptr[1] == 1 && ptr[2] == 1 && ptr[3] == 3 && col[0] == 3 && col[1] == 0 && col[2] == 1);
  to.nonzeros = 4;
  REQUIRE(spmvpack_assembly_pattern(map, &to) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, list, SPMVPACK_INSERT, found, 1) == SPMVPACK_OK);
  REQUIRE(found[0] == 2 && found[1] == -1 && found[2] == 7 && found[3] == 1);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, list, SPMVPACK_ADD, found, 1) == SPMVPACK_OK && found[2] == 14);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, NULL, SPMVPACK_ADD, found, 1) == SPMVPACK_OK && found[2] == 14);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, NULL, SPMVPACK_INSERT, found, 1) == SPMVPACK_OK && found[2] == 0);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, list, (spmvpack_insert_mode)2, found, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F64, list, SPMVPACK_ADD, NULL, 1) == SPMVPACK_USAGE);
  spmvpack_assembly_free(map);
  REQUIRE(spmvpack_assembly_create_for(&pattern, 2, SPMVPACK_I64, rows64, cols64, 0, &map) == SPMVPACK_OK);
  REQUIRE(spmvpack_assembly_nonzeros(map, &nonzeros) == SPMVPACK_OK && nonzeros == 5);
  REQUIRE(spmvpack_assembly_sum(map, SPMVPACK_F32, narrow, SPMVPACK_INSERT, found32, 0) == SPMVPACK_OK);
  REQUIRE(found32[0] == 1 && found32[1] == 0 && found32[4] == 2);
  spmvpack_assembly_free(map);
  REQUIRE(spmvpack_assembly_create_for(&pattern, 3, SPMVPACK_I64, rows64, cols64, 0, &map) == SPMVPACK_BAD_INPUT);
  REQUIRE(strstr(spmvpack_error_text(), "row 2, column 3") != NULL && map == NULL);
  pattern.col_idx = unordered;
  REQUIRE(spmvpack_assembly_create_for(&pattern, 2, SPMVPACK_I64, rows64, cols64, 0, &map) == SPMVPACK_BAD_INPUT);
  REQUIRE(spmvpack_assembly_create(2, 4, 6, SPMVPACK_I32, rows, cols, 1, &map) == SPMVPACK_BAD_INPUT);
  REQUIRE(spmvpack_assembly_create(3, 4, 6, SPMVPACK_I32, rows, NULL, 1, &map) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_assembly_create(3, 4, 6, (spmvpack_index)3, rows, cols, 1, &map) == SPMVPACK_USAGE);
  spmvpack_assembly_free(NULL);
  REQUIRE(spmvpack_assembly_to_device(NULL, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_encode_on_device(NULL, NULL, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_matrix_get_container(NULL, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_device_assembly_sum(NULL, SPMVPACK_F64, NULL, SPMVPACK_ADD, NULL, NULL) == SPMVPACK_USAGE);
  spmvpack_device_assembly_free(NULL);
  return 0;
}

int main(void) { return updated() || assembled(); }
