// What a faster multiply is worth to a solver: BiCGSTAB on 20 matrices, with our multiplies and cuSPARSE's (figure 5 of
// Aliaga et al., Euro-Par 2020 Workshops, on matrices of 3 million nonzeros and more). The table goes to standard
// output, all figures to a JSON file.
//
//     solver_benchmark OUT.json [SECONDS]
//
// Of each multiply: the time of one of 50 iterations, the median of five runs; and a solve to a relative residual of
// 1e-8, of at most 500 iterations, whose residual is computed again on the host, in extended precision. All multiplies
// must have the same residual after 4 iterations, but for rounding. No matrix is begun after SECONDS (default 75).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "bench/cusparse.hpp"
#include "bench/device_memory.hpp"
#include "bench/sample.hpp"
#include "bench/scratch.hpp"
#include "bench/suite.hpp"
#include "solver/bicgstab.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::bench {
namespace {

using Json = nlohmann::ordered_json;

// 3 to 15 million nonzeros, of ten families; the group is the family.
constexpr std::array large_matrices{
    SuiteMember{"atmosmodd", "finite differences", "convection-diffusion --grid 148x148x58"},
    SuiteMember{"7-point-random", "finite differences",
                "convection-diffusion --grid 110x110x110 --coefficients random"},
    SuiteMember{"7-point-blocks", "finite differences",
                "convection-diffusion --grid 198x198x38 --coefficients blocks:8"},
    SuiteMember{"5-point-random", "finite differences",
                "convection-diffusion --grid 1000x1000x1 --coefficients random"},
    SuiteMember{"ecology1", "finite differences", "laplace2d --grid 1000x1000"},
    SuiteMember{"27-point", "hexahedra", "hpcg --grid 80x80x80"},
    SuiteMember{"27-point-random", "hexahedra", "hpcg --grid 64x64x64 --coefficients random"},
    SuiteMember{"elasticity", "elasticity", "elasticity --grid 36x36x36 --materials blocks:4"},
    SuiteMember{"elasticity-random", "elasticity", "elasticity --grid 36x36x36 --materials random --mesh jittered"},
    SuiteMember{"triangles", "triangles", "triangles --grid 1000x1000 --mesh uniform"},
    SuiteMember{"triangles-random", "triangles",
                "triangles --grid 900x900 --numbering shuffled:1024 --coefficients random"},
    SuiteMember{"block-mesh-6", "blocks of unknowns", "block-mesh --grid 20x20x20 --block 6 --radius 1.83"},
    SuiteMember{"block-mesh-5-random", "blocks of unknowns",
                "block-mesh --grid 24x24x24 --block 5 --radius 1.82 --coefficients random"},
    SuiteMember{"adaptive-random", "refined grids", "adaptive --grid 90x90x90 --coefficients random"},
    SuiteMember{"kkt", "saddle points", "kkt --grid 60x60x60"},
    SuiteMember{"circuit", "circuits", "circuit --rows 1000000"},
    SuiteMember{"cage13", "random walks", "cage --monomers 13"},
    SuiteMember{"logdist", "random walks", "logdist --rows 400000"},
    SuiteMember{"epidemic", "random walks", "epidemic --grid 1200x800"},
    SuiteMember{"holstein-hubbard", "quantum mechanics", "holstein-hubbard --sites 6 --electrons 6 --phonons 8"},
};

constexpr int timed_iterations = 50, timed_runs = 5, compared_after = 4, most_iterations = 500, asked_every = 10;
constexpr double tolerance = 1e-8;
constexpr double same_residual = 1e-4;  ///< relative: of an indefinite matrix rounding has grown to 1e-5 by then

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// y = A x on the host, each row in extended precision; f(i, sum) takes them.
template <class F>
void multiply_on_host(const CsrView& a, std::span<const double> x, F&& f) {
  const auto* const values = static_cast<const double*>(a.value_bytes());
  constexpr std::uint64_t piece = 1U << 14U;
  parallel_pieces(a.rows(), piece, 0, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      long double sum = 0;
      for (std::uint64_t k = a.row_ptr(i); k < a.row_ptr(i + 1); ++k)
        sum += static_cast<long double>(values[k]) * x[a.col_idx()[k]];
      f(i, sum);
    }
  });
}

/// |b - A x| / |b|
double residual_on_host(const CsrView& a, std::span<const double> x, std::span<const double> b) {
  std::vector<double> squares(a.rows());
  multiply_on_host(a, x, [&](std::uint64_t i, long double sum) {
    const auto r = static_cast<double>(b[i] - sum);
    squares[i] = r * r;
  });
  double rr = 0, bb = 0;
  for (std::uint64_t i = 0; i < a.rows(); ++i) rr += squares[i], bb += b[i] * b[i];
  return std::sqrt(rr / bb);
}

