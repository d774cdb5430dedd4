#include "spmvpack/container/matrix/triplets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace spmvpack {
namespace {

/// Rows longer than this are sorted through a copy.
constexpr std::uint64_t insertion_sort_limit = 32;

/// The value of the entry across the diagonal.
template <class T>
T mirrored(T value, Symmetry symmetry) {
  if constexpr (is_complex_type<T>)
    if (symmetry == Symmetry::hermitian) return std::conj(value);
  return symmetry == Symmetry::skew_symmetric ? -value : value;
}

/// Calls f(row, col, value) for the entries of rows [first, last) in a block, in list order, including mirror images,
/// and ahead(row) for rows that follow soon. Each thread goes through all blocks that reach into its rows and picks
/// their entries: that keeps list order without communication, and costs less than parsing a few characters.
template <class T, class F, class Ahead>
void for_entries_of(const Triplets<T>& block, Symmetry symmetry, std::uint64_t first, std::uint64_t last, F&& f,
                    Ahead&& ahead) {
  if (block.first_row >= last || block.last_row < first) return;
  const auto low = static_cast<std::uint32_t>(first), count = static_cast<std::uint32_t>(last - first);
  const std::uint32_t *const rows = block.rows.data(), *const cols = block.cols.data();
  const std::span<const T> values = block.values;
  const auto value = [values](std::uint64_t k) { return values.empty() ? T{1} : values[k]; };
  const std::uint64_t n = block.rows.size();
  for (std::uint64_t k = 0; k < n; ++k) {
    constexpr std::uint64_t distance = 12;
    const std::uint32_t next = rows[std::min(k + distance, n - 1)];
    if (next - low < count) ahead(next);
    const std::uint32_t i = rows[k];
    if (i - low < count) f(i, cols[k], value(k));
    if (symmetry == Symmetry::general) continue;
    const std::uint32_t j = cols[k];
    if (j - low < count && i != j) f(j, i, mirrored(value(k), symmetry));
  }
}

/// Computes row_ptr of the expanded matrix, with every duplicate counted, shifted by one: row_ptr[r + 1] is the start
/// of row r. Returns the number of entries.
template <class T>
std::uint64_t count_rows(const TripletList<T>& list, Symmetry symmetry, int threads, Array<std::uint64_t>& row_ptr) {
  const std::uint64_t rows = row_ptr.size() - 1;
  std::uint64_t* const counts = row_ptr.data() + 1;
  // Each thread has a piece of rows, which is first summed up on its own.
  const std::uint64_t piece =
      std::max<std::uint64_t>(div_up(rows, static_cast<std::uint64_t>(thread_count(threads))), 1);
  std::vector<std::uint64_t> entries(div_up(rows, piece));
  parallel_pieces(rows, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::fill(counts + first, counts + last, 0);
    for (const Array<std::uint32_t>& degrees : list.degrees)
      for (std::uint64_t row = first; row < last; ++row) counts[row] += degrees[row];
    if (list.degrees.empty())
      for (const Triplets<T>& block : list.blocks)
        for_entries_of(
            block, symmetry, first, last, [&](std::uint32_t row, std::uint32_t, T) { ++counts[row]; },
            [](std::uint32_t) {});
    const std::uint64_t last_row = counts[last - 1];
    std::exclusive_scan(counts + first, counts + last, counts + first, std::uint64_t{0});
    entries[first / piece] = counts[last - 1] + last_row;
  });
  row_ptr[0] = 0;
  std::uint64_t nnz = 0;
  for (std::uint64_t& before : entries) nnz += std::exchange(before, nnz);
  parallel_pieces(rows, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    const std::uint64_t before = entries[first / piece];
    if (before != 0)
      for (std::uint64_t row = first; row < last; ++row) counts[row] += before;
  });
  return nnz;
}

