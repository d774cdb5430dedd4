#pragma once
// A matrix of more than 2^31 nonzeros that is made on a GPU: a 27-point grid of n x n x n points, with values in f32.

#include <cstdint>

#if defined(__CUDACC__)
#define LARGE_GRID_FUNCTION __host__ __device__
#else
#define LARGE_GRID_FUNCTION
#endif

namespace spmvpack::test {

struct LargeGrid {
  std::uint64_t n = 0;

  /// Neighbours along one axis, the point itself among them: of point i, and of all before it.
  [[nodiscard]] LARGE_GRID_FUNCTION std::uint64_t neighbours(std::uint64_t i) const {
    return 3 - (i == 0 ? 1 : 0) - (i + 1 == n ? 1 : 0);
  }
  [[nodiscard]] LARGE_GRID_FUNCTION std::uint64_t before(std::uint64_t i) const {
    return i == 0 ? 0 : i == n ? 3 * n - 2 : 3 * i - 1;
  }
  [[nodiscard]] LARGE_GRID_FUNCTION std::uint64_t rows() const { return n * n * n; }
  [[nodiscard]] LARGE_GRID_FUNCTION std::uint64_t nonzeros() const { return before(n) * before(n) * before(n); }
  /// Entries in the rows before this one.
  [[nodiscard]] LARGE_GRID_FUNCTION std::uint64_t row_ptr(std::uint64_t row) const {
    if (row == rows()) return nonzeros();
    const std::uint64_t x = row % n, y = row / n % n, z = row / n / n, all = before(n);
    return before(z) * all * all + neighbours(z) * (before(y) * all + neighbours(y) * before(x));
  }
  /// Calls f(entry, column) for each entry of a row, in order.
  template <class F>
  LARGE_GRID_FUNCTION void each_entry(std::uint64_t row, F&& f) const {
    const std::uint64_t x = row % n, y = row / n % n, z = row / n / n;
    std::uint64_t entry = row_ptr(row);
    for (std::uint64_t k = z == 0 ? 0 : z - 1; k <= z + 1 && k < n; ++k)
      for (std::uint64_t j = y == 0 ? 0 : y - 1; j <= y + 1 && j < n; ++j)
        for (std::uint64_t i = x == 0 ? 0 : x - 1; i <= x + 1 && i < n; ++i) f(entry++, (k * n + j) * n + i);
  }
  /// The value of an entry, and in other places an element of x: from -1 to 1, exact in f32.
  [[nodiscard]] static LARGE_GRID_FUNCTION float value(std::uint64_t entry) {
    std::uint64_t h = entry * 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 29U)) * 0xBF58476D1CE4E5B9ULL;
    return static_cast<float>(static_cast<std::int64_t>(h >> 40U) - (std::int64_t{1} << 23U)) * (1.0F / (1U << 23U));
  }
  [[nodiscard]] static LARGE_GRID_FUNCTION double x(std::uint64_t column) {
    return value(column + (std::uint64_t{1} << 40U));
  }
};

/// Writes the matrix and x to device memory, and waits for it. False: CUDA reports an error.
bool make_large_grid(const LargeGrid& grid, std::uint64_t* row_ptr, std::uint32_t* col_idx, float* values, double* x);

}  // namespace spmvpack::test
