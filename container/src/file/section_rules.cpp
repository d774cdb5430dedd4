#include "file/section_rules.hpp"

#include <algorithm>

namespace spmvpack {

SectionRules::SectionRules(const PartInfo* part, std::span<const SectionDescription> layout)
    : part_(part), layout_(layout) {}

bool SectionRules::is_map(std::string_view name) const {
  if (part_ == nullptr) return false;
  return (name == row_map_section.name && part_->rows.kind == format::MapKind::list) ||
         (name == col_map_section.name && part_->cols.kind == format::MapKind::list);
}

SectionRules::Verdict SectionRules::next(const SectionInfo& section) {
  if (is_map(section.name)) {
    came_.push_back(section.name == row_map_section.name ? row_map_section.name : col_map_section.name);
    return {.known = true, .wrong = section.flags == row_map_section.flags ? "" : "flags of a map"};
  }
  if (part_ == nullptr && section.name == "provenance") {
    const bool ok = section.flags == 0 && section.element_type == format::ElementType::u8;
    return {.known = true, .wrong = ok ? "" : "flags or element type of the provenance"};
  }
  if (part_ == nullptr && (section.name == format::ghosts_section || section.name == format::original_rows_section)) {
    const bool ok = section.flags == 0 && section.element_type == format::ElementType::u32;
    return {.known = true, .wrong = ok ? "" : "flags or element type of a list of a share"};
  }
  // Who signed a file is told that nobody looks, even if the section says that readers may skip it.
  if (part_ == nullptr && section.name == format::signature_section)
    return {.unsupported = "signatures are reserved for a later version"};
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    if (layout_[i].name != section.name) continue;
    if (i < next_) return {.known = true, .wrong = "not in the order of the layout"};
    if (section.flags != layout_[i].flags) return {.known = true, .wrong = "flags of a layout's section"};
    if (section.alignment != layout_[i].alignment) return {.known = true, .wrong = "alignment"};
    next_ = i + 1;
    came_.push_back(layout_[i].name);
    return {.known = true};
  }
  if ((section.flags & format::section_required) != 0) return {.unsupported = "a required section that is not known"};
  return {};
}

std::string_view SectionRules::missing() const {
  const auto came = [&](std::string_view name) { return std::find(came_.begin(), came_.end(), name) != came_.end(); };
  for (const SectionDescription& map : {row_map_section, col_map_section})
    if (is_map(map.name) && !came(map.name)) return map.name;
  for (const SectionDescription& s : layout_)
    if (s.required() && !came(s.name)) return s.name;
  return {};
}

}  // namespace spmvpack
