#pragma once
// What a multiply with ell does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::ell_plans {

// clang-format off
#define SPMVPACK_ELL_UNITS(unit)        \
  unit(ell, alone, host, grows, 0)      \
  unit(ell, chain, gpu, fixed, 0)       \
  unit(ell, chain_slots, gpu, fixed, 0) \
  unit(ell, column_entries, all, grows, 2) \
  unit(ell, first, gpu, grows, 0)       \
  unit(ell, multiplies, all, fixed, 0)  \
  unit(ell, page_slots, host, grows, 0) \
  unit(ell, rows, all, grows, 0)        \
  unit(ell, slots, all, grows, 0)       \
  unit(ell, turns, gpu, fixed, 2)       \
  unit(ell, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_ELL_UNITS)

}  // namespace spmvpack::encoder::layouts::ell_plans

namespace spmvpack::encoder::layouts::ellpack_r_plans {

// clang-format off
#define SPMVPACK_ELLPACK_R_UNITS(unit)      \
  unit(ellpack_r, lengths, all, fixed, 0)   \
  unit(ellpack_r, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_ELLPACK_R_UNITS)

}  // namespace spmvpack::encoder::layouts::ellpack_r_plans
