#pragma once
// Units of work as data. What a multiply does is counted in units, each of which has a price on every machine
// (time_prices.inc). A layout lists its own in NAME_work.hpp, from where benchmarks/fit_times.py has them, too.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace spmvpack::encoder {

/// Which machines spend time on a unit: prices are fitted for no others. Warps are of GPUs, loops over lanes of hosts.
enum class On : std::uint8_t { all, gpu, host };
/// Whether a part of the same kind with more entries has more of it.
enum class Growth : std::uint8_t { fixed, grows };

struct Unit {
  std::string_view name;  ///< "csr.entries"
  On on = On::all;
  Growth growth = Growth::grows;
  std::uint8_t since = 0;  ///< the first of the schemas of profiles that has it (profile_file.cpp), from 0
};

/// All units, in alphabetical order.
std::span<const Unit> all_units();
/// Error(errc::internal) if there is none with that name.
const Unit& unit_named(std::string_view name);

/// Makes an enumeration `Work` of a list, and the data of its units. The list calls unit(layout, what, on, growth,
/// since) for each: "layout.what" is the unit's name, `what` its enumerator.
#define SPMVPACK_UNIT_ENUMERATOR(layout, what, on, growth, since) what,
#define SPMVPACK_UNIT_DATA(layout, what, on, growth, since) Unit{#layout "." #what, On::on, Growth::growth, since},
#define SPMVPACK_DEFINE_UNITS(list)                                  \
  enum class Work : std::uint8_t { list(SPMVPACK_UNIT_ENUMERATOR) }; \
  inline constexpr std::array units{list(SPMVPACK_UNIT_DATA)};       \
  constexpr std::string_view name_of(Work unit) { return units[static_cast<std::size_t>(unit)].name; }

}  // namespace spmvpack::encoder
