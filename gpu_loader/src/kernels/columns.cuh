#pragma once
// Several columns of X and Y at once. X is row-major: a row of A is multiplied by neighbouring threads, *column lanes*,
// each with one or two pieces of 16 bytes of the rows of X. A row of X that is read so is a few whole sectors, whatever
// its column; and every column has its own sums, in the order of the kernel for one.

#include <cstdint>
#include <cstring>

#include "kernels/call.hpp"
#include "kernels/launch.cuh"
#include "kernels/read_once.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"

namespace spmvpack::gpu_loader {

/// Columns that are 16 bytes of a row of X.
template <class V>
inline constexpr unsigned piece_columns = 16 / sizeof(V);

/// The columns of a column lane, in so many pieces of 16 bytes: elements of X or Y, or sums.
template <class V, unsigned number = 1>
struct alignas(16) Pack {
  static constexpr unsigned pieces = number, size = pieces * piece_columns<V>;
  V of[size];

  __device__ __forceinline__ void add_product(V factor, const Pack& x) {
#pragma unroll
    for (unsigned c = 0; c < size; ++c) of[c] = fma(factor, x.of[c], of[c]);
  }
  __device__ __forceinline__ friend Pack operator+(const Pack& a, const Pack& b) {
    Pack sum;
#pragma unroll
    for (unsigned c = 0; c < size; ++c) sum.of[c] = a.of[c] + b.of[c];
    return sum;
  }
};

/// The operands of a multiply of several columns: Y = alpha A X + beta Y. The 16 bytes of every column lane are X's,
/// and aligned: where its columns do not fill them, or lie otherwise, multiply() has made a copy.
template <class V>
struct ColumnOperands {
  DeviceScalar<V> alpha, beta;
  const V* x;
  V* y;
  std::uint32_t x_row_bytes;     ///< from a row of X to the next; its columns are neighbours
  std::uint32_t columns, lanes;  ///< lanes: of a row
  std::int64_t y_row, y_col;     ///< strides
  RowMap map;
  ReadOnce once;
  bool y_aligned;  ///< whether all 16 bytes of a lane of Y are one load or store

  /// `pieces`: of a column lane.
  explicit ColumnOperands(const MultiplyCall& call, unsigned pieces = 1)
      : alpha(device_scalar<V>(call.alpha)),
        beta(device_scalar<V>(call.beta)),
        x(static_cast<const V*>(call.columns.x)),
        y(static_cast<V*>(call.columns.y)),
        x_row_bytes(static_cast<std::uint32_t>(call.columns.x_row_stride * static_cast<std::int64_t>(sizeof(V)))),
        columns(static_cast<std::uint32_t>(call.columns.count)),
        lanes(div_up(columns, pieces * piece_columns<V>)),
        y_row(call.columns.y_row_stride),
        y_col(call.columns.y_col_stride),
        map{call.row_list},
        once(call),
        y_aligned(y_col == 1 &&
                  (reinterpret_cast<std::uintptr_t>(y) | static_cast<std::uint64_t>(y_row) * sizeof(V)) % 16 == 0) {}
};

/// What a column lane does with X and Y. Its pieces are as many apart as a row has lanes, so that neighbouring lanes
/// load neighbouring ones.
template <class V, unsigned pieces = 1>
struct ColumnLane {
  using P = Pack<V, pieces>;
  static constexpr unsigned size = piece_columns<V>;
  const std::byte* x;                      ///< of its first column
  std::uint32_t x_row_bytes, piece_bytes;  ///< from a row, or a piece, to the next
  std::uint32_t n[pieces];                 ///< columns of each piece
  bool y_aligned;
  V* y;
  std::int64_t y_row, y_col, y_piece;
  RowMap map;

  __device__ ColumnLane(const ColumnOperands<V>& o, std::uint32_t lane)
      : x(reinterpret_cast<const std::byte*>(o.x + lane * size)),
        x_row_bytes(o.x_row_bytes),
        piece_bytes(o.lanes * 16),
        y_aligned(o.y_aligned),
        y(o.y + static_cast<std::int64_t>(lane * size) * o.y_col),
        y_row(o.y_row),
        y_col(o.y_col),
        y_piece(static_cast<std::int64_t>(o.lanes * size) * o.y_col),
        map(o.map) {
#pragma unroll
    for (unsigned p = 0; p < pieces; ++p) {
      const std::uint32_t first = (p * o.lanes + lane) * size;
      n[p] = first < o.columns ? min(size, o.columns - first) : 0;
    }
  }

  /// Of a row of X; 0 where not `on`. Without a branch, so that a thread's loads are on their way together.
  [[nodiscard]] __device__ __forceinline__ P load(std::uint32_t row, bool on) const {
    const std::byte* const from = x + std::uint64_t{row} * x_row_bytes;
    P elements{};
#pragma unroll
    for (unsigned p = 0; p < pieces; ++p)
      load_piece(from + p * piece_bytes, on && (p == 0 || n[p] != 0), &elements.of[p * size]);
    return elements;
  }
  /// A row of Y becomes alpha sum + beta Y; without entries, beta Y.
  template <class Row>
  __device__ __forceinline__ void put(Row row, const P& sum, bool has_entries, V alpha, V beta) const {
    V* const at = y + static_cast<std::int64_t>(map(row)) * y_row;
#pragma unroll
    for (unsigned p = 0; p < pieces; ++p)
      put_piece(at + p * y_piece, n[p], &sum.of[p * size], has_entries, alpha, beta);
  }

 private:
  static __device__ __forceinline__ void load_piece(const std::byte* from, bool on, V* to) {
    if constexpr (sizeof(V) == 8) {
      asm("{\n\t"
          ".reg .pred on;\n\t"
          "setp.ne.u32 on, %3, 0;\n\t"
          "@on ld.global.nc.v2.f64 {%0, %1}, [%2];\n\t"
          "}"
          : "+d"(to[0]), "+d"(to[1])
          : "l"(from), "r"(static_cast<std::uint32_t>(on)));
    } else {
      static_assert(size == 4);
      asm("{\n\t"
          ".reg .pred on;\n\t"
          "setp.ne.u32 on, %5, 0;\n\t"
          "@on ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n\t"
          "}"
          : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
          : "l"(from), "r"(static_cast<std::uint32_t>(on)));
    }
  }
  __device__ __forceinline__ void put_piece(V* at, std::uint32_t columns, const V* sum, bool has_entries, V alpha,
                                            V beta) const {
    if (y_aligned && columns == size) {
      Pack<V> all{};
      if (beta != V{0}) all = *reinterpret_cast<const Pack<V>*>(at);
#pragma unroll
      for (unsigned c = 0; c < size; ++c) {
        const V before = scaled(beta, &all.of[c]);
        all.of[c] = has_entries ? fma(alpha, sum[c], before) : before;
      }
      *reinterpret_cast<Pack<V>*>(at) = all;
    } else {
#pragma unroll
      for (unsigned c = 0; c < size; ++c)
        if (c < columns) {
          V* const element = at + c * y_col;
          const V before = scaled(beta, element);
          *element = has_entries ? fma(alpha, sum[c], before) : before;
        }
    }
  }
};

/// Threads of a block, at most `most`: large blocks, whose rows are neighbours, find more of X in the first-level
/// cache; but no multiprocessor shall have none.
inline unsigned column_block(std::uint64_t all_threads, unsigned most, const DeviceFacts& device) {
  constexpr unsigned least = 128;
  while (most > least && all_threads < 2 * std::uint64_t{device.multiprocessors} * most) most = most / 64 * 32;
  return most;
}

}  // namespace spmvpack::gpu_loader
