#pragma once
// What a layout's predicates find, in words.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts {

/// What a violation is called, and the section that it is in.
struct ViolationText {
  std::string_view section, what;
};

/// Fails if something is found. `texts`: by the violations' numbers, from 1 on; place() says where, in words before
/// them.
template <class Place>
void require_sound(std::uint32_t found, const PartView& part, std::span<const ViolationText> texts, Place&& place) {
  if (found == 0) return;
  const ViolationText& text = texts[number_of(found) - 1];
  part.fail(place() + std::string(text.what), text.section);
}

}  // namespace spmvpack::layouts
