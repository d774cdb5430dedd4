/* spmvpack for C: encodes a matrix in the caller's arrays into a container and decodes it again, reads and writes
   containers in memory and in files, loads them into host or device memory, and computes y = alpha A x + beta y there,
   or with A^T. The full documentation is in spmvpack/encoder/encode.hpp, spmvpack/host_loader/host_matrix.hpp and
   spmvpack/gpu_loader/device_matrix.hpp; everything behaves the same. A build without CUDA has all functions; those
   that need a device return SPMVPACK_UNSUPPORTED.

   Structures that begin with `size` grow at their end in later versions; a field that is new does nothing if it is 0.
   Start from their default: ..._default(), or ..._init(), which writes no more than `size` bytes, the sizeof of the
   caller's structure. A program that was compiled with an older header goes on working: fields that it does not know
   are 0. One that was compiled with a newer header works as long as the fields that this
   library does not know are 0; otherwise it gets SPMVPACK_UNSUPPORTED. A size below that of the first version, or above
   SPMVPACK_MAX_STRUCT_SIZE, is SPMVPACK_USAGE. Other structures do not change. */
#ifndef SPMVPACK_H
#define SPMVPACK_H

/* NOLINTBEGIN(modernize-*): this is C */
#include <stddef.h>
#include <stdint.h>

#include "spmvpack/container/base/export.hpp" /* a macro */

