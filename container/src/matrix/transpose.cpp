// A^T in memory, and whether it is A.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t rows_per_piece = 4096;

/// The same for so few entries that counts of all columns would take more memory than they do: they are sorted.
template <class T>
void transpose_few(const CsrView& a, CsrMatrix& t, int threads) {
  struct Entry {
    std::uint32_t column, row;
    std::uint64_t k;
  };
  CountedVector<Entry> entries(a.nnz());
  for (std::uint64_t k = 0, row = 0; k < a.nnz(); ++k) {
    if (a.row_ptr(row + 1) <= k) row = a.row_of(k);
    entries[k] = {a.col_idx()[k], static_cast<std::uint32_t>(row), k};
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return x.column != y.column ? x.column < y.column : x.k < y.k; });
  auto& values = std::get<Array<T>>(t.values);
  for (std::uint64_t k = 0; k < a.nnz(); ++k) {
    t.col_idx[k] = entries[k].row;
    std::memcpy(&values[k], a.values<T>() + entries[k].k, sizeof(T));  // the bits, of a signalling NaN, too
  }
  constexpr std::uint64_t columns_per_task = std::uint64_t{1} << 16;
  parallel_pieces(a.cols() + 1, columns_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    auto at = static_cast<std::uint64_t>(
        std::partition_point(entries.begin(), entries.end(), [&](const Entry& e) { return e.column < first; }) -
        entries.begin());
    for (std::uint64_t c = first; c < last; ++c) {
      while (at < entries.size() && entries[at].column < c) ++at;
      t.row_ptr[c] = at;
    }
  });
}

template <class T>
void transpose_into(const CsrView& a, CsrMatrix& t, int threads) {
  // Each piece of A's entries counts its own columns and then knows where its entries go: the order of A's rows is kept
  // without atomics and without sorting. There are no more pieces than make the counts smaller than the entries.
  const std::uint64_t most = std::max<std::uint64_t>(a.nnz() / std::max<std::uint64_t>(a.cols(), 1), 1);
  const std::uint64_t pieces = std::min<std::uint64_t>(static_cast<std::uint64_t>(thread_count(threads)), most);
  std::vector<CountedVector<std::uint64_t>> next(pieces);
  const auto begin = [&](std::uint64_t piece) { return a.nnz() / pieces * piece; };
  const auto end = [&](std::uint64_t piece) { return piece + 1 == pieces ? a.nnz() : begin(piece + 1); };
  parallel_for(pieces, threads, [&](std::uint64_t p) {
    next[p].resize(a.cols());
    for (std::uint64_t k = begin(p); k < end(p); ++k) ++next[p][a.col_idx()[k]];
  });
  std::uint64_t at = 0;
  for (std::uint64_t c = 0; c < a.cols(); ++c) {
    t.row_ptr[c] = at;
    for (CountedVector<std::uint64_t>& counts : next) {
      const std::uint64_t count = counts[c];
      counts[c] = at;
      at += count;
    }
  }
  t.row_ptr[a.cols()] = at;
  const T* const from = a.values<T>();
  auto& values = std::get<Array<T>>(t.values);
  parallel_for(pieces, threads, [&](std::uint64_t p) {
    if (begin(p) == end(p)) return;
    std::uint64_t row = a.row_of(begin(p));
    for (std::uint64_t k = begin(p); k < end(p); ++k) {
      while (a.row_ptr(row + 1) <= k) ++row;
      const std::uint64_t to = next[p][a.col_idx()[k]]++;
      t.col_idx[to] = static_cast<std::uint32_t>(row);
      std::memcpy(&values[to], &from[k], sizeof(T));  // the bits, of a signalling NaN, too
    }
  });
}

/// The bits in which the values of two mirror images differ.
template <class T>
constexpr bits_of<T> mirror_bits(Symmetry symmetry) {
  if constexpr (is_complex_type<T>)
    if (symmetry == Symmetry::hermitian) return ValueTraits<T>::conjugate_bits;
  return symmetry == Symmetry::skew_symmetric ? ValueTraits<T>::sign_bits : bits_of<T>{0};
}

