#pragma once
// Texts of matrices read in every way that must not matter.

#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "containers.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/sources/matrix_market.hpp"

namespace spmvpack::test {

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Calls f(options) with pieces of many sizes, down to those that put every line on a boundary, and threads.
template <class F>
void in_every_way(sources::MatrixMarketOptions options, F&& f) {
  for (const std::uint64_t chunk_bytes : {1U << 18, 1U, 7U, 100U}) {
    for (const int threads : {1, 4}) {
      options.chunk_bytes = chunk_bytes;
      options.threads = threads;
      f(options);
    }
  }
}

/// A reader of files, such as sources::read_matrix_market.
using Reader = SourceMatrix (*)(const std::string& path, const sources::TextOptions& options);

/// Reads the text as the file `name`; every way of reading it must give the same.
inline SourceMatrix read_file_of(const std::string& text, const std::string& name, Reader read,
                                 const sources::TextOptions& options = {}) {
  const TemporaryDirectory directory;
  const std::string path = directory.file(name);
  write_file(path, text);
  SourceMatrix first = read(path, options);
  CsrView(first.matrix).check();
  in_every_way(options, [&](const sources::TextOptions& way) {
    const SourceMatrix again = read(path, way);
    REQUIRE(equal_bits(first.matrix, again.matrix));
    REQUIRE(first.field == again.field);
    REQUIRE(first.symmetry == again.symmetry);
    REQUIRE(to_text(first.provenance) == to_text(again.provenance));
    REQUIRE(again.warnings.size() == first.warnings.size());
    for (std::size_t i = 0; i < first.warnings.size(); ++i) REQUIRE(again.warnings[i] == first.warnings[i]);
  });
  return first;
}
/// The same as Matrix Market, of the name "a.mtx".
inline SourceMatrix read_text(const std::string& text, const sources::MatrixMarketOptions& options = {}) {
  return read_file_of(text, "a.mtx", sources::read_matrix_market, options);
}

/// The text, as the file `name`, must be refused at `place` ("line:column", or empty) in every way of reading it.
inline void require_refusal(const std::string& text, const std::string& name, Reader read, const std::string& place,
                            const std::string& what, errc code, const sources::TextOptions& options) {
  INFO(escape(text, 1000));
  const TemporaryDirectory directory;
  const std::string path = directory.file(name);
  write_file(path, text);
  in_every_way(options, [&](const sources::TextOptions& way) {
    INFO("chunks of " << way.chunk_bytes << ", threads " << way.threads);
    try {
      read(path, way);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK_THAT(e.message(), Catch::Contains(what));
      CHECK(e.code() == code);
      CHECK(e.where() == (place.empty() ? path : path + ":" + place));
    }
  });
}

}  // namespace spmvpack::test
