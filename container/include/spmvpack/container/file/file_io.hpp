#pragma once
/// Files: positioned reads, and outputs that appear complete or not at all.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

/// Bytes that can be read at any offset, from several threads at once.
class SPMVPACK_EXPORT ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `out` from `offset`. Error(errc::io) if the source ends before that.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// All bytes if they are in memory, where they stay for the life of the source; empty otherwise. Whoever loads from
  /// there need not copy.
  [[nodiscard]] virtual std::span<const std::byte> in_memory() const noexcept { return {}; }
};

/// Opens a regular file for reading (by pread; not mapped, because a mapped file can change under its reader).
SPMVPACK_EXPORT std::shared_ptr<const ByteSource> open_file(const std::string& path);
/// Bytes in memory, copied or taken over.
SPMVPACK_EXPORT std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes);
SPMVPACK_EXPORT std::shared_ptr<const ByteSource> memory_source(Array<std::byte> bytes);

/// The number of OutputFiles in the process. While it is 0, ending the process leaves no temporary file behind. Safe to
/// call from a signal handler.
SPMVPACK_EXPORT int unfinished_outputs() noexcept;
/// The number of OutputFiles that have been given their names. It grows before unfinished_outputs() falls. Safe to call
/// from a signal handler.
SPMVPACK_EXPORT int finished_outputs() noexcept;

/// Writes all of `text` to standard output; waits while that is a full pipe, even a non-blocking one. Errors: errc::io
/// at "standard output".
SPMVPACK_EXPORT void write_standard_output(std::string_view text);

/// Where a container is written.
class SPMVPACK_EXPORT ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;
  /// Announces the largest number of bytes that will be written, before the first.
  virtual void expect(std::uint64_t bytes);
  virtual void write(std::span<const std::byte> bytes) = 0;                           ///< at the end
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;  ///< leaves the end where it is
};

/// Memory that is written.
class SPMVPACK_EXPORT MemorySink final : public ByteSink {
 public:
  /// At most `memory_limit` bytes (0: available_memory()); more are Error(errc::out_of_memory).
  explicit MemorySink(std::uint64_t memory_limit = 0) : memory_limit_(memory_limit) {}
  void expect(std::uint64_t bytes) override;
  void write(std::span<const std::byte> bytes) override;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// What was written; the sink is empty afterwards.
  [[nodiscard]] Array<std::byte> take();

 private:
  void grow(std::uint64_t capacity);

  std::uint64_t memory_limit_ = 0, size_ = 0;
  Array<std::byte> bytes_;  ///< `size_` of them are written
};

/// A file being written. Until commit() it has a random temporary name next to `path`, NAME.xxxxxxxx.tmp, and a lock
/// (flock); without commit() it is removed. Temporary files of NAME that nobody has locked are those of processes that
/// were killed: the next OutputFile of that name removes them.
class SPMVPACK_EXPORT OutputFile final : public ByteSink {
 public:
  /// Creates the temporary file. Without `overwrite`, an existing `path` is an Error(errc::exists) right away, or from
  /// commit() if it has appeared since. With `overwrite`, the new file takes the permissions of the one it replaces
  /// (but not its owner or hard links); a symbolic link is kept, and the file it points to is replaced.
  /// Error(errc::io) if `path` is not a regular file or is a dangling link.
  OutputFile(std::string path, bool overwrite);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() override;

  void write(std::span<const std::byte> bytes) override;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// Flushes the file to disk, gives it its name, atomically, and flushes its directory. Errors: errc::io, also where
  /// the file is complete and has its name, but the directory cannot be flushed: it may not survive a power cut.
  void commit();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  friend void commit_all(std::span<const std::unique_ptr<OutputFile>> files);
  void flush();      ///< to disk, and closes
  void take_name();  ///< the temporary file becomes `path`
  void flush_directory();
  /// Counts towards unfinished_outputs() from before the temporary file exists until after it is gone.
  struct Counted {
    Counted() noexcept;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted();
  };
  void discard() noexcept;

  Counted counted_;
  std::string path_, target_, temporary_;  ///< target_: path_ with links resolved
  void create(std::uint32_t mode);

  bool overwrite_ = false, replaced_ = false;  ///< replaced_: an older file has gone
  int fd_ = -1, lock_ = -1;                    ///< the same open file: the lock is kept until the file has its name
  std::uint64_t end_ = 0;
};

/// Commits files that belong together, once all of them are on disk: if one cannot have its name, those before it lose
/// theirs again, but for those that have replaced older files. A process that is killed meanwhile leaves some with
/// their names, each of them complete. Errors: those of OutputFile::commit().
SPMVPACK_EXPORT void commit_all(std::span<const std::unique_ptr<OutputFile>> files);

/// Text being written: to a file that appears whole (OutputFile), to standard output for "-", or straight into a
/// character device or FIFO, such as /dev/null, which is neither replaced nor removed.
class SPMVPACK_EXPORT TextOutput final {
 public:
  /// Errors: those of OutputFile. Waits for the reader of a FIFO.
  TextOutput(const std::string& path, bool overwrite);
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;
  ~TextOutput();

  void write(std::string_view text);
  void commit();  ///< OutputFile::commit(), where there is a file

 private:
  std::string name_;                ///< in messages
  int fd_ = -1;                     ///< of a stream
  std::optional<OutputFile> file_;  ///< if it is none
};

}  // namespace spmvpack
