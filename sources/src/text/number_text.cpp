#include "text/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::sources {
namespace {

[[noreturn]] void refuse_number(const char* p, const char* expected, std::string remedy = {}) {
  throw LineError{p, errc::bad_input, fmt::format("found {}, expected {}", found_at(p), expected), std::move(remedy)};
}

template <class T>
[[noreturn]] void refuse_range(const char* p, const char* kind, const char* remedy) {
  constexpr bool narrow = value_type_of<T> == ValueType::f32;
  throw LineError{p, errc::bad_input,
                  fmt::format("the {} {} does not fit {}", kind, found_at(p), to_string(value_type_of<T>)),
                  narrow ? "encode the matrix as f64" : remedy};
}

}  // namespace

std::string_view token_at(const char* p) noexcept {
  const char* end = p;
  while (!ends_token(*end)) ++end;
  return {p, static_cast<std::size_t>(end - p)};
}

bool equal_words(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string found_at(const char* p) {
  if (after_line_end(p) != nullptr) return "the end of the line";
  const std::string_view token = token_at(p);
  return fmt::format("'{}'", escape(token.empty() ? std::string_view(p, 1) : token));
}

LineError not_line_end(const char* p) {
  return {p, errc::bad_input, fmt::format("found {}, expected the end of the line", found_at(p)),
          *p == '\r' ? "lines end with LF or CR LF: convert a file of CR alone with tr '\\r' '\\n'" : ""};
}

template <class T>
const char* read_real_carefully(const char* p, T& value) {
  constexpr const char* expected = "a real number";
  const std::string_view token = token_at(p);
  const bool has_sign = !token.empty() && (token[0] == '+' || token[0] == '-');
  std::string number(token.substr(has_sign ? 1 : 0));
  const bool negative = token.starts_with('-');

  if (equal_words(number, "nan") || equal_words(number, "inf") || equal_words(number, "infinity")) {
    const T special =
        number[0] == 'n' || number[0] == 'N' ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    value = std::copysign(special, negative ? T{-1} : T{1});
    return p + token.size();
  }
  // fast_float also accepts signs and words of its own. They start with other characters and are refused.
  if (number.empty() || (!is_digit(number[0]) && number[0] != '.')) refuse_number(p, expected);
  std::replace_if(
      number.begin(), number.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  const auto [after, error] = fast_float::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || after != number.data() + number.size()) refuse_number(p, expected);
  if (std::isinf(value)) refuse_range<T>(p, "value", "scale the matrix");
  if (negative) value = -value;
  return p + token.size();
}

template <class T>
const char* read_integer_carefully(const char* p, T& value) {
  const std::string_view token = token_at(p);
  const bool has_sign = !token.empty() && (token[0] == '+' || token[0] == '-');
  std::string_view digits = token.substr(has_sign ? 1 : 0);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
    refuse_number(p, "an integer",
                  token.find_first_of(".eEdD") != std::string_view::npos ? "declare the field real" : "");
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const auto [after, error] = fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);
  // The digits of a floating-point integer written out in full are exact.
  if (error != std::errc() || after != digits.data() + digits.size() || std::isinf(value) ||
      fmt::format("{:.0f}", value) != digits)
    refuse_range<T>(p, "integer", "declare the field real to have it rounded");
  if (token.starts_with('-')) value = -value;
  return p + token.size();
}

#define SPMVPACK_INSTANTIATE(T)                              \
  template const char* read_real_carefully(const char*, T&); \
  template const char* read_integer_carefully(const char*, T&);
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::sources
