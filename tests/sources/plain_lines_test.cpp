// Lines read by their shape, compared with the C library and with a grammar of lines.
#include "text/plain_lines.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "catch.hpp"
#include "sanitized.hpp"

using namespace spmvpack;
using namespace spmvpack::sources;

namespace {

struct Entry {
  std::uint64_t row = 0, col = 0;
  double value = 0;
};

/// Reads `line`, which is followed by `rest` and readable bytes, and comes after digits; false where it is not plain.
template <Field field>
bool read(const std::string& line, Entry& entry, const std::string& rest = {}) {
  const std::string before(plain_bytes_before, '7'),
      text = before + line + rest + std::string(TextBatches::slack, '\0');
  const char* const start = text.data() + before.size();
  const char* const after = read_plain_line<field>(start, entry.row, entry.col, entry.value);
  if (after != nullptr) REQUIRE(after == start + line.size());
  return after != nullptr;
}

/// What the C library makes of a line that is right.
Entry expected(const std::string& line) {
  char* p = nullptr;
  Entry entry;
  entry.row = std::strtoull(line.c_str(), &p, 10);
  entry.col = std::strtoull(p, &p, 10);
  entry.value = std::strtod(p, nullptr);
  return entry;
}

bool same(const Entry& a, const Entry& b) {
  return a.row == b.row && a.col == b.col &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

/// The grammar of a right line, one character after the other: indices, and with `field` the number behind them.
bool is_right(const std::string& line, Field field) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (line[at] >= '0' && line[at] <= '9') ++at;
    return at - begin;
  };
  const auto passes = [&](const char* any_of) {
    const bool is_there = std::strchr(any_of, line[at]) != nullptr && line[at] != '\0';
    at += is_there;
    return is_there;
  };
  if (digits() == 0 || !passes(" ") || digits() == 0) return false;
  if (field != Field::pattern) {
    if (!passes(" ")) return false;
    passes("-");
    std::size_t count = digits();
    if (field == Field::real) {
      if (passes(".")) count += digits();
      if (passes("eE")) {
        passes("+-");
        if (digits() == 0) return false;
      }
    }
    if (count == 0) return false;
  }
  passes("\r");
  return passes("\n") && at == line.size();
}

std::string digits(std::mt19937_64& random, std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += static_cast<char>('0' + random() % 10);
  return text;
}
std::string index(std::mt19937_64& random) { return digits(random, 1 + random() % 8); }

std::string real(std::mt19937_64& random) {
  const std::uint64_t before = random() % 9, after = random() % 17;
  if (before + after == 0 || before + after > 19) return real(random);
  std::string text = (random() % 2 ? "-" : "") + digits(random, before);
  if (after != 0 || random() % 4 == 0) text += "." + digits(random, after);
  if (random() % 2) {
    const char* const signs[] = {"", "+", "-"};
    text += fmt::format("{}{}{:0{}}", "eE"[random() % 2], signs[random() % 3], random() % 250, 1 + random() % 4);
  }
  return text;
}

}  // namespace

TEST_CASE("what is no digit is found, by the portable way too") {
  std::mt19937_64 random(1);
  for (int i = 0; i < test::trials(20000); ++i) {
    char bytes[64] = {};
    std::uint64_t marks = 0;
    for (unsigned k = 0; k < 64; ++k) {
      bytes[k] = static_cast<char>(random() % 3 ? '0' + random() % 10 : random());
      marks |= std::uint64_t{bytes[k] < '0' || bytes[k] > '9'} << k;
    }
    REQUIRE(non_digits<48>(bytes) == (marks | ~std::uint64_t{0} << 48));
    REQUIRE(non_digits<32>(bytes) == (marks | ~std::uint64_t{0} << 32));
    REQUIRE(non_digits_portable(bytes) == marks);
  }
}

TEST_CASE("plain lines are read to the bits that strtod gives") {
  std::mt19937_64 random(2);
  std::size_t not_plain = 0, wrong = 0;
  for (int i = 0; i < test::trials(1000000); ++i) {
    const std::string line = index(random) + " " + index(random) + " " + real(random) + (i % 5 ? "\n" : "\r\n");
    Entry entry;
    if (!read<Field::real>(line, entry, i % 2 ? "1 2 3\n" : ""))
      ++not_plain;
    else
      wrong += !same(entry, expected(line));
  }
  CHECK(wrong == 0);
  CHECK(not_plain < 10000);  // halfway cases, which are left to a careful reader
  for (int i = 0; i < test::trials(100000); ++i) {
    const std::string line = index(random) + " " + index(random) + (i % 2 ? " -" : " ") + index(random) + "\n";
    Entry entry;
    REQUIRE(read<Field::integer>(line, entry));
    REQUIRE(same(entry, expected(line)));
    const std::string places = line.substr(0, line.find(' ', line.find(' ') + 1)) + "\n";
    REQUIRE(read<Field::pattern>(places, entry));
    REQUIRE(same({entry.row, entry.col, 0}, expected(places)));
  }
}

TEST_CASE("a line with a mistake is not plain") {
  const std::string characters = " 0129.-+eE\n\r\txD%,";
  std::mt19937_64 random(3);
  std::size_t read_some = 0;
  const auto check = [&](const std::string& text) {
    Entry entry;
    const std::string line = text.substr(0, text.find('\n') + 1);
    INFO(line);
    const std::string rest = text.substr(line.size());
    const auto check_field = [&](bool is_read, Field field) {
      if (!is_read) return;
      ++read_some;
      if (field == Field::pattern) entry.value = 0;
      CHECK(is_right(line, field));
      CHECK(same(entry, expected(line)));
    };
    check_field(read<Field::real>(line, entry, rest), Field::real);
    check_field(read<Field::integer>(line, entry, rest), Field::integer);
    check_field(read<Field::pattern>(line, entry, rest), Field::pattern);
  };
  for (int i = 0; i < test::trials(60000); ++i) {
    std::string line = index(random) + " " + index(random);
    if (i % 3 != 0) line += " " + (i % 3 == 1 ? real(random) : "-" + index(random));
    line += "\n";
    for (std::uint64_t n = 1 + random() % 2; n > 0; --n) {
      const std::size_t at = random() % line.size();
      const char c = random() % 8 ? characters[random() % characters.size()] : static_cast<char>(random());
      if (random() % 3 == 0)
        line.insert(at, 1, c);
      else if (random() % 2)
        line[at] = c;
      else
        line.erase(at, 1);
    }
    check(line + "\n");
  }
  CHECK(read_some > 1000);
  for (const char* line :
       {"\n", " \n", "1\n", "1 \n", "1 2 \n", "1 2 -\n", "1 2 .\n", "1 2 e5\n", "1 2 1e\n", "1 2 1e+\n"})
    check(line);
  for (int length = 60; length < 70; ++length) {  // as long as what is looked at together
    check("1 2 " + std::string(static_cast<std::size_t>(length), '7') + "\n");
    check("1 2 3" + std::string(static_cast<std::size_t>(length), ' ') + "\n");
    check(std::string(static_cast<std::size_t>(length), '1') + " 2 3\n");
  }
}
