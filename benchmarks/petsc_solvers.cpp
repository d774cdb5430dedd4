/// PETSc's solvers on a GPU, with AIJCUSPARSE and with the plug-in's matrices, in one run, by turns.
///
///     petsc_solvers -dll_append libspmvpack-petsc.so [-matrices NAME,...] [-rounds N] [-steps N] [-json FILE]
///
/// Matrices are members of the benchmark suite (`spmvpack bench --help`). For each: the multiply alone, in PETSc with
/// both types and outside of PETSc (gpu_loader on the same vectors and stream); steps of CG and BiCGSTAB with jacobi
/// and of CG, or BiCGSTAB where a matrix is not definite, with GAMG, `steps` of them without a test of convergence;
/// whole solves to 1e-8, encoding apart and included. Figures are medians over rounds.

#include <fmt/format.h>
#include <petscdevice.h>
#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/suite.hpp"
#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/multiply/timing.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace {

using nlohmann::json;
using namespace spmvpack;

/// What is measured unless -matrices says otherwise; `definite` ones are symmetric, for CG.
struct Member {
  const char* name;
  bool definite;
  PetscInt block_size;
};
constexpr Member members[] = {
    {"5-point-constant", true, 1},   {"7-point-random", false, 1},     {"7-point-local", false, 1},
    {"7-point-constant", false, 1},  {"27-point-random", true, 1},     {"27-point-local", true, 1},
    {"27-point-constant", true, 1},  {"elasticity-random", true, 3},   {"elasticity-local-8", true, 3},
    {"elasticity-local-2", true, 3}, {"elasticity-constant", true, 3}, {"kkt-random", false, 1},
    {"kkt-local", false, 1},         {"27-point-small", true, 1},      {"elasticity-small", true, 3}};

/// An exception for an error that PETSc has already reported.
void check(PetscErrorCode code) {
  if (code != PETSC_SUCCESS) throw Error(errc::internal, "PETSc reports an error");
}

PetscDeviceContext context() {
  PetscDeviceContext current = nullptr;
  check(PetscDeviceContextGetCurrentContext(&current));
  return current;
}

/// Seconds that f takes, what it leaves on the device included.
double seconds_of(const std::function<void()>& f) {
  PetscLogDouble start = 0, end = 0;
  check(PetscDeviceContextSynchronize(context()));
  check(PetscTime(&start));
  f();
  check(PetscDeviceContextSynchronize(context()));
  check(PetscTime(&end));
  return end - start;
}

/// How often f is to be called so that a round takes about 50 ms.
int repetitions(const std::function<void()>& f) {
  for (int i = 0; i < 3; ++i) f();
  constexpr double round_seconds = 0.05;
  const double each = seconds_of([&] {
                        for (int i = 0; i < 10; ++i) f();
                      }) /
                      10;
  return std::clamp(static_cast<int>(round_seconds / each), 10, 5000);
}

/// A matrix of the suite in PETSc's arrays.
struct Problem {
  SourceMatrix source;
  std::vector<PetscInt> row_ptr, col_idx;
  std::vector<PetscScalar> values;
  Mat aij = nullptr, peer = nullptr, ours = nullptr;
  Vec x = nullptr, y = nullptr, b = nullptr;
  double first_peer = 0, first_ours = 0;  ///< multiplies: what is copied to the GPU, and encoded, before them included

  explicit Problem(const Member& member) : source(bench::make_member(bench::find_member(bench::suite(), member.name))) {
    const CsrView a(source.matrix);
    row_ptr.resize(a.rows() + 1);
    for (std::uint64_t r = 0; r <= a.rows(); ++r) row_ptr[r] = static_cast<PetscInt>(a.row_ptr(r));
    col_idx.assign(a.col_idx(), a.col_idx() + a.nnz());
    values.assign(a.values<double>(), a.values<double>() + a.nnz());
    const auto rows = static_cast<PetscInt>(a.rows()), cols = static_cast<PetscInt>(a.cols());
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, cols, row_ptr.data(), col_idx.data(), values.data(), &aij));
    check(MatSetBlockSize(aij, member.block_size));
    check(MatConvert(aij, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &peer));
    check(MatConvert(aij, "seqaijcusparsespmvpack", MAT_INITIAL_MATRIX, &ours));
    if (member.definite)
      for (Mat m : {peer, ours}) check(MatSetOption(m, MAT_SPD, PETSC_TRUE));
    check(MatCreateVecs(peer, &x, &y));
    check(VecDuplicate(y, &b));
    PetscRandom random = nullptr;
    check(PetscRandomCreate(PETSC_COMM_SELF, &random));
    check(VecSetRandom(x, random));
    check(PetscRandomDestroy(&random));
    first_peer = seconds_of([&] { check(MatMult(peer, x, b)); });
    first_ours = seconds_of([&] { check(MatMult(ours, x, y)); });
    check(VecAXPY(y, -1, b));
    PetscReal apart = 0, size = 0;
    check(VecNorm(y, NORM_INFINITY, &apart));
    check(VecNorm(b, NORM_INFINITY, &size));
    if (!(apart <= 1e-12 * size)) throw Error(errc::internal, fmt::format("the products differ by {}", apart));
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() {
    for (Vec* v : {&x, &y, &b}) (void)VecDestroy(v);
    for (Mat* m : {&ours, &peer, &aij}) (void)MatDestroy(m);
  }
};

