#pragma once
/// A container in device memory, and y = alpha op(A) x + beta y on a GPU. Needs no CUDA headers. In a build without
/// CUDA, every function that needs a device throws Error(errc::unsupported) "built without CUDA".

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"

struct CUstream_st;

namespace spmvpack::gpu_loader {

/// CUDA's cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

/// alpha or beta: a value, or an address in device memory that is read when the multiply runs.
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
  bool negated = false;  ///< of what is at `device`, its negative
};

/// Where a DeviceMatrix gets its memory. Default: cudaMalloc and cudaFree. `allocate` returns memory aligned to 256
/// bytes that the load's stream may use at once; if there is none, it throws or returns null. The memory is released
/// with the last copy of the matrix. Some is released when the load ends: up to 1 MiB, plus, for the check of one
/// part at a time, one bit for each row or column of the matrix if it lists them, one or two bits per row of amb, pkt
/// and sjds, 4 bytes per partial sum of amb, and 4 bytes per block of csell with mirrors; and, while windows of x are
/// made, one byte per slice of csell.
struct DeviceAllocator {
  std::function<void*(std::uint64_t bytes)> allocate;
  std::function<void(void* memory)> release;
};

/// DeviceLoadOptions::cache_share for solvers, and the most that pays. For matrices that take more than the default
/// share, consecutive multiplies take 5 to 23 % less time, and others 1 to 11 % more (docs/BENCHMARKS.md, "What stays
/// in the L2 cache").
inline constexpr double solver_cache_share = 0.7;

struct DeviceLoadOptions {
  int threads = 0;                                      ///< for reading, hashing and decompressing; 0: all
  std::uint64_t ring_bytes = std::uint64_t{64} << 20U;  ///< largest size of the pinned host buffer for the transfer
  bool verify_checksums = true;                         ///< of every block, during the transfer
  bool check_structure = true;                          ///< on the device; disable only for trusted files
  bool check_contents = false;     ///< check_contents() on the host first, in available_memory(); see LoadOptions
  std::uint64_t memory_limit = 0;  ///< for allocated_bytes(); 0: the free device memory
  /// The matrix stays in the GPU's L2 cache from one multiply to the next if, with x and y, it takes at most this share
  /// of the cache, from 0 (it never stays) to 1. For several columns, which are multiplied one after the other, the
  /// share is at least solver_cache_share, unless it is 0. With the default, a multiply that does not find the matrix
  /// there takes up to 5 % longer. This holds for layouts csell, bitflag, amb, ccoo, ell, ellpack_r, sell and pjds.
  /// csr's kernels, except `csr/long`, always keep what they read; other layouts never do.
  double cache_share = 1.0 / 3;
  /// For update_values(): load() also stores which value of the matrix each of a part's is, 4 bytes for each slot (8
  /// from 2^32 - 2 nonzeros on; none for csr and coo of whole matrices), which allocated_bytes() counts. For a while,
  /// that takes host memory of about twice the matrix as CSR. errc::unsupported if entries of a part share values, with
  /// the remedy: encode it to be updatable.
  bool updatable = false;
  ProgressCallback progress;
  DeviceAllocator allocator;
  /// Kernels that multiplies will use (KernelId{}: each part's default). For a layout without a kernel here, all
  /// of its kernels. What other kernels need at load (KernelInfo::prepared) is not built.
  std::vector<KernelId> kernels;
};

/// A section in device memory.
struct DeviceSection {
  std::uint32_t part = 0;  ///< its index in DeviceContents::parts
  std::string name;        ///< as docs/FORMAT.md has it
  /// Its elements, aligned to 256 bytes. The size is the section's; of sections for the host alone, which no multiply
  /// reads, the address may be null.
  std::span<const std::byte> bytes;
};

/// What a container holds, as far as a multiply needs it, with its sections in device memory: the result of an encoder
/// on the device, or what another library has there.
struct DeviceContents {
  MatrixFacts facts;
  /// Those of A before those of A^T; first_section, section_count and counts are not used.
  std::vector<PartInfo> parts;
  std::vector<DeviceSection> sections;
  std::shared_ptr<const void> owner;  ///< of the sections, kept by the matrix; null: they outlive it some other way
};

