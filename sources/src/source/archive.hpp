#pragma once
/// Sources read with libarchive: bzip2, the matrix in a tar or zip archive, and the arrays in a zip archive.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "source/byte_stream.hpp"

namespace spmvpack::sources {

std::shared_ptr<ByteStream> inflate_bzip2(std::shared_ptr<ByteStream> bytes);

/// Whether `bytes` start with the header of a tar archive.
bool is_tar(ByteStream& bytes);
/// Whether `bytes` start with the header of a zip archive, or are one that is empty.
bool is_zip(ByteStream& bytes);

/// Which member of an archive is meant.
struct MemberChoice {
  static constexpr std::uint64_t first_matrix = ~std::uint64_t{0};
  std::uint64_t index = first_matrix;
  std::string name;  ///< its file name is `name`.mtx (.rb, ...); empty: not known
};

/// Searches the tar or zip archive `bytes` for the matrix: the member called `name`.mtx (.rb, ...), else the only one
/// that holds a matrix. Dense matrices (array files) and attachments (in SuiteSparse archives D/D_*.mtx: right-hand
/// sides and the like) do not count. Errors: errc::bad_input if there is none or more than one; errc::unsupported if it
/// might be a member of a zip archive that is encrypted, or neither stored nor deflated.
MemberChoice find_member(std::shared_ptr<ByteStream> bytes, const std::string& name);

/// The chosen member of the archive `bytes`. At its end, the rest of the archive is read, too:
/// Error(errc::bad_input) if another member could have been chosen as well, or if the rest is damaged.
std::shared_ptr<ByteStream> open_member(const std::shared_ptr<ByteStream>& bytes, const MemberChoice& choice);

/// Reads the zip archive `bytes` to its end: `member` gets the path of each file in it and what returns its next bytes,
/// none at the end; a member whose bytes are not asked for is skipped. Error(errc::bad_input) if the archive is
/// damaged, errc::unsupported if a member that is read is encrypted, or neither stored nor deflated.
void read_zip(
    const std::shared_ptr<ByteStream>& bytes,
    const std::function<void(const std::string& path, const std::function<std::string_view()>& next_block)>& member);

}  // namespace spmvpack::sources
