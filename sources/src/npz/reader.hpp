#pragma once
/// Sparse matrices of SciPy in .npz files, as scipy.sparse.save_npz() writes them: csr, csc, coo, bsr and dia. Vectors
/// of NumPy in .npy files.

#include <memory>
#include <string>

#include "source/byte_stream.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/sources/text_options.hpp"

namespace spmvpack::sources {

/// Whether `bytes` start like a .npz file: a zip archive in whose first 64 KiB, as far as the members' sizes are known
/// there, an array of save_npz() begins before any matrix; or no matrix does, and the first member is called *.npy.
bool is_npz(ByteStream& bytes);

/// Reads the matrix. Values are f64, f32, c128 or c64 as in the file, integers and booleans f64, which must hold them
/// exactly (the field is then integer); options.value_type has no meaning. Entries that repeat are added up in their
/// order; zeros are kept, those within blocks, too, but not those of diagonals, which are fill. As in SciPy, entries
/// end where the last pointer of csr, csc or bsr says, and members of other names do not count. Errors: errc::bad_input
/// at "A.npz(data.npy)" and the like; errc::unsupported (other values or formats, sparse arrays that are no matrix);
/// errc::out_of_memory.
SourceMatrix read_npz(std::shared_ptr<ByteStream> bytes, const std::string& path, const TextOptions& options);

/// Whether `bytes` start like a .npy file.
bool is_npy(ByteStream& bytes);
/// Reads the vector of a .npy file: floating-point numbers, integers and booleans, which f64 must hold exactly, of
/// shape (n,), (n, 1) or (1, n); as T, which is double or std::complex<double>, also complex numbers. Errors:
/// errc::bad_input, errc::unsupported, errc::out_of_memory.
template <class T>
Array<T> read_npy_vector(ByteStream& bytes, const TextOptions& options);

}  // namespace spmvpack::sources
