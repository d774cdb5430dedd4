#pragma once
/// The description of a multiply Y = alpha op(A) X + beta Y, its operands and factors, and what it does in which order:
/// shared by all loaders and by C.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/types.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack {

/// op(A). If values are real, the conjugate transpose is the transpose.
enum class Operation : std::uint8_t { none = 0, transpose = 1, conjugate_transpose = 2 };

/// The numbering of the elements of x and y.
enum class Basis : std::uint8_t {
  user,     ///< the matrix's own
  permuted  ///< that of the container's rows, which its columns share: `pjds` with pjds.basis=permuted. The same sums
            ///< without the gathering of x and the scattering of y; for many multiplies in a row (Kreutzer et al.,
            ///< Sparse Matrix-vector Multiplication on GPGPU Clusters, section 2.1)
};

/// One kernel of one layout, resolved once from its name by gpu_loader::find_kernel(). A default KernelId stands for
/// each layout's default kernel.
struct KernelId {
  std::uint32_t value = 0;
  bool operator==(const KernelId&) const = default;
  [[nodiscard]] constexpr bool is_default() const noexcept { return value == 0; }
};

/// X or Y of a multiply, as DLPack has it: element (i, j) is data[i * row_stride + j * col_stride]. A vector converts
/// to this implicitly, as one column. Strides are in elements, and may be negative; those of X may be 0.
template <class T>
struct DenseView {
  T* data = nullptr;
  std::uint64_t rows = 0, cols = 1;
  std::int64_t row_stride = 1, col_stride = 0;

  constexpr DenseView() = default;
  constexpr DenseView(T* vector, std::uint64_t size) noexcept : data(vector), rows(size) {}
  constexpr DenseView(T* first, std::uint64_t rows_, std::uint64_t cols_, std::int64_t row_stride_,
                      std::int64_t col_stride_) noexcept
      : data(first), rows(rows_), cols(cols_), row_stride(row_stride_), col_stride(col_stride_) {}
  template <class Vector>
  requires std::is_convertible_v<Vector, std::span<T>>
  constexpr DenseView(Vector&& vector) noexcept {  // NOLINT: a vector is a view, std::span is one, too
    const std::span<T> all(vector);
    data = all.data();
    rows = all.size();
  }
  template <class U>
  requires(std::is_same_v<T, const U>) constexpr DenseView(const DenseView<U>& v) noexcept  // NOLINT: as of pointers
      : DenseView(v.data, v.rows, v.cols, v.row_stride, v.col_stride) {}

  [[nodiscard]] constexpr T* column(std::uint64_t j) const noexcept {
    return rows == 0 ? data : data + static_cast<std::int64_t>(j) * col_stride;  // data may be null without elements
  }
  /// `n` of the columns, from `first` on.
  [[nodiscard]] constexpr DenseView part(std::uint64_t first, std::uint64_t n) const noexcept {
    return {column(first), rows, n, row_stride, rows == 0 ? 0 : col_stride};
  }
  /// Whether the elements of each column are neighbours, as kernels take them.
  [[nodiscard]] constexpr bool has_contiguous_columns() const noexcept { return row_stride == 1 || rows <= 1; }
};

namespace detail {
template <class V>
struct RealOf {
  using type = V;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class V>
struct RealOf<const V> {
  using type = const typename RealOf<V>::type;
};
}  // namespace detail

/// T for std::complex<T>, V for others: the type of all arithmetic and of factors (Scaling) where the elements of
/// vectors are of type V.
template <class V>
using real_of = typename detail::RealOf<V>::type;
template <class V>
inline constexpr bool is_complex = !std::is_same_v<real_of<V>, V>;

/// Whether real_view() can take all columns of a complex view: there is at most one, or they are side by side, in rows.
template <class V>
requires is_complex<V>
constexpr bool has_real_view(const DenseView<V>& v) noexcept { return v.cols <= 1 || v.col_stride == 1; }
/// k complex columns as 2k real ones: the real and the imaginary parts of each are neighbours. `v` has_real_view().
template <class V>
requires is_complex<V> DenseView<real_of<V>> real_view(const DenseView<V>& v)
noexcept {
  const std::int64_t row_stride = v.rows > 1 ? 2 * v.row_stride : 2;  // that of a single row may be any number
  return {reinterpret_cast<real_of<V>*>(v.data), v.rows, 2 * v.cols, row_stride, 1};
}
/// Calls f(X, Y) with real views that are all complex columns of x and y, of which there are as many: once if both
/// have a real view, else for each column.
template <class X, class Y, class F>
void each_real_view(const DenseView<X>& x, const DenseView<Y>& y, F&& f) {
  if (has_real_view(x) && has_real_view(y)) return f(real_view(x), real_view(y));
  for (std::uint64_t j = 0; j < y.cols; ++j) f(real_view(x.part(j, 1)), real_view(y.part(j, 1)));
}

/// A DenseView without its type.
struct DensePlace {
  const void* data = nullptr;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t row_stride = 1, col_stride = 0;  ///< in elements
  std::size_t element_bytes = 1;

