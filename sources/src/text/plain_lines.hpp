#pragma once
/// A fast reader for the plain lines that make up nearly all files: it finds the ends of all digit runs of a line at
/// once, so that the line's numbers do not wait for each other. Any other line is left to number_text.hpp.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/types.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {

/// Bit i is set if p[i] is not a digit, for 64 bytes.
SPMVPACK_INLINE std::uint64_t non_digits_portable(const char* p) noexcept {
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

/// The same for the first `bytes` bytes, fewer than 64; the other bits are set.
template <unsigned bytes>
SPMVPACK_INLINE std::uint64_t non_digits(const char* p) noexcept {
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
  return non_digits_portable(p) | ~std::uint64_t{0} << bytes;
#endif
}

inline constexpr std::array<std::uint64_t, 9> powers_of_ten{1,      10,      100,      1000,     10000,
                                                            100000, 1000000, 10000000, 100000000};

/// At most eight digits, given by their end. The eight bytes before the end are readable.
struct DigitRun {
  const char* end = nullptr;
  std::uint64_t count = 0;
};

/// The last `i` bytes of a word in memory.
inline constexpr std::array<std::uint64_t, 9> last_bytes{0,
                                                         0xFF00000000000000,
                                                         0xFFFF000000000000,
                                                         0xFFFFFF0000000000,
                                                         0xFFFFFFFF00000000,
                                                         0xFFFFFFFFFF000000,
                                                         0xFFFFFFFFFFFF0000,
                                                         0xFFFFFFFFFFFFFF00,
                                                         0xFFFFFFFFFFFFFFFF};

/// Digits are loaded up to their end, and a line starts with at least one digit.
inline constexpr std::ptrdiff_t plain_bytes_before = 7;

SPMVPACK_INLINE std::uint64_t word_before(const char* end) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, end - 8, 8);
  return word;
}

SPMVPACK_INLINE std::uint64_t digits_value(DigitRun run) noexcept {
  return eight_digits_value((word_before(run.end) ^ 0x3030303030303030) & last_bytes[run.count]);
}

/// The values of four runs.
SPMVPACK_INLINE std::array<std::uint64_t, 4> digits_values(DigitRun a, DigitRun b, DigitRun c, DigitRun d) noexcept {
#ifdef __SSE2__
  // Four digits of `e`, then four of `f`, in each half.
  const auto fours = [](DigitRun e, DigitRun f) {
    const auto words = [](const void* low, const void* high) {
      return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64(static_cast<const __m128i*>(low))),
                                           static_cast<const __m64*>(high)));
    };
    const __m128i text = words(e.end - 8, f.end - 8);
    const __m128i digits =
        _mm_and_si128(_mm_xor_si128(text, _mm_set1_epi8('0')), words(&last_bytes[e.count], &last_bytes[f.count]));
    const __m128i odd = _mm_and_si128(digits, _mm_set1_epi16(0xFF)), even = _mm_srli_epi16(digits, 8);
    return _mm_add_epi32(_mm_madd_epi16(odd, _mm_set1_epi32(1000 + (10 << 16))),
                         _mm_madd_epi16(even, _mm_set1_epi32(100 + (1 << 16))));
  };
  const __m128i values = _mm_madd_epi16(_mm_packs_epi32(fours(a, b), fours(c, d)), _mm_set1_epi32(10000 + (1 << 16)));
  const auto ab = static_cast<std::uint64_t>(_mm_cvtsi128_si64(values));
  const auto cd = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(values, values)));
  return {ab & 0xFFFFFFFF, ab >> 32, cd & 0xFFFFFFFF, cd >> 32};
#else
  return {digits_value(a), digits_value(b), digits_value(c), digits_value(d)};
#endif
}

/// What follows the line end at `p`; null if there is none.
SPMVPACK_INLINE const char* after_plain_end(const char* p) noexcept {
  return *p == '\n' ? p + 1 : *p == '\r' && p[1] == '\n' ? p + 2 : nullptr;
}

