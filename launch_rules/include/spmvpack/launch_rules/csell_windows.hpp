#pragma once
// csell: the windows of x that its kernel for patterns has. gpu_loader makes them so, and encoder counts them so: here
// are steps alone, and no slices.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spmvpack::launch_rules::csell {

/// How many windows are on their way together, and the most of a part: 1.5 times the bytes of its slices' headers.
inline constexpr std::uint32_t window_batch = 3;
constexpr std::uint64_t most_windows(std::uint64_t slices) { return 256 + slices / 4; }
/// The most windows of a part, and of one of its programs.
struct WindowLimits {
  std::uint64_t of_part, of_program;
};

/// With fewer slices than 32 a multiprocessor, windows wait longer than they save. docs/notebook/GPU.md, "Constants".
constexpr bool worth_windows(std::uint64_t slices, std::uint64_t multiprocessors) {
  return slices >= 32 * multiprocessors;
}

/// Rows of a pair of slices; pairs that a warp multiplies together.
inline constexpr std::uint32_t pair_rows = 64, most_pairs = 2;
/// How many pairs a program is for: the first of these with which all slices have programs.
inline constexpr std::array<std::uint32_t, 2> pairs_by_preference{2, 1};
/// Two pairs, if they have at most two batches: half as much is done beside the windows. Three batches pay where slices
/// are many (nothing between the two was measured). docs/notebook/GPU.md, "Constants".
constexpr WindowLimits window_limits(std::uint64_t slices, std::uint64_t multiprocessors, std::uint32_t pairs) {
  const std::uint64_t batches = slices >= 128 * multiprocessors ? 3 : 2;
  return {most_windows(slices), pairs == 1 ? ~std::uint64_t{0} : batches * window_batch};
}

/// Steps of a window, as bits of its `kinds`: that of column base - 1, base and base + 1, seen from the row.
enum WindowKind : std::uint32_t { window_before = 1, window_at = 2, window_after = 4 };

/// For each pair, a bit for each of 32 lanes: which of their even rows, and which of their odd ones.
using LaneRows = std::array<std::uint32_t, std::size_t{2} * most_pairs>;

/// A step of one or two pairs of slices. Value: the bits of its value.
template <class Value>
struct PairStep {
  std::int32_t base;
  Value value;
  LaneRows rows;
};

/// The bits of a slice's mask, which is number `slice` of its pairs.
constexpr LaneRows lane_rows(std::uint32_t mask, unsigned slice) {
  LaneRows rows{};
  for (unsigned row = 0; row < 32; ++row)
    rows[slice / 2 * 2 + row % 2] |= (mask >> row & 1U) << (slice % 2 * 16 + row / 2);
  return rows;
}

/// Adds the steps of a slice, number `number` of its pairs. groups: csell's, from which base and mask are taken;
/// value_of(group, k): the value of step k. False if the steps do not come in the order of their columns, or one is so
/// far from its row that places beside it are no int32.
template <class Value, class Groups, class ValueOf>
bool append_steps(std::vector<PairStep<Value>>& steps, const Groups& groups, unsigned number, ValueOf&& value_of) {
  const std::size_t begin = steps.size();
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t k = 0; k < std::size(groups[g].mask) && groups[g].mask[k] != 0; ++k) {
      const auto base = static_cast<std::int32_t>(groups[g].base[k]);
      const std::uint32_t mask = groups[g].mask[k];
      constexpr std::int32_t furthest = 1 << 30;
      if (base < -furthest || base > furthest || (steps.size() > begin && base < steps.back().base)) return false;
      steps.push_back({base, value_of(g, k), lane_rows(mask, number)});
    }
  return true;
}

/// Steps of several slices that differ in their rows alone become one. Those of one column may come in any order, as no
/// row has two of them.
template <class Value>
void merge_steps(std::vector<PairStep<Value>>& steps) {
  using Step = PairStep<Value>;
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.base < b.base; });
  std::size_t merged = 0;
  for (const Step& step : steps) {
    std::size_t at = merged;
    while (at > 0 && steps[at - 1].base == step.base && steps[at - 1].value != step.value) --at;
    if (at > 0 && steps[at - 1].base == step.base)
      for (std::size_t i = 0; i < step.rows.size(); ++i) steps[at - 1].rows[i] |= step.rows[i];
    else
      steps[merged++] = step;
  }
  steps.resize(merged);
}

/// Calls place(step, base, kind, is_new) for each of these steps: the window of this base has it, which is a new one
/// or the one of the step before.
template <class Value, class Place>
void each_in_window(const std::vector<PairStep<Value>>& steps, Place&& place) {
  bool is_open = false;
  std::int32_t open = 0;
  std::uint32_t latest = 0;  // kind
  for (const PairStep<Value>& step : steps) {
    // The open window takes the step if that is the next of its kinds.
    std::uint32_t kind = (step.base & 1) != 0 ? window_before : window_at;
    if (is_open && step.base == open + 1) kind = window_after;
    const std::int32_t base = step.base + (kind == window_before ? 1 : kind == window_after ? -1 : 0);
    const bool is_new = !is_open || open != base || latest >= kind;
    place(step, base, kind, is_new);
    is_open = true;
    open = base;
    latest = kind;
  }
}

