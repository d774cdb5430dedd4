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

/* That of before tune, whose programs had their defaults from a function that returned as much as it knew. */
typedef struct encode_options_with_name {
  encode_options_with_target old;
  const char* target_name;
} encode_options_with_name;

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
  spmvpack_matrix* on_device = NULL;
  load_options_0_1 old = {sizeof old, 0, 1, 0};
  const struct {
    load_options_0_1 old;
    int64_t other;
  } beyond = {{sizeof old, 0, 1, 0}, -1};
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
  for (later.known.cache_percent = -1; later.known.cache_percent <= 101; later.known.cache_percent += 102) {
    REQUIRE(spmvpack_load_with(c, &later.known, NULL, (spmvpack_matrix**)(void*)&m) == SPMVPACK_USAGE);
    REQUIRE(strstr(spmvpack_error_text(), "cache_percent is not between 0 and 100") != NULL);
  }
  /* Behind those of the first version is something else. */
  REQUIRE(spmvpack_load_with(c, (const spmvpack_load_options*)(const void*)&beyond, NULL, &on_device) !=
          SPMVPACK_USAGE);
  spmvpack_free(on_device);
  later.known.cache_percent = 70;
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
  old.vectors = (spmvpack_type)5;
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

typedef spmvpack_status init_function(void* structure, size_t size);

static spmvpack_status init_encode(void* structure, size_t size) {
  return spmvpack_encode_options_init((spmvpack_encode_options*)structure, size);
}
static spmvpack_status init_load(void* structure, size_t size) {
  return spmvpack_load_options_init((spmvpack_load_options*)structure, size);
}
static spmvpack_status init_multiply(void* structure, size_t size) {
  return spmvpack_multiply_description_init((spmvpack_multiply_description*)structure, size, SPMVPACK_F64);
}
static spmvpack_status init_payback(void* structure, size_t size) {
  return spmvpack_payback_init((spmvpack_payback*)structure, size);
}

/* A structure of any header has its default in so many bytes, and not one more is written. */
static int defaults_of(init_function* init, const char* remedy, size_t first, size_t now, const void* expected) {
  union {
    size_t size;
    uint64_t aligned;
    unsigned char bytes[SPMVPACK_MAX_STRUCT_SIZE + 8];
  } room;
  const size_t sizes[] = {first, now, now + 24, SPMVPACK_MAX_STRUCT_SIZE};
  size_t i, k;
  for (i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t size = sizes[i], known = size < now ? size : now;
    memset(&room, 0xA5, sizeof room);
    REQUIRE(init(&room, size) == SPMVPACK_OK && room.size == size);
    REQUIRE(memcmp(room.bytes + sizeof(size_t), (const char*)expected + sizeof(size_t), known - sizeof(size_t)) == 0);
    for (k = known; k < size; ++k) REQUIRE(room.bytes[k] == 0);
    for (k = size; k < sizeof room; ++k) REQUIRE(room.bytes[k] == 0xA5);
  }
  memset(&room, 0xA5, sizeof room);
  REQUIRE(init(&room, first - 1) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), remedy) != NULL);
  REQUIRE(init(&room, SPMVPACK_MAX_STRUCT_SIZE + 1) == SPMVPACK_USAGE && init(&room, 0) == SPMVPACK_USAGE);
  for (k = 0; k < sizeof room; ++k) REQUIRE(room.bytes[k] == 0xA5);
  REQUIRE(init(NULL, now) == SPMVPACK_USAGE && strstr(spmvpack_error_text(), "null") != NULL);
  return 0;
}

static int defaults(void) {
  const spmvpack_encode_options encoded = spmvpack_encode_default();
  const spmvpack_load_options loaded = spmvpack_load_default();
  const spmvpack_multiply_description multiplied = spmvpack_multiply_default(SPMVPACK_F64);
  const spmvpack_payback paid = spmvpack_payback_default();
  struct {
    encode_options_with_name old;
    unsigned char beyond[64];
  } before;
  REQUIRE(encoded.size == sizeof encoded && strcmp(encoded.layout, "auto") == 0 && encoded.settings == NULL);
  REQUIRE(encoded.zstd_level == 0 && encoded.threads == 0 && !encoded.force_size && !encoded.transpose);
  REQUIRE(encoded.target == SPMVPACK_TARGET_GPU && encoded.optimize == SPMVPACK_OPTIMIZE_TIME);
  REQUIRE(encoded.memory_limit == 0 && encoded.target_name == NULL && encoded.tune == SPMVPACK_TUNE_NONE);
  REQUIRE(encoded.tune_device == 0 && encoded.updatable == 0);
  REQUIRE(loaded.size == sizeof loaded && loaded.memory_limit == 0 && !loaded.threads && !loaded.check_contents);
  REQUIRE(loaded.cache_percent == 0 && loaded.updatable == 0);
  REQUIRE(multiplied.size == sizeof multiplied && multiplied.operation == SPMVPACK_OPERATION_N);
  REQUIRE(multiplied.vectors == SPMVPACK_F64 && multiplied.right_hand_sides == 1 && multiplied.kernel == 0);
  REQUIRE(multiplied.ldx == 0 && multiplied.ldy == 0 && !multiplied.scalars_on_device);
  REQUIRE(multiplied.order_x == SPMVPACK_ORDER_COLUMNS && multiplied.order_y == SPMVPACK_ORDER_COLUMNS);
  REQUIRE(paid.size == sizeof paid && paid.multiplies == 0 && !paid.known && !paid.measured && paid.seconds == 0);
  REQUIRE(defaults_of(init_encode, "encode_default()", sizeof(encode_options_0_1), sizeof encoded, &encoded) == 0);
  REQUIRE(defaults_of(init_load, "load_default()", sizeof(load_options_0_1), sizeof loaded, &loaded) == 0);
  REQUIRE(defaults_of(init_multiply, "multiply_default()", sizeof(multiply_description_0_1), sizeof multiplied,
                      &multiplied) == 0);
  REQUIRE(defaults_of(init_payback, "payback_default()", sizeof(payback_first), sizeof paid, &paid) == 0);

  memset(&before, 0xFF, sizeof before);
  REQUIRE(sizeof before.old == offsetof(spmvpack_encode_options, tune));
  REQUIRE(init_encode(&before.old, sizeof before.old) == SPMVPACK_OK && before.beyond[0] == 0xFF);
  REQUIRE(before.old.old.old.size == sizeof before.old && before.old.target_name == NULL);
  REQUIRE(encode(&before.old) == SPMVPACK_OK);
  return 0;
}

int main(void) {
  spmvpack_container* c = NULL;
  REQUIRE(defaults() == 0 && encode_options() == 0 && targets() == 0 && figures() == 0 && descriptions() == 0);
  REQUIRE(spmvpack_encode(&matrix, NULL, &c) == SPMVPACK_OK && load_options(c) == 0);
  spmvpack_close(c);
  return 0;
}