/* C lets an enumeration hold any int, and a mistaken one gets an error here; with this, C++ does so as well. */
#ifdef __cplusplus
#define SPMVPACK_ANY_INT : int
extern "C" {
#else
#define SPMVPACK_ANY_INT
#endif

/* What a function returns: 0 for success, otherwise the kind of error. The numbers are stable. */
typedef enum spmvpack_status SPMVPACK_ANY_INT {
  SPMVPACK_OK = 0,
  SPMVPACK_IO = 1,            /* an operating system call failed */
  SPMVPACK_EXISTS = 2,        /* the output exists and is not to be replaced */
  SPMVPACK_USAGE = 3,         /* an invalid argument */
  SPMVPACK_BAD_INPUT = 4,     /* not a container, or not a matrix */
  SPMVPACK_CORRUPT = 5,       /* a container with wrong bytes or structure */
  SPMVPACK_UNSUPPORTED = 7,   /* valid, but not supported by this version or build */
  SPMVPACK_NO_DEVICE = 8,     /* no usable GPU, or CUDA failed */
  SPMVPACK_OUT_OF_MEMORY = 9, /* not enough memory, or the limit is too low */
  SPMVPACK_INTERNAL = 11,     /* a bug in spmvpack */
  SPMVPACK_TOO_LARGE = 12     /* beyond a limit of the container format: parts, their rows, the provenance */
} spmvpack_status;

/* The message of this thread's last call that did not return SPMVPACK_OK: what went wrong, where, and what to do about
   it. Valid until the thread's next call. Never null. */
SPMVPACK_EXPORT const char* spmvpack_error_text(void);

/* The version of the library that runs, such as "0.1.0". */
SPMVPACK_EXPORT const char* spmvpack_version(void);

/* No structure is larger: a `size` above it was never set. */
#define SPMVPACK_MAX_STRUCT_SIZE 4096

/* The type of values, and of the elements of vectors. Complex ones are float complex (C64) or double complex (C128),
   two real numbers side by side. A matrix of complex values is stored by layouts "csr", "coo" and "auto", multiplies
   complex vectors on the host, and takes no new values; a GPU refuses it (SPMVPACK_UNSUPPORTED). A real matrix
   multiplies complex vectors, too: real and imaginary parts have the bits of vectors of their own. alpha and beta are
   real, float for vectors of C64 and double for C128, unless a description says complex_scalars. */
typedef enum spmvpack_type SPMVPACK_ANY_INT {
  SPMVPACK_F32 = 1,
  SPMVPACK_F64 = 2,
  SPMVPACK_C64 = 3,
  SPMVPACK_C128 = 4
} spmvpack_type;

/* The facts of a matrix, the same in every layout but for device_bytes. */
typedef struct spmvpack_info {
  uint64_t rows, cols, nonzeros;
  uint64_t device_bytes; /* what a multiply with A reads of the matrix. For the bytes of the container itself, ask
                            spmvpack_save_memory() */
  spmvpack_type value_type;
} spmvpack_info;

/* ---- containers */

typedef enum spmvpack_index SPMVPACK_ANY_INT { SPMVPACK_I32 = 1, SPMVPACK_I64 = 2 } spmvpack_index;

/* A CSR matrix in the caller's arrays, which are read and not changed. Indices count from 0. */
typedef struct spmvpack_csr {
  uint64_t rows, cols, nonzeros;
  const void* row_ptr; /* rows + 1 elements: 0, ..., nonzeros */
  const void* col_idx; /* nonzeros elements, in any order within a row; entries that repeat are added up */
  const void* values;  /* nonzeros elements */
  spmvpack_index row_ptr_type, col_idx_type;
  spmvpack_type value_type;
} spmvpack_csr;

/* What "auto" and other layouts that have a choice choose for, and what they minimise: as encode --target and
   --optimize of the command. */
typedef enum spmvpack_target SPMVPACK_ANY_INT { SPMVPACK_TARGET_GPU = 0, SPMVPACK_TARGET_HOST = 1 } spmvpack_target;
typedef enum spmvpack_objective SPMVPACK_ANY_INT {
  SPMVPACK_OPTIMIZE_TIME = 0,
  SPMVPACK_OPTIMIZE_BYTES = 1
} spmvpack_objective;

/* Whether "auto" measures, and where: as encode --tune of the command. The container's bytes then depend on the machine
   and its noise. */
typedef enum spmvpack_tune SPMVPACK_ANY_INT {
  SPMVPACK_TUNE_NONE = 0,
  SPMVPACK_TUNE_GPU = 1, /* SPMVPACK_UNSUPPORTED in a build without CUDA, SPMVPACK_NO_DEVICE without a GPU */
  SPMVPACK_TUNE_HOST = 2 /* on `threads` threads */
} spmvpack_tune;

/* How to encode. Start from spmvpack_encode_default(). */
typedef struct spmvpack_encode_options {
  size_t size;                 /* sizeof this struct when the caller was compiled */
  const char* layout;          /* "auto", "csr", "ccoo", ...: as encode --layout of the command */
  const char* const* settings; /* "ccoo.k=4" and the like, the last one followed by a null pointer; or null */
  int zstd_level;              /* 1 to 19; 0: without a codec, so that the bytes are what a multiply reads */
  int threads;                 /* 0: all; else up to 1024, as everywhere: others are SPMVPACK_USAGE */
  int force_size;              /* nonzero: a layout may take more than ten times the device bytes of csr */
  int transpose;               /* nonzero: store A^T, too, for multiplies with it. Of a matrix that is symmetric,
                                  skew-symmetric or Hermitian, bit for bit, that takes nothing */
  spmvpack_target target;
  spmvpack_objective optimize;
  uint64_t memory_limit; /* bytes for the container, and for a copy of the matrix if its columns are not in order; more
                            is SPMVPACK_OUT_OF_MEMORY. 0: what is available */
  const char* target_name; /* "gpu", "host", "h200", "h100" or the file of a profile, as encode --target of the command;
                              null: `target`, which is otherwise SPMVPACK_TARGET_GPU or of the same kind */
  spmvpack_tune tune;      /* implies a target of its kind, unless one of the same kind is given */
  int tune_device;         /* the number of the GPU that measures, from 0 on */
  int64_t updatable;       /* nonzero: take a form in which every entry has a slot of its own, so that the values can be
                              replaced. The container then says that the matrix is real and general, whatever it is, and
                              with `transpose` it has A^T in any case */
} spmvpack_encode_options;

/* Layout auto for a GPU, no codec, all threads, A alone. SPMVPACK_USAGE if no version has such a size. */
SPMVPACK_EXPORT spmvpack_status spmvpack_encode_options_init(spmvpack_encode_options* options, size_t size);
static inline spmvpack_encode_options spmvpack_encode_default(void) {
  spmvpack_encode_options options;
  (void)spmvpack_encode_options_init(&options, sizeof options);
  return options;
}

/* A container, in memory or an open file. Immutable. */
typedef struct spmvpack_container spmvpack_container;

/* Encodes the matrix into a container in memory. `options` may be null: spmvpack_encode_default(). */
SPMVPACK_EXPORT spmvpack_status spmvpack_encode(const spmvpack_csr* matrix, const spmvpack_encode_options* options,
                                                spmvpack_container** container);

/* The multiplies of spmvpack_payback if encoding never pays. */
#define SPMVPACK_NEVER UINT64_MAX

/* When does encoding pay? A multiply takes less time than one by csr, which needs no encoding. Start from
   spmvpack_payback_default(). */
typedef struct spmvpack_payback {
  size_t size;           /* sizeof this struct when the caller was compiled */
  double seconds;        /* of a multiply */
  double csr_seconds;    /* of one by csr */
  double encode_seconds; /* what spmvpack_encode() took to plan, to measure if it was asked to, and to write */
  uint64_t multiplies;   /* after which encoding has taken less time altogether than csr; or SPMVPACK_NEVER */
  int known;             /* 0: there are no such figures, and all others are 0 */
  int measured;          /* nonzero: by `tune`; 0: predicted for the target */
} spmvpack_payback;

/* No figures. SPMVPACK_USAGE if no version has such a size. */
SPMVPACK_EXPORT spmvpack_status spmvpack_payback_init(spmvpack_payback* payback, size_t size);
static inline spmvpack_payback spmvpack_payback_default(void) {
  spmvpack_payback payback;
  (void)spmvpack_payback_init(&payback, sizeof payback);
  return payback;
}

/* For a container that spmvpack_encode() has made with layout "auto" for the least time; else nothing is known. */
SPMVPACK_EXPORT spmvpack_status spmvpack_get_payback(const spmvpack_container* container, spmvpack_payback* payback);

/* Opens a file, whose header and tables are read and checked; it must not change while the container is open. */
SPMVPACK_EXPORT spmvpack_status spmvpack_open(const char* path, spmvpack_container** container);
/* The same for `size` bytes in memory, which are copied. */
SPMVPACK_EXPORT spmvpack_status spmvpack_open_memory(const void* bytes, uint64_t size, spmvpack_container** container);
/* Writes the container to a file, which appears whole or not at all; an existing one only if `overwrite` is not 0. */
SPMVPACK_EXPORT spmvpack_status spmvpack_save(const spmvpack_container* container, const char* path, int overwrite);
/* Copies the container to memory: its size to *size and, if it is at most `capacity`, its bytes to `bytes`. A null
   pointer with a capacity of 0 asks for the size alone. */
SPMVPACK_EXPORT spmvpack_status spmvpack_save_memory(const spmvpack_container* container, void* bytes,
                                                     uint64_t capacity, uint64_t* size);
/* Frees the container; what was loaded from it stays. Null is ignored. */
SPMVPACK_EXPORT void spmvpack_close(spmvpack_container* container);
SPMVPACK_EXPORT spmvpack_status spmvpack_get_container_info(const spmvpack_container* container, spmvpack_info* info);
/* Sets *available to 1 if a matrix loaded from the container can multiply with A^T, otherwise to 0. */
SPMVPACK_EXPORT spmvpack_status spmvpack_has_transpose(const spmvpack_container* container, int* available);

/* How to load or decode. Start from spmvpack_load_default(). */
typedef struct spmvpack_load_options {
  size_t size;           /* sizeof this struct when the caller was compiled */
  uint64_t memory_limit; /* bytes of host memory, or with spmvpack_load_with() of device memory; more is
                            SPMVPACK_OUT_OF_MEMORY. 0: what is available */
  int threads;           /* for reading, checking and decompressing; 0: all */
  int check_contents;    /* nonzero: also unpack the matrix, and check that it is the one of the container's digest,
                            field and symmetry, and that A^T, if it is stored, is its transpose; without that, A^T
                            may be any matrix of its size. SPMVPACK_CORRUPT if something is wrong */
  int64_t cache_percent; /* with spmvpack_load_with(): the matrix stays in the GPU's L2 cache from one multiply to the
                            next if, with x and y, it takes at most so much of it, 1 to 100; 0: a third. Solvers, which
                            multiply again soon, should use 70; several columns use at least that */
  int64_t updatable;     /* nonzero: the matrix takes new values (spmvpack_host_update_values(),
                            spmvpack_update_values()); it then has its transpose only if A^T is stored.
                            SPMVPACK_UNSUPPORTED if entries of the container share values. Decoding ignores it */
} spmvpack_load_options;

/* All threads, and what memory is available. SPMVPACK_USAGE if no version has such a size. */
SPMVPACK_EXPORT spmvpack_status spmvpack_load_options_init(spmvpack_load_options* options, size_t size);
static inline spmvpack_load_options spmvpack_load_default(void) {
  spmvpack_load_options options;
  (void)spmvpack_load_options_init(&options, sizeof options);
  return options;
}

/* Arrays that receive a CSR matrix. Sizes and types are the caller's, from spmvpack_get_container_info(). */
typedef struct spmvpack_csr_arrays {
  uint64_t rows, cols, nonzeros; /* the container's */
  void* row_ptr;                 /* rows + 1 elements */
  void* col_idx;                 /* nonzeros elements, increasing within each row */
  void* values;                  /* nonzeros elements */
  spmvpack_index row_ptr_type, col_idx_type;
  spmvpack_type value_type; /* the container's */
} spmvpack_csr_arrays;

/* Writes A to the arrays, its values bit for bit: the way back from spmvpack_encode(), whatever the layout. Everything
   is checked first, by checksums and the digest of the matrix. SPMVPACK_USAGE if sizes or types are not the
   container's, or indices of 32 bits are too small for it. Takes as much memory again while it runs; if it fails, the
   arrays are as they were. `options` may be null: spmvpack_load_default(). */
SPMVPACK_EXPORT spmvpack_status spmvpack_decode(const spmvpack_container* container,
                                                const spmvpack_load_options* options,
                                                const spmvpack_csr_arrays* matrix);

/* ---- multiplies */

typedef enum spmvpack_operation SPMVPACK_ANY_INT {
  SPMVPACK_OPERATION_N = 0, /* A */
  SPMVPACK_OPERATION_T = 1, /* A^T: for matrices encoded with it, and symmetric, skew-symmetric and Hermitian ones */
  SPMVPACK_OPERATION_H = 2  /* A^H: for the same; A^T if values are real */
} spmvpack_operation;

/* Whether X, or Y, is stored column after column or row after row. */
typedef enum spmvpack_order SPMVPACK_ANY_INT {
  SPMVPACK_ORDER_COLUMNS = 0, /* column-major */
  SPMVPACK_ORDER_ROWS = 1     /* row-major */
} spmvpack_order;

/* What a multiply Y = alpha op(A) X + beta Y computes. Start from spmvpack_multiply_default(). */
typedef struct spmvpack_multiply_description {
  size_t size; /* sizeof this struct when the caller was compiled */
  spmvpack_operation operation;
  spmvpack_type vectors;     /* of x and y: the matrix's type or C64 or C128 of it; with an F32 matrix also F64 or C128,
                                with a C64 matrix C128 */
  uint64_t right_hand_sides; /* columns of X and Y, each of which has the bits of a multiply with it alone */
  uint64_t ldx, ldy;         /* elements from one column of X or Y to the next, at least a column's length, or from one
                                row to the next, at least right_hand_sides; 0: exactly that */
  int scalars_on_device;     /* nonzero: alpha and beta point to device memory, which is read when the multiply runs */
  uint32_t kernel;           /* from spmvpack_find_kernel(); 0: the default. Parts whose layout is not the kernel's
                                use their default */
  spmvpack_order order_x, order_y;
  /* If not null, factors of the rows and columns of A: the multiply is one with D_r A D_c, whose values are never
     stored. They have the real type of x and y. They belong to A's rows and columns whatever the operation is: the
     transpose is D_c A^T D_r. They are in host memory for a matrix there, else in device memory, where they are read
     when the multiply runs. They may change from call to call, and must not overlap y. A workspace only depends on
     which of them are null. */
  const void *row_factors, *column_factors;
  int64_t complex_scalars; /* nonzero: alpha and beta are complex, of type `vectors`; a GPU refuses that */
} spmvpack_multiply_description;

/* A description of y = alpha A x + beta y: one right-hand side, scalars in host memory, the default kernel, columns.
   SPMVPACK_USAGE if no version has such a size. */
SPMVPACK_EXPORT spmvpack_status spmvpack_multiply_description_init(spmvpack_multiply_description* description,
                                                                   size_t size, spmvpack_type vectors);
static inline spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors) {
  spmvpack_multiply_description description;
  (void)spmvpack_multiply_description_init(&description, sizeof description, vectors);
  return description;
}

