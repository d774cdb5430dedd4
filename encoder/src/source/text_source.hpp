#pragma once
/// The text of a source, whatever it is wrapped in.

#include <memory>
#include <string>
#include <string_view>

#include "source/byte_stream.hpp"

namespace spmvpack::encoder {

/// The text of `file`, all told by content: inflated where it is compressed, and of a tar archive (compressed or not)
/// the matrix in it, see find_member(). An archive that cannot be read twice, as from a pipe, has no name, and its
/// first matrix must be its only one.
std::shared_ptr<ByteStream> open_text(const std::shared_ptr<ByteStream>& file);

/// The kinds of text that hold a matrix.
enum class TextFormat { matrix_market, rutherford_boeing };

/// What `text` is. A text that is neither is an Error(errc::bad_input) which lists what is read; damage before the
/// first byte is thrown as such.
TextFormat format_of(ByteStream& text);

}  // namespace spmvpack::encoder
