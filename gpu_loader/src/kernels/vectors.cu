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

template <class V>
__global__ void pack_columns_kernel(DeviceScalar<V> alpha, const V* from, std::int64_t row_stride,
                                    std::int64_t col_stride, const std::uint32_t* list, V* to,
                                    std::uint64_t to_row_stride, std::uint64_t rows, std::uint32_t columns) {
  constexpr std::uint32_t together = 8;
  const bool read = alpha.get() != V{0};
  for (std::uint64_t i = first_item(); i < rows; i += stride()) {
    const V* const row = from + static_cast<std::int64_t>(list == nullptr ? i : list[i]) * row_stride;
    for (std::uint32_t first = 0; first < columns; first += together) {
      V element[together];
#pragma unroll
      for (std::uint32_t c = 0; c < together; ++c)
        element[c] = read && first + c < columns ? row[(first + c) * col_stride] : V{0};
#pragma unroll
      for (std::uint32_t c = 0; c < together; ++c)
        if (first + c < columns) to[i * to_row_stride + first + c] = element[c];
    }
  }
}

constexpr unsigned threads = tuning::vector_threads;

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
    launch(pack_columns_kernel<V>, stride_blocks(rows, threads), threads, stream, device_scalar<V>(alpha),
           static_cast<const V*>(from.x), from.x_row_stride, from.x_col_stride, list, static_cast<V*>(to),
           to_row_stride, rows, static_cast<std::uint32_t>(from.count));
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
