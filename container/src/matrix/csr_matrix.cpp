#include "spmvpack/container/matrix/csr_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t rows_per_task = 1U << 16;

/// An index out of range as the caller knows it: the arrays may be of signed numbers, which a view reads as unsigned.
std::string as_given(std::uint64_t index, bool is_64_bit) {
  const std::int64_t as_signed =
      is_64_bit ? static_cast<std::int64_t>(index) : static_cast<std::int32_t>(static_cast<std::uint32_t>(index));
  return as_signed < 0 ? fmt::format("{} ({} if unsigned)", as_signed, index) : fmt::to_string(index);
}

}  // namespace

void CsrView::require_sizes(std::uint64_t row_ptr_size, std::uint64_t value_count) const {
  if (rows_ >= max_dimension || cols_ >= max_dimension)
    throw Error(errc::unsupported,
                fmt::format("a matrix of {} x {}: rows and columns must stay below {}", rows_, cols_, max_dimension));
  if (row_ptr_size != rows_ + 1)
    throw Error(errc::bad_input,
                fmt::format("{} row pointers for {} rows, expected {}", row_ptr_size, rows_, rows_ + 1));
  if (value_count != nnz_)
    throw Error(errc::bad_input, fmt::format("{} values for {} column indices", value_count, nnz_));
}

template <class F>
void CsrView::check_rows(int threads, F&& not_increasing) const {
  const auto pointer = [&](std::uint64_t i) { return as_given(row_ptr(i), row_ptr64_ != nullptr); };
  if (row_ptr(0) != 0) throw Error(errc::bad_input, fmt::format("row_ptr[0] is {}, expected 0", pointer(0)));
  if (row_ptr(rows_) != nnz_)
    throw Error(errc::bad_input,
                fmt::format("row_ptr[{}] is {}, expected the {} nonzeros", rows_, pointer(rows_), nnz_));
  parallel_pieces(rows_, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t r = first; r < last; ++r) {
      const std::uint64_t begin = row_ptr(r), end = row_ptr(r + 1);
      if (begin > end || end > nnz_)
        throw Error(errc::bad_input,
                    fmt::format("row pointers {} and {} are not increasing up to {}", pointer(r), pointer(r + 1), nnz_),
                    fmt::format("row {}", r));
      for (std::uint64_t k = begin; k < end; ++k) {
        if (col_idx_[k] >= cols_)
          throw Error(errc::bad_input,
                      fmt::format("column {} of a matrix with {} columns", as_given(col_idx_[k], false), cols_),
                      fmt::format("row {}", r));
        if (k > begin && col_idx_[k] <= col_idx_[k - 1]) not_increasing(r, k);
      }
    }
  });
}

void CsrView::check(int threads) const {
  check_rows(threads, [&](std::uint64_t r, std::uint64_t k) {
    throw Error(errc::bad_input, fmt::format("column {} after column {}", col_idx_[k], col_idx_[k - 1]),
                fmt::format("row {}", r), "sort the columns of each row and add up duplicates");
  });
}

bool CsrView::columns_increase(int threads) const {
  std::atomic<bool> increase{true};
  check_rows(threads, [&](std::uint64_t, std::uint64_t) { increase.store(false, std::memory_order_relaxed); });
  return increase;
}

Array<std::uint32_t> narrow_indices(std::span<const std::int64_t> indices, std::uint64_t size, int threads) {
  Array<std::uint32_t> narrow(indices.size());
  parallel_items(indices.size(), rows_per_task, threads, [&](std::uint64_t k) {
    const auto index = static_cast<std::uint64_t>(indices[k]);  // negative ones become too large
    if (index >= size || index >= max_dimension)
      throw Error(errc::bad_input, fmt::format("index {} of entry {} is not below {}", indices[k], k, size));
    narrow[k] = static_cast<std::uint32_t>(index);
  });
  return narrow;
}

std::uint64_t CsrView::longest_row(int threads) const {
  std::atomic<std::uint64_t> longest{0};
  parallel_pieces(rows_, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t here = 0;
    for (std::uint64_t r = first; r < last; ++r) here = std::max(here, row_length(r));
    std::uint64_t known = longest;
    while (known < here && !longest.compare_exchange_weak(known, here)) continue;
  });
  return longest;
}

CsrView CsrMatrix::view() const {
  return std::visit(
      [&](const auto& v) {
        return CsrView(rows, cols, std::span<const std::uint64_t>(row_ptr), std::span<const std::uint32_t>(col_idx),
                       std::span(v.data(), v.size()));
      },
      values);
}

CsrMatrix allocate_csr(std::uint64_t rows, std::uint64_t cols, std::uint64_t nnz, ValueType type) {
  CsrMatrix a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr = Array<std::uint64_t>(rows + 1);
  a.col_idx = Array<std::uint32_t>(nnz);
  dispatch_any(type, [&]<class T>(T) { a.values = Array<T>(nnz); });
  return a;
}

bool equal_bits(const CsrView& a, const CsrView& b, int threads) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.nnz() != b.nnz() || a.value_type() != b.value_type())
    return false;
  std::atomic<bool> equal{true};
  parallel_items(a.rows() + 1, rows_per_task, threads, [&](std::uint64_t r) {
    if (a.row_ptr(r) != b.row_ptr(r)) equal = false;
  });
  const auto compare = [&](const void* p, const void* q, std::uint64_t bytes) {
    parallel_pieces(bytes, std::uint64_t{1} << 20, threads, [&](std::uint64_t first, std::uint64_t last) {
      if (std::memcmp(static_cast<const char*>(p) + first, static_cast<const char*>(q) + first, last - first) != 0)
        equal = false;
    });
  };
  compare(a.col_idx(), b.col_idx(), a.nnz() * 4);
  compare(a.value_bytes(), b.value_bytes(), a.nnz() * size_of(a.value_type()));
  return equal;
}

}  // namespace spmvpack