/// Whether a matrix of this symmetry may have the value on its diagonal.
template <class T>
bool fits_diagonal(T value, Symmetry symmetry) {
  if constexpr (is_complex_type<T>)
    if (symmetry == Symmetry::hermitian) return value.imag() == 0;
  return symmetry != Symmetry::skew_symmetric;
}

template <class T>
bool has_mirror(const CsrView& a, std::uint64_t row, std::uint64_t k, Symmetry symmetry) {
  const std::uint32_t* const columns = a.col_idx();
  const T* const values = a.values<T>();
  if (columns[k] == row) return fits_diagonal(values[k], symmetry);
  const std::uint32_t* const end = columns + a.row_ptr(columns[k] + std::uint64_t{1});
  const std::uint32_t* const mirror = std::lower_bound(columns + a.row_ptr(columns[k]), end, row);
  if (mirror == end || *mirror != row) return false;
  return std::bit_cast<bits_of<T>>(values[mirror - columns]) ==
         (std::bit_cast<bits_of<T>>(values[k]) ^ mirror_bits<T>(symmetry));
}

/// Whether every entry has a mirror image: each above the diagonal has one, and there are no others below it.
template <class T>
bool mirrors_itself(const CsrView& a, Symmetry symmetry, int threads) {
  const std::uint32_t* const columns = a.col_idx();
  std::atomic<std::uint64_t> above{0}, below{0};
  std::atomic<bool> differs{false};
  parallel_pieces(a.rows(), rows_per_piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t above_here = 0, below_here = 0;
    for (std::uint64_t r = first; r < last && !differs; ++r) {
      const std::uint64_t begin = a.row_ptr(r), end = a.row_ptr(r + 1);
      auto k = static_cast<std::uint64_t>(std::lower_bound(columns + begin, columns + end, r) - columns);
      below_here += k - begin;
      if (k < end && columns[k] == r) {
        if (!fits_diagonal(a.values<T>()[k], symmetry)) differs = true;
        ++k;
      }
      above_here += end - k;
      for (; k < end; ++k)
        if (!has_mirror<T>(a, r, k, symmetry)) {
          differs = true;
          break;
        }
    }
    above += above_here;
    below += below_here;
  });
  return !differs && above == below;
}

}  // namespace

CsrMatrix transposed(const CsrView& a, int threads) {
  CsrMatrix t = allocate_csr(a.cols(), a.rows(), a.nnz(), a.value_type());
  constexpr std::uint64_t columns_of_entry = 16;
  const bool few = a.nnz() < a.cols() / columns_of_entry;
  dispatch_any(a.value_type(), [&]<class T>(T) { (few ? transpose_few<T> : transpose_into<T>)(a, t, threads); });
  return t;
}

std::uint64_t first_without_mirror(const CsrView& a, Symmetry symmetry, int threads) {
  std::atomic<std::uint64_t> found{a.nnz()};
  dispatch_any(a.value_type(), [&]<class T>(T) {
    parallel_pieces(a.rows(), rows_per_piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t r = begin; r < end; ++r)
        for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) {
          std::uint64_t known = found;
          if (k >= known) return;
          if (has_mirror<T>(a, r, k, symmetry)) continue;
          while (k < known && !found.compare_exchange_weak(known, k)) continue;
          return;
        }
    });
  });
  return found;
}

Symmetry symmetry_of(const CsrView& a, int threads) {
  if (a.rows() != a.cols()) return Symmetry::general;
  return dispatch_any(a.value_type(), [&]<class T>(T) {
    for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::skew_symmetric})
      if (mirrors_itself<T>(a, symmetry, threads)) return symmetry;
    if constexpr (is_complex_type<T>)
      if (mirrors_itself<T>(a, Symmetry::hermitian, threads)) return Symmetry::hermitian;
    return Symmetry::general;
  });
}

}  // namespace spmvpack
