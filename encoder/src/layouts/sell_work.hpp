#pragma once
// What a multiply with sell does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::sell_plans {

// clang-format off
#define SPMVPACK_SELL_UNITS(unit)        \
  unit(sell, alone, host, grows, 0)      \
  unit(sell, chain, gpu, fixed, 0)       \
  unit(sell, chain_slots, gpu, fixed, 0) \
  unit(sell, column_entries, all, grows, 2) \
  unit(sell, first, gpu, grows, 0)       \
  unit(sell, listed, all, grows, 0)      \
  unit(sell, multiplies, all, fixed, 0)  \
  unit(sell, rows, all, grows, 0)        \
  unit(sell, slots, all, grows, 0)       \
  unit(sell, turns, gpu, fixed, 2)       \
  unit(sell, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_SELL_UNITS)

}  // namespace spmvpack::encoder::layouts::sell_plans
