#pragma once
/// Compressed files.

#include <memory>

#include "source/byte_stream.hpp"

namespace spmvpack::sources {

/// Decompresses `file`: gzip (any number of members, zeros after each), zstd (any number of frames), bzip2 and xz are
/// recognised by their magic bytes; any other file is returned unchanged. How much text precedes damage does not depend
/// on how much is read at a time. zstd windows and xz dictionaries over 128 MiB are errc::unsupported; those over 8 MiB
/// are counted, and errc::out_of_memory if the budget does not have them.
std::shared_ptr<ByteStream> inflate(std::shared_ptr<ByteStream> file);

}  // namespace spmvpack::sources
