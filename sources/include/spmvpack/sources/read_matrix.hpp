#pragma once
/// Matrices from any supported source.

#include <optional>
#include <string>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/reader.hpp"

namespace spmvpack::sources {

struct SourceOptions {
  std::optional<ValueType> value_type = {};  ///< unset: f64 or c128 for text, a container's or .npz file's own
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes, 0: available_memory()
  ProgressCallback progress = {};
};

/// Reads a matrix from any supported source. The type is detected from the content, not the name: a container
/// (.spmvc), text (Matrix Market, Harwell-Boeing, Rutherford-Boeing) or a sparse matrix of SciPy (.npz of save_npz() in
/// csr, csc, coo, bsr or dia); all but containers may be compressed (.gz, .zst, .bz2, .xz) and in a tar or zip archive
/// (A/A.mtx or the like in A.tar.gz or A.zip, else the archive's only matrix). `path` is any kind of file, including a
/// pipe such as /dev/fd/63, or "-" for standard input. f64 values of a container or .npz file that are read as f32 are
/// rounded, as are those of c128 as c64; f32 is never widened to f64 (Error(errc::usage)). A complex matrix that is
/// read as f64 or f32 must have no imaginary parts (Error(errc::bad_input)). Of .npz, integers and booleans are read as
/// f64, which must hold them exactly, and entries that repeat are added up.
SPMVPACK_EXPORT SourceMatrix read_matrix(const std::string& path, const SourceOptions& options = {});

/// A matrix and, if it was read from a container, that container.
struct ReadResult {
  SourceMatrix matrix;
  std::optional<Container> container;
};

/// Like read_matrix(), but also returns the container, which cannot be opened again if it came from a pipe.
SPMVPACK_EXPORT ReadResult read_source(const std::string& path, const SourceOptions& options = {});

/// Opens the container at `path`: any kind of file, or "-" for standard input. If it is not a regular file, all of it
/// is read into memory. Errors: those of Container::open(), errc::out_of_memory.
SPMVPACK_EXPORT Container open_container(const std::string& path, std::uint64_t memory_limit = 0);

/// The default name of the container for the source `path`, in the same directory: A.spmvc for A.mtx, A.rua, A.mtx.gz
/// or A.tar.gz. Error(errc::usage) if `path` does not end like the name of a source.
SPMVPACK_EXPORT std::string container_name(const std::string& path);

/// Whether `path` is named like a text source: .mtx, .rua, .mtx.gz, .tar.gz and so on. Inputs are recognised by
/// content; this is for outputs, whose names should not contradict their content.
SPMVPACK_EXPORT bool is_source_name(const std::string& path) noexcept;

}  // namespace spmvpack::sources
