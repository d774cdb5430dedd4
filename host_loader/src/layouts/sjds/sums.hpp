#pragma once
// What sjds's multiplies share, whatever the instructions.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "layouts/kernels.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"
#include "spmvpack/launch_rules/sjds_kinds.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

using namespace spmvpack::layouts::sjds;  // what the bytes mean
using namespace launch_rules::long_rows;
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

/// A piece of a long row in the order of the visits.
struct PieceVisit {
  std::uint32_t piece;
  PieceColumns columns;
};

/// The rows of each window that are in none of its slices: scaled one by one, or, if they are more than an eighth,
/// with the whole window, which is then one thread's.
struct OtherRows {
  Array<std::uint8_t> as_whole;  ///< of each window
  Array<std::uint64_t> first;    ///< of each window and behind the last one, of `rows`
  Array<std::uint32_t> rows;

  template <class A>
  explicit OtherRows(const View<A>& v) : as_whole(v.window_count), first(v.window_count + 1) {
    constexpr std::uint64_t few = 8;
    CountedVector<std::uint32_t> listed;
    CountedVector<std::uint8_t> has_slice;
    for (std::uint64_t w = 0; w < v.window_count; ++w) {
      first[w] = listed.size();
      as_whole[w] = 0;
      if (!v.windows[w].has_others()) continue;
      const std::uint64_t begin = w * v.window_rows, end = std::min(begin + v.window_rows, v.rows);
      has_slice.assign(end - begin, 0);
      std::uint64_t others = end - begin;
      for (std::uint64_t s = v.windows[w].first_slice(); s < v.windows[w + 1].first_slice(); ++s) {
        const SliceView slice = SliceView::of(v, s);
        for (std::uint32_t lane = 0; lane < slice.slice.rows(); ++lane) has_slice[slice.row(lane) - begin] = 1;
        others -= slice.slice.rows();
      }
      as_whole[w] = few * others > end - begin ? 1 : 0;
      for (std::uint64_t r = begin; r < end && as_whole[w] == 0; ++r)
        if (has_slice[r - begin] == 0) listed.push_back(static_cast<std::uint32_t>(r));
    }
    first[v.window_count] = listed.size();
    rows = Array<std::uint32_t>(listed.size());
    std::copy(listed.begin(), listed.end(), rows.begin());
  }
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

/// What a thread does: slices of rows [begin, end), of windows from first_window to last_window; visits to pieces.
struct Share {
  std::uint64_t begin, end, first_window, last_window, first_piece, last_piece;
};

}  // namespace spmvpack::host_loader::layouts::sjds_sums
