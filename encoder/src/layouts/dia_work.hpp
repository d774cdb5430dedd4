#pragma once
// What a multiply with dia does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::dia_plans {

// clang-format off
#define SPMVPACK_DIA_UNITS(unit)            \
  unit(dia, chain, gpu, fixed, 2)           \
  unit(dia, diagonals, host, fixed, 0)      \
  unit(dia, first, gpu, grows, 0)           \
  unit(dia, multiplies, all, fixed, 0)      \
  unit(dia, slots, all, grows, 0)           \
  unit(dia, task_diagonals, host, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_DIA_UNITS)

}  // namespace spmvpack::encoder::layouts::dia_plans
