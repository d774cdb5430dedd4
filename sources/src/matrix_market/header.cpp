#include "matrix_market/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "spmvpack/container/file/format.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

constexpr std::string_view banner = "%%MatrixMarket";
constexpr const char* remedy_banner =
    "a Matrix Market file starts with a line like '%%MatrixMarket matrix coordinate real general'";

template <class Value>
struct Word {
  std::string_view text;
  std::optional<Value> value;  ///< unset: known, but not supported
};

/// Reads one of `words` at `p` and moves p past it.
template <class Value, std::size_t n>
Value read_word(const TextBatches& text, const char*& p, const char* kind, const std::array<Word<Value>, n>& words) {
  p = skip_blanks(p);
  const std::string_view token = token_at(p);
  std::string expected;
  for (const Word<Value>& word : words) {
    if (equal_words(token, word.text)) {
      if (!word.value)
        text.fail({p, errc::unsupported, fmt::format("{} '{}' is not supported yet", kind, word.text), {}});
      p += token.size();
      return *word.value;
    }
    expected += (expected.empty() ? "" : ", ") + std::string(word.text);
  }
  text.fail(
      {p, errc::bad_input, fmt::format("found {}, expected the {}: {}", found_at(p), kind, expected), remedy_banner});
}

void expect_end_of_line(const TextBatches& text, const char* p) {
  p = skip_blanks(p);
  if (after_line_end(p) == nullptr) text.fail(not_line_end(p));
}

void read_banner(TextBatches& text, MatrixMarketHeader& header) {
  if (text.text().empty()) text.fail(errc::bad_input, "the file is empty, expected the banner", remedy_banner);
  const char* p = text.text().data();
  if (!equal_words(token_at(p), banner))
    text.fail(
        {p, errc::bad_input, fmt::format("found {}, expected the banner '{}'", found_at(p), banner), remedy_banner});
  p += banner.size();

  using Yes = Word<bool>;
  read_word(text, p, "object", std::array{Yes{"matrix", true}, Yes{"vector", {}}});
  header.coordinate = read_word(text, p, "format", std::array{Yes{"coordinate", true}, Yes{"array", false}});
  const char* const field = skip_blanks(p);
  constexpr std::string_view unsigned_integer = "unsigned-integer";
  header.is_unsigned = equal_words(token_at(field), unsigned_integer);
  header.field = read_word(text, p, "field",
                           std::array{Word<Field>{"real", Field::real}, Word<Field>{"integer", Field::integer},
                                      Word<Field>{unsigned_integer, Field::integer},
                                      Word<Field>{"pattern", Field::pattern}, Word<Field>{"complex", Field::complex}});
  if (!header.coordinate && header.field == Field::pattern)
    text.fail({field, errc::bad_input, "an array file cannot be a pattern", "declare the field real or integer"});
  const char* const symmetry = skip_blanks(p);
  header.symmetry = read_word(
      text, p, "symmetry",
      std::array{Word<Symmetry>{"general", Symmetry::general}, Word<Symmetry>{"symmetric", Symmetry::symmetric},
                 Word<Symmetry>{"skew-symmetric", Symmetry::skew_symmetric},
                 Word<Symmetry>{"hermitian", Symmetry::hermitian}});
  if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
    text.fail({symmetry, errc::bad_input, fmt::format("a {} matrix cannot be hermitian", to_string(header.field)),
               "declare it symmetric"});
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric)
    text.fail({symmetry, errc::bad_input, "a pattern has no signs and cannot be skew-symmetric",
               "declare it symmetric, or store values"});
  if (header.is_unsigned && header.symmetry == Symmetry::skew_symmetric)
    text.fail({symmetry, errc::bad_input, "unsigned integers have no signs and cannot be skew-symmetric",
               "declare the field integer"});
  expect_end_of_line(text, p);
  text.skip_line();
}

std::uint64_t read_size(const TextBatches& text, const char*& p, const char* what) {
  p = skip_blanks(p);
  const std::string_view token = token_at(p);
  std::uint64_t value = 0;
  const auto [after, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc::result_out_of_range)
    text.fail({p, errc::bad_input, fmt::format("the number of {} {} is beyond 64 bits", what, found_at(p)), {}});
  if (error != std::errc() || after != token.data() + token.size())
    text.fail({p, errc::bad_input, fmt::format("found {}, expected the number of {}", found_at(p), what),
               "the size line holds 'rows columns entries' (coordinate) or 'rows columns' (array)"});
  p += token.size();
  return value;
}

std::uint64_t read_dimension(const TextBatches& text, const char*& p, const char* what) {
  const char* const token = skip_blanks(p);
  const std::uint64_t value = read_size(text, p, what);
  if (value >= max_dimension)
    text.fail({token,
               errc::unsupported,
               fmt::format("{} {}, of which there must be fewer than {}", value, what, max_dimension),
               {}});
  return value;
}

void read_size_line(TextBatches& text, MatrixMarketHeader& header) {
  const char* p = text.text().data();
  header.rows = read_dimension(text, p, "rows");
  const char* const cols = skip_blanks(p);
  header.cols = read_dimension(text, p, "columns");
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    text.fail({cols, errc::bad_input,
               fmt::format("a {} matrix of {} rows and {} columns, expected a square one", to_string(header.symmetry),
                           header.rows, header.cols),
               "declare it general"});
  if (header.coordinate) {
    header.entries = read_size(text, p, "entries");
  } else {
    const std::uint64_t n = header.rows;
    header.entries = header.symmetry == Symmetry::general          ? n * header.cols
                     : header.symmetry == Symmetry::skew_symmetric ? n * (n - (n != 0)) / 2
                                                                   : n * (n + 1) / 2;
  }
  expect_end_of_line(text, p);
  text.skip_line();
}

}  // namespace

MatrixMarketHeader read_header(TextBatches& text) {
  MatrixMarketHeader header;
  std::uint64_t comment_bytes = 0;
  read_banner(text, header);
  for (;; text.skip_line()) {
    if (text.text().empty()) text.fail(errc::bad_input, "the file ends before its size line", "is the file complete?");
    std::string_view line = without_line_end(text.text().substr(0, text.text().find('\n')));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    if (line[0] != '%') break;
    constexpr std::string_view key = "comment=";  // which each has in a provenance, and its '\n'
    comment_bytes += key.size() + line.size();
    if (comment_bytes <= format::max_provenance_bytes)
      header.comments.emplace_back(line.substr(1));
    else
      ++header.comments_left_out;
  }
  read_size_line(text, header);
  return header;
}

}  // namespace spmvpack::sources
