#pragma once
// What a layout's predicates find, in words.

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts {

/// What a violation is called, with places for numbers, and the section that it is in.
struct ViolationText {
  std::string_view section, text;
};

/// Fails if something is found. `texts`: by the violations' numbers, from 1 on. `numbers`: of all places that a text
/// of such a violation has.
template <class... Numbers>
void require_sound(std::uint32_t found, const PartView& part, std::span<const ViolationText> texts,
                   Numbers... numbers) {
  if (found == 0) return;
  const auto& [section, text] = texts[number_of(found) - 1];
  part.fail(fmt::format(fmt::runtime(text), numbers...), section);
}

}  // namespace spmvpack::layouts
