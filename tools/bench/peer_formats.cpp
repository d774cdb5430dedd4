#include "bench/peer_formats.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::bench {
namespace {

constexpr std::uint64_t rows_per_piece = 4096;
constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();

/// counts[i + 1] entries in i, as offsets; nothing where they end beyond `limit` or 2^31 - 1.
std::optional<Array<std::int32_t>> offsets_of(const Array<std::uint64_t>& counts, std::uint64_t limit) {
  Array<std::int32_t> offsets(counts.size());
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < counts.size(); ++i) {
    sum += counts[i];
    if (sum > std::min(limit, most)) return std::nullopt;
    offsets[i] = static_cast<std::int32_t>(sum);
  }
  return offsets;
}

/// The distinct block columns of `size` rows from `row` on, rising.
void block_columns(const CsrView& a, std::uint64_t row, std::uint64_t size, std::vector<std::uint32_t>& out) {
  out.clear();
  for (std::uint64_t i = row; i < std::min(row + size, a.rows()); ++i) {
    std::uint64_t last = most + 1;
    for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
      const std::uint64_t column = a.col_idx()[k] / size;
      if (column != last) out.push_back(static_cast<std::uint32_t>(column));
      last = column;
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace

Array<std::int32_t> coo_rows(const CsrView& a, int threads) {
  Array<std::int32_t> rows(a.nnz());
  parallel_pieces(a.rows(), rows_per_piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      std::fill(rows.data() + a.row_ptr(i), rows.data() + a.row_ptr(i + 1), static_cast<std::int32_t>(i));
  });
  return rows;
}

template <class T>
std::optional<SlicedEll<T>> sliced_ell(const CsrView& a, std::uint64_t limit, int threads) {
  constexpr std::uint64_t slice = SlicedEll<T>::slice;
  const std::uint64_t slices = div_up(a.rows(), slice);
  Array<std::uint64_t> slots(slices + 1, 0);
  parallel_pieces(slices, rows_per_piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t s = first; s < last; ++s)
      for (std::uint64_t i = s * slice; i < std::min((s + 1) * slice, a.rows()); ++i)
        slots[s + 1] = std::max(slots[s + 1], a.row_length(i) * slice);
  });
  std::optional<Array<std::int32_t>> offsets = offsets_of(slots, limit);
  if (!offsets) return std::nullopt;
  const auto total = static_cast<std::uint64_t>((*offsets)[slices]);
  SlicedEll<T> sell{std::move(*offsets), Array<std::int32_t>(total), Array<T>(total)};
  parallel_pieces(slices, rows_per_piece / slice, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t s = first; s < last; ++s) {
      const auto begin = static_cast<std::uint64_t>(sell.offsets[s]),
                 end = static_cast<std::uint64_t>(sell.offsets[s + 1]);
      std::fill(sell.columns.data() + begin, sell.columns.data() + end, -1);
      std::fill(sell.values.data() + begin, sell.values.data() + end, T{0});
      for (std::uint64_t i = s * slice; i < std::min((s + 1) * slice, a.rows()); ++i)
        for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
          const std::uint64_t slot = begin + (k - a.row_ptr(i)) * slice + i % slice;
          sell.columns[slot] = static_cast<std::int32_t>(a.col_idx()[k]);
          sell.values[slot] = a.values<T>()[k];
        }
    }
  });
  return sell;
}

std::uint64_t block_value_limit(const CsrView& a, std::uint64_t size, std::uint64_t times) {
  const std::uint64_t value = size_of(a.value_type()), index = sizeof(std::int32_t);
  const std::uint64_t allowed = times * ((a.rows() + 1) * index + a.nnz() * (index + value));
  const std::uint64_t pointers = (div_up(a.rows(), size) + 1) * index;  // never more than those of CSR
  return (allowed - pointers) / (size * size * value + index) * size * size;
}

template <class T>
std::optional<BlockCsr<T>> block_csr(const CsrView& a, std::uint64_t size, std::uint64_t limit, int threads) {
  const std::uint64_t block_rows = div_up(a.rows(), size), piece = rows_per_piece / size;
  Array<std::uint64_t> counts(block_rows + 1, 0);
  parallel_pieces(block_rows, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint32_t> columns;
    for (std::uint64_t r = first; r < last; ++r) {
      block_columns(a, r * size, size, columns);
      counts[r + 1] = columns.size();
    }
  });
  std::optional<Array<std::int32_t>> row_ptr = offsets_of(counts, std::min(limit, most) / (size * size));
  if (!row_ptr) return std::nullopt;
  const auto blocks = static_cast<std::uint64_t>((*row_ptr)[block_rows]);
  BlockCsr<T> bsr{size, std::move(*row_ptr), Array<std::int32_t>(blocks), Array<T>(blocks * size * size)};
  parallel_pieces(block_rows, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint32_t> columns;
    for (std::uint64_t r = first; r < last; ++r) {
      block_columns(a, r * size, size, columns);
      const auto begin = static_cast<std::uint64_t>(bsr.row_ptr[r]);
      T* const values = bsr.values.data() + begin * size * size;
      std::copy(columns.begin(), columns.end(), bsr.columns.data() + begin);
      std::fill_n(values, columns.size() * size * size, T{0});
      for (std::uint64_t i = r * size; i < std::min((r + 1) * size, a.rows()); ++i) {
        std::uint64_t block = 0;
        for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k) {
          const std::uint64_t column = a.col_idx()[k];
          while (columns[block] != column / size) ++block;
          values[(block * size + i % size) * size + column % size] = a.values<T>()[k];
        }
      }
    }
  });
  return bsr;
}

#define SPMVPACK_INSTANTIATE(T)                                                        \
  template std::optional<SlicedEll<T>> sliced_ell(const CsrView&, std::uint64_t, int); \
  template std::optional<BlockCsr<T>> block_csr(const CsrView&, std::uint64_t, std::uint64_t, int);
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::bench
