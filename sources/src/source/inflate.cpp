#include "source/inflate.hpp"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "source/archive.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::sources {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr std::uint8_t gzip_magic = 0x1F, xz_magic = 0xFD;

/// Decompresses into its own buffer of fixed size, so that how much text precedes damage depends only on the file, not
/// on how much is read at a time.
class InflatedStream : public FilterStream {
 public:
  explicit InflatedStream(const std::shared_ptr<ByteStream>& bytes)
      : FilterStream(bytes, bytes->name()), input_(buffer_bytes), output_(buffer_bytes) {}

 protected:
  /// Writes at least one byte to `out`; returns 0 at the end.
  virtual std::size_t inflate(std::span<char> out) = 0;
  /// The next bytes of the file.
  std::span<char> refill() {
    const std::span<char> all(input_.data(), input_.size());
    return all.first(bytes().read(all));
  }
  /// Throws Error(errc::bad_input) at the byte that has been reached, `unused` bytes before the file's position.
  [[noreturn]] void fail(const std::string& what, std::size_t unused) const {
    throw Error(errc::bad_input, what,
                fmt::format("{}: byte {} of the compressed file", name(), file_position() - unused), remedy_damaged);
  }

 private:
  std::size_t produce(std::span<char> out) override {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = inflate({output_.data(), output_.size()});
    }
    const std::size_t n = std::min(out.size(), end_ - begin_);
    std::memcpy(out.data(), output_.data() + begin_, n);
    begin_ += n;
    return n;
  }

  Array<char> input_, output_;
  std::size_t begin_ = 0, end_ = 0;  ///< of the unread part of output_
};

class GzipStream final : public InflatedStream {
 public:
  explicit GzipStream(const std::shared_ptr<ByteStream>& bytes) : InflatedStream(bytes) { start_member(); }

 private:
  void start_member() {
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;  // parse the header, check CRC and length in the trailer
  }

  std::size_t inflate(std::span<char> out) override {
    for (;;) {
      if (result_ < 0) damaged();
      if (state_.avail_in == 0) {
        const std::span<char> input = refill();
        state_.next_in = reinterpret_cast<std::uint8_t*>(input.data());
        state_.avail_in = static_cast<std::uint32_t>(input.size());
      }
      const bool at_end = state_.avail_in == 0;
      if (state_.block_state == ISAL_BLOCK_FINISH) {  // zeros may follow, as gzip takes them, and then other members
        for (; state_.avail_in != 0 && *state_.next_in == 0; ++state_.next_in) --state_.avail_in;
        if (at_end) return 0;
        if (state_.avail_in == 0) continue;
        start_member();
        if (*state_.next_in != gzip_magic) {  // detected here, because isal_inflate waits for a whole header
          result_ = ISAL_INVALID_WRAPPER;
          continue;
        }
      }
      state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
      state_.avail_out = static_cast<std::uint32_t>(out.size());
      result_ = isal_inflate(&state_);
      const std::size_t inflated = out.size() - state_.avail_out;
      if (inflated != 0) return inflated;
      if (at_end && result_ >= 0 && state_.block_state != ISAL_BLOCK_FINISH) fail("the gzip data is truncated", 0);
    }
  }

  [[noreturn]] void damaged() const {
    const char* what = result_ == ISAL_INCORRECT_CHECKSUM   ? "the checksum of the gzip data is wrong"
                       : result_ == ISAL_INVALID_WRAPPER    ? "no gzip header where one is expected"
                       : result_ == ISAL_UNSUPPORTED_METHOD ? "the gzip header names an unknown method"
                                                            : "the gzip data is damaged";
    fail(what, state_.avail_in);
  }

  inflate_state state_{};
  int result_ = ISAL_DECOMP_OK;  ///< of the last call; even an error may come with some text
};

/// Windows up to the first size are buffers like others; larger ones count, and none is larger than the second.
constexpr int uncounted_window_log = 23, largest_window_log = 27;

class ZstdStream final : public InflatedStream {
 public:
  explicit ZstdStream(const std::shared_ptr<ByteStream>& bytes) : InflatedStream(bytes), context_(ZSTD_createDCtx()) {
    if (!context_) throw Error(errc::out_of_memory, "cannot allocate a zstd context");
    if (const auto budget = current_budget(); budget)
      window_log_ =
          std::clamp(static_cast<int>(std::bit_width(budget->left())) - 1, uncounted_window_log, largest_window_log);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, window_log_);
  }

 private:
  std::size_t inflate(std::span<char> out) override {
    for (;;) {
      if (in_.pos == in_.size) {
        const std::span<char> input = refill();
        in_ = {input.data(), input.size(), 0};
        if (in_.size == 0 && in_frame_ == 0) return 0;
      }
      const bool at_end = in_.size == 0;
      ZSTD_outBuffer inflated{out.data(), out.size(), 0};
      in_frame_ = ZSTD_decompressStream(context_.get(), &inflated, &in_);
      if (ZSTD_isError(in_frame_) != 0) damaged();
      if (const std::uint64_t all = ZSTD_sizeof_DCtx(context_.get()), own = std::uint64_t{2} << uncounted_window_log;
          all > own + counted_.bytes())
        counted_.grow(all - own - counted_.bytes(), name() + ": the window of the zstd data");
      if (inflated.pos != 0) return inflated.pos;
      if (at_end && in_frame_ != 0) fail("the zstd data is truncated", 0);
    }
  }

  [[noreturn]] void damaged() const {
    const bool too_large = ZSTD_getErrorCode(in_frame_) == ZSTD_error_frameParameter_windowTooLarge;
    if (too_large && window_log_ != largest_window_log)
      throw Error(
          errc::out_of_memory,
          fmt::format("the zstd data needs a window of more than {} MiB", std::uint64_t{1} << (window_log_ - 20)),
          name(), "raise the memory limit, or compress the file again without --long or --ultra");
    if (too_large)
      throw Error(errc::unsupported, "the zstd data needs a window of more than 128 MiB", name(),
                  "compress the file again without --long or --ultra");
    fail(fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(in_frame_)), in_.size - in_.pos);
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  int window_log_ = largest_window_log;  ///< the most that is allowed
  MemoryReservation counted_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t in_frame_ = 0;  ///< what ZSTD_decompressStream returned: 0 between frames, or an error
};

