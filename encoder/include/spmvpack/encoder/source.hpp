#pragma once
/// Matrices from files of any kind.

#include <optional>
#include <string>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/progress.hpp"

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

/// The name of the container for the source `path`, beside it: A.spmvc for A.mtx, A.rua, A.mtx.gz, A.tar.gz.
/// Error(errc::usage) where it has no ending that a source has.
SPMVPACK_EXPORT std::string container_name(const std::string& path);

/// Whether `path` is called as sources of text are: .mtx, .rua, .mtx.gz, .tar.gz and so on. What is in a file, its
/// content says; the name of an output should not contradict it.
SPMVPACK_EXPORT bool is_source_name(const std::string& path) noexcept;

}  // namespace spmvpack::encoder
