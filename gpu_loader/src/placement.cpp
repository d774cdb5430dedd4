#include "placement.hpp"

#include <algorithm>

namespace spmvpack::gpu_loader {

Placement place(std::span<const SectionInfo> sections) {
  Placement placement;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const SectionInfo& s = sections[i];
    const bool needed = s.known && s.part != format::no_part && (s.flags & format::section_device) != 0;
    if (!needed) continue;
    const std::uint64_t boundary = std::max<std::uint64_t>(format::section_boundary, s.alignment);
    const std::uint64_t offset =
        checked_add(placement.bytes, boundary - 1, "bytes of device memory") / boundary * boundary;
    placement.sections.push_back({i, offset});
    placement.bytes = checked_add(offset, s.raw_bytes, "bytes of device memory");
  }
  return placement;
}

CountedVector<Transfer> transfers(std::span<const SectionInfo> sections, const Placement& placement,
                                  std::uint64_t blocks) {
  const std::uint64_t most = blocks * format::block_bytes;
  CountedVector<Transfer> all;
  for (const Placed& placed : placement.sections) {
    const SectionInfo& s = sections[placed.section];
    for (std::uint64_t block = 0; block < s.block_count; block += blocks) {
      const std::uint64_t begin = block * format::block_bytes;
      all.push_back({placed.section, block, placed.offset + begin, std::min(most, s.raw_bytes - begin)});
    }
  }
  return all;
}

RingShape ring_shape(std::uint64_t bytes, int threads, std::uint64_t blocks, bool inflate) {
  // A thread fills one slot while its other one is copied. Copies of two blocks come close to the speed of the bus,
  // copies of one block do not. Without decompression, this many threads outrun the bus; more would only make slots
  // smaller.
  constexpr std::uint64_t enough_threads = 16, slots = 2, slot_blocks = 2, enough_blocks = slots * slot_blocks;
  const std::uint64_t room = std::max<std::uint64_t>(bytes / format::block_bytes, 1);
  const std::uint64_t most =
      inflate ? room : std::max(room / enough_blocks, std::min<std::uint64_t>(room, enough_threads));
  const std::uint64_t used = std::min({static_cast<std::uint64_t>(threads), most, blocks});
  const std::uint64_t share = std::min(room / used, div_up(blocks, used));
  RingShape shape;
  shape.threads = static_cast<int>(used);
  shape.slots = used * std::min(share, slots);
  shape.slot_blocks = share >= enough_blocks && !inflate ? slot_blocks : 1;
  return shape;
}

}  // namespace spmvpack::gpu_loader
