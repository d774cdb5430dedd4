#include "rutherford_boeing/fortran_field.hpp"

#include <fmt/format.h>

#include <cstring>

#include "spmvpack/container/base/text.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

std::string_view without_sign(std::string_view s) noexcept {
  if (s.starts_with('+') || s.starts_with('-')) s.remove_prefix(1);
  return s;
}
/// Takes the digits at the start of `s`; returns how many.
std::size_t take_digits(std::string_view& s) noexcept {
  std::size_t n = 0;
  while (n < s.size() && is_digit(s[n])) ++n;
  s.remove_prefix(n);
  return n;
}

}  // namespace

void FortranField::take(std::string_view columns, const char* expected) {
  const char *begin = columns.data(), *end = begin + columns.size();
  while (begin != end && *begin == ' ') ++begin;
  while (begin != end && end[-1] == ' ') --end;
  if (begin == end)
    throw LineError{columns.data(), errc::bad_input, fmt::format("found blanks, expected {}", expected), {}};
  at_ = begin;
  size_ = static_cast<std::size_t>(end - begin);
  std::memcpy(text_, begin, size_);
  text_[size_] = '\n';
  has_blank_ = false;
}

bool FortranField::is_integer() const noexcept {
  std::string_view s = without_sign({text_, size_});
  return take_digits(s) != 0 && s.empty();
}

bool FortranField::is_real() const noexcept {
  std::string_view s = without_sign({text_, size_});
  if (equal_words(s, "nan") || equal_words(s, "inf") || equal_words(s, "infinity")) return true;
  std::size_t digits = take_digits(s);
  if (s.starts_with('.')) {
    s.remove_prefix(1);
    digits += take_digits(s);
  }
  if (digits == 0 || s.empty()) return digits != 0;
  const bool has_letter = s.find_first_of("eEdD") == 0;
  if (has_letter) {
    s.remove_prefix(1);
    while (s.starts_with(' ')) s.remove_prefix(1);
  }
  const std::string_view power = without_sign(s);
  if (!has_letter && power.size() == s.size()) return false;
  s = power;
  return take_digits(s) != 0 && s.empty();
}

std::uint64_t FortranField::index(std::uint64_t least, std::uint64_t most, const char* expected) const {
  std::uint64_t value = 0;
  const char* const after = read_digits(text_, value);
  if (after != text_ + size_ || value < least || value > most) [[unlikely]]
    refuse(fmt::format("expected {} from {} to {}", expected, least, most));
  return value;
}

template <class T>
T FortranField::integer() const {
  T value = 0;
  try {
    if (read_integer(text_, value) == text_ + size_) return value;
  } catch (const LineError& e) {
    refuse(e);
  }
  refuse("expected one integer");
}

bool FortranField::ends_with_exponent() const noexcept {
  std::size_t n = size_;
  while (n > 0 && is_digit(text_[n - 1])) --n;
  if (n > 0 && (text_[n - 1] == '+' || text_[n - 1] == '-')) --n;
  return n > 0 && (text_[n - 1] | 0x20) == 'e';
}

template <class T>
T FortranField::real(const FortranFormat::Field& format, double& wide) {
  // The usual case: a plain number with a point, and with an exponent if the format has a scale.
  if ((format.scale == 0 || ends_with_exponent()) &&
      (format.decimals == 0 || std::memchr(text_, '.', size_) != nullptr) &&
      read_plain_real(text_, wide) == text_ + size_) [[likely]] {
    if constexpr (std::is_same_v<T, double>) return wide;
    if (std::fabs(wide) <= static_cast<double>(std::numeric_limits<T>::max())) {
      T value = 0;
      read_real(text_, text_ + size_ + 1, value, wide);
      return value;
    }
  }
  return real_carefully<T>(format, wide);
}

template <class T>
T FortranField::real_carefully(const FortranFormat::Field& format, double& wide) {
  has_blank_ = std::memchr(text_, ' ', size_) != nullptr;
  if (!is_real()) refuse(has_blank_ ? "expected one real number" : "expected a real number");
  std::string text(text_, size_);
  const bool is_number = text.find_first_of("0123456789") != std::string::npos;  // no word
  std::size_t exponent = is_number ? text.find_first_of("eEdD") : std::string::npos;
  if (exponent != std::string::npos) {
    const std::size_t power = text.find_first_not_of(' ', exponent + 1);
    text.erase(exponent + 1, power - exponent - 1);
  } else if (is_number) {
    exponent = text.find_first_of("+-", 1);
    if (exponent != std::string::npos) text.insert(exponent, 1, 'e');
  }
  const bool has_point = text.find('.') < exponent;
  const bool is_zero = text.substr(0, exponent).find_first_of("123456789") == std::string::npos;
  const bool is_scaled = is_number && exponent == std::string::npos && format.scale != 0;
  if (is_scaled && format.kind == 'F') text += fmt::format("e{}", -format.scale);
  text += '\n';
  const std::size_t end = text.size();
  text.append(TextBatches::slack, '\0');
  T value = 0;
  try {
    read_real(text.data(), text.data() + end, value, wide);
  } catch (const LineError& e) {
    refuse(e);
  }
  if (is_number && !is_zero && !has_point && format.decimals != 0)
    refuse(fmt::format("without a point, which a format of {} decimals puts before the last {} digits and many readers "
                       "after the last",
                       format.decimals, format.decimals),
           "write the number with its point");
  if (is_scaled && !is_zero && format.kind != 'F')
    refuse(fmt::format("without an exponent, which a format of scale {}P divides by 10^{} and many readers do not",
                       format.scale, format.scale),
           "write the number with its exponent");
  return value;
}

void FortranField::refuse(const LineError& e) const { throw LineError{at_, e.code, e.what, e.remedy}; }

void FortranField::refuse(const std::string& what, const char* remedy) const {
  throw LineError{at_, errc::bad_input, fmt::format("found '{}', {}", escape({text_, size_}), what), remedy};
}

#define SPMVPACK_INSTANTIATE(T)             \
  template T FortranField::integer() const; \
  template T FortranField::real(const FortranFormat::Field&, double&);
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::sources
