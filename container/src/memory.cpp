#include "spmvpack/container/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "spmvpack/container/error.hpp"

namespace spmvpack {
namespace {

/// The number in a file that holds just one; the largest number if it has none ("max") or does not exist.
std::uint64_t number_in(const char* path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  return in >> value ? value : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t meminfo_available() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kibibytes = 0;
  while (in >> key >> kibibytes) {
    if (key == "MemAvailable:") return kibibytes * 1024;
    std::getline(in, unit);
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint64_t available_memory() {
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  const std::uint64_t group =
      limit == std::numeric_limits<std::uint64_t>::max() ? limit : limit - std::min(limit, used);
  return std::min(meminfo_available(), group);
}

void require_memory(std::uint64_t bytes, std::uint64_t limit, std::string_view what) {
  const std::uint64_t allowed = limit != 0 ? limit : available_memory();
  if (bytes <= allowed) return;
  // Callers without a limit may pass what was available when they began: raising that would not help.
  const std::uint64_t available = limit != 0 ? available_memory() : allowed;
  const bool chosen = limit != 0 && limit < available;
  throw Error(errc::out_of_memory,
              fmt::format("{} needs {} bytes of memory, {} are {}", what, bytes,
                          chosen ? allowed : std::min(allowed, available), chosen ? "allowed" : "available"),
              {},
              chosen ? fmt::format("raise the memory limit: {} bytes are available", available)
                     : "end other programs, or use a machine with more memory");
}

}  // namespace spmvpack
