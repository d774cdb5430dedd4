#pragma once
// What a multiply with pjds does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::pjds_plans {

// clang-format off
#define SPMVPACK_PJDS_UNITS(unit)        \
  unit(pjds, alone, host, grows, 0)      \
  unit(pjds, chain, gpu, fixed, 0)       \
  unit(pjds, chain_slots, gpu, fixed, 0) \
  unit(pjds, column_entries, all, grows, 2) \
  unit(pjds, first, gpu, grows, 0)       \
  unit(pjds, listed, all, grows, 0)      \
  unit(pjds, multiplies, all, fixed, 0)  \
  unit(pjds, page_slots, host, grows, 0) \
  unit(pjds, rows, all, grows, 0)        \
  unit(pjds, slots, all, grows, 0)       \
  unit(pjds, turns, gpu, fixed, 2)       \
  unit(pjds, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_PJDS_UNITS)

}  // namespace spmvpack::encoder::layouts::pjds_plans
