#pragma once
// A container that can be changed anywhere, and then written as a file whose checksums are right.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edited.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack::test::hostile {

struct MutableSection {
  std::string name;
  format::ElementType type;
  std::uint8_t flags;
  std::uint32_t alignment;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::size_t width() const { return format::size_of(type); }
  [[nodiscard]] std::size_t count() const { return bytes.size() / width(); }
};

struct MutablePart {
  PartInfo info;
  std::vector<MutableSection> sections;

  /// None if there is no section of that name.
  [[nodiscard]] MutableSection* find(std::string_view name) {
    const auto found =
        std::find_if(sections.begin(), sections.end(), [&](const MutableSection& s) { return s.name == name; });
    return found == sections.end() ? nullptr : &*found;
  }
  /// Valid until a section or the part is changed.
  [[nodiscard]] PartView view() {
    std::vector<PartView::Section> views;
    for (const MutableSection& s : sections) {
      views.push_back({s.name, s.type, s.bytes});
      if (std::uint64_t* const count = find_count(info, s.name)) *count = s.count();
    }
    return {info, std::move(views), "a mutant"};
  }
};

struct MutableContainer {
  MatrixFacts facts;
  std::vector<MutablePart> parts;

  explicit MutableContainer(const Container& from) : facts(from.facts()) {
    facts.share.reset();  // whose lists belong to no part
    for (const PartInfo& info : from.parts()) parts.push_back({info, {}});
    for (std::size_t i = 0; i < from.sections().size(); ++i) {
      const SectionInfo& s = from.sections()[i];
      if (s.part == format::no_part || !s.known) continue;
      const Array<std::byte> bytes = from.read_section(i);
      parts[s.part].sections.push_back({s.name, s.element_type, s.flags, s.alignment, {bytes.begin(), bytes.end()}});
    }
  }

  /// "csr", or "parts" if there are several.
  [[nodiscard]] std::string kind() const { return parts.size() == 1 ? parts[0].info.layout : "parts"; }

  /// The file. Error if the writer refuses what the header and the part table would say. The digest is not that of the
  /// mutant: no multiply asks for it.
  [[nodiscard]] std::vector<std::byte> write() const {
    ContainerSource to;
    to.facts = facts;
    for (const MutablePart& part : parts) {
      to.parts.push_back({part.info, {}});
      for (const MutableSection& s : part.sections)
        to.parts.back().sections.push_back(section_of_bytes(s.name, s.type, s.flags, s.alignment, s.bytes));
    }
    return written(to);
  }
};

}  // namespace spmvpack::test::hostile
