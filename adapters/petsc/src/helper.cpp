#include "helper.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::petsc {
namespace {

using Clock = std::chrono::steady_clock;

/// To be woken up takes tens of microseconds, and may end on another core, whose caches have nothing of the matrix. So
/// a thread looks out for what it waits for first, for at most so long.
constexpr Clock::duration patience = std::chrono::milliseconds(10);

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() {
    change(stopped);
    thread_.join();
  }
  void start(std::function<void()> work) {
    work_ = std::move(work);
    processors_.emplace().arrive();
    change(working);
  }
  void finish() {
    wait_while(working, patience);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  enum Phase : int { idle, working, stopped };

  void change(Phase to) {
    phase_.store(to, std::memory_order_release);
    phase_.notify_all();
  }
  void wait_while(Phase phase, Clock::duration looking_out) {
    const auto until = Clock::now() + looking_out;
    do {
      for (int k = 0; k < 64; ++k) {
        if (phase_.load(std::memory_order_acquire) != phase) return;
        pause();
      }
      std::this_thread::yield();  // to the other one, should it have no core
    } while (Clock::now() < until);
    phase_.wait(phase, std::memory_order_acquire);
  }
  void run() {
    // Between multiplies it looks out no longer than one has taken: it is busy half of the time at least.
    for (Clock::duration last{};;) {
      wait_while(idle, std::min(last, patience));
      if (phase_.load(std::memory_order_acquire) == stopped) return;
      const auto start = Clock::now();
      processors_->arrive();  // the other one waits for MPI without sleeping
      try {
        work_();
      } catch (...) {
        error_ = std::current_exception();
      }
      last = Clock::now() - start;
      change(idle);
    }
  }

  std::atomic<Phase> phase_ = idle;  ///< what is below belongs to the helper while it works, else to the other thread
  std::function<void()> work_;
  std::optional<TeamProcessors> processors_;  ///< of the two
  std::exception_ptr error_;
  std::thread thread_;  // the last one: it uses the others
};

Helper* helper = nullptr;

}  // namespace

bool has_processor_for_helper() {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) > 1;
}

void start_helper(std::function<void()> work) {
  if (helper == nullptr) helper = new Helper;
  helper->start(std::move(work));
}

void finish_helper() { helper->finish(); }

PetscErrorCode stop_helper() {
  PetscFunctionBegin;
  delete std::exchange(helper, nullptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace spmvpack::petsc
