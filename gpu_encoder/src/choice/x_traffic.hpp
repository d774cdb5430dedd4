#pragma once
// What the gathers of a multiply load of x, counted by passes as encoder's x_traffic.cpp counts it: the same model, and
// the same numbers.
//
// Where rows, or entries, have caches of their own, a warp has one of them in shared memory, with a set of distinct
// lines or the sets of the cache. Long groups, and caches that are larger, are simulated set by set: a sort that keeps
// the order of entries brings those of each set together.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "execution/warp.hpp"
#include "memory.hpp"
#include "spmvpack/encoder/x_traffic.hpp"
#include "spmvpack/encoding_rules/x_cache.hpp"

namespace spmvpack::gpu_encoder::x_traffic {

using encoder::x_cache::no_line;
using encoder::x_cache::Sample;
using encoder::x_cache::set_of;

struct alignas(16) CacheSet {
  static constexpr std::uint64_t ways = encoder::x_cache::ways;
  std::uint32_t line[ways];

  /// Whether it was not there.
  SPMVPACK_HOST_DEVICE bool misses(std::uint32_t wanted) { return encoder::x_cache::touch(line, wanted) != wanted; }
};
static_assert(sizeof(CacheSet) == 16);
SPMVPACK_HOST_DEVICE constexpr CacheSet empty_set() { return {{no_line, no_line, no_line, no_line}}; }

/// Which entries share a cache: those of so many rows, or so many entries; all if there are no more.
struct Groups {
  Csr a;
  int shift;  ///< from a column to its line
  bool are_rows;
  std::uint64_t size, count;

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t begin(std::uint64_t group) const {
    const std::uint64_t all = are_rows ? a.rows : a.nnz, first = group * size < all ? group * size : all;
    return are_rows ? a.row_ptr(first) : first;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t entries(std::uint64_t group) const {
    return begin(group + 1) - begin(group);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t line(std::uint64_t k) const { return a.col_idx[k] >> shift; }
  /// The line of entry k, or no_line if it is that of the entry before: which is then the most recent one.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t new_line(std::uint64_t k, std::uint64_t first) const {
    const std::uint32_t own = line(k);
    return k != first && line(k - 1) == own ? no_line : own;
  }
};

/// The cache of each group, and who has which groups.
struct Caches {
  std::uint64_t lines;  ///< of x
  std::uint64_t sets;
  bool fits;             ///< x fits: each line is loaded once
  std::uint64_t most;    ///< entries of a group that one warp has
  std::uint64_t hashed;  ///< slots of a warp's hash table

  [[nodiscard]] SPMVPACK_HOST_DEVICE bool are_distinct(std::uint64_t entries) const {
    return fits || entries <= sets * CacheSet::ways;
  }
};

/// The lines of 256 entries of a group, or of those that are left; no_line for others.
template <class Warp>
struct LinesOfGroup {
  static constexpr unsigned together = 8;                         ///< loads of a lane that are on their way at once
  typename Warp::template PerLane<std::uint32_t> line[together];  // NOLINT(*-avoid-c-arrays): for kernels

  SPMVPACK_HOST_DEVICE void load(Warp& w, const Groups& groups, std::uint64_t k, std::uint64_t first,
                                 std::uint64_t end) {
    w.each([&](unsigned lane) {
      unrolled<together>([&](unsigned i) {
        const std::uint64_t at = k + i * warp_lanes + lane;
        line[i][lane] = at < end ? groups.new_line(at, first) : no_line;
      });
    });
  }
};

/// A warp counts the distinct lines of a group that does not fill its cache: by bits if all lines have some, or by a
/// hash table.
struct CountDistinct {
  Groups groups;
  Caches caches;
  Sample sample;
  std::uint64_t* loaded;  ///< by groups that are not large, and by those that are

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t g, Warp& w) const {
    const std::uint64_t first = groups.begin(g), n = groups.entries(g), end = first + sample.simulated(n);
    if (n == 0 || end - first > caches.most || !caches.are_distinct(n) || !sample.takes(g, n)) return;
    auto* const words = w.template own<std::uint32_t>();
    const std::uint32_t empty = caches.fits ? 0 : no_line;
    w.meet();
    w.share(caches.fits ? (caches.lines + 31) / 32 : caches.hashed, [&](std::uint64_t i) { words[i] = empty; });
    w.meet();
    typename Warp::template PerLane<std::uint64_t> found;
    w.each([&](unsigned lane) { found[lane] = 0; });
    using Lines = LinesOfGroup<Warp>;
    Lines lines;
    for (std::uint64_t k = first; k < end; k += Lines::together * warp_lanes) {
      lines.load(w, groups, k, first, end);
      w.each([&](unsigned lane) {
        unrolled<Lines::together>([&](unsigned i) {
          const std::uint32_t line = lines.line[i][lane];
          if (line != no_line) found[lane] += (caches.fits ? marks(words, line) : adds(words, line)) ? 1 : 0;
        });
      });
    }
    const std::uint64_t all = w.sum([&](unsigned lane) { return found[lane]; });
    w.once([&] { atomic_add(loaded + (sample.is_large(n) ? 1 : 0), all); });
  }

