#include "spmvpack/encoder/payback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack::encoder {
namespace {

/// What encoding takes on one core, in picoseconds.
struct EncodePrice {
  std::string_view strategy;
  double row, nonzero, symmetric_nonzero, x_sector, byte;
};
constexpr std::array encode_prices{
#include "encode_prices.inc"
};

/// `auto` makes other plans for each aim.
std::string priced_as(std::string_view strategy, const Aim& aim) {
  if (strategy != "auto") return std::string(strategy);
  if (aim.optimize == Objective::bytes) return "auto, bytes";
  return aim.target == Target::host ? "auto, host" : "auto";
}

/// The nearest number of two digits and zeros.
std::uint64_t in_two_digits(std::uint64_t number) {
  std::uint64_t unit = 1;
  while (number / unit >= 100) unit *= 10;
  return (number + unit / 2) / unit * unit;
}

}  // namespace

std::optional<std::uint64_t> pays_after(double encode_seconds, const BesideCsr& multiply) {
  constexpr double most = 1e15, rounding = 1e-9;  // of csr's time
  const double gain = multiply.csr_seconds - multiply.seconds;
  if (!(gain > rounding * multiply.csr_seconds)) return {};
  const double multiplies = std::ceil(encode_seconds / gain);
  if (!(multiplies < most)) return {};
  return static_cast<std::uint64_t>(multiplies);
}

std::string pays_text(std::optional<std::uint64_t> multiplies) {
  if (!multiplies) return "never: csr is as fast";
  const std::uint64_t shown = in_two_digits(*multiplies);
  constexpr std::uint64_t exact = 100;
  return fmt::format("after {}{}", *multiplies < exact ? "" : "about ", counted(shown, "multiply", "multiplies"));
}

std::optional<double> predicted_encode_seconds(std::string_view strategy, const Aim& aim, const EncodeWork& work) {
  const std::string name = priced_as(strategy, aim);
  const auto* const price = std::find_if(encode_prices.begin(), encode_prices.end(),
                                         [&](const EncodePrice& p) { return p.strategy == name; });
  if (price == encode_prices.end()) return {};
  const auto of = [](std::uint64_t count, double picoseconds) { return static_cast<double>(count) * picoseconds; };
  return 1e-12 * (of(work.rows, price->row) + of(work.nonzeros, price->nonzero) +
                  of(work.symmetry_found ? work.nonzeros : 0, price->symmetric_nonzero) +
                  of(work.x_sectors, price->x_sector) + of(work.device_bytes, price->byte));
}

}  // namespace spmvpack::encoder
