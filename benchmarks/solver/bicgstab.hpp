#pragma once
// BiCGSTAB on a GPU around any multiply (van der Vorst 1992), without a preconditioner. No CUDA kernels here.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace spmvpack::bench {

/// y = A x of vectors in device memory, started on the stream of the solver. It must be able to be captured.
using DeviceMultiply = std::function<void(double* x, double* y)>;

/// Solves A x = b in double precision. One iteration is two multiplies and eight kernels, among them all sums of a step
/// at once, in an order that does not depend on time; scalars stay on the device. It is captured once as a CUDA graph,
/// so that no multiply waits for the processor.
class Bicgstab {
 public:
  Bicgstab(std::span<const double> b, cudaStream_t stream);
  Bicgstab(const Bicgstab&) = delete;
  Bicgstab& operator=(const Bicgstab&) = delete;
  ~Bicgstab();

  /// Iterations are with this multiply from now on.
  void use(const DeviceMultiply& multiply);
  /// x = 0.
  void start();
  /// Starts so many iterations, and waits for none of them.
  void iterate(int iterations);
  /// Waits. |r| / |b|, r by the recurrence; NaN after a breakdown.
  [[nodiscard]] double residual() const;
  /// Waits for x, and copies it to the host.
  void solution(std::span<double> x) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace spmvpack::bench
