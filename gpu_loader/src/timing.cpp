#include "spmvpack/gpu_loader/timing.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include "kernels/wait.hpp"
#include "matrix.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {
namespace {

// Longer than it takes to launch a multiply. A warm run waits so long on the GPU before it starts.
constexpr double launch_seconds = 60e-6;

struct StreamDeleter {
  void operator()(CUstream_st* stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
};
struct EventDeleter {
  void operator()(CUevent_st* event) const { static_cast<void>(cudaEventDestroy(event)); }
};

/// At least one byte.
std::shared_ptr<void> device_bytes(std::uint64_t bytes) { return allocate({}, std::max<std::uint64_t>(bytes, 1)); }

std::unique_ptr<CUevent_st, EventDeleter> make_event() {
  cudaEvent_t event = nullptr;
  require_cuda(cudaEventCreate(&event), "making an event");
  return std::unique_ptr<CUevent_st, EventDeleter>(event);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T>
MultiplyTimes measure(const DeviceMatrix& matrix, DeviceTimer& timer, double seconds) {
  const std::uint64_t cols = matrix.facts().cols, rows = matrix.facts().rows;
  const std::shared_ptr<void> x = device_bytes(cols * sizeof(T)), y = device_bytes(rows * sizeof(T));
  // Bytes that are a normal number of either type.
  require_cuda(cudaMemset(x.get(), 0x3F, cols * sizeof(T)), "making x");
  const DeviceMultiplier multiplier(matrix, describe<T>());
  const auto multiply = [&] {
    multiplier.multiply<T>(T{1}, {static_cast<const T*>(x.get()), cols}, T{0},
                           DenseView<T>(static_cast<T*>(y.get()), rows), timer.stream());
  };
  return time_runs({[&](bool cold) { return timer.run(multiply, cold); }, [] { return now(); }}, seconds);
}

}  // namespace

struct DeviceTimer::Impl {
  std::unique_ptr<CUstream_st, StreamDeleter> stream;
  std::unique_ptr<CUevent_st, EventDeleter> begin = make_event(), end = make_event();
  std::shared_ptr<void> buffer = device_bytes(flush_bytes);
  int turn = 0;
};

DeviceTimer::DeviceTimer() {
  require_device_code();
  impl_ = std::make_shared<Impl>();
  cudaStream_t stream = nullptr;
  require_cuda(cudaStreamCreate(&stream), "making a stream");
  impl_->stream.reset(stream);
}

Stream DeviceTimer::stream() const noexcept { return impl_->stream.get(); }

double DeviceTimer::run(const std::function<void()>& work, bool cold) {
  // Either way the GPU is busy while the work is launched: the time between the events is the GPU's alone.
  if (cold)
    require_cuda(cudaMemsetAsync(impl_->buffer.get(), ++impl_->turn & 0xFF, flush_bytes, stream()),
                 "flushing the cache");
  else
    wait_on_device(launch_seconds, stream());
  require_cuda(cudaEventRecord(impl_->begin.get(), stream()), "recording an event");
  work();
  require_cuda(cudaEventRecord(impl_->end.get(), stream()), "recording an event");
  require_cuda(cudaEventSynchronize(impl_->end.get()), "multiplying");
  float milliseconds = 0;
  require_cuda(cudaEventElapsedTime(&milliseconds, impl_->begin.get(), impl_->end.get()), "reading the time");
  return static_cast<double>(milliseconds) * 1e-3;
}

MeasureMultiply measure_on_device(int device, int threads) {
  // Made when it is first needed, and once for all containers.
  return [device, threads, made = std::make_shared<std::unique_ptr<DeviceTimer>>()](const Container& container,
                                                                                    double seconds) {
    const CurrentDevice current(device);
    if (!*made) *made = std::make_unique<DeviceTimer>();
    DeviceTimer& timer = **made;
    DeviceLoadOptions options;
    options.threads = threads;
    options.verify_checksums = options.check_structure = false;
    options.kernels = {KernelId{}};
    const DeviceMatrix matrix = DeviceMatrix::load(container, timer.stream(), options);
    return dispatch(matrix.facts().value_type, [&]<class T>(T) { return measure<T>(matrix, timer, seconds); });
  };
}

}  // namespace spmvpack::gpu_loader
