#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

namespace spmvpack {

/// The number of threads that `requested` means: itself, or for 0 what OpenMP would use (OMP_NUM_THREADS, else cores).
inline int thread_count(int requested) { return requested > 0 ? requested : omp_get_max_threads(); }

/// Calls f(i) for every i in [0, n) on up to `threads` threads (0: all). Where calls throw, the exception of the
/// smallest i is rethrown, at any number of threads: indices are handed out in order, and none below a failed one is
/// skipped.
template <class F>
void parallel_for(std::uint64_t n, int threads, F&& f) {
  const auto wanted = static_cast<std::uint64_t>(thread_count(threads));
  if (n <= 1 || wanted == 1) {
    for (std::uint64_t i = 0; i < n; ++i) f(i);
    return;
  }
  std::atomic<std::uint64_t> next{0}, failed{n};
  std::exception_ptr error;
  std::mutex guard;
#pragma omp parallel num_threads(static_cast <int>(wanted < n ? wanted : n))
  for (std::uint64_t i = next++; i < failed.load(); i = next++) {
    try {
      f(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (i < failed.load()) {
        failed = i;
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Cuts [0, n) into pieces of at most `piece` and calls f(begin, end) for each, in parallel.
template <class F>
void parallel_pieces(std::uint64_t n, std::uint64_t piece, int threads, F&& f) {
  parallel_for(n / piece + (n % piece != 0), threads, [&](std::uint64_t i) {
    const std::uint64_t begin = i * piece;
    f(begin, n - begin < piece ? n : begin + piece);
  });
}

}  // namespace spmvpack
