#pragma once
/// The head of a Matrix Market file: banner, comments and size line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/types.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {

struct MatrixMarketHeader {
  bool coordinate = true;  ///< else array
  Field field = Field::real;
  bool is_unsigned = false;  ///< field unsigned-integer: an integer one without negative values
  Symmetry symmetry = Symmetry::general;
  std::uint64_t rows = 0, cols = 0;
  std::uint64_t entries = 0;            ///< lines that must follow
  std::vector<std::string> comments;    ///< as far as a container's provenance could have room for them
  std::uint64_t comments_left_out = 0;  ///< those after them
};

/// Reads the head and leaves `text` at the line after it. Errors: errc::bad_input (violates the format),
/// errc::unsupported (not supported by this version).
MatrixMarketHeader read_header(TextBatches& text);

}  // namespace spmvpack::sources
