#pragma once
// What sjds's multiplies share, whatever the instructions.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "layouts/kernels.hpp"
#include "layouts/sjds/shares.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/launch_rules/sjds_kinds.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

using launch_rules::sjds::consecutive, launch_rules::sjds::groups, launch_rules::sjds::Kind;

/// Loads are fetched so far ahead.
constexpr std::size_t ahead_bytes = 8192;

/// The places of a window step as columns: four bits for each lane.
struct EightPlaces {
  std::uint32_t bits;
  SPMVPACK_INLINE std::uint32_t operator[](std::uint32_t lane) const { return bits >> 4 * lane & 15U; }
};
/// What no places of eight columns have that lie within eight.
constexpr std::uint32_t beyond_eight = 0x88888888;

/// All lanes have the same columns.
struct OneColumn {};

/// Eight columns, loaded one by one or by whoever knows how.
template <class Column>
struct ColumnsInMemory {
  const Column* columns;
  SPMVPACK_INLINE explicit ColumnsInMemory(const Column* c) : columns(c) {}
  SPMVPACK_INLINE std::uint64_t operator[](std::uint32_t i) const { return columns[i]; }
};

/// The places of a slice's raw values where each slice's begin at a multiple of eight.
constexpr std::uint32_t aligned_entries(const Slice& slice) {
  return static_cast<std::uint32_t>(round_up(slice.entries(), lanes));
}

/// What values come from: the array; codes; one value, which all codes name.
enum class Values : std::uint8_t { raw, code, one };

/// The values that codes name.
template <class V>
struct CodedValues {
  alignas(cache_line) std::array<V, max_table> values{};
  std::uint32_t count = 0;
};

/// What a multiply's slices share.
template <class A, class V>
struct Product {
  View<A> v;
  Operands<V> to;
  const CodedValues<V>& coded;
  const OtherRows& others;
  const Kind* kinds;  ///< of slices of rows; null: any
  const PieceVisit* visits;
  V* piece_sums;  ///< of all pieces

  /// Of a row in a window that was scaled as a whole.
  [[nodiscard]] SPMVPACK_INLINE Operands<V> to_scaled() const {
    Operands<V> scaled_already = to;
    scaled_already.beta = to.beta == 0 ? V{0} : V{1};
    return scaled_already;
  }
};

}  // namespace spmvpack::host_loader::layouts::sjds_sums