struct Event {
  cudaEvent_t event = nullptr;
  Event() { require_cuda(cudaEventCreate(&event), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event)); }
};

/// Seconds on the GPU.
double seconds_of(cudaStream_t stream, const std::function<void()>& work) {
  const Event begin, end;
  require_cuda(cudaEventRecord(begin.event, stream), "timing");
  work();
  require_cuda(cudaEventRecord(end.event, stream), "timing");
  require_cuda(cudaEventSynchronize(end.event), "timing");
  float ms = 0;
  require_cuda(cudaEventElapsedTime(&ms, begin.event, end.event), "timing");
  return ms * 1e-3;
}

/// A multiply that the solver is timed with.
struct Variant {
  std::string by, name;
  std::uint64_t device_bytes = 0;
  DeviceMultiply multiply;
};

gpu_loader::DeviceInfo first_device() {
  const std::vector<gpu_loader::DeviceInfo> devices = gpu_loader::devices();
  if (devices.empty()) throw Error(errc::no_device, "no GPU, or no driver for one", {}, "check nvidia-smi");
  return devices.front();
}

class Benchmark {
 public:
  Benchmark() : device_(first_device()) {
    require_cuda(cudaSetDevice(0), "choosing the GPU");
    gpu_loader::require_device_code();
    cudaStream_t stream = nullptr;
    require_cuda(cudaStreamCreate(&stream), "making a stream");
    stream_ = {stream, [](cudaStream_t s) { static_cast<void>(cudaStreamDestroy(s)); }};
    cusparse_ = load_cusparse(stream, 0);
  }

  [[nodiscard]] Json about() const {
    return {{"schema", "spmvpack-solver-1"},    {"machine", device_.name},
            {"cusparse", cusparse_->version()}, {"method", "BiCGSTAB"},
            {"iterations", timed_iterations},   {"runs", timed_runs},
            {"tolerance", tolerance},           {"most_iterations", most_iterations},
            {"compared_after", compared_after}};
  }

  /// False if two multiplies do not agree.
  bool measure(const SuiteMember& member, Json& out) {
    const SourceMatrix source = make_member(member);
    const CsrView a = source.matrix.view();
    out = {{"name", member.name}, {"family", member.group}, {"source", source.provenance.source},
           {"rows", a.rows()},    {"nonzeros", a.nnz()},    {"results", Json::array()}};
    fmt::print("{}: {} rows, {} nonzeros\n", member.name, a.rows(), a.nnz());
    std::vector<double> known(a.rows()), b(a.rows());
    std::mt19937_64 random(1);
    for (double& v : known) v = std::uniform_real_distribution<double>(0.5, 1.5)(random);
    multiply_on_host(a, known, [&](std::uint64_t i, long double sum) { b[i] = static_cast<double>(sum); });
    Bicgstab solver(b, stream_.get());
    std::optional<double> first;
    bool agree = true;
    const auto each = [&](const std::string& by, const std::string& name, const std::function<Variant()>& make) {
      Json result{{"by", by}, {"name", name}, {"skipped", nullptr}};
      try {
        run(solver, make(), a, b, result);
        const double found = result["residual_compared"];
        if (!first) first = found;
        const bool same = std::isnan(*first) ? std::isnan(found) : std::abs(found - *first) <= same_residual * *first;
        result["agrees"] = same;
        agree = agree && same;
        fmt::print("  {:16}{:9.1f} us an iteration, residual {:.1e} after {} iterations, {:.1f} ms{}\n", name,
                   static_cast<double>(result["iteration"]["median"]), static_cast<double>(result["solve"]["residual"]),
                   static_cast<int>(result["solve"]["iterations"]),
                   1e-3 * static_cast<double>(result["solve"]["microseconds"]), same ? "" : ", DIFFERS");
      } catch (const Error& e) {
        if (e.code() != errc::unsupported && e.code() != errc::out_of_memory) throw;
        result["skipped"] = e.message();
        fmt::print("  {:16} - {}\n", name, e.message());
      }
      for (auto& [key, value] : result.items())
        if (value.is_number_float() && !std::isfinite(static_cast<double>(value))) value = nullptr;
      out["results"].push_back(result);
    };
    // The paper's kernel, and the default ones.
    each("spmvpack", "ccoo/atomic", [&] { return ours(source, "ccoo", "ccoo/atomic"); });
    for (const std::string strategy : {"ccoo", "auto"})
      each("spmvpack", strategy, [&] { return ours(source, strategy, {}); });
    for (const Peer& peer : cusparse_->peers(a, {}))
      if (peer.layout.starts_with("csr-") || peer.layout.starts_with("coo-") || peer.layout.starts_with("sell-"))
        each(peer.by, peer.layout, [&] {
          const Candidate made = peer.make();
          return Variant{made.by, made.layout, made.device_bytes, made.between};
        });
    return agree;
  }

