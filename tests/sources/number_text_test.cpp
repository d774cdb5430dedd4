// Numbers read from text, compared with strtod and strtof of the C library, which round correctly.
#include "text/number_text.hpp"

#include <fmt/format.h>

#include <cfloat>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"
#include "spmvpack/container/base/types.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;

namespace {

/// A token as it stands in a file: a line end and readable bytes follow.
struct Line {
  explicit Line(const std::string& token)
      : text(token + "\n" + std::string(TextBatches::slack, '\0')), end(token.size() + 1) {}
  [[nodiscard]] const char* begin() const { return text.data(); }
  std::string text;
  std::size_t end;
};

template <class T>
bits_of<T> bits(T value) {
  return std::bit_cast<bits_of<T>>(value);
}

/// Reads a token as f64 and as f32; true where both are what the C library makes of it.
bool agrees(const std::string& token) {
  const Line line(token);
  if (std::isinf(std::strtod(token.c_str(), nullptr))) return true;  // refused, see below
  double wide = 0, wide_again = 0;
  const bool read_all = read_real(line.begin(), line.begin() + line.end, wide) == line.begin() + token.size();
  if (!read_all || bits(wide) != bits(std::strtod(token.c_str(), nullptr))) return false;
  const float expected = std::strtof(token.c_str(), nullptr);
  float narrow = 0;
  try {
    read_real(line.begin(), line.begin() + line.end, narrow, wide_again);
  } catch (const LineError&) {
    return std::isinf(expected);
  }
  return bits(narrow) == bits(expected) && bits(wide_again) == bits(wide);
}

/// The value in full: no digit is lost.
std::string in_full(long double value) {
  std::string text(12000, '\0');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.1100Le", value)));
  return text;
}

/// `mantissa`e`exponent` with its last digit made one more and one less: the neighbours of a tie.
std::vector<std::string> around(const std::string& tie) {
  const std::size_t e = tie.find('e');
  return {tie, tie.substr(0, e) + "1" + tie.substr(e),
          tie.substr(0, e) + "0000000000000000000000000001" + tie.substr(e),
          [&] {  // x.yyy000 - a little: borrow from the last digit that is not 0
            std::string digits = tie.substr(0, e);
            std::size_t last = digits.find_last_not_of('0');
            digits[last] = static_cast<char>(digits[last] - 1);
            return digits.substr(0, last + 1) + std::string(30, '9') + tie.substr(e);
          }()};
}

double real(const std::string& text) {
  const Line line(text);
  double value = 0;
  read_real(line.begin(), line.begin() + line.end, value);
  return value;
}
template <class T>
T integer(const std::string& text) {
  T value = 0;
  read_integer(Line(text).begin(), value);
  return value;
}

template <class T>
LineError error_of(T (*read)(const std::string&), const std::string& token) {
  try {
    read(token);
  } catch (const LineError& e) {
    return e;
  }
  FAIL("accepted " << token);
  return {};
}

}  // namespace

TEST_CASE("printed doubles read back to their bits, with few digits and many") {
  std::mt19937_64 random(1);
  std::size_t wrong = 0;
  for (int i = 0; i < test::trials(400000); ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    wrong += !agrees(fmt::format("{:.{}e}", value, random() % 25));
  }
  for (int i = 0; i < test::trials(400000); ++i) {
    const double value = std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 80));
    wrong += !agrees(fmt::format("{}{:.{}f}", i % 2 ? "-" : "", value, random() % 22));
    if (i % 4 == 0) wrong += !agrees(fmt::format("{:.{}g}", static_cast<float>(value), 1 + random() % 12));
  }
  CHECK(wrong == 0);
}

TEST_CASE("random digit strings of any length are correctly rounded") {
  std::mt19937_64 random(2);
  std::size_t wrong = 0;
  for (int i = 0; i < test::trials(200000); ++i) {
    std::string token;
    const std::size_t length = 1 + random() % (i % 100 == 0 ? 900 : 40), point = random() % (length + 1);
    for (std::size_t k = 0; k < length; ++k) {
      if (k == point) token += '.';
      token += static_cast<char>('0' + (random() % 3 == 0 ? 0 : random() % 10));
    }
    if (random() % 2) token += fmt::format("e{}", static_cast<int>(random() % 700) - 350);
    wrong += !agrees(token);
  }
  CHECK(wrong == 0);
}

TEST_CASE("ties and their neighbours are correctly rounded, subnormals and the largest numbers included") {
  std::mt19937_64 random(3);
  std::size_t wrong = 0;
  const auto check = [&](long double tie) {
    for (const std::string& token : around(in_full(tie))) wrong += !agrees(token);
  };
  for (int i = 0; i < test::trials(20000); ++i) {
    const double value = std::fabs(std::bit_cast<double>(i % 4 ? random() : random() & 0x800FFFFFFFFFFFFF));
    if (!std::isfinite(value) || value == DBL_MAX) continue;
    check((static_cast<long double>(value) + std::nextafter(value, INFINITY)) / 2);
    const float narrow =
        std::fabs(std::bit_cast<float>(static_cast<std::uint32_t>(i % 4 ? random() : random() & 0x807FFFFF)));
    if (!std::isfinite(narrow) || narrow == FLT_MAX) continue;
    check((static_cast<long double>(narrow) + std::nextafterf(narrow, INFINITY)) / 2);
  }
  check(0x1p-1075L);                                               // half the smallest f64
  check(0x1p-150L);                                                // half the smallest f32
  check(0x1.ffffffp127L);                                          // halfway from FLT_MAX to what would come next
  wrong += !agrees(around(in_full(0x1.fffffffffffff8p1023L))[3]);  // just below the same of DBL_MAX
  CHECK(wrong == 0);
}

