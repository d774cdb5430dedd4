#pragma once
// Memory of an encoding, counted and held to a limit: buffers of passes, and the sections that remain.

#include <cstdint>
#include <functional>
#include <memory>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_encoder {

struct MemorySource {
  gpu_loader::DeviceAllocator scratch;  ///< of what passes share, aligned to 256 bytes
  gpu_loader::DeviceAllocator kept;     ///< of the sections
  /// Waits until passes no longer use what has been released; memory is given back after that. Null: the sources keep
  /// the order themselves.
  std::function<void()> settle = {};
};

class Memory {
 public:
  enum class Use { scratch, kept };

  /// `limit`: of what is held at a time; 0: none.
  Memory(MemorySource source, std::uint64_t limit);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  /// Gives back everything that has been released. What is kept goes back to its source by itself, from now on.
  ~Memory();

  /// Null for 0 bytes. Error(errc::out_of_memory).
  [[nodiscard]] std::shared_ptr<void> get(std::uint64_t bytes, Use use);
  /// Error(errc::out_of_memory) if so many more would exceed the limit.
  void require(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t held() const;
  [[nodiscard]] std::uint64_t peak() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// An array of a pass, or of a section; given back at its end.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Memory& memory, std::uint64_t size, Memory::Use use)
      : memory_(memory.get(checked_mul(size, sizeof(T), "bytes of a buffer"), use)), size_(size) {}
  Buffer(Buffer&& o) noexcept = default;
  Buffer& operator=(Buffer&& o) noexcept = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  /// For kernels to read and write, too.
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] const std::shared_ptr<void>& memory() const noexcept { return memory_; }
  void release() { *this = Buffer(); }

 private:
  std::shared_ptr<void> memory_;
  std::uint64_t size_ = 0;
};

/// What passes have memory from, whatever executes them.
class WithMemory {
 public:
  explicit WithMemory(Memory& memory) : memory_(&memory) {}

  [[nodiscard]] Memory& memory() const { return *memory_; }
  /// Scratch memory, uninitialised.
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::uint64_t size) const {
    return {*memory_, size, Memory::Use::scratch};
  }

 private:
  Memory* memory_;
};

}  // namespace spmvpack::gpu_encoder
