#pragma once
/// Numbers on a line of text, with fast paths for plain ones. A '\n' and readable bytes must follow
/// (TextBatches::slack). Any error is thrown as a LineError at the token.

#include <fast_float/fast_float.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "spmvpack/container/base/instruction_set.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {

inline const char* skip_blanks(const char* p) noexcept {
  while (*p == ' ' || *p == '\t') ++p;
  return p;
}
inline bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }
/// Whether `c` may follow a token.
inline bool ends_token(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// What follows the end of the line at `p`, which is LF, CR LF, or CR CR LF and so on, as files have whose line ends
/// were converted twice; null if the line goes on.
inline const char* after_line_end(const char* p) noexcept {
  while (*p == '\r') ++p;
  return *p == '\n' ? p + 1 : nullptr;
}
/// `line`, which lacks its LF, without the rest of its end.
inline std::string_view without_line_end(std::string_view line) noexcept {
  return line.substr(0, line.find_last_not_of('\r') + 1);  // npos + 1 is 0
}

/// The characters from `p` to the next blank or line end.
std::string_view token_at(const char* p) noexcept;
/// Whether the words are equal, ignoring case.
bool equal_words(std::string_view a, std::string_view b) noexcept;
/// What is at `p`, for messages: a quoted and escaped token, or the end of the line.
std::string found_at(const char* p);
/// The error that the line goes on at `p`.
LineError not_line_end(const char* p);

/// Up to eight digits at once.
struct Digits {
  std::uint64_t value = 0;
  unsigned count = 0;
};

/// The value of eight digits, a byte each, the leading one lowest.
SPMVPACK_INLINE std::uint64_t eight_digits_value(std::uint64_t word) noexcept {
  // Pairs, then pairs of pairs, then all eight digits.
  constexpr std::uint64_t mask = 0x000000FF000000FF;
  word = word * 10 + (word >> 8);
  return ((word & mask) * (100 + (std::uint64_t{1000000} << 32)) +
          ((word >> 16) & mask) * (1 + (std::uint64_t{10000} << 32))) >>
         32;
}

/// The digits at `p`, the first eight if there are more.
inline Digits read_eight_digits(const char* p) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  word ^= 0x3030303030303030;  // digits are 0 to 9 now, and only they stay below 0x80 when 0x76 is added
  const std::uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  const auto bits = static_cast<unsigned>(others == 0 ? 64 : std::countr_zero(others) & ~7);
  return {eight_digits_value(word << (32 - bits / 2) << (32 - bits / 2)), bits / 8};  // leading zeros for the rest
}

/// 10^0 to 10^22, which are exact as doubles.
inline constexpr std::array<double, 23> exact_powers_of_ten{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads the digits at `p`; a number beyond 64 bits becomes 2^64 - 1. Returns what follows, or `p` if there are none.
inline const char* read_digits(const char* p, std::uint64_t& value) noexcept {
  const Digits first = read_eight_digits(p);
  value = first.value;
  p += first.count;
  if (first.count < 8) [[likely]]
    return p;
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  for (; is_digit(*p); ++p) {
    const auto digit = static_cast<std::uint64_t>(*p - '0');
    value = value > (max - digit) / 10 ? max : value * 10 + digit;
  }
  return p;
}

/// Branch-free, because signs cannot be predicted.
SPMVPACK_INLINE double with_sign(double magnitude, bool negative) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | std::uint64_t{negative} << 63);
}

/// mantissa * 10^exponent, correctly rounded; false if that is infinite, or too hard for the fast paths.
SPMVPACK_INLINE bool decimal_value(bool negative, std::uint64_t mantissa, std::int64_t exponent,
                                   double& value) noexcept {
  // The quotient of two exact doubles is correctly rounded (Clinger).
  constexpr std::int64_t most_exact_power = 22;
  if (mantissa <= std::uint64_t{1} << 53 && exponent <= 0 && exponent >= -most_exact_power) {
    const double magnitude = static_cast<double>(mantissa) / exact_powers_of_ten[static_cast<std::size_t>(-exponent)];
    value = with_sign(magnitude, negative);
    return true;
  }
  using Format = fast_float::binary_format<double>;
  const fast_float::adjusted_mantissa rounded = fast_float::compute_float<Format>(exponent, mantissa);
  if (rounded.power2 < 0 || rounded.power2 == Format::infinite_power()) return false;
  value =
      with_sign(std::bit_cast<double>(rounded.mantissa | static_cast<std::uint64_t>(rounded.power2) << 52), negative);
  return true;
}

