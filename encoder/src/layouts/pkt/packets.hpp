#pragma once
// How a matrix is cut into packets, which the strategy pkt does before the layout encodes what is inside of them.

#include <cstdint>
#include <memory>

#include "layouts/layouts.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::encoder::layouts {

/// The rows of a square matrix by packets, in the order of their first rows; those of a packet rise.
struct Packets {
  CountedVector<std::uint32_t> ptr;        ///< where in `rows` each packet begins, and the last one ends
  CountedVector<std::uint32_t> rows;       ///< packet by packet
  CountedVector<std::uint32_t> packet_of;  ///< by row

  [[nodiscard]] std::uint64_t count() const { return ptr.size() - 1; }
  /// Whether an entry is inside of a packet.
  [[nodiscard]] bool has(std::uint64_t row, std::uint32_t column) const { return packet_of[row] == packet_of[column]; }
};

/// What cut_rows() says of each row, as packets; parts without rows are none, and those of more than `most` rows
/// become several.
Packets packets_of(const CountedVector<std::uint32_t>& part_of, std::uint64_t most);

/// Cuts as the options say. Error(errc::unsupported): the matrix is not square, or has more rows than a packet and the
/// build no METIS.
std::shared_ptr<const Packets> cut_into_packets(const CsrView& a, const PlanOptions& options);

/// The entries of `part` that are inside of packets, its matrix being cut into these.
PartPlan plan_packets(const PartMatrix& part, std::shared_ptr<const Packets> packets, const PlanOptions& options);

}  // namespace spmvpack::encoder::layouts
