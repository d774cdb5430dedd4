#pragma once
// Where the rows of a part lie in y.

#include <cuda_runtime.h>

#include <cstdint>

namespace spmvpack::gpu_loader {

/// From a part's local rows to places in y. A run-time pointer that all threads agree on, no template axis: the test
/// costs nothing beside the write that follows it.
struct RowMap {
  const std::uint32_t* list;  ///< device memory; null: the rows of y in turn

  /// Row: an unsigned integer, kept so that code without a list is what it would be without a map.
  template <class Row>
  __device__ Row operator()(Row local) const {
    return list != nullptr ? static_cast<Row>(__ldg(list + local)) : local;
  }
};

}  // namespace spmvpack::gpu_loader