 private:
  SPMVPACK_HOST_DEVICE static bool marks(std::uint32_t* words, std::uint32_t line) {
    const std::uint32_t bit = std::uint32_t{1} << (line % 32);
    return (words[line / 32] & bit) == 0 && (atomic_or(words + line / 32, bit) & bit) == 0;
  }
  SPMVPACK_HOST_DEVICE bool adds(std::uint32_t* words, std::uint32_t line) const {
    for (std::uint64_t slot = set_of(line, caches.hashed);; slot = slot + 1 == caches.hashed ? 0 : slot + 1) {
      std::uint32_t there = words[slot];
      if (there == no_line) there = atomic_exchange_if(words + slot, no_line, line);
      if (there == no_line) return true;
      if (there == line) return false;
    }
  }
};

/// Warps simulate the cache of a group, each some of its sets: all read the group's lines, and those of a warp's own
/// sets wait until there are 32, of which those of different sets are simulated together.
struct Simulate {
  static constexpr std::uint64_t queued = std::uint64_t{1 + LinesOfGroup<HostWarp>::together} * warp_lanes;
  Groups groups;
  Caches caches;
  Sample sample;
  std::uint64_t warps;    ///< of a group
  std::uint64_t* loaded;  ///< by groups that are not large, and by those that are

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t first_set(std::uint64_t part) const {
    return caches.sets * part / warps;
  }
  [[nodiscard]] std::uint64_t near_bytes() const {
    return queued * sizeof(std::uint32_t) + (caches.sets / warps + 1) * sizeof(CacheSet);
  }

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t index, Warp& w) const {
    const std::uint64_t g = index / warps, part = index - g * warps;
    const std::uint64_t first = groups.begin(g), n = groups.entries(g), end = first + sample.simulated(n);
    if (end - first > caches.most || caches.are_distinct(n) || !sample.takes(g, n)) return;
    const std::uint64_t set_begin = first_set(part), own_sets = first_set(part + 1) - set_begin;
    auto* const queue = w.template own<std::uint32_t>();
    auto* const sets = reinterpret_cast<CacheSet*>(queue + queued);
    w.meet();
    w.share(own_sets, [&](std::uint64_t i) { sets[i] = empty_set(); });
    w.meet();
    typename Warp::template PerLane<std::uint64_t> missed;
    w.each([&](unsigned lane) { missed[lane] = 0; });
    using Lines = LinesOfGroup<Warp>;
    Lines lines;
    std::uint32_t waiting = 0;
    for (std::uint64_t k = first; k < end; k += Lines::together * warp_lanes) {
      lines.load(w, groups, k, first, end);
      // All are looked at before any waits, so that no step waits for the one before.
      std::uint32_t mine[Lines::together];  // NOLINT(*-avoid-c-arrays): for kernels
      unrolled<Lines::together>([&](unsigned i) {
        mine[i] = w.where([&](unsigned lane) {
          const std::uint32_t line = lines.line[i][lane];
          return line != no_line && set_of(line, caches.sets) - set_begin < own_sets;
        });
      });
      unrolled<Lines::together>([&](unsigned i) {
        w.each([&](unsigned lane) {
          if ((mine[i] >> lane & 1U) != 0)
            queue[waiting + bits_set(mine[i] & ((1U << lane) - 1))] = lines.line[i][lane];
        });
        waiting += bits_set(mine[i]);
      });
      w.meet();
      std::uint32_t taken = 0;
      for (; waiting - taken >= warp_lanes; taken += warp_lanes)
        take(w, queue + taken, warp_lanes, set_begin, sets, missed);
      if (taken == 0) continue;
      waiting -= taken;
      w.each([&](unsigned lane) {
        if (lane < waiting) queue[lane] = queue[taken + lane];
      });
      w.meet();
    }
    take(w, queue, waiting, set_begin, sets, missed);
    const std::uint64_t all = w.sum([&](unsigned lane) { return missed[lane]; });
    w.once([&] { atomic_add(loaded + (sample.is_large(n) ? 1 : 0), all); });
  }

