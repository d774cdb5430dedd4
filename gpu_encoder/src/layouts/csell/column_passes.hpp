#pragma once
// The passes of columns.hpp.

#include <cstdint>

#include "execution/group.hpp"
#include "layouts/csell/steps.hpp"
#include "memory.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::gpu_encoder::csell {

namespace rules = encoder::layouts::csell_plans;

/// Of a slice with offsets.
struct OffsetKinds {
  std::uint32_t of[3];    ///< steps whose columns take 8, 16 and 32 bits  NOLINT(*-avoid-c-arrays): for kernels
  std::uint32_t windows;  ///< 1: columns are cut into windows
};

/// What is left over of a kind joins the next wider one where that has room in its last group.
struct Widened {
  std::uint32_t kept[2];   ///< of 8 bits; and of 16, after those of 8 that join them  NOLINT(*-avoid-c-arrays)
  std::uint32_t steps[3];  ///< of each kind, then  NOLINT(*-avoid-c-arrays)
  SPMVPACK_HOST_DEVICE explicit Widened(const OffsetKinds& kinds) : steps{kinds.of[0], kinds.of[1], kinds.of[2]} {
    for (int kind = 0; kind < 2; ++kind) {
      const std::uint32_t over = steps[kind] % group_steps, room = group_steps - steps[kind + 1] % group_steps;
      const bool joins = over != 0 && room != group_steps && over <= room;
      kept[kind] = steps[kind] - (joins ? over : 0);
      steps[kind + 1] += steps[kind] - kept[kind];
      steps[kind] = kept[kind];
    }
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE SliceGroups groups() const {
    const auto of = [](std::uint32_t n) { return n / group_steps + (n % group_steps == 0 ? 0 : 1); };
    return {{0, of(steps[0]), of(steps[1]), of(steps[2])}};
  }
};

/// What is known of each slice, in device memory.
struct SlicePlans {
  std::uint32_t* steps = nullptr;   ///< of its pattern; no_steps: it has offsets
  OffsetKinds* kinds = nullptr;     ///< of those with offsets
  std::uint32_t* uneven = nullptr;  ///< steps that some lanes lack
  std::uint32_t* width = nullptr;   ///< blocks of the longest row
  std::uint32_t* owner = nullptr;   ///< the first slice with the same steps
  std::uint64_t* place = nullptr;   ///< of an owner: its first group of the dictionary

  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has_pattern(std::uint64_t s) const { return steps[s] != no_steps; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE SliceGroups groups(std::uint64_t s) const {
    if (!has_pattern(s)) return Widened(kinds[s]).groups();
    return {{steps[s] / group_steps + (steps[s] % group_steps == 0 ? 0 : 1), 0, 0, 0}};
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool is_owner(std::uint64_t s) const { return has_pattern(s) && owner[s] == s; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t first_group(std::uint64_t s) const {
    return !has_pattern(s) || steps[s] == 0 ? 0 : static_cast<std::uint32_t>(place[owner[s]]);
  }
};

/// Of all slices, added up on the device.
struct SliceSums {
  std::uint64_t groups[4];  // NOLINT(*-avoid-c-arrays): for kernels
  std::uint64_t longest, heaviest_offsets, uneven_steps, lists, in_patterns, dictionary_groups;
  std::uint64_t units;         ///< of the stream, without ids
  std::uint64_t raw_units;     ///< of the values, one by one
  std::uint64_t unused[2];     ///< slots without an entry: of slices with a pattern, and of others  NOLINT
  std::uint64_t not_patterns;  ///< slices that are not is_pattern()
  std::uint64_t collisions;    ///< slices whose hash is that of another list
};

SPMVPACK_HOST_DEVICE inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
  hash = (hash ^ word) * factor;
  return hash ^ hash >> 29U;
}

/// Of a slice without a pattern: it comes last, and no list has it.
inline constexpr std::uint64_t no_hash = ~std::uint64_t{0};

/// Finds the steps of a slice's pattern.
template <class Key>
struct FindPattern {
  Rows rows;
  SlicePlans plans;
  bool by_value;
  std::uint64_t seed, hash_mask;
  std::uint64_t* hashes;
  std::uint32_t* slices;
  std::uint32_t* found;  ///< [0]: whether a slice has a pattern, [1]: whether one has none

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    SliceLanes<Warp> at(w, rows, s);
    const std::uint32_t width = w.most([&](unsigned lane) { return at.length[lane]; });
    const std::uint64_t most = rules::most_pattern_steps(rows.blocks(s), by_value);
    std::uint64_t hash = seed;
    std::uint32_t uneven = 0, n = no_steps;
    if (width <= most) {
      at.fetch_columns(w, rows, s);
      n = each_pattern_step<Key>(w, rows, at, s, by_value, most, [&](std::uint32_t base, std::uint32_t mask) {
        hash = mixed(hash, base | std::uint64_t{mask} << 32U);
        uneven += ~mask != 0 ? 1 : 0;
        if (!by_value) return;
        const unsigned first = lowest_bit(mask);
        const std::uint64_t taken = w.of_lane(at.taken, first) * std::uint64_t{rows.block};
        for (std::uint32_t r = 0; r < rows.block; ++r) {
          const std::uint64_t row = rows.begin(s * lanes + first, r) + taken;
          for (std::uint32_t c = 0; c < rows.block; ++c) hash = mixed(hash, rows.values[row + c]);
        }
      });
    }
    hash &= hash_mask;
    if (hash == no_hash) hash = 0;
    w.once([&] {
      plans.steps[s] = n;
      plans.uneven[s] = n == no_steps ? 0 : uneven;
      plans.width[s] = width;
      hashes[s] = n == no_steps ? no_hash : hash;
      slices[s] = static_cast<std::uint32_t>(s);
      std::uint32_t* const flag = found + (n == no_steps ? 1 : 0);
      if (*flag == 0) *flag = 1;
    });
  }
};

/// Finds how a slice without a pattern stores its columns.
struct FindOffsets {
  Rows rows;
  SlicePlans plans;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    if (plans.has_pattern(s)) return;
    std::uint32_t uneven = 0;
    OffsetKinds kinds = count(w, s, false, ~std::uint64_t{0}, uneven);
    if (kinds.of[2] != 0) {
      // Entries far apart may take fewer bytes in steps of their own.
      std::uint32_t uneven_of_windows = 0;
      const std::uint64_t units = units_of(kinds);
      const OffsetKinds in_windows = count(w, s, true, units, uneven_of_windows);
      if (in_windows.windows != 0 && units_of(in_windows) < units) {
        kinds = in_windows;
        uneven = uneven_of_windows;
      }
    }
    w.once([&] {
      plans.kinds[s] = kinds;
      plans.uneven[s] = uneven;
    });
  }

