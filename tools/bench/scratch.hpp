#pragma once

#include "spmvpack/container/reader.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::tools::bench {

/// The container that `layout` makes of `source`, by way of a file that has no name any more. The file is in $TMPDIR,
/// else in shared memory (/dev/shm) where it has room, else in /tmp. Errors: those of write_container().
Container encode_to_scratch(const SourceMatrix& source, const encoder::LayoutEncoder& layout,
                            const encoder::PlanOptions& options, const ProgressCallback& progress);

}  // namespace spmvpack::tools::bench