/// The bounds of one range of rows per thread, with about equal numbers of entries. row_starts[r] is the start of row
/// r.
std::vector<std::uint64_t> row_ranges(const std::uint64_t* row_starts, std::uint64_t rows, std::uint64_t nnz,
                                      int threads) {
  const auto ranges = static_cast<std::uint64_t>(thread_count(threads));
  std::vector<std::uint64_t> bounds(ranges + 1, rows);
  for (std::uint64_t i = 0; i < ranges; ++i)
    bounds[i] =
        static_cast<std::uint64_t>(std::lower_bound(row_starts, row_starts + rows, nnz / ranges * i) - row_starts);
  return bounds;
}

/// Sorts one row by column, stably.
template <class T>
void sort_row(std::uint32_t* cols, T* values, std::uint64_t n) {
  if (n <= insertion_sort_limit) {
    for (std::uint64_t i = 1; i < n; ++i) {
      const std::uint32_t col = cols[i];
      const T value = values[i];
      std::uint64_t k = i;
      for (; k > 0 && cols[k - 1] > col; --k) {
        cols[k] = cols[k - 1];
        values[k] = values[k - 1];
      }
      cols[k] = col;
      values[k] = value;
    }
    return;
  }
  struct Entry {
    std::uint32_t col;
    T value;
  };
  CountedVector<Entry> row(n);
  for (std::uint64_t k = 0; k < n; ++k) row[k] = {cols[k], values[k]};
  std::stable_sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.col < b.col; });
  for (std::uint64_t k = 0; k < n; ++k) {
    cols[k] = row[k].col;
    values[k] = row[k].value;
  }
}

/// a + b, with the same NaN on every machine.
template <class T>
T add(T a, T b) {
  const T sum = a + b;
  if (!std::isnan(sum)) return sum;
  return std::isnan(a) ? a : std::isnan(b) ? b : std::numeric_limits<T>::quiet_NaN();
}
template <class T>
std::complex<T> add(std::complex<T> a, std::complex<T> b) {
  return {add(a.real(), b.real()), add(a.imag(), b.imag())};
}