 private:
  /// `kernel` of one layout; empty: the default of each part.
  Variant ours(const SourceMatrix& source, const std::string& strategy, const std::string& kernel) {
    encoder::EncodeRequest request;
    request.strategy = strategy;
    if (strategy == "ccoo") request.settings["ccoo.k"] = "4";  // listing 1.1
    // Kept until the next one.
    if (encoded_ != &source || encoded_as_ != strategy) {
      matrix_.reset();
      matrix_ = gpu_loader::DeviceMatrix::load(encode_to_scratch(source, request), stream_.get());
      encoded_ = &source;
      encoded_as_ = strategy;
    }
    MultiplyDescription description{.vectors = ValueType::f64};
    if (!kernel.empty()) description.kernel = gpu_loader::find_kernel(kernel);
    const std::uint64_t bytes = matrix_->workspace_bytes(description), n = source.matrix.rows;
    const auto multiply = [matrix = *matrix_, description, bytes, n, stream = stream_,
                           workspace = allocate_device(bytes)](double* x, double* y) {
      matrix.multiply<double>(1.0, std::span<const double>(x, n), 0.0, std::span<double>(y, n),
                              {static_cast<std::byte*>(workspace.get()), bytes}, stream.get(), description);
    };
    return {"spmvpack", kernel.empty() ? strategy : kernel, matrix_->device_bytes(), multiply};
  }

  void run(Bicgstab& solver, const Variant& variant, const CsrView& a, std::span<const double> b, Json& result) const {
    solver.use(variant.multiply);
    result["device_bytes"] = variant.device_bytes;
    solver.start();
    solver.iterate(compared_after);
    result["residual_compared"] = solver.residual();
    std::vector<double> times;
    for (int i = 0; i < timed_runs; ++i) {
      solver.start();
      times.push_back(seconds_of(stream_.get(), [&] { solver.iterate(timed_iterations); }) / timed_iterations);
    }
    const Sample sample = summarise(times);
    result["iteration"] = {{"median", sample.median * 1e6}, {"min", sample.min * 1e6}, {"max", sample.max * 1e6}};
    int iterations = 0;
    double residual = 1;
    const double seconds = seconds_of(stream_.get(), [&] {
      solver.start();
      while (iterations < most_iterations && residual > tolerance) {
        solver.iterate(asked_every);
        iterations += asked_every;
        residual = solver.residual();
      }
    });
    std::vector<double> x(a.rows());
    solver.solution(x);
    const double on_host = residual_on_host(a, x, b);
    Json solve{{"iterations", iterations}, {"microseconds", seconds * 1e6}, {"residual", residual}};
    solve["converged"] = residual <= tolerance && on_host <= 10 * tolerance;
    solve["residual_on_host"] = std::isfinite(on_host) ? Json(on_host) : Json(nullptr);
    result["solve"] = solve;
  }

  gpu_loader::DeviceInfo device_;
  std::shared_ptr<CUstream_st> stream_;
  std::shared_ptr<Cusparse> cusparse_;
  std::optional<gpu_loader::DeviceMatrix> matrix_;
  const SourceMatrix* encoded_ = nullptr;
  std::string encoded_as_;
};

}  // namespace

int run_solver_benchmark(const std::string& path, double limit) {
  const double begin = now();
  Benchmark benchmark;
  Json out = benchmark.about();
  out["matrices"] = Json::array();
  bool agree = true;
  for (const SuiteMember& member : large_matrices) {
    Json matrix{{"name", member.name},
                {"family", member.group},
                {"source", "spmvpack generate " + std::string(member.generator)}};
    if (now() - begin > limit)
      matrix["skipped"] = fmt::format("no time left, of {} s", limit);
    else
      agree = benchmark.measure(member, matrix) && agree;
    out["matrices"].push_back(matrix);
  }
  out["seconds"] = now() - begin;
  std::ofstream file(path);
  file << out.dump(1) << '\n';
  if (!file.flush()) throw Error(errc::io, "cannot be written", path, "choose another file");
  if (!agree) fmt::print(stderr, "solver_benchmark: residuals differ\n");
  return agree ? 0 : 1;
}

}  // namespace spmvpack::bench

int main(int argc, char** argv) try {
  constexpr double default_seconds = 75;
  const double limit = argc == 3 ? std::atof(argv[2]) : default_seconds;
  if (argc < 2 || argc > 3 || !(limit > 0)) {
    fmt::print(stderr, "usage: solver_benchmark OUT.json [SECONDS]\n");
    return 2;
  }
  return spmvpack::bench::run_solver_benchmark(argv[1], limit);
} catch (const std::exception& e) {
  fmt::print(stderr, "solver_benchmark: {}\n", e.what());
  return 1;
}
