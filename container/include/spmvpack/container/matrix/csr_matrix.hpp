#pragma once
/// The matrix in memory: compressed sparse row, rows sorted by column, no duplicates.

#include <span>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// A CSR matrix in arrays that the caller owns. row_ptr has rows + 1 elements, row_ptr[0] = 0; col_idx and values have
/// row_ptr[rows]. Row pointers are 32-bit or 64-bit integers and columns 32-bit integers, signed or unsigned, so the
/// arrays of SciPy, PETSc and Eigen need no copy. Columns must strictly increase within a row: check() verifies it, and
/// encode() calls check().
class SPMVPACK_EXPORT CsrView {
 public:
  CsrView() = default;
  template <class Pointer, class Column, class Value>
  CsrView(std::uint64_t rows, std::uint64_t cols, std::span<const Pointer> row_ptr, std::span<const Column> col_idx,
          std::span<const Value> values)
      : rows_(rows),
        cols_(cols),
        nnz_(col_idx.size()),
        // Signed and unsigned types of one size may alias; check() rejects a negative column as too large.
        col_idx_(reinterpret_cast<const std::uint32_t*>(col_idx.data())),
        values_(values.data()),
        type_(value_type_of<Value>) {
    static_assert(std::is_integral_v<Pointer> && (sizeof(Pointer) == 4 || sizeof(Pointer) == 8));
    static_assert(std::is_same_v<Column, std::uint32_t> || std::is_same_v<Column, std::int32_t>);
    require_sizes(row_ptr.size(), values.size());
    if constexpr (sizeof(Pointer) == 8)
      row_ptr64_ = reinterpret_cast<const std::uint64_t*>(row_ptr.data());
    else
      row_ptr32_ = reinterpret_cast<const std::uint32_t*>(row_ptr.data());
  }

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t cols() const noexcept { return cols_; }
  [[nodiscard]] std::uint64_t nnz() const noexcept { return nnz_; }
  [[nodiscard]] ValueType value_type() const noexcept { return type_; }
  /// The first entry of row i; row_ptr(rows()) = nnz().
  [[nodiscard]] std::uint64_t row_ptr(std::uint64_t i) const noexcept {
    return row_ptr64_ != nullptr ? row_ptr64_[i] : row_ptr32_[i];
  }
  [[nodiscard]] std::uint64_t row_length(std::uint64_t i) const noexcept { return row_ptr(i + 1) - row_ptr(i); }
  /// The length of the longest row, 0 if there are no rows. O(rows()), parallel.
  [[nodiscard]] std::uint64_t longest_row(int threads = 0) const;
  /// The row of entry k < nnz(). O(log rows()).
  [[nodiscard]] std::uint64_t row_of(std::uint64_t k) const noexcept {
    std::uint64_t low = 0, high = rows_;  // row_ptr(low) <= k < row_ptr(high)
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (row_ptr(middle) <= k ? low : high) = middle;
    }
    return low;
  }
  [[nodiscard]] const std::uint32_t* col_idx() const noexcept { return col_idx_; }
  /// The values; T must match value_type().
  template <class T>
  [[nodiscard]] const T* values() const noexcept {
    return static_cast<const T*>(values_);
  }
  /// The values as bytes: size_of(value_type()) each.
  [[nodiscard]] const void* value_bytes() const noexcept { return values_; }
  /// Bytes of the three arrays with 64-bit row pointers: the yardstick for memory use.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return (rows_ + 1) * 8 + nnz_ * (4 + size_of(type_)); }

  /// Throws Error(errc::bad_input) unless rows and columns are fewer than max_dimension, row pointers start at 0, never
  /// decrease and end at nnz, and the columns of every row strictly increase and are in range. O(nnz), parallel.
  void check(int threads = 0) const;
  /// Whether the columns of every row strictly increase. Everything else is checked as by check(), which it may throw.
  [[nodiscard]] bool columns_increase(int threads = 0) const;

 private:
  template <class F>
  void check_rows(int threads, F&& not_increasing) const;
  void require_sizes(std::uint64_t row_ptr_size, std::uint64_t value_count) const;

  std::uint64_t rows_ = 0, cols_ = 0, nnz_ = 0;
  const std::uint64_t* row_ptr64_ = nullptr;
  const std::uint32_t* row_ptr32_ = nullptr;
  const std::uint32_t* col_idx_ = nullptr;
  const void* values_ = nullptr;
  ValueType type_ = ValueType::f64;
};

