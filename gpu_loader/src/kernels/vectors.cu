#include "kernels/launch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"

namespace spmvpack::gpu_loader {
namespace {

template <class V>
__global__ void scale_kernel(DeviceScalar<V> beta, V* y, RowMap map, std::uint64_t n) {
  const V b = beta.get();
  if (b == V{1}) return;
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    V* const at = y + map(i);
    *at = scaled(b, at);
  }
}

template <class V>
__global__ void gather_kernel(DeviceScalar<V> alpha, const std::uint32_t* list, const V* from, V* to, std::uint64_t n) {
  const bool read = alpha.get() != V{0};
  for (std::uint64_t i = first_item(); i < n; i += stride()) to[i] = read ? from[list[i]] : V{0};
}

template <class V>
__global__ void copy_kernel(DeviceScalar<V> factor, const V* from, std::int64_t from_stride, V* to,
                            std::int64_t to_stride, std::uint64_t n) {
  const bool read = factor.get() != V{0};
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const auto at = static_cast<std::int64_t>(i);
    to[at * to_stride] = read ? from[at * from_stride] : V{0};
  }
}

template <class V>
__global__ void scatter_kernel(const std::uint32_t* list, const V* from, V* to, std::uint64_t n) {
  for (std::uint64_t i = first_item(); i < n; i += stride()) to[list[i]] = from[i];
}

/// Neighbouring threads have neighbouring rows: the columns of a block are few, and each is read, or read and written,
/// in whole lines if its elements are neighbours.
template <class V>
__global__ void scale_columns_kernel(DeviceScalar<V> beta, V* y, std::int64_t row_stride, std::int64_t col_stride,
                                     std::uint64_t rows, std::uint32_t columns) {
  const V b = beta.get();
  if (b == V{1}) return;
  for (std::uint64_t i = first_item(); i < rows; i += stride())
    for (std::uint32_t j = 0; j < columns; ++j) {
      V* const at = y + (static_cast<std::int64_t>(i) * row_stride + j * col_stride);
      *at = scaled(b, at);
    }
}

/// A thread takes 16 bytes of a row of the copy. What is read goes by neighbouring threads: along rows of `from`, or
/// down its columns.
template <class V>
__global__ void pack_columns_kernel(DeviceScalar<V> alpha, const V* from, std::int64_t row_stride,
                                    std::int64_t col_stride, const std::uint32_t* list, V* to,
                                    std::uint64_t to_row_stride, std::uint64_t rows, std::uint32_t columns) {
  constexpr std::uint32_t size = 16 / sizeof(V);
  const std::uint32_t pieces = (columns + size - 1) / size;
  const bool read = alpha.get() != V{0}, along_rows = col_stride == 1;
  for (std::uint64_t n = first_item(); n < rows * pieces; n += stride()) {
    const std::uint64_t i = along_rows ? n / pieces : n % rows, first = (along_rows ? n % pieces : n / rows) * size;
    const V* const row = from + static_cast<std::int64_t>(list == nullptr ? i : list[i]) * row_stride;
    V element[size];
#pragma unroll
    for (std::uint32_t c = 0; c < size; ++c)
      element[c] = read && first + c < columns ? row[static_cast<std::int64_t>(first + c) * col_stride] : V{0};
    uint4 words;
    memcpy(&words, element, sizeof words);
    *reinterpret_cast<uint4*>(to + (i * to_row_stride + first)) = words;
  }
}

constexpr unsigned threads = tuning::vector_threads;

/// Of 16 bytes, in a row of so many columns.
template <class V>
constexpr std::uint64_t packed_pieces(std::uint64_t columns) {
  return div_up(columns * sizeof(V), std::uint64_t{16});
}

}  // namespace

void scale_vector(ValueType type, const AnyScalar& beta, void* y, const std::uint32_t* list, std::uint64_t n,
                  Stream stream) {
  if (n == 0 || is_known(beta, 1)) return;
  dispatch(type, [&]<class V>(V) {
    launch(scale_kernel<V>, stride_blocks(n, threads), threads, stream, device_scalar<V>(beta), static_cast<V*>(y),
           RowMap{list}, n);
  });
}

void gather_vector(ValueType type, const AnyScalar& alpha, const std::uint32_t* list, const void* from, void* to,
                   std::uint64_t n, Stream stream) {
  if (n == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(gather_kernel<V>, stride_blocks(n, threads), threads, stream, device_scalar<V>(alpha), list,
           static_cast<const V*>(from), static_cast<V*>(to), n);
  });
}

void copy_vector(ValueType type, const AnyScalar& factor, const void* from, std::int64_t from_stride, void* to,
                 std::int64_t to_stride, std::uint64_t n, Stream stream) {
  if (n == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(copy_kernel<V>, stride_blocks(n, threads), threads, stream, device_scalar<V>(factor),
           static_cast<const V*>(from), from_stride, static_cast<V*>(to), to_stride, n);
  });
}

void scale_columns(ValueType type, const AnyScalar& beta, const ColumnBlock<void>& y, std::uint64_t rows,
                   Stream stream) {
  if (rows == 0 || is_known(beta, 1)) return;
  dispatch(type, [&]<class V>(V) {
    launch(scale_columns_kernel<V>, stride_blocks(rows, threads), threads, stream, device_scalar<V>(beta),
           static_cast<V*>(y.y), y.y_row_stride, y.y_col_stride, rows, static_cast<std::uint32_t>(y.count));
  });
}

void pack_columns(ValueType type, const AnyScalar& alpha, const ColumnBlock<void>& from, const std::uint32_t* list,
                  void* to, std::uint64_t to_row_stride, std::uint64_t rows, Stream stream) {
  if (rows == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(pack_columns_kernel<V>, stride_blocks(rows * packed_pieces<V>(from.count), threads), threads, stream,
           device_scalar<V>(alpha), static_cast<const V*>(from.x), from.x_row_stride, from.x_col_stride, list,
           static_cast<V*>(to), to_row_stride, rows, static_cast<std::uint32_t>(from.count));
  });
}

void scatter_vector(ValueType type, const std::uint32_t* list, const void* from, void* to, std::uint64_t n,
                    Stream stream) {
  if (n == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(scatter_kernel<V>, stride_blocks(n, threads), threads, stream, list, static_cast<const V*>(from),
           static_cast<V*>(to), n);
  });
}

}  // namespace spmvpack::gpu_loader
