#pragma once
// What a multiply with pkt does, in units.

#include "work.hpp"

namespace spmvpack::encoder::layouts::pkt_plans {

// clang-format off
#define SPMVPACK_PKT_UNITS(unit)       \
  unit(pkt, chain, gpu, fixed, 0)      \
  unit(pkt, first, gpu, grows, 0)      \
  unit(pkt, multiplies, all, fixed, 0) \
  unit(pkt, slots, all, grows, 0)
// clang-format on

SPMVPACK_DEFINE_UNITS(SPMVPACK_PKT_UNITS)

}  // namespace spmvpack::encoder::layouts::pkt_plans
