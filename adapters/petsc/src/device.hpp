#pragma once
// An encoded matrix in a GPU's memory. Knows nothing of PETSc.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/encoder/tune.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::petsc {

/// A, or A^T, in device memory of its own, with the workspaces of its multiplies.
class DeviceOperator {
 public:
  /// Of a container whose bytes are our own, to the current device. Waits until it is there. Errors: those of
  /// DeviceMatrix::load().
  DeviceOperator(const Container& container, int threads, gpu_loader::Stream stream);
  /// y = op(A) x + beta y in device memory, on this stream; nobody waits. The first multiply with an operation may
  /// allocate its workspace.
  void multiply(Operation operation, const double* x, double beta, double* y, gpu_loader::Stream stream);
  /// Y = op(A) X, whose columns are contiguous.
  void multiply_columns(Operation operation, const DenseView<const double>& x, const DenseView<double>& y,
                        gpu_loader::Stream stream);

 private:
  gpu_loader::DeviceMatrix matrix_;
  std::optional<gpu_loader::DeviceMultiplier> plain_, transposed_;
  /// By whether with A^T, and the number of columns; a few.
  std::map<std::pair<bool, std::uint64_t>, gpu_loader::DeviceMultiplier> of_columns_;
};

/// The target among encoder::target_names() that stands for this GPU, counted from 0: "h100", or "gpu" if it has no
/// prices of its own. Error(errc::no_device) if there is no such GPU.
std::string target_of_device(int device);
/// What measures on this GPU.
encoder::Tuner tuner_on_device(int device, int threads);

}  // namespace spmvpack::petsc