/// A CSR matrix that owns its arrays: 64-bit row pointers, 32-bit columns, values of any type. Converts to CsrView.
struct SPMVPACK_EXPORT CsrMatrix {
  using Values = VariantOfAll<Array>;

  std::uint64_t rows = 0, cols = 0;
  Array<std::uint64_t> row_ptr;  ///< rows + 1
  Array<std::uint32_t> col_idx;  ///< nnz
  Values values;                 ///< nnz

  [[nodiscard]] std::uint64_t nnz() const noexcept { return col_idx.size(); }
  [[nodiscard]] ValueType value_type() const noexcept { return all_value_types[values.index()]; }
  [[nodiscard]] CsrView view() const;
  operator CsrView() const { return view(); }  // NOLINT(google-explicit-constructor)
};

/// 64-bit columns, or rows, as the 32-bit ones of a matrix with `size` columns or rows. Parallel.
/// Error(errc::bad_input) if one is not below `size`.
SPMVPACK_EXPORT Array<std::uint32_t> narrow_indices(std::span<const std::int64_t> indices, std::uint64_t size,
                                                    int threads = 0);

/// A CsrMatrix with its arrays allocated but not filled.
SPMVPACK_EXPORT CsrMatrix allocate_csr(std::uint64_t rows, std::uint64_t cols, std::uint64_t nnz, ValueType type);

/// True if sizes, pattern and the bits of every value agree.
SPMVPACK_EXPORT bool equal_bits(const CsrView& a, const CsrView& b, int threads = 0);

/// A^T, with the bits of every value. O(nnz), parallel. Needs, besides the result, 8 bytes for each entry or column,
/// whichever are more.
SPMVPACK_EXPORT CsrMatrix transposed(const CsrView& a, int threads = 0);

/// The first entry (an index into col_idx()) without a mirror image of the same value bits, for a skew-symmetric matrix
/// of those with the sign bits flipped and off the diagonal, for a Hermitian one of those with the imaginary part's
/// sign bit flipped or, on the diagonal, without imaginary part (+0 or -0); nnz() if every entry has one. `a` is square
/// and `symmetry` not general. Parallel.
SPMVPACK_EXPORT std::uint64_t first_without_mirror(const CsrView& a, Symmetry symmetry, int threads = 0);
/// What the entries say, bit for bit: symmetric (A^T = A), skew-symmetric (A^T = -A), Hermitian (complex, and A^H = A)
/// or general.
SPMVPACK_EXPORT Symmetry symmetry_of(const CsrView& a, int threads = 0);

/// A 16-byte XXH3-128 hash, low half first.
struct SPMVPACK_EXPORT Digest {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
  /// 32 hexadecimal digits, high half first, as xxhsum prints them.
  [[nodiscard]] std::string to_string() const;
};

/// The digest of a matrix's content, independent of layout and codec: the XXH3-128 of the XXH3-128s of the 1 MiB pieces
/// of its sizes, row pointers, columns and value bits (docs/FORMAT.md, "Content digest"). Parallel.
SPMVPACK_EXPORT Digest content_digest(const CsrView& a, int threads = 0);
/// The same of the sizes, row pointers and columns alone. Parallel.
SPMVPACK_EXPORT Digest pattern_digest(const CsrView& a, int threads = 0);

}  // namespace spmvpack
