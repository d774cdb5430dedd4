// Reads a matrix, prints what each layout costs and writes it as ccoo: one function of every room that is installed.

#include "spmvpack/encoder/encode.hpp"

#include <cstdio>

#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/encoder/source.hpp"
#include "spmvpack/gpu_loader/device.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const spmvpack::SourceMatrix source = spmvpack::encoder::read_matrix(argv[1]);
  std::fputs(spmvpack::analyzer::to_text(spmvpack::analyzer::make_report(source)).c_str(), stdout);
  const auto plan = spmvpack::encoder::find_layout_encoder("ccoo").plan(source.matrix, {});
  spmvpack::write_container(argv[2], spmvpack::encoder::container_source(source, *plan, {}));
  std::printf("%s CUDA, %d threads\n", spmvpack::gpu_loader::built_with_cuda() ? "with" : "without",
              spmvpack::thread_count(0));
}
