#pragma once
/// From a matrix to a container.

#include <map>
#include <string>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/writer.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

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