/// The line that MatView() adds: what became of the matrix.
std::string said_of(Mat a) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) throw Error(errc::io, "no temporary file");
  PetscViewer viewer = nullptr;
  check(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  check(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  check(MatView(a, viewer));
  check(PetscViewerDestroy(&viewer));
  std::rewind(file);
  std::string line, found;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    const std::size_t at = line.find("nonzeros: ");
    if (line.find("spmvpack:") != std::string::npos && at != std::string::npos) found = line.substr(at + 10);
    line.clear();
  }
  std::fclose(file);
  return found;
}

/// The machine that the plug-in predicts for, too.
std::string target() {
  char given[PETSC_MAX_PATH_LEN] = "";
  check(PetscOptionsGetString(nullptr, nullptr, "-mat_spmvpack_target", given, sizeof given, nullptr));
  if (given[0] != '\0') return given;
  const std::string gpu = gpu_loader::devices().at(0).name;
  return gpu.find("H100") != std::string::npos ? "h100" : "gpu";
}

/// The same container outside of PETSc, on PETSc's stream and vectors.
struct Outside {
  std::optional<gpu_loader::DeviceMultiplier> multiplier;
  std::string layout;

  explicit Outside(const Problem& problem) {
    encoder::EncodeRequest request;
    encoder::set_target(request.aim, target());
    MemorySink sink;
    const auto encoded = encoder::encode(CsrView(problem.source.matrix), request, sink);
    layout = encoded.plan.layouts();
    gpu_loader::DeviceLoadOptions options;
    options.check_structure = false;
    options.cache_share = gpu_loader::solver_cache_share;  // as the plug-in has it
    multiplier.emplace(
        gpu_loader::DeviceMatrix::load(Container::open(memory_source(sink.take()), "memory"), nullptr, options));
  }
};

json multiplies(const Problem& p, int rounds) {
  const Outside outside(p);
  void* handle = nullptr;
  check(PetscDeviceContextGetStreamHandle(context(), &handle));
  const auto stream = *static_cast<gpu_loader::Stream*>(handle);
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  check(VecGetArrayReadAndMemType(p.x, &from, nullptr));
  check(VecGetArrayWriteAndMemType(p.y, &to, nullptr));
  const MatrixFacts& facts = outside.multiplier->matrix().facts();
  const DenseView<const double> x(from, facts.cols);
  const DenseView<double> y(to, facts.rows);
  check(VecRestoreArrayWriteAndMemType(p.y, &to));
  check(VecRestoreArrayReadAndMemType(p.x, &from));
  const std::vector<std::function<void()>> ways{[&] { check(MatMult(p.peer, p.x, p.y)); },
                                                [&] { check(MatMult(p.ours, p.x, p.y)); },
                                                [&] { outside.multiplier->multiply<double>(1.0, x, 0.0, y, stream); }};
  std::vector<std::vector<double>> times(ways.size());
  std::vector<int> often;
  often.reserve(ways.size());
  for (const auto& way : ways) often.push_back(repetitions(way));
  for (int round = 0; round < rounds; ++round)
    for (std::size_t w = 0; w < ways.size(); ++w)
      times[w].push_back(seconds_of([&] {
                           for (int i = 0; i < often[w]; ++i) ways[w]();
                         }) /
                         often[w]);
  json result;
  const char* const names[] = {"aijcusparse", "ours", "outside"};
  for (std::size_t w = 0; w < ways.size(); ++w) result[names[w]] = median(times[w]);
  result["layout_outside"] = outside.layout;
  return result;
}

struct Solver {
  const char *name, *ksp, *pc;
  bool definite, indefinite;  ///< the matrices for which it is run
};
constexpr Solver solvers[] = {{"cg, jacobi", KSPCG, PCJACOBI, true, true},
                              {"bcgs, jacobi", KSPBCGS, PCJACOBI, true, true},
                              {"cg, gamg", KSPCG, PCGAMG, true, false},
                              {"bcgs, gamg", KSPBCGS, PCGAMG, false, true}};