  DensePlace() = default;
  template <class T>
  DensePlace(const DenseView<T>& v) noexcept  // NOLINT(google-explicit-constructor): the same place
      : data(v.data),
        rows(v.rows),
        cols(v.cols),
        row_stride(v.row_stride),
        col_stride(v.col_stride),
        element_bytes(sizeof(T)) {}
};
/// Whether any byte belongs to elements of both, whose size is the same. Elements may lie between each other without
/// overlapping: alternate columns of one array may belong to X and to Y.
SPMVPACK_EXPORT bool overlap(const DensePlace& a, const DensePlace& b) noexcept;

/// Neighbouring columns of X and Y, as a layout's multiply takes them: element (i, j) of X is x[i x_row_stride + j
/// x_col_stride], that of Y likewise. Strides are in elements. T is the type of the elements, or void.
template <class T>
struct ColumnBlock {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t x_row_stride = 1, x_col_stride = 0, y_row_stride = 1, y_col_stride = 0;
  std::uint64_t count = 1;

  /// `n` of the columns, from `first` on. Not of a ColumnBlock<void>.
  [[nodiscard]] constexpr ColumnBlock part(std::uint64_t first, std::uint64_t n) const noexcept {
    ColumnBlock some = *this;
    some.x += static_cast<std::int64_t>(first) * x_col_stride;
    some.y += static_cast<std::int64_t>(first) * y_col_stride;
    some.count = n;
    return some;
  }
};

/// How many columns of X and Y a layout's multiply takes at once, and whether with any strides; else each column is to
/// be contiguous.
struct ColumnsAtOnce {
  std::uint64_t most = 1;
  bool any_strides = false;

  /// For parts that multiply the same columns: as many as the part that takes most, in strides that all take.
  [[nodiscard]] constexpr ColumnsAtOnce together_with(const ColumnsAtOnce& other) const noexcept {
    return {most > other.most ? most : other.most, any_strides && other.any_strides};
  }
};

/// Calls f(first, count) for blocks of at most `most` of so many columns.
template <class F>
void each_column_block(std::uint64_t columns, std::uint64_t most, F&& f) {
  for (std::uint64_t first = 0; first < columns; first += most)
    f(first, most < columns - first ? most : columns - first);
}

/// Factors of A's rows and columns, in the caller's memory: the multiply is one with B = D_r A D_c, whose values exist
/// nowhere. Each has as many elements as A has rows, or columns; an empty one stands for ones. They belong to A's rows
/// and columns whatever the operation is: op(B) = B^T = D_c A^T D_r multiplies x by `rows`, and sums by `columns`. In a
/// permuted basis they are in its order, as x and y are. They may change from one multiply to the next, and do not
/// overlap y. docs/LAYOUTS.md, "Scaled rows and columns", has the roundings.
template <class T>
struct Scaling {
  std::span<const T> rows = {}, columns = {};

  /// The factors of the rows and the columns of op(A).
  [[nodiscard]] constexpr Scaling of(Operation operation) const noexcept {
    return operation == Operation::none ? *this : Scaling{columns, rows};
  }
};

/// Everything about a multiply except its operands, whose sizes and strides are their own. What a loader does not
/// support is refused with errc::unsupported before anything is computed.
struct MultiplyDescription {
  Operation operation = Operation::none;  ///< others need A^T: EncodeRequest::transpose, or a symmetric matrix
  ValueType vectors = ValueType::f64;     ///< of X, Y, alpha and beta (or their parts), every product and sum
  std::uint64_t right_hand_sides = 1;     ///< columns of X and Y that a workspace is for
  /// The workspace is also for an X, or a Y, without contiguous columns: it has room for one of their columns.
  bool strided_x = false, strided_y = false;
  /// The workspace, if it is for several columns, is only for an X whose columns are neighbours in each row (col_stride
  /// 1), and whose rows and first element begin at multiples of 16 bytes. A GPU's kernels use such an X in place if its
  /// columns also fill a multiple of 16 bytes; any other X has to be copied.
  bool row_major_x = false;
  bool scaled_rows = false;        ///< the workspace is also for factors of A's rows (Scaling)
  bool scaled_columns = false;     ///< the workspace is also for factors of A's columns
  bool scalars_on_device = false;  ///< alpha and beta are in device memory, read when the multiply runs
  KernelId kernel = {};
  Basis basis = Basis::user;  ///< permuted: X and Y are as permute() of the loaded matrix makes them

