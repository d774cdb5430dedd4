#pragma once
/// Windows of x: what load makes of a part whose slices are patterns of few values or one. Needs no device.
///
/// A warp takes two or four neighbouring slices, and each of its lanes two consecutive rows of each pair of them. Their
/// steps of columns b - 1, b and b + 1, seen from the rows, need four neighbouring elements of x, which are one aligned
/// load of two for each lane and their neighbours' halves: a third of the loads that take turns in the first-level
/// cache. Patterns are so made a program of windows once, whichever rows of them have which of the steps.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using launch_rules::csell::LaneRows;
using launch_rules::csell::pair_rows;
using launch_rules::csell::window_after;
using launch_rules::csell::window_at;
using launch_rules::csell::window_batch;
using launch_rules::csell::window_before;
using launch_rules::csell::WindowLimits;
using launch_rules::csell::WindowReach;
/// Beside kinds: all rows have all of these steps.
inline constexpr std::uint32_t window_full = 8;

/// A step for each of a window's kinds. T: the type of values.
template <class T>
struct alignas(16) Window {
  std::int32_t base = 0;  ///< even
  std::uint32_t kinds = 0;
  std::array<T, 3> value{};
  /// Of each lane, by row (even and odd of each pair): whether it has the step, a bit for each; 4 bits for each kind. A
  /// lane loads its own, and tests bits of a register.
  alignas(16) std::array<std::uint16_t, spmvpack::layouts::csell::lanes> rows{};
};
/// The bit of a row's step of a kind: 0 for base - 1 and so on.
constexpr std::uint32_t row_bit(std::uint32_t kind, std::uint32_t row) { return 1U << (4 * kind + row); }
static_assert(std::size_t{2} * launch_rules::csell::most_pairs <= 4);
static_assert(sizeof(Window<double>) == 96 && sizeof(Window<float>) == 96);

/// The windows of one or two pairs of slices, in the order of their steps. Their number is a multiple of window_batch:
/// those at the end may have no kinds. Slices without entries have none.
struct alignas(8) WindowProgram {
  std::uint32_t first = 0;  ///< window
  std::uint32_t count = 0;  ///< windows, and flags
};
static_assert(sizeof(WindowProgram) == 8);
inline constexpr std::uint32_t program_all_rows = 1U << 31U;
/// Its windows reach past x: elements must be loaded with care.
inline constexpr std::uint32_t program_at_edge = 1U << 30U;
inline constexpr std::uint32_t program_count = program_at_edge - 1;
static_assert(pair_rows == 2 * spmvpack::layouts::csell::lanes);

/// Collects the programs of a part's slices.
template <class T>
class WindowPrograms {
 public:
  using Slice = spmvpack::layouts::csell::Slice;
  using Group = spmvpack::layouts::csell::Group;

  /// Patterns, and the values of their steps or the only one, of a part with `columns`. A program is for so many pairs
  /// of slices. No more windows are made than `limits` say.
  WindowPrograms(std::span<const Group> patterns, std::span<const T> values, std::uint64_t columns,
                 const WindowLimits& limits, std::uint32_t pairs)
      : patterns_(patterns), values_(values), numbers_(columns, limits, pairs) {}

  /// The number of the program of the slices that come after `place` times as many. None if one is not a pattern or has
  /// steps that do not come in the order of their columns, or if programs, their windows, or those of one, get too
  /// many.
  [[nodiscard]] std::optional<std::uint16_t> program(std::uint64_t place, std::span<const Slice> slices);

  [[nodiscard]] const CountedVector<WindowProgram>& programs() const { return programs_; }
  [[nodiscard]] const CountedVector<Window<T>>& windows() const { return windows_; }
  /// The furthest column that a window reaches, from a program's first row.
  [[nodiscard]] std::int32_t furthest() const { return numbers_.furthest(); }
  /// Of the latest program().
  [[nodiscard]] WindowReach reach() const { return numbers_.reach(); }

 private:
  using Numbers = launch_rules::csell::ProgramNumbers<bits_of<T>>;
  using Steps = typename Numbers::Steps;
  bool append(const Slice& slice, unsigned number, Steps& steps) const;
  void make(const Steps& steps);

  std::span<const Group> patterns_;
  std::span<const T> values_;
  Numbers numbers_;
  CountedVector<WindowProgram> programs_;
  CountedVector<Window<T>> windows_;
};

#define SPMVPACK_DECLARE(T) extern template class WindowPrograms<T>;
SPMVPACK_VALUE_TYPES(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