/// One type of matrix in one solver.
class Run {
 public:
  Run(const Solver& solver, const Problem& p, Mat a) : p_(p) {
    check(KSPCreate(PETSC_COMM_SELF, &ksp_));
    check(KSPSetOperators(ksp_, a, a));
    check(KSPSetType(ksp_, solver.ksp));
    PC pc = nullptr;
    check(KSPGetPC(ksp_, &pc));
    check(PCSetType(pc, solver.pc));
    check(KSPSetTolerances(ksp_, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 2000));
    check(KSPSetFromOptions(ksp_));
    check(VecDuplicate(p.x, &solution_));
    setup = seconds_of([&] { check(KSPSetUp(ksp_)); });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    (void)VecDestroy(&solution_);
    (void)KSPDestroy(&ksp_);
  }
  /// Seconds of a whole solve.
  double solve() {
    const double seconds = seconds_of([&] { check(KSPSolve(ksp_, p_.b, solution_)); });
    check(KSPGetIterationNumber(ksp_, &iterations));
    KSPConvergedReason why = KSP_CONVERGED_ITERATING;
    check(KSPGetConvergedReason(ksp_, &why));
    converged = why > 0;
    check(VecNorm(solution_, NORM_2, &norm));
    return seconds;
  }
  /// From now on, solve() takes so many steps, unless the method breaks down.
  void fix(PetscInt steps) {
    check(KSPSetConvergenceTest(ksp_, KSPConvergedSkip, nullptr, nullptr));
    check(KSPSetTolerances(ksp_, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, steps));
  }
  PetscInt iterations = 0;
  bool converged = false;
  PetscReal norm = 0;
  double setup = 0;

 private:
  const Problem& p_;
  KSP ksp_ = nullptr;
  Vec solution_ = nullptr;
};

json solves(const Solver& solver, const Problem& p, int rounds, PetscInt steps, double encoding) {
  Run peer(solver, p, p.peer), ours(solver, p, p.ours);
  for (Run* run : {&peer, &ours}) run->solve();  // what comes into being with the first solve
  std::vector<double> whole[2], step[2];
  for (int round = 0; round < rounds; ++round) {
    whole[0].push_back(peer.solve());
    whole[1].push_back(ours.solve());
  }
  json result = {{"solver", solver.name},
                 {"converged", {peer.converged, ours.converged}},
                 {"iterations", {peer.iterations, ours.iterations}},
                 {"norms", {peer.norm, ours.norm}},
                 {"setup_seconds", {peer.setup, ours.setup}},
                 {"solve_seconds", {median(whole[0]), median(whole[1])}},
                 {"with_encoding_seconds", median(whole[1]) + encoding}};
  peer.fix(steps);
  ours.fix(steps);
  for (int round = 0; round < rounds; ++round) {
    step[0].push_back(peer.solve() / std::max<PetscInt>(1, peer.iterations));
    step[1].push_back(ours.solve() / std::max<PetscInt>(1, ours.iterations));
  }
  if (peer.iterations != steps || ours.iterations != steps) {
    result["broke_down"] = true;
    return result;
  }
  const double before = median(step[0]), now = median(step[1]);
  result["step_seconds"] = {before, now};
  result["ratio"] = before / now;
  if (now < before) result["pays_after_steps"] = std::ceil(encoding / (before - now));
  return result;
}

std::string us(const json& seconds) { return fmt::format("{:.1f}", 1e6 * seconds.get<double>()); }

void print(const json& r) {
  const json& m = r["multiply"];
  fmt::print("{}: {} rows, {} nonzeros; {}\n", r["matrix"].get<std::string>(), r["rows"].get<std::uint64_t>(),
             r["nonzeros"].get<std::uint64_t>(), r["said"].get<std::string>());
  fmt::print(
      "  multiply, us: AIJCUSPARSE {}, ours {} (x {:.2f}), outside of PETSc {} ({}; {:.3f} of its speed inside)\n",
      us(m["aijcusparse"]), us(m["ours"]), r["multiply_ratio"].get<double>(), us(m["outside"]),
      m["layout_outside"].get<std::string>(), r["inside"].get<double>());
  fmt::print("  encoding and copying to the GPU: {:.1f} ms; AIJCUSPARSE's copying: {:.1f} ms\n",
             1e3 * r["encode_seconds"].get<double>(), 1e3 * r["copy_seconds"].get<double>());
  for (const json& s : r["solvers"]) {
    fmt::print("  {:12}  iterations {}, {}{}; solve, ms: {:.1f}, {:.1f}, with encoding {:.1f}; ",
               s["solver"].get<std::string>(), s["iterations"][0].get<int>(), s["iterations"][1].get<int>(),
               s["converged"][0].get<bool>() && s["converged"][1].get<bool>() ? "" : " (not converged)",
               1e3 * s["solve_seconds"][0].get<double>(), 1e3 * s["solve_seconds"][1].get<double>(),
               1e3 * s["with_encoding_seconds"].get<double>());
    if (s.contains("ratio"))
      fmt::print("a step, us: {}, {} (x {:.2f}){}\n", us(s["step_seconds"][0]), us(s["step_seconds"][1]),
                 s["ratio"].get<double>(),
                 s.contains("pays_after_steps")
                     ? fmt::format(", encoding paid after {:.0f} steps", s["pays_after_steps"].get<double>())
                     : "");
    else
      fmt::print("broke down\n");
  }
  std::fflush(stdout);
}

