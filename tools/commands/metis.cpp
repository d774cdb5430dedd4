// --partition metis. METIS is optional: nothing else of the command knows whether there is one.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "commands/partition.hpp"
#include "spmvpack/container/memory.hpp"

#ifdef SPMVPACK_WITH_METIS
#include <metis.h>
#endif

namespace spmvpack::tools {

#ifdef SPMVPACK_WITH_METIS
namespace {

/// The graph of A + A^T without its diagonal: a vertex for each row, as heavy as it has entries.
struct Graph {
  CountedVector<idx_t> begin, neighbours, weights;
};

Graph graph_of(const CsrView& a) {
  const auto each_edge = [&](auto&& f) {
    for (std::uint64_t r = 0; r < a.rows(); ++r)
      for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k)
        if (a.col_idx()[k] != r) f(static_cast<std::size_t>(r), static_cast<std::size_t>(a.col_idx()[k]));
  };
  Graph graph;
  std::vector<std::uint64_t> next(a.rows() + 1);
  each_edge([&](std::size_t r, std::size_t c) {
    ++next[r + 1];
    ++next[c + 1];
  });
  for (std::uint64_t r = 0; r < a.rows(); ++r) next[r + 1] += next[r];
  graph.neighbours.resize(next[a.rows()]);
  std::vector<std::uint64_t> first = next;
  each_edge([&](std::size_t r, std::size_t c) {
    graph.neighbours[next[r]++] = static_cast<idx_t>(c);
    graph.neighbours[next[c]++] = static_cast<idx_t>(r);
  });
  graph.begin.push_back(0);
  auto end = graph.neighbours.begin();  // of those that are kept: each once
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    const auto from = graph.neighbours.begin() + static_cast<std::ptrdiff_t>(first[r]);
    const auto to = graph.neighbours.begin() + static_cast<std::ptrdiff_t>(first[r + 1]);
    std::sort(from, to);
    end = std::copy(from, std::unique(from, to), end);
    graph.begin.push_back(static_cast<idx_t>(end - graph.neighbours.begin()));
    graph.weights.push_back(static_cast<idx_t>(std::max<std::uint64_t>(a.row_length(r), 1)));
  }
  return graph;
}

}  // namespace

encoder::Partition metis_partition(const CsrView& a, std::uint64_t ranks) {
  if (a.rows() != a.cols())
    throw Error(errc::unsupported, fmt::format("METIS's partition of a matrix of {} x {}", a.rows(), a.cols()), {},
                "only a square matrix has rows and columns that are renumbered alike: use --partition rows");
  if (ranks == 1) return encoder::partition_rows(a, ranks);
  if (ranks > a.rows())
    throw Error(errc::unsupported, fmt::format("METIS's partition of {} rows for {} ranks", a.rows(), ranks), {},
                "give fewer ranks, or use --partition rows");
  if (2 * (a.nnz() + a.rows()) > static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max()))
    throw Error(
        errc::unsupported,
        fmt::format("METIS's partition of {} nonzeros: this METIS counts in {} bits", a.nnz(), 8 * sizeof(idx_t)), {},
        "use --partition rows");
  const MemoryScope memory("METIS's partition");
  Graph graph = graph_of(a);
  // What it takes for itself: coarser graphs, of about as many edges altogether, with their weights.
  const MemoryReservation coarser(4 * sizeof(idx_t) * (graph.neighbours.size() + 4 * a.rows()));
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_VOL;
  idx_t rows = static_cast<idx_t>(a.rows()), constraints = 1, parts = static_cast<idx_t>(ranks), volume = 0;
  CountedVector<idx_t> part(a.rows());
  const int status =
      METIS_PartGraphKway(&rows, &constraints, graph.begin.data(), graph.neighbours.data(), graph.weights.data(),
                          nullptr, nullptr, &parts, nullptr, nullptr, options, &volume, part.data());
  if (status == METIS_ERROR_MEMORY) throw Error(errc::out_of_memory, "METIS has not enough memory");
  if (status != METIS_OK)
    throw Error(errc::unsupported, fmt::format("METIS makes no partition (error {})", status), {},
                "use --partition rows");
  const CountedVector<std::uint32_t> rank_of_row(part.begin(), part.end());
  return encoder::partition_of(a, rank_of_row, ranks);
}
#else
encoder::Partition metis_partition(const CsrView& /*a*/, std::uint64_t /*ranks*/) {
  throw Error(errc::unsupported, "--partition metis in a build without METIS", {},
              "use --partition rows, or build with METIS (on Debian libmetis-dev, then cmake -DSPMVPACK_METIS=ON)");
}
#endif

}  // namespace spmvpack::tools
