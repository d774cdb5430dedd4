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

/* Whether the container's provenance has this text. */
static int recorded(const spmvpack_container* container, const char* text) {
  uint64_t size = 0, i = 0;
  char* bytes = NULL;
  int found = 0;
  if (spmvpack_save_memory(container, NULL, 0, &size) != SPMVPACK_OK) return 0;
  bytes = malloc(size);
  if (bytes != NULL && spmvpack_save_memory(container, bytes, size, &size) == SPMVPACK_OK)
    for (i = 0; i + strlen(text) <= size; ++i) found |= memcmp(bytes + i, text, strlen(text)) == 0;
  free(bytes);
  return found;
}

static spmvpack_csr matrix(void) {
  spmvpack_csr a = {3, 4, 6, row_ptr, col_idx, values, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};
  return a;
}

static int multiply(const spmvpack_container* container) {
  spmvpack_host_matrix* a = NULL;
  const double x[] = {1, 10, 100, 1000}, alpha = 2, beta = -1;
  double y[] = {1, 2, 3};
  spmvpack_info info;
  REQUIRE(spmvpack_host_load(container, 1, &a) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_host_info(a, &info) == SPMVPACK_OK && spmvpack_get_host_info(NULL, &info) == SPMVPACK_USAGE);
  REQUIRE(info.rows == 3 && info.cols == 4 && info.nonzeros == 5 && info.device_bytes > 0);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * 2000.5 - 1 && y[1] == -2 && y[2] == 2 * 369 - 3);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, x, &beta, NULL, 0) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "y is null") == 0);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, y, &beta, y, 0) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_multiply(a, (spmvpack_type)5, &alpha, x, &beta, y, 0) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, x, &beta, y, -1) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "-1 threads; give 1 to 1024, or 0 for one per core") == 0);
  spmvpack_host_free(a);
  REQUIRE(spmvpack_host_load(container, 1025, &a) == SPMVPACK_USAGE && a == NULL);
  return 0;
}

/* y = 2 D_r A D_c x - y, and what is refused. */
static int multiply_scaled(const spmvpack_container* container) {
  spmvpack_host_matrix* a = NULL;
  const double x[] = {1, 10, 100, 1000}, alpha = 2, beta = -1, rows[] = {3, 5, -2}, columns[] = {2, -1, 4, .5};
  double y[] = {1, 2, 3};
  spmvpack_multiply_description description = spmvpack_multiply_default(SPMVPACK_F64);
  REQUIRE(description.row_factors == NULL && description.column_factors == NULL);
  REQUIRE(spmvpack_host_load(container, 1, &a) == SPMVPACK_OK);
  description.row_factors = rows, description.column_factors = columns;
  REQUIRE(spmvpack_host_multiply_with(a, &description, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * 3 * (.5 * 2 + 2 * 500) - 1 && y[1] == -2 && y[2] == 2 * -2 * (-2 - 70 + 1200) - 3);
  description.row_factors = NULL;
  REQUIRE(spmvpack_host_multiply_with(a, &description, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
  REQUIRE(y[1] == 2 && y[2] == 2 * (-2 - 70 + 1200) + 2 * 2 * (-2 - 70 + 1200) + 3);
  description.row_factors = y;
  REQUIRE(spmvpack_host_multiply_with(a, &description, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "the factors of rows and y overlap") != NULL);
  spmvpack_host_free(a);
  return 0;
}

/* Y = 2 A X - Y of two columns, X in rows with something between them, Y in columns. */
static int multiply_columns(const spmvpack_container* container) {
  spmvpack_host_matrix* a = NULL;
  const double x[] = {1, 1, 99, 10, 0, 99, 100, 0, 99, 1000, 2, 99}, alpha = 2, beta = -1;
  double y[] = {1, 2, 3, 77, 4, 5, 6}, turns[] = {1, 7, 10, 7, 100, 7, 1000, 7};
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_F64);
  REQUIRE(spmvpack_host_load(container, 1, &a) == SPMVPACK_OK);
  REQUIRE(d.order_x == SPMVPACK_ORDER_COLUMNS && d.order_y == SPMVPACK_ORDER_COLUMNS && d.right_hand_sides == 1);
  d.right_hand_sides = 2;
  d.order_x = SPMVPACK_ORDER_ROWS;
  d.ldx = 3;
  d.ldy = 4;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * 2000.5 - 1 && y[1] == -2 && y[2] == 2 * 369 - 3 && y[3] == 77);
  REQUIRE(y[4] == 2 * 4.5 - 4 && y[5] == -5 && y[6] == 2 * -1.0 - 6);
  d.ldx = 1;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "ldx is 1, less than a row's 2 elements") != NULL);
  d.ldx = 0;
  d.ldy = 2;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "ldy is 2, less than a column's 3 elements") != NULL);
  d.ldy = 0;
  d.order_y = (spmvpack_order)2;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  d = spmvpack_multiply_default(SPMVPACK_F64);
  d.right_hand_sides = 0;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, NULL, &beta, NULL, 1) == SPMVPACK_OK);
  /* X and Y are the columns of one array. */
  d.right_hand_sides = 1;
  d.order_x = d.order_y = SPMVPACK_ORDER_ROWS;
  d.ldx = d.ldy = 2;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, turns, &beta, turns + 1, 1) == SPMVPACK_OK);
  REQUIRE(turns[1] == 2 * 2000.5 - 7 && turns[3] == -7 && turns[5] == 2 * 369 - 7 && turns[7] == 7 && turns[4] == 100);
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, turns, &beta, turns + 2, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "x and y overlap") != NULL);
  d.scalars_on_device = 1;
  REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, turns, &beta, turns + 1, 1) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_multiply_with(a, NULL, &alpha, turns, &beta, turns + 1, 1) == SPMVPACK_USAGE);
  spmvpack_host_free(a);
  return 0;
}

