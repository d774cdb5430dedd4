#include "rutherford_boeing/fortran_format.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    if (value < least) refuse(begin);
    if (value > most) refuse_valid(begin, fmt::format("a number beyond {}", most));
    return value;
  }
  [[nodiscard]] const char* here() {
    static_cast<void>(peek());
    return text_.data();
  }
  [[noreturn]] void refuse() { refuse(here()); }
  [[noreturn]] static void refuse(const char* at) {
    throw LineError{at, errc::bad_input, "a format that is not understood here", remedy};
  }
  [[noreturn]] static void refuse_valid(const char* at, std::string_view what) {
    throw LineError{at, errc::unsupported, fmt::format("a format with {}, which is not supported", what), remedy};
  }

 private:
  static constexpr const char* remedy = "a format is like (10I8), (1X,8I9), (5E16.8), (1P,4D20.12) or (3(1P,E24.16))";
  std::string_view text_;
};

constexpr unsigned max_repeat = 10000, max_scale = 99, max_steps = 20000;

}  // namespace

/// Carries a format out, once from its start and once from where it is repeated, and notes where fields are.
class FormatReader {
 public:
  explicit FormatReader(std::string_view text) : whole_(text), text_(text) {}

  FortranFormat read() {
    FortranFormat format;
    format.text_ = whole_.substr(std::min(whole_.find_first_not_of(' '), whole_.size()));
    format.text_.erase(format.text_.find_last_not_of(' ') + 1);
    text_.require('(');
    repeated_ = text_;
    format.first_ = pass();
    if (text_.peek() != '\0') text_.refuse();
    if (format.first_.fields.empty()) FormatText::refuse(closed_);
    text_ = repeated_;
    format.again_ = pass();  // with the scale that the first has left
    if (format.again_.fields.empty()) FormatText::refuse_valid(closed_, "a last group that has no numbers");
    return format;
  }

 private:
  FortranFormat::Pass pass() {
    pass_ = {};
    column_ = end_ = steps_ = 0;
    list(0);
    pass_.starts.push_back(pass_.fields.size());
    return std::move(pass_);
  }

  /// Items up to a ')', and that.
  void list(unsigned depth) {
    if (closes()) return;
    for (;;) {
      const bool needs_comma = item(depth);
      if (closes()) return;
      const char next = text_.peek();
      if (!text_.take(',') && needs_comma && next != '/' && next != ':' && next != '(') text_.refuse();
    }
  }

  bool closes() {
    closed_ = text_.here();
    return text_.take(')');
  }

  /// One item; returns whether a comma must follow it.
  bool item(unsigned depth) {
    const FormatText start = text_;
    const char* const at = text_.here();
    step(at);
    const bool negative = text_.take('-'), has_sign = negative || text_.take('+');
    const bool has_number = text_.at_number();
    const unsigned number = has_number ? text_.number(0, max_repeat) : 1;
    const char letter = text_.peek();
    if (letter == 'P') {
      if (!has_number) text_.refuse();
      if (number > max_scale) FormatText::refuse_valid(at, fmt::format("a scale beyond {}", max_scale));
      text_.take('P');
      scale_ = negative ? -static_cast<int>(number) : static_cast<int>(number);
      return false;
    }
    if (has_sign) text_.refuse();
    if (number == 0) FormatText::refuse(at);
    switch (letter) {
      case '(':
        if (depth == 0) repeated_ = start;
        group(number, depth);
        return false;
      case 'X':
        text_.take('X');
        column_ += number;
        return false;
      case '/':
        text_.take('/');
        for (unsigned i = 0; i < number; ++i) next_line(at);
        return false;
      case 'I':
      case 'F':
      case 'E':
      case 'D':
      case 'G':
        data(at, number, has_number);
        return true;
      case 'A':
      case 'L':
      case 'O':
      case 'Z':
      case 'H':
        FormatText::refuse_valid(at, fmt::format("{} in it", letter));
      case 'B':
        if (has_number) FormatText::refuse_valid(at, "B in it");
        return control(at);
      default:
        if (has_number) text_.refuse();
        return control(at);
    }
  }

  /// Items that take no number before them.
  bool control(const char* at) {
    if (text_.take('T')) {
      const bool left = text_.take('L'), right = !left && text_.take('R');
      const unsigned n = text_.number(1, max_repeat);
      column_ = left ? column_ - std::min(column_, n) : right ? column_ + n : n - 1;
      return false;
    }
    if (text_.take(':')) {
      pass_.colons.emplace_back(pass_.fields.size(), pass_.starts.size() - 1);
      return false;
    }
    if (text_.take('S')) {  // signs of output
      static_cast<void>(text_.take('P') || text_.take('S'));
      return true;
    }
    if (text_.take('B')) {
      if (text_.take('N')) return true;  // as blanks are without it
      FormatText::refuse_valid(at, text_.peek() == 'Z' ? "blanks that are zeros (BZ)" : "B in it");
    }
    const char letter = text_.peek();
    if (letter == 'R' || letter == '\'' || letter == '"' || letter == '*')
      FormatText::refuse_valid(at, fmt::format("{} in it", letter));
    text_.refuse();
  }

