#pragma once
/// The readers of text formats for a source that is already open. `path` is for the provenance.

#include <memory>
#include <string>

#include "source/byte_stream.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/sources/text_options.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {

/// Records in a matrix's provenance how much rounding its values to f32 lost.
inline void state_rounding(const Rounding& rounding, Provenance& provenance) {
  provenance.rounded = rounding.rounded;
  provenance.max_relative_error = rounding.max_relative_error;
}

SourceMatrix read_matrix_market(std::shared_ptr<ByteStream> bytes, const std::string& path, const TextOptions& options);
SourceMatrix read_rutherford_boeing(std::shared_ptr<ByteStream> bytes, const std::string& path,
                                    const TextOptions& options);

}  // namespace spmvpack::sources