/// The columns that the windows of a program reach, from its first row.
struct WindowReach {
  std::int32_t least = 0, most = 0;

  /// Whether no column is past x, for a program of `rows` rows, the first of which is `row`. The last odd row reads the
  /// element after its own.
  [[nodiscard]] constexpr bool is_inside(std::int64_t row, std::uint32_t rows, std::uint64_t columns) const {
    return row + least >= 0 && row + most + rows < static_cast<std::int64_t>(columns);
  }
};

/// A program is the windows of one or two pairs of slices, and serves all that are alike. They are numbered as they
/// come, and there is one more for those alike from whose rows windows reach past x.
template <class Value>
class ProgramNumbers {
 public:
  using Steps = std::vector<PairStep<Value>>;

  /// columns: of the part; pairs: of a program.
  ProgramNumbers(std::uint64_t columns, const WindowLimits& limits, std::uint32_t pairs)
      : columns_(columns), limits_(limits), pairs_(pairs) {}
  // latest_ is a place in known_, whose end would not move along.
  ProgramNumbers(const ProgramNumbers&) = delete;
  ProgramNumbers& operator=(const ProgramNumbers&) = delete;
  ~ProgramNumbers() = default;

  /// The number of the program of `slices`, of which those of pairs() before it come number `place` times. None if one
  /// is no pattern or append(slice, its number, steps), as append_steps(), returns false, or if programs, their
  /// windows, or those of one, get too many. make(steps) makes the next program, and copy(number) the next one of that
  /// one, past x.
  template <class Slices, class Append, class Make, class Copy>
  std::optional<std::uint16_t> of(std::uint64_t place, const Slices& slices, Append&& append, Make&& make,
                                  Copy&& copy) {
    Key key{};
    for (std::size_t i = 0; i < std::size(slices); ++i) key[i] = {slices[i].pattern, slices[i].counts};
    if (latest_ == known_.end() || latest_->first != key) {
      latest_ = known_.find(key);
      if (latest_ == known_.end()) {
        steps_.clear();
        for (unsigned i = 0; i < std::size(slices); ++i)
          if (!slices[i].is_pattern() || !append(slices[i], i, steps_)) return std::nullopt;
        merge_steps(steps_);
        const std::optional<Known> known = count();
        if (!known) return std::nullopt;
        make(steps_);
        latest_ = known_.emplace(key, *known).first;
      }
    }
    Known& known = latest_->second;
    const std::uint32_t rows = pairs_ * pair_rows;
    if (known.reach.is_inside(static_cast<std::int64_t>(place) * rows, rows, columns_)) return known.inside;
    if (known.at_edge == none) {
      if (programs_ >= none) return std::nullopt;
      known.at_edge = static_cast<std::uint16_t>(programs_++);
      copy(known.inside);
    }
    return known.at_edge;
  }
  /// The most windows of a program, in batches.
  [[nodiscard]] std::uint64_t longest() const { return longest_; }
  /// The furthest column that a window reaches, from a program's first row.
  [[nodiscard]] std::int32_t furthest() const { return furthest_; }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_; }
  /// The reach of the latest program that of() has found.
  [[nodiscard]] WindowReach reach() const { return latest_->second.reach; }

 private:
  /// What slices alike have in common: their patterns and counts.
  using Key = std::array<std::array<std::uint32_t, 2>, std::size_t{2} * most_pairs>;
  static constexpr std::uint16_t none = 0xFFFF;
  struct Known {
    std::uint16_t inside, at_edge;  ///< the programs' numbers; `none`: not made yet
    WindowReach reach = {};
  };
  std::optional<Known> count() {
    Known known{static_cast<std::uint16_t>(programs_), none};
    std::uint64_t windows = 0;
    each_in_window(steps_, [&](const auto&, std::int32_t base, std::uint32_t, bool is_new) {
      windows += is_new ? 1 : 0;
      known.reach.least = std::min(known.reach.least, base - 1);
      known.reach.most = std::max(known.reach.most, base);
    });
    windows = (windows + window_batch - 1) / window_batch * window_batch;
    windows_ += windows;
    if (windows_ > limits_.of_part || windows > limits_.of_program || programs_ >= none) return std::nullopt;
    ++programs_;
    longest_ = std::max(longest_, windows);
    furthest_ = std::max(furthest_, known.reach.most);
    return known;
  }

  std::uint64_t columns_, windows_ = 0, longest_ = 0;
  WindowLimits limits_;
  std::uint32_t pairs_, programs_ = 0;
  std::int32_t furthest_ = 0;
  std::map<Key, Known> known_;
  typename std::map<Key, Known>::iterator latest_ = known_.end();
  Steps steps_;
};

}  // namespace spmvpack::launch_rules::csell
