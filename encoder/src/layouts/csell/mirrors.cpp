#include "layouts/csell/mirrors.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

constexpr std::uint64_t slices_per_task = 128, slices_per_sample = 61;
constexpr std::uint32_t no_block = 0xFFFFFFFF;
/// Until slots are named, a mirror's reference says which block of its row the one opposite of it is, or this: a later
/// one.
constexpr std::uint32_t far = 0x7FFF;
std::uint16_t mark_mirror(std::uint32_t other) {
  return static_cast<std::uint16_t>(Reference::mirror(std::min(other, far)).bits);
}

/// The blocks of a matrix and those opposite of them. T: the type of its values.
template <class T>
class Pairs {
 public:
  Pairs(const BlockRows& rows, Source source)
      : rows_(rows),
        columns_(rows.matrix().col_idx()),
        values_(static_cast<const bits_of<T>*>(rows.matrix().value_bytes())),
        flip_(source == Source::skew ? ValueTraits<T>::sign_bits : 0) {}

  /// Calls f(k, j) for the blocks k of a row that lie left of the diagonal, in block columns j. Returns their number.
  template <class F>
  std::uint32_t each_left(std::uint64_t row, F&& f) const {
    const std::uint32_t length = rows_.length(row), block = rows_.block();
    const std::uint32_t* const columns = columns_ + rows_.begin(row);
    std::uint32_t k = 0;
    for (; k < length && columns[std::size_t{k} * block] < row * block; ++k)
      f(k, rows_.in_blocks(columns[std::size_t{k} * block]));
    return k;
  }
  /// Which block of row j is in block column `row`, `guess` if it is that one; no_block if there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t j, std::uint64_t row, std::uint32_t guess) const {
    const std::uint32_t block = rows_.block(), length = rows_.length(j);
    const std::uint32_t* const columns = columns_ + rows_.begin(j);
    const std::uint64_t wanted = row * block;
    if (guess < length && columns[std::size_t{guess} * block] == wanted) return guess;
    std::uint32_t low = 0;
    for (std::uint32_t n = length; n != 0;) {
      const std::uint32_t half = n / 2;
      const bool is_right = columns[(std::size_t{low} + half) * block] < wanted;
      low = is_right ? low + half + 1 : low;
      n = is_right ? n - half - 1 : half;
    }
    return low != length && columns[std::size_t{low} * block] == wanted ? low : no_block;
  }
  /// Whether block k of a row has the bits of block `other` of row j, transposed.
  [[nodiscard]] bool is_mirror(std::uint64_t row, std::uint32_t k, std::uint32_t j, std::uint32_t other) const {
    const std::uint32_t block = rows_.block();
    const bits_of<T>* mine = values_ + rows_.begin(row) + std::uint64_t{k} * block;
    const bits_of<T>* opposite = values_ + rows_.begin(j) + std::uint64_t{other} * block;
    if (block == 1) return *mine == (*opposite ^ flip_);
    const std::size_t next = std::size_t{rows_.length(row)} * block,
                      next_opposite = std::size_t{rows_.length(j)} * block;
    for (std::uint32_t r = 0; r < block; ++r, mine += next, ++opposite)
      for (std::uint32_t c = 0; c < block; ++c)
        if (mine[c] != (opposite[c * next_opposite] ^ flip_)) return false;
    return true;
  }

 private:
  BlockRows rows_;
  const std::uint32_t* columns_;
  const bits_of<T>* values_;
  bits_of<T> flip_;
};

/// Finds mirrors row after row. Most are where those of the row before were.
template <class T>
class MirrorSearch {
 public:
  explicit MirrorSearch(const Pairs<T>& pairs) : pairs_(pairs) {}

  /// Calls f(k, which block of its row the opposite one is, or no_block if block k is no mirror) for the blocks of a
  /// row that lie left of the diagonal. Returns their number.
  template <class F>
  std::uint32_t operator()(std::uint64_t row, F&& f) {
    return pairs_.each_left(row, [&](std::uint32_t k, std::uint32_t j) {
      if (k == guesses_.size()) guesses_.push_back(0);
      std::uint32_t other = pairs_.find(j, row, guesses_[k]);
      if (other != no_block) {
        guesses_[k] = other;
        if (!pairs_.is_mirror(row, k, j, other)) other = no_block;
      }
      f(k, other);
    });
  }