/// The rounding error of a + b, 0 if the sum is exact (Knuth's TwoSum).
template <class T>
T sum_error(T a, T b, T sum) {
  const T b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

/// What sums of duplicates must be, and the place that errors name.
struct Sums {
  bool exact;
  const std::string& source;
};

template <class T>
bool overflows(T a, T b, T sum) {
  return std::isinf(sum) && std::isfinite(a) && std::isfinite(b);
}

template <class T>
void check_sum(std::uint64_t row, std::uint32_t col, T a, T b, T sum, const Sums& sums) {
  bool beyond = false, exact = true;
  if constexpr (is_complex_type<T>) {
    beyond = overflows(a.real(), b.real(), sum.real()) || overflows(a.imag(), b.imag(), sum.imag());
  } else {
    beyond = overflows(a, b, sum);
    exact = !sums.exact || sum_error(a, b, sum) == 0;
  }
  if (!beyond && exact) return;
  constexpr ValueType type = value_type_of<T>;
  throw Error(errc::bad_input,
              fmt::format("the duplicates of the entry in row {}, column {} add up to a value that {} cannot hold{}",
                          row + 1, col + std::uint64_t{1}, to_string(type), beyond ? "" : " exactly"),
              sums.source,
              type == ValueType::f32   ? "encode the matrix as f64"
              : type == ValueType::c64 ? "encode the matrix as c128"
                                       : "add them up yourself");
}

/// The rows [first, last) of one thread. Their entries start at `begin` and, once duplicates are summed, end at `end`.
struct RowRange {
  std::uint64_t first = 0, last = 0, begin = 0, end = 0;
  std::uint64_t duplicates = 0, zeros = 0;
};

/// Moves the entries of a block to the rows of a range; the values of a `pattern`, all 1, come later. Moves
/// row_ptr[r + 1] from the start of row r to its end, its final value.
template <bool pattern, class T>
void scatter(const Triplets<T>& block, Symmetry symmetry, const RowRange& range, std::uint64_t* row_ptr,
             std::uint32_t* cols, T* values) {
  for_entries_of(
      block, symmetry, range.first, range.last,
      [&](std::uint32_t row, std::uint32_t col, T value) {
        const std::uint64_t k = row_ptr[row + std::uint64_t{1}]++;
        cols[k] = col;
        if constexpr (!pattern) values[k] = value;
      },
      [&](std::uint32_t row) {
        const std::uint64_t k = row_ptr[row + std::uint64_t{1}];
        __builtin_prefetch(cols + k, 1);
        if constexpr (!pattern) __builtin_prefetch(values + k, 1);
      });
}

/// Sorts the rows of a range and sums duplicates. Writes row_ptr[first + 1] to row_ptr[last].
template <class T>
void finish_rows(RowRange& range, std::uint64_t* row_ptr, std::uint32_t* cols, T* values, const Sums& sums) {
  std::uint64_t begin = range.begin, to = begin;
  for (std::uint64_t row = range.first; row < range.last; ++row) {
    const std::uint64_t end = row_ptr[row + 1], row_begin = to;
    const bool in_order = std::adjacent_find(cols + begin, cols + end, std::greater_equal<>()) == cols + end;
    if (!in_order) sort_row(cols + begin, values + begin, end - begin);
    if (in_order && to == begin) {
      to = end;
    } else {
      for (std::uint64_t k = begin; k < end; ++k) {
        if (to > row_begin && cols[to - 1] == cols[k]) {
          const T sum = add(values[to - 1], values[k]);
          check_sum(row, cols[k], values[to - 1], values[k], sum, sums);
          values[to - 1] = sum;
        } else {
          cols[to] = cols[k];
          values[to++] = values[k];
        }
      }
    }
    row_ptr[row + 1] = to;
    begin = end;
  }
  range.end = to;
  range.duplicates = begin - to;
  range.zeros = static_cast<std::uint64_t>(std::count(values + range.begin, values + to, T{0}));
}

struct Assembly {
  CsrMatrix matrix;
  std::uint64_t duplicates = 0;      ///< entries that were summed into an earlier one
  std::uint64_t explicit_zeros = 0;  ///< stored entries of value +0 or -0
};

template <class T>
Assembly assemble_csr(const SourceFacts& facts, TripletList<T> list, const AssemblyOptions& options) {
  const std::uint64_t rows = facts.rows;
  const Sums sums{facts.field == Field::integer || facts.field == Field::pattern, options.source};
  constexpr const char* need = "the matrix with its list of entries";
  std::uint64_t bytes = (rows + 1) * 8;
  for (const Triplets<T>& b : list.blocks) bytes += b.rows.size() * 8 + b.values.size() * sizeof(T);
  for (const Array<std::uint32_t>& degrees : list.degrees) bytes += degrees.size() * 4;
  require_memory(bytes, options.memory_limit, need);
  Array<std::uint64_t> row_ptr(rows + 1);
  const std::uint64_t nnz = count_rows(list, facts.symmetry, options.threads, row_ptr);
  list.degrees.clear();
  std::vector<Triplets<T>>& blocks = list.blocks;
  require_memory(bytes + nnz * (4 + sizeof(T)), options.memory_limit, need);
  Array<std::uint32_t> col_idx(nnz);
  Array<T> values(nnz);

  const std::vector<std::uint64_t> bounds = row_ranges(row_ptr.data() + 1, rows, nnz, options.threads);
  std::vector<RowRange> ranges(bounds.size() - 1);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::uint64_t begin = bounds[i] == rows ? nnz : row_ptr[bounds[i] + 1];
    ranges[i] = {bounds[i], bounds[i + 1], begin, begin};
  }
  const bool pattern = std::all_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.values.empty(); });
  // A block is freed once all ranges have gone through it: the matrix grows into the memory of the list.
  std::vector<std::atomic<std::size_t>> passed(blocks.size());
  parallel_for(ranges.size(), options.threads, [&](std::uint64_t i) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (pattern)
        scatter<true>(blocks[b], facts.symmetry, ranges[i], row_ptr.data(), col_idx.data(), values.data());
      else
        scatter<false>(blocks[b], facts.symmetry, ranges[i], row_ptr.data(), col_idx.data(), values.data());
      if (++passed[b] == ranges.size()) blocks[b] = {};
    }
  });
  parallel_for(ranges.size(), options.threads, [&](std::uint64_t i) {
    const std::uint64_t end = i + 1 == ranges.size() ? nnz : ranges[i + 1].begin;
    if (pattern) std::fill(values.begin() + ranges[i].begin, values.begin() + end, T{1});
    finish_rows(ranges[i], row_ptr.data(), col_idx.data(), values.data(), sums);
  });

  // Every range has closed its own gaps; only those between ranges are left.
  Assembly result;
  for (const RowRange& r : ranges) {
    if (result.duplicates != 0) {
      std::copy(col_idx.begin() + r.begin, col_idx.begin() + r.end, col_idx.begin() + r.begin - result.duplicates);
      std::copy(values.begin() + r.begin, values.begin() + r.end, values.begin() + r.begin - result.duplicates);
      for (std::uint64_t row = r.first; row < r.last; ++row) row_ptr[row + 1] -= result.duplicates;
    }
    result.duplicates += r.duplicates;
    result.explicit_zeros += r.zeros;
  }
  col_idx.truncate(nnz - result.duplicates);
  values.truncate(nnz - result.duplicates);
  result.matrix.rows = rows;
  result.matrix.cols = facts.cols;
  result.matrix.row_ptr = std::move(row_ptr);
  result.matrix.col_idx = std::move(col_idx);
  result.matrix.values = std::move(values);
  return result;
}

}  // namespace

