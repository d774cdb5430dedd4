#pragma once
// What dia and amb share: the check of the list of entries that are +0.

#include <fmt/format.h>

#include <span>

#include "spmvpack/container/layouts/stored_zeros.hpp"

namespace spmvpack::layouts {

/// The list, which strictly increases and names only slots of value +0. Error(errc::corrupt).
template <class T>
std::span<const std::uint64_t> checked_zeros(const PartView& part, const HeldSlots<T>& slots) {
  const std::span<const std::uint64_t> zeros{slots.zeros, slots.zero_count};
  const std::uint64_t count = part.get<T>("values").size();
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    const auto require = [&](bool ok, const char* what) {
      part.require(ok, "stored_zeros", [&] { return fmt::format("element {}: {}", i, what); });
    };
    require(zeros[i] < count, "a slot out of range");
    require(i == 0 || zeros[i] > zeros[i - 1], "slots do not rise");
    require(!slots.is_filled(zeros[i]), "the slot's value is not zero");
  }
  return zeros;
}

}  // namespace spmvpack::layouts
