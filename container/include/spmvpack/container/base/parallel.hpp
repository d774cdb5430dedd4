#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack {

/// Whether this process was forked from one in which parallel_for() had started threads. They are not here, but GNU's
/// OpenMP would wait for them for ever: such a process has one thread.
SPMVPACK_EXPORT bool lost_threads_in_fork() noexcept;
/// Records that this process has started threads, for lost_threads_in_fork() in processes forked later.
SPMVPACK_EXPORT void note_threads() noexcept;

/// How many threads the control groups' quota of processor time allows; the largest int if there is none, or if
/// OMP_NUM_THREADS is set. Read at the first call.
SPMVPACK_EXPORT int quota_threads() noexcept;

/// The processors that a team's threads run on. The scheduler may leave two threads on one, and another idle, for
/// seconds, if they wait for each other without going to sleep.
class SPMVPACK_EXPORT TeamProcessors {
 public:
  TeamProcessors() noexcept;
  /// The calling thread begins its work. If another one of the team has begun on the same processor, this one moves to
  /// a processor that none of them is on, if it may run on one; after that it may run where it could before.
  void arrive() const noexcept;

 private:
  std::uint64_t team_ = 0;  ///< its number: of all in this process
};

/// Keeps track of the shares of each thread that no thread has begun, for one call of parallel_shares(). The cache
/// lines are kept from one call to the next, so that each is where its thread has left it; if the caller set them up
/// anew, all would be fetched twice.
class SPMVPACK_EXPORT ShareLines {
 public:
  /// For shares [0, shares), dealt to `threads` threads.
  ShareLines(int shares, int threads) noexcept;
  ~ShareLines();
  ShareLines(const ShareLines&) = delete;
  ShareLines& operator=(const ShareLines&) = delete;
  /// None if the calling thread is within a call that it began, if it is ending, or if there is no memory: it is alone
  /// then.
  [[nodiscard]] bool empty() const noexcept { return lines_ == nullptr; }
  /// Fetches all lines at a time.
  void prefetch() const noexcept {
    for (int thread = 0; thread < threads_; ++thread) __builtin_prefetch(lines_ + thread);
  }
  /// Calls f(share) for those shares of a thread that no thread has begun.
  template <class F>
  void take(int thread, F&& f) const {
    std::atomic<std::uint64_t>& line = lines_[thread].next;
    const std::uint64_t first = first_of(thread), end = first_of(thread + 1);
    for (std::uint64_t seen = line.load(std::memory_order_relaxed);;) {
      const std::uint64_t next = std::max(seen, first);
      if (next >= end) return;
      if (!line.compare_exchange_weak(seen, next + 1, std::memory_order_relaxed)) continue;
      f(static_cast<int>(next - begin_));
      seen = line.load(std::memory_order_relaxed);
    }
  }

 private:
  friend struct CallersLines;
  struct alignas(64) Line {
    std::atomic<std::uint64_t> next{0};  ///< one is below begin_ until its first share is taken
  };
  [[nodiscard]] std::uint64_t first_of(int thread) const noexcept {
    return begin_ + static_cast<std::uint64_t>(thread * each_ + std::min(thread, more_));
  }

  Line* lines_ = nullptr;
  std::uint64_t begin_ = 0;    ///< the number of share 0, of all that this thread's calls have had
  int each_, more_, threads_;  ///< shares of a thread; threads that have one more
};

/// The most threads that a caller may ask for.
inline constexpr int max_threads = 1024;

/// Throws Error(errc::usage): this is no valid number of threads.
[[noreturn]] SPMVPACK_EXPORT void refuse_threads(int requested);
/// Throws unless it is 0, for all, to max_threads.
inline void require_threads(int requested) {
  if (requested < 0 || requested > max_threads) refuse_threads(requested);
}

/// The number of threads to use: `requested`, or for 0 OpenMP's choice (OMP_NUM_THREADS, else the number of cores or,
/// if that is less, quota_threads()), but at most four per processor or 64, whichever is more: OpenMP ends the process
/// if it cannot start a thread. 1 if lost_threads_in_fork(). Errors: those of require_threads().
inline int thread_count(int requested) {
  require_threads(requested);
  if (lost_threads_in_fork()) return 1;
  if (requested > 0) return requested;
  constexpr int always_allowed = 64, per_core = 4;
  int wanted = omp_get_max_threads();
  // The number of processors, which is a call of the system, is asked for only where it matters: if it is the number of
  // threads, nobody has asked for others.
  if (quota_threads() < wanted && wanted == omp_get_num_procs()) wanted = quota_threads();
  if (wanted <= always_allowed) return wanted;
  const int most = per_core * omp_get_num_procs();
  return wanted < most ? wanted : most < always_allowed ? always_allowed : most;
}

