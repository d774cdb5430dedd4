#pragma once

#include <cstdint>
#include <optional>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::sources {

/// Options for reading text formats.
struct TextOptions {
  /// Unset: f64, or c128 if the values are complex. As f64 or f32, a complex matrix must have no imaginary parts.
  std::optional<ValueType> value_type = {};
  int threads = 0;
  std::uint64_t memory_limit = 0;       ///< bytes, 0: available_memory()
  std::uint64_t chunk_bytes = 1 << 18;  ///< bytes of text per task
  ProgressCallback progress = {};
};

}  // namespace spmvpack::sources
