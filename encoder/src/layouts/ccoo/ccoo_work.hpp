#pragma once
// What a multiply with ccoo does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::ccoo_plans {

// clang-format off
#define SPMVPACK_CCOO_UNITS(unit)        \
  unit(ccoo, empty_rows, all, grows, 0)  \
  unit(ccoo, first, gpu, grows, 0)       \
  unit(ccoo, lanes, all, grows, 0)       \
  unit(ccoo, long_rows, gpu, fixed, 2)   \
  unit(ccoo, multiplies, all, fixed, 0)  \
  unit(ccoo, raw_bytes, all, grows, 0)   \
  unit(ccoo, run_entries, gpu, grows, 0) \
  unit(ccoo, serial, gpu, fixed, 2)      \
  unit(ccoo, slots, all, grows, 0)       \
  unit(ccoo, unfetched, all, fixed, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_CCOO_UNITS)

}  // namespace spmvpack::encoder::layouts::ccoo_plans
