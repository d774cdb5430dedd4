#pragma once
// What a multiply with amb does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::amb_plans {

// clang-format off
#define SPMVPACK_AMB_UNITS(unit)           \
  unit(amb, added_sums, gpu, grows, 0)     \
  unit(amb, alone, host, grows, 0)         \
  unit(amb, chain, gpu, fixed, 0)          \
  unit(amb, empty_rows, all, grows, 0)     \
  unit(amb, first, gpu, grows, 0)          \
  unit(amb, jumped_slots, gpu, grows, 2)   \
  unit(amb, lanes, gpu, grows, 0)          \
  unit(amb, multiplies, all, fixed, 0)     \
  unit(amb, partial_sums, all, grows, 0)   \
  unit(amb, slots, all, grows, 0)          \
  unit(amb, steps, all, grows, 0)          \
  unit(amb, sum_chain, gpu, fixed, 0)      \
  unit(amb, sum_multiplies, gpu, fixed, 0) \
  unit(amb, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_AMB_UNITS)

}  // namespace spmvpack::encoder::layouts::amb_plans
