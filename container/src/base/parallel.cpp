#include "spmvpack/container/base/parallel.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>

#include "base/cpu_quota.hpp"
#include "spmvpack/container/base/error.hpp"

namespace spmvpack {
namespace {

std::atomic<bool> started{false}, lost{false};

// Registered as the library is loaded rather than before the first threads: a lock that guards the first time might be
// held by another thread when the process forks. If there is no memory for it, the program has hardly begun.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { lost.store(started.load(std::memory_order_relaxed)); });

#ifdef __linux__
/// Of each processor the team of which a thread has arrived last: in a cache line of its own, so that threads that
/// arrive together do not wait for one another.
struct alignas(64) Processor {
  std::atomic<std::uint64_t> team{0};
};
std::array<Processor, CPU_SETSIZE> processors;
std::atomic<std::uint64_t> teams{0};

/// Moves the calling thread off the processors for which is_taken() holds, if it may run on others.
template <class IsTaken>
void leave(IsTaken&& is_taken) noexcept {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;  // more processors than the set has room for
  cpu_set_t others = all;
  for (std::size_t p = 0; p < CPU_SETSIZE; ++p)
    if (is_taken(p)) CPU_CLR(p, &others);
  if (CPU_COUNT(&others) == 0) return;  // more threads than processors
  if (::sched_setaffinity(0, sizeof others, &others) == 0) ::sched_setaffinity(0, sizeof all, &all);
}
#endif

}  // namespace

bool lost_threads_in_fork() noexcept { return lost.load(std::memory_order_relaxed); }
void refuse_threads(int requested) {
  throw Error(errc::usage, fmt::format("{} threads", requested), {},
              fmt::format("give 1 to {}, or 0 for one per core", max_threads));
}

void note_threads() noexcept { started.store(true, std::memory_order_relaxed); }

int quota_threads() noexcept {
  static const int quota = [] {
    constexpr int none = std::numeric_limits<int>::max();
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read when first asked
    if (std::getenv("OMP_NUM_THREADS") != nullptr) return none;
    try {
      return cgroup_quota().value_or(none);
    } catch (const std::bad_alloc&) {
      return none;
    }
  }();
  return quota;
}

/// Of the thread that calls. Nothing of it is destroyed: a thread may multiply after what it owns has been, in the
/// destructor of a static object, say.
struct CallersLines {
  ShareLines::Line* lines = nullptr;
  int count = 0;
  std::uint64_t next = 1;  ///< the number of the next share
  bool taken = false;
  void free() noexcept {
    delete[] lines;
    lines = nullptr;
    count = 0;
  }
};

namespace {

thread_local constinit CallersLines callers_lines;
static_assert(std::is_trivially_destructible_v<CallersLines>);

/// Frees the lines where the thread ends. Its later calls have none.
struct LinesOwner {
  bool has_lines = false;
  ~LinesOwner() {
    callers_lines.free();
    callers_lines.taken = true;
  }
};
thread_local LinesOwner lines_owner;

}  // namespace

ShareLines::ShareLines(int shares, int threads) noexcept
    : each_(shares / threads), more_(shares % threads), threads_(threads) {
  CallersLines& of = callers_lines;
  if (of.taken) return;
  if (of.count < threads) {
    of.free();
    of.lines = new (std::nothrow) Line[static_cast<std::size_t>(threads)];
    if (of.lines == nullptr) return;
    of.count = threads;
    lines_owner.has_lines = true;  // which makes the owner
  }
  of.taken = true;
  begin_ = of.next;
  of.next += static_cast<std::uint64_t>(shares) + 1;
  lines_ = of.lines;
}

ShareLines::~ShareLines() {
  if (!empty()) callers_lines.taken = false;
}

TeamProcessors::TeamProcessors() noexcept {
#ifdef __linux__
  team_ = 1 + teams.fetch_add(1, std::memory_order_relaxed);
#endif
}

void TeamProcessors::arrive() const noexcept {
#ifdef __linux__
  const auto processor = static_cast<std::size_t>(::sched_getcpu());  // of an error, -1, a large number
  if (processor >= processors.size()) return;
  if (processors[processor].team.exchange(team_, std::memory_order_relaxed) != team_) return;
  leave([&](std::size_t p) { return processors[p].team.load(std::memory_order_relaxed) == team_; });
#endif
}

}  // namespace spmvpack
