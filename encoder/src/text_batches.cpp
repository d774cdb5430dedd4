#include "text_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "spmvpack/container/parallel.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack::encoder {
namespace {

/// Batches amortise the gathering of threads, but two of them are held.
constexpr std::uint64_t chunks_per_thread = 16, max_batch_bytes = std::uint64_t{64} << 20;

}  // namespace

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
  }
  ahead_ = true;
}

void TextBatches::fill(Buffer& next, std::string_view begun) {
  constexpr std::size_t reserved = slack + 1;  // and the '\n' that the last line may lack
  const std::size_t wanted = begun.size() + batch_bytes_ + reserved;
  if (next.bytes.size() < wanted) next.bytes = Array<char>(wanted);
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

void TextBatches::fail(const LineError& e) const {
  const std::string_view before = text_.substr(0, static_cast<std::size_t>(e.at - text_.data()));
  const auto line = line_ + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  throw Error(e.code, e.what, fmt::format("{}:{}:{}", name(), line, column), e.remedy);
}

TextOptions with_memory_limit(TextOptions options) {
  if (options.memory_limit == 0) options.memory_limit = available_memory();
  return options;
}

}  // namespace spmvpack::encoder
