// Solves the Poisson equation on a square with hypre's PCG, whose multiply is spmvpack's: hypre_PCGFunctionsCreate()
// takes it in place of hypre's own. All else is hypre's, BoomerAMG as a preconditioner included (docs/OPERATORS.md).
//
// usage: mpiexec -n RANKS hypre_pcg [-n SIDE] [-hypre] [-amg] [-layout NAME] [-memory BYTES]
//   -n       of the grid, 100 unless given          -hypre   multiply as hypre does
//   -amg     precondition with BoomerAMG            -layout  `auto` unless given, or one of `spmvpack help layouts`
//   -memory  that planning a block may take on the last rank: with too few, hypre multiplies there

#include <HYPRE_config.h>
#if defined(HYPRE_COMPLEX) || defined(HYPRE_SINGLE) || defined(HYPRE_LONG_DOUBLE) || defined(HYPRE_BIGINT)
#error "spmvpack encodes real matrices in double precision with 32-bit local indices: this hypre has others"
#endif
#if defined(HYPRE_USING_GPU)
#error "this multiplies in host memory: build hypre without a GPU"
#endif
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>
#include <krylov.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace {

using spmvpack::DenseView;

spmvpack::encoder::EncodeRequest request;  // of all blocks, from the command line

/// What a rank has of a matrix is two of these: its own columns, and those of other ranks that it needs.
class Block {
 public:
  /// Stays hypre's, and says why, if it cannot be encoded: all other ranks go on.
  explicit Block(hypre_CSRMatrix* a) : a_(a) {
    if (a->num_cols == 0) return;
    try {
      matrix_.emplace(encode(a));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "hypre multiplies %d x %d: %s\n", a->num_rows, a->num_cols, e.what());
    }
  }
  /// y = alpha A x + beta y.
  void multiply(double alpha, hypre_Vector* x, double beta, hypre_Vector* y) const {
    if (matrix_.has_value())
      matrix_->multiply<double>(alpha, DenseView<const double>(x->data, static_cast<std::uint64_t>(x->size)), beta,
                                DenseView<double>(y->data, static_cast<std::uint64_t>(y->size)), request.threads);
    else
      hypre_CSRMatrixMatvec(alpha, a_, x, beta, y);
  }
  [[nodiscard]] bool encoded() const noexcept { return matrix_.has_value() || a_->num_cols == 0; }

 private:
  static spmvpack::host_loader::HostMatrix encode(hypre_CSRMatrix* a) {
    const auto rows = static_cast<std::size_t>(a->num_rows), nnz = static_cast<std::size_t>(a->num_nonzeros);
    const spmvpack::CsrView view(rows, static_cast<std::uint64_t>(a->num_cols),
                                 std::span<const HYPRE_Int>(a->i, rows + 1), std::span<const HYPRE_Int>(a->j, nnz),
                                 std::span<const HYPRE_Complex>(a->data, nnz));
    spmvpack::MemorySink sink;
    // The diagonal comes first in hypre's rows: they are sorted.
    spmvpack::encoder::encode(spmvpack::assemble(view, request.threads, request.memory_limit), request, sink);
    spmvpack::LoadOptions options;  // the bytes are our own: nothing has changed them
    options.verify_checksums = options.check_structure = false;
    return spmvpack::host_loader::HostMatrix::load(
        spmvpack::Container::open(spmvpack::memory_source(sink.take()), "a matrix of hypre"), options);
  }

  hypre_CSRMatrix* a_;
  std::optional<spmvpack::host_loader::HostMatrix> matrix_;
};