/* Y = 2 A X - Y of complex columns with real scalars, in every order; and what is not complex. */
static int multiply_complex(const spmvpack_container* container) {
  enum { rows = 3, cols = 4, k = 2 };
  spmvpack_host_matrix* a = NULL;
  const double alpha = 2, beta = -1;
  spmvpack_info info;
  int by_rows_x, by_rows_y, i, j, part;
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_C128);
  REQUIRE(spmvpack_host_load(container, 1, &a) == SPMVPACK_OK && spmvpack_get_host_info(a, &info) == SPMVPACK_OK);
  d.right_hand_sides = k;
  for (by_rows_x = 0; by_rows_x < 2; ++by_rows_x)
    for (by_rows_y = 0; by_rows_y < 2; ++by_rows_y) {
      double x[cols * k][2], y[rows * k][2], real_x[cols], real_y[rows];
      d.order_x = by_rows_x ? SPMVPACK_ORDER_ROWS : SPMVPACK_ORDER_COLUMNS;
      d.order_y = by_rows_y ? SPMVPACK_ORDER_ROWS : SPMVPACK_ORDER_COLUMNS;
      for (i = 0; i < cols * k; ++i) x[i][0] = i, x[i][1] = 100 + i;
      for (i = 0; i < rows * k; ++i) y[i][0] = 7, y[i][1] = 8;
      REQUIRE(spmvpack_host_multiply_with(a, &d, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
      for (j = 0; j < k; ++j)
        for (part = 0; part < 2; ++part) {
          for (i = 0; i < cols; ++i) real_x[i] = x[by_rows_x ? i * k + j : j * cols + i][part];
          for (i = 0; i < rows; ++i) real_y[i] = part == 0 ? 7 : 8;
          REQUIRE(spmvpack_host_multiply(a, SPMVPACK_F64, &alpha, real_x, &beta, real_y, 1) == SPMVPACK_OK);
          for (i = 0; i < rows; ++i) REQUIRE(y[by_rows_y ? i * k + j : j * rows + i][part] == real_y[i]);
        }
    }
  {
    const double x[][2] = {{1, 0}, {10, 1}, {100, 0}, {1000, 2}};
    double y[rows][2] = {{1, 1}, {2, 0}, {3, 0}};
    REQUIRE(spmvpack_host_multiply(a, SPMVPACK_C128, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
    REQUIRE(y[0][0] == 2 * 2000.5 - 1 && y[1][0] == -2 && y[2][0] == 2 * 369 - 3 && y[0][1] == 2 * 4.0 - 1);
    if (info.value_type == SPMVPACK_F64) {
      REQUIRE(spmvpack_host_multiply(a, SPMVPACK_C64, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
      REQUIRE(strstr(spmvpack_error_text(), "f32 vectors for a matrix of f64 values") != NULL);
    } else {
      const float z[][2] = {{1, 0}, {10, 1}, {100, 0}, {1000, 2}}, two = 2, zero = 0;
      float found[rows][2];
      REQUIRE(spmvpack_host_multiply(a, SPMVPACK_C64, &two, z, &zero, found, 1) == SPMVPACK_OK);
      REQUIRE(found[0][0] == 2 * 2000.5F && found[2][0] == 2 * 369 && found[0][1] == 2 * 4 && found[1][1] == 0);
    }
  }
  {
    const double x[][2] = {{1, 0}, {10, 1}, {100, 0}, {1000, 2}}, i_two[] = {0, 2}, one_minus_i[] = {1, -1};
    double y[rows][2] = {{1, 1}, {2, 0}, {3, 0}};
    spmvpack_multiply_description scalars = spmvpack_multiply_default(SPMVPACK_C128);
    REQUIRE(scalars.complex_scalars == 0);
    scalars.complex_scalars = 1;
    REQUIRE(spmvpack_host_multiply_with(a, &scalars, i_two, x, one_minus_i, y, 1) == SPMVPACK_OK);
    /* 2i (2000.5 + 4i) + (1 - i) (1 + i); (1 - i) 2; 2i (369 + 7i) + (1 - i) 3 */
    REQUIRE(y[0][0] == -8 + 2 && y[0][1] == 4001 && y[1][0] == 2 && y[1][1] == -2);
    REQUIRE(y[2][0] == -14 + 3 && y[2][1] == 738 - 3);
    scalars.vectors = SPMVPACK_F64;
    REQUIRE(spmvpack_host_multiply_with(a, &scalars, i_two, x, one_minus_i, y, 1) == SPMVPACK_USAGE);
    REQUIRE(strcmp(spmvpack_error_text(), "complex alpha and beta with real vectors") == 0);
  }
  spmvpack_host_free(a);
  return 0;
}

/* A matrix of complex values, [1+i . ; 2i 3]: A, A^T and A^H, decoded to the same bits; and what it does not do. */
static int complex_matrix(void) {
  static const int32_t first[] = {0, 1, 4}, columns[] = {0, 1, 0, 1};
  const double parts[][2] = {{1, 1}, {1, 0}, {0, 2}, {2, 0}}; /* whose 3 is given as 1 + 2 */
  const spmvpack_csr a = {2, 2, 4, first, columns, parts, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_C128};
  const double x[][2] = {{1, 2}, {0, -1}}, alpha = 1, beta = 0, scalar[] = {0, 1};
  /* A x, A^T x, A^H x */
  const double expected[3][2][2] = {{{-1, 3}, {-4, -1}}, {{1, 3}, {0, -3}}, {{1, 1}, {0, -3}}};
  const spmvpack_operation operations[] = {SPMVPACK_OPERATION_N, SPMVPACK_OPERATION_T, SPMVPACK_OPERATION_H};
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_multiply_description d = spmvpack_multiply_default(SPMVPACK_C128);
  spmvpack_load_options updatable = spmvpack_load_default();
  spmvpack_container* c = NULL;
  spmvpack_host_matrix* m = NULL;
  spmvpack_info info;
  double y[2][2];
  int i, j;
  options.transpose = 1;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_OK && spmvpack_get_container_info(c, &info) == SPMVPACK_OK);
  REQUIRE(info.value_type == SPMVPACK_C128 && info.nonzeros == 3);
  {
    const double sums[][2] = {{1, 1}, {0, 2}, {3, 0}};
    double decoded[3][2];
    uint64_t rows[3], cols[3];
    const spmvpack_csr_arrays to = {2, 2, 3, rows, cols, decoded, SPMVPACK_I64, SPMVPACK_I64, SPMVPACK_C128};
    REQUIRE(spmvpack_decode(c, NULL, &to) == SPMVPACK_OK && memcmp(decoded, sums, sizeof sums) == 0);
  }
  REQUIRE(spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  for (i = 0; i < 3; ++i) {
    d.operation = operations[i];
    d.complex_scalars = 0;
    REQUIRE(spmvpack_host_multiply_with(m, &d, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
    for (j = 0; j < 2; ++j) REQUIRE(y[j][0] == expected[i][j][0] && y[j][1] == expected[i][j][1]);
    d.complex_scalars = 1;
    REQUIRE(spmvpack_host_multiply_with(m, &d, scalar, x, scalar, y, 1) == SPMVPACK_OK); /* i op(A) x + i op(A) x */
    for (j = 0; j < 2; ++j) REQUIRE(y[j][0] == -2 * expected[i][j][1] && y[j][1] == 2 * expected[i][j][0]);
  }
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_C128, &alpha, x, &beta, y, 1) == SPMVPACK_OK);
  REQUIRE(y[0][0] == 1 && y[0][1] == 3);
  REQUIRE(spmvpack_host_multiply(m, SPMVPACK_F64, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "x and y are real, the matrix has c128 values") != NULL);
  spmvpack_host_free(m);
  updatable.updatable = 1;
  REQUIRE(spmvpack_host_load_with(c, &updatable, &m) == SPMVPACK_UNSUPPORTED && m == NULL);
  spmvpack_close(c);
  options.layout = "csell";
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_UNSUPPORTED && c == NULL);
  return 0;
}

/* A^T: refused without it, and with it for x of A's rows. */
static int transposed(void) {
  const double x[] = {1, 10, 100}, alpha = 2, beta = -1;
  static const char* const shared[] = {"csell.values=table", NULL};
  const spmvpack_csr a = matrix();
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_container* c = NULL;
  spmvpack_host_matrix* m = NULL;
  double y[] = {1, 2, 3, 4};
  int available = 2;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_OK && spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_has_transpose(c, &available) == SPMVPACK_OK && available == 0);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, x, &beta, y, 1) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "encode the matrix again with its transpose") != NULL);
  REQUIRE(y[0] == 1 && y[3] == 4);
  spmvpack_host_free(m);
  spmvpack_close(c);
  options.updatable = 1, options.settings = shared;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "use csell.values=auto, or leave out --updatable") != NULL);
  options.settings = NULL, options.transpose = 1;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_OK && spmvpack_host_load(c, 1, &m) == SPMVPACK_OK);
  REQUIRE(spmvpack_has_transpose(c, &available) == SPMVPACK_OK && available == 1);
  REQUIRE(spmvpack_has_transpose(NULL, &available) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_OK);
  REQUIRE(y[0] == 2 * -99.5 - 1 && y[1] == 1400 - 2 && y[2] == 600 - 3 && y[3] == 4 - 4);
  REQUIRE(spmvpack_host_multiply_transposed(m, SPMVPACK_F64, &alpha, NULL, &beta, y, 2) == SPMVPACK_USAGE);
  spmvpack_close(c);
  c = NULL;
  REQUIRE(spmvpack_host_multiply_transposed(NULL, SPMVPACK_F64, &alpha, x, &beta, y, 2) == SPMVPACK_USAGE);
  spmvpack_host_free(m);
  return 0;
}

