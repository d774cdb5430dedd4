#pragma once
/// Sequential bytes: of a file or a pipe, decompressed, or of a member of an archive.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::sources {

/// What to do about a compressed file or an archive that is damaged.
inline constexpr const char* remedy_damaged = "fetch or compress the file again";

/// Not thread-safe.
class ByteStream {
 public:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Fills `out` with the bytes that follow and returns how many there were; 0 is the end. Damage and read errors are
  /// thrown only once all the bytes before them have been returned: Error(errc::bad_input) for truncated or damaged
  /// data, errc::unsupported, errc::io.
  std::size_t read(std::span<char> out);
  /// The next `n` bytes, fewer at the end or before damage; read() returns them again. Valid until the next call.
  std::string_view peek(std::size_t n);
  /// Throws the error that ended what peek() returned, if there is one.
  void throw_postponed() const {
    if (postponed_) std::rethrow_exception(postponed_);
  }
  /// Goes back to the first byte; false if the source cannot.
  bool rewind();

  /// What messages call it.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Bytes of the underlying file that have been used, and its size (0: unknown).
  [[nodiscard]] virtual std::uint64_t file_position() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t file_size() const noexcept = 0;

 protected:
  /// At least one byte, or 0 at the end.
  virtual std::size_t produce(std::span<char> out) = 0;
  virtual bool restart() { return false; }

 private:
  std::string name_;
  std::string ahead_;  ///< what was peeked at and not yet read
  std::exception_ptr postponed_;
};

/// A file of any kind that can be read (regular, FIFO, /dev/fd/63), or standard input for "-". Error(errc::io).
std::shared_ptr<ByteStream> open_stream(const std::string& path);

/// A stream over the bytes of another.
class FilterStream : public ByteStream {
 public:
  FilterStream(std::shared_ptr<ByteStream> bytes, std::string name)
      : ByteStream(std::move(name)), bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t file_position() const noexcept final { return bytes_->file_position(); }
  [[nodiscard]] std::uint64_t file_size() const noexcept final { return bytes_->file_size(); }

 protected:
  [[nodiscard]] ByteStream& bytes() const noexcept { return *bytes_; }

 private:
  std::shared_ptr<ByteStream> bytes_;
};

}  // namespace spmvpack::sources