/// What hypre's solvers keep for a matrix between multiplies.
class Multiply {
 public:
  explicit Multiply(hypre_ParCSRMatrix* a) : a_(a), own_(a->diag), others_(a->offd), ghosts_(a->offd->num_cols) {
    if (a->comm_pkg == nullptr) hypre_MatvecCommPkgCreate(a);
    const hypre_ParCSRCommPkg& package = *a->comm_pkg;
    sent_.resize(static_cast<std::size_t>(package.send_map_starts[package.num_sends]));
  }
  /// y = alpha A x + beta y: the elements that others need travel while the rank's own are multiplied.
  void multiply(double alpha, const hypre_ParVector* x, double beta, const hypre_ParVector* y) {
    hypre_ParCSRCommPkg& package = *a_->comm_pkg;
    for (std::size_t k = 0; k < sent_.size(); ++k) sent_[k] = x->local_vector->data[package.send_map_elmts[k]];
    hypre_ParCSRCommHandle* exchange = hypre_ParCSRCommHandleCreate(1, &package, sent_.data(), ghosts_.data());
    own_.multiply(alpha, x->local_vector, beta, y->local_vector);
    hypre_ParCSRCommHandleDestroy(exchange);  // waits
    if (a_->offd->num_cols != 0) others_.multiply(alpha, ghosts_.vector(), 1, y->local_vector);
  }
  [[nodiscard]] bool encoded() const noexcept { return own_.encoded() && others_.encoded(); }

 private:
  class Ghosts {
   public:
    explicit Ghosts(HYPRE_Int size) : vector_(hypre_SeqVectorCreate(size)) { hypre_SeqVectorInitialize(vector_.get()); }
    [[nodiscard]] double* data() const noexcept { return vector_->data; }
    [[nodiscard]] hypre_Vector* vector() const noexcept { return vector_.get(); }

   private:
    struct Destroy {
      void operator()(hypre_Vector* v) const noexcept { hypre_SeqVectorDestroy(v); }
    };
    std::unique_ptr<hypre_Vector, Destroy> vector_;
  };

  hypre_ParCSRMatrix* a_;
  Block own_, others_;
  Ghosts ghosts_;
  std::vector<double> sent_;
};

// What PCG calls, with the matrix that it is given. No exception leaves them, as hypre is C.
void* create_multiply(void* a, void*) {
  try {
    auto multiply = std::make_unique<Multiply>(static_cast<hypre_ParCSRMatrix*>(a));
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (multiply->encoded()) std::printf("rank %d multiplies by spmvpack\n", rank);
    return multiply.release();
  } catch (const std::exception& e) {  // no memory for the vectors: nothing could go on
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return nullptr;
  }
}
HYPRE_Int run_multiply(void* multiply, HYPRE_Complex alpha, void*, void* x, HYPRE_Complex beta, void* y) {
  try {
    static_cast<Multiply*>(multiply)->multiply(alpha, static_cast<hypre_ParVector*>(x), beta,
                                               static_cast<hypre_ParVector*>(y));
  } catch (const std::exception& e) {
    hypre_error_w_msg(HYPRE_ERROR_GENERIC, e.what());
  }
  return hypre_error_flag;
}
HYPRE_Int destroy_multiply(void* multiply) {
  delete static_cast<Multiply*>(multiply);
  return hypre_error_flag;
}

/// HYPRE_ParCSRPCGCreate() with another multiply.
HYPRE_Solver create_pcg(bool hypre_multiplies) {
  hypre_PCGFunctions* functions = hypre_PCGFunctionsCreate(
      hypre_ParKrylovCAlloc, hypre_ParKrylovFree, hypre_ParKrylovCommInfo, hypre_ParKrylovCreateVector,
      hypre_ParKrylovDestroyVector, hypre_multiplies ? hypre_ParKrylovMatvecCreate : create_multiply,
      hypre_multiplies ? hypre_ParKrylovMatvec : run_multiply,
      hypre_multiplies ? hypre_ParKrylovMatvecDestroy : destroy_multiply, hypre_ParKrylovInnerProd,
      hypre_ParKrylovCopyVector, hypre_ParKrylovClearVector, hypre_ParKrylovScaleVector, hypre_ParKrylovAxpy,
      hypre_ParKrylovIdentitySetup, hypre_ParKrylovIdentity);
  return static_cast<HYPRE_Solver>(hypre_PCGCreate(functions));
}

struct Options {
  HYPRE_Int side = 100;
  bool hypre = false, amg = false;
};

struct System {
  HYPRE_IJMatrix a = nullptr;
  HYPRE_IJVector b = nullptr, x = nullptr;