/* ---- on the host */

/* A matrix in host memory. Any number of multiplies may run at once, but none while it is given new values. */
typedef struct spmvpack_host_matrix spmvpack_host_matrix;

/* Loads the container into host memory and checks its checksums and structure. `threads` 0: all. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_load(const spmvpack_container* container, int threads,
                                                   spmvpack_host_matrix** matrix);
/* The same with options, which may be null: spmvpack_load_default(). */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_load_with(const spmvpack_container* container,
                                                        const spmvpack_load_options* options,
                                                        spmvpack_host_matrix** matrix);
SPMVPACK_EXPORT void spmvpack_host_free(spmvpack_host_matrix* matrix);
SPMVPACK_EXPORT spmvpack_status spmvpack_get_host_info(const spmvpack_host_matrix* matrix, spmvpack_info* info);
/* y = alpha A x + beta y on `threads` threads (0: all), with the same bits for any number of them. x and y are of type
   `vectors`, as in a description: the matrix's, or F64 with an F32 matrix, or C64 or C128 of these, or C128 with a C64
   matrix; alpha and beta are of its real type. x has as many elements as the matrix has columns, y as rows, and they do
   not overlap; y is not read if beta is 0, nor x if alpha is 0. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_multiply(const spmvpack_host_matrix* matrix, spmvpack_type vectors,
                                                       const void* alpha, const void* x, const void* beta, void* y,
                                                       int threads);

/* y = alpha A^T x + beta y; x has as many elements as the matrix has rows, y as columns. SPMVPACK_USAGE unless the
   matrix was encoded with its transpose, or is symmetric, skew-symmetric or Hermitian. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_multiply_transposed(const spmvpack_host_matrix* matrix,
                                                                  spmvpack_type vectors, const void* alpha,
                                                                  const void* x, const void* beta, void* y,
                                                                  int threads);

/* Y = alpha op(A) X + beta Y, as the description says. Scalars on a device, and kernels other than the default, are
   SPMVPACK_UNSUPPORTED or SPMVPACK_USAGE. If X or Y is row-major, one column is copied. X and Y do not overlap;
   alternate columns of one row-major array may belong to X and to Y. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_multiply_with(const spmvpack_host_matrix* matrix,
                                                            const spmvpack_multiply_description* description,
                                                            const void* alpha, const void* x, const void* beta, void* y,
                                                            int threads);

/* Gives a matrix that was loaded as updatable new values in its old pattern: one for each nonzero, in the order of CSR,
   rows, then columns, as spmvpack_decode() has them, including stored zeros. A^T follows. `value_type` is the
   matrix's, or F64 with an F32 matrix, to which they are rounded; beyond F32 is SPMVPACK_BAD_INPUT.
   SPMVPACK_UNSUPPORTED for a value that would change the pattern of layout dia, or amb with blocks, where nothing but
   +0 takes the place of +0. All or nothing: after an error, the matrix is as it was. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_update_values(spmvpack_host_matrix* matrix, spmvpack_type value_type,
                                                            const void* values, uint64_t count, int threads);
/* Makes a container in memory of an updatable matrix as it is now, with its digest and checksums; no codec. */
SPMVPACK_EXPORT spmvpack_status spmvpack_host_get_container(const spmvpack_host_matrix* matrix, int threads,
                                                            spmvpack_container** container);
