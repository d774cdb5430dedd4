#pragma once
/// Memory for many arrays that are created together and released one by one.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// Carves arrays out of a few large pieces, which get huge pages: touching ordinary pages for the first time takes as
/// long as parsing the numbers that go there. Thread-safe. A piece lives as long as any of its parts has an owner.
class Arena {
 public:
  struct Part {
    std::byte* bytes = nullptr;  ///< uninitialised
    std::shared_ptr<void> owner;
  };
  /// Takes `bytes` bytes, a multiple of the alignment that all parts need. Error(errc::out_of_memory).
  Part take(std::uint64_t bytes) {
    const std::lock_guard lock(guard_);
    if (!piece_ || bytes > piece_->memory.size() - used_) {
      piece_ = std::make_shared<Piece>(std::max(bytes, std::clamp(taken_ / 16, min_piece_bytes, max_piece_bytes)));
      used_ = 0;
    }
    piece_->counted.grow(bytes, "the list of entries");
    used_ += bytes;
    taken_ += bytes;
    return {piece_->memory.data() + used_ - bytes, piece_};
  }

 private:
  struct Piece {
    explicit Piece(std::uint64_t bytes) : memory(uncounted(bytes)) {}
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    /// Returns the pages right away, whatever the allocator does: their next user finds them mapped and cached.
    ~Piece() {
      constexpr std::uint64_t page = 4096;  // Array aligns memory of this size to huge pages
      ::madvise(memory.data(), memory.size() / page * page, MADV_DONTNEED);
    }
    static Array<std::byte> uncounted(std::uint64_t bytes) {
      const MemoryScope none{MemoryScope::Uncounted{}};
      return Array<std::byte>(bytes);
    }
    Array<std::byte> memory;
    MemoryReservation counted;  ///< of what has been taken: nobody touches the rest
  };

  static constexpr std::uint64_t min_piece_bytes = std::uint64_t{4} << 20, max_piece_bytes = std::uint64_t{64} << 20;
  std::mutex guard_;
  std::shared_ptr<Piece> piece_;
  std::uint64_t used_ = 0;   ///< bytes of the piece
  std::uint64_t taken_ = 0;  ///< bytes of all pieces
};

}  // namespace spmvpack
