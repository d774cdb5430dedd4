#pragma once
/// Splits a text into batches of whole lines that many threads can parse, and knows the position of every byte.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "source/byte_stream.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/sources/text_options.hpp"

namespace spmvpack::sources {

/// What is wrong with a line, before its number is known.
struct LineError {
  const char* at = nullptr;  ///< the offending byte
  errc code = errc::bad_input;
  std::string what, remedy;
};

/// A batch taken out of a text.
struct TextPiece {
  std::uint64_t number = 0;      ///< counts pieces from 0, in the order of the text
  std::uint64_t first_line = 0;  ///< of the text, from 1
  std::uint64_t lines = 0;
  std::uint64_t file_position = 0;  ///< how far into the file the text has been read
  std::string_view text;            ///< in `buffer`, like TextBatches::text()
  Array<char> buffer;
};

/// The current batch is text(); read_ahead() reads the next one, concurrently or not, and advance() moves on to it.
class TextBatches {
 public:
  /// Bytes that may be read after the end of a batch, so that parsers can load words.
  static constexpr std::size_t slack = 64;

  /// @param batch_bytes   text per batch; a batch is larger if a line is
  /// @param memory_limit  bytes that a batch may grow to for such a line
  TextBatches(std::shared_ptr<ByteStream> source, std::size_t batch_bytes, std::uint64_t memory_limit);
  /// Chooses a batch size that suits the number of threads.
  TextBatches(std::shared_ptr<ByteStream> source, const TextOptions& options);

  /// Whole lines, each ending in '\n' (added to the last line of the text if missing); empty at the end of the text.
  /// Followed by `slack` readable bytes.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// The number of its first line, from 1.
  [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

  /// Reads the next batch, once. May run while other threads read text(); advance() throws its errors.
  void read_ahead() noexcept;
  /// Makes the next batch the current one; at the end of the text, frees the memory of both. `lines` is the number of
  /// '\n' in text().
  void advance(std::uint64_t lines);
  /// Removes the first `bytes` bytes from text(), which are `lines` whole lines; moves on to the next batch if nothing
  /// is left.
  void skip(std::size_t bytes, std::uint64_t lines);
  void skip_line() { skip(text_.find('\n') + 1, 1); }

  /// Takes the current batch out and reads the next one, reusing the memory of `piece`; false at the end of the text.
  /// Any thread may call it, as long as nothing else is called. If it throws, it does so once, and piece.number is the
  /// position of the failure in the order of pieces.
  bool take(TextPiece& piece);
  /// The same as below for an error in `piece`.
  [[noreturn]] void fail(const TextPiece& piece, const LineError& e) const;

  /// The position "name:line:column", counted from 1, of a byte of text() or its end.
  [[nodiscard]] std::string position(const char* at) const { return position(text_, line_, at); }
  /// Throws the error with the position of `e.at`.
  [[noreturn]] void fail(const LineError& e) const;
  /// The same at the first byte of text(); at the end of the text, that is the line after the last one.
  [[noreturn]] void fail(errc code, std::string what, std::string remedy) const {
    fail({text_.data(), code, std::move(what), std::move(remedy)});
  }

  [[nodiscard]] const std::string& name() const noexcept { return source_->name(); }
  /// How far into the file the batches have been read, for progress.
  [[nodiscard]] std::uint64_t file_position() const noexcept { return source_->file_position(); }
  [[nodiscard]] std::uint64_t file_size() const noexcept { return source_->file_size(); }

 private:
  struct Buffer {
    Array<char> bytes;
    std::size_t lines_end = 0, end = 0;  ///< of whole lines, and of the bytes (with the start of a line)
  };
  void fill(Buffer& next, std::string_view begun);
  [[nodiscard]] std::string position(std::string_view text, std::uint64_t first_line, const char* at) const;

  std::shared_ptr<ByteStream> source_;
  std::size_t batch_bytes_;
  std::uint64_t memory_limit_;
  Buffer present_, next_;
  std::string_view text_;
  std::uint64_t line_ = 1;  ///< number of the first line of text_
  bool ahead_ = false;
  std::exception_ptr error_;
  std::mutex guard_;         ///< of everything, in take()
  std::uint64_t taken_ = 0;  ///< pieces
};

/// The options with a definite memory limit. Available memory shrinks while it is used, so it is determined once.
TextOptions with_memory_limit(TextOptions options);

/// The number of line ends, at memory speed: compilers vectorise byte counters well, used for as many bytes as cannot
/// overflow them.
std::uint64_t count_lines(std::string_view text);

/// The start of the first line that starts at or after byte `offset` of `text`, which ends in '\n'.
inline std::size_t line_start(std::string_view text, std::size_t offset) noexcept {
  if (offset == 0) return 0;
  return offset < text.size() ? text.find('\n', offset - 1) + 1 : text.size();
}

}  // namespace spmvpack::sources
