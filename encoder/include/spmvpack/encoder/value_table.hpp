#pragma once
/// The distinct values of a matrix, compared by their bits: -0 and 0 differ, and so do NaNs with different payloads.

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder {

/// The key of a value: its bits, padded with zeros where the key has more.
template <class T>
constexpr typename ValueTraits<T>::Key value_bits(T value) noexcept {
  return std::bit_cast<bits_of<T>>(value);
}
/// The value with that key.
template <class T, class Key>
constexpr T value_of_bits(Key key) noexcept {
  return std::bit_cast<T>(static_cast<bits_of<T>>(key));
}

/// A hash of a key, whose upper bits are well mixed.
template <class Key>
constexpr std::uint64_t hash_of_key(Key key) noexcept {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
  auto word = static_cast<std::uint64_t>(key);
  if constexpr (sizeof(Key) > sizeof word) word = word * factor ^ static_cast<std::uint64_t>(key >> 64);
  return (word ^ (word >> 32)) * factor;  // the fold: round numbers differ in the high half only
}

struct ValueCount {
  WideKey bits = 0;         ///< value_bits() of the value
  std::uint64_t count = 0;  ///< entries with this value
  bool operator==(const ValueCount&) const = default;
};

/// How many distinct values a matrix has, and which of them are most frequent.
class SPMVPACK_EXPORT ValueTable {
 public:
  static constexpr std::uint64_t max_distinct = std::uint64_t{1} << 20;
  static constexpr std::size_t max_frequent = 256;

  /// Counts the values of `a`. O(nnz), parallel; the result does not depend on the number of threads. Without
  /// `estimate`, most_frequent() is empty if exceeds().
  static std::shared_ptr<const ValueTable> count(const CsrView& a, int threads = 0, bool estimate = true);

  /// For a matrix whose values may become any: it exceeds(), and no value is frequent.
  static std::shared_ptr<const ValueTable> any();

  /// A table that has been counted elsewhere, for distinct() and most_frequent() to return.
  static std::shared_ptr<const ValueTable> of_counts(std::uint64_t distinct, std::vector<ValueCount> most_frequent);

  /// True if there are more than max_distinct distinct values.
  [[nodiscard]] bool exceeds() const noexcept { return distinct_ > max_distinct; }
  /// The number of distinct values, or max_distinct + 1 if exceeds().
  [[nodiscard]] std::uint64_t distinct() const noexcept { return distinct_; }
  /// Up to max_frequent values, most frequent first; ties go to the smaller bits. The counts are exact. If exceeds(),
  /// these are the most frequent of up to 4,096 candidates: the values that occur most often, and at least twice, among
  /// 2^20 sampled entries (one at a hashed place in each of 2^20 equal stretches).
  [[nodiscard]] std::span<const ValueCount> most_frequent() const noexcept { return most_frequent_; }
  /// The keys of these, of real values.
  [[nodiscard]] std::vector<ValueKey> frequent_keys() const;
  /// Entries whose value is one of the first `k` of most_frequent().
  [[nodiscard]] std::uint64_t covered(std::size_t k) const noexcept;

 private:
  ValueTable() = default;

  std::uint64_t distinct_ = 0;
  std::vector<ValueCount> most_frequent_;
};

/// Maps a value's bits to its index in a list of at most 256 values. Immutable, 10 KiB.
class SPMVPACK_EXPORT ValueIds {
 public:
  /// If values are equal, the first counts. Error(errc::usage) if there are more than 256.
  explicit ValueIds(std::span<const ValueKey> bits);

  /// The index of the value with these bits, or -1.
  [[nodiscard]] int find(ValueKey bits) const noexcept {
    std::size_t slot = home(bits);
    // An empty slot has key 0 and id -1, so a match with its key is harmless.
    while (keys_[slot] != bits && ids_[slot] >= 0) slot = (slot + 1) % slots;
    return ids_[slot];
  }

 private:
  static constexpr std::size_t slots = 1024;
  static constexpr std::size_t home(ValueKey bits) noexcept {
    return static_cast<std::size_t>(hash_of_key(bits) >> 54);
  }
  static_assert(std::uint64_t{1} << (64 - 54) == slots);

  std::array<ValueKey, slots> keys_{};
  std::array<std::int16_t, slots> ids_{};
};

}  // namespace spmvpack::encoder
