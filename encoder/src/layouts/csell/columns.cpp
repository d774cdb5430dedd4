#include "layouts/csell/columns.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoding_rules/csell.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

/// Lists of steps, each once, numbered as they come. A list is the bytes of its bases and masks, and of its values.
class Lists {
 public:
  std::uint32_t add(std::string_view list) {
    const auto [at, is_new] = numbers_.try_emplace(std::string(list), static_cast<std::uint32_t>(lists_.size()));
    if (is_new) {
      constexpr std::uint64_t node = sizeof(*at) + 4 * sizeof(void*);  // with its bucket and its place in lists_
      counted_.grow(node + list.size());
      lists_.push_back(&at->first);
    }
    return at->second;
  }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return *lists_[i]; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> lists_;  ///< keys, which do not move
  MemoryReservation counted_;
};

/// The steps, then the values of each.
std::string list_of(const SliceSteps& steps, const BlockRows& rows, std::uint64_t slice, bool by_value) {
  std::string list;
  const auto append = [&](const void* from, std::size_t n) { list.append(static_cast<const char*>(from), n); };
  for (const Step& step : steps.steps()) append(&step.base, 8);  // and the mask behind it
  static_assert(offsetof(Step, mask) == 4);
  if (!by_value) return list;
  const std::size_t size = size_of(rows.matrix().value_type());
  for (const Step& step : steps.steps()) {
    const std::uint64_t row = slice * lanes + static_cast<std::uint32_t>(std::countr_zero(step.mask));
    for (std::uint32_t r = 0; r < rows.block(); ++r)
      append(static_cast<const std::byte*>(rows.matrix().value_bytes()) +
                 (rows.begin(row, r) + std::uint64_t{steps.entries()[step.first]} * rows.block()) * size,
             rows.block() * size);
  }
  return list;
}

/// Steps that some lanes lack, by the mask of each.
template <class Steps, class Mask = std::identity>
std::uint64_t count_uneven(const Steps& steps, Mask mask = {}) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      steps, [](std::uint32_t m) { return ~m != 0; }, mask));
}

constexpr std::uint32_t no_list = 0xFFFFFFFF;

/// The lists of some slices, and the number of each slice's; no_list: its columns are offsets.
struct SliceLists {
  Lists lists;
  CountedVector<std::uint32_t> of_slices;
  std::uint64_t uneven_steps = 0;
};

std::size_t block_bytes(const BlockRows& rows) {
  return std::size_t{rows.block()} * rows.block() * size_of(rows.matrix().value_type());
}

/// The steps of task t's slices, into their elements of the plan and `out`. Sets `given_up` if values in steps are not
/// worth it, and ends when any task has.
void arrange_slices(const BlockRows& rows, std::uint64_t t, SliceLists& out, ColumnsPlan& plan,
                    std::atomic<bool>& given_up) {
  constexpr std::uint64_t slices_per_task = ColumnsPlan::slices_per_task;
  const bool by_value = plan.by_value;
  SliceSteps steps(rows);
  struct Found {
    std::uint32_t list = no_list, width = 0;
    std::size_t steps = 0;
    std::uint64_t uneven_steps = 0;
    SliceGroups groups{};
    StepRange offsets{};
  };
  OffsetSteps offsets;
  RecentSlices<Found> recent(rows, by_value);
  StepFacts facts{.block_bytes = block_bytes(rows)};
  for (std::uint64_t s = t * slices_per_task; s < std::min(rows.slices(), (t + 1) * slices_per_task); ++s) {
    const Found& found = recent(s, [&](Found& f) {
      const bool fits = steps.arrange_pattern(s, by_value, most_pattern_steps(rows.blocks(s), by_value));
      f = {no_list, steps.width(), steps.steps().size(), 0, steps.groups(), {}};
      if (fits) {
        f.uneven_steps = count_uneven(steps.steps(), &Step::mask);
        const std::string list = list_of(steps, rows, s, by_value);
        const std::size_t lists_before = out.lists.size();
        f.list = out.lists.add(list);
        if (out.lists.size() != lists_before) facts.list_bytes += list.size();
      } else if (by_value) {
        given_up = true;
      } else {
        f.offsets = steps.find_offsets(s, offsets);
        f.groups = steps.groups();
        f.uneven_steps = count_uneven(std::span(offsets.masks).subspan(f.offsets.first, f.offsets.count));
      }
    });
    facts.blocks += rows.blocks(s);
    facts.steps += found.steps;
    facts.width += found.width;
    out.of_slices.push_back(found.list);
    out.uneven_steps += found.uneven_steps;
    plan.groups[s] = found.groups;
    plan.offsets_of[s] = found.offsets;
    if (given_up) return;
  }
  offsets.masks.shrink_to_fit();
  offsets.columns.shrink_to_fit();
  plan.offsets[t] = std::move(offsets);
  if (by_value && !worth_values_in_steps(facts)) given_up = true;
}

