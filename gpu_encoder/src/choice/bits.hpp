#pragma once
// A set of numbers below a limit, counted: a bit for each.

#include <cstdint>

#include "execution/group.hpp"
#include "execution/warp.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

/// What passes write to.
struct BitMarks {
  std::uint32_t* words;

  SPMVPACK_HOST_DEVICE void set(std::uint64_t i) const {
    const std::uint32_t bit = std::uint32_t{1} << (i % 32);
    // What is near may be out of date: without a second look, each multiprocessor would set each bit many times.
    if ((words[i / 32] & bit) == 0 && (newest(words + i / 32) & bit) == 0) atomic_or(words + i / 32, bit);
  }
};

template <class Execution>
class BitSet {
 public:
  BitSet(const Execution& run, std::uint64_t limit)
      : run_(run), words_(run.template allocate<std::uint32_t>(div_up(limit, std::uint64_t{32}))) {
    run_.zero(words_.data(), words_.bytes());
  }
  [[nodiscard]] BitMarks marks() const { return {words_.data()}; }
  [[nodiscard]] std::uint64_t count() const {
    const Buffer<std::uint64_t> sum = run_.template allocate<std::uint64_t>(1);
    run_.zero(sum.data(), sum.bytes());
    const std::uint32_t* const words = words_.data();
    std::uint64_t* const all = sum.data();
    const std::uint64_t size = words_.size();
    constexpr std::uint64_t words_of_group = 1024;
    run_.each_group(div_up(size, words_of_group), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
      const std::uint64_t end = (i + 1) * words_of_group < size ? (i + 1) * words_of_group : size;
      std::uint64_t here = 0;
      for (std::uint64_t w = i * words_of_group + group.lane; w < end; w += Group::lanes()) here += bits_set(words[w]);
      here = group.sum(here);
      if (group.lane == 0 && here != 0) atomic_add(all, here);
    });
    return run_.read(all);
  }

 private:
  const Execution& run_;
  Buffer<std::uint32_t> words_;
};

}  // namespace spmvpack::gpu_encoder
