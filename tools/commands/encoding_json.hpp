#pragma once
/// What `encode --json` prints (docs/encode.schema.json).

#include <string>

#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools {

/// A container that was written, with what led to it.
struct EncodedFile {
  const SourceMatrix& source;
  const encoder::EncodeRequest& request;
  const encoder::EncodeResult& result;
  std::string output, version;
  double source_seconds = 0;  ///< that it took to get the source
};

/// As JSON, ends with a newline.
std::string to_json(const EncodedFile& file);

}  // namespace spmvpack::tools
