#pragma once
// A chunk of bitflag, entry by entry.

#include <array>

#include "layouts/bitflag/sums.hpp"

namespace spmvpack::host_loader::layouts::bitflag_sums {

/// Prefetches a lane's share of as many bytes as the chunk has: its pieces are too short for the hardware prefetcher.
SPMVPACK_INLINE void prefetch_share(const std::byte* bytes, std::uint32_t chunk_bytes, std::size_t lane) {
  const std::size_t share = chunk_bytes / lanes, begin = ahead_bytes + lane * share;
  prefetch(bytes, begin);
  if (share > cache_line) prefetch(bytes, begin + cache_line);
}

/// The elements of x that a chunk's entries name.
template <Word word, class V>
struct ChunkElements {
  const std::byte* words;        ///< of its columns
  std::array<const V*, 2> from;  ///< x from the chunk's base on, or all of it, and its hot elements
  std::size_t own_lanes;

  /// Of entry k of a lane.
  [[nodiscard]] SPMVPACK_INLINE V of(std::size_t lane, std::uint32_t k) const {
    return element_of<word>(from, stored(lane, k));
  }
  /// What is stored for its column.
  [[nodiscard]] SPMVPACK_INLINE std::uint32_t stored(std::size_t lane, std::uint32_t k) const {
    using Column = WordOf<word>;
    std::uint32_t stored = reinterpret_cast<const Column*>(words)[slot_of(sizeof(Column), own_lanes, lane, k)];
    if constexpr (is_of_24_bits(word)) {
      const std::byte* const highest = words + highest_bytes(static_cast<std::uint32_t>(own_lanes));
      stored |= static_cast<std::uint32_t>(highest[slot_of(1, own_lanes, lane, k)]) << 16U;
    }
    return stored;
  }
};

/// The values of a chunk's entries.
template <Source source, class A, class V>
struct ChunkValues {
  const std::byte *values, *exponents;  ///< what is stored of them
  const A* table;                       ///< table_of()
  V single;                             ///< single_of()
  const double* powers;                 ///< decimals: from the chunk's least exponent on
  std::uint32_t exponent_bits;          ///< decimals: see Info
  std::size_t own_lanes;

  SPMVPACK_INLINE ChunkValues(const View<A>& v, Info info, const std::byte* bytes, const ChunkLayout& at)
      : values(bytes + at.values),
        exponents(bytes + at.exponents),
        table(table_of<source>(v, info)),
        single(single_of<source, V>(v)),
        powers(powers_of_ten.data() + (source == Source::decimal ? info.exponent() : 0)),
        exponent_bits(source == Source::decimal ? info.exponent_bits() : 0),
        own_lanes(info.lanes()) {}
  /// Of entry k of a lane.
  [[nodiscard]] SPMVPACK_INLINE V of(std::size_t lane, std::uint32_t k) const {
    if constexpr (source == Source::raw) return V{stored<A>(lane, k)};
    if constexpr (source == Source::table) return V{table[stored<std::uint8_t>(lane, k)]};
    if constexpr (source == Source::window) return V{table[stored<std::uint16_t>(lane, k)]};
    if constexpr (source == Source::decimal) {
      const auto e = static_cast<std::uint32_t>(lane) * lane_entries + k;
      return stored<std::int32_t>(lane, k) / powers[more_exponent(exponents, exponent_bits, e)];
    }
    return single;
  }

 private:
  template <class N>
  [[nodiscard]] SPMVPACK_INLINE N stored(std::size_t lane, std::uint32_t k) const {
    return reinterpret_cast<const N*>(values)[slot_of(sizeof(N), own_lanes, lane, k)];
  }
};

}  // namespace spmvpack::host_loader::layouts::bitflag_sums
