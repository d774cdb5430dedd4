/* Structures that grow: what a program compiled with an older or a newer spmvpack.h passes. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "c_require.h"
#include "spmvpack/spmvpack.h"

/* The structures of every released header, as they were. Never change one: add the next. */
typedef struct encode_options_0_1 {
  size_t size;
  const char* layout;
  const char* const* settings;
  int zstd_level;
  int threads;
  int force_size;
  int transpose;
} encode_options_0_1;

/* With the target of before target_name. */
typedef struct encode_options_with_target {
  encode_options_0_1 old;
  spmvpack_target target;
  spmvpack_objective optimize;
  uint64_t memory_limit;
} encode_options_with_target;

typedef struct payback_first {
  size_t size;
  double seconds, csr_seconds, encode_seconds;
  uint64_t multiplies;
  int known, measured;
} payback_first;

typedef struct multiply_description_0_1 {
  size_t size;
  spmvpack_operation operation;
  spmvpack_type vectors;
  uint64_t right_hand_sides;
  uint64_t ldx, ldy;
  int scalars_on_device;
  uint32_t kernel;
} multiply_description_0_1;

typedef struct load_options_0_1 {
  size_t size;
  uint64_t memory_limit;
  int threads;
  int check_contents;
} load_options_0_1;

/* Those of a header to come. */
typedef struct encode_options_later {
  spmvpack_encode_options known;
  uint64_t unknown[3];
} encode_options_later;

typedef struct multiply_description_later {
  spmvpack_multiply_description known;
  uint64_t unknown;
} multiply_description_later;

typedef struct load_options_later {
  spmvpack_load_options known;
  uint64_t unknown;
} load_options_later;

static const int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {0, 0, 1};
static const double values[] = {1, 2, 3};
static const spmvpack_csr matrix = {2, 2, 3, row_ptr, col_idx, values, SPMVPACK_I32, SPMVPACK_I32, SPMVPACK_F64};

static spmvpack_status encode(const void* options) {
  spmvpack_container* c = NULL;
  const spmvpack_status status = spmvpack_encode(&matrix, (const spmvpack_encode_options*)options, &c);
  spmvpack_close(c);
  return status;
}

static int encode_options(void) {
  struct {
    encode_options_0_1 old;
    unsigned char beyond[256]; /* what is not the caller's structure is not read */
  } first;
  encode_options_later later;
  spmvpack_encode_options now = spmvpack_encode_default();
  memset(&first, 0xFF, sizeof first);
  memset(&later, 0, sizeof later);
  REQUIRE(now.size == sizeof now && now.size > sizeof first.old);
  first.old.size = sizeof first.old, first.old.layout = "csell", first.old.settings = NULL;
  first.old.zstd_level = 3, first.old.threads = 1, first.old.force_size = 0, first.old.transpose = 1;
  REQUIRE(encode(&first) == SPMVPACK_OK);
  first.old.zstd_level = 20; /* its fields are where they were */
  REQUIRE(encode(&first) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "zstd_level") != NULL);
  first.old.zstd_level = 0, first.old.layout = "nothing";
  REQUIRE(encode(&first) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "nothing") != NULL);
  first.old.layout = "csr", first.old.size -= 1;
  REQUIRE(encode(&first) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "start from spmvpack_encode_default()") != NULL);
  first.old.size = 0;
  REQUIRE(encode(&first) == SPMVPACK_USAGE);

  later.known = now, later.known.size = sizeof later;
  REQUIRE(encode(&later) == SPMVPACK_OK);
  ((unsigned char*)&later)[sizeof later - 1] = 1;
  REQUIRE(encode(&later) == SPMVPACK_UNSUPPORTED);
  REQUIRE(strstr(spmvpack_error_text(), "a field of a newer version of the structure is set") != NULL);
  later.known.size = sizeof later - 1; /* which is not the caller's any more */
  REQUIRE(encode(&later) == SPMVPACK_OK);
  now.size = SPMVPACK_MAX_STRUCT_SIZE + 1;
  REQUIRE(encode(&now) == SPMVPACK_USAGE);
  return 0;
}

