#pragma once
/// Matrices from files of any kind.

#include <optional>
#include <string>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/container/reader.hpp"

namespace spmvpack::encoder {

struct SourceOptions {
  std::optional<ValueType> value_type = {};  ///< unset: f64 for text, what it has for a container
  int threads = 0;
  std::uint64_t memory_limit = 0;  ///< bytes, 0: available_memory()
  ProgressCallback progress = {};
};

/// Reads a matrix from any source that spmvpack knows, told apart by content and not by name: a container (.spmvc), or
/// text (Matrix Market, Harwell-Boeing, Rutherford-Boeing) that may be compressed (.gz, .zst, .bz2, .xz) and may be a
/// member of a tar archive: A/A.mtx or the like in A.tar.gz, else the only matrix there is. `path` is a file of any
/// kind (a pipe or /dev/fd/63 will do), or "-" for standard input. An f64 container asked for as f32 is rounded; f32 is
/// never widened to f64 (Error(errc::usage)).
SPMVPACK_EXPORT SourceMatrix read_matrix(const std::string& path, const SourceOptions& options = {});

/// A matrix and, where it was read from a container, that container.
struct Source {
  SourceMatrix matrix;
  std::optional<Container> container;
};

/// read_matrix(), for whoever also wants the container, which cannot be opened a second time where it comes from a
/// pipe.
SPMVPACK_EXPORT Source read_source(const std::string& path, const SourceOptions& options = {});

/// Opens the container at `path`, which is a file of any kind or "-" for standard input. One that is not a regular file
/// is read as a whole, into memory. Errors: those of Container::open(), errc::out_of_memory.
SPMVPACK_EXPORT Container open_container(const std::string& path, std::uint64_t memory_limit = 0);

/// The name of the container for the source `path`, beside it: A.spmvc for A.mtx, A.rua, A.mtx.gz, A.tar.gz.
/// Error(errc::usage) where it has no ending that a source has.
SPMVPACK_EXPORT std::string container_name(const std::string& path);

/// Whether `path` is called as sources of text are: .mtx, .rua, .mtx.gz, .tar.gz and so on. What is in a file, its
/// content says; the name of an output should not contradict it.
SPMVPACK_EXPORT bool is_source_name(const std::string& path) noexcept;

}  // namespace spmvpack::encoder
