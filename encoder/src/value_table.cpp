#include "spmvpack/encoder/value_table.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "count_table.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/shared_bits.hpp"

namespace spmvpack::encoder {
namespace {

constexpr std::uint64_t samples = std::uint64_t{1} << 20;
constexpr std::size_t max_candidates = 4096;
constexpr std::uint64_t piece = std::uint64_t{1} << 16;  // values between two checks of what the other threads found

template <class T>
using KeyOf = typename ValueTraits<T>::Key;

bool more_frequent(const ValueCount& a, const ValueCount& b) {
  return a.count != b.count ? a.count > b.count : a.bits < b.bits;
}

/// Keeps the `k` most frequent entries, most frequent first.
void keep_most_frequent(std::vector<ValueCount>& entries, std::size_t k) {
  k = std::min(k, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(k), entries.end(), more_frequent);
  entries.resize(k);
}

/// How many workers are worth a table each.
std::uint64_t worker_count(std::uint64_t n, int threads) {
  return std::min(static_cast<std::uint64_t>(thread_count(threads)), div_up(n, 4 * piece));
}

/// A hash for bitmaps of 1 MiB.
constexpr int short_hash_bits = 23;
constexpr std::uint64_t short_hashes = std::uint64_t{1} << short_hash_bits;
template <class T>
std::uint64_t short_hash(T value) {
  return hash_of_key(value_bits(value)) >> (64 - short_hash_bits);
}

/// Whether few values suffice to see that there are more than max_distinct different ones, as is usual if they do not
/// repeat: each hash that occurs belongs to at least one of them.
template <class T>
bool clearly_exceeds(const T* values, std::uint64_t n, int threads) {
  constexpr std::uint64_t looked_at = 2 * ValueTable::max_distinct;
  if (n <= ValueTable::max_distinct) return false;
  SharedBits hashes(short_hashes);
  parallel_items(std::min(n, looked_at), piece, threads, [&](std::uint64_t i) { hashes.set(short_hash(values[i])); });
  return hashes.count() > ValueTable::max_distinct;
}

/// Counts all values, or stops somewhere beyond ValueTable::max_distinct of them.
template <class T>
CountTable<KeyOf<T>> count_all(const T* values, std::uint64_t n, int threads) {
  std::vector<CountTable<KeyOf<T>>> tables(std::max<std::uint64_t>(worker_count(n, threads), 1));
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> exceeded{false};
  parallel_for(tables.size(), threads, [&](std::uint64_t worker) {
    auto& table = tables[worker];
    for (std::uint64_t begin = 0; !exceeded && (begin = piece * next++) < n;) {
      table.add(values + begin, std::min(piece, n - begin));
      if (table.size() > ValueTable::max_distinct) exceeded = true;
    }
  });
  const auto largest =
      std::max_element(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::swap(tables.front(), *largest);
  for (std::size_t i = 1; i < tables.size(); ++i) tables.front().merge(tables[i], ValueTable::max_distinct);
  return std::move(tables.front());
}

/// Values that are frequent in a sample of entries, as described at ValueTable::most_frequent().
template <class T>
std::vector<ValueCount> find_candidates(const T* values, std::uint64_t n, int threads) {
  Array<T> sample(samples);
  SharedBits seen(short_hashes), repeated(short_hashes);
  parallel_pieces(samples, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t stretch = n / samples, rest = n % samples;
    for (std::uint64_t i = begin; i < end; ++i) {
      // Not at a fixed stride, which might share the period of a stencil's values.
      const std::uint64_t jitter = (hash_of_key(i) >> 20) % stretch;
      sample[i] = values[i * stretch + i * rest / samples + jitter];
      if (const std::uint64_t hash = short_hash(sample[i]); !seen.set(hash)) repeated.set(hash);
    }
  });
  // A candidate is in the sample twice. Most of what is not stays out of the table, which would be large.
  std::uint64_t counted = 0;
  for (const T value : sample)
    if (repeated.test(short_hash(value))) sample[counted++] = value;
  CountTable<KeyOf<T>> table;
  table.add(sample.data(), counted);
  std::vector<ValueCount> candidates = table.entries(2);
  keep_most_frequent(candidates, max_candidates);
  return candidates;
}

/// Replaces the candidates' counts with exact ones.
template <class T>
void count_candidates(std::vector<ValueCount>& candidates, const T* values, std::uint64_t n, int threads) {
  CountTable<KeyOf<T>> ranks;  // 1, 2, ... for the candidates, 0 for everything else
  for (std::size_t i = 0; i < candidates.size(); ++i) ranks.add(static_cast<KeyOf<T>>(candidates[i].bits), i + 1);
  // Few values are candidates; a bitmap of 64 KiB rejects nearly all others.
  constexpr int bitmap_shift = 64 - 19;
  std::vector<std::uint64_t> bitmap((std::size_t{1} << 19) / 64);
  for (const ValueCount& candidate : candidates) {
    const std::uint64_t bit = hash_of_key(static_cast<KeyOf<T>>(candidate.bits)) >> bitmap_shift;
    bitmap[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  for (ValueCount& candidate : candidates) candidate.count = 0;
  std::mutex guard;
  parallel_pieces(n, 16 * piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> counts(candidates.size() + 1);
    for (std::uint64_t i = begin; i < end; ++i) {
      const KeyOf<T> bits = value_bits(values[i]);
      const std::uint64_t bit = hash_of_key(bits) >> bitmap_shift;
      if ((bitmap[bit / 64] >> bit % 64 & 1) != 0) ++counts[ranks.find(bits)];
    }
    const std::lock_guard lock(guard);
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].count += counts[i + 1];
  });
}

}  // namespace

std::shared_ptr<const ValueTable> ValueTable::count(const CsrView& a, int threads, bool estimate) {
  std::shared_ptr<ValueTable> result(new ValueTable);
  dispatch_any(a.value_type(), [&](auto zero) {
    const auto* values = a.values<decltype(zero)>();
    if (clearly_exceeds(values, a.nnz(), threads)) {
      result->distinct_ = max_distinct + 1;
    } else {
      const auto table = count_all(values, a.nnz(), threads);
      result->distinct_ = std::min(table.size(), max_distinct + 1);
      if (!result->exceeds()) result->most_frequent_ = table.entries();
    }
    if (result->exceeds() && estimate) {
      result->most_frequent_ = find_candidates(values, a.nnz(), threads);
      count_candidates(result->most_frequent_, values, a.nnz(), threads);
    }
  });
  keep_most_frequent(result->most_frequent_, max_frequent);
  result->most_frequent_.shrink_to_fit();
  return result;
}

std::shared_ptr<const ValueTable> ValueTable::any() {
  std::shared_ptr<ValueTable> result(new ValueTable);
  result->distinct_ = max_distinct + 1;
  return result;
}

std::shared_ptr<const ValueTable> ValueTable::of_counts(std::uint64_t distinct, std::vector<ValueCount> most_frequent) {
  std::shared_ptr<ValueTable> result(new ValueTable);
  result->distinct_ = distinct;
  result->most_frequent_ = std::move(most_frequent);
  return result;
}

std::vector<ValueKey> ValueTable::frequent_keys() const {
  std::vector<ValueKey> keys;
  for (const ValueCount& v : most_frequent_) keys.push_back(static_cast<ValueKey>(v.bits));
  return keys;
}

std::uint64_t ValueTable::covered(std::size_t k) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < std::min(k, most_frequent_.size()); ++i) sum += most_frequent_[i].count;
  return sum;
}

ValueIds::ValueIds(std::span<const ValueKey> bits) {
  if (bits.size() > ValueTable::max_frequent)
    throw Error(errc::usage, "a lookup table of " + std::to_string(bits.size()) + " values; 256 is the most");
  ids_.fill(-1);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    std::size_t slot = home(bits[i]);
    while (ids_[slot] >= 0 && keys_[slot] != bits[i]) slot = (slot + 1) % slots;
    if (ids_[slot] >= 0) continue;
    keys_[slot] = bits[i];
    ids_[slot] = static_cast<std::int16_t>(i);
  }
}

}  // namespace spmvpack::encoder
