#pragma once
// sjds: what is the same in all steps of eight lanes of a slice of rows. A host's loader finds it, and has a loop for
// each kind; encoder counts the steps of each. Here are columns alone, wherever they are stored.

#include <algorithm>
#include <array>
#include <cstdint>

#include "spmvpack/container/layouts/sjds.hpp"

namespace spmvpack::launch_rules::sjds {

using spmvpack::layouts::sjds::lanes;
using spmvpack::layouts::sjds::Slice;
using spmvpack::layouts::sjds::SliceView;
using spmvpack::layouts::sjds::WindowStep;

using Kind = std::uint8_t;
constexpr Kind any = 0;
constexpr Kind plain = 1;  ///< eight rows that follow each other, consecutive window steps, no others
/// Columns rise, and are consecutive but for one gap, as where a grid's line ends: above this, the lane behind it.
constexpr Kind two_runs = 1;
/// Above this, the first lanes of four groups of neighbours, a bit each: the lanes of a group have the same columns, as
/// the rows of a node of finite elements do.
constexpr Kind four_groups = 8;
constexpr std::uint32_t groups = 4;
constexpr Kind one_column = 9;  ///< all lanes have the same column, as in blocks of as many rows; of no four groups

constexpr bool has_runs(Kind kind) { return kind > two_runs && kind <= four_groups; }
constexpr bool has_groups(Kind kind) { return kind > one_column; }

/// The places in a window step of columns that are consecutive.
constexpr std::uint32_t consecutive = 0x76543210;

/// Steps from which on other kinds than plain are worth their loops: with shorter slices lp1 took 7 to 8 % longer.
constexpr std::uint32_t least_steps = 4;

/// Whether a part's slices have loops by kinds. Of fewer than one of eight, one loop for all slices takes 3 to 8 %
/// less.
constexpr bool worth_kinds(std::uint64_t with_kind, std::uint64_t slices) {
  constexpr std::uint64_t few = 8;
  return few * with_kind >= slices;
}

/// The columns of a step of all lanes.
using StepColumns = std::array<std::uint32_t, lanes>;

/// What the lanes of a slice have in common in the steps that were taken.
class CommonColumns {
 public:
  /// Another step.
  [[gnu::always_inline]] constexpr void take(const StepColumns& columns) {
    std::uint32_t gaps = 0;
    for (std::uint32_t lane = 1; lane < lanes; ++lane) gaps |= columns[lane] - columns[lane - 1] - 1;
    if (gaps == 0 && columns[0] < columns[lanes - 1])
      has_consecutive_ = true;
    else
      take_other(columns);
  }
  /// Whether a slice may have runs or groups whose first steps these are. That takes as long as some steps: it is asked
  /// after 1, 2, 4, ... of them.
  [[nodiscard]] constexpr bool is_open() const { return may_have_runs() || may_have_groups(); }
  static constexpr bool is_look(std::uint64_t steps) { return steps != 0 && (steps & (steps - 1)) == 0; }
  /// Whether the columns of each step are consecutive.
  [[nodiscard]] constexpr bool are_consecutive() const { return !has_others_; }
  /// The kind of a slice that is not plain, whose steps were taken: all, or until it was not open.
  [[nodiscard]] constexpr Kind kind() const {
    if (may_have_runs()) {
      std::uint32_t lane = 1;
      while (lane + 1 < lanes && gaps_[lane] == 0) ++lane;
      return static_cast<Kind>(two_runs + (are_consecutive() ? 1 : lane));
    }
    if (!may_have_groups()) return any;
    if (count(others_) == 0) return one_column;
    std::uint32_t firsts = 1, missing = groups - 1 - count(others_);
    for (std::uint32_t lane = 1; lane < lanes; ++lane) {
      const bool is_first = others_[lane] != 0;
      if (is_first || missing != 0) firsts |= 1U << lane;
      if (!is_first && missing != 0) --missing;
    }
    return static_cast<Kind>(firsts);
  }

 private:
  constexpr void take_other(const StepColumns& columns) {
    has_others_ = true;
    for (std::uint32_t lane = 1; lane < lanes; ++lane) {
      const std::uint32_t before = columns[lane - 1], here = columns[lane];
      others_[lane] |= here ^ before;
      gaps_[lane] |= here - before - 1;
      falls_ |= static_cast<std::uint32_t>(here <= before);
    }
  }
  static constexpr std::uint32_t count(const StepColumns& bits) {
    std::uint32_t n = 0;
    for (const std::uint32_t of_lane : bits) n += of_lane != 0 ? 1 : 0;
    return n;
  }
  [[nodiscard]] constexpr bool may_have_runs() const { return !has_others_ || (falls_ == 0 && count(gaps_) <= 1); }
  [[nodiscard]] constexpr bool may_have_groups() const { return !has_consecutive_ && count(others_) < groups; }

  bool has_consecutive_ = false;  ///< whether a step's columns are consecutive, and
  bool has_others_ = false;       ///< whether others are, of which these tell
  std::uint32_t falls_ = 0;       ///< 0: columns rise
  StepColumns others_{};          ///< 0: the lane has the columns of the one before
  StepColumns gaps_{};            ///< 0: they are one higher
};

/// The kind of a slice of rows. consecutive_windows(): whether all of its window steps have consecutive places;
/// common(): CommonColumns of its steps of all lanes. Each is asked if it matters.
template <class ConsecutiveWindows, class Common>
constexpr Kind kind_of(const Slice& slice, ConsecutiveWindows&& consecutive_windows, Common&& common) {
  const bool may_be_plain = slice.rows() == lanes && !slice.is_listed() && slice.steps() + slice.tail() == 0;
  if (may_be_plain && consecutive_windows()) return plain;
  return slice.full() < least_steps ? any : common().kind();
}

/// The common columns of a slice of rows as it is stored.
inline CommonColumns common_columns(const SliceView& view) {
  CommonColumns common;
  std::uint64_t taken = 0;
  const auto take_steps = [&](std::uint64_t steps, auto&& column) {
    for (std::uint64_t k = 0; k < steps && !(CommonColumns::is_look(taken) && !common.is_open()); ++k, ++taken) {
      StepColumns columns{};
      for (std::uint32_t lane = 0; lane < lanes; ++lane) columns[lane] = column(k, lane);
      common.take(columns);
    }
  };
  const WindowStep* const windows = view.window_steps();
  take_steps(view.slice.windows(), [&](std::uint64_t k, std::uint32_t lane) { return windows[k].column(lane); });
  take_steps(view.slice.steps(), [&](std::uint64_t k, std::uint32_t lane) {
    return static_cast<std::uint32_t>(view.column(k * lanes + lane));
  });
  return common;
}
inline Kind kind_of(const SliceView& view) {
  const WindowStep* const windows = view.window_steps();
  const auto consecutive_windows = [&] {
    return std::all_of(windows, windows + view.slice.windows(),
                       [](const WindowStep& step) { return step.places == consecutive; });
  };
  return kind_of(view.slice, consecutive_windows, [&] { return common_columns(view); });
}

}  // namespace spmvpack::launch_rules::sjds
