#include "upload.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "cuda_error.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::gpu_loader {
namespace {

/// A copy of 4 MiB costs the driver as much as one of 1 MiB and fills the bus as well as a larger one.
constexpr std::uint64_t blocks_per_transfer = 4;

/// Pinned memory in equal slots, each free once the copy out of it has ended.
class Ring {
 public:
  Ring(std::uint64_t slots, std::uint64_t slot_bytes) : slot_bytes_(slot_bytes) {
    void* memory = nullptr;
    require_cuda(cudaHostAlloc(&memory, slots * slot_bytes, cudaHostAllocDefault), "allocating pinned memory");
    memory_.reset(static_cast<std::byte*>(memory));
    slots_ = std::vector<Slot>(slots);
    for (Slot& slot : slots_)
      require_cuda(cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming | cudaEventBlockingSync),
                   "making an event");
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (Slot& slot : slots_)
      if (slot.copied != nullptr) cudaEventDestroy(slot.copied);
  }

  /// Transfer i of a sequence: fill(bytes of its slot), then the copy to `to`, on `stream`.
  template <class Fill>
  void pass(std::uint64_t i, std::uint64_t bytes, std::byte* to, Stream stream, Fill&& fill) {
    const std::uint64_t index = i % slots_.size();
    Slot& slot = slots_[index];
    const std::lock_guard lock(slot.guard);
    if (slot.used) require_cuda(cudaEventSynchronize(slot.copied), "waiting for a copy");
    const std::span<std::byte> room{memory_.get() + index * slot_bytes_, bytes};
    fill(room);
    require_cuda(cudaMemcpyAsync(to, room.data(), bytes, cudaMemcpyHostToDevice, stream), "copying to the GPU");
    slot.used = true;
    require_cuda(cudaEventRecord(slot.copied, stream), "recording an event");
  }

 private:
  struct Slot {
    std::mutex guard;
    cudaEvent_t copied = nullptr;
    bool used = false;
  };
  struct FreePinned {
    void operator()(std::byte* memory) const { cudaFreeHost(memory); }
  };
  std::uint64_t slot_bytes_;
  std::unique_ptr<std::byte, FreePinned> memory_;
  std::vector<Slot> slots_;
};

/// Waits for the copies also where an exception passes: the ring must outlive them.
class Drain {
 public:
  explicit Drain(Stream stream) : stream_(stream) {}
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() { cudaStreamSynchronize(stream_); }

 private:
  Stream stream_;
};

}  // namespace

void upload(const Container& container, const Placement& placement, std::byte* memory, Stream stream,
            const DeviceLoadOptions& options) {
  // At least two slots of one block, so that one fills while the other is copied.
  const std::uint64_t ring_blocks = std::max<std::uint64_t>(options.ring_bytes / format::block_bytes, 2);
  const std::uint64_t slot_blocks = std::min(blocks_per_transfer, ring_blocks / 2);
  const std::vector<Transfer> all = transfers(container.sections(), placement, slot_blocks);
  if (all.empty()) return;
  const std::uint64_t slots = std::min<std::uint64_t>(ring_blocks / slot_blocks, all.size());
  std::uint64_t largest = 0, total = 0, done = 0;
  for (const Transfer& t : all) {
    largest = std::max(largest, t.bytes);
    total += t.bytes;
  }
  const int threads =
      static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(thread_count(options.threads)), slots));
  int device = 0;
  require_cuda(cudaGetDevice(&device), "asking for the current GPU");
  Ring ring(slots, largest);
  const Drain drain(stream);
  constexpr std::uint64_t transfers_per_report = 64;
  for (std::uint64_t first = 0; first < all.size(); first += transfers_per_report) {
    const std::uint64_t count = std::min<std::uint64_t>(transfers_per_report, all.size() - first);
    parallel_for(count, threads, [&](std::uint64_t i) {
      require_cuda(cudaSetDevice(device), "choosing the GPU");  // a thread's own setting
      const Transfer& t = all[first + i];
      ring.pass(first + i, t.bytes, memory + t.to, stream, [&](std::span<std::byte> room) {
        for (std::uint64_t b = 0; b < t.count; ++b) {
          const std::uint64_t begin = b * format::block_bytes;
          container.read_block(t.section, t.first_block + b,
                               room.subspan(begin, std::min(format::block_bytes, t.bytes - begin)),
                               options.verify_checksums);
        }
      });
    });
    for (std::uint64_t i = 0; i < count; ++i) done += all[first + i].bytes;
    report_progress(options.progress, "load", done, total);
  }
  require_cuda(cudaStreamSynchronize(stream), "copying to the GPU");
}

}  // namespace spmvpack::gpu_loader
