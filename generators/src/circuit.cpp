#include "spmvpack/generators/circuit.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace spmvpack::generators {
namespace {

constexpr double leak = 0x1p-10;
constexpr std::uint64_t rows_per_rail = 1'000'000, rail_devices = 20'000, most_devices = 2'000;

bool is_rail(std::uint64_t rows, std::uint64_t node) {
  const std::uint64_t spacing = rows / (rows / rows_per_rail + 1);
  return node % spacing == spacing / 2;
}

/// A node at a log-uniform distance from `node`: an octave, a distance in it, a direction. `node` itself where that is
/// outside on both sides.
std::uint64_t node_nearby(std::uint64_t rows, std::uint64_t node, const Random& random) {
  const auto octaves = static_cast<std::uint64_t>(std::bit_width(rows) - 1);
  const std::uint64_t octave = std::uint64_t{1} << random.below(0, octaves);
  const std::uint64_t distance = octave + random.below(1, octave);
  const bool up_fits = node + distance < rows, down_fits = distance <= node;
  if (up_fits && (!down_fits || random.below(2, 2) == 0)) return node + distance;
  return down_fits ? node - distance : node;
}

/// Calls emit() for both directions of the devices that `node` drives.
template <class Emit>
void devices_of(std::uint64_t rows, std::uint64_t node, const Random& random, Emit&& emit) {
  const bool rail = is_rail(rows, node);
  std::uint64_t devices = std::min(rail_devices, rows / 4);
  if (!rail) {
    const double root = std::sqrt(random.uniform(0) + 0x1p-53);
    devices = 1 + static_cast<std::uint64_t>(std::min(0.5 / (root * std::sqrt(root)), most_devices - 1.0));
  }
  for (std::uint64_t k = 1; k <= devices; ++k) {
    const std::uint64_t other = rail ? random.below(k, rows) : node_nearby(rows, node, random.at(k));
    if (other == node) continue;
    emit(node, other);
    emit(other, node);
  }
}

}  // namespace

Circuit::Circuit(std::uint64_t rows, const Coefficients& coefficients, std::uint64_t seed, const Resources& resources)
    : coefficients_(coefficients),
      devices_(Random(seed).at(1)),
      neighbours_(checked_size("rows", rows, 2), rows, resources,
                  [rows, nodes = Random(seed).at(0)](std::uint64_t node, auto& emit) {
                    devices_of(rows, node, nodes.at(node), emit);
                  }) {}

EntryCounts Circuit::count(int, const ProgressCallback&) const {
  return symmetric_counts(rows() + neighbours_.edges(), rows());
}

double Circuit::conductance(std::uint64_t p, std::uint64_t q) const {
  if (coefficients_.is_constant()) return 1;
  const std::uint64_t low = std::min(p, q), high = std::max(p, q);
  Random device = devices_.at(coefficients_.group(low));
  constexpr std::uint64_t models = 8;
  const std::uint64_t key =
      coefficients_.kind == Coefficients::Kind::blocks ? devices_.at(low).below(high, models) : high;
  device = device.at(key);
  // From 2^-9 to 2, each binade as likely; what the upper node's voltage does is up to half again as strong.
  const double g = (1 + device.uniform(0)) / static_cast<double>(std::uint64_t{1} << device.below(1, 10));
  return p == low ? g : g * (1 + 0.5 * device.uniform(2));
}

void Circuit::row(std::uint64_t i, Row& out) const {
  double diagonal = leak;
  for (const std::uint32_t j : neighbours_.row(i)) diagonal += conductance(i, j);
  bool diagonal_is_out = false;
  for (const std::uint32_t j : neighbours_.row(i)) {
    if (!diagonal_is_out && j > i) {
      out.push(i, diagonal);
      diagonal_is_out = true;
    }
    out.push(j, -conductance(j, i));
  }
  if (!diagonal_is_out) out.push(i, diagonal);
}

std::vector<std::string> Circuit::comments() const {
  return {"nodal conductances of a circuit: few entries in most rows, about 20,000 in those of supply rails",
          "symmetric pattern, columns add up to 2^-10; conductance " +
              (coefficients_.kind == Coefficients::Kind::blocks
                   ? fmt::format("one of eight per block of {} rows", coefficients_.block)
                   : coefficients_.describe("device"))};
}

}  // namespace spmvpack::generators
