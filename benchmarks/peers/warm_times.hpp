#pragma once
/// What the programs share that measure our multiplies and other libraries': a matrix with vectors in a file, and warm
/// times. None of our libraries: a second OpenMP in a process would disturb the one that is measured.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace spmvpack::peers {

/// Sections of a file begin at multiples of this many bytes.
inline constexpr std::size_t section_alignment = 64;
constexpr std::size_t section_bytes(std::size_t bytes) {
  return (bytes + section_alignment - 1) / section_alignment * section_alignment;
}

/// A matrix in CSR, x, what A x is, and how far from it a sum may be, row by row. The file: rows, columns and nonzeros
/// (u64), then the arrays in the order of the members, each a section.
class Arrays {
 public:
  explicit Arrays(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) throw std::runtime_error("cannot open " + path);
    size_ = static_cast<std::size_t>(status.st_size);
    // Private and in place from the start: what is measured are reads of memory. MKL takes arrays that are not const.
    void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_POPULATE, file, 0);
    ::close(file);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    next_ = static_cast<std::byte*>(at);
    const auto* const counts = take<std::uint64_t>(3);
    rows = counts[0];
    cols = counts[1];
    nnz = counts[2];
    row_ptr = take<std::uint32_t>(rows + 1);
    col_idx = take<std::uint32_t>(nnz);
    values = take<double>(nnz);
    x = take<double>(cols);
    expected = take<double>(rows);
    bound = take<double>(rows);
  }

  std::uint64_t rows = 0, cols = 0, nnz = 0;
  std::uint32_t *row_ptr = nullptr, *col_idx = nullptr;
  double *values = nullptr, *x = nullptr, *expected = nullptr, *bound = nullptr;

  /// X of so many columns, row-major: column j is x times factor_of(j).
  [[nodiscard]] std::vector<double> columns_of_x(std::uint64_t columns) const {
    std::vector<double> all(cols * columns);
    for (std::uint64_t i = 0; i < cols; ++i)
      for (std::uint64_t j = 0; j < columns; ++j) all[i * columns + j] = x[i] * factor_of(j);
    return all;
  }
  [[nodiscard]] bool is_right(const std::vector<double>& y, std::uint64_t columns) const {
    for (std::uint64_t r = 0; r < rows; ++r)
      for (std::uint64_t j = 0; j < columns; ++j)
        if (!(std::fabs(y[r * columns + j] / factor_of(j) - expected[r]) <= bound[r])) return false;
    return true;
  }

 private:
  /// A power of two, which scales results without rounding.
  static double factor_of(std::uint64_t column) { return static_cast<double>(std::uint64_t{1} << column % 8); }

  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = section_bytes(count * sizeof(T));
    if (bytes > size_) throw std::runtime_error("the file of arrays ends early");
    size_ -= bytes;
    auto* const section = reinterpret_cast<T*>(next_);
    next_ += bytes;
    return section;
  }

  std::byte* next_ = nullptr;
  std::size_t size_ = 0;
};

struct Times {
  double median_us = 0, fifth_percentile_us = 0;
  std::size_t runs = 0;
  bool right = false;  ///< y, after the runs

  [[nodiscard]] std::string json() const {
    return "\"us\": " + std::to_string(median_us) +
           ", \"fifth_percentile_us\": " + std::to_string(fifth_percentile_us) + ", \"runs\": " + std::to_string(runs) +
           ", \"right\": " + (right ? "true" : "false");
  }
};

/// Times of multiply(y), back to back for so many seconds, after a third as many that are not counted. y: so many
/// columns, row-major.
template <class Multiply>
Times warm_times(const Arrays& a, std::uint64_t columns, double seconds, Multiply&& multiply) {
  using Clock = std::chrono::steady_clock;
  constexpr double micro = 1e6, uncounted = 1.0 / 3;
  constexpr std::size_t least_runs = 7, percent_5 = 20;
  std::vector<double> y(a.rows * columns, std::numeric_limits<double>::quiet_NaN()), times;
  const auto until = [](double limit) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit));
  };
  const auto warm = until(seconds * uncounted);
  do multiply(y.data());
  while (Clock::now() < warm);
  const auto end = until(seconds);
  for (auto last = Clock::now(); times.size() < least_runs || last < end;) {
    const auto start = Clock::now();
    multiply(y.data());
    last = Clock::now();
    times.push_back(std::chrono::duration<double>(last - start).count() * micro);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() / percent_5], times.size(), a.is_right(y, columns)};
}

}  // namespace spmvpack::peers
