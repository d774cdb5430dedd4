#pragma once
// What a plan of csell says, and its sections written.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layouts/csell/columns.hpp"
#include "layouts/csell/mirrors.hpp"
#include "layouts/csell/tables.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

/// A part as slices.
struct Slices {
  Source source = Source::raw;
  ColumnsPlan columns;
  Tables tables;
  CountedVector<Tile> tiles;
  std::optional<Mirrors> mirrors;
  std::vector<ValueKey> single;  ///< the value's bits

  /// Of all ids of an entry, or its reference, in a slice; 0 if there are none.
  [[nodiscard]] std::uint32_t entry_id_bytes(std::uint64_t slice) const {
    return mirrors ? mirrors->reference_bytes[slice] : tables.id_bytes(slice);
  }
};

/// Writes the bytes [begin, begin + out.size()) of a section, by its number in the file (csell.hpp).
void fill_section(const Slices& plan, const CsrView& a, std::size_t section, std::uint64_t begin,
                  std::span<std::byte> out);

}  // namespace spmvpack::encoder::layouts::csell_plans
