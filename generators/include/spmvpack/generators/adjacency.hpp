#pragma once

#include <algorithm>
#include <atomic>
#include <span>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The rows of a graph whose edges are made in another order than by row. That needs memory: 4 bytes per edge and 16
/// per row. The edges themselves are not listed but made twice, to count and to place them.
class Adjacency {
 public:
  /// edges(k, emit) calls emit(row, column) for each edge of source k in [0, sources); it is called twice for each k,
  /// from several threads. Edges that are made several times count once. Error(errc::out_of_memory).
  template <class Edges>
  Adjacency(std::uint64_t rows, std::uint64_t sources, const Resources& resources, Edges&& edges)
      : begin_(rows + 1, 0), end_(rows) {
    constexpr std::uint64_t piece = 4096;
    const auto for_edges = [&](auto&& f) {
      parallel_pieces(sources, piece, resources.threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t k = first; k < last; ++k) edges(k, f);
      });
    };
    for_edges([&](std::uint64_t row, std::uint64_t) { ++std::atomic_ref(begin_[row + 1]); });
    for (std::uint64_t r = 0; r < rows; ++r) {
      begin_[r + 1] += begin_[r];
      end_[r] = begin_[r];
    }
    require_memory(begin_[rows] * sizeof(std::uint32_t), resources.memory_limit, "the edges of the graph");
    columns_ = Array<std::uint32_t>(begin_[rows]);
    for_edges([&](std::uint64_t row, std::uint64_t column) {
      columns_[std::atomic_ref(end_[row])++] = static_cast<std::uint32_t>(column);
    });
    // Threads place edges in any order; sorted, it is lost.
    std::atomic<std::uint64_t> count{0};
    parallel_pieces(rows, piece, resources.threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t n = 0;
      for (std::uint64_t r = first; r < last; ++r) {
        std::uint32_t *const begin = columns_.data() + begin_[r], *const end = columns_.data() + end_[r];
        std::sort(begin, end);
        end_[r] = begin_[r] + static_cast<std::uint64_t>(std::unique(begin, end) - begin);
        n += end_[r] - begin_[r];
      }
      count += n;
    });
    edges_ = count;
  }

  [[nodiscard]] std::uint64_t rows() const noexcept { return end_.size(); }
  [[nodiscard]] std::uint64_t edges() const noexcept { return edges_; }
  /// The columns of row r, rising.
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint64_t r) const noexcept {
    return {columns_.data() + begin_[r], columns_.data() + end_[r]};
  }

 private:
  Array<std::uint64_t> begin_, end_;
  Array<std::uint32_t> columns_;
  std::uint64_t edges_ = 0;
};

}  // namespace spmvpack::generators
