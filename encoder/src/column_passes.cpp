#include "column_passes.hpp"

#include <fmt/format.h>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/launch_rules/columns.hpp"

namespace spmvpack::encoder {

ColumnPasses passes_of(std::uint64_t at_once, const Aim& aim) {
  if (aim.columns == 0 || aim.columns > most_columns)
    throw Error(errc::usage, fmt::format("times of {} columns", aim.columns), {},
                fmt::format("give 1 to {}", most_columns));
  const std::uint64_t passes = (aim.columns + at_once - 1) / at_once;
  return {passes, aim.columns - passes};
}

ColumnsWork columns_on(const Aim& aim, std::string_view layout, std::uint64_t entries, const ColumnsWork& gpu) {
  if (aim.target != Target::host) return gpu;
  const std::uint64_t at_once = launch_rules::columns::of_host(layout);
  if (at_once == 1) return {};
  const std::string_view units_of = layout == "ellpack_r" ? "ell" : layout;  // which share them
  return {at_once, {{fmt::format("{}.column_entries", units_of), entries}}};
}

void repeat(std::vector<Counter>& work, const ColumnPasses& columns, const ColumnsWork& more) {
  for (Counter& c : work) c.value *= columns.passes;
  if (columns.further == 0) return;
  for (const Counter& c : more.pass)
    if (c.value != 0) work.emplace_back(c.name, c.value * columns.passes);
  for (const Counter& c : more.each) work.emplace_back(c.name, c.value * columns.further);
}

}  // namespace spmvpack::encoder
