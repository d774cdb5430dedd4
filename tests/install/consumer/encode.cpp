// Reads a matrix, prints what each layout costs and encodes it: one function of every room that is installed.

#include "spmvpack/encoder/encode.hpp"

#include <cstdio>

#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/sources/read_matrix.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const spmvpack::SourceMatrix source = spmvpack::sources::read_matrix(argv[1]);
  std::fputs(spmvpack::analyzer::to_text(spmvpack::analyzer::make_report(source)).c_str(), stdout);
  spmvpack::encoder::encode(source, {}, argv[2]);
  std::printf("%s CUDA, %d threads\n", spmvpack::gpu_loader::built_with_cuda() ? "with" : "without",
              spmvpack::thread_count(0));
}
