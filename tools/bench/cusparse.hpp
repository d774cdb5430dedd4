#pragma once
// cuSPARSE as a peer. It is loaded on demand, so that the command runs without it.

#include <cuda_runtime_api.h>

#include <memory>

#include "bench/machine.hpp"

namespace spmvpack::bench {

/// The vectors in device memory that peers multiply; x is followed by vector_slack zeros, y by as many elements that
/// may be written. Of several columns, both are row-major, followed by as many rows; y has room for its columns one by
/// one besides, column_stride() apart.
struct DeviceVectors {
  ValueType type = ValueType::f64;
  void* x = nullptr;
  void* y = nullptr;
  std::uint64_t columns = 1;
  void* x_by_columns = nullptr;  ///< X again, column by column; null if there is one
};

class Cusparse {
 public:
  Cusparse() = default;
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  virtual ~Cusparse() = default;
  [[nodiscard]] virtual std::string version() const = 0;
  /// The matrix's values may be f32 where the vectors are f64. Several columns are multiplied by cusparseSpMM, in both
  /// orders of X and Y.
  virtual std::vector<Peer> peers(const CsrView& a, const DeviceVectors& vectors) = 0;
};

/// cuSPARSE with `stream`. Error(errc::unsupported) if it is not found, is too old, or this build's toolkit was.
std::shared_ptr<Cusparse> load_cusparse(cudaStream_t stream, int threads);

}  // namespace spmvpack::bench
