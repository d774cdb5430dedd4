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
__device__ V times(const V* factors, std::uint64_t i, V element) {
  return factors == nullptr ? element : factors[i] * element;
}

template <class V>
__global__ void copy_kernel(DeviceScalar<V> factor, const V* from, std::int64_t from_stride, V* to,
                            std::int64_t to_stride, std::uint64_t n, const V* factors) {
  const bool read = factor.get() != V{0};
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const auto at = static_cast<std::int64_t>(i);
    to[at * to_stride] = read ? times(factors, i, from[at * from_stride]) : V{0};
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

constexpr unsigned threads = tuning::vector_threads;
/// Rows of a tile, columns of one at most, and from a row of it to the next, so that neither columns nor rows of it
/// meet in a bank.
constexpr unsigned tile_rows = 64, tile_columns = 32, tile_row = tile_columns + 1;

/// 16 bytes of the copy.
template <class V>
__device__ void put_piece(V* to, const V (&element)[16 / sizeof(V)]) {
  uint4 words;
  memcpy(&words, element, sizeof words);
  *reinterpret_cast<uint4*>(to) = words;
}

/// Of rows whose columns are neighbours: a thread takes 16 bytes of a row of the copy.
template <class V>
__global__ void pack_rows_kernel(DeviceScalar<V> alpha, const V* from, std::int64_t row_stride,
                                 const std::uint32_t* list, V* to, std::uint64_t to_row_stride, std::uint64_t rows,
                                 std::uint32_t columns, const V* factors) {
  constexpr std::uint32_t size = 16 / sizeof(V);
  const std::uint32_t pieces = (columns + size - 1) / size;
  const bool read = alpha.get() != V{0};
  for (std::uint64_t n = first_item(); n < rows * pieces; n += stride()) {
    const std::uint64_t i = n / pieces, first = n % pieces * size;
    const V* const row = from + static_cast<std::int64_t>(list == nullptr ? i : list[i]) * row_stride;
    V element[size];
#pragma unroll
    for (std::uint32_t c = 0; c < size; ++c)
      element[c] = read && first + c < columns ? times(factors, i, row[first + c]) : V{0};
    put_piece(to + (i * to_row_stride + first), element);
  }
}

/// Of columns that lie otherwise, by tiles in shared memory: neighbouring threads read down a column and write along
/// rows.
template <class V>
__global__ void __launch_bounds__(threads)
    pack_tiles_kernel(DeviceScalar<V> alpha, const V* from, std::int64_t row_stride, std::int64_t col_stride,
                      const std::uint32_t* list, V* to, std::uint64_t to_row_stride, std::uint64_t rows,
                      std::uint32_t columns, const V* factors) {
  __shared__ V tile[tile_rows * tile_row];
  constexpr std::uint32_t size = 16 / sizeof(V);
  const bool read = alpha.get() != V{0};
  const std::uint32_t i = threadIdx.x % tile_rows;
  for (std::uint64_t begin = std::uint64_t{blockIdx.x} * tile_rows; begin < rows;
       begin += std::uint64_t{gridDim.x} * tile_rows) {
    const auto here = static_cast<std::uint32_t>(min(rows - begin, std::uint64_t{tile_rows}));
    const std::uint64_t row = i >= here ? 0 : list == nullptr ? begin + i : list[begin + i];
    for (std::uint32_t first = 0; first < columns; first += tile_columns) {
      const std::uint32_t count = min(columns - first, tile_columns), pieces = (count + size - 1) / size;
      for (std::uint32_t j = threadIdx.x / tile_rows; j < pieces * size; j += threads / tile_rows)
        tile[i * tile_row + j] =
            read && i < here && j < count
                ? times(factors, begin + i,
                        from[static_cast<std::int64_t>(row) * row_stride + (first + j) * col_stride])
                : V{0};
      __syncthreads();
      for (std::uint32_t n = threadIdx.x; n < here * pieces; n += threads) {
        const std::uint32_t r = n / pieces, c = n % pieces * size;
        V element[size];
#pragma unroll
        for (std::uint32_t k = 0; k < size; ++k) element[k] = tile[r * tile_row + c + k];
        put_piece(to + ((begin + r) * to_row_stride + first + c), element);
      }
      __syncthreads();
    }
  }
}

template <class V>
__global__ void unit_kernel(DeviceScalar<V> alpha, V* to) {
  *to = alpha.get() == V{0} ? V{0} : V{1};
}

/// Neighbouring threads take neighbours of Y: along its rows, or down its columns.
template <class V>
__global__ void scale_sums_kernel(DeviceScalar<V> alpha, const V* factors, const V* sums, std::int64_t sums_row_stride,
                                  std::int64_t sums_col_stride, DeviceScalar<V> beta, V* y, std::int64_t row_stride,
                                  std::int64_t col_stride, std::uint64_t rows, std::uint32_t columns) {
  const V a = alpha.get(), b = beta.get();
  const bool along_rows = columns > 1 && col_stride == 1;
  for (std::uint64_t n = first_item(); n < rows * columns; n += stride()) {
    const auto i = static_cast<std::int64_t>(columns == 1 ? n : along_rows ? n / columns : n % rows);
    const auto j = static_cast<std::int64_t>(columns == 1 ? 0 : along_rows ? n % columns : n / rows);
    V* const at = y + (i * row_stride + j * col_stride);
    const V before = scaled(b, at);
    *at = a == V{0} ? before : fma(a * factors[i], sums[i * sums_row_stride + j * sums_col_stride], before);
  }
}

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
                 std::int64_t to_stride, std::uint64_t n, Stream stream, const void* factors) {
  if (n == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(copy_kernel<V>, stride_blocks(n, threads), threads, stream, device_scalar<V>(factor),
           static_cast<const V*>(from), from_stride, static_cast<V*>(to), to_stride, n, static_cast<const V*>(factors));
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
                  void* to, std::uint64_t to_row_stride, std::uint64_t rows, Stream stream, const void* factors) {
  if (rows == 0) return;
  dispatch(type, [&]<class V>(V) {
    const DeviceScalar<V> factor = device_scalar<V>(alpha);
    const auto* const x = static_cast<const V*>(from.x);
    const auto* const scales = static_cast<const V*>(factors);
    const auto columns = static_cast<std::uint32_t>(from.count);
    if (from.x_col_stride == 1)
      launch(pack_rows_kernel<V>, stride_blocks(rows * packed_pieces<V>(columns), threads), threads, stream, factor, x,
             from.x_row_stride, list, static_cast<V*>(to), to_row_stride, rows, columns, scales);
    else
      launch(pack_tiles_kernel<V>, stride_blocks(rows, tile_rows), threads, stream, factor, x, from.x_row_stride,
             from.x_col_stride, list, static_cast<V*>(to), to_row_stride, rows, columns, scales);
  });
}

void set_unit(ValueType type, const AnyScalar& alpha, void* to, Stream stream) {
  dispatch(type,
           [&]<class V>(V) { launch(unit_kernel<V>, 1, 1, stream, device_scalar<V>(alpha), static_cast<V*>(to)); });
}

void scale_sums(ValueType type, const AnyScalar& alpha, const void* factors, const ColumnBlock<void>& sums,
                const AnyScalar& beta, const ColumnBlock<void>& y, std::uint64_t rows, Stream stream) {
  if (rows == 0 || y.count == 0) return;
  dispatch(type, [&]<class V>(V) {
    launch(scale_sums_kernel<V>, stride_blocks(rows * y.count, threads), threads, stream, device_scalar<V>(alpha),
           static_cast<const V*>(factors), static_cast<const V*>(sums.y), sums.y_row_stride, sums.y_col_stride,
           device_scalar<V>(beta), static_cast<V*>(y.y), y.y_row_stride, y.y_col_stride, rows,
           static_cast<std::uint32_t>(y.count));
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
