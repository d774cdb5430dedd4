#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {
namespace {

[[noreturn]] void fail(std::string_view option, std::string_view text, const std::string& expected) {
  throw Error(errc::usage, fmt::format("{} is '{}'", option, escape(text)), {}, "give " + expected);
}

/// Removes the decimal number at the start of `text`; false if there is none or it does not fit.
bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

ValueType parse_value_type(std::string_view text) {
  if (const auto type = value_type_named(text)) return *type;
  fail("--value-type", text, "f64, f32, c128 or c64");
}

std::uint64_t parse_bytes(std::string_view option, std::string_view text) {
  std::string_view rest = text;
  std::uint64_t number = 0;
  bool valid = take_number(rest, number) && number != 0;
  int shift = 0;
  if (valid && !rest.empty()) {
    const std::size_t unit = std::string_view("KMGT").find(rest[0]);
    rest.remove_prefix(1);
    valid = unit != std::string_view::npos && (rest.empty() || rest == "B" || rest == "iB");
    if (valid) shift = 10 * static_cast<int>(unit + 1);
  }
  if (!valid || number > std::numeric_limits<std::uint64_t>::max() >> shift)
    fail(option, text, "a number of bytes, such as 512M or 8G");
  return number << shift;
}

std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  if (const auto number = whole_number(text, least, most)) return *number;
  fail(option, text, fmt::format("a number from {} to {}", least, most));
}

namespace {

double parse_real(std::string_view option, std::string_view text, double least, double most,
                  const std::string& expected) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // Written so that NaN is refused.
  if (error != std::errc{} || end != text.data() + text.size() || !(number >= least && number <= most))
    fail(option, text, expected);
  return number;
}

}  // namespace

double parse_quantity(std::string_view option, std::string_view text, std::string_view unit) {
  return parse_real(option, text, 1e-3, 1e6, fmt::format("a number of {} from 0.001 to 1000000", unit));
}

double parse_fraction(std::string_view option, std::string_view text) {
  return parse_real(option, text, 0, 1, "a number from 0 to 1");
}

double parse_speed(std::string_view option, std::string_view text) {
  return 1e9 * parse_quantity(option, text, "GB/s");
}

std::map<std::string, std::string> parse_settings(const std::vector<std::string>& words) {
  std::map<std::string, std::string> settings;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) fail("--set", word, "NAME=VALUE, such as ccoo.k=4");
    if (!settings.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      throw Error(errc::usage, fmt::format("{} is set twice", word.substr(0, equals)), {}, "set it once");
  }
  return settings;
}

}  // namespace spmvpack::tools
