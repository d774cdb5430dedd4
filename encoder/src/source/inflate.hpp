#pragma once
/// Compressed files.

#include <memory>

#include "source/byte_stream.hpp"

namespace spmvpack::encoder {

/// What `file` inflates to: gzip (any number of members), zstd (any number of frames), bzip2 and xz are told by their
/// magic bytes; every other file is returned as it is. What comes out before damage does not depend on how much is
/// asked for at a time. zstd windows over 128 MiB are errc::unsupported.
std::shared_ptr<ByteStream> inflate(std::shared_ptr<ByteStream> file);

}  // namespace spmvpack::encoder