/// A matrix loaded from a container into the current device's memory, byte for byte as in the file. Copies share the
/// memory, and see each other's update_values(), which is all that changes it. Concurrent multiplies on several streams
/// can share one matrix; give each its own workspace.
class SPMVPACK_EXPORT DeviceMatrix {
 public:
  /// Loads every part and returns when everything is on the device and checked. Every copy and kernel uses `stream`.
  /// Errors: errc::no_device; errc::out_of_memory (the matrix exceeds the limit); errc::corrupt (checksum or
  /// structure); errc::unsupported (an unknown layout, or ccoo chunks of fewer than 32 lanes, which encode() never
  /// writes); errc::usage (options.kernels names one that no part has).
  static DeviceMatrix load(const Container& container, Stream stream = nullptr, const DeviceLoadOptions& options = {});
  static DeviceMatrix load(const std::string& path, Stream stream = nullptr, const DeviceLoadOptions& options = {});
  /// The matrix of sections that are on the current device already: nothing is copied. `stream` must come after the
  /// work that wrote them; the options of reading do not matter; update_values() writes to the sections.
  /// allocated_bytes() are those of the sections and of what is built. Errors: as for load(), but for checksums;
  /// errc::corrupt too if parts and sections do not fit together; errc::usage (a section's address, or a part or name
  /// that is not known; options.check_contents).
  static DeviceMatrix of_sections(DeviceContents contents, Stream stream = nullptr,
                                  const DeviceLoadOptions& options = {});

  /// If the matrix is updatable, they say nothing about its values: real, general, without a digest.
  [[nodiscard]] const MatrixFacts& facts() const;
  /// The raw bytes of all sections that a multiply with A reads, or one with parts of A^T.
  [[nodiscard]] std::uint64_t device_bytes(format::Role role = format::Role::a) const;
  /// Whether multiply() can take Operation::transpose: the container has A^T, or the matrix is symmetric or skew.
  [[nodiscard]] bool has_transpose() const;
  /// Device memory that the matrix occupies: sections and maps with the padding between them, and what load() built.
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  /// The part of allocated_bytes() that was built at load: for kernels that need it (the row blocks of `csr/ipcsr`, the
  /// ends of the chunks of `csr/merge`), or are faster with it (the windows of `csell/slices`, if the memory limit
  /// leaves room for them).
  [[nodiscard]] std::uint64_t prepared_bytes() const;
  /// Its parts, those of A before those of A^T.
  [[nodiscard]] std::span<const PartInfo> parts() const;
  /// The kernels of the matrix's layouts, starting with those of the first part.
  [[nodiscard]] std::vector<KernelInfo> kernels() const;
  /// The exact size of the workspace that one such multiply needs in device memory, often 0. Errors: as for multiply().
  [[nodiscard]] std::uint64_t workspace_bytes(const MultiplyDescription& description) const;

  /// Y = alpha op(A) X + beta Y in device memory, on `stream`: one kernel or a few for up to 16 or 32 columns, if all
  /// parts have kernels for several (docs/LAYOUTS.md, "Several columns"), else for each column. Each column has the
  /// bits of a multiply with it alone, except for which NaN a NaN is; if V is std::complex<T>, its real and imaginary
  /// parts are columns. No allocation, no synchronisation; can be captured into a CUDA graph. V is the type of X's and
  /// Y's elements, T = real_of<V> (double or float) that of every product and sum; an f32 matrix takes either, an f64
  /// matrix only double. X has facts().cols rows, Y has facts().rows, or for the transpose the other way round; they
  /// have as many columns, of any strides, and vectors are one column. Both are aligned to T and do not overlap. Y is
  /// not read if beta is 0, nor X if alpha is 0 (Y then becomes beta Y). `workspace` is in device memory, aligned to
  /// 256 bytes, not used by any other multiply at the same time, and as large as workspace_bytes() says for a
  /// description of X and Y: with strided_x, or strided_y, if their columns are not contiguous; for k complex columns,
  /// with both and right_hand_sides = 2k. Parts whose layout is not the kernel's use their default kernel. Each Scalar,
  /// not the description, says whether it is on the device. With factors of rows or columns, which are in device
  /// memory, too, and aligned to T, the multiply is one with D_r A D_c (Scaling); the workspace's description then has
  /// scaled_rows or scaled_columns. Factors, as scalars on the device, are read when the multiply runs. Errors, all
  /// before anything is launched: errc::usage (something does not fit the matrix or T, there is no transpose, or the
  /// kernel is one that no part has or that was not prepared). errc::no_device if a launch fails.
  template <class V>
  void multiply(Scalar<real_of<V>> alpha, std::type_identity_t<DenseView<const V>> x, Scalar<real_of<V>> beta,
                DenseView<V> y, std::span<std::byte> workspace, Stream stream,
                const MultiplyDescription& description = describe<V>(), const Scaling<real_of<V>>& scaling = {}) const;
  /// The same for a y that is a std::span.
  template <class Y, class V = typename std::remove_reference_t<Y>::value_type>
  void multiply(Scalar<real_of<V>> alpha, std::type_identity_t<DenseView<const V>> x, Scalar<real_of<V>> beta, Y&& y,
                std::span<std::byte> workspace, Stream stream, const MultiplyDescription& description = describe<V>(),
                const Scaling<real_of<V>>& scaling = {}) const {
    multiply<V>(alpha, x, beta, DenseView<V>(y), workspace, stream, description, scaling);
  }