 private:
  /// The first `count` lines of a queue.
  template <class Warp>
  SPMVPACK_HOST_DEVICE void take(Warp& w, const std::uint32_t* queue, std::uint32_t count, std::uint64_t set_begin,
                                 CacheSet* sets, typename Warp::template PerLane<std::uint64_t>& missed) const {
    typename Warp::template PerLane<std::uint32_t> line, set, rank;
    w.each([&](unsigned lane) {
      line[lane] = lane < count ? queue[lane] : no_line;
      set[lane] =
          lane < count ? static_cast<std::uint32_t>(set_of(line[lane], caches.sets) - set_begin) : no_line - lane;
    });
    w.rank(set, rank);
    const std::uint32_t last = w.most([&](unsigned lane) { return rank[lane]; });
    for (std::uint32_t turn = 0; turn <= last; ++turn) {
      w.each([&](unsigned lane) {
        if (lane < count && rank[lane] == turn) missed[lane] += sets[set[lane]].misses(line[lane]) ? 1 : 0;
      });
      w.meet();
    }
  }
};

/// Neighbouring groups [first, first + count), with all their entries, or the first entries of one.
struct Stretch {
  std::uint64_t first, count, begin, end;
  bool distinct = false;  ///< their distinct lines are counted
  bool large = false;
};

/// What the groups of a stretch load, by sorting their entries by set: only `most` at a time if there is one group.
template <class Execution>
std::uint64_t lines_by_sorting(const Execution& run, const Groups& groups, const Caches& caches, const Stretch& stretch,
                               std::uint64_t most) {
  const bool distinct = stretch.distinct;
  const std::uint64_t per_group = distinct ? caches.lines : caches.sets, all = stretch.end - stretch.begin;
  most = stretch.count == 1 ? std::min(most, all) : all;
  const bool is_cut = most < all;
  Buffer<CacheSet> kept = run.template allocate<CacheSet>(is_cut ? per_group : 0);
  CacheSet* const state = kept.data();
  run.each(kept.size(), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { state[i] = empty_set(); });
  const Buffer<std::uint64_t> sum = run.template allocate<std::uint64_t>(1);
  run.zero(sum.data(), sum.bytes());
  std::uint64_t* const loaded = sum.data();
  const int key_bits = static_cast<int>(std::bit_width(per_group * stretch.count));
  const Groups g = groups;
  const std::uint64_t sets = caches.sets;
  for (std::uint64_t begin = stretch.begin; begin < stretch.end; begin += most) {
    const std::uint64_t n = std::min(most, stretch.end - begin);
    Buffer<std::uint8_t> flags = run.template allocate<std::uint8_t>(n);
    Buffer<std::uint32_t> places = run.template allocate<std::uint32_t>(n);
    std::uint8_t* const flag = flags.data();
    std::uint32_t* const place = places.data();
    run.each(n, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
      flag[i] = g.new_line(begin + i, stretch.begin) != no_line ? 1 : 0;
    });
    run.each(stretch.count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
      const std::uint64_t first = g.begin(stretch.first + i);
      if (first >= begin && first < begin + n) flag[first - begin] = 1;
    });
    const std::uint64_t count = run.select(flag, n, place);
    Buffer<std::uint64_t> keys = run.template allocate<std::uint64_t>(count);
    Buffer<std::uint32_t> lines = run.template allocate<std::uint32_t>(count);
    std::uint64_t* key = keys.data();
    std::uint32_t* line = lines.data();
    run.each(count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
      const std::uint64_t k = begin + place[i];
      const std::uint64_t group =
          last_at_most(0, stretch.count, k, [&](std::uint64_t j) { return g.begin(stretch.first + j); });
      line[i] = g.line(k);
      key[i] = group * per_group + (distinct ? line[i] : set_of(line[i], sets));
    });
    run.sort_pairs(keys, lines, count, key_bits);
    key = keys.data();
    line = lines.data();
    // What is the same as before it in its set changes nothing.
    run.each(count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
      flag[i] = i == 0 || key[i] != key[i - 1] || line[i] != line[i - 1] ? 1 : 0;
    });
    const std::uint64_t left = run.select(flag, count, place);
    constexpr std::uint64_t of_group = 256;
    run.each_group(div_up(left, of_group), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
      const std::uint64_t last = (i + 1) * of_group < left ? (i + 1) * of_group : left;
      std::uint64_t missed = 0;
      for (std::uint64_t j = i * of_group + group.lane; j < last; j += Group::lanes()) {
        const std::uint64_t own = key[place[j]];
        if (j != 0 && key[place[j - 1]] == own) continue;
        CacheSet set = state == nullptr ? empty_set() : state[own];
        for (std::uint64_t e = j; e < left && key[place[e]] == own; ++e) missed += set.misses(line[place[e]]) ? 1 : 0;
        if (state != nullptr) state[own] = set;
      }
      missed = group.sum(missed);
      if (group.lane == 0 && missed != 0) atomic_add(loaded, missed);
    });
  }
  return run.read(loaded);
}

