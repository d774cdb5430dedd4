#include "spmvpack/encoder/x_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/shared_bits.hpp"
#include "spmvpack/encoding_rules/x_cache.hpp"

namespace spmvpack::encoder {
namespace {

using x_cache::ways;
constexpr std::uint64_t entries_per_piece = std::uint64_t{1} << 18, rows_per_piece = 1024;
constexpr std::uint64_t max_per_line = std::uint64_t{1} << 16;

/// Two caches that saw consecutive stretches of one sequence combine
/// exactly to the cache that saw all of it: only the first lines of a set depend on what came before.
class Cache {
 public:
  static constexpr std::uint32_t none = x_cache::no_line;

  explicit Cache(std::uint64_t sets) : sets_(sets), tags_(sets * ways, none) {}

  [[nodiscard]] std::uint64_t sets() const { return sets_; }

  void clear() {
    std::fill(tags_.begin(), tags_.end(), none);
    first_.clear();
  }

  /// The misses of consecutive entries.
  std::uint64_t run(const std::uint32_t* columns, const std::uint32_t* end, int shift) {
    std::uint64_t misses = 0;
    std::uint32_t last = none;
    for (; columns != end; ++columns) {
      const std::uint32_t line = *columns >> shift;
      if (line == last) continue;
      last = line;
      const std::uint32_t evicted = touch(line);
      misses += evicted != line ? 1 : 0;
      if (evicted == none) first_.push_back(line);
    }
    return misses;
  }

  /// Becomes the cache after its own stretch and then that of `next`. The misses of `next` that are none, because
  /// this stretch has loaded the line.
  std::uint64_t append(const Cache& next) {
    std::uint64_t hits = 0;
    for (const std::uint32_t line : next.first_) hits += touch(line) == line ? 1 : 0;
    for (std::uint64_t set = 0; set < sets_; ++set) {
      std::uint32_t* mine = &tags_[set * ways];
      const std::uint32_t* newer = &next.tags_[set * ways];
      // Repeated uses in `next` have ordered its lines anew; what it has not used stays behind them.
      std::array<std::uint32_t, ways> merged{};
      std::uint64_t count = 0;
      while (count < ways && newer[count] != none) merged.at(count) = newer[count], ++count;
      const auto* const newer_end = newer + count;
      for (std::uint64_t i = 0; i < ways && count < ways; ++i)
        if (std::find(newer, newer_end, mine[i]) == newer_end) merged.at(count++) = mine[i];
      std::copy(merged.begin(), merged.end(), mine);
    }
    return hits;
  }

 private:
  std::uint32_t touch(std::uint32_t line) { return x_cache::touch(&tags_[x_cache::set_of(line, sets_) * ways], line); }

