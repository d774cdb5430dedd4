#include "spmvpack/analyzer/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <mutex>
#include <span>
#include <utility>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/shared_bits.hpp"

namespace spmvpack::analyzer {
namespace {

constexpr std::uint64_t rows_per_task = 1024, entries_per_task = std::uint64_t{1} << 18;

RowLengths row_lengths(const CsrView& a) {
  RowLengths result;
  if (a.rows() == 0) return result;
  // Nearly all rows are short: they are counted by length, and the others sorted.
  CountedVector<std::uint64_t> count(65'536), long_rows;
  for (std::uint64_t i = 0; i < a.rows(); ++i) {
    const std::uint64_t length = a.row_length(i);
    const auto bin = static_cast<std::size_t>(std::bit_width(length));
    if (bin >= result.histogram.size()) result.histogram.resize(bin + 1);
    ++result.histogram[bin];
    if (length < count.size())
      ++count[length];
    else
      long_rows.push_back(length);
  }
  std::sort(long_rows.begin(), long_rows.end());
  /// The length of the row at 0-based `rank` when rows are ordered by length.
  const auto at = [&](std::uint64_t rank) {
    for (std::uint64_t length = 0; length < count.size(); ++length) {
      if (rank < count[length]) return length;
      rank -= count[length];
    }
    return long_rows[rank];
  };
  result.min = at(0);
  result.max = at(a.rows() - 1);
  const auto add_relative = [&](std::uint64_t length, std::uint64_t rows) {
    const std::uint64_t bin = length == 0 ? 0 : div_up(length * result.relative.size(), result.max) - 1;
    result.relative.at(bin) += rows;
  };
  for (std::uint64_t length = 0; length < count.size(); ++length)
    if (count[length] != 0) add_relative(length, count[length]);
  for (const std::uint64_t length : long_rows) add_relative(length, 1);
  result.mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows());
  for (std::size_t i = 0; i < RowLengths::ranks.size(); ++i)
    result.percentiles[i] = at(div_up(a.rows() * static_cast<std::uint64_t>(RowLengths::ranks[i]), 100) - 1);
  return result;
}

template <class T>
bool same(T a, T b) {
  return a == b || encoder::value_bits(a) == encoder::value_bits(b);
}

/// Compares entries right of the diagonal with their mirror images; by symmetry, that covers all entries. Many at a
/// time, so that the cache misses of random columns overlap.
template <class T>
class MirrorImages {
 public:
  explicit MirrorImages(const CsrView& a) : a_(a) {}

  void add(std::uint64_t row, std::uint64_t entry) {
    pending_[count_++] = {row, entry, nullptr, 0};
    if (count_ == pending_.size()) compare();
  }
  SymmetryCounts finish() {
    compare();
    return counts_;
  }

 private:
  struct Lookup {
    std::uint64_t row, entry;
    const std::uint32_t* columns;  // of the row that has the mirror image
    std::uint64_t length;
  };

  void compare() {
    const std::span<Lookup> all(pending_.data(), std::exchange(count_, 0));
    for (Lookup& l : all) {
      const std::uint64_t row = a_.col_idx()[l.entry];
      l.columns = a_.col_idx() + a_.row_ptr(row);
      l.length = a_.row_length(row);
      __builtin_prefetch(l.columns + l.length / 2);
    }
    for (const Lookup& l : all) {
      const std::uint32_t* mirror = l.columns;
      for (std::uint64_t n = l.length; n > 1; n -= n / 2)  // without a branch, which could not be predicted
        mirror = mirror[n / 2] <= l.row ? mirror + n / 2 : mirror;
      if (l.length == 0 || *mirror != l.row) continue;
      const T value = a_.values<T>()[l.entry], mirrored = a_.values<T>()[mirror - a_.col_idx()];
      counts_.mirrored += 2;
      counts_.equal += same(value, mirrored) ? 2 : 0;
      counts_.negated += same(value, static_cast<T>(-mirrored)) ? 2 : 0;
      if constexpr (is_complex_type<T>) counts_.conjugated += same(value, std::conj(mirrored)) ? 2 : 0;
    }
  }