 private:
  SPMVPACK_HOST_DEVICE static std::uint64_t units_of(const OffsetKinds& kinds) {
    return stream_layout(Widened(kinds).groups(), 0).end;
  }
  /// windows: 0, and some of the steps, if they take `most` units and more, as far as later steps do not matter.
  template <class Warp>
  SPMVPACK_HOST_DEVICE OffsetKinds count(Warp& w, std::uint64_t s, bool windows, std::uint64_t most,
                                         std::uint32_t& uneven) const {
    SliceLanes<Warp> at(w, rows, s);
    OffsetKinds kinds{{0, 0, 0}, windows ? 1U : 0U};
    const auto goes_on = [&] {
      // Further steps only add to full groups of narrow steps, and to all groups of wider ones.
      const std::uint32_t wide = kinds.of[1] / group_steps + (kinds.of[1] % group_steps == 0 ? 0 : 1);
      if (!windows || stream_layout({{0, kinds.of[0] / group_steps, wide, 0}}, false, 0).end < most) return true;
      kinds.windows = 0;
      return false;
    };
    each_stretch(w, rows, at, windows, [&](std::uint32_t mask, std::uint32_t n) {
      if (~mask != 0) uneven += n;
      if ((mask & (mask - 1)) == 0) {  // the rest of the only row that is left, as after the few long ones of a graph
        kinds.of[0] += n;
        return goes_on();
      }
      for (std::uint32_t first = 0; first < n; first += warp_lanes) {
        const StretchSteps<Warp> steps(w, rows, at, mask, first, n);
        for (std::uint32_t kind = 0; kind < 3; ++kind)
          kinds.of[kind] += bits_set(w.where([&](unsigned lane) { return steps.kind[lane] == kind; }));
      }
      return goes_on();
    });
    return kinds;
  }
};

/// Of slices in the order of their hashes: which is the first with its hash.
struct MarkRuns {
  const std::uint64_t* hashes;
  std::uint32_t* is_first;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    is_first[i] = hashes[i] != no_hash && (i == 0 || hashes[i] != hashes[i - 1]) ? 1 : 0;
  }
};
/// first_of_run[number of the run] = its first slice.
struct NoteFirst {
  const std::uint32_t *is_first, *runs_before, *slices;
  std::uint32_t* first_of_run;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    if (is_first[i] != 0) first_of_run[runs_before[i]] = slices[i];
  }
};
/// The owner of each slice, and whether an earlier slice of its task has the same owner.
struct NoteOwner {
  const std::uint64_t* hashes;
  const std::uint32_t *is_first, *runs_before, *slices, *first_of_run;
  std::uint32_t* owner;
  std::uint8_t* is_new_in_task;  ///< null: not asked for
  std::uint64_t slices_per_task;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    if (hashes[i] == no_hash) return;
    const std::uint32_t s = slices[i];
    owner[s] = first_of_run[runs_before[i] + is_first[i] - 1];
    if (is_new_in_task != nullptr)
      is_new_in_task[s] = is_first[i] != 0 || slices[i - 1] / slices_per_task != s / slices_per_task ? 1 : 0;
  }
};

