#include "spmvpack/analyzer/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/container/shared_bits.hpp"

namespace spmvpack::analyzer {
namespace {

constexpr std::uint64_t rows_per_task = 1024, entries_per_task = std::uint64_t{1} << 18;

RowLengths row_lengths(const CsrView& a) {
  RowLengths result;
  if (a.rows() == 0) return result;
  // Nearly all rows are short: they are counted by length, and the others sorted.
  std::vector<std::uint64_t> count(65'536), long_rows;
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
  result.mean = static_cast<double>(a.nnz()) / static_cast<double>(a.rows());
  for (std::size_t i = 0; i < RowLengths::ranks.size(); ++i)
    result.percentiles[i] = at(div_up(a.rows() * static_cast<std::uint64_t>(RowLengths::ranks[i]), 100) - 1);
  return result;
}

template <class T>
bool same(T a, T b) {
  return a == b || encoder::value_bits(a) == encoder::value_bits(b);
}

/// Compares the entries right of the diagonal with their mirror images; by symmetry, that covers all entries.
template <class T>
void count_mirrored(const CsrView& a, std::uint64_t row, std::uint64_t first_right, SymmetryCounts& counts) {
  const std::uint32_t* columns = a.col_idx();
  const T* values = a.values<T>();
  for (std::uint64_t p = first_right; p < a.row_ptr(row + 1); ++p) {
    const std::uint32_t* end = columns + a.row_ptr(columns[p] + std::uint64_t{1});
    const std::uint32_t* mirror = std::lower_bound(columns + a.row_ptr(columns[p]), end, row);
    if (mirror == end || *mirror != row) continue;
    const T value = values[p], mirrored = values[mirror - columns];
    counts.mirrored += 2;
    counts.equal += same(value, mirrored) ? 2 : 0;
    counts.negated += same(value, static_cast<T>(-mirrored)) ? 2 : 0;
  }
}

/// Facts from the positions of entries: empty rows, bandwidth, diagonal, symmetry.
template <class T>
void analyze_rows(const CsrView& a, int threads, Structure& result) {
  const bool square = a.rows() == a.cols();
  const std::uint32_t* columns = a.col_idx();
  SymmetryCounts symmetry;
  std::mutex guard;
  parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t empty = 0, lower = 0, upper = 0, diagonal = 0;
    SymmetryCounts mine;
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
        if (a.values<T>()[right] != T{0}) mine.zero_diagonal = false;
        ++right;
      }
      if (square) count_mirrored<T>(a, i, right, mine);
    }
    const std::lock_guard lock(guard);
    result.empty_rows += empty;
    result.lower_bandwidth = std::max(result.lower_bandwidth, lower);
    result.upper_bandwidth = std::max(result.upper_bandwidth, upper);
    result.diagonal_entries += diagonal;
    symmetry.mirrored += mine.mirrored;
    symmetry.equal += mine.equal;
    symmetry.negated += mine.negated;
    symmetry.zero_diagonal = symmetry.zero_diagonal && mine.zero_diagonal;
  });
  symmetry.off_diagonal = a.nnz() - result.diagonal_entries;
  if (square) result.symmetry = symmetry;
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
      my_not_finite += !std::isfinite(values[p]);
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
  dispatch(a.value_type(), [&](auto zero) {
    analyze_rows<decltype(zero)>(a, threads, result);
    analyze_entries<decltype(zero)>(a, threads, result);
  });
  result.values = values != nullptr ? std::move(values) : encoder::ValueTable::count(a, threads);
  return result;
}

}  // namespace spmvpack::analyzer