/* What target_name and tune add does nothing for a program that knows only the target. */
static int targets(void) {
  struct {
    encode_options_with_target old;
    unsigned char beyond[64];
  } before;
  spmvpack_encode_options now = spmvpack_encode_default();
  memset(&before, 0xFF, sizeof before);
  memset(&before.old, 0, sizeof before.old);
  before.old.old.size = sizeof before.old, before.old.old.layout = "auto";
  REQUIRE(sizeof before.old == offsetof(spmvpack_encode_options, target_name));
  REQUIRE(encode(&before) == SPMVPACK_OK);
  before.old.target = SPMVPACK_TARGET_HOST, before.old.optimize = SPMVPACK_OPTIMIZE_BYTES;
  REQUIRE(encode(&before) == SPMVPACK_OK);
  before.old.target = (spmvpack_target)2;
  REQUIRE(encode(&before) == SPMVPACK_USAGE);

  now.target_name = "h100";
  REQUIRE(encode(&now) == SPMVPACK_OK);
  now.target = SPMVPACK_TARGET_HOST;
  REQUIRE(encode(&now) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "target_name is not") != NULL);
  now.target_name = "host";
  REQUIRE(encode(&now) == SPMVPACK_OK);
  now.target_name = "tpu";
  REQUIRE(encode(&now) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "tpu") != NULL);
  now.target_name = "./none.json";
  REQUIRE(encode(&now) == SPMVPACK_IO);
  return 0;
}

static int figures(void) {
  struct {
    payback_first old;
    unsigned char beyond[64];
  } first;
  struct {
    spmvpack_payback known;
    uint64_t unknown;
  } later;
  spmvpack_container *predicted = NULL, *tuned = NULL, *forced = NULL;
  spmvpack_encode_options options = spmvpack_encode_default();
  spmvpack_payback payback = spmvpack_payback_default();
  memset(&first, 0xFF, sizeof first);
  memset(&later, 0xFF, sizeof later);
  REQUIRE(spmvpack_encode(&matrix, NULL, &predicted) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_payback(predicted, &payback) == SPMVPACK_OK && payback.size == sizeof payback);
  REQUIRE(payback.known && !payback.measured && payback.seconds > 0 && payback.csr_seconds >= payback.seconds);
  REQUIRE(payback.encode_seconds > 0 && payback.multiplies != 0);
  if (payback.csr_seconds == payback.seconds) REQUIRE(payback.multiplies == SPMVPACK_NEVER);
  options.layout = "csr", options.threads = 1;
  REQUIRE(spmvpack_encode(&matrix, &options, &forced) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_payback(forced, &payback) == SPMVPACK_OK && !payback.known && payback.multiplies == 0);
  options.tune = SPMVPACK_TUNE_HOST; /* csr leaves no choice */
  REQUIRE(encode(&options) == SPMVPACK_USAGE);
  options.layout = "auto";
  REQUIRE(spmvpack_encode(&matrix, &options, &tuned) == SPMVPACK_OK);
  REQUIRE(spmvpack_get_payback(tuned, &payback) == SPMVPACK_OK && payback.known && payback.measured);
  options.target_name = "h100";
  REQUIRE(encode(&options) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "another kind of machine") != NULL);
  options.target_name = NULL, options.optimize = SPMVPACK_OPTIMIZE_BYTES;
  REQUIRE(encode(&options) == SPMVPACK_USAGE);
  options.optimize = SPMVPACK_OPTIMIZE_TIME, options.tune = (spmvpack_tune)3;
  REQUIRE(encode(&options) == SPMVPACK_USAGE);

  first.old.size = sizeof first.old;
  REQUIRE(spmvpack_get_payback(tuned, (spmvpack_payback*)(void*)&first) == SPMVPACK_OK);
  REQUIRE(first.old.known && first.old.seconds == payback.seconds && first.beyond[0] == 0xFF);
  first.old.size -= 1;
  REQUIRE(spmvpack_get_payback(tuned, (spmvpack_payback*)(void*)&first) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "start from spmvpack_payback_default()") != NULL);
  later.known.size = sizeof later;
  REQUIRE(spmvpack_get_payback(tuned, &later.known) == SPMVPACK_OK && later.unknown == 0);
  REQUIRE(later.known.size == sizeof later);
  spmvpack_close(predicted), spmvpack_close(tuned), spmvpack_close(forced);
  return 0;
}