/* Fails unless the container decodes to A's sorted entries with these types of indices. */
static int decoded(const spmvpack_container* c, spmvpack_index row_ptr_type, spmvpack_index col_idx_type) {
  static const int32_t columns[] = {0, 3, 0, 1, 2};
  static const double all[] = {.5, 2, -1, 7, 3};
  int32_t ptr32[4], col32[5];
  int64_t ptr64[4], col64[5];
  double f64[5];
  float f32[5];
  const int wide_rows = row_ptr_type == SPMVPACK_I64, wide_columns = col_idx_type == SPMVPACK_I64;
  spmvpack_csr_arrays to = {3, 4, 5, ptr32, col32, f64, row_ptr_type, col_idx_type, SPMVPACK_F64};
  spmvpack_info info;
  int i = 0;
  REQUIRE(spmvpack_get_container_info(c, &info) == SPMVPACK_OK);
  to.value_type = info.value_type;
  if (info.value_type == SPMVPACK_F32) to.values = f32;
  if (wide_rows) to.row_ptr = ptr64;
  if (wide_columns) to.col_idx = col64;
  REQUIRE(spmvpack_decode(c, NULL, &to) == SPMVPACK_OK);
  for (i = 0; i < 4; ++i) REQUIRE((wide_rows ? ptr64[i] : ptr32[i]) == (i == 0 ? 0 : i == 3 ? 5 : 2));
  for (i = 0; i < 5; ++i) {
    REQUIRE((wide_columns ? col64[i] : col32[i]) == columns[i]);
    REQUIRE(info.value_type == SPMVPACK_F32 ? f32[i] == (float)all[i] : f64[i] == all[i]);
  }
  return 0;
}

