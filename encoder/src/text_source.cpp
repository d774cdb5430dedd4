#include "text_source.hpp"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "spmvpack/container/array.hpp"

namespace spmvpack::encoder {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr std::array<std::uint8_t, 2> gzip_magic{0x1F, 0x8B};
constexpr const char* remedy_damaged = "fetch or compress the file again";

class PlainText final : public TextSource {
 public:
  using TextSource::TextSource;

 private:
  std::size_t produce(std::span<char> out) override { return read_file(std::as_writable_bytes(out)); }
};

/// Inflates into a buffer of its own, always of the same size: how much text comes out before damage is then a matter
/// of the file, and not of how much is asked for at a time.
class CompressedText : public TextSource {
 public:
  CompressedText(std::shared_ptr<const ByteSource> file, std::string name)
      : TextSource(std::move(file), std::move(name)), input_(buffer_bytes), output_(buffer_bytes) {}

 protected:
  /// At least one byte of text to `out`, or 0 at its end.
  virtual std::size_t inflate(std::span<std::byte> out) = 0;
  /// The next bytes of the file.
  std::span<std::byte> refill() {
    const std::span<std::byte> all(input_.data(), input_.size());
    return all.first(read_file(all));
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

  Array<std::byte> input_, output_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what is left in output_
};

class GzipText final : public CompressedText {
 public:
  GzipText(std::shared_ptr<const ByteSource> file, std::string name)
      : CompressedText(std::move(file), std::move(name)) {
    start_member();
  }

 private:
  void start_member() {
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;  // parse the header, check CRC and length in the trailer
  }

  std::size_t inflate(std::span<std::byte> out) override {
    for (;;) {
      if (result_ < 0) damaged();
      if (state_.avail_in == 0) {
        const std::span<std::byte> input = refill();
        state_.next_in = reinterpret_cast<std::uint8_t*>(input.data());
        state_.avail_in = static_cast<std::uint32_t>(input.size());
      }
      const bool at_end = state_.avail_in == 0;
      if (state_.block_state == ISAL_BLOCK_FINISH) {
        if (at_end) return 0;
        start_member();
        if (*state_.next_in != gzip_magic[0]) {  // told here, because isal_inflate waits for a whole header
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
  int result_ = ISAL_DECOMP_OK;  ///< of the last call; where it is an error, some text may still have come with it
};

class ZstdText final : public CompressedText {
 public:
  ZstdText(std::shared_ptr<const ByteSource> file, std::string name)
      : CompressedText(std::move(file), std::move(name)), context_(ZSTD_createDCtx()) {
    if (!context_) throw Error(errc::out_of_memory, "cannot allocate a zstd context");
  }

 private:
  std::size_t inflate(std::span<std::byte> out) override {
    for (;;) {
      if (in_.pos == in_.size) {
        const std::span<std::byte> input = refill();
        in_ = {input.data(), input.size(), 0};
        if (in_.size == 0 && in_frame_ == 0) return 0;
      }
      const bool at_end = in_.size == 0;
      ZSTD_outBuffer inflated{out.data(), out.size(), 0};
      in_frame_ = ZSTD_decompressStream(context_.get(), &inflated, &in_);
      if (ZSTD_isError(in_frame_) != 0) damaged();
      if (inflated.pos != 0) return inflated.pos;
      if (at_end && in_frame_ != 0) fail("the zstd data is truncated", 0);
    }
  }

  [[noreturn]] void damaged() const {
    if (ZSTD_getErrorCode(in_frame_) == ZSTD_error_frameParameter_windowTooLarge)
      throw Error(errc::unsupported, "the zstd data needs a window of more than 128 MiB", name(),
                  "compress the file again without --long or --ultra");
    fail(fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(in_frame_)), in_.size - in_.pos);
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t in_frame_ = 0;  ///< what ZSTD_decompressStream returned: 0 between frames, or an error
};

}  // namespace

TextSource::TextSource(std::shared_ptr<const ByteSource> file, std::string name)
    : file_(std::move(file)), name_(std::move(name)) {}

std::size_t TextSource::read(std::span<char> out) {
  if (postponed_) std::rethrow_exception(postponed_);
  std::size_t done = 0;
  while (done < out.size()) {
    std::size_t n = 0;
    try {
      n = produce(out.subspan(done));
    } catch (const Error&) {
      postponed_ = std::current_exception();
      if (done == 0) throw;
      return done;
    }
    if (n == 0) break;
    done += n;
  }
  return done;
}

std::size_t TextSource::read_file(std::span<std::byte> out) {
  const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file_->size() - position_));
  if (n != 0) file_->read(position_, out.first(n));
  position_ += n;
  return n;
}

void TextSource::fail(const std::string& what, std::size_t unused) const {
  throw Error(errc::bad_input, what, fmt::format("{}: byte {} of the compressed file", name_, position_ - unused),
              remedy_damaged);
}

std::unique_ptr<TextSource> open_text(std::shared_ptr<const ByteSource> file, std::string name) {
  std::array<std::byte, 4> bytes{};
  file->read(0, std::span(bytes).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), file->size()))));
  const auto magic = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  if (magic(0) == gzip_magic[0] && magic(1) == gzip_magic[1])
    return std::make_unique<GzipText>(std::move(file), std::move(name));
  const bool frame = magic(0) == 0x28 && magic(1) == 0xB5 && magic(2) == 0x2F && magic(3) == 0xFD;
  const bool skippable = (magic(0) & 0xF0U) == 0x50 && magic(1) == 0x2A && magic(2) == 0x4D && magic(3) == 0x18;
  if (frame || skippable) return std::make_unique<ZstdText>(std::move(file), std::move(name));
  return std::make_unique<PlainText>(std::move(file), std::move(name));
}

}  // namespace spmvpack::encoder
