#pragma once
/// How much memory is available, and budgets for its use.
///
/// An operation has one budget, which everything that it allocates in proportion to a matrix or a file is counted
/// against: MemoryScope makes one current for the calling thread, and parallel loops (parallel.hpp) carry it to their
/// threads. Array and CountedVector count themselves; whatever else allocates much takes a MemoryReservation. The
/// library's functions with a memory limit open a scope of their own; callers who want several calls to share one
/// budget open one around them. Not counted are small objects and buffers: some megabytes for each thread.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

/// Memory that can be allocated without swapping, in bytes: MemAvailable in /proc/meminfo, or what the control group
/// has left if that is less.
SPMVPACK_EXPORT std::uint64_t available_memory();
/// Throws Error(errc::out_of_memory) if `bytes` exceeds `limit` (0: available_memory()). `what` says what needs them.
/// For requests that are known beforehand to be too large; what is really allocated is counted against the budget.
SPMVPACK_EXPORT void require_memory(std::uint64_t bytes, std::uint64_t limit, std::string_view what);

/// The bytes that an operation may hold at a time. Thread-safe.
class SPMVPACK_EXPORT MemoryBudget {
 public:
  /// @param limit   bytes, 0: available_memory() as it is now
  /// @param parent  is taken from, too
  explicit MemoryBudget(std::uint64_t limit, std::shared_ptr<MemoryBudget> parent = nullptr);
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// Bytes that can still be taken, of this budget alone.
  [[nodiscard]] std::uint64_t left() const noexcept;
  /// Error(errc::out_of_memory) if fewer than `bytes` are left; `what` says what needs them.
  void take(std::uint64_t bytes, std::string_view what);
  void give_back(std::uint64_t bytes) noexcept;

 private:
  std::uint64_t limit_;
  bool chosen_;  ///< the limit is the caller's
  std::atomic<std::uint64_t> taken_{0};
  std::shared_ptr<MemoryBudget> parent_;
};

/// The budget of the current scope; null without one, or where nothing is counted.
SPMVPACK_EXPORT std::shared_ptr<MemoryBudget> current_budget() noexcept;

/// Makes a budget current for the calling thread until the end of the scope. Scopes end in the reverse order.
class SPMVPACK_EXPORT MemoryScope {
 public:
  /// A budget of `limit` bytes (0: available_memory()) for `what`, such as "reading A.mtx". Within another scope, a
  /// limit of 0 or one that is not below the other's means the budget of that scope; a lower one counts in both.
  MemoryScope(std::uint64_t limit, std::string what);
  /// The same budget as before, for `what`.
  explicit MemoryScope(std::string what);
  /// No budget: for buffers.
  struct Uncounted {};
  explicit MemoryScope(Uncounted /*unused*/);
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;
  ~MemoryScope();
  /// What the memory is for; may be empty.
  [[nodiscard]] std::string_view what() const noexcept { return what_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::string what_;
  const MemoryScope* outer_;
  friend std::shared_ptr<MemoryBudget> current_budget() noexcept;
};

namespace detail {
/// The current scope of a thread, which another thread that works for it makes its own while that lasts.
SPMVPACK_EXPORT const MemoryScope* exchange_memory_scope(const MemoryScope* scope) noexcept;
SPMVPACK_EXPORT const MemoryScope* memory_scope() noexcept;
class MemoryScopeOf {
 public:
  explicit MemoryScopeOf(const MemoryScope* scope) noexcept : before_(exchange_memory_scope(scope)) {}
  MemoryScopeOf(const MemoryScopeOf&) = delete;
  MemoryScopeOf& operator=(const MemoryScopeOf&) = delete;
  ~MemoryScopeOf() { exchange_memory_scope(before_); }

 private:
  const MemoryScope* before_;
};
}  // namespace detail

/// Bytes of a budget, given back when it ends.
class SPMVPACK_EXPORT MemoryReservation {
 public:
  MemoryReservation() = default;
  /// Takes `bytes` of the current budget, if there is one. Error(errc::out_of_memory) says that `what` needs them; if
  /// that is empty, the scope's.
  explicit MemoryReservation(std::uint64_t bytes, std::string_view what = {});
  MemoryReservation(MemoryReservation&& o) noexcept
      : budget_(std::move(o.budget_)), bytes_(std::exchange(o.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&& o) noexcept {
    std::swap(budget_, o.budget_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;
  ~MemoryReservation() {
    if (bytes_ != 0) budget_->give_back(bytes_);
  }
  /// Takes more of the same budget, or if there is none yet, of the current one.
  void grow(std::uint64_t bytes, std::string_view what = {});
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t bytes_ = 0;
};

/// The standard allocator, which counts against the budget that was current when the container was made.
template <class T>
class CountedAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  CountedAllocator() noexcept : budget_(current_budget()) {}
  template <class U>
  CountedAllocator(const CountedAllocator<U>& o) noexcept : budget_(o.budget()) {}  // NOLINT: as allocators must
  [[nodiscard]] T* allocate(std::size_t n) {
    if (budget_) budget_->take(n * sizeof(T), {});
    try {
      return std::allocator<T>().allocate(n);
    } catch (...) {
      if (budget_) budget_->give_back(n * sizeof(T));
      throw;
    }
  }
  void deallocate(T* p, std::size_t n) noexcept {
    std::allocator<T>().deallocate(p, n);
    if (budget_) budget_->give_back(n * sizeof(T));
  }
  [[nodiscard]] const std::shared_ptr<MemoryBudget>& budget() const noexcept { return budget_; }
  template <class U>
  bool operator==(const CountedAllocator<U>& o) const noexcept {
    return budget_ == o.budget();
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
};

/// A vector that is counted, for what may be large.
template <class T>
using CountedVector = std::vector<T, CountedAllocator<T>>;

}  // namespace spmvpack
