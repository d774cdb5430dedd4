#pragma once
/// A container in device memory, and y = alpha A x + beta y on a GPU. Needs no CUDA header; in a build without CUDA
/// every function that would need a device throws Error(errc::unsupported) "built without CUDA".

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/multiply.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/container/reader.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"

struct CUstream_st;

namespace spmvpack::gpu_loader {

/// CUDA's cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

/// alpha or beta: a value, or a place in device memory that is read when the multiply runs.
template <class T>
struct Scalar {
  Scalar(T v) : value(v) {}  // NOLINT(google-explicit-constructor): a number is a Scalar
  static Scalar on_device(const T* place) {
    Scalar s(T{});
    s.device = place;
    return s;
  }
  T value;
  const T* device = nullptr;
};

/// Where a DeviceMatrix takes its memory from. Default: cudaMalloc and cudaFree. `allocate` returns memory on a
/// boundary of 256 bytes that the load's stream may use at once, or throws or returns null where there is none. The
/// memory is given back when the last copy of the matrix goes. Besides, a load takes up to 1 MiB from cudaMalloc until
/// it ends, and a bit for each row or column of the matrix if a part lists its rows or columns.
struct DeviceAllocator {
  std::function<void*(std::uint64_t bytes)> allocate;
  std::function<void(void* memory)> release;
};

struct DeviceLoadOptions {
  int threads = 0;                                      ///< that read, hash and inflate; 0: all
  std::uint64_t ring_bytes = std::uint64_t{64} << 20U;  ///< at most, of pinned host memory that the bytes pass through
  bool verify_checksums = true;                         ///< of every block, while it passes
  bool check_structure = true;                          ///< on the device; without it only files that one trusts
  std::uint64_t memory_limit = 0;                       ///< on allocated_bytes(), 0: what is free
  ProgressCallback progress;
  DeviceAllocator allocator;
  /// Kernels that multiplies will ask for (KernelId{}: each part's default); of a layout of which none is named, its
  /// first. What others need at load (KernelInfo::prepared) is not made.
  std::vector<KernelId> kernels;
};

/// A matrix loaded from a container into the current device's memory, every section as it lies in the file. Immutable;
/// copies share it. multiply() may run on several streams at once, with a workspace each.
class SPMVPACK_EXPORT DeviceMatrix {
 public:
  /// Loads every part; returns when all is on the device and checked. Uses `stream` for every copy and kernel.
  /// Errors: errc::no_device; errc::out_of_memory where the limit does not hold the matrix; errc::corrupt (checksum or
  /// structure); errc::unsupported (a layout that this version does not know; ccoo of fewer than 32 lanes in a chunk,
  /// which no encoder makes); errc::usage (a kernel of the options that no part has).
  static DeviceMatrix load(const Container& container, Stream stream = nullptr, const DeviceLoadOptions& options = {});
  static DeviceMatrix load(const std::string& path, Stream stream = nullptr, const DeviceLoadOptions& options = {});

  [[nodiscard]] const MatrixFacts& facts() const;
  /// Raw bytes of the sections that a multiply reads.
  [[nodiscard]] std::uint64_t device_bytes() const;
  /// Device memory that the matrix holds: sections and maps with the padding between them, and what was made at load.
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  /// Of these, what was made at load for kernels that need it (the row blocks of csr's `ipcsr`).
  [[nodiscard]] std::uint64_t prepared_bytes() const;
  /// The kernels of the matrix's layouts, those of the first part first.
  [[nodiscard]] std::vector<KernelInfo> kernels() const;
  /// Device bytes that one such multiply needs as its workspace, exactly; 0 is common. Errors: as multiply().
  [[nodiscard]] std::uint64_t workspace_bytes(const MultiplyDescription& description) const;

  /// y = alpha A x + beta y, in device memory, on `stream`: one kernel or a few, no allocation, no synchronisation;
  /// may be captured into a graph. T is double or float, the type of x, y and of every product and sum; an f32 matrix
  /// takes both, an f64 matrix double. x has facts().cols elements and y facts().rows, on boundaries of an element;
  /// they do not overlap. y is not read where beta is 0, x not where alpha is 0 (y then becomes beta y). `workspace` is
  /// device memory on a boundary of 256 bytes that no other multiply uses meanwhile. Parts whose layout is not that of
  /// the description's kernel use their default; whether a scalar is on the device is said by the Scalar. Errors, all
  /// before anything is launched: errc::unsupported (an operation, or a number of right-hand sides, that no kernel does
  /// yet); errc::usage (what does not fit the matrix or T, or a kernel that no part has or that was not prepared);
  /// errc::no_device if a launch fails.
  template <class T>
  void multiply(std::type_identity_t<Scalar<T>> alpha, std::span<const T> x, std::type_identity_t<Scalar<T>> beta,
                std::span<T> y, std::span<std::byte> workspace, Stream stream,
                const MultiplyDescription& description = describe<T>()) const;

  /// The same with x and y in host memory: allocates, copies, multiplies and waits. For trials and tests.
  template <class T>
  void multiply_host_vectors(T alpha, std::span<const T> x, T beta, std::span<T> y,
                             const MultiplyDescription& description = describe<T>()) const;

  struct Impl;

 private:
  explicit DeviceMatrix(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// A DeviceMatrix with one workspace: the convenient way to multiply by one description, from one stream at a time.
class SPMVPACK_EXPORT DeviceMultiplier {
 public:
  /// The plain multiply, with vectors of the matrix's type.
  explicit DeviceMultiplier(DeviceMatrix matrix);
  /// Allocates the workspace of such a multiply.
  DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description);

  [[nodiscard]] const DeviceMatrix& matrix() const noexcept { return matrix_; }
  /// DeviceMatrix::multiply with the own workspace and description, of whose vectors T is the type.
  template <class T>
  void multiply(std::type_identity_t<Scalar<T>> alpha, std::span<const T> x, std::type_identity_t<Scalar<T>> beta,
                std::span<T> y, Stream stream) const {
    matrix_.multiply<T>(alpha, x, beta, y, {static_cast<std::byte*>(workspace_.get()), bytes_}, stream, description_);
  }

 private:
  DeviceMatrix matrix_;
  MultiplyDescription description_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<void> workspace_;
};

}  // namespace spmvpack::gpu_loader
