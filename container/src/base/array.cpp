#include "spmvpack/container/base/array.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace spmvpack::detail {

void* allocate(std::uint64_t bytes) {
  // Large arrays are streamed, scattered into and gathered from: small pages would cost a TLB miss every few lines.
  constexpr std::uint64_t huge_page = 2U << 20, cache_line = 64;
  const bool many = bytes >= 2 * huge_page;
  const std::uint64_t alignment = many ? huge_page : cache_line;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw Error(errc::out_of_memory, "cannot allocate " + std::to_string(bytes) + " bytes");
  if (many) ::madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint: without huge pages, the memory is merely slower
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace spmvpack::detail
