#include "rutherford_boeing/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "spmvpack/container/base/text.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

constexpr const char* remedy_header = "is the file a Harwell-Boeing or Rutherford-Boeing matrix, and complete?";
constexpr std::size_t type_width = 3, number_width = 14;  // A3; I14, or 1X,I13

std::string_view strip(std::string_view s) noexcept {
  s.remove_prefix(std::min(s.find_first_not_of(' '), s.size()));
  return s.substr(0, s.find_last_not_of(' ') + 1);
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The first line of `text`, without its end.
std::string_view first_line(std::string_view text) noexcept {
  return without_line_end(text.substr(0, text.find('\n')));
}

/// One line of the head, column by column.
class HeaderLine {
 public:
  explicit HeaderLine(TextBatches& text) : text_(&text), line_(first_line(text.text())) {
    if (text.text().empty()) text.fail(errc::bad_input, "the file ends within its header", remedy_header);
  }
  /// The columns [begin, begin + width), counted from 0; fewer at the end of the line.
  [[nodiscard]] std::string_view columns(std::size_t begin, std::size_t width) const noexcept {
    return line_.substr(std::min(begin, line_.size()), width);
  }
  /// The number in the next 14 columns.
  std::uint64_t number(const char* what, bool may_be_blank = false) {
    const std::string_view field = take(number_width), digits = strip(field);
    if (digits.empty() && may_be_blank) return 0;
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(digits, errc::bad_input, fmt::format("the number of {} is beyond 64 bits", what), "");
    if (digits.empty() || error != std::errc() || after != digits.data() + digits.size())
      fail(digits.empty() ? field : digits, errc::bad_input,
           fmt::format("found '{}', expected the number of {} in columns {} to {}", escape(digits), what,
                       at_ - number_width + 1, at_),
           remedy_header);
    return value;
  }
  std::uint64_t dimension(const char* what) {
    const std::uint64_t value = number(what);
    if (value >= max_dimension)
      fail(columns(at_ - number_width, 1), errc::unsupported,
           fmt::format("{} {}, of which there must be fewer than {}", value, what, max_dimension), "");
    return value;
  }
  /// Takes the next columns.
  std::string_view take(std::size_t width) noexcept {
    at_ += width;
    return columns(at_ - width, width);
  }
  void take_blanks(std::size_t width, const char* expected) {
    if (const std::string_view rest = strip(take(width)); !rest.empty())
      fail(rest, errc::bad_input, fmt::format("found '{}', expected {}", escape(rest), expected), remedy_header);
  }
  FortranFormat format(std::size_t width, bool of_integers) {
    const std::string_view field = take(width);
    FortranFormat format;
    try {
      format = parse_fortran_format(field);
    } catch (const LineError& e) {
      fail(field.substr(static_cast<std::size_t>(e.at - field.data()), 0), e.code,
           fmt::format("'{}' is {}", escape(strip(field)), e.what), e.remedy);
    }
    if (of_integers ? !format.reads_integers() : !format.reads_reals())
      fail(field, errc::bad_input,
           fmt::format("found the format '{}', expected one of {}", escape(strip(field)),
                       of_integers ? "integers" : "real numbers"),
           remedy_header);
    return format;
  }
  /// Ends the line, of which only blanks may be left.
  void end() {
    take_blanks(line_.size(), "the end of the line");
    text_->skip_line();
  }
  [[noreturn]] void fail(std::string_view at, errc code, std::string what, std::string remedy) const {
    text_->fail({at.data(), code, std::move(what), std::move(remedy)});
  }

 private:
  TextBatches* text_;
  std::string_view line_;
  std::size_t at_ = 0;
};

/// Reads the three letters of the type.
void read_type(const HeaderLine& line, RutherfordBoeingHeader& header) {
  const std::string_view type = line.columns(0, type_width);
  const auto unsupported = [&](std::size_t i, const char* what) {
    line.fail(type.substr(i), errc::unsupported,
              fmt::format("{} (type '{}') are not supported yet", what, escape(type)), "");
  };
  const auto unknown = [&](std::size_t i, const char* expected) {
    line.fail(type.substr(std::min(i, type.size())), errc::bad_input,
              fmt::format("the type is '{}', expected {}", escape(type), expected), remedy_header);
  };
  const auto letter = [&](std::size_t i) { return i < type.size() ? lower(type[i]) : '\0'; };
  switch (letter(0)) {
    case 'r':
      header.field = Field::real;
      break;
    case 'i':
      header.field = Field::integer;
      break;
    case 'p':
      header.field = Field::pattern;
      break;
    case 'c':
      header.field = Field::complex;
      break;
    case 'q':
      unsupported(0, "matrices whose values are in another file");
      break;
    default:
      unknown(0, "R, C, I or P first: real, complex, integer or pattern");
  }
  switch (letter(1)) {
    case 'u':
    case 'r':
      header.symmetry = Symmetry::general;
      break;
    case 's':
      header.symmetry = Symmetry::symmetric;
      break;
    case 'z':
      header.symmetry = Symmetry::skew_symmetric;
      break;
    case 'h':
      header.symmetry = Symmetry::hermitian;
      break;
    default:
      unknown(1, "U, S, H, Z or R second: unsymmetric, symmetric, Hermitian, skew-symmetric or rectangular");
  }
  if (letter(2) == 'e') unsupported(2, "elemental (unassembled) matrices");
  if (letter(2) != 'a') unknown(2, "A third: assembled");
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric)
    line.fail(type.substr(1), errc::bad_input, "a pattern has no signs and cannot be skew-symmetric",
              "declare it symmetric, or store values");
  if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
    line.fail(type.substr(1), errc::bad_input, fmt::format("a {} matrix cannot be hermitian", to_string(header.field)),
              "declare it symmetric");
}

