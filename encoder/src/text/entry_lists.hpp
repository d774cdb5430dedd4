#pragma once
/// From entries that are in memory, as arrays or as what follows from them, to a matrix.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "spmvpack/container/parallel.hpp"
#include "text/triplets.hpp"

namespace spmvpack::encoder {

/// The matrix of facts.entries entries: the k-th has row row(k), column col(k), both unsigned 64-bit, and value
/// value(k). Provenance as of assemble_source(). Error(errc::bad_input) at options.source for an index out of range.
template <class T, class Row, class Col, class Value>
SourceMatrix assemble_lists(const SourceFacts& facts, Row&& row, Col&& col, Value&& value, const TextOptions& options,
                            const std::string& name) {
  if (facts.rows >= max_dimension || facts.cols >= max_dimension)
    throw Error(
        errc::unsupported,
        fmt::format("a matrix of {} x {}: rows and columns must stay below {}", facts.rows, facts.cols, max_dimension),
        name);
  require_memory(facts.entries * (8 + sizeof(T)), options.memory_limit, "a list of entries");
  constexpr std::uint64_t block_entries = 1 << 18;
  TripletList<T> list;
  Arena arena;
  for (std::uint64_t first = 0; first < facts.entries; first += block_entries) {
    const std::uint64_t n = std::min(block_entries, facts.entries - first);
    list.blocks.emplace_back(arena, n, n, n);
  }
  const auto index = [&](const char* what, std::uint64_t i, std::uint64_t size, std::uint64_t k) {
    if (i >= size)
      throw Error(
          errc::bad_input,
          fmt::format("entry {} is in {} {} of {}, counted from 0", k, what, static_cast<std::int64_t>(i), size), name);
    return static_cast<std::uint32_t>(i);
  };
  parallel_for(list.blocks.size(), options.threads, [&](std::uint64_t b) {
    Triplets<T>& block = list.blocks[b];
    for (std::uint64_t i = 0; i < block.rows.size(); ++i) {
      const std::uint64_t k = b * block_entries + i;
      block.rows[i] = index("row", row(k), facts.rows, k);
      block.cols[i] = index("column", col(k), facts.cols, k);
      block.values[i] = value(k);
    }
    survey(block, facts.symmetry, {});
  });
  return assemble_source(facts, std::move(list), options, name);
}

}  // namespace spmvpack::encoder
