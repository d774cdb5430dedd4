#include "spmvpack/sources/read_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "npz/reader.hpp"
#include "source/real_parts.hpp"
#include "source/text_readers.hpp"
#include "source/text_source.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/narrowing.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"

namespace spmvpack::sources {
namespace {

bool is_container(ByteStream& file) {
  const std::string_view start = file.peek(format::magic.size());
  if (start.size() < format::magic.size()) file.throw_postponed();  // no disk error makes a file something else
  return std::equal(start.begin(), start.end(), format::magic.begin(), format::magic.end(),
                    [](char c, std::uint8_t m) { return static_cast<std::uint8_t>(c) == m; });
}

/// All bytes of a stream in memory, because a container needs random access.
class StreamContents final : public ByteSource {
 public:
  StreamContents(ByteStream& file, std::uint64_t memory_limit) {
    constexpr std::uint64_t first = 1 << 16;
    std::uint64_t capacity = first;
    for (std::size_t n = 1; n != 0; size_ += n) {
      if (size_ == bytes_.size()) {
        require_memory(bytes_.size() + capacity, memory_limit, "a container that is not a regular file");
        Array<char> larger(capacity);
        std::copy(bytes_.begin(), bytes_.end(), larger.begin());
        bytes_ = std::move(larger);
        capacity *= 2;
      }
      n = file.read({bytes_.data() + size_, bytes_.size() - size_});
    }
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      throw Error(errc::io, fmt::format("{} bytes at {} of {}", out.size(), offset, size_));
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  Array<char> bytes_;
  std::uint64_t size_ = 0;
};

Container open_container(const std::string& path, ByteStream& file, std::uint64_t memory_limit) {
  if (path != "-" && file.rewind()) return Container::open(path, memory_limit);
  return Container::open(std::make_shared<StreamContents>(file, memory_limit), file.name(), memory_limit);
}

/// Rounds the values of the matrix from Wide to Narrow; the provenance records how much was lost.
template <class Wide, class Narrow>
void round(SourceMatrix& source, const std::string& path, int threads) {
  CsrMatrix& m = source.matrix;
  const auto& from = std::get<Array<Wide>>(m.values);
  Array<Narrow> to(from.size());
  std::mutex guard;
  Rounding rounding;
  std::uint64_t zeros = 0;
  constexpr std::uint64_t piece = 1U << 16;
  parallel_pieces(from.size(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    Rounding here;
    std::uint64_t zeros_here = 0;
    for (std::uint64_t k = begin; k < end; ++k) {
      to[k] = static_cast<Narrow>(from[k]);
      zeros_here += to[k] == Narrow{0} ? 1 : 0;
      if (is_beyond(from[k], to[k]))
        throw Error(errc::bad_input,
                    fmt::format("the value {} of entry {} is beyond {}", value_text(from[k]), k,
                                to_string(value_type_of<Narrow>)),
                    path, fmt::format("encode the matrix as {}", to_string(value_type_of<Wide>)));
      here.count(to[k], from[k], 1);
    }
    const std::lock_guard lock(guard);
    rounding.add(here);
    zeros += zeros_here;
  });
  state_rounding(rounding, source.provenance);
  source.provenance.explicit_zeros = zeros;
  m.values = std::move(to);
}

/// Gives the matrix the type of values that the options ask for.
void convert(SourceMatrix& source, const std::string& path, const SourceOptions& options) {
  const ValueType has = source.matrix.value_type(), wanted = options.value_type.value_or(has);
  if (has == wanted) return;
  if (holds_complex(has) && !holds_complex(wanted)) {
    take_real_parts(source, path, options.threads);
    return convert(source, path, options);
  }
  if (has == ValueType::f64 && wanted == ValueType::f32) return round<double, float>(source, path, options.threads);
  if (has == ValueType::c128 && wanted == ValueType::c64)
    return round<std::complex<double>, std::complex<float>>(source, path, options.threads);
  if (holds_complex(wanted) && !holds_complex(has))
    throw Error(errc::usage, fmt::format("the file holds {} values, not {}", to_string(has), to_string(wanted)), path,
                "read them as f64 or f32");
  throw Error(errc::usage,
              fmt::format("the file holds {} values; the digits for {} are lost", to_string(has), to_string(wanted)),
              path, fmt::format("encode the original source as {}", to_string(wanted)));
}

SourceMatrix read_container(const Container& container, const SourceOptions& options) {
  const std::string& path = container.name();
  LoadOptions load;
  load.threads = options.threads;
  load.memory_limit = options.memory_limit;
  load.progress = options.progress;
  SourceMatrix source{unpack(container, load), container.facts().field, container.facts().symmetry,
                      container.provenance(load), read_share(container, load)};
  convert(source, path, options);
  return source;
}

}  // namespace

Container open_container(const std::string& path, std::uint64_t memory_limit) {
  const MemoryScope memory(memory_limit, "opening " + escape(path, 400));
  const std::shared_ptr<ByteStream> file = open_stream(path);
  if (is_container(*file)) return open_container(path, *file, memory_limit);
  // The first bytes are enough to recognise a container.
  const std::string_view start = file->peek(format::magic.size());
  return Container::open(memory_source(std::as_bytes(std::span(start))), file->name());
}

ReadResult read_source(const std::string& path, const SourceOptions& options) {
  const MemoryScope memory(options.memory_limit, "reading " + escape(path, 400));
  std::shared_ptr<ByteStream> file = open_stream(path);
  if (is_container(*file)) {
    Container container = open_container(path, *file, options.memory_limit);
    SourceMatrix matrix = read_container(container, options);
    return {std::move(matrix), std::move(container)};
  }
  TextOptions text_options;
  text_options.value_type = options.value_type;
  text_options.threads = options.threads;
  text_options.memory_limit = options.memory_limit;
  text_options.progress = options.progress;
  const std::string name(path == "-" ? file->name() : path);
  std::shared_ptr<ByteStream> text = open_text(file);
  if (is_npz(*text)) {
    ReadResult source{read_npz(std::move(text), name, text_options), std::nullopt};
    convert(source.matrix, name, options);
    return source;
  }
  return {format_of(*text) == TextFormat::matrix_market ? read_matrix_market(std::move(text), name, text_options)
                                                        : read_rutherford_boeing(std::move(text), name, text_options),
          std::nullopt};
}

SourceMatrix read_matrix(const std::string& path, const SourceOptions& options) {
  return read_source(path, options).matrix;
}

}  // namespace spmvpack::sources
