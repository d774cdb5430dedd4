#pragma once
// csell's order of additions (docs/LAYOUTS.md), from the bytes that docs/FORMAT.md describes: a second reading of them,
// entry by entry, without the functions that the multiplies share.

#include <cmath>
#include <vector>

#include "worked_example.hpp"

namespace spmvpack::test {

/// A x + 0 for a container of one part. A: type of the matrix's values; V: of vectors, products and sums.
template <class A, class V>
class OrderOfCsell {
 public:
  explicit OrderOfCsell(const Container& file)
      : part_(file.parts()[0]),
        slices_(elements<std::uint32_t>(file, "slices")),
        patterns_(elements<std::uint32_t>(file, "patterns")),
        tiles_(elements<std::uint32_t>(file, "tiles")),
        stream_(elements<std::uint8_t>(file, "stream")),
        values_(elements<A>(file, "values")) {
    if (part_.params[source] >= mirror) references_ = elements<std::uint16_t>(file, "references");
  }

  std::vector<V> multiply(const std::vector<V>& x) const {
    std::vector<V> y(part_.rows.count);
    for (std::size_t s = 0; s < slices_.size() / 4; ++s) add_slice(s, x, y);
    return y;
  }

 private:
  /// Parameters of the part, in their order.
  enum : std::uint8_t { source, block, sums, tile_slices };
  enum : std::uint8_t { raw, table, step, single, mirror, skew };

  /// The number at a byte of the stream.
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t bytes) const {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < bytes; ++i) n |= std::uint32_t{stream_.at(at + i)} << (8 * i);
    return n;
  }

  void add_slice(std::size_t s, const std::vector<V>& x, std::vector<V>& y) const {
    const auto& p = part_.params;
    const std::uint32_t pattern = slices_[4 * s] % (1U << 30U), wide = slices_[4 * s] >> 30U,
                        counts = slices_[4 * s + 3];
    std::size_t at = std::size_t{slices_[4 * s + 1]} * 32, raw_value = slices_[4 * s + 2] * (32 / sizeof(A));
    std::array<std::size_t, 4> groups{};
    for (std::size_t kind = 0; kind < 4; ++kind)
      groups.at(kind) = counts == ~0U ? number(at + 4 * kind, 4) : counts >> (8 * kind) & 255;
    if (counts == ~0U) at += 32;
    const std::size_t offsets = at + 32 * (groups[1] + groups[2] + groups[3]);
    const std::size_t ids = offsets + 128 * groups[1] + 256 * groups[2] + 512 * groups[3];
    const std::size_t tile = p[source] == table ? s / p[tile_slices] : 0;
    const std::size_t id_bytes = p[source] == table && tiles_[2 * tile + 1] > 256 ? 2 : 1;

    std::vector<std::vector<V>> sum(32 * p[block], std::vector<V>(p[sums]));
    std::vector<bool> has_entry(32);
    std::size_t group = 0, words = offsets;
    for (std::size_t kind = 0; kind < 4; ++kind)
      for (std::size_t i = 0; i < groups.at(kind); ++i, ++group) {
        const std::size_t width = kind == 0 ? 0 : std::size_t{1} << (kind - 1);
        for (std::size_t k = 0; k < 4; ++k) {
          const std::size_t header = at + 32 * (group - groups[0]) + 4 * k, element = 8 * (pattern + group) + k;
          const std::uint32_t base = kind == 0 ? patterns_.at(element) : number(header, 4);
          const std::uint32_t mask = kind == 0 ? patterns_.at(element + 4) : number(header + 16, 4);
          std::size_t rank = 0;
          const auto entries = static_cast<std::size_t>(std::popcount(mask));
          for (std::size_t lane = 0; lane < 32; ++lane) {
            if ((mask >> lane & 1) == 0) continue;
            has_entry[lane] = true;
            const auto row = static_cast<std::uint32_t>(s * 32 + lane);
            const std::uint32_t column = base + (kind == 0 ? row : number(words + (4 * lane + k) * width, width));
            for (std::size_t r = 0; r < p[block]; ++r)
              for (std::size_t c = 0; c < p[block]; ++c) {
                const std::size_t in_block = r * p[block] + c;
                std::size_t place = 0;
                if (p[source] == raw) place = raw_value + in_block * entries + rank;
                if (p[source] == table)
                  place = tiles_[2 * tile] +
                          number(ids + ((32 * (group * p[block] * p[block] + in_block) + lane) * 4 + k) * id_bytes,
                                 id_bytes);
                bool flipped = false;
                if (p[source] >= mirror) {
                  const std::uint32_t reference = wide == 0 ? references_.at(4 * (pattern + group) + k)
                                                            : number(ids + ((32 * group + lane) * 4 + k) * wide, wide);
                  const bool opposite = reference % 2 == 1;
                  const std::uint32_t owner = opposite ? column : row;
                  place = slices_.at(owner / 32 * 4 + 2) * (32 / sizeof(A)) +
                          (reference / 2 * p[block] * p[block] + (opposite ? c * p[block] + r : in_block)) * 32 +
                          owner % 32;
                  flipped = opposite && p[source] == skew;
                }
                if (p[source] == step) place = (4 * (pattern + group) + k) * p[block] * p[block] + in_block;
                V& mine = sum[lane * p[block] + r][group % p[sums]];
                mine =
                    std::fma(flipped ? -V{values_.at(place)} : V{values_.at(place)}, x.at(column * p[block] + c), mine);
              }
            ++rank;
          }
          raw_value += entries * p[block] * p[block];
        }
        words += 128 * width;
      }
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t r = 0; has_entry[lane] && r < p[block]; ++r) {
        const std::vector<V>& mine = sum[lane * p[block] + r];
        V total = mine[0];
        for (std::size_t i = 1; i < mine.size(); ++i) total = total + mine[i];
        y.at((s * 32 + lane) * p[block] + r) = std::fma(V{1}, total, V{0});
      }
  }

  PartInfo part_;
  std::vector<std::uint32_t> slices_, patterns_, tiles_;
  std::vector<std::uint8_t> stream_;
  std::vector<std::uint16_t> references_;
  std::vector<A> values_;
};

}  // namespace spmvpack::test
