#include "spmvpack/generators/rmat.hpp"

#include <fmt/format.h>

#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {
namespace {

struct Edge {
  std::uint64_t from = 0, to = 0;
};

Edge make_edge(std::uint64_t scale, const Random& random) {
  // 16 bits choose a quadrant; the thresholds are 0.57, 0.76 and 0.95.
  constexpr std::uint64_t a = 37356, ab = 49807, abc = 62259;
  Edge edge;
  std::uint64_t bits = 0;
  for (std::uint64_t level = 0; level < scale; ++level, bits >>= 16) {
    if (level % 4 == 0) bits = random.bits(level);
    const std::uint64_t draw = bits & 0xFFFF;
    edge.from = 2 * edge.from + (draw >= ab ? 1 : 0);
    edge.to = 2 * edge.to + ((draw >= a && draw < ab) || draw >= abc ? 1 : 0);
  }
  return edge;
}

Adjacency make_graph(std::uint64_t scale, std::uint64_t edge_factor, const NumberingRule& rule, std::uint64_t seed,
                     const Resources& resources) {
  if (scale < 1 || scale > 31)
    throw Error(errc::usage, fmt::format("the scale is {}", scale), {}, "give a number from 1 to 31");
  if (rule.kind == NumberingRule::Kind::rcm)
    throw Error(errc::usage, "graphs are not numbered by rcm", {}, "use natural, random or shuffled:WINDOW");
  const std::uint64_t vertices = std::uint64_t{1} << scale, edges = checked_mul(edge_factor, vertices, "edges");
  const Numbering numbering(vertices, rule, seed, {}, resources);
  const Random random = Random(seed).at(0);
  return {vertices, edges, resources, [&](std::uint64_t k, auto& emit) {
            const Edge edge = make_edge(scale, random.at(k));
            if (edge.from != edge.to) emit(numbering.row(edge.from), numbering.row(edge.to));
          }};
}

}  // namespace

Rmat::Rmat(std::uint64_t scale, std::uint64_t edge_factor, const NumberingRule& numbering, std::uint64_t seed,
           const Resources& resources)
    : edge_factor_(edge_factor), rule_(numbering), graph_(make_graph(scale, edge_factor, numbering, seed, resources)) {}

EntryCounts Rmat::count(int, const ProgressCallback&) const { return {graph_.edges(), 0}; }

void Rmat::row(std::uint64_t i, Row& out) const {
  for (const std::uint32_t j : graph_.row(i)) out.push(j, 1);
}

std::vector<std::string> Rmat::comments() const {
  return {"directed R-MAT graph with the parameters of Graph500 (0.57, 0.19, 0.19, 0.05)",
          fmt::format("{} edges drawn, loops and repeated ones left out; {}", edge_factor_ * rows(), rule_.describe())};
}

}  // namespace spmvpack::generators