 private:
  const Pairs<T>& pairs_;
  CountedVector<std::uint32_t> guesses_;  ///< for each block of a row
};

/// Calls f(row) for the block rows of a slice.
template <class F>
void each_row(const BlockRows& rows, std::uint64_t slice, F&& f) {
  for (std::uint64_t row = slice * lanes; row < std::min(rows.rows(), (slice + 1) * lanes); ++row) f(row);
}

/// Calls f(number of the block) for the blocks of a step, until that is false. Returns whether it never was.
template <class F>
bool all_of_step(const SliceSteps& steps, const Step& step, const LaneStarts& first, F&& f) {
  const std::uint32_t* entry = steps.entries().data() + step.first;
  for (std::uint32_t mask = step.mask; mask != 0; mask &= mask - 1, ++entry) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    if (!f(first[lane] + *entry)) return false;
  }
  return true;
}

/// The number of each lane's first block.
LaneStarts first_blocks(const BlockRows& rows, std::uint64_t slice) {
  LaneStarts first = lane_starts(rows, slice, 0);
  for (std::uint64_t& f : first) f = rows.number(f);
  return first;
}

/// Makes one plan: f(slice, its steps, or null if it has no pattern) for all slices of a task.
template <class F>
void each_slice_of_task(const BlockRows& rows, std::span<const SliceGroups> groups, std::uint64_t task, F&& f) {
  RecentSlices<std::optional<SliceSteps>> recent(rows, false);
  for (std::uint64_t s = task * slices_per_task;
       s < std::min<std::uint64_t>(groups.size(), (task + 1) * slices_per_task); ++s) {
    if (groups[s].of[0] == 0) {
      f(s, nullptr);
      continue;
    }
    f(s, &*recent(s, [&](std::optional<SliceSteps>& known) {
        if (!known) known.emplace(rows);
        known->arrange_pattern(s, false, ~std::uint64_t{0});
      }));
  }
}

/// Finds the mirrors of a slice, and gives its other blocks slots: those of a step one slot, which slices with the same
/// pattern can then name by steps, or each the next of its row, if that takes far fewer. Returns their number.
template <class T>
std::uint64_t assign_slots(MirrorSearch<T>& search, const BlockRows& rows, std::uint64_t s, const SliceSteps* steps,
                           const SliceGroups& groups, std::uint16_t* references) {
  const auto own = [](std::uint64_t slot) {
    return static_cast<std::uint16_t>(Reference::own(static_cast<std::uint32_t>(slot)).bits);
  };
  std::uint64_t of_longest = 0;
  each_row(rows, s, [&](std::uint64_t row) {
    std::uint64_t n = 0;
    std::uint16_t* const mine = references + rows.first_block(row);
    std::uint32_t k = search(row, [&](std::uint32_t i, std::uint32_t other) {
      mine[i] = other == no_block ? own(n++) : mark_mirror(other);
    });
    for (; k < rows.length(row); ++k) mine[k] = own(n++);
    of_longest = std::max(of_longest, n);
  });
  if (steps == nullptr || of_longest > max_slots) return of_longest;
  const LaneStarts first = first_blocks(rows, s);
  const auto has_own = [&](const Step& step) {
    return !all_of_step(*steps, step, first, [&](std::uint64_t b) { return Reference{references[b]}.is_mirror(); });
  };
  const auto by_steps =
      static_cast<std::uint64_t>(std::count_if(steps->steps().begin(), steps->steps().end(), has_own));
  const std::uint64_t more_bytes = (by_steps - of_longest) * slot_values(rows.block()) * sizeof(T);
  if (!slots_by_steps(by_steps, more_bytes, groups.total() * group_steps * lanes)) return of_longest;
  std::uint64_t slot = 0;
  for (const Step& step : steps->steps()) {
    bool any = false;
    all_of_step(*steps, step, first, [&](std::uint64_t b) {
      const bool is_mirror = Reference{references[b]}.is_mirror();
      if (!is_mirror) references[b] = own(slot);
      any = any || !is_mirror;
      return true;
    });
    slot += any ? 1 : 0;
  }
  return by_steps;
}

