// Solves the Poisson equation on a square with Belos's CG and GMRES, with the matrix of Tpetra and then encoded.
//
// usage: mpiexec -n RANKS belos_cg [SIDE]        SIDE: of the grid, 100 unless given

#include <BelosBlockGmresSolMgr.hpp>
#include <BelosPseudoBlockCGSolMgr.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "spmvpack/tpetra/operator.hpp"

namespace {

using Operator = Tpetra::Operator<>;
using MultiVector = Tpetra::MultiVector<>;
using CrsMatrix = Tpetra::CrsMatrix<>;
using Map = Tpetra::Map<>;
using Global = Map::global_ordinal_type;
using Problem = Belos::LinearProblem<double, MultiVector, Operator>;

Teuchos::RCP<CrsMatrix> poisson(Global side, const Teuchos::RCP<const Teuchos::Comm<int>>& processes) {
  const auto map = Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(side * side), 0, processes));
  const auto a = Teuchos::rcp(new CrsMatrix(map, 5));
  for (Global row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    const Global i = row / side, j = row % side;
    const auto insert = [&](Global column, double value) { a->insertGlobalValues(row, 1, &value, &column); };
    insert(row, 4);
    if (i > 0) insert(row - side, -1);
    if (i + 1 < side) insert(row + side, -1);
    if (j > 0) insert(row - 1, -1);
    if (j + 1 < side) insert(row + 1, -1);
  }
  a->fillComplete();
  return a;
}

struct Solution {
  int iterations = 0;
  bool converged = false;
  std::array<double, 2> norms{};  // of the solutions, a column each
};

template <class Solver>
Solution solve(const Teuchos::RCP<const Operator>& a) {
  const auto x = Teuchos::rcp(new MultiVector(a->getDomainMap(), 2));
  const auto b = Teuchos::rcp(new MultiVector(a->getRangeMap(), 2));
  b->getVectorNonConst(0)->putScalar(1);
  for (Global row = b->getMap()->getMinGlobalIndex(); row <= b->getMap()->getMaxGlobalIndex(); ++row)
    b->replaceGlobalValue(row, 1, static_cast<double>(row % 17));
  const auto problem = Teuchos::rcp(new Problem(a, x, b));
  problem->setProblem();
  const auto parameters = Teuchos::rcp(new Teuchos::ParameterList);
  parameters->set("Convergence Tolerance", 1e-8);
  parameters->set("Maximum Iterations", 5000);
  Solver solver(problem, parameters);
  Solution solution;
  solution.converged = solver.solve() == Belos::Converged;
  solution.iterations = solver.getNumIters();
  x->norm2(Teuchos::arrayView(solution.norms.data(), 2));
  return solution;
}

template <class Solver>
bool compare(const char* name, const Teuchos::RCP<const CrsMatrix>& a, const Teuchos::RCP<const Operator>& encoded,
             bool prints) {
  const Solution theirs = solve<Solver>(a), ours = solve<Solver>(encoded);
  const double difference =
      std::abs(ours.norms[0] / theirs.norms[0] - 1) + std::abs(ours.norms[1] / theirs.norms[1] - 1);
  if (prints)
    std::printf("%s: %d iterations with Tpetra::CrsMatrix, %d encoded; norms %.12g %.12g, relative difference %.1e\n",
                name, theirs.iterations, ours.iterations, ours.norms[0], ours.norms[1], difference);
  // Sums in another order are rounded differently.
  return theirs.converged && ours.converged &&
         std::abs(ours.iterations - theirs.iterations) <= theirs.iterations / 50 && difference < 1e-6;
}

}  // namespace

int main(int argc, char** argv) try {
  const Tpetra::ScopeGuard scope(&argc, &argv);
  const auto processes = Tpetra::getDefaultComm();
  const bool prints = processes->getRank() == 0;
  const auto a = poisson(argc > 1 ? std::atoi(argv[1]) : 100, processes);
  const auto encoded = spmvpack::tpetra::Operator<>::encode(*a);
  const bool cg = compare<Belos::PseudoBlockCGSolMgr<double, MultiVector, Operator>>("CG", a, encoded, prints);
  const bool gmres = compare<Belos::BlockGmresSolMgr<double, MultiVector, Operator>>("GMRES", a, encoded, prints);
  const bool same = cg && gmres;
  if (!same && prints) std::puts("the solutions differ");
  return same ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