/* Makes a container in memory with other values, without a matrix to multiply with: errors and values as above. The
   layouts stay. `options` may be null: spmvpack_load_default(). */
SPMVPACK_EXPORT spmvpack_status spmvpack_with_values(const spmvpack_container* container, spmvpack_type value_type,
                                                     const void* values, uint64_t count,
                                                     const spmvpack_load_options* options,
                                                     spmvpack_container** updated);

/* ---- values from a list of entries that repeat, as finite elements have them */

/* Where each nonzero of a matrix finds its values in a list. Immutable. */
typedef struct spmvpack_assembly spmvpack_assembly;

/* For a list of `count` rows and columns, both of `index_type`: for the matrix whose nonzeros are the pairs of the
   list, or for one that has the rows and columns of `pattern`, whose values are not read and whose columns increase
   within rows. Pairs with a negative index are ignored, and so are their values. SPMVPACK_BAD_INPUT if an index is too
   large, or the pattern lacks a pair. */
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_create(uint64_t rows, uint64_t cols, uint64_t count,
                                                         spmvpack_index index_type, const void* row_idx,
                                                         const void* col_idx, int threads,
                                                         spmvpack_assembly** assembly);
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_create_for(const spmvpack_csr* pattern, uint64_t count,
                                                             spmvpack_index index_type, const void* row_idx,
                                                             const void* col_idx, int threads,
                                                             spmvpack_assembly** assembly);
