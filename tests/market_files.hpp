#pragma once
// Matrix Market texts read in every way that must not matter.

#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "containers.hpp"
#include "spmvpack/encoder/matrix_market.hpp"

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
void in_every_way(encoder::MatrixMarketOptions options, F&& f) {
  for (const std::uint64_t chunk_bytes : {1U << 18, 1U, 7U, 100U}) {
    for (const int threads : {1, 4}) {
      options.chunk_bytes = chunk_bytes;
      options.threads = threads;
      f(options);
    }
  }
}

/// Reads the text as the file "a.mtx"; every way of reading it must give the same.
inline SourceMatrix read_text(const std::string& text, const encoder::MatrixMarketOptions& options = {}) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.mtx");
  write_file(path, text);
  SourceMatrix first = encoder::read_matrix_market(path, options);
  CsrView(first.matrix).check();
  in_every_way(options, [&](const encoder::MatrixMarketOptions& way) {
    const SourceMatrix again = encoder::read_matrix_market(path, way);
    REQUIRE(equal_bits(first.matrix, again.matrix));
    REQUIRE(first.field == again.field);
    REQUIRE(first.symmetry == again.symmetry);
    REQUIRE(to_text(first.provenance) == to_text(again.provenance));
  });
  return first;
}

}  // namespace spmvpack::test
