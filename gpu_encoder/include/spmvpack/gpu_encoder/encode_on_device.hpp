#pragma once
/// From a CSR matrix in device memory to a DeviceMatrix, without a file and without the matrix on the host
/// (docs/GPU_ENCODER.md). Needs no CUDA headers. In a build without CUDA, encode_on_device() throws
/// Error(errc::unsupported) "built without CUDA".

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/types.hpp"
#include "spmvpack/encoder/aim.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_encoder {

/// A CSR matrix in the current device's memory, in arrays that the caller owns: row_ptr has rows + 1 elements, col_idx
/// and values have `nonzeros`. Signed and unsigned indices of the same size are the same: negative ones are out of
/// range. The columns of each row strictly increase, or DeviceEncodeRequest::sort is set.
struct DeviceCsr {
  std::uint64_t rows = 0, cols = 0, nonzeros = 0;
  const void* row_ptr = nullptr;  ///< integers of row_ptr_bits, 32 or 64
  int row_ptr_bits = 64;
  const void* col_idx = nullptr;  ///< integers of 32 bits
  const void* values = nullptr;   ///< of value_type
  ValueType value_type = ValueType::f64;

  DeviceCsr() = default;
  /// From typed pointers.
  template <class Pointer, class Column, class Value>
  DeviceCsr(std::uint64_t row_count, std::uint64_t col_count, std::uint64_t nonzero_count, const Pointer* pointers,
            const Column* columns, const Value* of_values)
      : rows(row_count),
        cols(col_count),
        nonzeros(nonzero_count),
        row_ptr(pointers),
        row_ptr_bits(8 * sizeof(Pointer)),
        col_idx(columns),
        values(of_values),
        value_type(value_type_of<Value>) {
    static_assert(sizeof(Pointer) == 4 || sizeof(Pointer) == 8);
    static_assert(sizeof(Column) == 4);
  }
};

struct DeviceEncodeRequest {
  /// One of layouts_on_device(), or "auto", which chooses among these by encoder's rule and the same predicted times.
  std::string strategy = "auto";
  std::map<std::string, std::string> settings = {};  ///< of these layouts, as encoder::EncodeRequest has them
  encoder::Aim aim = {};                             ///< for a GPU; as encoder::EncodeRequest
  /// Encode A^T, too, unless A^T is A or -A, bit for bit, which is then found.
  bool transpose = false;
  bool updatable = false;   ///< as encoder::EncodeRequest; the matrix then takes update_values()
  bool force_size = false;  ///< as encoder::EncodeRequest
  /// Sort the columns of each row if they do not increase. Repeated columns are refused all the same.
  bool sort = false;
  /// Bounds what this call has allocated at a time: scratch memory and the matrix, not the caller's CSR. 0: what the
  /// device has.
  std::uint64_t memory_limit = 0;
  /// For the matrix and for scratch memory, which is given back before the call returns. Default: cudaMalloc for the
  /// matrix, cudaMallocAsync on the stream for scratch memory.
  gpu_loader::DeviceAllocator allocator = {};
  double cache_share = gpu_loader::DeviceLoadOptions{}.cache_share;  ///< as gpu_loader::DeviceLoadOptions
  std::vector<KernelId> kernels = {};                                ///< as gpu_loader::DeviceLoadOptions

  /// A request with everything that both kinds have: strategy, settings, aim, transpose, updatable, force_size.
  /// Error(errc::usage) if the host's request has a codec or a tuner, which are for encoding on the host.
  SPMVPACK_EXPORT static DeviceEncodeRequest of(const encoder::EncodeRequest& request);
};

/// A strategy that `auto` weighs on the host, and that the device does not have.
struct LeftOut {
  std::string strategy;
  /// Lower bounds on the predicted time of a multiply and on its device bytes; none if no bound is known, or the aim is
  /// fewest bytes, which needs no times.
  std::optional<double> least_seconds = {};
  std::optional<std::uint64_t> least_bytes = {};
};
/// A layout of the device that cannot encode the matrix, or not in this memory.
struct Refused {
  std::string layout, reason;
};
/// What `auto` took for a part.
struct DeviceChoice {
  format::Role role = format::Role::a;
  std::string layout;
  std::string reason;                  ///< as encoder::Choice
  std::optional<double> seconds = {};  ///< predicted, of a multiply; none for fewest bytes
  std::vector<LeftOut> left_out = {};  ///< the lowest bound first, after those without one
  std::vector<Refused> refused = {};
};

struct DeviceEncoded {
  gpu_loader::DeviceMatrix matrix;
  /// The most that the encoding had allocated at a time, and what remains of that: the bytes of the sections.
  std::uint64_t peak_bytes = 0, section_bytes = 0;
  std::vector<DeviceChoice> choices = {};  ///< of each part, if the strategy is "auto"
};

/// The layouts that encode_on_device() makes, simplest first.
SPMVPACK_EXPORT std::span<const std::string_view> layouts_on_device();

/// Encodes the matrix by passes on `stream`, after the work there that wrote it, and returns when the result can
/// multiply. Each section has the bytes that encoder::encode() gives it for this layout and these settings. Errors:
/// - errc::usage: the strategy or a setting is not known, or a pointer is null; the stream is in capture;
/// - errc::unsupported: built without CUDA; a layout or a setting that only the host plans; more than max_growth times
///   CSR, not forced; too many rows or columns;
/// - errc::bad_input, with the row: row pointers that do not rise from 0 to `nonzeros`, columns out of range, not
///   sorted, or repeated;
/// - errc::out_of_memory; errc::no_device.
/// After an error nothing that it allocated is left.
SPMVPACK_EXPORT DeviceEncoded encode_on_device(const DeviceCsr& matrix, const DeviceEncodeRequest& request,
                                               gpu_loader::Stream stream = nullptr);

}  // namespace spmvpack::gpu_encoder
