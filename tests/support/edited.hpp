#pragma once
// Containers that no encoder makes: another's, edited.

#include <functional>

#include "containers.hpp"

namespace spmvpack::test {

inline SectionSource section_of_bytes(const std::string& name, format::ElementType type, std::uint8_t flags,
                                      std::uint32_t alignment, std::vector<std::byte> bytes) {
  SectionSource section;
  section.name = name;
  section.element_type = type;
  section.count = bytes.size() / size_of(type);
  section.flags = flags;
  section.alignment = alignment;
  section.fill = [bytes = std::move(bytes)](std::uint64_t begin, std::span<std::byte> out) {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
  };
  return section;
}

/// The parts of a container, written again after `edit`. The digest stays: only unpacking looks at it.
inline std::vector<std::byte> edited(const std::vector<std::byte>& file,
                                     const std::function<void(ContainerSource&)>& edit) {
  const Container from = open(file);
  ContainerSource to;
  to.facts = from.facts();
  for (const PartInfo& info : from.parts()) to.parts.push_back({info, {}});
  for (std::size_t i = 0; i < from.sections().size(); ++i) {
    const SectionInfo& s = from.sections()[i];
    if (s.part == format::no_part) continue;
    const Array<std::byte> bytes = from.read_section(i);
    to.parts[s.part].sections.push_back(
        section_of_bytes(s.name, s.element_type, s.flags, s.alignment, {bytes.begin(), bytes.end()}));
  }
  edit(to);
  return written(to);
}

}  // namespace spmvpack::test
