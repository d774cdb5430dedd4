#pragma once
// What a multiply with sjds does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::sjds_plans {

// clang-format off
#define SPMVPACK_SJDS_UNITS(unit)          \
  unit(sjds, codes, host, grows, 0)        \
  unit(sjds, column_steps, host, grows, 2) \
  unit(sjds, group_steps, host, grows, 2)  \
  unit(sjds, listed, host, grows, 0)       \
  unit(sjds, multiplies, host, fixed, 0)   \
  unit(sjds, pieces, host, grows, 0)       \
  unit(sjds, plain_steps, host, grows, 2)  \
  unit(sjds, run_steps, host, grows, 2)    \
  unit(sjds, scaled_rows, host, grows, 0)  \
  unit(sjds, slices, host, grows, 0)       \
  unit(sjds, steps, host, grows, 0)        \
  unit(sjds, tail, host, grows, 0)         \
  unit(sjds, windows, host, grows, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_SJDS_UNITS)

}  // namespace spmvpack::encoder::layouts::sjds_plans
