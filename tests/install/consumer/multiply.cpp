// Loads a container and prints y = A x for x = 1, 2, 3, ...; a file that is no container must be an Error that can be
// caught here, on the other side of a library boundary.

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include "spmvpack/host_loader/host_matrix.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto matrix = spmvpack::host_loader::HostMatrix::load(argv[1]);
    std::vector<double> x(matrix.facts().cols), y(matrix.facts().rows);
    std::iota(x.begin(), x.end(), 1.0);
    matrix.multiply<double>(1.0, x, 0.0, y);
    for (const double value : y) std::printf("%.17g\n", value);
    return 0;
  } catch (const spmvpack::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return e.code() == spmvpack::errc::bad_input ? 3 : 1;
  }
}