  void group(unsigned repeat, unsigned depth) {
    const char* const at = text_.here();
    text_.require('(');
    const FormatText begin = text_;
    for (unsigned i = 0; i < repeat; ++i) {
      step(at);
      text_ = begin;
      list(depth + 1);
    }
  }

  /// Fields of numbers, one beside the other.
  void data(const char* at, unsigned repeat, bool has_repeat) {
    FortranFormat::Field field;
    field.kind = text_.peek();
    text_.take(field.kind);
    const char second = text_.peek();
    if (field.kind == 'D' && (second == 'C' || second == 'P' || second == 'T')) {
      if (has_repeat) text_.refuse();
      if (!text_.take('P')) FormatText::refuse_valid(at, second == 'C' ? "decimal commas (DC)" : "DT in it");
      return;
    }
    if (field.kind == 'E' && second == 'X') FormatText::refuse_valid(at, "hexadecimal numbers (EX)");
    if (field.kind == 'E') static_cast<void>(text_.take('S') || text_.take('N'));
    if (field.kind == 'D') field.kind = 'E';
    field.width = text_.number(1, FortranFormat::max_width);
    if (field.kind == 'I') {
      if (text_.take('.')) text_.number(0, FortranFormat::max_width);
    } else {
      text_.require('.');
      field.decimals = text_.number(0, FortranFormat::max_width);
      const unsigned exponent = text_.take('E') ? text_.number(1, FortranFormat::max_width) : 2;
      if (field.kind == 'G') field.blanks = exponent + 2;
    }
    field.scale = scale_;
    if (column_ < end_) FormatText::refuse_valid(at, "numbers to the left of others (T or TL)");
    for (unsigned i = 0; i < repeat; ++i) {
      step(at);
      field.column = column_;
      column_ += field.width;
      pass_.fields.push_back(field);
    }
    end_ = column_;
  }

  void next_line(const char* at) {
    step(at);
    pass_.starts.push_back(pass_.fields.size());
    column_ = end_ = 0;
  }

  /// Bounds what a format of a few characters can ask for.
  void step(const char* at) {
    if (++steps_ > max_steps) FormatText::refuse_valid(at, "more numbers than a line of any matrix file has");
  }

  std::string_view whole_;
  const char* closed_ = nullptr;  ///< the last ')'
  FormatText text_;               ///< what is left of it
  FormatText repeated_{{}};       ///< from the last group outside others on, with its repeat count; else all
  FortranFormat::Pass pass_;
  unsigned column_ = 0, end_ = 0;  ///< of the line: where the next field would be; the end of the last one
  unsigned steps_ = 0;
  int scale_ = 0;
};

FortranFormat parse_fortran_format(std::string_view text) { return FormatReader(text).read(); }

std::span<const FortranFormat::Field> FortranFormat::fields(std::uint64_t line) const noexcept {
  const bool is_first = line < first_.lines();
  const Pass& pass = is_first ? first_ : again_;
  const std::uint64_t i = is_first ? line : (line - first_.lines()) % again_.lines();
  return std::span(pass.fields).subspan(pass.starts[i], pass.starts[i + 1] - pass.starts[i]);
}

std::uint64_t FortranFormat::numbers_before(std::uint64_t line) const noexcept {
  if (line <= first_.lines()) return first_.starts[line];
  const std::uint64_t further = line - first_.lines();
  return first_.fields.size() + further / again_.lines() * again_.fields.size() +
         again_.starts[further % again_.lines()];
}

std::uint64_t FortranFormat::Pass::line_of(std::uint64_t k) const noexcept {
  return static_cast<std::uint64_t>(std::upper_bound(starts.begin(), starts.end(), k) - starts.begin()) - 1;
}

std::uint64_t FortranFormat::Pass::lines_of(std::uint64_t count) const noexcept {
  // A format goes on until it wants the next number, comes to a colon, or ends: slashes after the last number skip
  // lines.
  const auto colon = std::lower_bound(colons.begin(), colons.end(), std::pair(count, std::uint64_t{0}));
  if (colon != colons.end() && colon->first == count) return colon->second + 1;
  return count == fields.size() ? lines() : line_of(count) + 1;
}

std::uint64_t FortranFormat::lines_of(std::uint64_t count) const noexcept {
  if (count == 0) return 0;
  if (count <= first_.fields.size()) return first_.lines_of(count);
  const std::uint64_t passes = (count - first_.fields.size() - 1) / again_.fields.size();
  return first_.lines() + passes * again_.lines() +
         again_.lines_of(count - first_.fields.size() - passes * again_.fields.size());
}

std::uint64_t FortranFormat::line_of(std::uint64_t k) const noexcept {
  if (k < first_.fields.size()) return first_.line_of(k);
  const std::uint64_t further = k - first_.fields.size();
  return first_.lines() + further / again_.fields.size() * again_.lines() +
         again_.line_of(further % again_.fields.size());
}

bool FortranFormat::reads_integers() const noexcept {
  return std::all_of(first_.fields.begin(), first_.fields.end(),
                     [](const Field& field) { return field.kind == 'I' || field.kind == 'G'; });
}
bool FortranFormat::reads_reals() const noexcept {
  return std::none_of(first_.fields.begin(), first_.fields.end(), [](const Field& field) { return field.kind == 'I'; });
}

}  // namespace spmvpack::sources