/* The way back: every type of indices, and arrays that are not the matrix's. */
static int decode(void) {
  spmvpack_load_options options = spmvpack_load_default();
  spmvpack_encode_options csr = spmvpack_encode_default();
  spmvpack_container* c = NULL;
  spmvpack_csr a = matrix();
  int64_t ptr[4] = {-5, -5, -5, -5}, col[5];
  double all[5];
  const spmvpack_csr_arrays right = {3, 4, 5, ptr, col, all, SPMVPACK_I64, SPMVPACK_I64, SPMVPACK_F64};
  spmvpack_csr_arrays to = right;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_OK);
  REQUIRE(decoded(c, SPMVPACK_I32, SPMVPACK_I32) == 0 && decoded(c, SPMVPACK_I64, SPMVPACK_I32) == 0);
  REQUIRE(decoded(c, SPMVPACK_I32, SPMVPACK_I64) == 0 && decoded(c, SPMVPACK_I64, SPMVPACK_I64) == 0);
  options.threads = 2;
  to.nonzeros = 6;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE && ptr[0] == -5);
  REQUIRE(strstr(spmvpack_error_text(), "take the sizes from spmvpack_get_container_info()") != NULL);
  to = right, to.rows = 4;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  to = right, to.cols = 3;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  to = right, to.value_type = SPMVPACK_F32;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "the container's values are f64") != NULL);
  to = right, to.col_idx_type = (spmvpack_index)3;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  to = right, to.row_ptr = NULL;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "row_ptr is null") == 0);
  to = right, to.values = NULL;
  REQUIRE(spmvpack_decode(c, &options, &to) == SPMVPACK_USAGE);
  options.memory_limit = 8;
  REQUIRE(spmvpack_decode(c, &options, &right) == SPMVPACK_OUT_OF_MEMORY && ptr[0] == -5);
  REQUIRE(spmvpack_decode(c, NULL, NULL) == SPMVPACK_USAGE);
  REQUIRE(spmvpack_decode(NULL, NULL, &right) == SPMVPACK_USAGE && ptr[0] == -5);
  spmvpack_close(c);
  a.values = floats, a.value_type = SPMVPACK_F32;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_OK);
  REQUIRE(decoded(c, SPMVPACK_I32, SPMVPACK_I32) == 0);
  spmvpack_close(c);
  /* Columns of 2^31 fit 32 bits, with a sign; more do not. */
  csr.layout = "csr";
  a = matrix(), a.cols = (uint64_t)1 << 31, to = right, to.cols = a.cols, to.col_idx_type = SPMVPACK_I32;
  REQUIRE(spmvpack_encode(&a, &csr, &c) == SPMVPACK_OK && spmvpack_decode(c, NULL, &to) == SPMVPACK_OK);
  spmvpack_close(c);
  ++a.cols, ++to.cols;
  REQUIRE(spmvpack_encode(&a, &csr, &c) == SPMVPACK_OK && spmvpack_decode(c, NULL, &to) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "use SPMVPACK_I64") != NULL);
  spmvpack_close(c);
  /* No rows: one row pointer. */
  a = matrix(), a.rows = 0, a.nonzeros = 0, to = right, to.rows = 0, to.nonzeros = 0, to.values = NULL;
  REQUIRE(spmvpack_encode(&a, NULL, &c) == SPMVPACK_OK);
  ptr[0] = -5;
  REQUIRE(spmvpack_decode(c, NULL, &to) == SPMVPACK_OK && ptr[0] == 0);
  spmvpack_close(c);
  return 0;
}

