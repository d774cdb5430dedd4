#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack {

namespace detail {
/// Allocates `bytes` > 0 bytes on a 64-byte boundary; large blocks use huge pages. Error(errc::out_of_memory).
SPMVPACK_EXPORT void* allocate(std::uint64_t bytes);
SPMVPACK_EXPORT void release(void* memory) noexcept;
}  // namespace detail

/// An owning array of trivial elements on a 64-byte boundary. Unlike std::vector, it does not touch its memory on
/// construction: matrices are large, and the threads that fill them should be the first to touch their pages. It is
/// counted against the current budget (memory.hpp).
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  /// `size` uninitialised elements. Error(errc::out_of_memory) if the budget or the allocation fails.
  explicit Array(std::uint64_t size) : size_(size) {
    if (size > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T))
      throw Error(errc::out_of_memory, "an array of " + std::to_string(size) + " elements is beyond the address space");
    if (size == 0) return;
    counted_ = MemoryReservation(size * sizeof(T));
    data_ = static_cast<T*>(detail::allocate(size * sizeof(T)));
  }
  Array(std::uint64_t size, T value) : Array(size) {
    for (T& e : *this) e = value;
  }
  Array(Array&& o) noexcept
      : counted_(std::move(o.counted_)), data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  Array& operator=(Array&& o) noexcept {
    std::swap(counted_, o.counted_);
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (data_ != nullptr) detail::release(data_);
  }

  [[nodiscard]] Array clone() const {
    Array copy(size_);
    if (size_ != 0) std::memcpy(copy.data_, data_, size_ * sizeof(T));
    return copy;
  }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::uint64_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::uint64_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  /// Drops the elements past `size`; the memory stays allocated.
  void truncate(std::uint64_t size) noexcept { size_ = size < size_ ? size : size_; }

 private:
  MemoryReservation counted_;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace spmvpack
