#pragma once
// In which order rows of csr are visited. Each row is added up by itself, so that no sum depends on it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "spmvpack/container/array.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {

/// The rows of each window of neighbouring rows by falling length: where lengths vary, a processor cannot guess where a
/// row ends, and loses the time of some ten entries at most rows.
struct RowOrder final : LayoutState {
  static constexpr std::uint64_t window = 256;
  /// Rows of so many entries or more are long: they are one kind.
  static constexpr std::uint32_t long_row = 24;
  struct Run {
    std::uint8_t length;  ///< at most long_row
    std::uint8_t rows_less_1;
  };

  Array<std::uint8_t> row;         ///< of whole windows: rows in the order of their visits, from the window's first
  Array<Run> runs;                 ///< of rows of one length
  Array<std::uint32_t> first_run;  ///< of each window, and their number. A window without any is visited in order

  [[nodiscard]] std::uint64_t windows() const noexcept { return first_run.size() - 1; }
};

/// How often the length of a row is not what it was after the same four lengths the last time: what a processor that
/// guesses by what it has seen cannot foresee.
class Surprises {
 public:
  std::uint64_t operator()(std::uint32_t length) {
    std::uint8_t& expected = next_[context_ * multiplier >> (32U - log2_places)];
    const bool surprise = expected != length;
    expected = static_cast<std::uint8_t>(length);
    context_ = context_ << 8U | length;
    return surprise ? 1 : 0;
  }

 private:
  static constexpr std::uint32_t multiplier = 0x9E3779B1, log2_places = 14;  // Fibonacci hashing
  std::vector<std::uint8_t> next_ = std::vector<std::uint8_t>(std::size_t{1} << log2_places);
  std::uint32_t context_ = 0;
};

/// Null where rows in their own order are no slower: where lengths can be foreseen, rows are long, or so few that a
/// processor remembers where each ends.
template <class Pointer>
std::unique_ptr<const RowOrder> order_of(std::span<const Pointer> row_ptr, int threads) {
  constexpr std::uint64_t window = RowOrder::window, windows_per_task = 256, few_rows = 24'000;
  constexpr std::uint64_t few_surprises = window / 2, few_entries = 10 * window;
  if (row_ptr.size() <= few_rows) return nullptr;
  const std::uint64_t windows = (row_ptr.size() - 1) / window;
  const auto length = [&](std::uint64_t r) {
    return static_cast<std::uint32_t>(std::min<Pointer>(row_ptr[r + 1] - row_ptr[r], RowOrder::long_row));
  };
  using Counts = std::array<std::uint16_t, RowOrder::long_row + 1>;
  const auto count = [&](std::uint64_t w) {
    Counts rows{};
    for (std::uint64_t r = w * window; r < (w + 1) * window; ++r) ++rows[length(r)];
    return rows;
  };
  Array<std::uint32_t> first_run(windows + 1);
  parallel_pieces(windows, windows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    Surprises surprises;
    for (std::uint64_t w = begin; w < end; ++w) {
      std::uint64_t surprising = 0;
      for (std::uint64_t r = w * window; r < (w + 1) * window; ++r) surprising += surprises(length(r));
      first_run[w + 1] = 0;
      if (surprising <= few_surprises || row_ptr[(w + 1) * window] - row_ptr[w * window] >= few_entries) continue;
      for (const std::uint16_t rows : count(w)) first_run[w + 1] += rows != 0 ? 1 : 0;
    }
  });
  first_run[0] = 0;
  std::partial_sum(first_run.begin(), first_run.end(), first_run.begin());
  if (first_run[windows] == 0) return nullptr;
  auto order = std::make_unique<RowOrder>();
  order->row = Array<std::uint8_t>(windows * window);
  order->runs = Array<RowOrder::Run>(first_run[windows]);
  parallel_pieces(windows, windows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t w = begin; w < end; ++w) {
      if (first_run[w] == first_run[w + 1]) continue;
      Counts rows = count(w);
      RowOrder::Run* run = order->runs.data() + first_run[w];
      std::uint16_t at = 0;
      for (std::size_t n = rows.size(); n-- > 0;) {
        const std::uint16_t of_length = rows[n];
        if (of_length != 0) *run++ = {static_cast<std::uint8_t>(n), static_cast<std::uint8_t>(of_length - 1)};
        rows[n] = at;
        at = static_cast<std::uint16_t>(at + of_length);
      }
      for (std::uint64_t r = 0; r < window; ++r)
        order->row[w * window + rows[length(w * window + r)]++] = static_cast<std::uint8_t>(r);
    }
  });
  order->first_run = std::move(first_run);
  return order;
}

}  // namespace spmvpack::host_loader::layouts