/// Patterns with references: the place of the steps in the dictionary that there was, and a reference of each.
using ReferenceLists = std::unordered_map<std::string, std::uint32_t>;

std::string references_of(std::uint32_t place, std::uint32_t groups, std::span<const std::uint16_t> references) {
  std::string list(8 + references.size_bytes(), '\0');
  std::memcpy(list.data(), &place, 4);
  std::memcpy(list.data() + 4, &groups, 4);
  if (!references.empty()) std::memcpy(list.data() + 8, references.data(), references.size_bytes());
  return list;
}

struct Task {
  ReferenceLists lists;
  std::vector<const std::string*> in_order;
  CountedVector<std::uint32_t> list_of_slice;
  CountedVector<std::uint16_t> of_steps;  ///< of the slice at hand
  std::uint64_t mirrored = 0, by_steps = 0;
  MemoryReservation counted;  ///< of the lists
};

/// Names the slots of a slice's mirrors, and decides how wide its references are.
template <class T>
void refer(const Pairs<T>& pairs, const BlockRows& rows, std::uint64_t s, const SliceSteps* steps,
           std::span<const Slice> slices, std::span<const SliceGroups> groups, Mirrors& m, Task& task) {
  std::uint32_t most = m.slots[s] == 0 ? 0 : Reference::own(m.slots[s] - 1).bits;
  std::uint64_t mirrored = 0;
  each_row(rows, s, [&](std::uint64_t row) {
    std::uint16_t* const mine = m.references.data() + rows.first_block(row);
    pairs.each_left(row, [&](std::uint32_t k, std::uint32_t j) {
      if (!Reference{mine[k]}.is_mirror()) return;
      std::uint32_t other = Reference{mine[k]}.slot();
      if (other == far) other = pairs.find(j, row, no_block);
      mine[k] = static_cast<std::uint16_t>(m.references[rows.first_block(j) + other] + 1U);
      most = std::max<std::uint32_t>(most, mine[k]);
      ++mirrored;
    });
  });
  CountedVector<std::uint16_t>& of_steps = task.of_steps;
  of_steps.clear();
  if (steps != nullptr) {
    const LaneStarts first = first_blocks(rows, s);
    for (const Step& step : steps->steps()) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(step.mask));
      const std::uint16_t reference = m.references[first[lane] + steps->entries()[step.first]];
      if (!all_of_step(*steps, step, first, [&](std::uint64_t b) { return m.references[b] == reference; })) break;
      of_steps.push_back(reference);
    }
  }
  const bool by_steps = steps != nullptr && of_steps.size() == steps->steps().size();
  if (!by_steps) of_steps.clear();
  of_steps.resize(std::size_t{groups[s].of[0]} * group_steps);
  m.reference_bytes[s] = by_steps || groups[s].total() == 0 ? 0 : most <= 0xFF ? 1 : 2;
  const auto [at, is_new] = task.lists.try_emplace(references_of(slices[s].pattern, groups[s].of[0], of_steps),
                                                   static_cast<std::uint32_t>(task.in_order.size()));
  if (is_new) {
    constexpr std::uint64_t node = sizeof(*at) + 4 * sizeof(void*);  // with its bucket and its place in in_order
    task.counted.grow(node + at->first.size());
    task.in_order.push_back(&at->first);
  }
  task.list_of_slice.push_back(at->second);
  task.mirrored += mirrored;
  task.by_steps += by_steps ? mirrored : 0;
}

