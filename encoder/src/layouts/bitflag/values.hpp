#pragma once
// Values of bitflag that are no table of the whole part: ids within a window of values, and decimal fractions.

#include <optional>

#include "layouts/bitflag/chunks.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {

/// Values in the order of their first use, and again where a chunk's window does not reach back to them.
struct ValueWindows {
  CountedVector<ValueKey> values;          ///< their bits
  CountedVector<std::uint16_t> of_chunks;  ///< Info::window() of each
  CountedVector<std::uint16_t> ids;        ///< of the entries
};
/// None if there would be more than `most` values, or the part has no entry. O(nnz).
std::optional<ValueWindows> plan_windows(const CsrView& a, const Chunks& chunks, std::uint64_t most);

/// integer / 10^exponent
struct Decimal {
  std::int32_t integer;
  std::uint32_t exponent;
};
/// The one of the least exponent, from `least` to `most`, whose quotient has the bits of `value`.
std::optional<Decimal> decimal_of(double value, std::uint32_t least, std::uint32_t most);

struct Decimals {
  CountedVector<std::uint16_t> of_chunks;  ///< Info::of_values() of each
  std::uint64_t exponent_bytes = 0;
};
/// None if a value is no such fraction, as none of f32 is. O(nnz), parallel.
std::optional<Decimals> plan_decimals(const CsrView& a, const Chunks& chunks, int threads);

/// The most exponent that entries of a chunk have.
inline std::uint32_t most_exponent(Info info) {
  const std::uint32_t most = info.exponent() + (1U << info.exponent_bits()) - 1;
  return most < max_exponent ? most : max_exponent;
}

}  // namespace spmvpack::encoder::layouts::bitflag_plans
