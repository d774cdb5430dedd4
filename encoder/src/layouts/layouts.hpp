#pragma once
// What the layouts' planners share.

#include <cstring>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::layouts {

/// A plan of `layout` for this part, with nothing decided: its table entry, and the sections of list maps.
PartPlan begin_plan(const spmvpack::Layout& layout, const PartMatrix& part);

using Fill = std::function<void(std::uint64_t begin, std::span<std::byte> out)>;

/// The described section of the plan's part, with `count` elements; without, as many as the description says.
SectionSource section(const PartPlan& plan, const SectionDescription& description, Fill fill,
                      std::optional<std::uint64_t> count = {});

/// Byte shares of a part whose device sections each hold one thing.
void share_by_section(PartPlan& plan);

/// A fill from an array that is in memory as it will be in the file. Whoever keeps the array alive is captured too.
template <class Owner>
Fill copy_from(const void* array, Owner owner) {
  return [array, owner](std::uint64_t begin, std::span<std::byte> out) {
    if (!out.empty()) std::memcpy(out.data(), static_cast<const std::byte*>(array) + begin, out.size());
  };
}

/// A fill of elements T computed one by one: element(i) for those that touch bytes [begin, begin + out.size()).
template <class T, class F>
void compute_elements(std::uint64_t begin, std::span<std::byte> out, F&& element) {
  for (std::uint64_t at = 0; at < out.size();) {
    const std::uint64_t byte = begin + at, within = byte % sizeof(T);
    const T value = element(byte / sizeof(T));
    const std::uint64_t n = sizeof(T) - within < out.size() - at ? sizeof(T) - within : out.size() - at;
    std::memcpy(out.data() + at, reinterpret_cast<const std::byte*>(&value) + within, n);
    at += n;
  }
}

/// A fill of values, or other elements, that are computed one by one.
template <class T, class F>
Fill computed(F element) {
  return [element](std::uint64_t begin, std::span<std::byte> out) { compute_elements<T>(begin, out, element); };
}

}  // namespace spmvpack::encoder::layouts
