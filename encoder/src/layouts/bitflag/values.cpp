#include "layouts/bitflag/values.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "count_table.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::bitflag_plans {
namespace {

/// Where each value is that has been appended last: in the table plus one, as 0 is none.
class Appended {
 public:
  [[nodiscard]] bool has(ValueKey bits, std::uint64_t begin) const { return places_.find(bits) > begin; }
  [[nodiscard]] std::uint64_t place(ValueKey bits) const { return places_.find(bits) - 1; }
  void put(ValueKey bits, std::uint64_t place) { places_.set(bits, place + 1); }

 private:
  CountTable<ValueKey> places_;
};

/// The distinct ones of a chunk's values that the window from `begin` on lacks.
std::uint64_t missing(const Appended& appended, std::span<const ValueKey> values, std::uint64_t begin) {
  std::array<ValueKey, chunk_entries> found;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  auto* end = std::copy_if(values.begin(), values.end(), found.begin(),
                           [&](ValueKey bits) { return !appended.has(bits, begin); });
  std::sort(found.begin(), end);
  return static_cast<std::uint64_t>(std::unique(found.begin(), end) - found.begin());
}

/// The exponents of a chunk: Info::of_values(), or none.
std::optional<std::uint32_t> exponents_of(const double* values, std::uint32_t n) {
  std::uint32_t least = max_exponent, most = 0;
  for (std::uint32_t e = 0; e < n; ++e) {
    const auto decimal = decimal_of(values[e], 0, max_exponent);
    if (!decimal) return {};
    least = std::min(least, decimal->exponent);
    most = std::max(most, decimal->exponent);
  }
  const auto all = [&](std::uint32_t from, std::uint32_t to) {
    return std::all_of(values, values + n, [&](double v) { return decimal_of(v, from, to).has_value(); });
  };
  if (all(most, most)) return Info::of_values(most, 0);
  if (most - least <= 15) return Info::of_values(least, 4);
  if (all(most - 15, most)) return Info::of_values(most - 15, 4);
  return Info::of_values(least, 8);
}

}  // namespace

std::optional<ValueWindows> plan_windows(const CsrView& a, const Chunks& chunks, std::uint64_t most) {
  if (a.nnz() == 0) return {};
  ValueWindows windows;
  windows.of_chunks.resize(chunks.all.size());
  windows.ids.resize(a.nnz());
  most = std::min<std::uint64_t>(most, max_window_values);
  Appended appended;
  std::array<ValueKey, chunk_entries> bits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // The first place from which a window reaches `end`.
  const auto begin_of = [](std::uint64_t end) {
    return end <= window_size ? 0 : div_up(end - window_size, window_step) * window_step;
  };
  for (std::size_t c = 0; c < chunks.all.size(); ++c) {
    const PlannedChunk& chunk = chunks.all[c];
    const std::span<ValueKey> own(bits.data(), chunk.chunk.info.entries());
    if (own.empty()) continue;
    dispatch(a.value_type(), [&]<class T>(T) {
      const T* const values = a.values<T>() + chunk.first_entry;
      std::transform(values, values + own.size(), own.begin(), [](T v) { return value_bits(v); });
    });
    // What it appends may move its window, which then lacks more; but by far less than a step.
    std::uint64_t begin = begin_of(windows.values.size());
    if (begin_of(windows.values.size() + own.size()) != begin)
      begin = begin_of(windows.values.size() + missing(appended, own, begin));
    if (begin / window_step >= max_windows) return {};
    windows.of_chunks[c] = static_cast<std::uint16_t>(begin / window_step);
    for (std::size_t e = 0; e < own.size(); ++e) {
      if (!appended.has(own[e], begin)) {
        appended.put(own[e], windows.values.size());
        windows.values.push_back(own[e]);
      }
      windows.ids[chunk.first_entry + e] = static_cast<std::uint16_t>(appended.place(own[e]) - begin);
    }
    if (windows.values.size() > most) return {};
  }
  return windows;
}

std::optional<Decimal> decimal_of(double value, std::uint32_t least, std::uint32_t most) {
  constexpr double integers = 0x1p31;
  for (std::uint32_t e = least; e <= most; ++e) {
    const double scaled = value * powers_of_ten[e];
    if (!(std::abs(scaled) < integers - 0.5)) return {};  // nor larger powers; or it is no number
    const auto integer = static_cast<std::int32_t>(scaled + std::copysign(0.5, scaled));
    // The product of a fraction is an integer but for its rounding.
    if (std::abs(scaled - integer) < 0x1p-20 &&
        std::bit_cast<std::uint64_t>(integer / powers_of_ten[e]) == std::bit_cast<std::uint64_t>(value))
      return Decimal{integer, e};
  }
  return {};
}

std::optional<Decimals> plan_decimals(const CsrView& a, const Chunks& chunks, int threads) {
  if (a.value_type() != ValueType::f64) return {};
  const auto* const values = a.values<double>();
  Decimals decimals;
  decimals.of_chunks.resize(chunks.all.size());
  std::atomic<bool> possible{true};
  std::atomic<std::uint64_t> exponent_bytes{0};
  constexpr std::uint64_t chunks_per_task = 64;
  parallel_pieces(chunks.all.size(), chunks_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t c = begin; c < end && possible; ++c) {
      const Info info = chunks.all[c].chunk.info;
      if (info.entries() == 0) continue;
      const auto found = exponents_of(values + chunks.all[c].first_entry, info.entries());
      if (!found) {
        possible = false;
        return;
      }
      decimals.of_chunks[c] = static_cast<std::uint16_t>(*found);
      const ChunkLayout at = chunk_layout(info.with_values(*found), Source::decimal, 4);
      exponent_bytes += at.rows - at.exponents;
    }
  });
  if (!possible) return {};
  decimals.exponent_bytes = exponent_bytes;
  return decimals;
}

}  // namespace spmvpack::encoder::layouts::bitflag_plans
