/* What the tests in C share. */
#ifndef SPMVPACK_TEST_C_REQUIRE_H
#define SPMVPACK_TEST_C_REQUIRE_H

#include <stdio.h>

#include "spmvpack/spmvpack.h"

/* Ends the function with 1, naming the place, unless the condition holds. */
#define REQUIRE(condition)                                                                       \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, spmvpack_error_text()); \
      return 1;                                                                                  \
    }                                                                                            \
  } while (0)

#endif