struct LineCounts {
  std::uint64_t total = 0, pointers = 0, indices = 0, values = 0, right_hand_sides = 0;
};

/// The line counts must agree with sizes and formats; a header that contradicts itself is damaged.
void check_lines(const TextBatches& text, const RutherfordBoeingHeader& header, const LineCounts& lines) {
  constexpr std::uint64_t counts_line = 2;
  const auto require = [&](std::uint64_t found, std::uint64_t expected, std::size_t field, const char* what) {
    if (found != expected)
      throw Error(errc::bad_input, fmt::format("{} lines {}, expected {} by sizes and formats", found, what, expected),
                  fmt::format("{}:{}:{}", text.name(), counts_line, field * number_width + 1), remedy_header);
  };
  require(lines.pointers, header.pointers.lines(), 1, "of column pointers");
  require(lines.indices, header.indices.lines(), 2, "of row indices");
  require(lines.values, header.values.lines(), 3, "of values");
  require(lines.total, lines.pointers + lines.indices + lines.values + lines.right_hand_sides, 0, "in all");
}

}  // namespace

bool is_rutherford_boeing(std::string_view start) noexcept {
  std::array<std::string_view, 4> lines;
  for (std::string_view& line : lines) {
    line = first_line(start);
    start.remove_prefix(std::min(start.find('\n'), start.size()));
    if (!start.empty()) start.remove_prefix(1);
  }
  const std::string_view type = lines[2].substr(0, type_width);
  const auto is_one_of = [&](std::size_t i, std::string_view letters) {
    return letters.find(lower(type[i])) != std::string_view::npos;
  };
  return type.size() == type_width && is_one_of(0, "rcipq") && is_one_of(1, "suhzr") && is_one_of(2, "ae") &&
         strip(lines[2].substr(type_width, number_width - type_width)).empty() && strip(lines[3]).starts_with('(');
}

RutherfordBoeingHeader read_rutherford_boeing_header(TextBatches& text) {
  RutherfordBoeingHeader header;
  header.title = strip(HeaderLine(text).columns(0, std::string_view::npos));
  text.skip_line();

  LineCounts lines;
  HeaderLine counts(text);
  lines.total = counts.number("lines after the header");
  lines.pointers = counts.number("lines of column pointers");
  lines.indices = counts.number("lines of row indices");
  lines.values = counts.number("lines of values", true);
  lines.right_hand_sides = counts.number("lines of right-hand sides", true);
  counts.end();

  HeaderLine sizes(text);
  read_type(sizes, header);
  sizes.take(type_width);
  sizes.take_blanks(number_width - type_width, "blanks after the type");
  header.rows = sizes.dimension("rows");
  header.cols = sizes.dimension("columns");
  header.pointers.count = header.cols + 1;
  header.indices.count = sizes.number("entries");
  header.values.count = header.field == Field::pattern   ? 0
                        : header.field == Field::complex ? checked_mul(2, header.indices.count, "numbers of values")
                                                         : header.indices.count;
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    sizes.fail(sizes.columns(2 * number_width, 1), errc::bad_input,
               fmt::format("a {} matrix of {} rows and {} columns, expected a square one", to_string(header.symmetry),
                           header.rows, header.cols),
               "declare it unsymmetric or rectangular");
  const std::string_view elements = sizes.columns(4 * number_width, number_width);
  if (sizes.number("elemental entries", true) != 0)
    sizes.fail(elements, errc::bad_input, "elemental entries in an assembled matrix, expected 0", remedy_header);
  sizes.end();

  constexpr std::size_t index_format_width = 16, value_format_width = 20;
  HeaderLine formats(text);
  header.pointers.format = formats.format(index_format_width, true);
  header.indices.format = formats.format(index_format_width, true);
  if (header.field != Field::pattern)
    header.values.format = formats.format(value_format_width, header.field == Field::integer);
  text.skip_line();  // the format of the right-hand sides may follow
  header.right_hand_sides = lines.right_hand_sides != 0;
  if (header.right_hand_sides) {
    static_cast<void>(HeaderLine(text));
    text.skip_line();
  }

  header.pointers.what = "a column pointer";
  header.pointers.name = "column pointers";
  header.indices.what = "a row index";
  header.indices.name = "row indices";
  header.values.what = header.field == Field::integer ? "an integer" : "a real number";
  header.values.name = "values";
  header.values.integers = header.field == Field::integer;
  constexpr std::uint64_t header_lines = 4;
  header.pointers.first_line = header_lines + 1 + (header.right_hand_sides ? 1 : 0);
  header.indices.first_line = header.pointers.first_line + lines.pointers;
  header.values.first_line = header.indices.first_line + lines.indices;
  check_lines(text, header, lines);
  return header;
}

}  // namespace spmvpack::sources
