#pragma once
// What multiply() does to x and y before the parts and after them.

#include "kernels/call.hpp"

namespace spmvpack::gpu_loader {

/// y = beta y for n elements: those in `list` (device memory), or the first n if it is null. y is not read if beta is
/// 0.
void scale_vector(ValueType type, const AnyScalar& beta, void* y, const std::uint32_t* list, std::uint64_t n,
                  Stream stream);
/// to[i] = from[list[i]] for i < n. If alpha is 0, nothing is read and `to` becomes 0.
void gather_vector(ValueType type, const AnyScalar& alpha, const std::uint32_t* list, const void* from, void* to,
                   std::uint64_t n, Stream stream);
/// to[i to_stride] = from[i from_stride] for i < n, times factors[i] if they are not null. If factor is 0, nothing is
/// read, and the elements become 0.
void copy_vector(ValueType type, const AnyScalar& factor, const void* from, std::int64_t from_stride, void* to,
                 std::int64_t to_stride, std::uint64_t n, Stream stream, const void* factors = nullptr);
/// Y = beta Y for rows x columns elements, those of `y`.
void scale_columns(ValueType type, const AnyScalar& beta, const ColumnBlock<void>& y, std::uint64_t rows,
                   Stream stream);
/// Copies columns of X to where they are the neighbours in rows: to[i to_row_stride + j] is element (i, j) of
/// `from`'s X, or (list[i], j), times factors[i] if they are not null. If alpha is 0, nothing is read, and the elements
/// become 0.
void pack_columns(ValueType type, const AnyScalar& alpha, const ColumnBlock<void>& from, const std::uint32_t* list,
                  void* to, std::uint64_t to_row_stride, std::uint64_t rows, Stream stream,
                  const void* factors = nullptr);
/// The element at `to` becomes 0 if alpha, which is on the device, is 0; else 1.
void set_unit(ValueType type, const AnyScalar& alpha, void* to, Stream stream);
/// Y = fma(alpha factors, S, beta Y): row i of sums S times alpha factors[i]. S are `sums.y`, Y is `y.y`, of as many
/// columns; both may be the same. If alpha is 0, only Y is read; if beta is 0, Y is not.
void scale_sums(ValueType type, const AnyScalar& alpha, const void* factors, const ColumnBlock<void>& sums,
                const AnyScalar& beta, const ColumnBlock<void>& y, std::uint64_t rows, Stream stream);
/// to[list[i]] = from[i] for i < n.
void scatter_vector(ValueType type, const std::uint32_t* list, const void* from, void* to, std::uint64_t n,
                    Stream stream);

}  // namespace spmvpack::gpu_loader
