#pragma once
// The tables of distinct values of csell: which values stand in which tile's, and their ids.

#include <bit>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "count_table.hpp"
#include "layouts/csell/slice.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

/// Tables of distinct values, each of the same number of slices.
struct Tables {
  std::uint64_t slices = 0;
  std::uint32_t block_values = 1;
  CountedVector<CountedVector<ValueKey>> values;  ///< the bits, rising

  /// Bytes of an entry's ids: one for each value of its block. 0 without tables.
  [[nodiscard]] std::uint32_t id_bytes(std::uint64_t slice) const {
    if (values.empty()) return 0;
    return Tile{0, static_cast<std::uint32_t>(values[slice / slices].size())}.id_bytes() * block_values;
  }
  /// Of ids, tables and their places, for slices of these groups.
  [[nodiscard]] std::uint64_t bytes(std::span<const SliceGroups> groups, std::size_t value_size) const;
};

/// The tables that cost least; none if values do not repeat nearby.
std::optional<Tables> plan_tables(const BlockRows& rows, const ValueTable& all, std::span<const SliceGroups> groups,
                                  const TableLimits& limits, int threads);

/// The ids of a tile's values.
class TileIds {
 public:
  explicit TileIds(std::span<const ValueKey> values)
      : shift_(64 - static_cast<int>(std::bit_width(values.size() * 2 | 15))),
        slots_(std::size_t{1} << (64 - shift_), Slot{}) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Slot& slot = slots_[probe(values[i])];
      slot = {values[i], static_cast<std::uint32_t>(i + 1)};
    }
  }
  [[nodiscard]] std::uint32_t find(ValueKey bits) const { return slots_[probe(bits)].next_id - 1; }

 private:
  struct Slot {
    ValueKey bits = 0;
    std::uint32_t next_id = 0;  ///< 0: free
  };
  [[nodiscard]] std::size_t probe(ValueKey bits) const {
    std::size_t at = hash_of_key(bits) >> shift_;
    while (slots_[at].next_id != 0 && slots_[at].bits != bits) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  int shift_;
  std::vector<Slot> slots_;
};

}  // namespace spmvpack::encoder::layouts::csell_plans
