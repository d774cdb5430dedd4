#include "spmvpack/container/file/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack {
namespace {

/// The length of the UTF-8 character at the start of `text`, which is not empty; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::string_view character = text.substr(0, first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2);
  // escape() leaves valid UTF-8 alone, except for the controls U+0080 to U+009F.
  const bool control = first == 0xC2 && character.size() == 2 && (static_cast<unsigned char>(character[1]) >> 5U) == 4;
  return control || escape(character, character.size()) == character ? character.size() : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// `text` as one line of UTF-8: without line ends and NUL, and with U+FFFD for invalid bytes.
std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0)
      out += "\xEF\xBF\xBD";
    else if (text[0] != '\n' && text[0] != '\r' && text[0] != '\0')
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// As many bytes whatever the text is: cut after a whole character, or with spaces at the end.
std::string of_width(std::string_view text, std::size_t bytes) {
  std::string out;
  for (std::string rest = one_line(text); !rest.empty();) {
    const std::size_t length = character_length(rest);
    if (out.size() + length > bytes) break;
    out += rest.substr(0, length);
    rest.erase(0, length);
  }
  out.resize(bytes, ' ');
  return out;
}

std::string_view without_spaces_at_end(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

constexpr std::size_t layout_bytes = 16, seconds_bytes = 11;

/// Seconds in `seconds_bytes`: exponents have two digits.
std::string seconds_text(double seconds) {
  constexpr double least = 1e-98, most = 9.9e98;
  return fmt::format("{:.5e}", seconds < least ? 0.0 : std::min(seconds, most));
}

/// The lines of what was measured: none if nothing was.
std::string measured_lines(const Provenance& p) {
  if (p.measured_on.empty()) return "";
  std::string text = fmt::format("measured_on={}\nmeasured=", of_width(p.measured_on, Provenance::measured_on_bytes));
  for (std::size_t i = 0; i < Provenance::most_measured; ++i) {
    if (i != 0) text += ',';
    if (i >= p.measured.size()) {
      text.append(layout_bytes + 2 * (1 + seconds_bytes), ' ');
      continue;
    }
    const MeasuredLayout& m = p.measured[i];
    text += fmt::format("{} {} {}", of_width(m.layout, layout_bytes), seconds_text(m.predicted_seconds),
                        seconds_text(m.seconds));
  }
  return text + '\n';
}

std::string comment_line(std::string_view comment) { return "comment=" + one_line(comment) + "\n"; }

/// Parses an unsigned number. from_chars alone would also accept -1, inf and nan for a double.
template <class T>
T number(std::string_view key, std::string_view text) {
  T value{};
  const bool starts = !text.empty() && text[0] >= '0' && text[0] <= '9';
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!starts || error != std::errc{} || end != text.data() + text.size())
    throw Error(errc::corrupt, fmt::format("'{}' is '{}', expected a number", escape(key), escape(text)),
                "section 'provenance'");
  return value;
}

/// The layouts of measured_lines().
std::vector<MeasuredLayout> parse_measured(std::string_view key, std::string_view text) {
  std::vector<MeasuredLayout> all;
  const std::string_view whole = text;
  for (std::size_t fields = 0;; ++fields) {
    const std::string_view field = text.substr(0, text.find(','));
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; (begin = field.find_first_not_of(' ', begin)) != std::string_view::npos;) {
      const std::size_t end = std::min(field.find(' ', begin), field.size());
      words.push_back(field.substr(begin, end - begin));
      begin = end;
    }
    if (fields >= Provenance::most_measured || (!words.empty() && words.size() != 3))
      throw Error(errc::corrupt,
                  fmt::format("'{}' is '{}', expected up to {} layouts, each with two numbers", escape(key),
                              escape(whole), Provenance::most_measured),
                  "section 'provenance'");
    if (!words.empty())
      all.push_back({std::string(words[0]), number<double>(key, words[1]), number<double>(key, words[2])});
    if (field.size() == text.size()) return all;
    text.remove_prefix(field.size() + 1);
  }
}

}  // namespace

std::span<const PartInfo> parts_of(std::span<const PartInfo> parts, format::Role role) noexcept {
  const auto has = [role](const PartInfo& part) { return part.role == role; };
  const auto first = std::find_if(parts.begin(), parts.end(), has);
  return {first, std::find_if_not(first, parts.end(), has)};
}