/// The distinct lines of all entries. Each has a byte, so that threads mark them without regard to one another.
template <class Execution>
std::uint64_t distinct_lines(const Execution& run, const Groups& groups, std::uint64_t lines) {
  constexpr std::uint64_t of_group = 4096;
  const Buffer<std::uint8_t> marks = run.template allocate<std::uint8_t>(lines);
  const Buffer<std::uint64_t> sum = run.template allocate<std::uint64_t>(1);
  run.zero(marks.data(), marks.bytes());
  run.zero(sum.data(), sum.bytes());
  std::uint8_t* const is_used = marks.data();
  std::uint64_t* const used = sum.data();
  run.each(groups.a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) {
    const std::uint32_t line = groups.new_line(k, 0);
    if (line != no_line && is_used[line] == 0) is_used[line] = 1;
  });
  run.each_group(div_up(lines, of_group), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t end = (i + 1) * of_group < lines ? (i + 1) * of_group : lines;
    std::uint64_t here = 0;
    for (std::uint64_t line = i * of_group + group.lane; line < end; line += Group::lanes()) here += is_used[line];
    here = group.sum(here);
    if (group.lane == 0 && here != 0) atomic_add(used, here);
  });
  return run.read(used);
}

/// How groups are counted: by warps, or, if they have too many entries for one, by sorting.
struct Shares {
  encoder::x_cache::SampledGroups entries;
  std::vector<Stretch> sorted;  ///< neighbours of up to `most_sorted` entries each
  std::uint64_t most_sorted = 0;
  std::uint64_t largest_distinct = 0;  ///< of those whose distinct lines warps count
  bool some_simulated = false;         ///< by warps

  /// Adds groups [first, last) of so many entries each, the first of which begins at `begin`.
  void add(const Caches& caches, const Sample& sample, std::uint64_t first, std::uint64_t last, std::uint64_t begin,
           std::uint64_t each) {
    entries.add(sample, first, last, each);
    const bool distinct = caches.are_distinct(each), large = sample.is_large(each);
    const std::uint64_t simulated = sample.simulated(each);
    if (simulated <= caches.most && distinct) largest_distinct = std::max(largest_distinct, each);
    if (simulated <= caches.most && !distinct) some_simulated = true;
    if (simulated <= caches.most) return;
    for (std::uint64_t g = first; g < last; ++g, begin += each) {
      if (!sample.takes(g, each)) continue;
      if (sorted.empty() || sorted.back().first + sorted.back().count != g || sorted.back().end != begin ||
          begin + simulated - sorted.back().begin > most_sorted || distinct != sorted.back().distinct ||
          large != sorted.back().large)
        sorted.push_back({g, 0, begin, begin, distinct, large});
      ++sorted.back().count;
      sorted.back().end = begin + simulated;
    }
  }
};

