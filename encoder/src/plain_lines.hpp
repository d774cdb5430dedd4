#pragma once
/// The lines that nearly all files consist of, read by their shape: where the digits of a line end is found for the
/// whole line at once, so that its numbers need not wait for each other. Any other line is left to number_text.hpp.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "number_text.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack::encoder {

/// Bit i is set where p[i] is not a digit, for 64 bytes.
inline std::uint64_t non_digits_portable(const char* p) noexcept {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F, high_bits = ~low_bits;
  std::uint64_t marks = 0;
  for (unsigned i = 0; i < 64; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p + i, 8);
    word ^= 0x3030303030303030;  // digits are 0 to 9 now, and only they stay below 0x80 when 0x76 is added
    const std::uint64_t others = (((word & low_bits) + 0x7676767676767676) | word) & high_bits;
    marks |= (others >> 7) * 0x0102040810204080 >> 56 << i;
  }
  return marks;
}

/// The same for the first `bytes` bytes, 32 or 64; the other bits are set.
template <unsigned bytes>
inline std::uint64_t non_digits(const char* p) noexcept {
#ifdef __SSE2__
  std::uint64_t digits = 0;
  for (unsigned i = 0; i < bytes; i += 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    // '0' to '9' become the ten smallest signed bytes.
    const __m128i shifted = _mm_add_epi8(text, _mm_set1_epi8(0x80 - '0'));
    const __m128i is_digit = _mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(-128 + 10)));
    digits |= std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(is_digit))} << i;
  }
  return ~digits;
#else
  return non_digits_portable(p) | (bytes == 32 ? ~std::uint64_t{0} << 32 : 0);
#endif
}

/// The value of `count` digits at `p`, 0 to 8.
inline std::uint64_t digits_value(const char* p, std::uint64_t count) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  return leading_digits_value(word ^ 0x3030303030303030, static_cast<unsigned>(8 * count));
}

/// What follows the line end at `p`; null where there is none.
inline const char* after_line_end(const char* p) noexcept {
  return *p == '\n' ? p + 1 : *p == '\r' && p[1] == '\n' ? p + 2 : nullptr;
}

/// The ends of digits in a line, one after the other. The last that it knows is 63 bytes behind the line's start, which
/// a plain line does not reach: whoever uses it checks each end before passing it.
class DigitEnds {
 public:
  explicit DigitEnds(std::uint64_t non_digits_of_line) noexcept : marks_(non_digits_of_line | std::uint64_t{1} << 63) {}
  /// Of the digits that are next.
  [[nodiscard]] std::uint64_t first() const noexcept {
    if (marks_ == 0) __builtin_unreachable();
    return static_cast<std::uint64_t>(std::countr_zero(marks_));
  }
  /// Passes the character that is no digit, if `really`.
  void pass(bool really = true) noexcept { marks_ &= marks_ - std::uint64_t{really}; }

 private:
  std::uint64_t marks_;
};

/// Reads a real number that starts at p[at] and ends the line; returns what follows the line or null.
inline const char* read_plain_real_end(const char* p, std::uint64_t at, DigitEnds ends, double& value) noexcept {
  constexpr std::array<std::uint64_t, 9> powers{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const bool negative = p[at] == '-';
  ends.pass(negative);
  at += negative;
  std::uint64_t end = ends.first(), digits = end - at;
  if (digits > 8) return nullptr;
  std::uint64_t mantissa = digits_value(p + at, digits);
  std::int64_t exponent = 0;
  if (p[end] == '.') {
    ends.pass();
    at = end + 1;
    end = ends.first();
    std::uint64_t decimals = end - at;
    if (decimals > 16) return nullptr;
    digits += decimals;
    exponent = -static_cast<std::int64_t>(decimals);
    if (decimals > 8) {
      mantissa = mantissa * powers[8] + digits_value(p + at, 8);
      at += 8;
      decimals -= 8;
    }
    mantissa = mantissa * powers[decimals] + digits_value(p + at, decimals);
  }
  if ((p[end] | 0x20) == 'e') {
    const bool down = p[end + 1] == '-', has_sign = down || p[end + 1] == '+';
    ends.pass();
    ends.pass(has_sign);
    at = end + 1 + has_sign;
    end = ends.first();
    if (end - at - 1 >= 4) return nullptr;
    const auto power = static_cast<std::int64_t>(digits_value(p + at, end - at));
    exponent += down ? -power : power;
  }
  if (digits - 1 >= 19 || !decimal_value(negative, mantissa, exponent, value)) return nullptr;
  return after_line_end(p + end);
}

/// Reads an entry of a coordinate file where the line at `p` is nothing but indices of at most eight digits and a
/// number, with single blanks between them: returns what follows the line. Null where it is anything else, and that may
/// be right or wrong. The values of indices are not checked.
template <Field field>
inline const char* read_plain_line(const char* p, std::uint64_t& row_index, std::uint64_t& col_index,
                                   double& value) noexcept {
  // A plain line ends after 27 bytes at most, with a real number after 50.
  DigitEnds ends(non_digits < field == Field::real ? 64 : 32 > (p));
  const std::uint64_t row_end = ends.first();
  if (row_end - 1 >= 8 || p[row_end] != ' ') return nullptr;
  ends.pass();
  const std::uint64_t col = row_end + 1, col_end = ends.first();
  if (col_end - col - 1 >= 8) return nullptr;
  ends.pass();
  row_index = digits_value(p, row_end);
  col_index = digits_value(p + col, col_end - col);
  if constexpr (field == Field::pattern) return after_line_end(p + col_end);
  if (p[col_end] != ' ') return nullptr;
  std::uint64_t at = col_end + 1;
  if constexpr (field == Field::real) return read_plain_real_end(p, at, ends, value);

  const bool negative = p[at] == '-';
  ends.pass(negative);
  at += negative;
  const std::uint64_t end = ends.first();
  if (end - at - 1 >= 8) return nullptr;
  value = with_sign(static_cast<double>(digits_value(p + at, end - at)), negative);
  return after_line_end(p + end);
}

}  // namespace spmvpack::encoder
