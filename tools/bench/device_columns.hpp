#pragma once
// X and Y of several columns in device memory: row-major without gaps, or column by column.

#include "bench/device_kernels.hpp"
#include "bench/device_memory.hpp"

namespace spmvpack::bench {

/// Elements from one column to the next, column by column: each is followed by vector_slack elements at least.
constexpr std::uint64_t column_stride(std::uint64_t rows) { return round_up(rows + vector_slack, vector_slack); }
/// Bytes that hold so many columns in either order, and vector_slack rows more.
constexpr std::uint64_t columns_bytes(std::uint64_t rows, std::uint64_t columns, ValueType type) {
  return column_stride(rows) * columns * size_of(type);
}

/// A copy of row-major columns, column by column, zeros between them.
inline std::shared_ptr<void> by_columns(const void* from, std::uint64_t rows, std::uint64_t columns, ValueType type,
                                        CUstream_st* stream) {
  const std::uint64_t bytes = columns_bytes(rows, columns, type);
  std::shared_ptr<void> to = allocate_device(bytes);
  require_cuda(cudaMemsetAsync(to.get(), 0, bytes, stream), "clearing columns");
  copy_elements(from, {columns, 1}, to.get(), {1, column_stride(rows)}, rows, columns, size_of(type), stream);
  require_cuda(cudaStreamSynchronize(stream), "copying columns");
  return to;
}

/// Makes what lies there column by column row-major.
inline void make_row_major(void* data, std::uint64_t rows, std::uint64_t columns, ValueType type, CUstream_st* stream) {
  const std::uint64_t bytes = columns_bytes(rows, columns, type);
  const std::shared_ptr<void> copy = allocate_device(bytes);
  require_cuda(cudaMemcpyAsync(copy.get(), data, bytes, cudaMemcpyDeviceToDevice, stream), "copying columns");
  copy_elements(copy.get(), {1, column_stride(rows)}, data, {columns, 1}, rows, columns, size_of(type), stream);
  require_cuda(cudaStreamSynchronize(stream), "copying columns");
}

}  // namespace spmvpack::bench
