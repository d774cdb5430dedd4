#pragma once
// An encoded matrix in a GPU's memory. Knows nothing of PETSc.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cuda_memory.hpp"
#include "encoding.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/encoder/tune.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::petsc {

/// On which streams a matrix is used whose values change: what is used on one stream is in order anyway.
class StreamOrder {
 public:
  /// Before a multiply, and before an update, on this stream: waits for the device if that could run beside an update,
  /// or an update beside what reads the old values.
  void multiplies(gpu_loader::Stream stream);
  void updates(gpu_loader::Stream stream);

 private:
  gpu_loader::Stream updated_ = nullptr, last_ = nullptr;
  bool used_ = false;       ///< `last_` is a stream
  bool several_ = false;    ///< multiplies since the last update have been on several streams
  bool unsettled_ = false;  ///< the last update, on `updated_`, may not have ended
};

/// A, or A^T, in device memory of its own, with the workspaces of its multiplies.
class DeviceOperator {
 public:
  /// Of Encoding::container, whose bytes are our own, to the current device. Waits until it is there. Errors: those of
  /// DeviceMatrix::load().
  DeviceOperator(const Encoding& encoding, int threads, gpu_loader::Stream stream);
  /// Of what was encoded on the device.
  DeviceOperator(gpu_loader::DeviceMatrix matrix, bool updatable);
  /// Gives an updatable one all of A's values, which are in device memory in the order of A's arrays. Multiplies on any
  /// stream then have them; nobody waits, but for work on other streams.
  void update_values(std::span<const double> values, gpu_loader::Stream stream);
  /// y = op(A) x + beta y in device memory, on this stream; nobody waits. The first multiply with an operation may
  /// allocate its workspace.
  void multiply(Operation operation, const double* x, double beta, double* y, gpu_loader::Stream stream);
  /// Y = op(A) X, whose columns are contiguous.
  void multiply_columns(Operation operation, const DenseView<const double>& x, const DenseView<double>& y,
                        gpu_loader::Stream stream);

 private:
  gpu_loader::DeviceMatrix matrix_;
  std::optional<StreamOrder> streams_;  ///< if it is updatable
  OnDevice<int> order_;                 ///< Encoding::order, or null; then also where values are put in order
  OnDevice<double> ordered_;
  std::optional<gpu_loader::DeviceMultiplier> plain_, transposed_;
  /// By whether with A^T, and the number of columns; a few.
  std::map<std::pair<bool, std::uint64_t>, gpu_loader::DeviceMultiplier> of_columns_;
};

/// Whether the GPU's encoder has what is asked for. `auto` is the host's, which compares more.
bool encodes_on_device(const EncodingOptions& options);
/// Encodes A, or with options.transpose A and A^T, in the current device's memory; A^T is nothing more if it is A or
/// -A. Sets *device, and what an Encoding says of it but for filled_rows. Errors: those of
/// gpu_encoder::encode_on_device().
Encoding encode_on_device(const gpu_encoder::DeviceCsr& a, const EncodingOptions& options, gpu_loader::Stream stream,
                          std::shared_ptr<DeviceOperator>* device);

/// The target among encoder::target_names() that stands for this GPU, counted from 0: "h100", or "gpu" if it has no
/// prices of its own. Error(errc::no_device) if there is no such GPU.
std::string target_of_device(int device);
/// What measures on this GPU.
encoder::Tuner tuner_on_device(int device, int threads);

}  // namespace spmvpack::petsc
