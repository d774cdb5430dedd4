#pragma once
// Encoding and reading back in tests.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::test {

/// A directory that is gone when the test is.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "spmvpack-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary directory");
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> read_file(const std::string& path) {
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    throw std::runtime_error("cannot read " + path);
  return bytes;
}

inline CsrMatrix clone(const CsrMatrix& a) {
  CsrMatrix b;
  b.rows = a.rows;
  b.cols = a.cols;
  b.row_ptr = a.row_ptr.clone();
  b.col_idx = a.col_idx.clone();
  std::visit([&](const auto& v) { b.values = v.clone(); }, a.values);
  return b;
}

struct Encoded {
  std::vector<std::byte> bytes;
  std::uint64_t device_bytes = 0, predicted_bytes = 0;
};

/// The bytes that a sink has been given. Most tests need no file: they depend on no disk, and wait for none.
inline std::vector<std::byte> bytes_of(MemorySink& sink) {
  const Array<std::byte> bytes = sink.take();
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::byte> written(const ContainerSource& source) {
  MemorySink sink;
  write_container(sink, source);
  return bytes_of(sink);
}

/// The container that encode() makes of `source` by `strategy`.
inline Encoded encode(const SourceMatrix& source, const encoder::Strategy& strategy, encoder::EncodeRequest request) {
  MemorySink sink;
  request.strategy = strategy.name;
  const encoder::EncodeResult result = encoder::encode(source, strategy, request, sink);
  MatrixFacts facts;  // sizes do not depend on digests and symmetries, which take long to find again
  facts.rows = source.matrix.rows;
  facts.cols = source.matrix.cols;
  facts.nnz = source.matrix.nnz();
  facts.value_type = source.matrix.value_type();
  const ContainerSource contents =
      encoder::container_source(facts, source.provenance, {source.matrix, result.plan}, request);
  return {bytes_of(sink), result.device_bytes, file_bytes_uncompressed(contents)};
}

/// The same by a strategy's name.
inline Encoded encode(const CsrMatrix& a, const std::string& layout, std::map<std::string, std::string> settings = {},
                      format::Codec codec = format::Codec::none, int threads = 2) {
  const SourceMatrix source{clone(a), field_of(a.value_type()), Symmetry::general, {}};
  return encode(source, encoder::find_strategy(layout),
                {.settings = std::move(settings), .codec = codec, .threads = threads, .force_size = true});
}

/// The plan of a layout alone for the whole matrix.
inline encoder::PartPlan plan_of(const CsrView& a, std::string_view layout, const encoder::PlanOptions& options = {}) {
  return encoder::find_layout_encoder(layout).plan(encoder::PartMatrix::whole(a, options), options);
}

/// The same if tests of many matrices take this one in this layout: nothing if padding makes megabytes of it, or if the
/// layout refuses it.
inline std::optional<encoder::PartPlan> plan_if_suits(const CsrView& a, std::string_view layout,
                                                      const encoder::PlanOptions& options = {}) {
  try {
    encoder::PartPlan plan = plan_of(a, layout, options);
    if (plan.device_bytes() <= std::max(encoder::always_allowed, encoder::max_growth * a.bytes())) return plan;
  } catch (const Error& e) {
    if (e.code() != errc::unsupported) throw;
  }
  return std::nullopt;
}
inline bool suits(const CsrView& a, std::string_view layout, const encoder::PlanOptions& options = {}) {
  return plan_if_suits(a, layout, options).has_value();
}

/// A file with these parts, as they were planned, of a matrix of which they need not be all. `whole`: the entries of
/// those that have none of their own.
inline std::vector<std::byte> file_of(std::uint64_t rows, std::uint64_t cols, ValueType type,
                                      const std::vector<encoder::PartPlan>& parts, const CsrView& whole = {}) {
  ContainerSource source;
  source.facts.rows = rows;
  source.facts.cols = cols;
  source.facts.value_type = type;
  if (holds_complex(type)) source.facts.field = Field::complex;
  for (const encoder::PartPlan& part : parts) {
    source.facts.nnz += part.info.nnz;
    source.parts.push_back(encoder::part_source(part, whole));
  }
  return written(source);
}

/// The matrix as one part, whose rows are at these places of `size` rows.
inline std::vector<std::byte> with_rows(const CsrView& a, std::string_view layout, const encoder::PlanOptions& options,
                                        const encoder::PartIndices& places, std::uint64_t size) {
  const encoder::PartPlan part = encoder::find_layout_encoder(layout).plan(
      {a, places, encoder::PartIndices::all(a.cols()), nullptr, nullptr}, options);
  return file_of(size, a.cols(), a.value_type(), {part}, a);
}

/// The names of all layouts.
inline std::vector<std::string> layout_names() {
  std::vector<std::string> names;
  for (const encoder::LayoutEncoder& layout : encoder::layout_encoders()) names.emplace_back(layout.name);
  return names;
}

inline Container open(const std::vector<std::byte>& bytes) {
  return Container::open(memory_source(bytes), "test.spmvc");
}

}  // namespace spmvpack::test
