#include "upload.hpp"

#include <algorithm>
#include <thread>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"

namespace spmvpack::gpu_loader {
namespace {

/// Host memory that the GPU copies from directly.
class PinnedMemory {
 public:
  PinnedMemory(std::uint64_t bytes, int threads) : memory_(bytes) {
    // Pinning Array's huge pages, after all threads have touched them, is much faster than cudaHostAlloc.
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

/// Pinned memory in slots; each is free once the copy out of it has ended. Every worker has its own slots and uses them
/// in turn: no worker waits for what another is reading, and a slot stays in one core's cache.
class Ring {
 public:
  explicit Ring(const RingShape& shape)
      : slot_bytes_(shape.slot_blocks * format::block_bytes),
        each_(shape.slots / static_cast<std::uint64_t>(shape.threads)),
        memory_(shape.slots * slot_bytes_, shape.threads),
        slots_(shape.slots),
        turns_(static_cast<std::size_t>(shape.threads)) {}

  /// Calls fill() with the first `bytes` bytes of a slot of `worker`, then copies them to `to` on `stream`.
  template <class Fill>
  void pass(std::uint64_t worker, std::uint64_t bytes, std::byte* to, Stream stream, Fill&& fill) {
    const std::uint64_t index = worker * each_ + turns_[worker].next++ % each_;
    const Slot& slot = slots_[index];
    std::byte* const memory = memory_.data() + index * slot_bytes_;
    slot.wait();
    fill(std::span(memory, bytes));
    require_cuda(cudaMemcpyAsync(to, memory, bytes, cudaMemcpyHostToDevice, stream), "copying to the GPU");
    require_cuda(cudaEventRecord(slot.copied, stream), "recording an event");
  }

 private:
  struct Slot {
    Slot() { require_cuda(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), "creating an event"); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { cudaEventDestroy(copied); }
    /// Polls, because a sleeping thread would wake up too late for the next copy to follow at once.
    void wait() const {
      cudaError_t status = cudaEventQuery(copied);
      for (; status == cudaErrorNotReady; status = cudaEventQuery(copied)) {
        static_cast<void>(cudaGetLastError());  // otherwise the next launch would report it
        std::this_thread::yield();
      }
      require_cuda(status, "waiting for a copy");
    }
    cudaEvent_t copied = nullptr;
  };
  struct alignas(64) Turn {  // one cache line per worker
    std::uint64_t next = 0;
  };

  std::uint64_t slot_bytes_, each_;
  PinnedMemory memory_;
  std::vector<Slot> slots_;
  std::vector<Turn> turns_;
};

/// Waits for the copies, even if an exception is thrown: the ring must outlive them.
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

std::shared_ptr<void> upload(const Container& container, const Placement& placement, std::byte* memory, Stream stream,
                             const DeviceLoadOptions& options) {
  const std::vector<SectionInfo>& sections = container.sections();
  std::uint64_t blocks = 0, total = 0, done = 0;
  bool inflate = false;
  for (const Placed& placed : placement.sections) {
    blocks += sections[placed.section].block_count;
    total += sections[placed.section].raw_bytes;
    inflate = inflate || sections[placed.section].codec != format::Codec::none;
  }
  if (blocks == 0) return nullptr;
  const RingShape shape = ring_shape(options.ring_bytes, thread_count(options.threads), blocks, inflate);
  const CountedVector<Transfer> all = transfers(sections, placement, shape.slot_blocks);
  int device = 0;
  require_cuda(cudaGetDevice(&device), "querying the current GPU");
  const auto ring = std::make_shared<Ring>(shape);
  const Drain drain(stream);
  constexpr std::uint64_t transfers_per_report = 512;
  for (std::uint64_t first = 0; first < all.size(); first += transfers_per_report) {
    const std::uint64_t count = std::min<std::uint64_t>(transfers_per_report, all.size() - first);
    parallel_for(count, shape.threads, [&](std::uint64_t i, std::uint64_t worker) {
      require_cuda(cudaSetDevice(device), "choosing the GPU");  // a per-thread setting
      const Transfer& t = all[first + i];
      ring->pass(worker, t.bytes, memory + t.to, stream, [&](std::span<std::byte> room) {
        for (std::uint64_t block = t.block; !room.empty(); ++block) {
          const auto piece = room.first(std::min<std::size_t>(room.size(), format::block_bytes));
          container.read_block(t.section, block, piece, options.verify_checksums);
          room = room.subspan(piece.size());
        }
      });
    });
    for (std::uint64_t i = 0; i < count; ++i) done += all[first + i].bytes;
    report_progress(options.progress, "load", done, total);
  }
  require_cuda(cudaStreamSynchronize(stream), "copying to the GPU");
  return ring;
}

}  // namespace spmvpack::gpu_loader
