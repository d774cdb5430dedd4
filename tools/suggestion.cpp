#include "suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace spmvpack::tools {
namespace {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, touching no
/// character twice (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// How many typing errors a word of this length may have: one, and one more for every four characters.
std::size_t tolerance(std::size_t length) { return 1 + length / 4; }

/// The edit distance, or 0 if the word is the start of `known`.
std::size_t distance(std::string_view word, std::string_view known) {
  constexpr std::size_t telling_prefix = 3;
  if (word.size() >= telling_prefix && known.starts_with(word)) return 0;
  return edit_distance(word, known);
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  if (word.empty() || word.size() > longest) return {};
  std::string lower(word);  // all names are lower case
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::size_t best = tolerance(word.size());
  std::string names;
  for (const std::string& candidate : known) {
    const std::size_t d = distance(lower, candidate);
    // A word that would change completely is not a typing error.
    if (d > best || d >= std::min(word.size(), candidate.size())) continue;
    if (d < best) names.clear();
    best = d;
    names += fmt::format("{}'{}'", names.empty() ? "" : " or ", candidate);
  }
  return names.empty() ? std::string{} : fmt::format("did you mean {}? ", names);
}

Error with_suggestion(const Error& error, std::string_view word, const std::vector<std::string>& known) {
  return {error.code(), error.message(), error.where(), did_you_mean(word, known) + error.remedy()};
}

}  // namespace spmvpack::tools
