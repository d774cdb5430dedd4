#include "placement.hpp"

#include <algorithm>

namespace spmvpack::gpu_loader {

Placement place(std::span<const SectionInfo> sections) {
  Placement placement;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const SectionInfo& s = sections[i];
    const bool is_map = s.name == "row_map" || s.name == "col_map";
    const bool needed = s.known && s.part != format::no_part && (is_map || (s.flags & format::section_device) != 0);
    if (!needed) continue;
    const std::uint64_t boundary = std::max<std::uint64_t>(format::section_boundary, s.alignment);
    const std::uint64_t offset =
        checked_add(placement.bytes, boundary - 1, "bytes of device memory") / boundary * boundary;
    placement.sections.push_back({i, offset});
    placement.bytes = checked_add(offset, s.raw_bytes, "bytes of device memory");
  }
  return placement;
}

std::vector<Transfer> transfers(std::span<const SectionInfo> sections, const Placement& placement) {
  std::vector<Transfer> all;
  for (const Placed& placed : placement.sections) {
    const SectionInfo& s = sections[placed.section];
    for (std::uint64_t block = 0; block < s.block_count; ++block) {
      const std::uint64_t begin = block * format::block_bytes;
      all.push_back({placed.section, block, placed.offset + begin, std::min(format::block_bytes, s.raw_bytes - begin)});
    }
  }
  return all;
}

}  // namespace spmvpack::gpu_loader
