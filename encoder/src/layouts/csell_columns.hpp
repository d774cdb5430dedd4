#pragma once
// How csell stores the columns of each slice: by a pattern of the dictionary, or by offsets.

#include <optional>
#include <vector>

#include "layouts/csell_slice.hpp"

namespace spmvpack::encoder::layouts::sliced {

constexpr std::uint64_t slices_per_task = 128;

/// How the columns of all slices are stored, for one size of blocks.
struct ColumnsPlan {
  std::uint32_t block = 1;
  bool by_value = false;
  std::vector<Slice> slices;
  std::vector<SliceGroups> groups;    ///< of each slice
  std::vector<std::uint8_t> windows;  ///< of each slice: whether its offsets are arranged in windows
  std::vector<KnownSteps> known;      ///< of each `slices_per_task` slices: steps of those that have no pattern
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<Range> steps;            ///< of each slice, there; none of those that may have a pattern
  std::vector<Group> patterns;         ///< the dictionary
  std::vector<std::byte> step_values;  ///< of its steps, if by_value
  std::uint64_t lists = 0, slices_in_patterns = 0;
  std::uint64_t units = 0;  ///< of the stream, without ids

  [[nodiscard]] std::uint64_t bytes() const {
    return slices.size() * sizeof(Slice) + patterns.size() * sizeof(Group) + units * unit + step_values.size();
  }
  /// The steps of a slice with offsets.
  void arrange_offsets(SliceSteps& to, std::uint64_t slice) const {
    const Range of = steps[slice];
    if (of.count != 0)
      to.arrange_known(slice, known[slice / slices_per_task], of.first, of.count);
    else
      to.arrange_offsets(slice, windows[slice] != 0);
  }
  [[nodiscard]] std::uint64_t total_groups() const {
    std::uint64_t n = 0;
    for (const SliceGroups& g : groups) n += g.total();
    return n;
  }
};

/// Decides slice by slice between a pattern, which may be shared, and offsets. With `by_value` there are patterns only:
/// none is returned if they take more steps than the rows' lengths suggest, or too many bytes.
std::optional<ColumnsPlan> plan_columns(const BlockRows& rows, bool by_value, int threads);

}  // namespace spmvpack::encoder::layouts::sliced
