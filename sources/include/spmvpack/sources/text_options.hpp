#pragma once

#include <cstdint>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::sources {

/// Options for reading text formats.
struct TextOptions {
  ValueType value_type = ValueType::f64;
  int threads = 0;
  std::uint64_t memory_limit = 0;       ///< bytes, 0: available_memory()
  std::uint64_t chunk_bytes = 1 << 18;  ///< bytes of text per task
  ProgressCallback progress = {};
};

}  // namespace spmvpack::sources
