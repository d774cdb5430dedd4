/* The GPU loader for C: load a container into device memory, y = alpha A x + beta y. Everything is as in
   spmvpack/gpu_loader/device_matrix.hpp, which says more. A build without CUDA has all functions; those that
   need a device return SPMVPACK_UNSUPPORTED. */
#ifndef SPMVPACK_H
#define SPMVPACK_H

/* NOLINTBEGIN(modernize-*): this is C */
#include <stddef.h>
#include <stdint.h>

#include "spmvpack/container/export.hpp" /* a macro */

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns: 0, or what kind of thing went wrong. The numbers are stable. */
typedef enum spmvpack_status {
  SPMVPACK_OK = 0,
  SPMVPACK_IO = 1,            /* the operating system refused */
  SPMVPACK_USAGE = 3,         /* an argument that makes no sense */
  SPMVPACK_BAD_INPUT = 4,     /* not a container */
  SPMVPACK_CORRUPT = 5,       /* a container whose bytes or structure are wrong */
  SPMVPACK_UNSUPPORTED = 7,   /* a valid request that this version, or this build, cannot serve */
  SPMVPACK_NO_DEVICE = 8,     /* no usable GPU, or CUDA failed */
  SPMVPACK_OUT_OF_MEMORY = 9, /* more memory needed than there is, or than the limit allows */
  SPMVPACK_INTERNAL = 11      /* a bug of spmvpack */
} spmvpack_status;

/* What went wrong in this thread's last call that did not return SPMVPACK_OK: what, where and what to do. Valid until
   the thread's next call. Never null. */
SPMVPACK_EXPORT const char* spmvpack_error_text(void);

typedef enum spmvpack_type { SPMVPACK_F32 = 1, SPMVPACK_F64 = 2 } spmvpack_type;
typedef enum spmvpack_operation {
  SPMVPACK_OPERATION_N = 0, /* A */
  SPMVPACK_OPERATION_T = 1, /* A^T: not supported yet */
  SPMVPACK_OPERATION_H = 2  /* its conjugate: not supported yet */
} spmvpack_operation;

/* A matrix in device memory. Immutable; any number of multiplies may run at once, with a workspace each. */
typedef struct spmvpack_matrix spmvpack_matrix;

typedef struct spmvpack_info {
  uint64_t rows, cols, nonzeros;
  uint64_t device_bytes; /* that a multiply reads of the matrix */
  spmvpack_type value_type;
} spmvpack_info;

/* What to multiply. Start from spmvpack_multiply_default(): fields may be added. */
typedef struct spmvpack_multiply_description {
  size_t size; /* of this struct, as the caller was compiled */
  spmvpack_operation operation;
  spmvpack_type vectors;     /* of x, y, alpha and beta: the matrix's type, or F64 with an F32 matrix */
  uint64_t right_hand_sides; /* columns of X and Y; only 1 is supported yet */
  uint64_t ldx, ldy;         /* elements from one column of X or Y to the next, no fewer than a column has; 0 will do
                                with one column */
  int scalars_on_device;     /* whether alpha and beta point to device memory, read when the multiply runs */
  uint32_t kernel;           /* what spmvpack_find_kernel() gave; 0: the default. Parts of other layouts than the
                                kernel's use their default */
} spmvpack_multiply_description;

/* One right-hand side, scalars in host memory, the default kernel. */
SPMVPACK_EXPORT spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors);

/* Sets *kernel to the kernel of that name, "layout/kernel" as in "csr/vector". Valid in this process. Needs no device.
 */
SPMVPACK_EXPORT spmvpack_status spmvpack_find_kernel(const char* name, uint32_t* kernel);

/* Loads the container at `path` into the current device's memory, checksums and structure checked, and sets *matrix.
   Copies and kernels run on `stream` (a cudaStream_t; null: the default stream); returns when all is done. */
SPMVPACK_EXPORT spmvpack_status spmvpack_load(const char* path, void* stream, spmvpack_matrix** matrix);
/* Frees the matrix; null is ignored. Its multiplies must have ended. */
SPMVPACK_EXPORT void spmvpack_free(spmvpack_matrix* matrix);
SPMVPACK_EXPORT spmvpack_status spmvpack_get_info(const spmvpack_matrix* matrix, spmvpack_info* info);

/* Sets *bytes to the device memory that one such multiply needs as its workspace. */
SPMVPACK_EXPORT spmvpack_status spmvpack_workspace_bytes(const spmvpack_matrix* matrix,
                                                         const spmvpack_multiply_description* description,
                                                         uint64_t* bytes);
/* y = alpha A x + beta y on `stream`. x and y are device memory on boundaries of an element and do not overlap; y is
   not read where beta is 0, x not where alpha is 0. The workspace is device memory on a boundary of 256 bytes.
   Allocates nothing, waits for nothing, may be captured into a graph. */
SPMVPACK_EXPORT spmvpack_status spmvpack_multiply(const spmvpack_matrix* matrix,
                                                  const spmvpack_multiply_description* description, const void* alpha,
                                                  const void* x, const void* beta, void* y, void* workspace,
                                                  uint64_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-*) */

#endif