/// The dictionary of all tasks' lists, in their order.
bool make_dictionary(CountedVector<Task>& tasks, std::span<const Group> patterns, Mirrors& m) {
  ReferenceLists lists;
  CountedVector<std::uint32_t> places;
  for (Task& task : tasks) {
    CountedVector<std::uint32_t> number;
    for (const std::string* const list : task.in_order) {
      const auto [at, is_new] = lists.try_emplace(*list, static_cast<std::uint32_t>(places.size()));
      number.push_back(at->second);
      if (!is_new) continue;
      std::uint32_t from = 0, groups = 0;
      std::memcpy(&from, list->data(), 4);
      std::memcpy(&groups, list->data() + 4, 4);
      if (m.patterns.size() + groups > max_patterns) return false;
      places.push_back(groups == 0 ? 0 : static_cast<std::uint32_t>(m.patterns.size()));
      m.lists += groups == 0 ? 0 : 1;
      if (groups == 0) continue;
      m.patterns.insert(m.patterns.end(), patterns.begin() + from, patterns.begin() + from + groups);
      m.step_references.resize(m.patterns.size() * group_steps);
      std::memcpy(m.step_references.data() + std::size_t{places.back()} * group_steps, list->data() + 8,
                  list->size() - 8);
    }
    for (const std::uint32_t list : task.list_of_slice) m.place.push_back(places[number[list]]);
    m.mirrored += task.mirrored;
    m.by_steps += task.by_steps;
    task = {};
  }
  return true;
}

}  // namespace

std::uint64_t Mirrors::bytes(std::span<const SliceGroups> groups, std::uint32_t block, std::size_t value_size) const {
  std::uint64_t sum =
      groups.size() * sizeof(Slice) + patterns.size() * sizeof(Group) + step_references.size() * sizeof(std::uint16_t);
  for (std::size_t s = 0; s < groups.size(); ++s)
    sum += stream_layout(groups[s], reference_bytes[s]).end * unit + slots[s] * slot_values(block) * value_size;
  return sum;
}

MirrorSample sample_mirrors(const BlockRows& rows, Source source) {
  MirrorSample of;
  dispatch(rows.matrix().value_type(), [&]<class T>(T) {
    const Pairs<T> pairs(rows, source);
    MirrorSearch<T> search(pairs);
    for (std::uint64_t s = rows.slices() / 2 % slices_per_sample; s < rows.slices(); s += slices_per_sample) {
      of.blocks += rows.blocks(s);
      each_row(rows, s, [&](std::uint64_t row) {
        search(row, [&](std::uint32_t, std::uint32_t other) { of.mirrors += other != no_block ? 1 : 0; });
      });
    }
  });
  return of;
}

std::optional<Mirrors> plan_mirrors(const BlockRows& rows, Source source, std::span<const Slice> slices,
                                    std::span<const SliceGroups> groups, std::span<const Group> patterns, int threads) {
  Mirrors m;
  m.references.resize(rows.matrix().nnz() / rows.block() / rows.block());
  m.slots.resize(slices.size());
  m.reference_bytes.resize(slices.size());
  CountedVector<Task> tasks(div_up(slices.size(), slices_per_task));
  std::atomic<bool> given_up{false};
  dispatch(rows.matrix().value_type(), [&]<class T>(T) {
    const Pairs<T> pairs(rows, source);
    parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
      if (given_up) return;
      MirrorSearch<T> search(pairs);
      each_slice_of_task(rows, groups, t, [&](std::uint64_t s, const SliceSteps* steps) {
        const std::uint64_t n = assign_slots(search, rows, s, steps, groups[s], m.references.data());
        if (n > max_slots) given_up = true;
        m.slots[s] = static_cast<std::uint32_t>(n);
      });
    });
    if (given_up) return;
    parallel_for(tasks.size(), threads, [&](std::uint64_t t) {
      each_slice_of_task(rows, groups, t, [&](std::uint64_t s, const SliceSteps* steps) {
        refer(pairs, rows, s, steps, slices, groups, m, tasks[t]);
      });
    });
  });
  if (given_up || !make_dictionary(tasks, patterns, m) || m.mirrored == 0) return {};
  return m;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
