#pragma once

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::bench {

/// The container that encode() writes for `source`, in a file that has already been unlinked. The file is in $TMPDIR,
/// else in shared memory (/dev/shm) if that has room, else in /tmp. Errors: those of encode().
Container encode_to_scratch(const SourceMatrix& source, const encoder::EncodeRequest& request);

}  // namespace spmvpack::bench
