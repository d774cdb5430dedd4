// Reads one Matrix Market file once and prints what it took as a line of JSON; benchmarks/bench_reader.py runs it.
//
//     reader_benchmark A.mtx THREADS

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "spmvpack/sources/matrix_market.hpp"

namespace {

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    fmt::print(stderr, "usage: reader_benchmark A.mtx THREADS\n");
    return 2;
  }
  spmvpack::sources::MatrixMarketOptions options;
  options.threads = std::atoi(argv[2]);
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  const spmvpack::SourceMatrix source = spmvpack::sources::read_matrix_market(argv[1], options);
  const double cpu = cpu_seconds() - cpu_start;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  constexpr long kibibyte = 1024;
  fmt::print(R"({{"seconds": {}, "cpu_seconds": {}, "peak_bytes": {}, "csr_bytes": {}, "nonzeros": {}}})"
             "\n",
             wall.count(), cpu, use.ru_maxrss * kibibyte, source.matrix.view().bytes(), source.matrix.nnz());
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "reader_benchmark: {}\n", e.what());
  return 1;
}
