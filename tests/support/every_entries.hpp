#pragma once
// The Entries of every layout.

#include <string>

#include "catch.hpp"
#include "spmvpack/container/layouts/amb_entries.hpp"
#include "spmvpack/container/layouts/bitflag_entries.hpp"
#include "spmvpack/container/layouts/ccoo_entries.hpp"
#include "spmvpack/container/layouts/coo.hpp"
#include "spmvpack/container/layouts/csell_entries.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/dia.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pkt_entries.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/container/layouts/sjds_entries.hpp"

namespace spmvpack::test {

/// Calls f(entries) with the Entries of a part.
template <class T, class F>
void with_entries(const PartView& part, F&& f) {
  namespace of = layouts;
  const std::string& name = part.info().layout;
  if (name == "csr") return f(of::csr::Entries<T>::of(part));
  if (name == "coo") return f(of::coo::Entries<T>::of(part));
  if (name == "ell") return f(of::ell::Entries<T>::of(part));
  if (name == "ellpack_r") return f(of::ellpack_r::Entries<T>::of(part));
  if (name == "sell") return f(of::sell::Entries<T>::of(part));
  if (name == "pjds") return f(of::pjds::Entries<T>::of(part));
  if (name == "dia") return f(of::dia::Entries<T>::of(part));
  if (name == "amb") return f(of::amb::Entries<T>::of(part));
  if (name == "pkt") return f(of::pkt::Entries<T>::of(part));
  if (name == "ccoo") return f(of::ccoo::Entries<T>::of(part));
  if (name == "csell") return f(of::csell::Entries<T>::of(part));
  if (name == "sjds") return f(of::sjds::Entries<T>::of(part));
  REQUIRE(name == "bitflag");
  f(of::bitflag::Entries<T>::of(part));
}

/// Calls f(row, run, index, column, slot) for all entries of a part, its units in turn.
template <class Entries, class F>
void each_entry(const Entries& entries, std::uint32_t lanes, F&& f) {
  for (std::uint64_t unit = 0; unit < entries.units(); ++unit)
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      entries.each(unit, lane, lanes, [&](std::uint32_t row, std::uint64_t run) {
        return [&f, row, run](std::uint32_t index, std::uint32_t column, const layouts::ValueSlot& slot) {
          f(row, run, index, column, slot);
        };
      });
}

}  // namespace spmvpack::test
