#pragma once
/// Random numbers by hashing: number k does not need those before it, so that any row can be made alone.

#include <cstdint>

namespace spmvpack::generators {

/// The output function of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers give unrelated ones.
constexpr std::uint64_t hash(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// A table of random numbers, indexed by key. Only integer arithmetic and exact operations: the same on every machine.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : base_(seed * 0xD1342543DE82EF95) {}
  /// A table of its own for this key, unrelated to this one and to those of other keys.
  [[nodiscard]] constexpr Random at(std::uint64_t key) const noexcept {
    Random table(0);
    table.base_ = bits(key);
    return table;
  }
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t key) const noexcept { return hash(base_ + key); }
  /// A multiple of 2^-53 in [0, 1).
  [[nodiscard]] constexpr double uniform(std::uint64_t key) const noexcept {
    return static_cast<double>(bits(key) >> 11) * 0x1p-53;
  }
  /// A number in [0, n).
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t key, std::uint64_t n) const noexcept {
    return bits(key) % n;
  }

 private:
  std::uint64_t base_;
};

}  // namespace spmvpack::generators