  /// Gives all entries new values, of A and of A^T, if the container has that: facts().nnz of them in device memory, in
  /// the order of A's CSR (rows, then columns), as `spmvpack decode` and SciPy's sorted CSR have them. V is the type of
  /// the matrix's values, or double for an f32 matrix: rounded to nearest, beyond its range to infinity (a HostMatrix
  /// refuses that). On `stream`: multiplies that the caller does not order before or after it read old values or new
  /// ones. No allocation, no synchronisation; can be captured into a CUDA graph. All or nothing: where the bits of a
  /// value say whether there is an entry (dia, and amb with blocks), +0 cannot become another value or another value
  /// +0, and the whole update is refused on the device. require_updated() then says so, and the matrix is as it was.
  /// Errors, before anything is launched: errc::usage (a wrong number of values, or the matrix was not loaded as
  /// updatable). errc::no_device if a launch fails.
  template <class V>
  void update_values(std::span<const V> values, Stream stream) const;
  /// Waits for the stream. Error(errc::unsupported) if an update was refused since the last call.
  void require_updated(Stream stream) const;

  /// Writes a container of the matrix with its present values, copied back on `stream`, as write_parts() does. Returns
  /// its size. Errors: errc::unsupported (a rank's share, or sections that only a host needs and that came from a
  /// container: write that); else those of write_parts().
  std::uint64_t write(ByteSink& sink, Stream stream = nullptr, const WriteOptions& options = {}) const;
  /// Its parts for write_container(), for callers who know more of the matrix than write() does: copies of all sections
  /// in host memory, made on `stream`. Error(errc::unsupported): sections that only a host needs, as for write().
  [[nodiscard]] std::vector<PartSource> part_sources(Stream stream = nullptr) const;

  /// The user's vector in the order of Basis::permuted, and back: one kernel on `stream`, device memory, no overlap. T
  /// is float or double. Error(errc::usage) if the container has no such basis.
  template <class T>
  void permute(std::span<const T> user, std::span<T> permuted, Stream stream) const;
  template <class T>
  void unpermute(std::span<const T> permuted, std::span<T> user, Stream stream) const;

  /// multiply() with X and Y in host memory: allocates, copies, multiplies and waits, up to 16 real columns at a time.
  /// Convenient for first experiments.
  template <class T>
  void multiply_host_vectors(T alpha, std::type_identity_t<DenseView<const T>> x, T beta,
                             std::type_identity_t<DenseView<T>> y,
                             const MultiplyDescription& description = describe<T>()) const;
  template <class T>
  void multiply_host_vectors(T alpha, std::type_identity_t<DenseView<const std::complex<T>>> x, T beta,
                             std::type_identity_t<DenseView<std::complex<T>>> y,
                             const MultiplyDescription& description = describe<std::complex<T>>()) const;

  struct Impl;

 private:
  explicit DeviceMatrix(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// A DeviceMatrix with its own workspace: the convenient way to multiply with one description, on one stream at a time.
class SPMVPACK_EXPORT DeviceMultiplier {
 public:
  /// The plain multiply, with vectors of the matrix's type.
  explicit DeviceMultiplier(const DeviceMatrix& matrix);
  /// Allocates the workspace for such a multiply.
  DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description);

  [[nodiscard]] const DeviceMatrix& matrix() const noexcept { return matrix_; }
  /// DeviceMatrix::multiply() with this workspace and description, whose vectors must be of type real_of<V>.
  template <class V>
  void multiply(Scalar<real_of<V>> alpha, std::type_identity_t<DenseView<const V>> x, Scalar<real_of<V>> beta,
                DenseView<V> y, Stream stream, const Scaling<real_of<V>>& scaling = {}) const {
    matrix_.multiply<V>(alpha, x, beta, y, {static_cast<std::byte*>(workspace_.get()), bytes_}, stream, description_,
                        scaling);
  }
  template <class Y, class V = typename std::remove_reference_t<Y>::value_type>
  void multiply(Scalar<real_of<V>> alpha, std::type_identity_t<DenseView<const V>> x, Scalar<real_of<V>> beta, Y&& y,
                Stream stream, const Scaling<real_of<V>>& scaling = {}) const {
    multiply<V>(alpha, x, beta, DenseView<V>(y), stream, scaling);
  }

 private:
  DeviceMatrix matrix_;
  MultiplyDescription description_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<void> workspace_;
};

}  // namespace spmvpack::gpu_loader
