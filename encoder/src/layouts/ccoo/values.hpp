#pragma once
// ccoo: which values its table has.

#include <cstdint>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::encoder::layouts {

/// Which entries have no id in a table: one bit per entry, or no bits if every entry has an id.
class RawEntries {
 public:
  /// Without `any_raw`, it is known that all have one.
  RawEntries(const CsrView& a, const ValueIds& ids, bool any_raw, int threads) {
    if (!any_raw) return;
    words_ = Array<std::uint64_t>(div_up(a.nnz(), 64));
    constexpr std::uint64_t entries_per_task = 1U << 18;
    dispatch(a.value_type(), [&]<class T>(T) {
      const T* const values = a.values<T>();
      parallel_pieces(a.nnz(), entries_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; i += 64) {
          std::uint64_t word = 0;
          const std::uint64_t n = std::min<std::uint64_t>(64, end - i);
          for (std::uint64_t j = 0; j < n; ++j) word |= std::uint64_t{ids.find(value_bits(values[i + j])) < 0} << j;
          words_[i / 64] = word;
        }
      });
    });
  }

  /// Whether any of the entries [begin, end) has no id. The range is not empty.
  [[nodiscard]] bool any(std::uint64_t begin, std::uint64_t end) const noexcept {
    if (words_.empty()) return false;
    const std::uint64_t first = begin / 64, last = (end - 1) / 64;
    const std::uint64_t low = ~std::uint64_t{0} << (begin % 64), high = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    if (first == last) return (words_[first] & low & high) != 0;
    if ((words_[first] & low) != 0 || (words_[last] & high) != 0) return true;
    for (std::uint64_t w = first + 1; w < last; ++w)
      if (words_[w] != 0) return true;
    return false;
  }

 private:
  Array<std::uint64_t> words_;
};

}  // namespace spmvpack::encoder::layouts
