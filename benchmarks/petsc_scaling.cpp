// MatMult of a parallel matrix in each mode of PETSc's plug-in, beside PETSc's own, by turns in one run: what
// petsc_scaling.py starts. Every rank makes its own rows, or reads them from a file in PETSc's binary format.

#include <petscmat.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
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
    "  -rounds N         (15)\n";

struct Options {
  char words[1024] = "", file[4096] = "", peer[64] = "aij", type[64] = "aijspmvpack";
  PetscReal round = 0.05;
  PetscInt rounds = 15;
};

constexpr const char* modes[] = {"vector", "naive", "task"};
constexpr const char* events[] = {"SpmvpackLocal", "SpmvpackNonlocal", "SpmvpackComm"};

/// A type of matrix, in a mode. Times are the slowest rank's, in seconds for one multiply, by round; `exchange` is that
/// of the rank with the least, which the others do not keep waiting.
struct Variant {
  std::string name;
  Mat matrix = nullptr;
  std::vector<double> whole, parts[std::size(events)], exchange;
  double norm = 0;
};

PetscErrorCode read_options(Options* o) {
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-generate", o->words, sizeof o->words, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-load", o->file, sizeof o->file, nullptr));
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

/// Seconds in the events so far, of this rank.
PetscErrorCode seconds_of_events(double (&seconds)[std::size(events)]) {
  PetscFunctionBeginUser;
  for (std::size_t k = 0; k < std::size(events); ++k) {
    PetscLogEvent event = -1;
    PetscEventPerfInfo info{};
    PetscCall(PetscLogEventGetId(events[k], &event));
    if (event >= 0) PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
    seconds[k] = info.time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The norm of the last result waits for a GPU.
PetscErrorCode measure(Variant& v, PetscInt multiplies, Vec x, Vec y, double* seconds) {
  double before[std::size(events)], after[std::size(events)];
  PetscLogDouble start = 0, end = 0;
  PetscFunctionBeginUser;
  PetscCall(seconds_of_events(before));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  for (PetscInt k = 0; k < multiplies; ++k) PetscCall(MatMult(v.matrix, x, y));
  PetscCall(VecNorm(y, NORM_2, &v.norm));
  PetscCall(PetscTime(&end));
  PetscCall(seconds_of_events(after));
  PetscCall(of_ranks(MPI_MAX, (end - start) / multiplies, seconds));
  v.whole.push_back(*seconds);
  double part = 0;
  for (std::size_t k = 0; k < std::size(events); ++k) {
    PetscCall(of_ranks(MPI_MAX, (after[k] - before[k]) / multiplies, &part));
    v.parts[k].push_back(part);
  }
  PetscCall(of_ranks(MPI_MIN, (after[2] - before[2]) / multiplies, &part));
  v.exchange.push_back(part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

double median(std::vector<double> values) {
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
  variants.push_back({"peer", a, {}, {}, {}, 0});
  for (const char* const mode : modes) {
    PetscCall(PetscOptionsSetValue(nullptr, "-mat_spmvpack_mode", mode));
    variants.push_back({mode, nullptr, {}, {}, {}, 0});
    PetscCall(MatConvert(a, o.type, MAT_INITIAL_MATRIX, &variants.back().matrix));
  }
  double seconds = 0;
  for (Variant& v : variants) PetscCall(measure(v, after + 3, x, y, &seconds));  // encoded after this
  PetscCall(measure(variants.front(), 3, x, y, &seconds));
  const auto multiplies = static_cast<PetscInt>(std::clamp(std::ceil(o.round / seconds), 1.0, 1e6));
  for (Variant& v : variants) {
    v.whole.clear();
    v.exchange.clear();
    for (auto& part : v.parts) part.clear();
  }
  for (PetscInt k = 0; k < o.rounds; ++k)
    for (Variant& v : variants) PetscCall(measure(v, multiplies, x, y, &seconds));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  nlohmann::ordered_json result{{"ranks", ranks}, {"rows", rows}, {"nonzeros", info.nz_used}};
  for (const Variant& v : variants) {
    auto& one = result[v.name];
    one = {{"seconds", median(v.whole)}, {"norm", v.norm}, {"exchange", median(v.exchange)}};
    for (std::size_t k = 0; k < std::size(events) && v.name != "peer"; ++k) one[events[k]] = median(v.parts[k]);
  }
  if (rank == 0) std::cout << result.dump() << std::endl;
  for (Variant& v : variants) PetscCall(MatDestroy(&v.matrix));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
  PetscCall(PetscLogDefaultBegin());
  try {
    PetscCall(run());
  } catch (const std::exception& e) {  // of the generators, on all ranks alike
    SETERRABORT(PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", e.what());
  }
  PetscCall(PetscFinalize());
  return 0;
}
