#pragma once
/// Memory for many arrays that are made together and given back bit by bit.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "spmvpack/container/array.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack::encoder {

/// Cuts arrays out of few large pieces, which get huge pages: the first touch of ordinary pages costs as much time as
/// parsing the numbers that go there. Any thread may take. A piece lives as long as anybody owns a part of it.
class Arena {
 public:
  struct Part {
    std::byte* bytes = nullptr;  ///< uninitialised
    std::shared_ptr<void> owner;
  };
  /// `bytes`, a multiple of the boundary that all parts are to lie on. Error(errc::out_of_memory).
  Part take(std::uint64_t bytes) {
    const std::lock_guard lock(guard_);
    if (!piece_ || bytes > piece_->memory.size() - used_) {
      piece_ = std::make_shared<Piece>(std::max(bytes, std::clamp(taken_ / 16, min_piece_bytes, max_piece_bytes)));
      used_ = 0;
    }
    used_ += bytes;
    taken_ += bytes;
    return {piece_->memory.data() + used_ - bytes, piece_};
  }

 private:
  struct Piece {
    explicit Piece(std::uint64_t bytes) : memory(bytes) {}
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    /// The pages go back now, whatever the allocator thinks: what takes them next finds them mapped and in a cache.
    ~Piece() {
      constexpr std::uint64_t page = 4096;  // Array puts what is as large on a boundary of huge pages
      ::madvise(memory.data(), memory.size() / page * page, MADV_DONTNEED);
    }
    Array<std::byte> memory;
  };

  static constexpr std::uint64_t min_piece_bytes = std::uint64_t{4} << 20, max_piece_bytes = std::uint64_t{64} << 20;
  std::mutex guard_;
  std::shared_ptr<Piece> piece_;
  std::uint64_t used_ = 0;   ///< bytes of the piece
  std::uint64_t taken_ = 0;  ///< bytes of all pieces
};

}  // namespace spmvpack::encoder