/* Frees the assembly. Null is ignored. */
SPMVPACK_EXPORT void spmvpack_assembly_free(spmvpack_assembly* assembly);
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_nonzeros(const spmvpack_assembly* assembly, uint64_t* nonzeros);
/* Writes the row pointers and columns of the matrix to the arrays, whose `values` may be null. */
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_pattern(const spmvpack_assembly* assembly,
                                                          const spmvpack_csr_arrays* matrix);

typedef enum spmvpack_insert_mode SPMVPACK_ANY_INT {
  SPMVPACK_INSERT = 0, /* replaces what was there; nonzeros that the list does not have become 0 */
  SPMVPACK_ADD = 1     /* adds to what is there */
} spmvpack_insert_mode;

/* Sums the values of each pair in the order of the list, whatever the mode, and puts the sums into `values`, one for
   each nonzero in the order of CSR: for spmvpack_host_update_values(), or for spmvpack_encode(). `list`: as many as the
   list has pairs, those that are ignored included; null: zeros. Both are of `value_type`. No result depends on
   `threads`. */
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_sum(const spmvpack_assembly* assembly, spmvpack_type value_type,
                                                      const void* list, spmvpack_insert_mode mode, void* values,
                                                      int threads);

/* ---- on a GPU */

/* A matrix in device memory. Any number of multiplies may run at once, each with its own workspace. */
typedef struct spmvpack_matrix spmvpack_matrix;

