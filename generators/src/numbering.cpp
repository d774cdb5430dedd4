#include "spmvpack/generators/numbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "option_number.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {

std::string NumberingRule::describe() const {
  switch (kind) {
    case Kind::natural:
      return "natural order";
    case Kind::random:
      return "random order";
    case Kind::shuffled:
      return fmt::format("shuffled within windows of {}", window);
    default:
      return "reverse Cuthill-McKee order";
  }
}

NumberingRule parse_numbering(std::string_view option, std::string_view text) {
  using Kind = NumberingRule::Kind;
  if (text == "natural") return {Kind::natural};
  if (text == "random") return {Kind::random};
  if (text == "rcm") return {Kind::rcm};
  if (constexpr std::string_view shuffled = "shuffled:"; text.starts_with(shuffled))
    return {Kind::shuffled, option_number(fmt::format("{} shuffled", option), text.substr(shuffled.size()), 1,
                                          std::numeric_limits<std::uint32_t>::max())};
  throw Error(errc::usage, fmt::format("{} is '{}'", option, escape(text)), {},
              "give natural, random, shuffled:WINDOW or rcm");
}

Numbering::Numbering(std::uint64_t vertices, const NumberingRule& rule, std::uint64_t seed,
                     const Neighbours& neighbours, const Resources& resources) {
  using Kind = NumberingRule::Kind;
  if (rule.kind == Kind::natural) return;
  require_memory(vertices * 2 * sizeof(std::uint32_t), resources.memory_limit, "the numbering of the vertices");
  vertices_ = Array<std::uint32_t>(vertices);
  rows_ = Array<std::uint32_t>(vertices);
  if (rule.kind == Kind::rcm)
    reverse_cuthill_mckee(neighbours);
  else
    shuffle(rule.kind == Kind::random ? vertices : rule.window, seed);
  for (std::uint64_t i = 0; i < vertices; ++i) rows_[vertices_[i]] = static_cast<std::uint32_t>(i);
}

void Numbering::shuffle(std::uint64_t window, std::uint64_t seed) {
  const Random random(seed);
  std::iota(vertices_.begin(), vertices_.end(), 0);
  for (std::uint64_t begin = 0; begin < vertices_.size(); begin += window)
    for (std::uint64_t left = std::min(window, vertices_.size() - begin); left > 1; --left)
      std::swap(vertices_[begin + left - 1], vertices_[begin + random.below(begin + left, left)]);
}

/// George and Liu 1981: breadth first, each vertex's new neighbours by rising degree, from a vertex that a search
/// before it found last; all of it backwards.
void Numbering::reverse_cuthill_mckee(const Neighbours& neighbours) {
  const std::uint64_t n = vertices_.size();
  std::vector<std::uint32_t> found, scratch;
  std::vector<std::pair<std::size_t, std::uint32_t>> by_degree;
  constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
  const auto degree = [&](std::uint32_t vertex) {
    scratch.clear();
    neighbours(vertex, scratch);
    return scratch.size();
  };
  // Numbers the vertices that `start` reaches from place `begin` on; returns where they end. rows_ says who is
  // numbered.
  const auto search = [&](std::uint32_t start, std::uint64_t begin) {
    std::uint64_t end = begin;
    const auto number = [&](std::uint32_t vertex) {
      rows_[vertex] = 0;
      vertices_[end++] = vertex;
    };
    number(start);
    for (std::uint64_t next = begin; next < end; ++next) {
      found.clear();
      neighbours(vertices_[next], found);
      by_degree.clear();
      for (const std::uint32_t v : found)
        if (rows_[v] == unseen) by_degree.emplace_back(degree(v), v);
      std::sort(by_degree.begin(), by_degree.end());
      for (const auto& [d, v] : by_degree)
        if (rows_[v] == unseen) number(v);
    }
    return end;
  };
  std::fill(rows_.begin(), rows_.end(), unseen);
  std::uint64_t done = 0;
  for (std::uint64_t v = 0; v < n; ++v) {
    if (rows_[v] != unseen) continue;
    const std::uint64_t end = search(static_cast<std::uint32_t>(v), done);
    for (std::uint64_t i = done; i < end; ++i) rows_[vertices_[i]] = unseen;
    done = search(vertices_[end - 1], done);
  }
  std::reverse(vertices_.begin(), vertices_.end());
}

}  // namespace spmvpack::generators
