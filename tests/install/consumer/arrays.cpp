// Encodes the matrix of A.mtx from arrays: what a program links that reads no matrix files.

#include <cstdint>
#include <span>
#include <vector>

#include "spmvpack/encoder/encode.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<std::uint32_t> row_ptr{0, 2, 2, 5}, col_idx{0, 3, 0, 1, 2};
  const std::vector<double> values{0.5, 2, -1, 1e-300, 3};
  const spmvpack::CsrView a(3, 4, std::span(row_ptr), std::span(col_idx), std::span(values));
  spmvpack::encoder::encode(a, {}, argv[1]);
}