/* Sets *kernel to the kernel with that name: "layout/kernel", such as "csr/vector". The number is valid in this process
   only. Needs no device. */
SPMVPACK_EXPORT spmvpack_status spmvpack_find_kernel(const char* name, uint32_t* kernel);

/* Loads the container at `path` into the current device's memory, checks its checksums and structure, and sets *matrix.
   Copies and kernels run on `stream` (a cudaStream_t; null: the default stream). Returns when everything is done. */
SPMVPACK_EXPORT spmvpack_status spmvpack_load(const char* path, void* stream, spmvpack_matrix** matrix);
/* The same from an open container. */
SPMVPACK_EXPORT spmvpack_status spmvpack_load_container(const spmvpack_container* container, void* stream,
                                                        spmvpack_matrix** matrix);
/* The same with options, which may be null: spmvpack_load_default(). */
SPMVPACK_EXPORT spmvpack_status spmvpack_load_with(const spmvpack_container* container,
                                                   const spmvpack_load_options* options, void* stream,
                                                   spmvpack_matrix** matrix);
/* Frees the matrix, whose multiplies must have finished. Null is ignored. */
SPMVPACK_EXPORT void spmvpack_free(spmvpack_matrix* matrix);
SPMVPACK_EXPORT spmvpack_status spmvpack_get_info(const spmvpack_matrix* matrix, spmvpack_info* info);

/* Sets *bytes to the size of the workspace that one such multiply needs in device memory: for X or Y in rows, or
   complex, room for columns, too. */
