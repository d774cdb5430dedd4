#pragma once
// What a multiply with coo does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::coo_plans {

// clang-format off
#define SPMVPACK_COO_UNITS(unit)       \
  unit(coo, alone, host, grows, 0)     \
  unit(coo, entries, all, grows, 0)    \
  unit(coo, first, gpu, grows, 0)      \
  unit(coo, long_rows, gpu, fixed, 2)  \
  unit(coo, multiplies, all, fixed, 0) \
  unit(coo, rows, all, grows, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_COO_UNITS)

}  // namespace spmvpack::encoder::layouts::coo_plans
