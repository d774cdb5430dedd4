// MatMult of a parallel matrix in each mode of PETSc's plug-in, beside PETSc's own, by turns in one run: what
// petsc_scaling.py starts. Every rank makes its own rows, or reads them from a file in PETSc's binary format.

#include <petscmat.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/generators/kinds.hpp"

#if !PETSC_VERSION_GE(3, 19, 0)
inline constexpr PetscErrorCode PETSC_SUCCESS = 0;
#endif

namespace {

constexpr char help[] =
    "Measures MatMult and prints a line of JSON.\n"
    "  -generate WORDS   the matrix, in the words of `spmvpack generate`\n"
    "  -load FILE        or a file in PETSc's binary format\n"
    "  -peer TYPE        PETSc's type of matrices (aij)\n"
    "  -type TYPE        the plug-in's (aijspmvpack)\n"
    "  -round SECONDS    of a round (0.05)\n"
    "  -rounds N         (15)\n"
    "  -result FILE      A x of mode task, in PETSc's binary format\n";

struct Options {
  char words[1024] = "", file[4096] = "", result[4096] = "", peer[64] = "aij", type[64] = "aijspmvpack";
  PetscReal round = 0.05;
  PetscInt rounds = 15;
};

constexpr const char* modes[] = {"vector", "naive", "task"};
/// A type of matrix, in a mode. Times are the slowest rank's, in seconds for one multiply, by round.
struct Variant {
  std::string name;
  Mat matrix = nullptr;
  std::vector<double> seconds;
  double norm = 0;
};

/// Lets a matrix multiply in another mode from now on. naive and task have one matrix between them: copies, whose
/// memory lies elsewhere, differ in speed by more than the modes do.
PetscErrorCode set_mode(Mat a, const std::string& mode, Vec x, Vec y) {
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(nullptr, "-mat_spmvpack_mode", mode.c_str()));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(a), "spmvpack_parallel_state", nullptr));
  PetscCall(MatMult(a, x, y));  // which reads the mode
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What a multiply consists of, each by itself while nothing else runs: the blocks' multiplies, and PETSc's exchange.
struct Parts {
  Mat diagonal = nullptr, off_diagonal = nullptr;
  VecScatter exchange = nullptr;
  Vec own = nullptr, ghosts = nullptr, product = nullptr;
  std::vector<double> local, nonlocal, comm;
};

