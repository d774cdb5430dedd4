#include "spmvpack/container/base/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "spmvpack/container/base/error.hpp"

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

thread_local const MemoryScope* current = nullptr;

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

MemoryBudget::MemoryBudget(std::uint64_t limit, std::shared_ptr<MemoryBudget> parent)
    : limit_(limit != 0 ? limit : available_memory()), chosen_(limit != 0), parent_(std::move(parent)) {}

std::uint64_t MemoryBudget::left() const noexcept { return limit_ - std::min(limit_, taken_.load()); }

void MemoryBudget::take(std::uint64_t bytes, std::string_view what) {
  std::uint64_t taken = taken_;
  do {
    if (bytes <= limit_ - taken) continue;
    const std::string_view needing = !what.empty()                                    ? what
                                     : current != nullptr && !current->what().empty() ? current->what()
                                                                                      : "an array";
    throw Error(errc::out_of_memory,
                fmt::format("{} needs {} bytes of memory, {} of the {} that are {} are left", needing, bytes,
                            limit_ - taken, limit_, chosen_ ? "allowed" : "available"),
                {}, chosen_ ? "raise the memory limit" : "use a machine with more memory");
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  if (!parent_) return;
  try {
    parent_->take(bytes, what);
  } catch (...) {
    taken_ -= bytes;
    throw;
  }
}

void MemoryBudget::give_back(std::uint64_t bytes) noexcept {
  taken_ -= bytes;
  if (parent_) parent_->give_back(bytes);
}

MemoryScope::MemoryScope(std::uint64_t limit, std::string what)
    : budget_(current_budget()), what_(std::move(what)), outer_(detail::exchange_memory_scope(this)) {
  try {
    if (!budget_ || (limit != 0 && limit < budget_->limit())) budget_ = std::make_shared<MemoryBudget>(limit, budget_);
  } catch (...) {
    detail::exchange_memory_scope(outer_);
    throw;
  }
}

MemoryScope::MemoryScope(std::string what)
    : budget_(current_budget()), what_(std::move(what)), outer_(detail::exchange_memory_scope(this)) {}

MemoryScope::MemoryScope(Uncounted /*unused*/) : outer_(detail::exchange_memory_scope(this)) {}

MemoryScope::~MemoryScope() { detail::exchange_memory_scope(outer_); }

std::shared_ptr<MemoryBudget> current_budget() noexcept { return current != nullptr ? current->budget_ : nullptr; }

const MemoryScope* detail::exchange_memory_scope(const MemoryScope* scope) noexcept {
  return std::exchange(current, scope);
}

const MemoryScope* detail::memory_scope() noexcept { return current; }

MemoryReservation::MemoryReservation(std::uint64_t bytes, std::string_view what) { grow(bytes, what); }

void MemoryReservation::grow(std::uint64_t bytes, std::string_view what) {
  if (!budget_) budget_ = current_budget();
  if (!budget_) return;
  budget_->take(bytes, what);
  bytes_ += bytes;
}

}  // namespace spmvpack