/// Reads a decimal number of at most 19 digits, correctly rounded; null for anything else. The digits form an exact
/// integer, which fast_float's conversion accepts directly: only the scan is our own.
inline const char* read_plain_real(const char* p, double& value) noexcept {
  constexpr std::array<std::uint64_t, 9> powers{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const bool negative = *p == '-';
  p += negative;
  const char* const start = p;
  Digits digits = read_eight_digits(p);
  std::uint64_t mantissa = digits.value;
  p += digits.count;
  if (digits.count == 8) [[unlikely]]
    while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
  std::ptrdiff_t count = p - start;
  std::int64_t exponent = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    digits = read_eight_digits(p);
    mantissa = mantissa * powers[digits.count] + digits.value;
    p += digits.count;
    if (digits.count == 8) {
      digits = read_eight_digits(p);
      mantissa = mantissa * powers[digits.count] + digits.value;
      p += digits.count;
      while (is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    }
    exponent = fraction - p;
    count += p - fraction;
  }
  if ((*p | 0x20) == 'e') {
    ++p;
    const bool down = *p == '-';
    p += down || *p == '+';
    digits = read_eight_digits(p);
    if (digits.count == 0 || digits.count > 4) return nullptr;
    p += digits.count;
    exponent += down ? -static_cast<std::int64_t>(digits.value) : static_cast<std::int64_t>(digits.value);
  }
  if (count == 0 || count > 19 || !ends_token(*p)) return nullptr;
  return decimal_value(negative, mantissa, exponent, value) ? p : nullptr;
}

/// Reads a real number correctly rounded to T and returns what follows it. Accepted: decimal numbers with an optional
/// sign, exponents with e, E, d or D, and nan, inf, infinity in any case.
template <class T>
const char* read_real_carefully(const char* p, T& value);
template <class T>
inline const char* read_real(const char* p, const char* end, T& value) {
  if constexpr (std::is_same_v<T, double>)
    if (const char* const after = read_plain_real(p, value)) [[likely]]
      return after;
  const char* const digits = *p == '+' ? p + 1 : p;
  const auto [after, error] = fast_float::from_chars(digits, end, value);
  if (error == std::errc() && ends_token(*after) && std::fabs(value) <= std::numeric_limits<T>::max() &&
      (digits == p || *digits != '-')) [[likely]]
    return after;
  return read_real_carefully(p, value);
}

/// Reads an integer that T holds exactly.
template <class T>
const char* read_integer_carefully(const char* p, T& value);
template <class T>
inline const char* read_integer(const char* p, T& value) {
  const bool negative = *p == '-';
  std::uint64_t magnitude = 0;
  const char* const digits = p + (negative || *p == '+');
  const char* const after = read_digits(digits, magnitude);
  if (after == digits || !ends_token(*after) || magnitude > (std::uint64_t{1} << std::numeric_limits<T>::digits))
      [[unlikely]]
    return read_integer_carefully(p, value);
  value = negative ? -static_cast<T>(magnitude) : static_cast<T>(magnitude);
  return after;
}

/// How f32 values differ from the f64 values of the same text.
struct Rounding {
  std::uint64_t rounded = 0;
  double max_relative_error = 0;

  /// Counts `weight` stored values that are `narrow` and should be `wide`. Returns true if the two differ.
  bool count(float narrow, double wide, std::uint64_t weight) noexcept {
    const double error = std::fabs(static_cast<double>(narrow) - wide);
    if (!(error > 0)) return false;  // NaN and infinities do not change
    rounded += weight;
    max_relative_error = std::fmax(max_relative_error, error / std::fabs(wide));
    return true;
  }
  /// The same of complex values, which differ if a part does.
  bool count(std::complex<float> narrow, std::complex<double> wide, std::uint64_t weight) noexcept {
    const bool real = count(narrow.real(), wide.real(), 0), imaginary = count(narrow.imag(), wide.imag(), 0);
    if (real || imaginary) rounded += weight;
    return real || imaginary;
  }
  void add(const Rounding& other) noexcept {
    rounded += other.rounded;
    max_relative_error = std::fmax(max_relative_error, other.max_relative_error);
  }
};

/// The same, also returning the value in f64.
inline const char* read_real(const char* p, const char* end, double& value, double& wide) {
  const char* const after = read_real(p, end, value);
  wide = value;
  return after;
}

/// Rounds a value that was rounded to f64 to f32; false if that may differ from rounding the text to f32.
inline bool round_again(double wide, float& value) noexcept {
  // Rounding twice equals rounding once, except halfway between two f32 (a tie after the first rounding need not have
  // been one before) and for f32 subnormals, whose ties are elsewhere.
  constexpr std::uint64_t cut = (std::uint64_t{1} << 29) - 1, tie = std::uint64_t{1} << 28;
  value = static_cast<float>(wide);
  const bool subnormal = std::fabs(wide) < static_cast<double>(std::numeric_limits<float>::min()) && wide != 0;
  return (std::bit_cast<std::uint64_t>(wide) & cut) != tie && !subnormal && !std::isinf(value);
}

/// Reads a real number correctly rounded to f32, and to f64 to show how much was lost.
inline const char* read_real(const char* p, const char* end, float& value, double& wide) {
  const char* const after = read_real(p, end, wide);
  return round_again(wide, value) ? after : read_real_carefully(p, value);
}

}  // namespace spmvpack::sources
