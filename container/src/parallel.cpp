#include "spmvpack/container/parallel.hpp"

#include <pthread.h>

namespace spmvpack {
namespace {

std::atomic<bool> started{false}, lost{false};

// Registered as the library is loaded rather than before the first threads: a lock that guards the first time might be
// held by another thread when the process forks. If there is no memory for it, the program has hardly begun.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { lost.store(started.load(std::memory_order_relaxed)); });

}  // namespace

bool lost_threads_in_fork() noexcept { return lost.load(std::memory_order_relaxed); }
void note_threads() noexcept { started.store(true, std::memory_order_relaxed); }

}  // namespace spmvpack
