// Times update_values() on a GPU beside the multiply of the same matrix, an encode, and a copy of the values, which is
// what cuSPARSE's users do. A table goes to standard output, all figures to a JSON file. Caches are flushed.
//
//     updates_benchmark RUNS OUT.json MEMBER...       of the frozen suite

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/device_memory.hpp"
#include "bench/sample.hpp"
#include "bench/scratch.hpp"
#include "bench/suite.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::bench {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;

struct Form {
  const char *name, *layout;
  std::map<std::string, std::string> settings;
  bool transpose = false;
};
const std::vector<Form> forms{{"csr", "csr", {}},
                              {"coo", "coo", {}},
                              {"ell", "ell", {}},
                              {"sell", "sell", {}},
                              {"ccoo", "ccoo", {}},
                              {"csell", "csell", {{"csell.values", "raw"}}},
                              {"bitflag", "bitflag", {{"bitflag.values", "raw"}}},
                              {"csr, and A^T", "csr", {}, true},
                              {"csell, and A^T", "csell", {{"csell.values", "raw"}}, true}};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::json measure_member(const std::string& name, int runs) {
  const SourceMatrix source = make_member(find_member(suite(), name));
  const CsrView a = source.matrix.view();
  const std::uint64_t bytes = a.nnz() * sizeof(double), longest = std::max(a.rows(), a.cols());
  const std::shared_ptr<void> values = upload(a.value_bytes(), bytes), copy = allocate_device(bytes),
                              x = upload(Array<double>(longest, 1.0)), y = allocate_device(longest * sizeof(double));
  const auto* const of_values = static_cast<const double*>(values.get());
  gpu_loader::DeviceTimer timer;
  const auto median = [&](const std::function<void()>& work) {
    timer.run(work, true);
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(runs));
    for (int i = 0; i < runs; ++i) times.push_back(timer.run(work, true));
    return summarise(times).median * 1e6;
  };
  const double copied = median([&] {
    require_cuda(cudaMemcpyAsync(copy.get(), of_values, bytes, cudaMemcpyDeviceToDevice, timer.stream()), "copying");
  });
  fmt::print("{}: {} rows, {} nonzeros, a copy of the values {:.1f} us\n", name, a.rows(), a.nnz(), copied);
  nlohmann::json all{{"matrix", name}, {"rows", a.rows()}, {"nonzeros", a.nnz()}, {"copy_us", copied}};
  for (const Form& form : forms) try {
      encoder::EncodeRequest request;
      request.strategy = form.layout;
      request.settings = form.settings;
      request.transpose = form.transpose;
      const auto start = std::chrono::steady_clock::now();
      const Container container = encode_to_scratch(source, request);
      const double encoded = seconds_since(start);
      DeviceLoadOptions options;
      options.updatable = true;
      const auto loading = std::chrono::steady_clock::now();
      const DeviceMatrix matrix = DeviceMatrix::load(container, timer.stream(), options);
      const double loaded = seconds_since(loading);
      const gpu_loader::DeviceMultiplier multiplier(matrix);
      const double multiply = median([&] {
        multiplier.multiply<double>(1.0, {static_cast<const double*>(x.get()), a.cols()}, 0.0,
                                    DenseView<double>(static_cast<double*>(y.get()), a.rows()), timer.stream());
      });
      const double update =
          median([&] { matrix.update_values(std::span<const double>(of_values, a.nnz()), timer.stream()); });
      fmt::print(
          "  {:15} multiply {:8.1f} us, update {:8.1f} us: {:5.2f} multiplies; encode {:.2f} s, load {:.2f} s, "
          "{:.1f} bytes an entry, prepared {:.1f}\n",
          form.name, multiply, update, update / multiply, encoded, loaded,
          static_cast<double>(matrix.device_bytes()) / static_cast<double>(a.nnz()),
          static_cast<double>(matrix.prepared_bytes()) / static_cast<double>(a.nnz()));
      all["forms"].push_back({{"form", form.name},
                              {"multiply_us", multiply},
                              {"update_us", update},
                              {"encode_seconds", encoded},
                              {"load_seconds", loaded},
                              {"device_bytes", matrix.device_bytes()},
                              {"prepared_bytes", matrix.prepared_bytes()}});
    } catch (const Error& e) {
      if (e.code() != errc::unsupported) throw;
      fmt::print("  {:15} {}\n", form.name, e.what());
      all["forms"].push_back({{"form", form.name}, {"skipped", e.what()}});
    }
  return all;
}

}  // namespace
}  // namespace spmvpack::bench

int main(int argc, char** argv) try {
  constexpr int first_member = 3;
  const int runs = argc > first_member ? std::atoi(argv[1]) : 0;
  if (runs <= 0) {
    fmt::print(stderr, "usage: updates_benchmark RUNS OUT.json MEMBER...\n");
    return 2;
  }
  nlohmann::json out{{"gpu", spmvpack::gpu_loader::devices().at(0).name}, {"runs", runs}};
  for (int i = first_member; i < argc; ++i) out["matrices"].push_back(spmvpack::bench::measure_member(argv[i], runs));
  std::ofstream(argv[2]) << out.dump(1) << '\n';
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "updates_benchmark: {}\n", e.what());
  return 1;
}
