#pragma once
// The matrix of docs/LAYOUTS.md, and the arrays of containers.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "edited.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack::test {

/// The example of docs/LAYOUTS.md; with a fifth, empty row it is square.
inline CsrMatrix worked_example(std::uint64_t rows = 4) {
  return make_csr(
      rows, 5,
      {{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0}, {{1, 4}, 0.5}, {{3, 3}, 2.0}, {{3, 4}, -1.0}});
}

/// The section of that name of the first part that has one; empty if none has.
template <class T>
std::vector<T> elements(const Container& c, std::string_view name) {
  for (std::size_t i = 0; i < c.sections().size(); ++i)
    if (c.sections()[i].name == name) {
      const Array<std::byte> bytes = c.read_section(i);
      std::vector<T> out(bytes.size() / sizeof(T));
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
      return out;
    }
  return {};
}

/// The parameters of the first part, in the order of its layout's description.
inline std::vector<std::uint64_t> parameters_of(const Container& c) {
  const PartInfo& part = c.parts().at(0);
  const auto named = std::span(part.params).first(find_layout(part.layout).parameters.size());
  return {named.begin(), named.end()};
}

using U16 = std::vector<std::uint16_t>;
using U32 = std::vector<std::uint32_t>;
using U64 = std::vector<std::uint64_t>;
using F64 = std::vector<double>;

/// The file with one element of a section of its first part replaced.
template <class T>
std::vector<std::byte> with_element(const std::vector<std::byte>& file, std::string_view name, std::size_t element,
                                    T value) {
  return edited(file, [&](ContainerSource& source) {
    for (SectionSource& s : source.parts[0].sections) {
      if (s.name != name) continue;
      std::vector<std::byte> bytes(s.raw_bytes());
      s.fill(0, bytes);
      std::memcpy(bytes.data() + element * sizeof(T), &value, sizeof(T));
      s = section_of_bytes(s.name, s.element_type, s.flags, s.alignment, std::move(bytes));
    }
  });
}

/// The message of the error that loading the only part ends with if one element of a section is `value`; empty: none.
template <class T>
std::string refusal_of(const std::vector<std::byte>& file, std::string_view name, std::size_t element, T value) {
  const std::vector<std::byte> lying = with_element(file, name, element, value);
  try {
    const LoadedPart part = open(lying).load_part(0);
  } catch (const Error& e) {
    return e.code() == errc::corrupt ? e.message() : "not corrupt: " + e.message();
  }
  return {};
}

/// The error that planning ends with: its message and, after "; ", its remedy. Empty: none.
inline std::string plan_refusal(const CsrView& a, std::string_view layout, std::map<std::string, std::string> settings,
                                errc code) {
  try {
    plan_of(a, layout, {.settings = std::move(settings)});
  } catch (const Error& e) {
    return e.code() == code ? e.message() + "; " + e.remedy() : "another code: " + e.message();
  }
  return {};
}

/// The plan's counter of that name.
inline std::uint64_t counter(const encoder::PartPlan& plan, std::string_view name) {
  for (const encoder::Counter& c : plan.counters)
    if (c.name == name) return c.value;
  throw std::runtime_error("no counter " + std::string(name));
}

}  // namespace spmvpack::test
