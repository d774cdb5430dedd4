#pragma once
// What a multiply's operands say of its workspace.

#include <cstdint>

#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::gpu_loader {

/// Whether kernels take X where it lies: they load 16 bytes of a row at once, and count bytes between rows in 32 bits.
template <class T>
bool is_row_major(const DenseView<const T>& x) {
  if (x.rows == 0 || x.cols == 0) return true;
  const std::uint64_t bytes = static_cast<std::uint64_t>(x.row_stride) * sizeof(T);
  return x.col_stride == 1 && x.row_stride >= 0 && bytes <= 0xFFFFFFFFU &&
         (bytes | x.cols * sizeof(T) | reinterpret_cast<std::uintptr_t>(x.data)) % 16 == 0;
}

/// The description of the multiply of these operands, with these factors.
template <class T>
MultiplyDescription described(MultiplyDescription given, const DenseView<const T>& x, const DenseView<T>& y,
                              const Scaling<T>& scaling = {}) {
  given.right_hand_sides = x.cols;
  given.strided_x = !x.has_contiguous_columns();
  given.strided_y = !y.has_contiguous_columns();
  given.row_major_x = is_row_major(x);
  given.scaled_rows = !scaling.rows.empty();
  given.scaled_columns = !scaling.columns.empty();
  return given;
}

}  // namespace spmvpack::gpu_loader
