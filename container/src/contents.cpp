#include "spmvpack/container/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace spmvpack {
namespace {

/// One line of UTF-8: without line ends and NUL, and with U+FFFD for bytes that are not UTF-8.
std::string one_line(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    std::size_t length = 1;
    while (length < rest.size() && length < 4 && (static_cast<unsigned char>(rest[length]) & 0xC0U) == 0x80) ++length;
    const std::string_view character = rest.substr(0, length);
    const auto first = static_cast<unsigned char>(character[0]);
    if (first < 0x80) {
      if (first != '\n' && first != '\r' && first != 0) out += character[0];
      ++i;
    } else if (escape(character, 8) == character) {
      out += character;
      i += length;
    } else {
      out += "\xEF\xBF\xBD";
      ++i;
    }
  }
  return out;
}

template <class T>
T number(std::string_view key, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error(errc::corrupt, fmt::format("'{}' is '{}', expected a number", escape(key), escape(text)),
                "section 'provenance'");
  return value;
}

}  // namespace

std::string to_text(const Provenance& p) {
  std::string text = fmt::format(
      "version={}\noptions={}\nsource={}\nentries={}\nduplicates={}\nexplicit_zeros={}\nrounded={}\n"
      "max_relative_error={:.17g}\n",
      one_line(p.version), one_line(p.options), one_line(p.source), p.entries, p.duplicates, p.explicit_zeros,
      p.rounded, p.max_relative_error);
  for (const std::string& comment : p.comments) text += "comment=" + one_line(comment) + "\n";
  return text;
}

Provenance parse_provenance(std::string_view text) {
  constexpr const char* where = "section 'provenance'";
  Provenance p;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t end = text.find('\n'), equals = text.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos || equals > end)
      throw Error(errc::corrupt, fmt::format("'{}' is not a line of the form key=value", escape(text.substr(0, end))),
                  where);
    const std::string_view key = text.substr(0, equals), value = text.substr(equals + 1, end - equals - 1);
    if (one_line(text.substr(0, end)) != text.substr(0, end))
      throw Error(errc::corrupt, fmt::format("'{}' is not a line of UTF-8", escape(text.substr(0, end))), where);
    if (key != "comment" && !seen.insert(key).second)
      throw Error(errc::corrupt, fmt::format("'{}' appears twice", escape(key)), where);
    if (key == "version")
      p.version = value;
    else if (key == "options")
      p.options = value;
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
    else if (key == "comment")
      p.comments.emplace_back(value);
    text.remove_prefix(end + 1);
  }
  return p;
}

const PartView::Section& PartView::find(std::string_view name, format::ElementType type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  if (found == sections_.end()) fail(fmt::format("a part of layout {} without the section '{}'", info_->layout, name));
  if (found->type != type)
    fail(fmt::format("elements of type {}, expected type {}", static_cast<int>(found->type), static_cast<int>(type)),
         name);
  return *found;
}

format::ElementType PartView::type_of(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  if (found == sections_.end()) fail(fmt::format("a part of layout {} without the section '{}'", info_->layout, name));
  return found->type;
}

void PartView::fail(const std::string& what, std::string_view section) const {
  throw Error(errc::corrupt, what, section.empty() ? where_ : fmt::format("{}, section '{}'", where_, section),
              "get the file again, or encode it again");
}

}  // namespace spmvpack
