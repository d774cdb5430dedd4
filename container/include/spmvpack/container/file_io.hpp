#pragma once
/// Files: positioned reads, and outputs that appear whole or not at all.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

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

/// How many OutputFiles the process has now: while it is 0, ending the process leaves no temporary file. May be called
/// in a signal handler.
SPMVPACK_EXPORT int unfinished_outputs() noexcept;

/// Writes all of `text` to standard output; waits where that is a pipe that is full, also a non-blocking one. Errors:
/// errc::io at "standard output".
SPMVPACK_EXPORT void write_standard_output(std::string_view text);

/// A file being written. Until commit() it has a random temporary name beside `path`; without a commit it is removed.
class SPMVPACK_EXPORT OutputFile {
 public:
  /// Creates the temporary. With `overwrite` unset, an existing `path` is an Error(errc::exists) at once, and again at
  /// commit() if it has appeared since. With `overwrite` set, the new file has the permissions of the one that it
  /// replaces (not its owner, nor its other names), and a symbolic link is kept: the file that it points to is
  /// replaced. Error(errc::io) where `path` is no regular file, or a link that leads nowhere.
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
  /// Counts in unfinished_outputs() from before the temporary is there until after it is gone.
  struct Counted {
    Counted() noexcept;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted();
  };
  void discard() noexcept;

  Counted counted_;
  std::string path_, target_, temporary_;  ///< target_: path_ with a link followed
  bool overwrite_ = false;
  int fd_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace spmvpack
