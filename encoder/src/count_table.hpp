#pragma once
// A hash table that counts values or indices: open addressing, linear probing, powers of two.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::encoder {

/// Key: ValueTraits<T>::Key of the values, or the indices' type.
template <class Key>
class CountTable {
 public:
  CountTable() : slots_(first_slots, Slot{}), shift_(64 - std::countr_zero(first_slots)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Counts n values.
  template <class T>
  void add(const T* values, std::uint64_t n) {
    // In batches, so that the cache misses of a batch overlap.
    std::array<std::uint64_t, batch> homes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::uint64_t i = 0; i < n; i += batch) {
      const std::uint64_t m = std::min(batch, n - i);
      reserve(size_ + m);
      for (std::uint64_t j = 0; j < m; ++j) {
        homes[j] = hash_of_key(value_bits(values[i + j])) >> shift_;
        __builtin_prefetch(&slots_[homes[j]], 1);
      }
      for (std::uint64_t j = 0; j < m; ++j) add_at(homes[j], value_bits(values[i + j]), 1);
    }
  }

  /// Adds the counts of another table, stopping once there are more than `limit` values.
  void merge(const CountTable& other, std::uint64_t limit) {
    // Reserve first: entries come in hash order and would pile up in a table that grows as they arrive.
    reserve(std::min(size_ + other.size_, limit + 1));
    for (const Slot& entry : other.slots_) {
      if (entry.count == 0) continue;
      if (size_ > limit) return;
      add_at(hash_of_key(entry.bits) >> shift_, entry.bits, entry.count);
    }
  }

  /// Adds `count` to the count of a value.
  void add(Key bits, std::uint64_t count) {
    reserve(size_ + 1);
    add_at(hash_of_key(bits) >> shift_, bits, count);
  }

  /// Makes `count`, which is not 0, the count of a value.
  void set(Key bits, std::uint64_t count) {
    reserve(size_ + 1);
    Slot& entry = slots_[probe(bits)];
    size_ += entry.count == 0;
    entry = {bits, count};
  }

  /// The count of a value; 0 if it has none.
  [[nodiscard]] std::uint64_t find(Key bits) const noexcept { return slots_[probe(bits)].count; }

  /// The values with a count of at least `least`, in no particular order.
  [[nodiscard]] std::vector<ValueCount> entries(std::uint64_t least = 1) const {
    std::vector<ValueCount> found;
    for (const Slot& entry : slots_)
      if (entry.count >= least) found.push_back({entry.bits, entry.count});
    return found;
  }

 private:
  struct Slot {
    Key bits = 0;
    std::uint64_t count = 0;
  };
  static constexpr std::uint64_t first_slots = 4096, batch = 32;

  /// The slot that holds or would hold a value, searched from its home on.
  [[nodiscard]] std::uint64_t probe(Key bits, std::uint64_t slot) const noexcept {
    while (slots_[slot].bits != bits && slots_[slot].count != 0) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  [[nodiscard]] std::uint64_t probe(Key bits) const noexcept { return probe(bits, hash_of_key(bits) >> shift_); }
  void add_at(std::uint64_t home, Key bits, std::uint64_t count) noexcept {
    Slot& entry = slots_[probe(bits, home)];
    size_ += entry.count == 0;
    entry.bits = bits;
    entry.count += count;
  }
  /// Makes room for `entries` at a load of at most 5/8.
  void reserve(std::uint64_t entries) {
    if (entries <= slots_.size() / 8 * 5) return;
    // Small tables grow fourfold, so that less is moved; large ones twofold, to stay in the caches.
    const std::uint64_t wanted = entries < 200'000 ? entries * 4 : entries / 5 * 8 + 8;
    const Array<Slot> old = std::exchange(slots_, Array<Slot>(std::bit_ceil(wanted), Slot{}));
    shift_ = 64 - std::countr_zero(slots_.size());
    for (const Slot& entry : old)
      if (entry.count != 0) slots_[probe(entry.bits)] = entry;
  }

  Array<Slot> slots_;
  int shift_;
  std::uint64_t size_ = 0;
};

}  // namespace spmvpack::encoder
