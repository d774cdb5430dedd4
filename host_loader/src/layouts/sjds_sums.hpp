#pragma once
// What sjds's multiplies share, whatever the instructions.

#include <array>
#include <cmath>
#include <cstdint>

#include "kernels.hpp"
#include "long_rows.hpp"
#include "spmvpack/container/layouts/sjds.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

using namespace spmvpack::layouts::sjds;  // what the bytes mean

/// Loads are fetched so far ahead.
constexpr std::size_t ahead_bytes = 8192;

/// What values come from: the array; codes; one value, which all codes name.
enum class Values : std::uint8_t { raw, code, one };

/// The values that codes name.
template <class V>
struct CodedValues {
  alignas(cache_line) std::array<V, max_table> values{};
  std::uint32_t count = 0;
};

/// A piece of a long row in the order of the visits.
struct PieceVisit {
  std::uint32_t piece;
  PieceColumns columns;
};

/// What a multiply's slices share.
template <class A, class V>
struct Product {
  View<A> v;
  Operands<V> to;
  const CodedValues<V>& coded;
  const PieceVisit* visits;
  V* piece_sums;  ///< of all pieces

  /// Of a row in a window that was scaled as a whole.
  [[nodiscard]] SPMVPACK_INLINE Operands<V> to_scaled() const {
    Operands<V> scaled_already = to;
    scaled_already.beta = to.beta == 0 ? V{0} : V{1};
    return scaled_already;
  }
};

/// What a thread does: slices of rows [begin, end), of windows from first_window to last_window; visits to pieces.
struct Share {
  std::uint64_t begin, end, first_window, last_window, first_piece, last_piece;
};

}  // namespace spmvpack::host_loader::layouts::sjds_sums
