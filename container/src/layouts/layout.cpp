#include <fmt/format.h>

#include "spmvpack/container/layouts/entries.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t wide_pointers_from = std::uint64_t{1} << 31;

void check_section(const PartView& part, const SectionDescription& section) {
  const PartView::Section* const found = part.find(section.name);
  if (found == nullptr) {
    part.require(!section.required(), {}, [&] {
      return fmt::format("a part of layout {} without the section '{}'", part.info().layout, section.name);
    });
    return;
  }
  const format::ElementType type = section.type(part.info());
  part.require(found->type == type, section.name, [&] {
    return fmt::format("elements of type {}, expected {}", to_string(found->type), to_string(type));
  });
  if (section.count == nullptr) return;
  const std::uint64_t count = found->bytes.size() / format::size_of(type);
  std::uint64_t expected = 0;
  try {
    expected = section.count(part.info());
  } catch (const Error& e) {
    part.fail(e.message(), section.name);  // a product that does not fit 64 bits
  }
  part.require(count == expected, section.name,
               [&] { return fmt::format("{} elements, expected {}", count, expected); });
}

}  // namespace

PartValues part_values(const PartInfo& part) {
  const Layout& layout = find_layout(part.layout);
  return layout.part_values != nullptr ? layout.part_values(part) : PartValues{};
}

format::ElementType SectionDescription::type(const PartInfo& part) const {
  switch (element) {
    case Element::u8:
      return format::ElementType::u8;
    case Element::u16:
      return format::ElementType::u16;
    case Element::u32:
      return format::ElementType::u32;
    case Element::u64:
      return format::ElementType::u64;
    case Element::row_pointer:
      return part.nnz < wide_pointers_from ? format::ElementType::u32 : format::ElementType::u64;
    case Element::value:
      break;
  }
  return format::element_type(part.value_type);
}

void check_sections(const PartView& part, std::span<const SectionDescription> sections) {
  for (const SectionDescription& section : sections) check_section(part, section);
}

layouts::SectionBytes<const std::byte> layouts::section_bytes(const PartView& part) {
  SectionBytes<const std::byte> bytes;
  const std::span<const SectionDescription> sections = find_layout(part.info().layout).sections;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (const PartView::Section* const section = part.find(sections[i].name); section != nullptr)
      bytes.begin[i] = section->bytes.data();
  return bytes;
}

std::uint64_t* find_count(PartInfo& part, std::string_view section) {
  const std::span<const SectionDescription> sections = find_layout(part.layout).sections;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].name == section) return &part.counts.at(i);
  return nullptr;
}

void check_shape(const PartView& part) {
  const PartInfo& info = part.info();
  const Layout& layout = find_layout(info.layout);
  if (info.rows.kind == format::MapKind::list) check_section(part, row_map_section);
  if (info.cols.kind == format::MapKind::list) check_section(part, col_map_section);
  for (std::size_t i = layout.parameters.size(); i < info.params.size(); ++i)
    part.require(info.params[i] == 0, {},
                 [&] { return fmt::format("parameter {} is {}, expected 0", i, info.params[i]); });
  for (std::size_t i = 0; i < layout.sections.size(); ++i) {
    const SectionDescription& section = layout.sections[i];
    const PartView::Section* const found = part.find(section.name);
    const std::uint64_t count = found == nullptr ? 0 : found->bytes.size() / format::size_of(found->type);
    part.require(count == info.counts[i], section.name,
                 [&] { return fmt::format("{} elements, the part says {}", count, info.counts[i]); });
  }
  check_sections(part, layout.sections);
  if (layout.check_shape != nullptr) layout.check_shape(part);
}

}  // namespace spmvpack
