#include "layouts/pkt/packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "metis.hpp"
#include "spmvpack/container/layouts/pkt.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using spmvpack::layouts::pkt::max_packet_rows;

/// The rows of each part one after the other, rising in each, and where they begin.
struct RowsOfParts {
  CountedVector<std::uint32_t> ptr, rows;

  explicit RowsOfParts(const CountedVector<std::uint32_t>& part_of) {
    const std::uint32_t last = part_of.empty() ? 0 : *std::max_element(part_of.begin(), part_of.end());
    ptr.resize(last + std::uint64_t{2});
    for (const std::uint32_t part : part_of) ++ptr[part + std::uint64_t{1}];
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    CountedVector<std::uint32_t> next(ptr);
    rows.resize(part_of.size());
    for (std::size_t r = 0; r < part_of.size(); ++r) rows[next[part_of[r]]++] = static_cast<std::uint32_t>(r);
  }
  [[nodiscard]] std::uint32_t largest() const {
    std::uint32_t most = 0;
    for (std::size_t p = 1; p < ptr.size(); ++p) most = std::max(most, ptr[p] - ptr[p - 1]);
    return most;
  }
};

}  // namespace

Packets packets_of(const CountedVector<std::uint32_t>& part_of, std::uint64_t most) {
  const RowsOfParts parts(part_of);
  // Parts that are too large are cut by the numbers of their rows, into pieces of nearly one size.
  struct Piece {
    std::uint32_t begin, end;
  };
  CountedVector<Piece> pieces;
  for (std::size_t p = 1; p < parts.ptr.size(); ++p) {
    const std::uint64_t begin = parts.ptr[p - 1], size = parts.ptr[p] - begin, count = div_up(size, most);
    for (std::uint64_t i = 0; i < count; ++i)
      pieces.push_back({static_cast<std::uint32_t>(begin + size * i / count),
                        static_cast<std::uint32_t>(begin + size * (i + 1) / count)});
  }
  std::sort(pieces.begin(), pieces.end(),
            [&](const Piece& a, const Piece& b) { return parts.rows[a.begin] < parts.rows[b.begin]; });
  Packets packets;
  packets.ptr.reserve(pieces.size() + 1);
  packets.ptr.push_back(0);
  packets.rows.reserve(part_of.size());
  packets.packet_of.resize(part_of.size());
  for (const Piece& piece : pieces) {
    for (std::uint64_t i = piece.begin; i < piece.end; ++i) {
      packets.packet_of[parts.rows[i]] = static_cast<std::uint32_t>(packets.count());
      packets.rows.push_back(parts.rows[i]);
    }
    packets.ptr.push_back(static_cast<std::uint32_t>(packets.rows.size()));
  }
  return packets;
}

std::shared_ptr<const Packets> cut_into_packets(const CsrView& a, const PlanOptions& options) {
  const std::uint64_t most = read_setting(options, "pkt.rows", 1, max_packet_rows, {}).value_or(max_packet_rows);
  if (a.rows() != a.cols())
    throw Error(errc::unsupported, fmt::format("pkt takes square matrices, not one of {} x {}", a.rows(), a.cols()), {},
                "use another layout");
  if (a.rows() <= most || most == 1) {  // nothing to choose
    CountedVector<std::uint32_t> part_of(a.rows());
    if (most == 1) std::iota(part_of.begin(), part_of.end(), 0U);
    return std::make_shared<const Packets>(packets_of(part_of, most));
  }
  // As many parts as are full to 95 % on the average, as METIS's are not of one size. Where the largest is too large
  // all the same, there are to be more.
  constexpr int attempts = 3;
  CountedVector<std::uint32_t> part_of;
  std::uint64_t parts = div_up(a.rows() * 20, most * 19);
  for (int i = 0; i < attempts; ++i, parts += div_up(parts, 20)) {
    part_of = cut_rows(a, {.parts = std::min(parts, a.rows()), .instead = "use another layout"}, options.threads);
    if (RowsOfParts(part_of).largest() <= most) break;
  }
  return std::make_shared<const Packets>(packets_of(part_of, most));
}

}  // namespace spmvpack::encoder::layouts
