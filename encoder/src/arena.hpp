#pragma once
/// Memory for many arrays that live and die together.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "spmvpack/container/array.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack::encoder {

/// Cuts arrays out of few large pieces, which get huge pages: the first touch of ordinary pages costs as much time as
/// parsing the numbers that go there. Any thread may take.
class Arena {
 public:
  /// `count` uninitialised elements on a 64-byte boundary. Error(errc::out_of_memory).
  template <class T>
  std::span<T> take(std::uint64_t count) {
    constexpr std::uint64_t cache_line = 64;
    return {reinterpret_cast<T*>(take_bytes(round_up(count * sizeof(T), cache_line))), count};
  }

 private:
  std::byte* take_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(guard_);
    if (pieces_.empty() || bytes > pieces_.back().size() - used_) {
      pieces_.emplace_back(std::max(bytes, piece_bytes_));
      piece_bytes_ = std::min(2 * piece_bytes_, max_piece_bytes);
      used_ = 0;
    }
    used_ += bytes;
    return pieces_.back().data() + used_ - bytes;
  }

  static constexpr std::uint64_t max_piece_bytes = std::uint64_t{32} << 20;
  std::uint64_t piece_bytes_ = std::uint64_t{1} << 20;
  std::mutex guard_;
  std::vector<Array<std::byte>> pieces_;
  std::uint64_t used_ = 0;  ///< bytes of the last piece
};

}  // namespace spmvpack::encoder
