#pragma once
/// The values of a matrix from those of a list of entries, on a GPU: DeviceMatrix::update_values() takes the result. In
/// a build without CUDA, of() throws Error(errc::unsupported) "built without CUDA".

#include <cstdint>
#include <memory>
#include <span>

#include "spmvpack/container/matrix/assembly.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// An AssemblyMap in the current device's memory. Copies share it.
class SPMVPACK_EXPORT DeviceAssembly {
 public:
  /// Copies what sum() needs, and returns when it is there: 4 bytes for each element of the list that is not ignored
  /// and for each entry of the matrix (8 from 2^32 - 1 elements on). Errors: errc::no_device; errc::out_of_memory.
  static DeviceAssembly of(const AssemblyMap& map, Stream stream = nullptr, const DeviceAllocator& allocator = {});

  [[nodiscard]] std::uint64_t nnz() const noexcept { return nnz_; }
  [[nodiscard]] std::uint64_t list_size() const noexcept { return list_size_; }
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept { return bytes_; }

  /// AssemblyMap::sum() of arrays in device memory, with its bits, on `stream`. No allocation, no synchronisation; can
  /// be captured into a CUDA graph. Errors: errc::usage if a size is wrong; errc::no_device if the launch fails.
  template <class T>
  void sum(std::span<const T> list, std::span<T> values, InsertMode mode, Stream stream) const;

 private:
  DeviceAssembly() = default;
  std::uint64_t nnz_ = 0, list_size_ = 0, bytes_ = 0;
  [[maybe_unused]] bool wide_ = false;  ///< whether the numbers have 64 bits; builds without CUDA do not ask
  std::shared_ptr<void> memory_;        ///< nnz + 1 numbers of where an entry's positions begin, then the positions
};

}  // namespace spmvpack::gpu_loader
