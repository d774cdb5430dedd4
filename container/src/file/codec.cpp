#include "file/codec.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace spmvpack {
namespace {

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

template <class T>
void filter_elements(bool delta, std::span<const std::byte> in, std::span<std::byte> out) {
  const std::size_t n = in.size() / sizeof(T);
  T previous = 0;
  for (std::size_t e = 0; e < n; ++e) {
    const T value = load<T>(in.data() + e * sizeof(T));
    const T kept = delta ? static_cast<T>(value - previous) : value;
    previous = value;
    for (std::size_t b = 0; b < sizeof(T); ++b) out[b * n + e] = static_cast<std::byte>(kept >> (8 * b));
  }
}

template <class T>
void unfilter_elements(bool delta, std::span<const std::byte> in, std::span<std::byte> out) {
  const std::size_t n = in.size() / sizeof(T);
  T previous = 0;
  for (std::size_t e = 0; e < n; ++e) {
    T value = 0;
    for (std::size_t b = 0; b < sizeof(T); ++b)
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(in[b * n + e]) << (8 * b)));
    if (delta) value = static_cast<T>(value + previous);
    previous = value;
    std::memcpy(out.data() + e * sizeof(T), &value, sizeof(T));
  }
}

template <class F>
void with_width(std::size_t width, F&& f) {
  switch (width) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(Bits128{});
  }
}

// Creating a context costs a megabyte of memory, so each thread keeps its own.
struct FreeContext {
  void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
};

}  // namespace

void apply_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out) {
  with_width(width, [&]<class T>(T) { filter_elements<T>(filter == format::Filter::delta, in, out); });
}

void undo_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out) {
  with_width(width, [&]<class T>(T) { unfilter_elements<T>(filter == format::Filter::delta, in, out); });
}

void zstd_compress(std::span<const std::byte> in, int level, std::vector<std::byte>& out) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  out.resize(ZSTD_compressBound(in.size()));
  const std::size_t size = ZSTD_compressCCtx(context.get(), out.data(), out.size(), in.data(), in.size(), level);
  if (ZSTD_isError(size) != 0)
    throw Error(errc::internal, fmt::format("zstd cannot compress a block: {}", ZSTD_getErrorName(size)));
  out.resize(size);
}

bool zstd_decompress(std::span<const std::byte> in, std::span<std::byte> out) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  // Exactly one frame: ZSTD_decompressDCtx alone would also accept several frames, and skippable ones.
  const std::size_t frame = ZSTD_findFrameCompressedSize(in.data(), in.size());
  if (ZSTD_isError(frame) != 0 || frame != in.size()) return false;
  if (in.size() < 4 || load<std::uint32_t>(in.data()) != ZSTD_MAGICNUMBER) return false;
  return ZSTD_decompressDCtx(context.get(), out.data(), out.size(), in.data(), in.size()) == out.size();
}

}  // namespace spmvpack
