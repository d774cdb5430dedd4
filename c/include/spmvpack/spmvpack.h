/* The GPU loader for C: loads a container into device memory and computes y = alpha A x + beta y. The full
   documentation is in spmvpack/gpu_loader/device_matrix.hpp; everything behaves the same. A build without CUDA has all
   functions; those that need a device return SPMVPACK_UNSUPPORTED. */
#ifndef SPMVPACK_H
#define SPMVPACK_H

/* NOLINTBEGIN(modernize-*): this is C */
#include <stddef.h>
#include <stdint.h>

#include "spmvpack/container/export.hpp" /* a macro */

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns: 0 for success, otherwise the kind of error. The numbers are stable. */
typedef enum spmvpack_status {
  SPMVPACK_OK = 0,
  SPMVPACK_IO = 1,            /* an operating system call failed */
  SPMVPACK_USAGE = 3,         /* an invalid argument */
  SPMVPACK_BAD_INPUT = 4,     /* not a container */
  SPMVPACK_CORRUPT = 5,       /* a container with wrong bytes or structure */
  SPMVPACK_UNSUPPORTED = 7,   /* valid, but not supported by this version or build */
  SPMVPACK_NO_DEVICE = 8,     /* no usable GPU, or CUDA failed */
  SPMVPACK_OUT_OF_MEMORY = 9, /* not enough memory, or the limit is too low */
  SPMVPACK_INTERNAL = 11      /* a bug in spmvpack */
} spmvpack_status;

/* The message of this thread's last call that did not return SPMVPACK_OK: what went wrong, where, and what to do about
   it. Valid until the thread's next call. Never null. */
SPMVPACK_EXPORT const char* spmvpack_error_text(void);

typedef enum spmvpack_type { SPMVPACK_F32 = 1, SPMVPACK_F64 = 2 } spmvpack_type;
typedef enum spmvpack_operation {
  SPMVPACK_OPERATION_N = 0, /* A */
  SPMVPACK_OPERATION_T = 1, /* A^T: not supported yet */
  SPMVPACK_OPERATION_H = 2  /* A^H: not supported yet */
} spmvpack_operation;

/* A matrix in device memory. Immutable; any number of multiplies may run at once, each with its own workspace. */
typedef struct spmvpack_matrix spmvpack_matrix;

typedef struct spmvpack_info {
  uint64_t rows, cols, nonzeros;
  uint64_t device_bytes; /* what a multiply reads of the matrix */
  spmvpack_type value_type;
} spmvpack_info;

/* What a multiply computes. Start from spmvpack_multiply_default(), as later versions may add fields. */
typedef struct spmvpack_multiply_description {
  size_t size; /* sizeof this struct when the caller was compiled */
  spmvpack_operation operation;
  spmvpack_type vectors;     /* of x, y, alpha and beta: the matrix's type, or F64 with an F32 matrix */
  uint64_t right_hand_sides; /* columns of X and Y; only 1 is supported so far */
  uint64_t ldx, ldy;         /* elements from one column of X or Y to the next, at least a column's length; may be 0
                                if there is only one column */
  int scalars_on_device;     /* nonzero: alpha and beta point to device memory, which is read when the multiply runs */
  uint32_t kernel;           /* from spmvpack_find_kernel(); 0: the default. Parts whose layout is not the kernel's
                                use their default */
} spmvpack_multiply_description;

/* A description of y = alpha A x + beta y: one right-hand side, scalars in host memory, the default kernel. */
SPMVPACK_EXPORT spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors);

/* Sets *kernel to the kernel with that name: "layout/kernel", such as "csr/vector". The number is valid in this process
   only. Needs no device. */
SPMVPACK_EXPORT spmvpack_status spmvpack_find_kernel(const char* name, uint32_t* kernel);

/* Loads the container at `path` into the current device's memory, checks its checksums and structure, and sets *matrix.
   Copies and kernels run on `stream` (a cudaStream_t; null: the default stream). Returns when everything is done. */
SPMVPACK_EXPORT spmvpack_status spmvpack_load(const char* path, void* stream, spmvpack_matrix** matrix);
/* Frees the matrix, whose multiplies must have finished. Null is ignored. */
SPMVPACK_EXPORT void spmvpack_free(spmvpack_matrix* matrix);
SPMVPACK_EXPORT spmvpack_status spmvpack_get_info(const spmvpack_matrix* matrix, spmvpack_info* info);

/* Sets *bytes to the size of the workspace that one such multiply needs in device memory. */
SPMVPACK_EXPORT spmvpack_status spmvpack_workspace_bytes(const spmvpack_matrix* matrix,
                                                         const spmvpack_multiply_description* description,
                                                         uint64_t* bytes);
/* y = alpha A x + beta y on `stream`. x and y are in device memory, aligned to their elements, and do not overlap; y is
   not read if beta is 0, nor x if alpha is 0. The workspace is in device memory, aligned to 256 bytes. The call
   allocates nothing, does not synchronise, and can be captured into a CUDA graph. */
SPMVPACK_EXPORT spmvpack_status spmvpack_multiply(const spmvpack_matrix* matrix,
                                                  const spmvpack_multiply_description* description, const void* alpha,
                                                  const void* x, const void* beta, void* y, void* workspace,
                                                  uint64_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*) */

#endif