/// Compares each slice with the owner of its list, entry by entry: a hash proves nothing.
struct CompareWithOwner {
  Rows rows;
  SlicePlans plans;
  bool by_value;
  SliceSums* sums;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    if (!plans.has_pattern(s) || plans.owner[s] == s) return;
    const std::uint64_t other = plans.owner[s];
    const SliceLanes<Warp> mine(w, rows, s), its(w, rows, other);
    bool same = ~w.where([&](unsigned lane) { return mine.length[lane] == its.length[lane]; }) == 0;
    if (same) {
      const std::uint64_t first = rows.slice_begin(s), from = rows.slice_begin(other);
      const auto shift = static_cast<std::uint32_t>((s - other) * lanes * rows.block);
      same = w.all(rows.slice_begin(s + 1) - first, [&](std::uint64_t k) {
        return rows.a.col_idx[first + k] - rows.a.col_idx[from + k] == shift &&
               (!by_value || rows.values[first + k] == rows.values[from + k]);
      });
    }
    if (!same) w.once([&] { atomic_add(&sums->collisions, std::uint64_t{1}); });
  }
};

/// The groups of each list, at its owner.
struct CountGroups {
  SlicePlans plans;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const {
    plans.place[s] = plans.is_owner(s) ? plans.groups(s).of[0] : 0;
  }
};

/// Adds up a stretch of slices: each lane has some that are neighbours.
struct AddUp {
  static constexpr std::uint64_t slices_of_lane = rules::neighbouring_slices, stretch = slices_of_lane * warp_lanes;
  Rows rows;
  SlicePlans plans;
  std::uint64_t block_bytes;
  SliceSums* sums;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i, Warp& w) const {
    typename Warp::template PerLane<SliceSums> of;
    w.each([&](unsigned lane) {
      SliceSums& sum = of[lane];
      sum = {};
      const std::uint64_t first = i * stretch + lane * slices_of_lane, all = rows.slices(),
                          end = first + slices_of_lane < all ? first + slices_of_lane : all;
      for (std::uint64_t s = first; s < end; ++s) add(s, sum);
    });
    const auto add_to = [&](std::uint64_t SliceSums::*sum) {
      const std::uint64_t all = w.sum([&](unsigned lane) { return of[lane].*sum; });
      if (all != 0) w.once([&] { atomic_add(&(sums->*sum), all); });
    };
    const auto raise = [&](std::uint64_t SliceSums::*most) {
      const std::uint64_t all = w.most([&](unsigned lane) { return of[lane].*most; });
      if (all != 0) w.once([&] { atomic_max(&(sums->*most), all); });
    };
    const auto add_element = [&](std::uint64_t* to, auto&& element) {
      const std::uint64_t all = w.sum(element);
      if (all != 0) w.once([&] { atomic_add(to, all); });
    };
    for (int kind = 0; kind < 4; ++kind)
      add_element(&sums->groups[kind], [&](unsigned lane) { return of[lane].groups[kind]; });
    for (int kind = 0; kind < 2; ++kind)
      add_element(&sums->unused[kind], [&](unsigned lane) { return of[lane].unused[kind]; });
    raise(&SliceSums::longest);
    raise(&SliceSums::heaviest_offsets);
    add_to(&SliceSums::uneven_steps);
    add_to(&SliceSums::lists);
    add_to(&SliceSums::in_patterns);
    add_to(&SliceSums::dictionary_groups);
    add_to(&SliceSums::units);
    add_to(&SliceSums::raw_units);
    add_to(&SliceSums::not_patterns);
  }

 private:
  SPMVPACK_HOST_DEVICE void add(std::uint64_t s, SliceSums& sum) const {
    const SliceGroups groups = plans.groups(s);
    for (int kind = 0; kind < 4; ++kind) sum.groups[kind] += groups.of[kind];
    const std::uint64_t total = groups.total(), blocks = rows.blocks(s);
    sum.longest = total > sum.longest ? total : sum.longest;
    sum.heaviest_offsets += total - groups.of[0];
    sum.uneven_steps += plans.uneven[s];
    sum.in_patterns += plans.has_pattern(s) ? 1 : 0;
    if (plans.is_owner(s)) {
      ++sum.lists;
      sum.dictionary_groups += groups.of[0];
    }
    sum.units += stream_layout(groups, 0).end;
    sum.raw_units += (blocks * block_bytes + unit - 1) / unit;
    sum.unused[groups.of[0] != 0 ? 0 : 1] += (total * group_steps * lanes - blocks) * rows.block * rows.block;
    sum.not_patterns += groups.counts() <= 0xFF ? 0 : 1;
  }
};

