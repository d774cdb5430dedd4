#include "upload.hpp"

#include <algorithm>
#include <mutex>

#include "cuda_error.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::gpu_loader {
namespace {

constexpr std::uint64_t slot_bytes = format::block_bytes;

/// Host memory that the GPU copies from directly.
class PinnedMemory {
 public:
  PinnedMemory(std::uint64_t bytes, int threads) : memory_(bytes) {
    // Array's large pages, touched by all threads, are pinned much faster than cudaHostAlloc makes its own.
    constexpr std::uint64_t page = 4096, piece = std::uint64_t{2} << 20U;
    parallel_pieces(bytes, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t at = begin; at < end; at += page) memory_[at] = std::byte{0};
    });
    require_cuda(cudaHostRegister(memory_.data(), bytes, cudaHostRegisterDefault), "pinning memory");
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { cudaHostUnregister(memory_.data()); }
  [[nodiscard]] std::byte* data() noexcept { return memory_.data(); }

 private:
  Array<std::byte> memory_;
};

/// Pinned memory in slots of a block, each free once the copy out of it has ended.
class Ring {
 public:
  Ring(std::uint64_t slots, int threads) : memory_(slots * slot_bytes, threads), slots_(slots) {}

  /// Transfer i of a sequence: fill(bytes of its slot), then the copy to `to`, on `stream`.
  template <class Fill>
  void pass(std::uint64_t i, std::uint64_t bytes, std::byte* to, Stream stream, Fill&& fill) {
    const std::uint64_t index = i % slots_.size();
    Slot& slot = slots_[index];
    const std::lock_guard lock(slot.guard);
    if (slot.used) require_cuda(cudaEventSynchronize(slot.copied), "waiting for a copy");
    const std::span<std::byte> room{memory_.data() + index * slot_bytes, bytes};
    fill(room);
    require_cuda(cudaMemcpyAsync(to, room.data(), bytes, cudaMemcpyHostToDevice, stream), "copying to the GPU");
    slot.used = true;
    require_cuda(cudaEventRecord(slot.copied, stream), "recording an event");
  }

 private:
  struct Slot {
    Slot() {
      require_cuda(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming | cudaEventBlockingSync),
                   "making an event");
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { cudaEventDestroy(copied); }
    std::mutex guard;
    cudaEvent_t copied = nullptr;
    bool used = false;
  };

  PinnedMemory memory_;
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
  const std::vector<Transfer> all = transfers(container.sections(), placement);
  if (all.empty()) return;
  // Two slots a thread, so that one fills while the other is copied; pinning more takes time and gains none.
  const std::uint64_t within = std::max<std::uint64_t>(options.ring_bytes / slot_bytes, 2);
  const auto wanted = static_cast<std::uint64_t>(thread_count(options.threads));
  const auto slots = std::min<std::uint64_t>({within, 2 * wanted, all.size()});
  const auto threads = static_cast<int>(std::min(wanted, slots));
  std::uint64_t total = 0, done = 0;
  for (const Transfer& t : all) total += t.bytes;
  int device = 0;
  require_cuda(cudaGetDevice(&device), "asking for the current GPU");
  Ring ring(slots, threads);
  const Drain drain(stream);
  constexpr std::uint64_t transfers_per_report = 512;
  for (std::uint64_t first = 0; first < all.size(); first += transfers_per_report) {
    const std::uint64_t count = std::min<std::uint64_t>(transfers_per_report, all.size() - first);
    parallel_for(count, threads, [&](std::uint64_t i) {
      require_cuda(cudaSetDevice(device), "choosing the GPU");  // a thread's own setting
      const Transfer& t = all[first + i];
      ring.pass(first + i, t.bytes, memory + t.to, stream, [&](std::span<std::byte> room) {
        container.read_block(t.section, t.block, room, options.verify_checksums);
      });
    });
    for (std::uint64_t i = 0; i < count; ++i) done += all[first + i].bytes;
    report_progress(options.progress, "load", done, total);
  }
  require_cuda(cudaStreamSynchronize(stream), "copying to the GPU");
}

}  // namespace spmvpack::gpu_loader
