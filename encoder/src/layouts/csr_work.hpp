#pragma once
// What a multiply with csr does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::csr_plans {

// clang-format off
#define SPMVPACK_CSR_UNITS(unit)               \
  unit(csr, block_chain, gpu, fixed, 0)        \
  unit(csr, block_entries, gpu, grows, 0)      \
  unit(csr, block_multiplies, gpu, fixed, 0)   \
  unit(csr, carry_rounds, gpu, fixed, 0)       \
  unit(csr, column_chain, gpu, fixed, 2)       \
  unit(csr, column_entries, all, grows, 2)     \
  unit(csr, empty_rows, host, grows, 0)        \
  unit(csr, entries, all, grows, 0)            \
  unit(csr, first, gpu, grows, 0)              \
  unit(csr, long_entries, gpu, grows, 0)       \
  unit(csr, long_multiplies, gpu, fixed, 0)    \
  unit(csr, merge_entries, gpu, grows, 0)      \
  unit(csr, merge_multiplies, gpu, fixed, 0)   \
  unit(csr, multiplies, all, fixed, 0)         \
  unit(csr, row_entries, gpu, grows, 2)        \
  unit(csr, row_multiplies, gpu, fixed, 2)     \
  unit(csr, rows, all, grows, 0)               \
  unit(csr, scalar_chain, gpu, fixed, 0)       \
  unit(csr, scalar_lines, gpu, grows, 0)       \
  unit(csr, scattered_entries, host, grows, 0) \
  unit(csr, serial, gpu, fixed, 0)             \
  unit(csr, uneven_rows, host, grows, 0)       \
  unit(csr, unfetched, all, fixed, 0)          \
  unit(csr, vector_chain, gpu, fixed, 0)       \
  unit(csr, vector_entries, gpu, grows, 0)     \
  unit(csr, vector_waves, gpu, fixed, 2)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_CSR_UNITS)

}  // namespace spmvpack::encoder::layouts::csr_plans
