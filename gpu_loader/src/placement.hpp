#pragma once
// Where the sections of a container go in one device allocation, and how they are cut into copies.

#include <cstdint>
#include <span>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::gpu_loader {

/// A section of the container and its offset in the allocation.
struct Placed {
  std::size_t section = 0;
  std::uint64_t offset = 0;
};

struct Placement {
  CountedVector<Placed> sections;
  std::uint64_t bytes = 0;  ///< of the allocation
};

/// Places every section that a multiply reads: those of the layouts, and row and column maps. Each is aligned to 256
/// bytes and to its own alignment. Error(errc::unsupported) if the sum does not fit into 64 bits.
Placement place(std::span<const SectionInfo> sections);

/// Consecutive blocks of a section that are copied together.
struct Transfer {
  std::size_t section = 0;
  std::uint64_t block = 0;  ///< the first
  std::uint64_t to = 0;     ///< offset in the allocation
  std::uint64_t bytes = 0;  ///< raw
};

/// All placed sections, in order, as transfers of up to `blocks` blocks.
CountedVector<Transfer> transfers(std::span<const SectionInfo> sections, const Placement& placement,
                                  std::uint64_t blocks);

/// How the ring of pinned memory is divided.
struct RingShape {
  std::uint64_t slots = 0, slot_blocks = 0;  ///< of format::block_bytes
  int threads = 0;                           ///< that fill it, with the same number of slots each
};

/// The shape of a ring of at most `bytes`, but at least one block, for up to `threads` threads that read `blocks`
/// blocks in total, neither of them 0; `inflate`: some blocks are compressed.
RingShape ring_shape(std::uint64_t bytes, int threads, std::uint64_t blocks, bool inflate);

}  // namespace spmvpack::gpu_loader
