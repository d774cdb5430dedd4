#include "helper.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace spmvpack::petsc {
namespace {

class Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() {
    change([this] { stop_ = true; });
    thread_.join();
  }
  void start(std::function<void()> work) {
    change([&] { work_ = std::move(work); });
  }
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !work_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  template <class F>
  void change(F&& f) {
    {
      const std::lock_guard lock(mutex_);
      f();
    }
    changed_.notify_all();
  }
  void run() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return stop_ || work_; });
      if (stop_) return;
      lock.unlock();
      std::exception_ptr error;
      try {
        work_();
      } catch (...) {
        error = std::current_exception();
      }
      change([&] {
        error_ = std::move(error);
        work_ = nullptr;
      });
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;  // the last one: it uses the others
};

Helper* helper = nullptr;

}  // namespace

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
