#pragma once
// Where the rows of a part are in y.

#include <cuda_runtime.h>

#include <cstdint>

namespace spmvpack::gpu_loader {

/// Maps a part's local rows to positions in y. It is a run-time pointer, the same for all threads, rather than a
/// template parameter: the test costs nothing compared with the write that follows it.
struct RowMap {
  const std::uint32_t* list;  ///< device memory; null: the rows of y in order

  /// Row: an unsigned integer type, kept so that code without a list is the same as without a map.
  template <class Row>
  __device__ Row operator()(Row local) const {
    return list != nullptr ? static_cast<Row>(__ldg(list + local)) : local;
  }
};

}  // namespace spmvpack::gpu_loader
