#pragma once
// How csell stores the columns of each slice: by a pattern of the dictionary, or by offsets.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "layouts/csell/slice.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

/// How the columns of all slices are stored, for one size of blocks.
struct ColumnsPlan {
  std::uint32_t block = 1;
  bool by_value = false;
  CountedVector<Slice> slices;
  CountedVector<SliceGroups> groups;  ///< of each slice
  static constexpr std::uint64_t slices_per_task = 128;
  CountedVector<OffsetSteps> offsets;    ///< of that many slices each: steps of those without a pattern
  CountedVector<StepRange> offsets_of;   ///< of each slice, there
  CountedVector<Group> patterns;         ///< the dictionary
  CountedVector<std::byte> step_values;  ///< of its steps, if by_value
  std::uint64_t lists = 0, slices_in_patterns = 0;
  std::uint64_t units = 0;         ///< of the stream, without ids
  std::uint64_t uneven_steps = 0;  ///< of all slices: those that some of a slice's 32 lanes lack

  [[nodiscard]] std::uint64_t bytes() const {
    return slices.size() * sizeof(Slice) + patterns.size() * sizeof(Group) + units * unit + step_values.size();
  }
  /// The steps of a slice, which `to` has then.
  void arrange(SliceSteps& to, std::uint64_t slice) const {
    if (groups[slice].of[0] != 0)
      to.arrange_pattern(slice, by_value, ~std::uint64_t{0});
    else
      to.arrange_offsets(slice, offsets[slice / slices_per_task], offsets_of[slice]);
  }
  /// Groups of all slices by their kind, those of the longest slice, and those with offsets of the neighbouring_slices
  /// that have most.
  struct GroupSums {
    std::array<std::uint64_t, 4> of{};
    std::uint64_t longest = 0, heaviest_offsets = 0;
  };
  /// Of blocks of one entry: the most windows of x that gpu_loader makes for one or two pairs of slices, of a part with
  /// `columns`, for a device of so many multiprocessors. 0 if it makes none for so many pairs.
  [[nodiscard]] std::uint64_t windows(std::uint64_t columns, std::uint64_t multiprocessors, std::uint32_t pairs) const;
  [[nodiscard]] GroupSums group_sums() const {
    GroupSums sums;
    std::uint64_t neighbours = 0;
    for (std::size_t s = 0; s < groups.size(); ++s) {
      const SliceGroups& g = groups[s];
      for (std::size_t kind = 0; kind < 4; ++kind) sums.of.at(kind) += g.of[kind];
      sums.longest = std::max(sums.longest, g.total());
      if (s % neighbouring_slices == 0) neighbours = 0;
      neighbours += g.total() - g.of[0];
      sums.heaviest_offsets = std::max(sums.heaviest_offsets, neighbours);
    }
    return sums;
  }
};

/// Decides slice by slice between a pattern, which may be shared, and offsets. With `by_value` there are patterns only:
/// none is returned if they take more steps than the rows' lengths suggest, or too many bytes.
std::optional<ColumnsPlan> plan_columns(const BlockRows& rows, bool by_value, int threads);

}  // namespace spmvpack::encoder::layouts::csell_plans
