#include "rutherford_boeing/fortran_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "spmvpack/container/text.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

/// The characters of a format, without blanks.
class FormatText {
 public:
  explicit FormatText(std::string_view text) : text_(text) {}

  /// The next character in upper case; 0 at the end.
  [[nodiscard]] char peek() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
    if (text_.empty()) return '\0';
    return text_[0] >= 'a' && text_[0] <= 'z' ? static_cast<char>(text_[0] - 'a' + 'A') : text_[0];
  }
  bool take(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void require(char c) {
    if (!take(c)) refuse();
  }
  [[nodiscard]] bool at_number() { return is_digit(peek()); }
  unsigned number(unsigned least, unsigned most) {
    if (!at_number()) refuse();
    const char* const begin = text_.data();
    unsigned value = 0;
    while (at_number()) {
      value = std::min(value * 10 + static_cast<unsigned>(text_[0] - '0'), most + 1);
      text_.remove_prefix(1);
    }
    if (value < least || value > most) refuse(begin);
    return value;
  }
  [[nodiscard]] const char* here() {
    static_cast<void>(peek());
    return text_.data();
  }
  [[noreturn]] void refuse() { refuse(here()); }
  [[noreturn]] static void refuse(const char* at) {
    throw LineError{at, errc::bad_input, "a format that is not understood here",
                    "a format is like (10I8), (5E16.8), (1P,4D20.12) or (3F25.16)"};
  }

 private:
  std::string_view text_;
};

constexpr unsigned max_repeat = 10000, max_scale = 99;

}  // namespace

FortranFormat parse_fortran_format(std::string_view text) {
  FormatText t(text);
  FortranFormat f;
  t.require('(');
  const bool negative = t.take('-');
  const char* at = t.here();
  bool has_number = negative || t.at_number();
  unsigned number = has_number ? t.number(0, max_repeat) : 1;
  if (t.take('P')) {
    if (!has_number || number > max_scale) FormatText::refuse(at);
    f.scale = negative ? -static_cast<int>(number) : static_cast<int>(number);
    t.take(',');
    at = t.here();
    has_number = t.at_number();
    number = has_number ? t.number(0, max_repeat) : 1;
  } else if (negative) {
    FormatText::refuse(at);
  }
  if (number == 0) FormatText::refuse(at);
  f.repeat = number;
  f.integer = t.take('I');
  if (f.integer) {
    f.width = t.number(1, FortranFormat::max_width);
    if (t.take('.')) t.number(0, FortranFormat::max_width);
  } else {
    if (t.take('E'))
      static_cast<void>(t.take('S') || t.take('N'));
    else if (!t.take('D') && !t.take('F') && !t.take('G'))
      t.refuse();
    f.width = t.number(1, FortranFormat::max_width);
    t.require('.');
    f.decimals = t.number(0, f.width);
    if (t.take('E')) t.number(1, FortranFormat::max_width);
  }
  t.require(')');
  if (t.peek() != '\0') t.refuse();
  return f;
}

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

template <class T>
T FortranField::real(const FortranFormat& format, double& wide) const {
  // The usual case: a plain number with a point, and with an exponent if the format has a scale.
  if (format.scale == 0 && (format.decimals == 0 || std::memchr(text_, '.', size_) != nullptr) &&
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
T FortranField::real_carefully(const FortranFormat& format, double& wide) const {
  std::string text(text_, size_);
  const bool is_number = text.find_first_of("0123456789") != std::string::npos;
  std::size_t exponent = text.find_first_of("eEdD");
  if (is_number && exponent == std::string::npos) {
    exponent = text.find_first_of("+-", 1);
    if (exponent != std::string::npos) text.insert(exponent, 1, 'e');
  }
  const bool has_point = text.find('.') < exponent;
  const bool is_zero = text.substr(0, exponent).find_first_of("123456789") == std::string::npos;
  text += '\n';
  const std::size_t end = text.size();
  text.append(TextBatches::slack, '\0');
  T value = 0;
  try {
    const char* const after = read_real(text.data(), text.data() + end, value, wide);
    if (after != text.data() + end - 1) refuse("expected one real number");
  } catch (const LineError& e) {
    refuse(e);
  }
  if (is_number && !is_zero && !has_point && format.decimals != 0)
    refuse(fmt::format("without a point, which a format of {} decimals puts before the last {} digits and many readers "
                       "after the last",
                       format.decimals, format.decimals),
           "write the number with its point");
  if (is_number && !is_zero && exponent == std::string::npos && format.scale != 0)
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
  template T FortranField::real(const FortranFormat&, double&) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::sources
