#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// In which order a mesh's or graph's vertices become rows: a word of --numbering.
struct NumberingRule {
  enum class Kind : std::uint8_t { natural, random, shuffled, rcm };
  Kind kind = Kind::natural;
  std::uint64_t window = 0;  ///< shuffled: vertices [0, window), [window, 2 window), ... are shuffled among themselves
  [[nodiscard]] std::string describe() const;
};

/// "natural", "random", "shuffled:W" or "rcm" (reverse Cuthill-McKee). Error(errc::usage) for any other.
NumberingRule parse_numbering(std::string_view option, std::string_view text);

/// A bijection between vertices and rows. Every rule but natural takes 8 bytes per vertex.
class Numbering {
 public:
  /// Appends the neighbours of a vertex, which may repeat but do not contain it.
  using Neighbours = std::function<void(std::uint32_t vertex, std::vector<std::uint32_t>& out)>;

  /// `neighbours` is only called by rcm. Error(errc::out_of_memory).
  Numbering(std::uint64_t vertices, const NumberingRule& rule, std::uint64_t seed, const Neighbours& neighbours,
            const Resources& resources);

  [[nodiscard]] std::uint64_t vertex(std::uint64_t row) const noexcept {
    return vertices_.empty() ? row : vertices_[row];
  }
  [[nodiscard]] std::uint64_t row(std::uint64_t vertex) const noexcept {
    return rows_.empty() ? vertex : rows_[vertex];
  }

 private:
  void shuffle(std::uint64_t window, std::uint64_t seed);
  void reverse_cuthill_mckee(const Neighbours& neighbours);

  Array<std::uint32_t> vertices_, rows_;  ///< by row, by vertex
};

}  // namespace spmvpack::generators