/// Calls f(i) for every i in [0, n) on up to `threads` threads (0: all), or f(i, worker) if f takes two arguments;
/// worker < `threads` differs between concurrent calls. If calls throw, the exception of the smallest i is rethrown
/// whatever the number of threads: indices are handed out in order, and none below a failed one is skipped. What
/// the calls allocate counts against the caller's budget.
template <class F>
void parallel_for(std::uint64_t n, int threads, F&& f) {
  const auto call = [&](std::uint64_t i, [[maybe_unused]] std::uint64_t worker) {
    if constexpr (std::is_invocable_v<F&, std::uint64_t, std::uint64_t>)
      f(i, worker);
    else
      f(i);
  };
  const auto wanted = static_cast<std::uint64_t>(thread_count(threads));
  if (n <= 1 || wanted == 1) {
    for (std::uint64_t i = 0; i < n; ++i) call(i, 0);
    return;
  }
  std::atomic<std::uint64_t> next{0}, failed{n}, workers{0};
  std::exception_ptr error;
  std::mutex guard;
  note_threads();
  TeamProcessors processors;
  const MemoryScope* const memory = detail::memory_scope();
#pragma omp parallel num_threads(static_cast <int>(wanted < n ? wanted : n))
  {
    processors.arrive();
    const detail::MemoryScopeOf of_caller(memory);
    const std::uint64_t worker = workers++;
    for (std::uint64_t i = next++; i < failed.load(); i = next++) {
      try {
        call(i, worker);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (i < failed.load()) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Splits [0, n) into pieces of at most `piece` and calls f(begin, end) for each, in parallel.
template <class F>
void parallel_pieces(std::uint64_t n, std::uint64_t piece, int threads, F&& f) {
  parallel_for(n / piece + (n % piece != 0), threads, [&](std::uint64_t i) {
    const std::uint64_t begin = i * piece;
    f(begin, n - begin < piece ? n : begin + piece);
  });
}

/// Calls f(i) for every i in [0, n), in parallel, up to `piece` neighbours in a task.
template <class F>
void parallel_items(std::uint64_t n, std::uint64_t piece, int threads, F&& f) {
  parallel_pieces(n, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) f(i);
  });
}

/// How many of `threads` threads (0: all) a multiply with `entries` entries can use: below 2,500 entries for each,
/// another thread is not worth waking.
inline int worth_threads(std::uint64_t entries, int threads) {
  constexpr std::uint64_t least_share = 2500;
  require_threads(threads);
  if (entries < 2 * least_share) return 1;
  const auto wanted = static_cast<std::uint64_t>(thread_count(threads)), worth = entries / least_share;
  return static_cast<int>(wanted < worth ? wanted : worth);
}

/// Into how many shares the work of a multiply is cut. With three threads or more, some are slower than others, because
/// two may be on one core; with two, hardly.
inline int share_count(std::uint64_t entries, int threads) {
  constexpr std::uint64_t least_share = 1000, of_thread = 4;
  if (threads <= 2) return threads;
  const auto team = static_cast<std::uint64_t>(threads);
  return static_cast<int>(team * std::clamp<std::uint64_t>(entries / (team * least_share), 1, of_thread));
}

/// Calls f(share) for every share in [0, shares) on up to `threads` threads. For work of microseconds that has been cut
/// into equal shares. Each thread has equally many consecutive shares, the same ones each time; threads that end early
/// take shares that others have not begun. If calls throw, all others are made, and the exception of the smallest share
/// is rethrown. What the calls allocate counts against the caller's budget.
template <class F>
void parallel_shares(int shares, int threads, F&& f) {
  threads = std::min({threads, shares, max_threads});
  if (threads <= 1 || lost_threads_in_fork()) {
    for (int share = 0; share < shares; ++share) f(share);
    return;
  }
  const ShareLines lines(shares, threads);
  if (lines.empty()) {
    for (int share = 0; share < shares; ++share) f(share);
    return;
  }
  int failed = shares;
  std::exception_ptr error;
  std::mutex guard;
  note_threads();
  TeamProcessors processors;
  const MemoryScope* const memory = detail::memory_scope();
#pragma omp parallel num_threads(threads)
  {
    processors.arrive();
    const detail::MemoryScopeOf of_caller(memory);
    for (int i = 0; i < threads; ++i) {
      if (i == 1) lines.prefetch();
      lines.take((omp_get_thread_num() + i) % threads, [&](int share) {
        try {
          f(share);
        } catch (...) {
          const std::lock_guard lock(guard);
          if (share < failed) {
            failed = share;
            error = std::current_exception();
          }
        }
      });
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace spmvpack
