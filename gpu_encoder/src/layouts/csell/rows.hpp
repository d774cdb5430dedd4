#pragma once
// A matrix in device memory as rows of full blocks, and what the lanes of a warp have of a slice of it.

#include <cstdint>

#include "csr_arrays.hpp"
#include "execution/warp.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_encoder::csell {

using namespace spmvpack::layouts::csell;  // what the bytes mean
using spmvpack::layouts::csell::Group;     // and not the group of threads

/// The elements of an array of 4 or 8 bytes each, by their bits: passes are compiled once for both.
struct Words {
  const void* data = nullptr;
  std::uint32_t size = 8;

  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t operator[](std::uint64_t i) const {
    return size == 4 ? static_cast<const std::uint32_t*>(data)[i] : static_cast<const std::uint64_t*>(data)[i];
  }
  /// From element i on.
  [[nodiscard]] SPMVPACK_HOST_DEVICE Words from(std::uint64_t i) const {
    return {static_cast<const std::byte*>(data) + i * size, size};
  }
};
/// Writes an element of such an array.
SPMVPACK_HOST_DEVICE inline void put_word(void* data, std::uint32_t size, std::uint64_t i, std::uint64_t bits) {
  if (size == 4)
    static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(bits);
  else
    static_cast<std::uint64_t*>(data)[i] = bits;
}

/// A matrix as rows of full blocks, as encoder's BlockRows.
struct Rows {
  Csr a;
  Words values;
  std::uint32_t block = 1;

  Rows(const Csr& of, std::uint32_t block_size)
      : a(of), values{of.value_bits, static_cast<std::uint32_t>(size_of(of.type))}, block(block_size) {}

  /// n / block, by constants.
  template <class N>
  [[nodiscard]] SPMVPACK_HOST_DEVICE N in_blocks(N n) const {
    static_assert(max_block == 4);
    return block == 1 ? n : block == 2 ? n / 2 : block == 3 ? n / 3 : n / 4;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t rows() const { return in_blocks(a.rows); }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slices() const { return (rows() + lanes - 1) / lanes; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t block_values() const { return block * block; }
  /// The first entry of row r of a block row.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t begin(std::uint64_t row, std::uint32_t r = 0) const {
    return a.row_ptr(row * block + r);
  }
  /// The first entry of a slice; of a number beyond the last one, the end.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slice_begin(std::uint64_t slice) const {
    const std::uint64_t row = slice * lanes * block;
    return a.row_ptr(row < a.rows ? row : a.rows);
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t blocks(std::uint64_t slice) const {
    return in_blocks(in_blocks(slice_begin(slice + 1) - slice_begin(slice)));
  }
};

/// What the lanes of a warp have of a slice: each a block row.
template <class Warp>
struct SliceLanes {
  using Numbers = typename Warp::template PerLane<std::uint32_t>;
  typename Warp::template PerLane<std::uint64_t> begin;  ///< of the row, in the matrix; 0 without one
  Numbers length, taken;                                 ///< blocks
  /// Of the matrix from entry `from` on: all of it, or what is near the warp.
  const std::uint32_t* columns;
  std::uint64_t from = 0;

  SPMVPACK_HOST_DEVICE SliceLanes(Warp& w, const Rows& rows, std::uint64_t slice) : columns(rows.a.col_idx) {
    w.each([&](unsigned lane) {
      const std::uint64_t row = slice * lanes + lane;
      const bool has_row = row < rows.rows();
      begin[lane] = has_row ? rows.begin(row) : 0;
      length[lane] = has_row ? rows.in_blocks(static_cast<std::uint32_t>(rows.begin(row, 1) - begin[lane])) : 0;
      taken[lane] = 0;
    });
  }
  /// Has the columns of all entries near the warp, if there is room.
  SPMVPACK_HOST_DEVICE void fetch_columns(Warp& w, const Rows& rows, std::uint64_t slice) {
    if (rows.block != 1) return;  // of a block row only the first row is read
    const std::uint64_t first = rows.slice_begin(slice), n = rows.slice_begin(slice + 1) - first;
    const std::uint32_t* const all = rows.a.col_idx + first;
    const std::uint32_t* const near = w.near(all, n);
    if (near == all) return;
    columns = near;
    from = first;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool has_next(unsigned lane) const { return taken[lane] != length[lane]; }
  /// The column of blocks of a lane's next entry, or of one so many after it.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t column(const Rows& rows, unsigned lane,
                                                          std::uint32_t after = 0) const {
    return rows.in_blocks(columns[begin[lane] - from + std::uint64_t{taken[lane] + after} * rows.block]);
  }
};

}  // namespace spmvpack::gpu_encoder::csell
