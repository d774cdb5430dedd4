#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// A bitmap in which several threads may set bits at a time, the same ones too.
class SharedBits {
 public:
  explicit SharedBits(std::uint64_t size) : words_(div_up(size, word_bits)) {}

  /// The memory that a bitmap takes.
  static constexpr std::uint64_t bytes(std::uint64_t size) noexcept {
    return div_up(size, word_bits) * sizeof(std::uint64_t);
  }
  /// Whether the bit was not set before; of threads that set it at a time, one gets true.
  bool set(std::uint64_t i) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << i % word_bits;
    const std::atomic_ref<std::uint64_t> word(words_[i / word_bits]);
    // Most bits are set many times: reading leaves the cache line with all threads.
    return (word.load(std::memory_order_relaxed) & bit) == 0 &&
           (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  /// Whether the bit is set, once no thread sets any more.
  [[nodiscard]] bool test(std::uint64_t i) const noexcept { return (words_[i / word_bits] >> i % word_bits & 1) != 0; }

  /// The number of bits that are set, once no thread sets any more.
  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t n = 0;
    for (const std::uint64_t word : words_) n += static_cast<std::uint64_t>(std::popcount(word));
    return n;
  }
  /// Calls f(i) for the bits that are set, in rising order, once no thread sets any more.
  template <class F>
  void each(F&& f) const {
    for (std::uint64_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1)
        f(w * word_bits + static_cast<std::uint64_t>(std::countr_zero(bits)));
  }

 private:
  static constexpr std::uint64_t word_bits = 64;
  CountedVector<std::uint64_t> words_;
};

}  // namespace spmvpack
