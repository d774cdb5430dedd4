#pragma once
/// The text of a file, inflated where the file is compressed. Knows bytes, not grammars.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>

#include "spmvpack/container/file_io.hpp"

namespace spmvpack::encoder {

/// A text, read from front to back. Not thread-safe.
class TextSource {
 public:
  TextSource(std::shared_ptr<const ByteSource> file, std::string name);
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  virtual ~TextSource() = default;

  /// Fills `out` with the text that follows and returns how much there was; 0 is the end. Damage and read errors are
  /// thrown only once all the text before them has been returned: Error(errc::bad_input) for truncated or damaged
  /// compressed data, errc::unsupported for zstd windows over 128 MiB, errc::io.
  std::size_t read(std::span<char> out);

  /// Bytes of the file that have been used, and that there are.
  [[nodiscard]] std::uint64_t file_position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return file_->size(); }

 protected:
  /// At least one byte of text, or 0 at its end.
  virtual std::size_t produce(std::span<char> out) = 0;
  /// The bytes of the file that follow; fewer than out.size() only at its end.
  std::size_t read_file(std::span<std::byte> out);
  /// Throws Error(errc::bad_input) at the byte of the file that has been reached, `unused` bytes before the position.
  [[noreturn]] void fail(const std::string& what, std::size_t unused) const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::shared_ptr<const ByteSource> file_;
  std::string name_;
  std::uint64_t position_ = 0;
  std::exception_ptr postponed_;
};

/// The text of `file`: gzip (any number of members) and zstd (any number of frames) are told by their magic bytes and
/// inflated, everything else is the text itself. `name` is for error messages.
std::unique_ptr<TextSource> open_text(std::shared_ptr<const ByteSource> file, std::string name);

}  // namespace spmvpack::encoder
