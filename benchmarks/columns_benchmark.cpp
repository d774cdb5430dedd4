// Y = A X with several columns at once on the host, beside as many multiplies of one: columns_benchmark THREADS RUNS
// A.spmvc... Prints JSON. Runs take turns, X and Y lie by rows; single multiplies have contiguous vectors. Of
// containers that are updatable, instead: new values beside a multiply.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/host_loader/timing.hpp"

namespace {

using namespace spmvpack;

/// Seconds of the processor with one thread, in which those of other processes are not; else by the clock.
template <class F>
double seconds(int threads, F&& f) {
  const auto cpu = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  f();
  if (threads == 1) return static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

template <class T>
std::string measure(const host_loader::HostMatrix& a, int threads, int runs) {
  const std::uint64_t rows = a.facts().rows, cols = a.facts().cols;
  std::string text;
  for (const std::uint64_t k : {2U, 4U, 8U, 9U, 16U}) {
    std::vector<T> x(cols * k), y(rows * k);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(static_cast<double>(i * 7919 % 1009) / 1009 - 0.5);
    const auto at = [](auto* data, std::uint64_t n, std::uint64_t columns, bool by_rows) {
      return DenseView(data, n, columns, static_cast<std::int64_t>(by_rows ? columns : 1),
                       static_cast<std::int64_t>(by_rows ? 1 : n));
    };
    std::vector<double> by_rows, by_columns, single;
    for (int run = 0; run < runs + 1; ++run) {  // the first one warms up
      by_rows.push_back(seconds(threads, [&] {
        a.multiply<T>(1, at(std::as_const(x).data(), cols, k, true), 0, at(y.data(), rows, k, true), threads);
      }));
      by_columns.push_back(seconds(threads, [&] {
        a.multiply<T>(1, at(std::as_const(x).data(), cols, k, false), 0, at(y.data(), rows, k, false), threads);
      }));
      single.push_back(seconds(threads, [&] {
        for (std::uint64_t j = 0; j < k; ++j)
          a.multiply<T>(1, {x.data() + j * cols, cols}, 0, DenseView<T>(y.data() + j * rows, rows), threads);
      }));
    }
    for (auto* times : {&by_rows, &by_columns, &single}) times->erase(times->begin());
    text += fmt::format(R"({}{{"columns":{},"by_rows":{:.6g},"by_columns":{:.6g},"singles":{:.6g}}})",
                        text.empty() ? "" : ",", k, median(by_rows), median(by_columns), median(single));
  }
  return text;
}

template <class T>
std::string measure_updates(host_loader::HostMatrix& a, int threads, int runs) {
  const MatrixFacts& facts = a.facts();
  std::vector<T> x(facts.cols, 1), y(facts.rows), values(facts.nnz), copy(facts.nnz);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k % 1009 + 1);
  std::vector<double> multiply, update, copied;
  for (int run = 0; run < runs + 1; ++run) {
    multiply.push_back(seconds(threads, [&] {
      a.multiply<T>(1, {x.data(), facts.cols}, 0, DenseView<T>(y.data(), facts.rows), threads);
    }));
    update.push_back(seconds(threads, [&] { a.update_values(std::span<const T>(values), threads); }));
    copied.push_back(seconds(1, [&] { std::copy(values.begin(), values.end(), copy.begin()); }));
  }
  for (auto* times : {&multiply, &update, &copied}) times->erase(times->begin());
  return fmt::format(R"({{"multiply":{:.6g},"update":{:.6g},"copy":{:.6g}}})", median(multiply), median(update),
                     median(copied));
}

/// As updatable, if it can be.
host_loader::HostMatrix load(const Container& file) {
  LoadOptions options;
  options.updatable = file.provenance().options.find("--updatable") != std::string::npos;
  return host_loader::HostMatrix::load(file, options);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw Error(errc::usage, "columns_benchmark THREADS RUNS A.spmvc...");
  const int threads = std::atoi(argv[1]), runs = std::atoi(argv[2]);
  fmt::print(R"({{"processor":"{}","instructions":"{}","threads":{},"runs":{},"time":"{}","matrices":[)",
             host_loader::processor_name(), instruction_set(), threads, runs, threads == 1 ? "cpu" : "clock");
  for (int i = 3; i < argc; ++i) {
    const Container file = Container::open(argv[i]);
    host_loader::HostMatrix a = load(file);
    const MatrixFacts& facts = a.facts();
    std::string layouts;
    for (const PartInfo& part : file.parts()) layouts += (layouts.empty() ? "" : "+") + std::string(part.layout);
    const auto times = [&]<class T>(T) {
      return a.updatable() ? measure_updates<T>(a, threads, runs) : measure<T>(a, threads, runs);
    };
    fmt::print("{}\n{{\"file\":\"{}\",\"layout\":\"{}\",\"rows\":{},\"nnz\":{},\"bytes\":{},\"times\":[{}]}}",
               i == 3 ? "" : ",", argv[i], layouts, facts.rows, facts.nnz, file.device_bytes(),
               facts.value_type == ValueType::f32 ? times(float{}) : times(double{}));
    std::fflush(stdout);
  }
  fmt::print("\n]}}\n");
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "{}\n", e.what());
  return EXIT_FAILURE;
}
