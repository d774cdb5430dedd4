#pragma once
// bitflag's order of additions (docs/LAYOUTS.md), from the bytes that docs/FORMAT.md describes: a second reading of
// them, entry by entry, without the functions that the multiplies share.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "orders/tree.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {

/// A x + 0 for a container of one part. A: type of the matrix's values; V: of vectors, products and sums.
template <class A, class V>
class OrderOfBitflag {
 public:
  explicit OrderOfBitflag(const Container& file)
      : part_(file.parts()[0]),
        chunks_(elements<std::uint32_t>(file, "chunks")),
        stream_(elements<std::uint8_t>(file, "stream")),
        values_(elements<A>(file, "values")),
        hot_(elements<std::uint32_t>(file, "hot")),
        segments_(elements<std::uint32_t>(file, "segments")) {}

  std::vector<V> multiply(const std::vector<V>& x) const {
    const std::size_t segments = std::max<std::size_t>(segments_.size(), 2) - 1, rows = part_.rows.count;
    // Of each row of each segment: its tiles and their sums.
    std::vector<std::vector<std::pair<std::size_t, V>>> tiles(rows * segments);
    for (std::size_t c = 0; c + 1 < chunks_.size() / 4; ++c)
      for (const Piece& piece : pieces_of(c, x)) {
        auto& sums = tiles.at(piece.row);
        const std::size_t tile = c / part_.params[tile_chunks];
        if (!sums.empty() && sums.back().first == tile)
          sums.back().second = sums.back().second + piece.sum();
        else
          sums.emplace_back(tile, piece.sum());
      }
    std::vector<V> y(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      std::vector<V> of_segments;
      bool has_entries = false;
      for (std::size_t s = 0; s < segments; ++s) {
        const auto& of_tiles = tiles[s * rows + r];
        has_entries = has_entries || !of_tiles.empty();
        of_segments.push_back(of_tiles.empty() ? -V{0} : std::fma(V{1}, tiles_sum(of_tiles), V{0}));
      }
      if (has_entries) y[r] = std::fma(V{1}, segments == 1 ? of_segments[0] : by_trees(of_segments, -V{0}), V{0});
    }
    return y;
  }

 private:
  /// Parameters of the part, in their order.
  enum : std::uint8_t { source, tile_chunks };
  enum : std::uint8_t { raw, table, single, window, decimal };

  /// A row's part in a chunk: its sum in each of its lanes.
  struct Piece {
    std::size_t row;
    bool starts;  ///< in the chunk
    std::vector<V> lanes;

    [[nodiscard]] V sum() const {
      if (!starts) return tree(lanes);
      return lanes.size() == 1 ? lanes[0] : lanes[0] + tree(std::vector<V>(lanes.begin() + 1, lanes.end()));
    }
  };

  /// 32 of the values at a time by the tree, these in sequence.
  static V by_trees(const std::vector<V>& values, V sum) {
    for (std::size_t i = 0; i < values.size(); i += 32) {
      const std::size_t n = std::min<std::size_t>(32, values.size() - i);
      sum = sum + tree(std::vector<V>(values.begin() + static_cast<std::ptrdiff_t>(i),
                                      values.begin() + static_cast<std::ptrdiff_t>(i + n)));
    }
    return sum;
  }

  static V tiles_sum(const std::vector<std::pair<std::size_t, V>>& tiles) {
    if (tiles.size() == 1) return tiles[0].second;
    std::vector<V> sums;
    for (const auto& [tile, sum] : tiles) sums.push_back(sum);
    return by_trees(sums, V{0});
  }

  /// The number at a byte of the stream.
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t bytes) const {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < bytes; ++i) n |= std::uint32_t{stream_.at(at + i)} << (8 * i);
    return n;
  }

  std::vector<Piece> pieces_of(std::size_t c, const std::vector<V>& x) const {
    const auto& p = part_.params;
    const std::size_t row = chunks_[4 * c], base = chunks_[4 * c + 1], info = chunks_[4 * c + 3];
    const std::size_t entries = info % 512, column_bytes = std::array<std::size_t, 4>{1, 2, 4, 3}.at(info >> 18 & 3),
                      row_bytes = info >> 20 & 3, lanes = (entries + 31) / 32 * 4;
    const bool continues = (info >> 22 & 1) != 0;
    const std::size_t value_bytes = std::array<std::size_t, 5>{sizeof(A), 1, 0, 2, 4}.at(p[source]);
    const std::size_t exponent_bits = p[source] == decimal ? (info >> 28 & 3) * 4 : 0;
    const std::size_t flags = std::size_t{chunks_[4 * c + 2]} * 32, columns = flags + 32,
                      of_values = columns + lanes * 8 * column_bytes, exponents = of_values + lanes * 8 * value_bytes,
                      rows = exponents + (lanes * exponent_bits + 31) / 32 * 32;
    // Where the bytes of an entry's number are: elements of a lane that fill 16 bytes, or all of them, are together.
    const auto place = [&](std::size_t e, std::size_t bytes) {
      const std::size_t together = std::min<std::size_t>(8, 16 / bytes);
      return ((e % 8 / together * lanes + e / 8) * together + e % together) * bytes;
    };

    std::vector<Piece> pieces;
    if (continues) pieces.push_back({row, false, {}});
    std::size_t starts = 0;
    for (std::size_t e = 0; e < entries; ++e) {
      if (e % 8 == 0 && !pieces.empty()) pieces.back().lanes.push_back(0);
      if ((stream_.at(flags + e / 8) >> (e % 8) & 1) != 0) {
        const std::size_t own =
            row_bytes == 0 ? row + (continues ? 1 : 0) + starts : row + number(rows + starts * row_bytes, row_bytes);
        pieces.push_back({own, true, {V{0}}});
        ++starts;
      }
      // Of three bytes two are together, and after those of all lanes the third.
      const std::uint32_t word =
          column_bytes != 3 ? number(columns + place(e, column_bytes), column_bytes)
                            : number(columns + place(e, 2), 2) + number(columns + lanes * 16 + place(e, 1), 1) * 65536;
      const std::uint32_t bit = column_bytes < 3 ? 0 : 1U << (8 * column_bytes - 1);
      const bool is_hot = !hot_.empty() && (word & bit) != 0;
      const std::size_t column = is_hot ? hot_.at(word - bit) : base + word;
      A value = 0;
      if (p[source] == raw) {
        std::memcpy(&value, &stream_.at(of_values + place(e, sizeof(A))), sizeof(A));
      } else if (p[source] == decimal) {
        std::uint32_t exponent = info >> 23 & 31;
        if (exponent_bits == 4) exponent += stream_.at(exponents + e / 2) >> (e % 2 * 4) & 15;
        if (exponent_bits == 8) exponent += stream_.at(exponents + e);
        value = static_cast<A>(static_cast<std::int32_t>(number(of_values + place(e, 4), 4)) /
                               std::stod("1e" + std::to_string(exponent)));
      } else {
        value = values_.at(p[source] == table    ? stream_.at(of_values + place(e, 1))
                           : p[source] == window ? (info >> 23) * 4096 + number(of_values + place(e, 2), 2)
                                                 : 0);
      }
      V& sum = pieces.back().lanes.back();
      sum = std::fma(V{value}, x.at(column), sum);
    }
    return pieces;
  }

  PartInfo part_;
  std::vector<std::uint32_t> chunks_;
  std::vector<std::uint8_t> stream_;
  std::vector<A> values_;
  std::vector<std::uint32_t> hot_, segments_;
};

}  // namespace spmvpack::test