  /// Whether x, or the sums of op(A) x, are multiplied by factors.
  [[nodiscard]] constexpr bool scales_x() const noexcept {
    return operation == Operation::none ? scaled_columns : scaled_rows;
  }
  [[nodiscard]] constexpr bool scales_y() const noexcept {
    return operation == Operation::none ? scaled_rows : scaled_columns;
  }
};

/// Describes the multiply with one vector whose elements are of type V. A complex one is two real ones in rows; k of
/// them need right_hand_sides = 2k.
template <class V>
constexpr MultiplyDescription describe(Operation operation = Operation::none) noexcept {
  return {.operation = operation,
          .vectors = value_type_of<real_of<V>>,
          .right_hand_sides = is_complex<V> ? 2U : 1U,
          .strided_x = is_complex<V>,
          .strided_y = is_complex<V>};
}

/// What multiplies with op(A): the parts of a role, their negative, their conjugate, or both. Of a symmetric matrix the
/// parts of A are A^T, of a skew-symmetric one -A^T, of a Hermitian one A^H.
struct Operand {
  format::Role role = format::Role::a;
  bool negated = false, conjugated = false;
  std::uint64_t rows = 0, cols = 0;  ///< of op(A)
};

/// Refuses what no loader accepts, and finds what multiplies. Error(errc::usage) if the description does not fit the
/// matrix: f32 vectors with f64 values (or vectors of such parts with complex ones), an operation that needs A^T, or a
/// permuted basis, of `parts` (all of a container's) that have none. Each loader checks the kernel and the location of
/// the scalars itself.
SPMVPACK_EXPORT Operand check_description(const MultiplyDescription& description, const MatrixFacts& facts,
                                          std::span<const PartInfo> parts);

/// Error(errc::usage) if the rows of X or Y do not match op(A)'s columns or rows, if X and Y differ in their numbers of
/// columns, if Y has an element twice, or if X and Y overlap.
SPMVPACK_EXPORT void check_operands(const Operand& operand, Operation operation, const DensePlace& x,
                                    const DensePlace& y);

/// Error(errc::usage) unless there are as many factors as A has `expected` rows, or columns, as `sides` says, or none,
/// and they do not overlap Y, whose elements are of their type.
SPMVPACK_EXPORT void check_factors(const DensePlace& factors, std::uint64_t expected, const char* sides,
                                   const DensePlace& y);
/// The same of both.
template <class T>
void check_scaling(const Scaling<T>& scaling, const MatrixFacts& facts, const DenseView<T>& y) {
  check_factors(DenseView<const T>(scaling.rows), facts.rows, "rows", y);
  check_factors(DenseView<const T>(scaling.columns), facts.cols, "columns", y);
}

/// Whether the first part that multiplies has all rows, each once, and so scales y along the way. If not, y = beta y
/// comes first, and every part adds.
SPMVPACK_EXPORT bool first_part_scales(const Operand& operand, std::span<const PartInfo> parts) noexcept;

/// A multiply part by part, in the order of their results' additions: calls run(part, add, negate) with the index in
/// `parts` (all of a container's), whether beta is 1 instead of the caller's, and whether alpha is the caller's
/// negative.
template <class F>
void each_part(const Operand& operand, std::span<const PartInfo> parts, F&& run) {
  const std::size_t of_a = parts_of(parts, format::Role::a).size();
  const bool is_a = operand.role == format::Role::a, scales = first_part_scales(operand, parts);
  const std::size_t first = is_a ? 0 : of_a, end = is_a ? of_a : parts.size();
  for (std::size_t part = first; part < end; ++part) run(part, !(scales && part == first), operand.negated);
}

/// Whether a loader can multiply with the transpose: the container has it, or it is A, -A or A's conjugate.
SPMVPACK_EXPORT bool has_transpose(const MatrixFacts& facts, std::span<const PartInfo> parts) noexcept;

/// Whether a container with these parts has a permuted basis: one part of A, whose layout numbers rows and columns
/// alike. Its list of rows is the permutation: element i of a permuted vector is element row_map[i] of the user's.
SPMVPACK_EXPORT bool has_permuted_basis(std::span<const PartInfo> parts);

}  // namespace spmvpack