template <class T>
void note_rows(Triplets<T>& block, Symmetry symmetry, std::span<std::uint32_t> degrees) {
  std::uint32_t first_row = std::numeric_limits<std::uint32_t>::max(), last_row = 0;
  const auto add = [&](std::span<const std::uint32_t> indices) {
    for (const std::uint32_t row : indices) {
      first_row = std::min(first_row, row);
      last_row = std::max(last_row, row);
    }
  };
  add(block.rows);
  if (symmetry != Symmetry::general) add(block.cols);
  block.first_row = first_row;
  block.last_row = last_row;
  if (degrees.empty()) return;
  for (const std::uint32_t row : block.rows) ++degrees[row];
  if (symmetry == Symmetry::general) return;
  for (std::size_t k = 0; k < block.rows.size(); ++k) degrees[block.cols[k]] += block.rows[k] != block.cols[k];
}

template <class T>
SourceMatrix assemble_source(const SourceFacts& facts, TripletList<T> list, const AssemblyOptions& options) {
  Assembly assembly = assemble_csr(facts, std::move(list), options);
  SourceMatrix source;
  source.matrix = std::move(assembly.matrix);
  // Sums of ones are no longer ones.
  const bool counts = facts.field == Field::pattern && assembly.duplicates != 0;
  source.field = counts ? Field::integer : facts.field;
  source.symmetry = facts.symmetry;
  source.provenance.entries = facts.entries;
  source.provenance.duplicates = assembly.duplicates;
  source.provenance.explicit_zeros = assembly.explicit_zeros;
  return source;
}

void require_dimensions(std::uint64_t rows, std::uint64_t cols, const std::string& source) {
  if (rows >= max_dimension || cols >= max_dimension)
    throw Error(errc::unsupported,
                fmt::format("a matrix of {} x {}: rows and columns must stay below {}", rows, cols, max_dimension),
                source);
}

void refuse_index(const char* what, std::uint64_t i, std::uint64_t size, std::uint64_t k,
                  const AssemblyOptions& options) {
  throw Error(errc::bad_input,
              fmt::format("entry {} is in {} {} of {}, counted from 0", k, what, static_cast<std::int64_t>(i), size),
              options.source, options.remedy);
}

#define SPMVPACK_INSTANTIATE(T)                                              \
  template void note_rows(Triplets<T>&, Symmetry, std::span<std::uint32_t>); \
  template SourceMatrix assemble_source(const SourceFacts&, TripletList<T>, const AssemblyOptions&);
SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack
