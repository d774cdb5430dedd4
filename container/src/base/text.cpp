#include "spmvpack/container/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace spmvpack {
namespace {

/// The length of the UTF-8 sequence at the start of `s`, 0 if it is invalid or a control character.
std::size_t printable_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // C1 controls, overlong forms, surrogates and code points beyond Unicode.
  const unsigned second = byte(1);
  if ((first == 0xC2 && second < 0xA0) || (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

}  // namespace

std::string escape(std::string_view text, std::size_t limit) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (out.size() + (length != 0 ? length : 4) > limit) return out + "...";
    if (length != 0)
      out += text.substr(0, length);
    else
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(length != 0 ? length : 1);
  }
  return out;
}

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t least, std::uint64_t most) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < least || number > most) return {};
  return number;
}

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string counted(std::uint64_t number, std::string_view noun, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", grouped(number), noun) : fmt::format("{} {}", grouped(number), plural);
}

std::string time_text(double seconds) {
  constexpr std::array units{"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) value /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, units.at(unit));
}

std::string percent_text(double ratio) {
  const double percent = 100 * ratio;
  if (percent >= 99'999.5) return "> 1,000 x";
  if (percent >= 99.95) return grouped(static_cast<std::uint64_t>(std::llround(percent))) + " %";
  return percent > 0 && percent < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
}

}  // namespace spmvpack