TEST_CASE("forms of real numbers") {
  CHECK(real("+1.5\n") == 1.5);
  CHECK(real("1.5D3\n") == 1500);
  CHECK(real("-1.5d-3 \n") == -0.0015);
  CHECK(real("1E+2\n") == 100);
  CHECK(real(".5\n") == 0.5);
  CHECK(real("5.\r\n") == 5);
  CHECK(bits(real("-0.0\t\n")) == bits(-0.0));
  CHECK(bits(real("1e-400\n")) == bits(0.0));
  CHECK(bits(real("-4.9e-324\n")) == bits(-4.9e-324));
  for (const char* inf : {"inf\n", "+INF\n", "Infinity\n", "iNfInItY \n"}) CHECK(real(inf) == INFINITY);
  CHECK(real("-inf\n") == -INFINITY);
  CHECK(bits(real("NaN\n")) == 0x7FF8000000000000U);
  CHECK(bits(real("-nan\n")) == 0xFFF8000000000000U);
}

TEST_CASE("what is no real number is refused at the token") {
  for (const char* token :
       {"",    "x",   "1.5x", "0x10",   "1e",   "1e+", "1d",    ".",       "+",     "-",       "+-1", "-+1",
        "++1", "--1", "1,5",  "nan(1)", "nanx", "in",  "infin", "1.5e3.5", "1e5d3", "1.5+103", "\x01"}) {
    INFO(token);
    const LineError e = error_of(real, token);
    CHECK(e.code == errc::bad_input);
    CHECK_THAT(e.what, Catch::Contains("expected a real number"));
  }
  for (const char* token : {"1e400", "-1e309", "1.8e308", "1d999"})
    CHECK_THAT(error_of(real, token).what, Catch::Contains("does not fit f64"));
  const std::string huge = std::string(400, '9');
  CHECK_THAT(error_of(real, huge).what, Catch::Contains("does not fit f64"));
  // NUL ends no token and is shown.
  const std::string with_nul("1\0", 2);
  CHECK_THAT(error_of(real, with_nul).what, Catch::Contains("1\\x00"));
}

TEST_CASE("integers are exact or refused") {
  CHECK(integer<double>("9007199254740992\n") == 0x1p53);
  CHECK(integer<double>("1152921504606846976\n") == 0x1p60);
  CHECK(integer<double>("-18446744073709551616\n") == -0x1p64);
  CHECK(integer<double>("+1267650600228229401496703205376\n") == 0x1p100);
  CHECK(integer<double>("000000000000000000000000000000007\n") == 7);
  CHECK(integer<double>("0\n") == 0);
  CHECK(integer<float>("16777216\n") == 0x1p24F);
  CHECK(integer<float>("1152921504606846976\n") == 0x1p60F);
  for (const char* token : {"9007199254740993", "18446744073709551615", "-9007199254740993"})
    CHECK_THAT(error_of(integer<double>, token).what, Catch::Contains("does not fit f64"));
  CHECK_THAT(error_of(integer<float>, "16777217").what, Catch::Contains("does not fit f32"));
  CHECK_THAT(error_of(integer<double>, "1" + std::string(400, '0')).what, Catch::Contains("does not fit f64"));
  for (const char* token : {"", "1.0", "1e3", "x", "-", "+", "+-1", "0x10", "nan", "inf", "1_000"})
    CHECK_THAT(error_of(integer<double>, token).what, Catch::Contains("expected an integer"));
}

TEST_CASE("digits of every length") {
  std::mt19937_64 random(4);
  for (int i = 0; i < test::trials(100000); ++i) {
    const std::uint64_t expected = random() >> (random() % 64);
    const Line line(std::string(random() % 9, '0') + std::to_string(expected));
    std::uint64_t value = 0;
    REQUIRE(read_digits(line.begin(), value) == line.begin() + line.end - 1);
    REQUIRE(value == expected);
  }
  std::uint64_t value = 0;
  for (const char* beyond : {"18446744073709551616", "99999999999999999999999"}) {
    read_digits(Line(beyond).begin(), value);
    CHECK(value == ~std::uint64_t{0});
  }
  for (int c = 0; c < 256; ++c) {  // any byte may follow the digits
    const Line line("12" + std::string(1, static_cast<char>(c)) + "99999999");
    const char* after = read_digits(line.begin(), value);
    if (is_digit(static_cast<char>(c))) continue;
    CHECK(value == 12);
    CHECK(after == line.begin() + 2);
  }
}

TEST_CASE("the end of a line is found where none is missing") {
  for (const char* end : {"\n", "\r\n", "\r\r\n", "\r\r\r\n"}) {
    const Line line(end);
    CHECK(after_line_end(line.begin()) != nullptr);
    CHECK(found_at(line.begin()) == "the end of the line");
  }
  for (const char* text : {"\r1\n", "\r \n", "\r\r\t\n", " \n", "\t\n", "x\n"}) {
    const Line line(text);
    CHECK(after_line_end(line.begin()) == nullptr);
    CHECK(found_at(line.begin()) != "the end of the line");
    CHECK(found_at(line.begin()).size() > 2);  // more than quotes
    CHECK((not_line_end(line.begin()).remedy.empty() == (*text != '\r')));
  }
  CHECK(without_line_end("a\rb\r\r") == "a\rb");
  CHECK(without_line_end("\r\r").empty());
}
