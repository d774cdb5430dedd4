#include "text/text_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::sources {
namespace {

/// Large batches amortise the synchronisation of threads, but two of them are in memory.
constexpr std::uint64_t chunks_per_thread = 16, max_batch_bytes = std::uint64_t{64} << 20;

}  // namespace

std::uint64_t count_lines(std::string_view text) {
  constexpr std::size_t step = 224;  // whole vectors
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < text.size(); i += step) {
    unsigned char n = 0;
    for (const char c : text.substr(i, step)) n = static_cast<unsigned char>(n + (c == '\n'));
    lines += n;
  }
  return lines;
}

TextBatches::TextBatches(std::shared_ptr<ByteStream> source, std::size_t batch_bytes, std::uint64_t memory_limit)
    : source_(std::move(source)), batch_bytes_(batch_bytes), memory_limit_(memory_limit) {
  advance(0);
}

TextBatches::TextBatches(std::shared_ptr<ByteStream> source, const TextOptions& options)
    : TextBatches(std::move(source),
                  std::clamp(static_cast<std::uint64_t>(thread_count(options.threads)) * chunks_per_thread *
                                 std::min(options.chunk_bytes, max_batch_bytes),
                             std::uint64_t{1}, max_batch_bytes),
                  options.memory_limit) {}

void TextBatches::read_ahead() noexcept {
  if (ahead_) return;
  try {
    const char* const begun = present_.bytes.data() + present_.lines_end;
    fill(next_, {begun, present_.end - present_.lines_end});
  } catch (...) {
    error_ = std::current_exception();
    next_.lines_end = next_.end = 0;
  }
  ahead_ = true;
}

void TextBatches::fill(Buffer& next, std::string_view begun) {
  constexpr std::size_t reserved = slack + 1;  // plus the '\n' that the last line may lack
  const std::size_t wanted = begun.size() + batch_bytes_ + reserved;
  if (next.bytes.size() < wanted) {
    const MemoryScope buffers{MemoryScope::Uncounted{}};  // unlike a line for which they have no room
    next.bytes = Array<char>(wanted);
  }
  std::copy(begun.begin(), begun.end(), next.bytes.begin());
  next.end = begun.size();
  for (;;) {
    const std::size_t n = source_->read({next.bytes.data() + next.end, next.bytes.size() - reserved - next.end});
    if (n == 0 && next.end != 0) next.bytes[next.end++] = '\n';
    next.end += n;
    next.lines_end = std::string_view(next.bytes.data(), next.end).rfind('\n') + 1;  // npos + 1 is 0
    if (next.lines_end != 0 || n == 0) break;
    require_memory(2 * next.bytes.size(), memory_limit_, "a line of the text");
    Array<char> larger(2 * next.bytes.size());
    std::memcpy(larger.data(), next.bytes.data(), next.end);
    next.bytes = std::move(larger);
  }
  std::memset(next.bytes.data() + next.end, 0, slack);
}

void TextBatches::advance(std::uint64_t lines) {
  read_ahead();
  line_ += lines;
  std::swap(present_, next_);
  ahead_ = false;
  if (error_) std::rethrow_exception(error_);
  if (present_.lines_end == 0) {
    present_ = {};
    next_ = {};
  }
  text_ = {present_.bytes.data(), present_.lines_end};
}

void TextBatches::skip(std::size_t bytes, std::uint64_t lines) {
  if (bytes == text_.size()) return advance(lines);
  text_.remove_prefix(bytes);
  line_ += lines;
}

bool TextBatches::take(TextPiece& piece) {
  const std::lock_guard lock(guard_);
  piece.number = taken_;
  if (error_) {
    ++taken_;
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (text_.empty()) return false;
  ++taken_;
  std::swap(piece.buffer, next_.bytes);
  read_ahead();
  piece.file_position = file_position();
  piece.text = text_;
  piece.first_line = line_;
  piece.lines = count_lines(text_);
  piece.buffer = std::exchange(present_.bytes, std::move(next_.bytes));
  present_.lines_end = next_.lines_end;
  present_.end = next_.end;
  text_ = {present_.bytes.data(), present_.lines_end};
  line_ += piece.lines;
  ahead_ = false;
  return true;
}

void TextBatches::fail(const LineError& e) const { throw Error(e.code, e.what, position(e.at), e.remedy); }
void TextBatches::fail(const TextPiece& piece, const LineError& e) const {
  throw Error(e.code, e.what, position(piece.text, piece.first_line, e.at), e.remedy);
}

std::string TextBatches::position(std::string_view text, std::uint64_t first_line, const char* at) const {
  const std::string_view before = text.substr(0, static_cast<std::size_t>(at - text.data()));
  const auto line = first_line + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return fmt::format("{}:{}:{}", name(), line, column);
}

TextOptions with_memory_limit(TextOptions options) {
  if (options.memory_limit == 0) options.memory_limit = available_memory();
  return options;
}

}  // namespace spmvpack::sources
