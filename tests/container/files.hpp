#pragma once
// What the tests of containers share: a small matrix, and what becomes of a file.

#include <random>
#include <vector>

#include "containers.hpp"
#include "matrices.hpp"

namespace spmvpack::test {

inline CsrMatrix small_matrix(std::uint32_t cols = 17) {
  std::mt19937_64 rng(4);
  Entries entries;
  for (std::uint32_t r = 0; r < 12; ++r)
    for (std::uint32_t i = 0; i < r % 5; ++i)
      entries[{r, (r * 3 + i * 2) % cols}] = i == 0 ? 1.0 : random_value<double>(rng, 3);
  return make_csr(12, cols, entries);
}

/// The kind of error that work() ends with; 0 if none.
template <class Work>
errc refusal(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.code();
  }
  return errc{};
}

/// What opening and unpacking a file comes to.
inline errc verdict(const std::vector<std::byte>& bytes) {
  return refusal([&] {
    unpack(open(bytes));
    (void)open(bytes).provenance();
  });
}

/// A file of `a` whose header names this field and this symmetry.
inline std::vector<std::byte> claiming(const CsrMatrix& a, Field field, Symmetry symmetry) {
  return encode({clone(a), field, symmetry, {}}, encoder::find_strategy("csr"), {}).bytes;
}

inline SourceMatrix source_of(const CsrMatrix& a) { return {clone(a), Field::integer, Symmetry::general, {}}; }

}  // namespace spmvpack::test