  System(HYPRE_Int side, int rank, int ranks) {
    const HYPRE_Int size = side * side, first = size * rank / ranks, last = size * (rank + 1) / ranks - 1;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &a);
    HYPRE_IJMatrixSetObjectType(a, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(a);
    for (HYPRE_IJVector* v : {&b, &x}) {
      HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, v);
      HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
      HYPRE_IJVectorInitialize(*v);
    }
    for (HYPRE_Int row = first; row <= last; ++row) {
      const HYPRE_Int i = row / side, j = row % side;
      std::vector<HYPRE_Int> columns{row};
      std::vector<double> values{4};
      const auto add = [&](bool inside, HYPRE_Int column) {
        if (!inside) return;
        columns.push_back(column);
        values.push_back(-1);
      };
      add(i > 0, row - side);
      add(j > 0, row - 1);
      add(j + 1 < side, row + 1);
      add(i + 1 < side, row + side);
      auto count = static_cast<HYPRE_Int>(columns.size());
      HYPRE_IJMatrixSetValues(a, 1, &count, &row, columns.data(), values.data());
      const double one = 1 + row % 17 / 17.0, zero = 0;
      HYPRE_IJVectorSetValues(b, 1, &row, &one);
      HYPRE_IJVectorSetValues(x, 1, &row, &zero);
    }
    HYPRE_IJMatrixAssemble(a);
    HYPRE_IJVectorAssemble(b);
    HYPRE_IJVectorAssemble(x);
  }
  ~System() {
    HYPRE_IJMatrixDestroy(a);
    HYPRE_IJVectorDestroy(b);
    HYPRE_IJVectorDestroy(x);
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
};

void solve(const Options& options, int rank, int ranks) {
  const System system(options.side, rank, ranks);
  void *a = nullptr, *b = nullptr, *x = nullptr;
  HYPRE_IJMatrixGetObject(system.a, &a);
  HYPRE_IJVectorGetObject(system.b, &b);
  HYPRE_IJVectorGetObject(system.x, &x);
  HYPRE_Solver pcg = create_pcg(options.hypre), amg = nullptr;
  HYPRE_PCGSetTol(pcg, 1e-8);
  HYPRE_PCGSetMaxIter(pcg, 5000);
  if (options.amg) {
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetTol(amg, 0);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_PCGSetPrecond(pcg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), amg);
  }
  // As what they are to hypre: matrices and vectors of its object ParCSR.
  hypre_PCGSetup(pcg, a, b, x);
  hypre_PCGSolve(pcg, a, b, x);
  HYPRE_Int iterations = 0;
  double residual = 0;
  HYPRE_PCGGetNumIterations(pcg, &iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(pcg, &residual);
  const double norm = std::sqrt(hypre_ParKrylovInnerProd(x, x));
  if (rank == 0) std::printf("%d iterations, residual %.3e, norm %.15g\n", iterations, residual, norm);
  HYPRE_ParCSRPCGDestroy(pcg);
  if (amg != nullptr) HYPRE_BoomerAMGDestroy(amg);
}

Options options_of(int argc, char** argv, bool last) {
  Options options;
  request.aim = {spmvpack::encoder::Objective::time, spmvpack::encoder::Target::host};
  request.threads = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : "";
    if (word == "-hypre") {
      options.hypre = true;
      continue;
    }
    if (word == "-amg") {
      options.amg = true;
      continue;
    }
    ++k;
    if (word == "-n" && std::atoi(value) > 0)
      options.side = std::atoi(value);
    else if (word == "-layout")
      request.strategy = spmvpack::encoder::find_strategy(value).name;
    else if (word == "-memory" && std::atoll(value) > 0)
      request.memory_limit = last ? static_cast<std::uint64_t>(std::atoll(value)) : 0;
    else
      throw spmvpack::Error(spmvpack::errc::usage, "no such option, or no value of it", word + ' ' + value,
                            "see the top of this program's source");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    const Options options = options_of(argc, argv, rank == ranks - 1);
    HYPRE_Init();
    solve(options, rank, ranks);
    HYPRE_Finalize();
    status = HYPRE_GetError() != 0 ? 1 : 0;
  } catch (const std::exception& e) {  // all ranks have the same options
    if (rank == 0) std::fprintf(stderr, "%s\n", e.what());
    status = 2;
  }
  MPI_Finalize();
  return status;
}
