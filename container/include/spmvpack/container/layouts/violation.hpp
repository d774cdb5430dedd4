#pragma once
/// What the predicates of a layout's NAME_check.hpp return: 0, or what is violated. The upper half is a number, which
/// gives the host its text; the lower half a bit, in which the device adds up kinds of violations.

#include <cstdint>

namespace spmvpack {

constexpr std::uint32_t violation(std::uint32_t number, std::uint32_t kind) noexcept {
  return number << 16U | 1U << kind;
}
constexpr std::uint32_t number_of(std::uint32_t violation) noexcept { return violation >> 16U; }
inline constexpr std::uint32_t violation_kinds = 0xFFFF;

}  // namespace spmvpack