  std::uint64_t sets_;
  Array<std::uint32_t> tags_;
  CountedVector<std::uint32_t> first_;  // the lines that found room in their set, in order
};

/// The distinct lines of all entries.
std::uint64_t distinct_lines(const CsrView& a, std::uint64_t lines, int shift, int threads) {
  SharedBits used(lines);
  parallel_pieces(a.nnz(), entries_per_piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint32_t last = Cache::none;
    for (std::uint64_t k = begin; k < end; ++k) {
      const std::uint32_t line = a.col_idx()[k] >> shift;
      if (line == last) continue;
      last = line;
      used.set(line);
    }
  });
  return used.count();
}

/// One cache for all entries, which as many stretches as threads simulate and then combine.
std::uint64_t lines_of_one_cache(const CsrView& a, std::uint64_t sets, int shift, int threads) {
  // Stretches that are much longer than the cache: combining them takes less time than they do.
  const std::uint64_t most = std::max<std::uint64_t>(a.nnz() / (4 * ways * sets), 1);
  const std::uint64_t stretches = std::min(static_cast<std::uint64_t>(thread_count(threads)), most);
  const std::uint64_t length = div_up(a.nnz(), stretches);
  std::vector<Cache> caches;
  std::vector<std::uint64_t> misses(stretches);
  for (std::uint64_t i = 0; i < stretches; ++i) caches.emplace_back(sets);
  parallel_for(stretches, threads, [&](std::uint64_t i) {
    const std::uint64_t begin = std::min(i * length, a.nnz()), end = std::min(begin + length, a.nnz());
    misses[i] = caches[i].run(a.col_idx() + begin, a.col_idx() + end, shift);
  });
  for (std::uint64_t i = 1; i < stretches; ++i) misses[0] += misses[i] - caches[0].append(caches[i]);
  return misses[0];
}

/// What has a cache of its own: so many rows, or entries, of all that there are; 0: all of them.
struct Groups {
  bool are_rows;
  std::uint64_t size, all;
};
Groups groups_of(const XCache& cache, const CsrView& a) {
  return cache.entries_per_cache == 0 ? Groups{true, cache.rows_per_cache, a.rows()}
                                      : Groups{false, cache.entries_per_cache, a.nnz()};
}

/// A cache for each group of rows, or of entries. A group of fewer entries than the cache has lines fills none: its
/// distinct lines are counted, exactly, and without a cache to empty.
std::uint64_t lines_of_many_caches(const CsrView& a, const Groups& of, std::uint64_t lines, std::uint64_t sets,
                                   int shift, std::uint64_t simulated_entries, int threads) {
  struct Scratch {
    Array<std::uint32_t> seen;  // the group that touched a line last, plus one; there are less than 2^32 of them
    CountedVector<std::uint32_t> sorted;  // lines of a group
    Cache cache{0};
  };
  const bool few_entries = a.nnz() < lines / 64;  // a table of all lines would be larger than the matrix
  std::vector<Scratch> scratch(static_cast<std::size_t>(thread_count(threads)));
  const std::uint64_t groups = div_up(of.all, of.size);
  const std::uint64_t groups_per_task = div_up(of.are_rows ? rows_per_piece : entries_per_piece, of.size);
  const auto first_entry = [&](std::uint64_t group) {
    const std::uint64_t first = std::min(group * of.size, of.all);
    return of.are_rows ? a.row_ptr(first) : first;
  };
  const bool fits = lines <= sets * ways;
  const x_cache::Sample sample = x_cache::Sample::of(a.nnz(), groups, simulated_entries, fits ? 0 : sets * ways);
  std::mutex adding;
  x_cache::SampledGroups entries;
  std::uint64_t of_regular = 0, of_large = 0;
  parallel_for(div_up(groups, groups_per_task), threads, [&](std::uint64_t task, std::uint64_t worker) {
    Scratch& mine = scratch[worker];
    std::uint64_t regular = 0, large = 0;
    x_cache::SampledGroups sampled;
    for (std::uint64_t g = task * groups_per_task; g < std::min((task + 1) * groups_per_task, groups); ++g) {
      const std::uint32_t* column = a.col_idx() + first_entry(g);
      const std::uint64_t n = first_entry(g + 1) - first_entry(g);
      const std::uint32_t* const end = column + sample.simulated(n);
      sampled.add(sample, g, g + 1, n);
      if (!sample.takes(g, n)) continue;
      std::uint64_t& count = sample.is_large(n) ? large : regular;
      if (!fits && n > sets * ways) {
        if (mine.cache.sets() == 0) mine.cache = Cache(sets);
        mine.cache.clear();
        count += mine.cache.run(column, end, shift);
      } else if (few_entries) {
        mine.sorted.resize(static_cast<std::size_t>(end - column));
        std::transform(column, end, mine.sorted.begin(), [shift](std::uint32_t c) { return c >> shift; });
        std::sort(mine.sorted.begin(), mine.sorted.end());
        count += static_cast<std::uint64_t>(std::unique(mine.sorted.begin(), mine.sorted.end()) - mine.sorted.begin());
      } else {
        if (mine.seen.empty()) mine.seen = Array<std::uint32_t>(lines, 0);
        const auto mark = static_cast<std::uint32_t>(g + 1);
        for (; column != end; ++column) count += std::exchange(mine.seen[*column >> shift], mark) != mark ? 1 : 0;
      }
    }
    const std::lock_guard lock(adding);
    of_regular += regular;
    of_large += large;
    entries += sampled;
  });
  return entries.lines(of_regular, of_large);
}

}  // namespace

std::uint64_t x_lines_loaded(const CsrView& a, const XCache& cache, int threads) {
  const std::uint64_t per_line = cache.element_bytes == 0 ? 0 : cache.line_bytes / cache.element_bytes;
  if (!std::has_single_bit(per_line) || per_line * cache.element_bytes != cache.line_bytes || per_line > max_per_line)
    throw Error(errc::usage,
                fmt::format("a line of {} bytes for elements of {}", cache.line_bytes, cache.element_bytes), {},
                "give a line that is a power of two of elements");
  if (cache.simulated_entries == 0) throw Error(errc::usage, "a sample of no entries");
  if (a.nnz() == 0 || cache.bytes == 0) return a.nnz();
  const int shift = std::countr_zero(per_line);
  const std::uint64_t lines = div_up(a.cols(), per_line);
  const std::uint64_t sets = div_up(div_up(cache.bytes, cache.line_bytes), ways);
  const Groups groups = groups_of(cache, a);
  if (groups.size != 0 && groups.size < groups.all)
    return lines_of_many_caches(a, groups, lines, std::min(sets, lines), shift, cache.simulated_entries, threads);
  return lines <= sets * ways ? distinct_lines(a, lines, shift, threads) : lines_of_one_cache(a, sets, shift, threads);
}

}  // namespace spmvpack::encoder
