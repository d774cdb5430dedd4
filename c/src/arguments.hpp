#pragma once
// What callers in C pass, checked and as C++ has it; and what they get back.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/spmvpack.h"
#include "status.hpp"

namespace spmvpack::c {

/// Error (usage) if there is none.
ValueType type_of(spmvpack_type type);

/// Calls f with the span of `size` indices at `place`.
template <class F>
decltype(auto) with_indices(spmvpack_index type, const void* place, std::uint64_t size, const char* name, F&& f) {
  require(type == SPMVPACK_I32 || type == SPMVPACK_I64, "no such type of indices");
  if (size != 0) require_pointer(place, name);
  return type == SPMVPACK_I64 ? f(std::span(static_cast<const std::int64_t*>(place), size))
                              : f(std::span(static_cast<const std::int32_t*>(place), size));
}

/// A matrix in the caller's arrays, whose view refers to these and to `narrow`.
struct SparseArrays {
  /// `values`: c.values, or null if nobody reads them. Errors: errc::usage, errc::unsupported, those of
  /// narrow_indices().
  SparseArrays(const spmvpack_csr& c, const void* values, int threads);
  Array<std::uint32_t> narrow;
  CsrView view;
};

/// Error (usage) unless row pointers and columns of a matrix of this size fit the caller's arrays.
void require_arrays(const spmvpack_csr_arrays& to, std::uint64_t rows, std::uint64_t cols, std::uint64_t nonzeros);
/// Copies them there.
void copy_pattern(const Array<std::uint64_t>& row_ptr, const Array<std::uint32_t>& col_idx,
                  const spmvpack_csr_arrays& to);

spmvpack_info info_of(const MatrixFacts& facts, std::uint64_t device_bytes);

/// Writes the defaults to a structure of the caller with room for `size` bytes: what this version lacks becomes 0.
void initialize(spmvpack_encode_options* c, std::size_t size);
void initialize(spmvpack_load_options* c, std::size_t size);
void initialize(spmvpack_multiply_description* c, std::size_t size, spmvpack_type vectors);
void initialize(spmvpack_payback* c, std::size_t size);

/// The defaults if there are none.
spmvpack_encode_options options_of(const spmvpack_encode_options* c);
LoadOptions options_of(const spmvpack_load_options* c);
gpu_loader::DeviceLoadOptions device_options_of(const spmvpack_load_options* c);

/// Errors of the aim and of what is to measure, too.
encoder::EncodeRequest request_of(const spmvpack_encode_options& c);

/// Figures as C has them: none if nothing was predicted.
spmvpack_payback payback_of(const encoder::EncodeResult& result);
/// Writes them to the caller's structure, whose size may be that of an older or a newer header.
void give(const spmvpack_payback& payback, spmvpack_payback* to);

/// The caller's description, whose type of vectors is known.
spmvpack_multiply_description sized_description(const spmvpack_multiply_description* description);
/// A multiply of one column, as the functions without a description have it.
spmvpack_multiply_description of_one_column(spmvpack_operation operation, spmvpack_type vectors);

/// X or Y as the description has it.
template <class T>
DenseView<T> view_of(T* data, std::uint64_t rows, std::uint64_t cols, spmvpack_order order, std::uint64_t leading,
                     const char* name) {
  require(order == SPMVPACK_ORDER_COLUMNS || order == SPMVPACK_ORDER_ROWS, "no such order of X or Y");
  const bool by_columns = order == SPMVPACK_ORDER_COLUMNS;
  const std::uint64_t least = by_columns ? rows : cols;
  if (leading == 0) leading = least;
  if (leading < least)
    throw Error(errc::usage,
                std::string(name) + " is " + std::to_string(leading) + ", less than a " +
                    (by_columns ? "column's " : "row's ") + std::to_string(least) + " elements",
                {},
                by_columns ? "give the distance between columns, or 0 if they are contiguous"
                           : "give the distance between rows, or 0 if they are contiguous");
  require(leading < std::uint64_t{1} << 60, "a leading dimension that no memory has");
  const auto stride = static_cast<std::int64_t>(leading);
  return by_columns ? DenseView<T>(data, rows, cols, 1, stride) : DenseView<T>(data, rows, cols, stride, 1);
}

template <class V>
struct Views {
  Views(const MatrixFacts& facts, const spmvpack_multiply_description& d, const void* x_data, void* y_data)
      : x(view_of(static_cast<const V*>(x_data), d.operation == SPMVPACK_OPERATION_N ? facts.cols : facts.rows,
                  d.right_hand_sides, d.order_x, d.ldx, "ldx")),
        y(view_of(static_cast<V*>(y_data), d.operation == SPMVPACK_OPERATION_N ? facts.rows : facts.cols,
                  d.right_hand_sides, d.order_y, d.ldy, "ldy")) {}
  DenseView<const V> x;
  DenseView<V> y;
};

/// Converts the description of a multiply with such operands to C++, which checks its contents.
template <class V>
MultiplyDescription description_of(const spmvpack_multiply_description& c, const Views<V>& views) {
  MultiplyDescription description = describe<V>(static_cast<Operation>(c.operation));
  description.right_hand_sides = checked_mul(description.right_hand_sides, c.right_hand_sides, "columns");
  description.strided_x |= !views.x.has_contiguous_columns();
  description.strided_y |= !views.y.has_contiguous_columns();
  description.scalars_on_device = c.scalars_on_device != 0;
  description.kernel = {c.kernel};
  description.scaled_rows = c.row_factors != nullptr;
  description.scaled_columns = c.column_factors != nullptr;
  return description;
}

/// The factors of a description.
template <class T>
Scaling<T> scaling_of(const spmvpack_multiply_description& c, const MatrixFacts& facts) {
  const auto factors = [](const void* place, std::uint64_t size) {
    return place == nullptr ? std::span<const T>() : std::span(static_cast<const T*>(place), size);
  };
  return {factors(c.row_factors, facts.rows), factors(c.column_factors, facts.cols)};
}

}  // namespace spmvpack::c