PetscErrorCode read_options(Options* o) {
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-generate", o->words, sizeof o->words, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-load", o->file, sizeof o->file, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-result", o->result, sizeof o->result, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-peer", o->peer, sizeof o->peer, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-type", o->type, sizeof o->type, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-round", &o->round, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-rounds", &o->rounds, nullptr));
  PetscCheck((*o->words == 0) != (*o->file == 0), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "Give either -generate or -load");
  PetscCheck(o->rounds > 0 && o->round > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Rounds are above 0");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode generate(const char* words, Mat a) {
  PetscInt local = PETSC_DECIDE, last = 0;
  std::vector<PetscInt> row_ptr{0}, col_idx;
  std::vector<PetscScalar> values;
  PetscFunctionBeginUser;
  const auto [kind, options] = spmvpack::generators::parse_kind(words);
  const auto matrix = kind.make(options);
  auto rows = static_cast<PetscInt>(matrix->rows());
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &rows));
  PetscCallMPI(MPI_Scan(&local, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  spmvpack::generators::Row row;
  for (PetscInt i = last - local; i < last; ++i) {
    row.clear();
    matrix->row(static_cast<std::uint64_t>(i), row);
    for (const auto& entry : row) {
      col_idx.push_back(static_cast<PetscInt>(entry.column));
      values.push_back(entry.value);
    }
    row_ptr.push_back(static_cast<PetscInt>(col_idx.size()));
  }
  PetscCall(MatSetSizes(a, local, PETSC_DECIDE, rows, static_cast<PetscInt>(matrix->cols())));
  PetscCall(MatSeqAIJSetPreallocationCSR(a, row_ptr.data(), col_idx.data(), values.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(a, row_ptr.data(), col_idx.data(), values.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_matrix(const Options& o, Mat* a) {
  PetscViewer file = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetType(*a, o.peer));
  if (*o.file != 0) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, o.file, FILE_MODE_READ, &file));
    PetscCall(MatLoad(*a, file));
    PetscCall(PetscViewerDestroy(&file));
  } else {
    PetscCall(generate(o.words, *a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode of_ranks(MPI_Op op, double own, double* of_all) {
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(&own, of_all, 1, MPI_DOUBLE, op, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of one f(), the slowest rank's. The norm of the result waits for a GPU.
template <class F>
PetscErrorCode measure(PetscInt times, Vec result, std::vector<double>* seconds, double* norm, F&& f) {
  PetscLogDouble start = 0, end = 0;
  double slowest = 0;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  for (PetscInt k = 0; k < times; ++k) PetscCall(f());
  PetscCall(VecNorm(result, NORM_2, norm));
  PetscCall(PetscTime(&end));
  PetscCall(of_ranks(MPI_MAX, (end - start) / static_cast<double>(times), &slowest));
  seconds->push_back(slowest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode measure_parts(Parts& p, PetscInt times, Vec x) {
  double norm = 0;
  PetscFunctionBeginUser;
  PetscCall(measure(times, p.product, &p.local, &norm, [&] { return MatMult(p.diagonal, p.own, p.product); }));
  PetscCall(measure(times, p.product, &p.nonlocal, &norm,
                    [&] { return MatMultAdd(p.off_diagonal, p.ghosts, p.product, p.product); }));
  PetscCall(measure(times, p.ghosts, &p.comm, &norm, [&]() -> PetscErrorCode {
    PetscCall(VecScatterBegin(p.exchange, x, p.ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(p.exchange, x, p.ghosts, INSERT_VALUES, SCATTER_FORWARD));
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_parts(Mat a, Vec x, Parts* p) {
  const PetscInt* columns = nullptr;
  PetscInt count = 0;
  IS wanted = nullptr;
  PetscFunctionBeginUser;
  PetscCall(MatMPIAIJGetSeqAIJ(a, &p->diagonal, &p->off_diagonal, &columns));
  PetscCall(MatCreateVecs(p->diagonal, &p->own, &p->product));
  PetscCall(MatCreateVecs(p->off_diagonal, &p->ghosts, nullptr));
  PetscCall(VecSetRandom(p->own, nullptr));
  PetscCall(VecGetLocalSize(p->ghosts, &count));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, columns, PETSC_COPY_VALUES, &wanted));
  PetscCall(VecScatterCreate(x, wanted, p->ghosts, nullptr, &p->exchange));
  PetscCall(ISDestroy(&wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_parts(Parts* p) {
  PetscFunctionBeginUser;
  PetscCall(VecScatterDestroy(&p->exchange));
  for (Vec* v : {&p->own, &p->ghosts, &p->product}) PetscCall(VecDestroy(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode write(Vec y, const char* path) {
  PetscViewer file = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_WRITE, &file));
  PetscCall(VecView(y, file));
  PetscCall(PetscViewerDestroy(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

PetscErrorCode run() {
  Options o;
  Mat a = nullptr;
  Vec x = nullptr, y = nullptr;
  int ranks = 0, rank = 0;
  PetscInt rows = 0, after = 10;
  MatInfo info{};
  std::vector<Variant> variants;
  PetscFunctionBeginUser;
  PetscCall(read_options(&o));
  PetscCall(make_matrix(o, &a));
  PetscCall(MatGetInfo(a, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetSize(a, &rows, nullptr));
  PetscCall(MatCreateVecs(a, &x, &y));
  PetscCall(VecSetRandom(x, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-mat_spmvpack_after", &after, nullptr));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  variants.push_back({"peer", a, {}, 0});
  Mat merged = nullptr, blocks = nullptr;
  PetscCall(PetscOptionsSetValue(nullptr, "-mat_spmvpack_mode", "naive"));
  PetscCall(MatConvert(a, o.type, MAT_INITIAL_MATRIX, &blocks));
  if (ranks > 1) PetscCall(MatConvert(a, o.type, MAT_INITIAL_MATRIX, &merged));
  for (const std::string_view mode : modes)
    if (ranks > 1 || mode == "naive")
      variants.push_back({std::string(mode), mode == "vector" ? merged : blocks, {}, 0});
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  Parts parts;
  if (ranks > 1) PetscCall(make_parts(blocks, x, &parts));
  if (ranks > 1) PetscCall(set_mode(merged, "vector", x, y));
  const auto measure_all = [&](PetscInt times) -> PetscErrorCode {
    for (Variant& v : variants) {
      if (ranks > 1 && v.matrix == blocks) PetscCall(set_mode(blocks, v.name, x, y));
      PetscCall(measure(times, y, &v.seconds, &v.norm, [&] { return MatMult(v.matrix, x, y); }));
    }
    if (ranks > 1) PetscCall(measure_parts(parts, times, x));
    return PETSC_SUCCESS;
  };
  PetscCall(measure_all(after + 3));  // encoded after this
  PetscCall(measure_all(3));
  const auto times = static_cast<PetscInt>(std::clamp(std::ceil(o.round / variants.front().seconds.back()), 1.0, 1e6));
  for (Variant& v : variants) v.seconds.clear();
  for (auto* seconds : {&parts.local, &parts.nonlocal, &parts.comm}) seconds->clear();
  for (PetscInt k = 0; k < o.rounds; ++k) PetscCall(measure_all(times));
  nlohmann::ordered_json result{{"ranks", ranks}, {"rows", rows}, {"nonzeros", info.nz_used}};
  for (const Variant& v : variants) result[v.name] = {{"seconds", median_of(v.seconds)}, {"norm", v.norm}};
  if (ranks == 1)
    for (const char* const mode : modes) result[mode] = result[variants.back().name];
  if (ranks > 1) {
    result["local"] = median_of(parts.local);
    result["nonlocal"] = median_of(parts.nonlocal);
    result["comm"] = median_of(parts.comm);
  }
  if (rank == 0) std::cout << result.dump() << std::endl;
  if (*o.result != 0) PetscCall(MatMult(variants.back().matrix, x, y));
  if (*o.result != 0) PetscCall(write(y, o.result));
  PetscCall(destroy_parts(&parts));
  for (Mat* m : {&a, &merged, &blocks}) PetscCall(MatDestroy(m));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  try {
    PetscCall(run());
  } catch (const std::exception& e) {  // of the generators, on all ranks alike
    SETERRABORT(PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", e.what());
  }
  PetscCall(PetscFinalize());
  return 0;
}