static int load_options(const spmvpack_container* c) {
  spmvpack_host_matrix* m = NULL;
  load_options_0_1 old = {sizeof old, 0, 1, 0};
  load_options_later later;
  const spmvpack_load_options* const old_options = (const spmvpack_load_options*)(const void*)&old;
  memset(&later, 0, sizeof later);
  later.known = spmvpack_load_default();
  REQUIRE(later.known.size == sizeof later.known);
  REQUIRE(spmvpack_host_load_with(c, old_options, &m) == SPMVPACK_OK);
  spmvpack_host_free(m);
  old.memory_limit = 1;
  REQUIRE(spmvpack_host_load_with(c, old_options, &m) == SPMVPACK_OUT_OF_MEMORY && m == NULL);
  old.size -= 1;
  REQUIRE(spmvpack_host_load_with(c, old_options, &m) == SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "start from spmvpack_load_default()") != NULL);
  old.size += 1, old.check_contents = 1;
  REQUIRE(spmvpack_host_load_with(c, old_options, &m) == SPMVPACK_OUT_OF_MEMORY);
  old.memory_limit = 0;
  REQUIRE(spmvpack_host_load_with(c, old_options, &m) == SPMVPACK_OK);
  spmvpack_host_free(m);
  later.known.size = sizeof later;
  REQUIRE(spmvpack_host_load_with(c, &later.known, &m) == SPMVPACK_OK);
  spmvpack_host_free(m);
  later.unknown = 1;
  REQUIRE(spmvpack_host_load_with(c, &later.known, &m) == SPMVPACK_UNSUPPORTED);
  REQUIRE(spmvpack_load_with(c, &later.known, NULL, (spmvpack_matrix**)(void*)&m) == SPMVPACK_UNSUPPORTED);
  REQUIRE(strstr(spmvpack_error_text(), "a field of a newer version of the structure is set") != NULL);
  return 0;
}

/* Descriptions are checked before the matrix, which a machine without a device has none of. */
static int description_taken(const void* description) {
  uint64_t bytes = 0;
  REQUIRE(spmvpack_workspace_bytes(NULL, (const spmvpack_multiply_description*)description, &bytes) == SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "matrix is null") == 0);
  return 0;
}

static int descriptions(void) {
  multiply_description_0_1 old = {sizeof old, SPMVPACK_OPERATION_N, SPMVPACK_F64, 1, 0, 0, 0, 0};
  multiply_description_later later;
  uint64_t bytes = 0;
  memset(&later, 0, sizeof later);
  later.known = spmvpack_multiply_default(SPMVPACK_F64);
  REQUIRE(later.known.size == sizeof later.known);
  REQUIRE(description_taken(&old) == 0 && description_taken(&later) == 0);
  old.vectors = (spmvpack_type)3;
  REQUIRE(spmvpack_workspace_bytes(NULL, (const spmvpack_multiply_description*)(const void*)&old, &bytes) ==
          SPMVPACK_USAGE);
  REQUIRE(strcmp(spmvpack_error_text(), "no such type of values or vectors") == 0);
  old.vectors = SPMVPACK_F64, old.size -= 1;
  REQUIRE(spmvpack_workspace_bytes(NULL, (const spmvpack_multiply_description*)(const void*)&old, &bytes) ==
          SPMVPACK_USAGE);
  REQUIRE(strstr(spmvpack_error_text(), "start from spmvpack_multiply_default()") != NULL);
  later.known.size = sizeof later;
  REQUIRE(description_taken(&later) == 0);
  later.unknown = 7;
  REQUIRE(spmvpack_workspace_bytes(NULL, &later.known, &bytes) == SPMVPACK_UNSUPPORTED);
  REQUIRE(spmvpack_multiply(NULL, &later.known, NULL, NULL, NULL, NULL, NULL, 0, NULL) == SPMVPACK_UNSUPPORTED);
  return 0;
}

int main(void) {
  spmvpack_container* c = NULL;
  REQUIRE(encode_options() == 0 && targets() == 0 && figures() == 0 && descriptions() == 0);
  REQUIRE(spmvpack_encode(&matrix, NULL, &c) == SPMVPACK_OK && load_options(c) == 0);
  spmvpack_close(c);
  return 0;
}
