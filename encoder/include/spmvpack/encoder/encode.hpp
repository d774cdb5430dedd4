#pragma once
/// From a source file to a container.

#include <map>
#include <optional>
#include <string>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/writer.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

struct SourceOptions {
  std::optional<ValueType> value_type;  ///< unset: f64 for text, what it has for a container
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes, 0: available_memory()
  ProgressCallback progress;
};

/// Reads a matrix from any source that spmvpack knows, told apart by content and not by name: Matrix Market (plain,
/// .gz, .zst) or .spmvc. An f64 container asked for as f32 is rounded; f32 is never widened to f64
/// (Error(errc::usage)).
SPMVPACK_EXPORT SourceMatrix read_matrix(const std::string& path, const SourceOptions& options = {});

/// What encode() is asked for, as it goes into the provenance.
struct EncodeRequest {
  std::string layout = "ccoo";
  std::map<std::string, std::string> settings;
  format::Codec codec = format::Codec::none;
  int level = 3;
};

/// The container that `plan` makes of `source`. Both must outlive it.
SPMVPACK_EXPORT ContainerSource container_source(const SourceMatrix& source, const Plan& plan,
                                                 const EncodeRequest& request, int threads = 0);

}  // namespace spmvpack::encoder
