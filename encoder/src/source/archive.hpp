#pragma once
/// What libarchive reads: bzip2, xz, and the matrix in a tar archive.

#include <memory>
#include <string>

#include "source/byte_stream.hpp"

namespace spmvpack::encoder {

std::shared_ptr<ByteStream> inflate_bzip2(std::shared_ptr<ByteStream> bytes);
std::shared_ptr<ByteStream> inflate_xz(std::shared_ptr<ByteStream> bytes);

/// True where `bytes` start with the header of a tar archive.
bool is_tar(ByteStream& bytes);

/// Which member of an archive is meant.
struct MemberChoice {
  static constexpr std::uint64_t first_matrix = ~std::uint64_t{0};
  std::uint64_t index = first_matrix;
  std::string name;  ///< its file is called `name`.mtx (.rb, ...); empty: not known
};

/// Looks through the tar archive `bytes` for the matrix: the member called `name`.mtx (.rb, ...), else the only one
/// that holds a matrix. Not counted are dense ones (array files), and attachments: in SuiteSparse archives these are
/// D/D_*.mtx, right-hand sides and the like. Error(errc::bad_input) where there is none or more than one.
MemberChoice find_member(std::shared_ptr<ByteStream> bytes, const std::string& name);

/// The chosen member of the tar archive `bytes`. Its end is that of the archive: Error(errc::bad_input) there if
/// another member has the same right to be chosen, or if the rest is damaged.
std::shared_ptr<ByteStream> open_member(const std::shared_ptr<ByteStream>& bytes, const MemberChoice& choice);

}  // namespace spmvpack::encoder