/// The lists of all tasks, in their order.
SliceLists join(CountedVector<SliceLists> tasks, std::uint64_t slices) {
  SliceLists all;
  all.of_slices.reserve(slices);
  for (SliceLists& task : tasks) {
    CountedVector<std::uint32_t> number(task.lists.size());
    for (std::size_t i = 0; i < number.size(); ++i) number[i] = all.lists.add(task.lists[i]);
    for (const std::uint32_t list : task.of_slices) all.of_slices.push_back(list == no_list ? no_list : number[list]);
    all.uneven_steps += task.uneven_steps;
    task = {};
  }
  return all;
}

/// Makes the dictionary, with the values of its steps if they have any. Returns the first group of each list.
CountedVector<std::uint32_t> make_patterns(const Lists& lists, std::size_t block_bytes, ColumnsPlan& plan) {
  constexpr std::size_t step_bytes = 8;
  CountedVector<std::uint32_t> place(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::uint64_t steps = lists[i].size() / (step_bytes + (plan.by_value ? block_bytes : 0)),
                        groups = div_up(steps, group_steps);
    place[i] = groups == 0 ? 0 : static_cast<std::uint32_t>(plan.patterns.size());
    plan.patterns.resize(plan.patterns.size() + groups);
    plan.lists += 1;
    if (plan.patterns.size() > max_patterns)
      throw Error(errc::unsupported, "csell: a dictionary of more than 2^30 - 1 groups", {}, "use another layout");
    for (std::uint64_t k = 0; k < steps; ++k) {
      Group& group = plan.patterns[place[i] + k / group_steps];
      std::memcpy(&group.base[k % group_steps], lists[i].data() + k * step_bytes, 4);
      std::memcpy(&group.mask[k % group_steps], lists[i].data() + k * step_bytes + 4, 4);
    }
    if (!plan.by_value || steps == 0) continue;
    plan.step_values.resize(plan.patterns.size() * group_steps * block_bytes);
    std::memcpy(plan.step_values.data() + std::size_t{place[i]} * group_steps * block_bytes,
                lists[i].data() + steps * step_bytes, steps * block_bytes);
  }
  return place;
}

}  // namespace

std::uint64_t ColumnsPlan::windows(std::uint64_t columns, std::uint64_t multiprocessors, std::uint32_t pairs) const {
  namespace rules = launch_rules::csell;
  using Numbers = rules::ProgramNumbers<std::uint64_t>;
  Numbers numbers(columns, rules::window_limits(slices.size(), multiprocessors, pairs), pairs);
  const std::size_t value_bytes =
      patterns.empty() || !by_value ? 0 : step_values.size() / (patterns.size() * group_steps);
  const auto append = [&](const Slice& slice, unsigned number, Numbers::Steps& steps) {
    const auto pattern = std::span(patterns).subspan(slice.first_group(), slice.counts);
    return rules::append_steps(steps, pattern, number, [&](std::size_t g, std::size_t k) {
      std::uint64_t bits = 0;
      if (value_bytes != 0)
        std::memcpy(&bits, step_values.data() + ((slice.first_group() + g) * group_steps + k) * value_bytes,
                    value_bytes);
      return bits;
    });
  };
  std::vector<Slice> some(std::size_t{2} * pairs);
  for (std::uint64_t s = 0; s < slices.size(); s += some.size()) {
    for (std::uint64_t i = 0; i < some.size(); ++i) some[i] = s + i < slices.size() ? slices[s + i] : Slice{};
    const auto number = numbers.of(
        s / some.size(), some, append, [](const Numbers::Steps&) {}, [](std::uint16_t) {});
    if (!number) return 0;
  }
  return numbers.longest();
}

std::optional<ColumnsPlan> plan_columns(const BlockRows& rows, bool by_value, int threads) {
  ColumnsPlan plan;
  plan.block = rows.block();
  plan.by_value = by_value;
  const std::uint64_t slices = rows.slices();
  CountedVector<SliceLists> tasks(div_up(slices, ColumnsPlan::slices_per_task));
  plan.groups.resize(slices);
  plan.offsets_of.resize(slices);
  plan.offsets.resize(tasks.size());
  std::atomic<bool> given_up{false};
  parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
    if (!given_up) arrange_slices(rows, t, tasks[t], plan, given_up);
  });
  if (given_up) return {};
  const SliceLists all = join(std::move(tasks), slices);
  const CountedVector<std::uint32_t> place = make_patterns(all.lists, block_bytes(rows), plan);
  plan.uneven_steps = all.uneven_steps;
  plan.slices.resize(slices);
  for (std::uint64_t s = 0; s < slices; ++s) {
    if (all.of_slices[s] != no_list) {
      plan.slices[s].pattern = place[all.of_slices[s]];
      ++plan.slices_in_patterns;
    }
    plan.slices[s].counts = plan.groups[s].counts();
    plan.units += stream_layout(plan.groups[s], 0).end;
  }
  return plan;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
