#pragma once
// Where the sections of a container go in one device allocation, and how they are cut into copies.

#include <cstdint>
#include <span>
#include <vector>

#include "spmvpack/container/contents.hpp"

namespace spmvpack::gpu_loader {

/// A section of the container and its offset in the allocation.
struct Placed {
  std::size_t section = 0;
  std::uint64_t offset = 0;
};

struct Placement {
  std::vector<Placed> sections;
  std::uint64_t bytes = 0;  ///< of the allocation
};

/// Places every section that a multiply reads: those of the layouts, and row and column maps. Each starts on a multiple
/// of 256 bytes, and of its own alignment. Error(errc::unsupported) where 64 bits do not hold the sum.
Placement place(std::span<const SectionInfo> sections);

/// One block of a section, one copy.
struct Transfer {
  std::size_t section = 0;
  std::uint64_t block = 0;
  std::uint64_t to = 0;     ///< offset in the allocation
  std::uint64_t bytes = 0;  ///< raw
};

/// The blocks of what has been placed, in order.
std::vector<Transfer> transfers(std::span<const SectionInfo> sections, const Placement& placement);

}  // namespace spmvpack::gpu_loader
