#pragma once
/// Windows of x: what load makes of a part whose slices are patterns of few values or one. Needs no device.
///
/// A warp takes two neighbouring slices, and each of its lanes two consecutive rows of them. Their steps of columns
/// b - 1, b and b + 1, seen from the rows, need four neighbouring elements of x, which are one aligned load of two for
/// each lane and their neighbours' halves: a third of the loads that take turns in the first-level cache. A pair of
/// patterns is so made a program of windows once, whichever rows of the two have which of the steps.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using launch_rules::csell::most_windows;
using launch_rules::csell::pair_rows;
using launch_rules::csell::window_after;
using launch_rules::csell::window_at;
using launch_rules::csell::window_batch;
using launch_rules::csell::window_before;
/// Beside kinds: all rows have all of these steps.
inline constexpr std::uint32_t window_full = 8;

/// A step for each of a window's kinds. T: the type of values.
template <class T>
struct alignas(16) Window {
  std::int32_t base = 0;  ///< even
  std::uint32_t kinds = 0;
  std::array<T, 3> value{};
  /// By kind: which of the lanes' even and odd rows have the step.
  alignas(16) std::array<std::array<std::uint32_t, 2>, 3> mask{};
  /// Of a program's first window: which of the lanes' even and odd rows have entries in any.
  std::array<std::uint32_t, 2> rows{};
};
static_assert(sizeof(Window<double>) == 64 && sizeof(Window<float>) == 64);

/// The windows of a pair of slices, in the order of their steps. Their number is a multiple of window_batch: those at
/// the end may have no kinds. A pair without entries has none.
struct alignas(8) WindowProgram {
  std::uint32_t first = 0;  ///< window
  std::uint32_t count = 0;  ///< windows, and flags
};
static_assert(sizeof(WindowProgram) == 8);
inline constexpr std::uint32_t program_all_rows = 1U << 31U;
/// Its windows reach past x from rows of the pair: elements must be loaded with care.
inline constexpr std::uint32_t program_at_edge = 1U << 30U;
inline constexpr std::uint32_t program_count = program_at_edge - 1;
static_assert(pair_rows == 2 * spmvpack::layouts::csell::lanes);

/// Collects the programs of a part's pairs of slices.
template <class T>
class WindowPrograms {
 public:
  using Slice = spmvpack::layouts::csell::Slice;
  using Group = spmvpack::layouts::csell::Group;

  /// Patterns, and the values of their steps or the only one, of a part with `columns`. No more windows are made than
  /// `most_windows`.
  WindowPrograms(std::span<const Group> patterns, std::span<const T> values, std::uint64_t columns,
                 std::uint64_t most_windows)
      : patterns_(patterns), values_(values), numbers_(columns, most_windows) {}

  /// The number of the program of pair `pair` of slices. None if one is not a pattern or has steps that do not come in
  /// the order of their columns, or if programs, or their windows, get too many.
  [[nodiscard]] std::optional<std::uint16_t> program(std::uint64_t pair, const Slice& first, const Slice& second);

  [[nodiscard]] const std::vector<WindowProgram>& programs() const { return programs_; }
  [[nodiscard]] const std::vector<Window<T>>& windows() const { return windows_; }
  /// The furthest column that a window reaches, from a pair's first row.
  [[nodiscard]] std::int32_t furthest() const { return numbers_.furthest(); }

 private:
  using Numbers = launch_rules::csell::ProgramNumbers<bits_of<T>>;
  using Steps = typename Numbers::Steps;
  bool append(const Slice& slice, unsigned half, Steps& steps) const;
  void make(const Steps& steps);

  std::span<const Group> patterns_;
  std::span<const T> values_;
  Numbers numbers_;
  std::vector<WindowProgram> programs_;
  std::vector<Window<T>> windows_;
};

#define SPMVPACK_DECLARE(T) extern template class WindowPrograms<T>;
SPMVPACK_VALUE_TYPES(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