json measure(const Member& member, int rounds, PetscInt steps, bool gamg) {
  const Problem p(member);
  json result = {{"matrix", member.name}, {"rows", p.row_ptr.size() - 1}, {"nonzeros", p.values.size()}};
  const json multiply = multiplies(p, rounds);
  const double before = multiply["aijcusparse"].get<double>(), now = multiply["ours"].get<double>();
  const double encoding = p.first_ours - now;
  result["multiply"] = multiply;
  result["multiply_ratio"] = before / now;
  result["inside"] = multiply["outside"].get<double>() / now;
  result["encode_seconds"] = encoding;
  result["copy_seconds"] = p.first_peer - before;
  result["said"] = said_of(p.ours);
  result["encoded"] = result["said"].get<std::string>().find("A in ") == 0;
  result["solvers"] = json::array();
  for (const Solver& solver : solvers)
    if (member.definite ? solver.definite : solver.indefinite)
      if (gamg || std::string(solver.pc) != PCGAMG)
        result["solvers"].push_back(solves(solver, p, std::min(rounds, 5), steps, encoding));
  return result;
}

/// The figures that have floors.
void summarise(json& report) {
  double inside = 1e9, least = 1e9, logs = 0;
  int of_mean = 0;
  for (const json& r : report["matrices"]) {
    if (!r["encoded"].get<bool>()) continue;
    inside = std::min(inside, r["inside"].get<double>());
    for (const json& s : r["solvers"]) {
      if (s["solver"] != "cg, jacobi" || !s.contains("ratio")) continue;
      least = std::min(least, s["ratio"].get<double>());
      if (r["multiply_ratio"].get<double>() < 1.5) continue;
      logs += std::log(s["ratio"].get<double>());
      ++of_mean;
    }
  }
  const double mean = of_mean == 0 ? 0 : std::exp(logs / of_mean);
  report["summary"] = {
      {"least_inside", inside}, {"least_cg_ratio", least}, {"mean_cg_ratio", mean}, {"matrices_of_mean", of_mean}};
  fmt::print(
      "inside PETSc at least {:.3f} of the speed outside; CG with jacobi, a step: at least {:.3f} times as fast as "
      "AIJCUSPARSE, {:.3f} as geometric mean over the {} matrices where the multiply is 1.5 times as fast\n",
      inside, least, mean, of_mean);
}

void run() {
  PetscInt rounds = 9, steps = 200;
  PetscBool gamg = PETSC_TRUE, given = PETSC_FALSE;
  char names[4096] = "", path[PETSC_MAX_PATH_LEN] = "";
  check(PetscOptionsGetInt(nullptr, nullptr, "-rounds", &rounds, nullptr));
  check(PetscOptionsGetInt(nullptr, nullptr, "-steps", &steps, nullptr));
  check(PetscOptionsGetBool(nullptr, nullptr, "-gamg", &gamg, nullptr));
  check(PetscOptionsGetString(nullptr, nullptr, "-matrices", names, sizeof names, &given));
  check(PetscOptionsGetString(nullptr, nullptr, "-json", path, sizeof path, nullptr));
  check(PetscOptionsSetValue(nullptr, "-mat_spmvpack_after", "0"));
  json report = {{"rounds", rounds}, {"steps", steps}, {"matrices", json::array()}};
  for (const Member& member : members) {
    if (given != PETSC_FALSE &&
        ("," + std::string(names) + ",").find("," + std::string(member.name) + ",") == std::string::npos)
      continue;
    report["matrices"].push_back(measure(member, static_cast<int>(rounds), steps, gamg != PETSC_FALSE));
    print(report["matrices"].back());
    if (path[0] != '\0') std::ofstream(path) << report.dump(1) << '\n';
  }
  summarise(report);
  if (path[0] != '\0') std::ofstream(path) << report.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != PETSC_SUCCESS) return 1;
  int status = 0;
  try {
    if (PetscDeviceInitialize(PETSC_DEVICE_CUDA) != PETSC_SUCCESS) return 1;
    run();
  } catch (const std::exception& e) {
    fmt::print(stderr, "petsc_solvers: {}\n", e.what());
    status = 1;
  }
  return PetscFinalize() == PETSC_SUCCESS ? status : 1;
}
