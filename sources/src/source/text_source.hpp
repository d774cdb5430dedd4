#pragma once
/// The text of a source, unwrapped from compression and archives.

#include <memory>
#include <string>
#include <string_view>

#include "source/byte_stream.hpp"

namespace spmvpack::sources {

/// The text of `file`, by its content: decompressed if necessary and, for a tar or zip archive (compressed or not), the
/// matrix in it, see find_member(); a .npz file is returned as it is. An archive that cannot be read twice, such as one
/// from a pipe, has no name, and its first matrix must be its only one.
std::shared_ptr<ByteStream> open_text(const std::shared_ptr<ByteStream>& file);

/// The kinds of text that hold a matrix.
enum class TextFormat { matrix_market, rutherford_boeing };

/// The format of `text`. If it is neither, Error(errc::bad_input) lists the supported formats; damage before the first
/// byte is thrown as such.
TextFormat format_of(ByteStream& text);

}  // namespace spmvpack::sources