/// Memory of a decoder, which is its dictionary and less than 1 MiB besides: up to the first size, for the 8 MiB of
/// xz -6, it is a buffer like others; more counts, and none takes more than the second. xz -9 has 64 MiB.
constexpr std::uint64_t uncounted_xz_bytes = std::uint64_t{9} << 20U, largest_xz_bytes = std::uint64_t{129} << 20U;

class XzStream final : public InflatedStream {
 public:
  explicit XzStream(const std::shared_ptr<ByteStream>& bytes) : InflatedStream(bytes) { start_stream(); }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;
  ~XzStream() override { lzma_end(&stream_); }

 private:
  /// Streams are told apart here: liblzma waits for a whole header, and calls whatever is none damage.
  void start_stream() {
    result_ = lzma_stream_decoder(&stream_, allowed_, LZMA_TELL_UNSUPPORTED_CHECK);
    padding_ = 0;
  }

  std::size_t inflate(std::span<char> out) override {
    for (;;) {
      if (result_ == LZMA_MEMLIMIT_ERROR) allow_more();
      if (result_ != LZMA_OK && result_ != LZMA_STREAM_END) damaged();
      if (stream_.avail_in == 0) {
        const std::span<char> input = refill();
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
        stream_.avail_in = input.size();
      }
      const bool at_end = stream_.avail_in == 0;
      if (result_ == LZMA_STREAM_END) {  // zeros may follow, four at a time, and then other streams
        for (; stream_.avail_in != 0 && *stream_.next_in == 0; ++stream_.next_in, --stream_.avail_in) ++padding_;
        if (at_end && padding_ % 4 == 0) return 0;
        if (at_end) result_ = LZMA_BUF_ERROR;
        if (stream_.avail_in == 0) continue;
        const bool header_begins = padding_ % 4 == 0 && *stream_.next_in == xz_magic;
        start_stream();
        if (!header_begins) result_ = LZMA_FORMAT_ERROR;
        if (result_ != LZMA_OK) continue;
      }
      stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
      stream_.avail_out = out.size();
      result_ = lzma_code(&stream_, LZMA_RUN);
      const std::size_t inflated = out.size() - stream_.avail_out;
      if (inflated != 0) return inflated;
    }
  }

  /// For the block that comes next.
  void allow_more() {
    const std::uint64_t needed = lzma_memusage(&stream_), dictionary = needed >> 20U;
    if (needed > largest_xz_bytes)
      throw Error(errc::unsupported,
                  fmt::format("the xz data needs a dictionary of {} MiB, which is more than 128 MiB", dictionary),
                  name(), "compress the file again with a lower preset");
    try {
      counted_.grow(needed - counted_.bytes(), fmt::format("the xz data's dictionary of {} MiB", dictionary));
    } catch (const Error& e) {
      throw Error(e.code(), e.message(), name(), e.remedy() + ", or compress the file again with a lower preset");
    }
    allowed_ = needed;
    result_ = lzma_memlimit_set(&stream_, allowed_);
  }

  [[noreturn]] void damaged() const {
    if (result_ == LZMA_MEM_ERROR) throw Error(errc::out_of_memory, "cannot allocate a decoder of xz", name());
    const char* what = result_ == LZMA_BUF_ERROR           ? "the xz data is truncated"
                       : result_ == LZMA_FORMAT_ERROR      ? "no xz header where one is expected"
                       : result_ == LZMA_UNSUPPORTED_CHECK ? "the xz header names an unknown checksum"
                       : result_ == LZMA_OPTIONS_ERROR     ? "the xz header names unknown filters or options"
                                                           : "the xz data is damaged, or its checksum is wrong";
    fail(what, stream_.avail_in);
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  lzma_ret result_ = LZMA_OK;  ///< of the last call; even an error may come with some text
  std::uint64_t allowed_ = uncounted_xz_bytes, padding_ = 0;
  MemoryReservation counted_;
};

}  // namespace

std::shared_ptr<ByteStream> inflate(std::shared_ptr<ByteStream> file) {
  using namespace std::string_view_literals;
  const std::string_view start = file->peek(4);
  if (start.starts_with("\x1F\x8B"sv)) return std::make_shared<GzipStream>(std::move(file));
  const bool skippable = start.size() == 4 && (start[0] & 0xF0) == 0x50 && start.substr(1) == "\x2A\x4D\x18"sv;
  if (start == "\x28\xB5\x2F\xFD"sv || skippable) return std::make_shared<ZstdStream>(std::move(file));
  if (start.size() == 4 && start.starts_with("BZh"sv) && start[3] >= '1' && start[3] <= '9')
    return inflate_bzip2(std::move(file));
  if (file->peek(6) == "\xFD\x37zXZ\0"sv) return std::make_shared<XzStream>(std::move(file));
  return file;
}

}  // namespace spmvpack::sources