/* What `auto` chooses for is what the options say. */
static int aims(void) {
  enum { n = 4096, band = 3 };
  static int32_t ptr[n + 1], col[n * band];
  static double all[n * band];
  const spmvpack_csr a = {n, n, n * band, ptr, col, all, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_container *by_time = NULL, *by_bytes = NULL, *for_host = NULL;
  spmvpack_info time, bytes, host;
  int i = 0, k = 0;
  for (i = 0; i <= n; ++i) ptr[i] = i * band;
  for (i = 0; i < n; ++i)
    for (k = 0; k < band; ++k) {
      col[i * band + k] = k * (n / band) + (i * 7 + k) % (n / band);
      all[i * band + k] = (i * 31 + k) % 200;
    }
  REQUIRE(spmvpack_encode(&a, &options, &by_time) == SPMVPACK_OK);
  options.optimize = SPMVPACK_OPTIMIZE_BYTES;
  REQUIRE(spmvpack_encode(&a, &options, &by_bytes) == SPMVPACK_OK);
  options = spmvpack_encode_default();
  options.target = SPMVPACK_TARGET_HOST;
  REQUIRE(spmvpack_encode(&a, &options, &for_host) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_container_info(by_time, &time) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_container_info(by_bytes, &bytes) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_container_info(for_host, &host) == SPMVPACK_OK);
  REQUIRE(bytes.device_bytes <= time.device_bytes && bytes.device_bytes <= host.device_bytes);
  REQUIRE(recorded(by_bytes, "--optimize bytes") && recorded(for_host, "--target host"));
  REQUIRE(!recorded(by_time, "--optimize") && !recorded(by_time, "--target"));
  spmvpack_close(by_time);
  spmvpack_close(by_bytes);
  spmvpack_close(for_host);
  options.target = (spmvpack_target)2;
  REQUIRE(spmvpack_encode(&a, &options, &by_time) == SPMVPACK_USAGE);
  options = spmvpack_encode_default();
  options.optimize = (spmvpack_objective)-1;
  REQUIRE(spmvpack_encode(&a, &options, &by_time) == SPMVPACK_USAGE);
  options = spmvpack_encode_default();
  options.memory_limit = 1000;
  REQUIRE(spmvpack_encode(&a, &options, &by_time) == SPMVPACK_OUT_OF_MEMORY);
  options.layout = "nus_sell"; /* what is planned counts, and not the container alone */
  REQUIRE(spmvpack_encode(&a, &options, &by_time) == SPMVPACK_OUT_OF_MEMORY);
  REQUIRE(strstr(spmvpack_error_text(), "sorting 4096 columns") != NULL);
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
  REQUIRE(multiply(c) == 0 && multiply_columns(c) == 0 && multiply_scaled(c) == 0 && multiply_complex(c) == 0);
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
  REQUIRE(multiply(c) == 0 && multiply_columns(c) == 0 && multiply_scaled(c) == 0 && multiply_complex(c) == 0);
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

  REQUIRE(transposed() == 0 && complex_matrix() == 0 && decode() == 0 && aims() == 0);
  REQUIRE(spmvpack_version()[0] >= '0' && strchr(spmvpack_version(), '.') != NULL);

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
  options.threads = 1025;
  REQUIRE(spmvpack_encode(&a, &options, &c) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "1025 threads; give 1 to 1024, or 0 for one per core") == 0);
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