SPMVPACK_EXPORT spmvpack_status spmvpack_workspace_bytes(const spmvpack_matrix* matrix,
                                                         const spmvpack_multiply_description* description,
                                                         uint64_t* bytes);
/* Y = alpha op(A) X + beta Y on `stream`. X and Y are in device memory, aligned to their (real) elements, and do not
   overlap; y is not read if beta is 0, nor x if alpha is 0. The workspace is in device memory, aligned to 256 bytes.
   The call allocates nothing, does not synchronise, and can be captured into a CUDA graph. */
SPMVPACK_EXPORT spmvpack_status spmvpack_multiply(const spmvpack_matrix* matrix,
                                                  const spmvpack_multiply_description* description, const void* alpha,
                                                  const void* x, const void* beta, void* y, void* workspace,
                                                  uint64_t workspace_bytes, void* stream);

/* Encodes a matrix whose arrays are in the current device's memory, there, and sets *matrix to it: no array is copied
   to the host. Columns are SPMVPACK_I32 and increase within each row. The layout is one of csr, ell, sell, csell and
   bitflag, or auto, which takes the best of these (docs/GPU_ENCODER.md); a codec and `tune` are for hosts. Passes run
   on `stream`, after the work that wrote the arrays; the call returns when the matrix can multiply. Errors:
   SPMVPACK_BAD_INPUT (a row that is not sorted, or has a column twice, or out of range); SPMVPACK_UNSUPPORTED (what
   only the host plans); SPMVPACK_USAGE, also if the stream is in capture; after any error nothing is left. */
SPMVPACK_EXPORT spmvpack_status spmvpack_encode_on_device(const spmvpack_csr* csr,
                                                          const spmvpack_encode_options* options, void* stream,
                                                          spmvpack_matrix** matrix);
/* Sets *container to one of the matrix with its present values, which are copied from the device.
   SPMVPACK_UNSUPPORTED if the matrix was loaded from a container with sections that only a host needs: keep that. */
SPMVPACK_EXPORT spmvpack_status spmvpack_matrix_get_container(const spmvpack_matrix* matrix, void* stream,
                                                              spmvpack_container** container);

/* An assembly in the current device's memory. */
typedef struct spmvpack_device_assembly spmvpack_device_assembly;

/* Copies what spmvpack_device_assembly_sum() needs: 4 bytes for each pair of the list that is not ignored and for each
   nonzero (8 from 2^32 - 1 pairs on). Returns when it is there; the assembly may be freed then. */
SPMVPACK_EXPORT spmvpack_status spmvpack_assembly_to_device(const spmvpack_assembly* assembly, void* stream,
                                                            spmvpack_device_assembly** on_device);
/* Frees the assembly, whose sums must have finished. Null is ignored. */
SPMVPACK_EXPORT void spmvpack_device_assembly_free(spmvpack_device_assembly* assembly);
/* spmvpack_assembly_sum(), with its bits, of a list and values in device memory, on `stream`: for
   spmvpack_update_values(). The call allocates nothing, does not synchronise, and can be captured into a CUDA graph. */
SPMVPACK_EXPORT spmvpack_status spmvpack_device_assembly_sum(const spmvpack_device_assembly* assembly,
                                                             spmvpack_type value_type, const void* list,
                                                             spmvpack_insert_mode mode, void* values, void* stream);

/* Gives a matrix that was loaded as updatable new values, as spmvpack_host_update_values() does, from `count` values in
   device memory, on `stream`: multiplies that are not ordered before or after it by streams read old or new ones. The
   call allocates nothing, does not synchronise, and can be captured into a CUDA graph. Values beyond F32 become
   infinite. If a value would change the pattern, the device leaves the matrix as it was, which
   spmvpack_require_updated() reports. */
SPMVPACK_EXPORT spmvpack_status spmvpack_update_values(const spmvpack_matrix* matrix, spmvpack_type value_type,
                                                       const void* values, uint64_t count, void* stream);
/* Waits for the stream. SPMVPACK_UNSUPPORTED if an update was refused since the last call. */
SPMVPACK_EXPORT spmvpack_status spmvpack_require_updated(const spmvpack_matrix* matrix, void* stream);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*) */

#endif