std::string to_text(const Provenance& p) {
  std::string text = fmt::format(
      "version={}\noptions={}\n{}{}{}source={}\nentries={}\nduplicates={}\nexplicit_zeros={}\nrounded={}\n"
      "max_relative_error={:.17g}\n",
      one_line(p.version), one_line(p.options), p.target.empty() ? "" : fmt::format("target={}\n", one_line(p.target)),
      p.parts.empty() ? "" : fmt::format("parts={}\n", one_line(p.parts)), measured_lines(p), one_line(p.source),
      p.entries, p.duplicates, p.explicit_zeros, p.rounded, p.max_relative_error);
  for (const std::string& comment : p.comments) text += comment_line(comment);
  if (p.comments_left_out != 0) text += fmt::format("comments_left_out={}\n", p.comments_left_out);
  return text;
}

void fit_comments(Provenance& p) {
  std::vector<std::string> comments = std::exchange(p.comments, {});
  const auto fitting = [&] {
    std::uint64_t bytes = to_text(p).size(), count = 0;
    for (; count < comments.size(); ++count)
      if ((bytes += comment_line(comments[count]).size()) > format::max_provenance_bytes) break;
    return count;
  };
  std::uint64_t kept = fitting();
  if (kept < comments.size()) {
    const std::uint64_t before = std::exchange(p.comments_left_out, ~std::uint64_t{0});  // room for any count
    kept = fitting();
    p.comments_left_out = before + (comments.size() - kept);
    comments.resize(kept);
  }
  p.comments = std::move(comments);
}

Provenance parse_provenance(std::string_view text) {
  constexpr const char* where = "section 'provenance'";
  if (!is_utf8(text)) throw Error(errc::corrupt, "the text is not UTF-8", where);
  Provenance p;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t end = text.find('\n'), equals = text.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos || equals > end)
      throw Error(errc::corrupt, fmt::format("'{}' is not a line of the form key=value", escape(text.substr(0, end))),
                  where);
    const std::string_view key = text.substr(0, equals), value = text.substr(equals + 1, end - equals - 1);
    if (key != "comment" && !seen.insert(key).second)
      throw Error(errc::corrupt, fmt::format("'{}' appears twice", escape(key)), where);
    if (key == "version")
      p.version = value;
    else if (key == "options")
      p.options = value;
    else if (key == "target")
      p.target = value;
    else if (key == "parts")
      p.parts = value;
    else if (key == "measured_on")
      p.measured_on = without_spaces_at_end(value);
    else if (key == "measured")
      p.measured = parse_measured(key, value);
    else if (key == "source")
      p.source = value;
    else if (key == "entries")
      p.entries = number<std::uint64_t>(key, value);
    else if (key == "duplicates")
      p.duplicates = number<std::uint64_t>(key, value);
    else if (key == "explicit_zeros")
      p.explicit_zeros = number<std::uint64_t>(key, value);
    else if (key == "rounded")
      p.rounded = number<std::uint64_t>(key, value);
    else if (key == "max_relative_error")
      p.max_relative_error = number<double>(key, value);
    else if (key == "comments_left_out")
      p.comments_left_out = number<std::uint64_t>(key, value);
    else if (key == "comment")
      p.comments.emplace_back(value);
    text.remove_prefix(end + 1);
  }
  return p;
}

const PartView::Section* PartView::find(std::string_view name) const noexcept {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  return found != sections_.end() ? &*found : nullptr;
}

const PartView::Section& PartView::require_section(std::string_view name, format::ElementType type) const {
  const Section* const found = find(name);
  if (found == nullptr) fail(fmt::format("a part of layout {} without the section '{}'", info_->layout, name));
  if (found->type != type)
    fail(fmt::format("elements of type {}, expected {}", to_string(found->type), to_string(type)), name);
  return *found;
}

format::ElementType PartView::type_of(std::string_view name) const {
  const Section* const found = find(name);
  if (found == nullptr) fail(fmt::format("a part of layout {} without the section '{}'", info_->layout, name));
  return found->type;
}

void PartView::fail(const std::string& what, std::string_view section) const {
  throw Error(errc::corrupt, what, section.empty() ? where_ : fmt::format("{}, section '{}'", where_, section),
              "get the file again, or encode it again");
}

}  // namespace spmvpack