/// Whether values in the steps of a task's slices are worth it, as rules::StepFacts says.
struct WeighSteps {
  Rows rows;
  SlicePlans plans;
  const std::uint8_t* is_new_in_task;
  std::uint64_t slices_per_task, block_bytes;
  std::uint32_t* not_worth;

  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t task) const {
    const std::uint64_t all = rows.slices(),
                        end = (task + 1) * slices_per_task < all ? (task + 1) * slices_per_task : all;
    rules::StepFacts facts{};
    facts.block_bytes = block_bytes;
    for (std::uint64_t s = task * slices_per_task; s < end; ++s) {
      facts.blocks += rows.blocks(s);
      facts.steps += plans.steps[s];
      facts.width += plans.width[s];
      if (is_new_in_task[s] != 0) facts.list_bytes += plans.steps[s] * (2 * sizeof(std::uint32_t) + block_bytes);
    }
    if (!rules::worth_values_in_steps(facts)) *not_worth = 1;
  }
};

/// Writes the lists of their owners to the dictionary, with the values of steps if there are any.
template <class Key>
struct WritePattern {
  Rows rows;
  SlicePlans plans;
  bool by_value;
  Group* patterns;
  void* step_values;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s, Warp& w) const {
    if (!plans.is_owner(s)) return;
    SliceLanes<Warp> at(w, rows, s);
    Group* const groups = patterns + plans.place[s];
    const std::uint64_t first_step = plans.place[s] * group_steps;
    const std::uint32_t block_values = rows.block * rows.block;
    std::uint32_t n = 0;
    each_pattern_step<Key>(w, rows, at, s, by_value, no_steps - 1, [&](std::uint32_t base, std::uint32_t mask) {
      w.once([&] {
        groups[n / group_steps].base[n % group_steps] = base;
        groups[n / group_steps].mask[n % group_steps] = mask;
      });
      if (by_value) {
        const unsigned first = lowest_bit(mask);
        const std::uint64_t taken = w.of_lane(at.taken, first) * std::uint64_t{rows.block};
        w.share(block_values, [&](std::uint64_t e) {
          const auto element = static_cast<std::uint32_t>(e);
          put_word(step_values, rows.values.size, (first_step + n) * block_values + e,
                   rows.values[rows.begin(s * lanes + first, element / rows.block) + taken + element % rows.block]);
        });
      }
      ++n;
    });
    // What fills the last group up.
    w.once([&] {
      for (; n % group_steps != 0; ++n) {
        groups[n / group_steps].base[n % group_steps] = groups[n / group_steps].mask[n % group_steps] = 0;
        if (!by_value) continue;
        for (std::uint32_t e = 0; e < block_values; ++e)
          put_word(step_values, rows.values.size, (first_step + n) * block_values + e, 0);
      }
    });
  }
};

}  // namespace spmvpack::gpu_encoder::csell
