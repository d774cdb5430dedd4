#include "spmvpack/container/file/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack {
namespace {

constexpr std::string_view ending = ".spmvc";

/// Whether [first, first + count) lies in [0, size).
bool lies_in(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
  return first <= size && count <= size - first;
}

/// The place of the first element that does not come after the one before it; the list's size if there is none.
std::size_t first_fall(std::span<const std::uint32_t> list) {
  const auto fall = std::adjacent_find(list.begin(), list.end(), std::greater_equal<>());
  return fall == list.end() ? list.size() : static_cast<std::size_t>(fall - list.begin()) + 1;
}

}  // namespace

std::string check_share(const ShareFacts& s, std::uint64_t rows, std::uint64_t cols, std::uint64_t nnz) {
  if (s.rank >= s.ranks) return fmt::format("the share of rank {} of {}", s.rank, s.ranks);
  if (!lies_in(s.first_row, rows, s.global_rows))
    return fmt::format("a share of {} rows from {} on, of {}", rows, s.first_row, s.global_rows);
  if (!lies_in(s.first_col, s.own_cols, s.global_cols) || s.own_cols > cols || cols > s.global_cols)
    return fmt::format("a share of {} columns, of which {} from {} on are its own, of {}", cols, s.own_cols,
                       s.first_col, s.global_cols);
  if (nnz > s.global_nnz) return fmt::format("a share of {} nonzeros, of {}", nnz, s.global_nnz);
  if (s.rank == 0 && (s.first_row != 0 || s.first_col != 0))
    return fmt::format("rank 0 begins at row {}, column {}", s.first_row, s.first_col);
  if (s.rank + 1 == s.ranks && (s.first_row + rows != s.global_rows || s.first_col + s.own_cols != s.global_cols))
    return fmt::format("the last rank ends before row {}, column {} of {} x {}", s.first_row + rows,
                       s.first_col + s.own_cols, s.global_rows, s.global_cols);
  return {};
}

std::string check_lists(const ShareFacts& s, std::span<const std::uint32_t> ghosts,
                        std::span<const std::uint32_t> original_rows) {
  for (const auto& [name, list, size] : {std::tuple(format::ghosts_section, ghosts, s.global_cols),
                                         std::tuple(format::original_rows_section, original_rows, s.global_rows)}) {
    if (const std::size_t fall = first_fall(list); fall != list.size())
      return fmt::format("'{}': element {} is {}, not above the one before it", name, fall, list[fall]);
    if (!list.empty() && list.back() >= size)
      return fmt::format("'{}': element {} is {}, not below {}", name, list.size() - 1, list.back(), size);
  }
  const auto own = std::lower_bound(ghosts.begin(), ghosts.end(), s.first_col);
  if (own != ghosts.end() && *own < s.first_col + s.own_cols)
    return fmt::format("'{}': element {} is {}, a column of the rank's own", format::ghosts_section,
                       own - ghosts.begin(), *own);
  return {};
}

std::shared_ptr<const Share> read_share(const Container& container, const LoadOptions& options) {
  if (!container.facts().share) return nullptr;
  auto share = std::make_shared<Share>();
  share->facts = *container.facts().share;
  for (std::size_t i = 0; i < container.sections().size(); ++i) {
    const SectionInfo& section = container.sections()[i];
    const bool ghosts = section.name == format::ghosts_section;
    if (section.part != format::no_part || (!ghosts && section.name != format::original_rows_section)) continue;
    const Array<std::byte> bytes = container.read_section(i, options);
    Array<std::uint32_t>& list = ghosts ? share->ghosts : share->original_rows;
    list = Array<std::uint32_t>(section.count);
    if (section.count != 0) std::memcpy(list.data(), bytes.data(), bytes.size());
  }
  const std::string wrong = check_lists(share->facts, {share->ghosts.data(), share->ghosts.size()},
                                        {share->original_rows.data(), share->original_rows.size()});
  if (!wrong.empty())
    throw Error(errc::corrupt, "the share's list " + wrong, container.name(), "get the file again, or encode it again");
  return share;
}

std::string share_path(std::string_view path, std::uint64_t rank, std::uint64_t ranks) {
  const bool ends = path.ends_with(ending);
  if (ends) path.remove_suffix(ending.size());
  return fmt::format("{}.{}of{}{}", path, rank, ranks, ends ? ending : "");
}

std::optional<ShareName> parse_share_path(std::string_view path) {
  const bool ends = path.ends_with(ending);
  if (ends) path.remove_suffix(ending.size());
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view word = path.substr(dot + 1);
  const std::size_t of = word.find("of");
  if (of == std::string_view::npos) return {};
  constexpr std::uint64_t most = 0xFFFFFFFF;
  const auto ranks = whole_number(word.substr(of + 2), 1, most);
  const auto rank = ranks ? whole_number(word.substr(0, of), 0, *ranks - 1) : std::nullopt;
  if (!rank) return {};
  ShareName name{fmt::format("{}{}", path.substr(0, dot), ends ? ending : ""), *rank, *ranks};
  if (share_path(name.path, name.rank, name.ranks) != fmt::format("{}{}", path, ends ? ending : "")) return {};
  return name;
}

std::string to_text(const ShareFacts& s) {
  return fmt::format("rank {} of {} of {} x {}", s.rank, s.ranks, grouped(s.global_rows), grouped(s.global_cols));
}

}  // namespace spmvpack