  CsrView a_;
  SymmetryCounts counts_;
  std::array<Lookup, 64> pending_{};
  std::size_t count_ = 0;
};

/// Facts from the positions of entries: empty rows, bandwidth, diagonal, symmetry.
template <class T>
void analyze_rows(const CsrView& a, int threads, Structure& result) {
  const bool square = a.rows() == a.cols();
  const std::uint32_t* columns = a.col_idx();
  SymmetryCounts symmetry;
  symmetry.real_diagonal = is_complex_type<T>;
  std::mutex guard;
  parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t empty = 0, lower = 0, upper = 0, diagonal = 0;
    MirrorImages<T> images(a);
    bool zero_diagonal = true, real_diagonal = is_complex_type<T>;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t first = a.row_ptr(i), last = a.row_ptr(i + 1);
      if (first == last) {
        ++empty;
        continue;
      }
      if (columns[first] < i) lower = std::max(lower, i - columns[first]);
      if (columns[last - 1] > i) upper = std::max(upper, columns[last - 1] - i);
      auto right = static_cast<std::uint64_t>(std::lower_bound(columns + first, columns + last, i) - columns);
      if (right < last && columns[right] == i) {
        ++diagonal;
        if (a.values<T>()[right] != T{0}) zero_diagonal = false;
        if constexpr (is_complex_type<T>)
          if (a.values<T>()[right].imag() != 0) real_diagonal = false;
        ++right;
      }
      for (; square && right < last; ++right) images.add(i, right);
    }
    const SymmetryCounts mine = images.finish();
    const std::lock_guard lock(guard);
    result.empty_rows += empty;
    result.lower_bandwidth = std::max(result.lower_bandwidth, lower);
    result.upper_bandwidth = std::max(result.upper_bandwidth, upper);
    result.diagonal_entries += diagonal;
    symmetry.mirrored += mine.mirrored;
    symmetry.equal += mine.equal;
    symmetry.negated += mine.negated;
    symmetry.conjugated += mine.conjugated;
    symmetry.zero_diagonal = symmetry.zero_diagonal && zero_diagonal;
    symmetry.real_diagonal = symmetry.real_diagonal && real_diagonal;
  });
  symmetry.off_diagonal = a.nnz() - result.diagonal_entries;
  if (square) result.symmetry = symmetry;
}

template <class T>
bool is_finite(T value) {
  if constexpr (is_complex_type<T>)
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  else
    return std::isfinite(value);
}

/// Facts from single entries: zeros, values that are not finite, empty columns.
template <class T>
void analyze_entries(const CsrView& a, int threads, Structure& result) {
  SharedBits used(a.cols());
  std::atomic<std::uint64_t> zeros{0}, not_finite{0};
  parallel_pieces(a.nnz(), entries_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const T* values = a.values<T>();
    std::uint64_t my_zeros = 0, my_not_finite = 0;
    for (std::uint64_t p = begin; p < end; ++p) {
      my_zeros += values[p] == T{0};
      my_not_finite += !is_finite(values[p]);
      used.set(a.col_idx()[p]);
    }
    zeros += my_zeros;
    not_finite += my_not_finite;
  });
  result.explicit_zeros = zeros;
  result.not_finite = not_finite;
  result.empty_cols = a.cols() - used.count();
}

}  // namespace

Structure analyze(const CsrView& a, int threads, std::shared_ptr<const encoder::ValueTable> values,
                  std::uint64_t memory_limit) {
  // A given limit covers everything, including the matrix; available memory no longer includes it.
  require_memory(SharedBits::bytes(a.cols()) + (memory_limit != 0 ? a.bytes() : 0), memory_limit,
                 fmt::format("analyzing a matrix of {} columns", a.cols()));
  Structure result;
  result.rows = a.rows();
  result.cols = a.cols();
  result.nnz = a.nnz();
  result.value_type = a.value_type();
  if (a.rows() != 0 && a.cols() != 0)
    result.density = static_cast<double>(a.nnz()) / (static_cast<double>(a.rows()) * static_cast<double>(a.cols()));
  result.row_lengths = row_lengths(a);
  dispatch_any(a.value_type(), [&](auto zero) {
    analyze_rows<decltype(zero)>(a, threads, result);
    analyze_entries<decltype(zero)>(a, threads, result);
  });
  result.values = values != nullptr ? std::move(values) : encoder::ValueTable::count(a, threads);
  return result;
}

}  // namespace spmvpack::analyzer