/// The ends of digit runs in a line, one after the other. They are known up to 63 bytes from the line's start, further
/// than a plain line reaches. Some may not be ends; the user checks each end before passing it.
class DigitEnds {
 public:
  explicit DigitEnds(std::uint64_t non_digits_of_line) noexcept : marks_(non_digits_of_line | std::uint64_t{1} << 63) {}
  /// The end of the next digits.
  [[nodiscard]] std::uint64_t first() const noexcept {
    if (marks_ == 0) __builtin_unreachable();
    return static_cast<std::uint64_t>(std::countr_zero(marks_));
  }
  /// Passes the character that is no digit, if `really`.
  void pass(bool really = true) noexcept { marks_ &= marks_ - std::uint64_t{really}; }

 private:
  std::uint64_t marks_;
};

/// Reads an entry of a coordinate file if the line at `p` is just indices of at most eight digits and a number,
/// separated by single blanks; returns what follows the line. Null for any other line, which may be valid or not. The
/// values of indices are not checked. The plain_bytes_before bytes before `p` must be readable.
template <Field field>
SPMVPACK_INLINE const char* read_plain_line(const char* p, std::uint64_t& row_index, std::uint64_t& col_index,
                                            double& value) noexcept {
  // A plain line ends after at most 27 bytes, or 43 with a real number of 17 digits; longer ones are rare.
  DigitEnds ends(non_digits < field == Field::real ? 48 : 32 > (p));
  const std::uint64_t row_end = ends.first();
  ends.pass();
  const std::uint64_t col = row_end + 1, col_end = ends.first();
  if (((row_end - 1) | (col_end - col - 1)) >= 8 || p[row_end] != ' ') [[unlikely]]
    return nullptr;
  const DigitRun row_run{p + row_end, row_end}, col_run{p + col_end, col_end - col}, none{p + row_end, 0};
  if constexpr (field == Field::pattern) {
    const auto values = digits_values(row_run, col_run, none, none);
    row_index = values[0];
    col_index = values[1];
    return after_plain_end(p + col_end);
  }
  if (p[col_end] != ' ') [[unlikely]]
    return nullptr;
  ends.pass();
  std::uint64_t at = col_end + 1;
  const bool negative = p[at] == '-';
  ends.pass(negative);
  at += negative;
  std::uint64_t end = ends.first(), digits = end - at;
  if (digits > 8) [[unlikely]]
    return nullptr;
  const DigitRun integer{p + end, digits};
  if constexpr (field == Field::integer) {
    if (digits == 0) [[unlikely]]
      return nullptr;
    const auto values = digits_values(row_run, col_run, integer, none);
    row_index = values[0];
    col_index = values[1];
    value = with_sign(static_cast<double>(values[2]), negative);
    return after_plain_end(p + end);
  }
  std::uint64_t decimals = 0;
  if (p[end] == '.') {
    ends.pass();
    at = end + 1;
    end = ends.first();
    decimals = end - at;
    if (decimals > 16) [[unlikely]]
      return nullptr;
    digits += decimals;
  }
  const std::uint64_t first_decimals = decimals < 8 ? decimals : 8;
  const auto values = digits_values(row_run, col_run, integer, {p + end - (decimals - first_decimals), first_decimals});
  row_index = values[0];
  col_index = values[1];
  std::uint64_t mantissa = values[2] * powers_of_ten[first_decimals] + values[3];
  if (decimals > 8) mantissa = mantissa * powers_of_ten[decimals - 8] + digits_value({p + end, decimals - 8});
  std::int64_t exponent = -static_cast<std::int64_t>(decimals);
  if ((p[end] | 0x20) == 'e') {
    const bool down = p[end + 1] == '-', has_sign = down || p[end + 1] == '+';
    ends.pass();
    ends.pass(has_sign);
    at = end + 1 + has_sign;
    end = ends.first();
    if (end - at - 1 >= 4) [[unlikely]]
      return nullptr;
    const auto power = static_cast<std::int64_t>(digits_value({p + end, end - at}));
    exponent += down ? -power : power;
  }
  if (digits - 1 >= 19 || !decimal_value(negative, mantissa, exponent, value)) [[unlikely]]
    return nullptr;
  return after_plain_end(p + end);
}

}  // namespace spmvpack::sources
