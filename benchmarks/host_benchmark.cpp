// Encoding and multiplying on the host. `host_benchmark --benchmark_format=json` for the record,
// docs/BENCHMARKS_HOST.md for what is expected of it.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <random>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/generators/matrix_build.hpp"
#include "spmvpack/generators/stencils.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::generators {
namespace {

/// 81 entries a row in runs of 3, as trilinear elasticity has them.
CsrMatrix rows_of_81(std::uint64_t nodes_per_side) {
  const auto n = static_cast<std::int64_t>(nodes_per_side);
  std::vector<std::uint32_t> columns;
  std::vector<std::uint64_t> row_ptr{0};
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x)
        for (int dof = 0; dof < 3; ++dof) {
          for (std::int64_t w = std::max<std::int64_t>(z - 1, 0); w <= std::min(z + 1, n - 1); ++w)
            for (std::int64_t v = std::max<std::int64_t>(y - 1, 0); v <= std::min(y + 1, n - 1); ++v)
              for (std::int64_t u = std::max<std::int64_t>(x - 1, 0); u <= std::min(x + 1, n - 1); ++u)
                for (int d = 0; d < 3; ++d)
                  columns.push_back(static_cast<std::uint32_t>(3 * ((w * n + v) * n + u) + d));
          row_ptr.push_back(columns.size());
        }
  CsrMatrix a = allocate_csr(row_ptr.size() - 1, row_ptr.size() - 1, columns.size(), ValueType::f64);
  std::copy(row_ptr.begin(), row_ptr.end(), a.row_ptr.begin());
  std::copy(columns.begin(), columns.end(), a.col_idx.begin());
  std::mt19937_64 rng(1);
  for (double& v : std::get<Array<double>>(a.values)) v = static_cast<double>(rng() >> 11) * 0x1p-53;
  return a;
}

struct Case {
  std::string name;
  CsrMatrix matrix;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> c;
    c.push_back({"7-point, 5 values", build_generated(ConvectionDiffusion({148, 148, 58}), {}).matrix});
    c.push_back({"7-point, all different",
                 build_generated(ConvectionDiffusion({148, 148, 58}, {Coefficients::Kind::random}), {}).matrix});
    c.push_back({"5-point, 2 values", build_generated(Laplace2d(1500, 1500, false), {}).matrix});
    c.push_back({"81 per row, all different", rows_of_81(42)});
    return c;
  }();
  return all;
}

void count_nonzeros(benchmark::State& state, const CsrMatrix& a, std::uint64_t bytes) {
  state.SetItemsProcessed(static_cast<std::int64_t>(a.nnz()) * state.iterations());
  state.counters["bytes/nnz"] = static_cast<double>(bytes) / static_cast<double>(a.nnz());
}

void plan_ccoo(benchmark::State& state, const CsrMatrix& a, int threads) {
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    encoder::PlanOptions options;
    options.threads = threads;
    bytes = encoder::find_strategy("ccoo").plan(a, options).device_bytes();
    benchmark::DoNotOptimize(bytes);
  }
  count_nonzeros(state, a, bytes);
}

void count_values(benchmark::State& state, const CsrMatrix& a, int threads) {
  for (auto _ : state) benchmark::DoNotOptimize(encoder::ValueTable::count(a, threads)->distinct());
  count_nonzeros(state, a, a.view().bytes());
}

void fill_ccoo(benchmark::State& state, const CsrMatrix& a, int threads) {
  const encoder::PartPlan plan = std::move(encoder::find_strategy("ccoo").plan(a, {}).parts[0]);
  constexpr std::uint64_t piece = 1U << 20;
  std::vector<Array<std::byte>> sections;
  for (const SectionShape& s : plan.sections) sections.emplace_back(s.raw_bytes(), std::byte{});
  for (auto _ : state)
    for (std::size_t i = 0; i < sections.size(); ++i)
      parallel_pieces(sections[i].size(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
        fill_section(plan, a, i, begin, {sections[i].data() + begin, end - begin});
      });
  count_nonzeros(state, a, plan.device_bytes());
}

/// The yardstick: what anybody would write. Its compiler flags are the benchmark's, -O3.
void plain_csr(benchmark::State& state, const CsrMatrix& a, int threads) {
  const std::vector<double> x(a.cols, 1.0);
  std::vector<double> y(a.rows);
  std::vector<std::uint32_t> row_ptr(a.row_ptr.begin(), a.row_ptr.end());
  const double* const values = std::get<Array<double>>(a.values).data();
  const std::uint32_t* const col_idx = a.col_idx.data();
  const auto rows = static_cast<std::int64_t>(a.rows);
  for (auto _ : state) {
#pragma omp parallel for schedule(static) num_threads(thread_count(threads))
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      double sum = 0;
      for (std::uint32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * x[col_idx[k]];
      y[i] = sum;
    }
    benchmark::ClobberMemory();
  }
  count_nonzeros(state, a, a.nnz() * 12 + (a.rows + 1) * 4);
}

void multiply(benchmark::State& state, const CsrMatrix& a, const std::string& layout, int threads) {
  // Through a file, as a user has it.
  const std::string path = fmt::format("/tmp/spmvpack-benchmark-{}.spmvc", std::random_device{}());
  SourceMatrix source;
  source.matrix = allocate_csr(a.rows, a.cols, a.nnz(), ValueType::f64);
  std::copy(a.row_ptr.begin(), a.row_ptr.end(), source.matrix.row_ptr.begin());
  std::copy(a.col_idx.begin(), a.col_idx.end(), source.matrix.col_idx.begin());
  source.matrix.values = std::get<Array<double>>(a.values).clone();
  const encoder::EncodeResult encoded = encoder::encode(source, {.strategy = layout}, path);
  const auto loaded = host_loader::HostMatrix::load(path);
  std::remove(path.c_str());
  const std::vector<double> x(a.cols, 1.0);
  std::vector<double> y(a.rows);
  for (auto _ : state) {
    loaded.multiply<double>(1.0, x, 0.0, y, threads);
    benchmark::ClobberMemory();
  }
  count_nonzeros(state, a, encoded.device_bytes);
}

void add_benchmarks() {
  for (const Case& c : cases())
    for (const int threads : {1, thread_count(0)}) {
      const auto add = [&](const std::string& what, auto function) {
        benchmark::RegisterBenchmark(fmt::format("{}/{}/threads:{}", what, c.name, threads).c_str(), function)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      };
      const CsrMatrix& a = c.matrix;
      add("count values", [&a, threads](benchmark::State& s) { count_values(s, a, threads); });
      add("plan ccoo", [&a, threads](benchmark::State& s) { plan_ccoo(s, a, threads); });
      add("fill ccoo", [&a, threads](benchmark::State& s) { fill_ccoo(s, a, threads); });
      add("multiply plain csr", [&a, threads](benchmark::State& s) { plain_csr(s, a, threads); });
      for (const encoder::LayoutEncoder& encoder : encoder::layout_encoders()) {
        const std::string layout(encoder.name);
        add("multiply " + layout, [&a, layout, threads](benchmark::State& s) { multiply(s, a, layout, threads); });
      }
    }
}

}  // namespace
}  // namespace spmvpack::generators

int main(int argc, char** argv) {
  spmvpack::generators::add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