/// A cache for each group, or for those of a sample with about so many entries.
template <class Execution>
std::uint64_t lines_of_groups(const Execution& run, const Groups& groups, Caches caches, std::uint64_t batch,
                              std::uint64_t simulated_entries) {
  // A hash table of a warp has three slots for two entries, in 48 KiB; sets take less.
  constexpr std::uint64_t most_hashed = 8192;
  const auto slots_for = [](std::uint64_t entries) { return div_up(entries * 3, 2); };
  const auto near_bytes = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(round_up(bytes, 16)); };
  const std::uint64_t bit_bytes = div_up(caches.lines, 32) * sizeof(std::uint32_t);
  // A warp takes the entries of a group in turn. Sorting all takes about as long as a warp for this share of them.
  constexpr std::uint64_t least_sorted = std::uint64_t{1} << 16U, share = 128;
  caches.most = std::max(least_sorted, groups.a.nnz / share);
  if (!caches.fits && caches.sets * CacheSet::ways > most_hashed) caches.most = most_hashed;
  if (caches.fits && bit_bytes > slots_for(most_hashed) * sizeof(std::uint32_t)) caches.most = 0;
  const Sample sample =
      Sample::of(groups.a.nnz, groups.count, simulated_entries, caches.fits ? 0 : caches.sets * CacheSet::ways);
  Shares shares{};
  shares.most_sorted = batch;
  const auto add = [&](std::uint64_t first, std::uint64_t last, std::uint64_t begin, std::uint64_t each) {
    shares.add(caches, sample, first, last, begin, each);
  };
  if (groups.are_rows) {
    const Buffer<std::uint64_t> found = run.template allocate<std::uint64_t>(groups.count + 1);
    std::uint64_t* const begin = found.data();
    const Groups g = groups;
    run.each(groups.count + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { begin[i] = g.begin(i); });
    const std::vector<std::uint64_t> begins = run.read(begin, groups.count + 1);
    for (std::uint64_t i = 0; i < groups.count; ++i) add(i, i + 1, begins[i], begins[i + 1] - begins[i]);
  } else {
    const std::uint64_t last = groups.count - 1, begin = last * groups.size;
    add(0, last, 0, groups.size);
    add(last, groups.count, begin, groups.a.nnz - begin);
  }
  const Buffer<std::uint64_t> sum = run.template allocate<std::uint64_t>(2);
  run.zero(sum.data(), sum.bytes());
  if (shares.largest_distinct != 0) {
    caches.hashed = slots_for(shares.largest_distinct);
    run.each_warp(groups.count, near_bytes(caches.fits ? bit_bytes : caches.hashed * sizeof(std::uint32_t)),
                  CountDistinct{groups, caches, sample, sum.data()});
  }
  if (shares.some_simulated) {
    // As many warps as let each have some entries of an average group, and sets.
    constexpr std::uint64_t entries_of_warp = 4096, most_warps = 8;
    const std::uint64_t average = groups.a.nnz / groups.count;
    const Simulate simulate{groups, caches, sample,
                            std::clamp<std::uint64_t>(std::min(average / entries_of_warp, caches.sets), 1, most_warps),
                            sum.data()};
    run.each_warp(groups.count * simulate.warps, near_bytes(simulate.near_bytes()), simulate);
  }
  std::vector<std::uint64_t> loaded = run.read(sum.data(), 2);
  for (const Stretch& s : shares.sorted) loaded[s.large ? 1 : 0] += lines_by_sorting(run, groups, caches, s, batch);
  return shares.entries.lines(loaded[0], loaded[1]);
}

/// encoder::x_lines_loaded(). Reads the columns once; more often where it sorts.
template <class Execution>
std::uint64_t x_lines_loaded(const Execution& run, const Csr& a, const encoder::XCache& cache) {
  if (a.nnz == 0 || cache.bytes == 0) return a.nnz;
  const std::uint64_t per_line = cache.line_bytes / cache.element_bytes, lines = div_up(a.cols, per_line);
  const std::uint64_t all_sets = div_up(div_up(cache.bytes, cache.line_bytes), CacheSet::ways);
  const bool fits = lines <= all_sets * CacheSet::ways;
  const bool are_rows = cache.entries_per_cache == 0;
  const std::uint64_t size = are_rows ? cache.rows_per_cache : cache.entries_per_cache, all = are_rows ? a.rows : a.nnz;
  const int shift = std::countr_zero(per_line);
  // Sorted at a time: with what is needed for it, fewer bytes than the matrix has.
  constexpr std::uint64_t least = std::uint64_t{1} << 14U, largest = std::uint64_t{1} << 23U;
  const std::uint64_t batch = std::clamp(a.nnz / 4, least, largest);
  if (size != 0 && size < all)
    return lines_of_groups(
        run, {a, shift, are_rows, size, div_up(all, size)},
        {lines, std::min(all_sets, lines), lines <= std::min(all_sets, lines) * CacheSet::ways, 0, 0}, batch,
        cache.simulated_entries);
  const Groups one{a, shift, false, a.nnz, 1};
  return fits ? distinct_lines(run, one, lines)
              : lines_by_sorting(run, one, {lines, all_sets, false, 0, 0}, {0, 1, 0, a.nnz}, batch);
}

}  // namespace spmvpack::gpu_encoder::x_traffic
