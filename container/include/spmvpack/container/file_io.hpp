#pragma once
/// Files: positioned reads, and outputs that appear whole or not at all.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "spmvpack/container/error.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// Bytes that can be read at any offset, from several threads at once.
class SPMVPACK_EXPORT ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `out` from `offset`. Error(errc::io) where that many bytes are not there.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};

/// A regular file opened for reading (pread; not mapped: a mapped file can change under its reader).
SPMVPACK_EXPORT std::shared_ptr<const ByteSource> open_file(const std::string& path);
/// Bytes in memory, copied.
SPMVPACK_EXPORT std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes);

/// A file being written. Until commit() it has a random temporary name beside `path`; without a commit it is removed.
class SPMVPACK_EXPORT OutputFile {
 public:
  /// Creates the temporary. With `overwrite` unset, an existing `path` is an Error(errc::exists) at once, and again at
  /// commit() if it has appeared since.
  OutputFile(std::string path, bool overwrite);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);                           ///< at the end
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);  ///< in place; does not move the end
  /// Flushes file and directory to disk and gives the file its name, atomically.
  void commit();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_, temporary_;
  bool overwrite_ = false;
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace spmvpack
