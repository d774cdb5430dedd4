// spmvpack's operator beside Tpetra's own CrsMatrix, on any number of processes.
#define CATCH_CONFIG_RUNNER
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Core.hpp>
#include <complex>
#include <limits>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "spmvpack/tpetra/operator.hpp"

namespace {

using namespace spmvpack;
using Operator = tpetra::Operator<>;
using Map = Operator::Map;
using MultiVector = Operator::MultiVector;
using CrsMatrix = Operator::CrsMatrix;
using Global = Map::global_ordinal_type;
using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

// What cannot be encoded does not compile.
static_assert(tpetra::Encodable<double, int> && tpetra::Encodable<float, int>);
static_assert(!tpetra::Encodable<std::complex<double>, int> && !tpetra::Encodable<long double, int>);
static_assert(!tpetra::Encodable<int, int> && !tpetra::Encodable<double, long long>);

Comm all() { return Tpetra::getDefaultComm(); }
Comm self() { return Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_SELF)); }
constexpr auto unknown = static_cast<Tpetra::global_size_t>(-1);

/// More elements on the first processes, none on the last of several.
Teuchos::RCP<const Map> uneven(Global elements, Global base) {
  const int rank = all()->getRank(), ranks = all()->getSize();
  const Global holders = ranks > 1 ? ranks - 1 : 1, share = elements / holders;
  const Global mine = rank == 0 ? elements - share * (holders - 1) : rank < holders ? share : 0;
  return Teuchos::rcp(new Map(unknown, static_cast<std::size_t>(mine), base, all()));
}
/// Element after element to process after process, backwards.
Teuchos::RCP<const Map> dealt(Global elements, Global base) {
  std::vector<Global> mine;
  for (Global k = elements - 1; k >= 0; --k)
    if (k % all()->getSize() == all()->getRank()) mine.push_back(base + k);
  return Teuchos::rcp(new Map(unknown, Teuchos::ArrayView<const Global>(mine), base, all()));
}

Teuchos::RCP<CrsMatrix> matrix(const Teuchos::RCP<const Map>& rows, const Teuchos::RCP<const Map>& cols) {
  const auto a = Teuchos::rcp(new CrsMatrix(rows, 8));
  const auto n = static_cast<Global>(cols->getGlobalNumElements());
  for (std::size_t k = 0; k < rows->getNodeNumElements(); ++k) {
    const Global row = rows->getGlobalElement(static_cast<int>(k));
    for (Global e = 0; e < row % 4; ++e) {
      const Global col = cols->getIndexBase() + (row * 7 + e * 11) % n;
      const double value = static_cast<double>((row * 5 + e * 3) % 13) - 6;
      a->insertGlobalValues(row, 1, &value, &col);
    }
  }
  a->fillComplete(cols, rows);
  return a;
}

/// The same numbers however they are distributed.
void fill(MultiVector& v) {
  for (std::size_t k = 0; k < v.getLocalLength(); ++k)
    for (std::size_t j = 0; j < v.getNumVectors(); ++j)
      v.replaceLocalValue(static_cast<int>(k), j,
                          static_cast<double>((v.getMap()->getGlobalElement(static_cast<int>(k)) * 3 + j) % 8) - 2.5);
}

/// The largest difference. All numbers are multiples of 1/8: sums are exact in any order.
double apart(const MultiVector& a, const MultiVector& b) {
  MultiVector difference(a, Teuchos::Copy);
  difference.update(-1, b, 1);
  std::vector<double> norms(a.getNumVectors());
  difference.normInf(Teuchos::arrayViewFromVector(norms));
  double most = 0;
  for (const double norm : norms) most = norm <= most ? most : norm;  // NaN stays
  return most;
}

void require_same(const CrsMatrix& a, const Operator& op, Teuchos::ETransp mode, std::size_t columns) {
  const bool transposed = mode != Teuchos::NO_TRANS;
  MultiVector x(transposed ? op.getRangeMap() : op.getDomainMap(), columns);
  fill(x);
  for (const double alpha : {1.0, -2.0, 0.0})
    for (const double beta : {0.0, 1.0, -0.5}) {
      MultiVector theirs(transposed ? op.getDomainMap() : op.getRangeMap(), columns);
      fill(theirs);
      MultiVector ours(theirs, Teuchos::Copy);
      if (beta == 0) ours.putScalar(std::numeric_limits<double>::quiet_NaN());  // is not read
      a.apply(x, theirs, mode, alpha, beta);
      op.apply(x, ours, mode, alpha, beta);
      CAPTURE(alpha, beta, transposed, columns);
      CHECK(apart(ours, theirs) == 0);
    }
}

/// Whether f throws Error(errc::usage), or another, with these words.
template <class F>
bool refuses(const F& f, std::string_view words) {
  try {
    f();
  } catch (const Error& e) {
    UNSCOPED_INFO(e.what());
    return std::string_view(e.what()).find(words) != std::string_view::npos;
  }
  return false;
}

Operator whole(std::uint64_t rows, std::uint64_t cols, const Teuchos::RCP<const Map>& range,
               const Teuchos::RCP<const Map>& domain) {
  const std::vector<std::int32_t> columns{0};
  const std::vector<float> values{2};
  std::vector<std::int32_t> row_ptr(rows + 1, 1);
  row_ptr[0] = 0;
  MemorySink sink;
  encoder::encode(CsrView(rows, cols, std::span<const std::int32_t>(row_ptr), std::span<const std::int32_t>(columns),
                          std::span<const float>(values)),
                  tpetra::default_request(), sink);
  return {std::make_shared<const host_loader::HostMatrix>(
              host_loader::HostMatrix::load(Container::open(memory_source(sink.take()), "memory"))),
          range, domain};
}

}  // namespace

TEST_CASE("an encoded matrix multiplies as Tpetra's, in any distribution") {
  for (const Global base : {0, 1})
    for (const bool scattered : {false, true}) {
      const auto rows = scattered ? dealt(53, base) : uneven(53, base);
      const auto cols = scattered ? uneven(37, base) : dealt(37, base);
      const auto a = matrix(rows, cols);
      for (const char* layout : {"auto", "csr", "csell", "ccoo"}) {
        CAPTURE(base, scattered, layout);
        auto request = tpetra::default_request();
        request.strategy = layout;
        request.transpose = true;
        const auto op = Operator::encode(*a, request);
        CHECK(op->hasTransposeApply());
        CHECK(op->getDomainMap()->isSameAs(*cols));
        CHECK(op->getRangeMap()->isSameAs(*rows));
        for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS, Teuchos::CONJ_TRANS})
          for (const std::size_t columns : {1, 3}) require_same(*a, *op, mode, columns);
      }
    }
}

TEST_CASE("X and Y may be columns picked out of others") {
  const auto rows = uneven(53, 0), cols = uneven(37, 0);
  const auto a = matrix(rows, cols);
  const auto op = Operator::encode(*a);
  MultiVector x(cols, 5), y(rows, 5), theirs(rows, 5);
  fill(x);
  y.putScalar(7);
  theirs.putScalar(7);
  const std::vector<std::size_t> some{0, 3, 4};
  const Teuchos::ArrayView<const std::size_t> picked(some);
  a->apply(*x.subView(picked), *theirs.subViewNonConst(picked));
  op->apply(*x.subView(picked), *y.subViewNonConst(picked));
  CHECK(apart(y, theirs) == 0);
}

TEST_CASE("a whole matrix in one process") {
  const auto range = Teuchos::rcp(new Map(3, 0, self())), domain = Teuchos::rcp(new Map(2, 0, self()));
  const Operator op = whole(3, 2, range, domain);  // f32, with vectors in double
  CHECK_FALSE(op.hasTransposeApply());
  MultiVector x(domain, 2), y(range, 2);
  fill(x);
  y.putScalar(1);
  op.apply(x, y, Teuchos::NO_TRANS, 0.1, 3);
  for (std::size_t j = 0; j < 2; ++j) {
    CHECK(y.getData(j)[0] == 0.1 * (2 * x.getData(j)[0]) + 3);
    CHECK(y.getData(j)[2] == 3);
  }
}

TEST_CASE("maps that are not the matrix's are refused") {
  const auto map = [](Global size) {
    return Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(size), 0, self()));
  };
  CHECK(refuses([&] { (void)(whole(3, 2, map(2), map(2))); }, "range map has 2 elements, the matrix 3 rows"));
  CHECK(refuses([&] { (void)(whole(3, 2, map(3), map(3))); }, "domain map has 3 elements, the matrix 2 columns"));
  CHECK(refuses([&] { (void)(whole(3, 2, map(3), Teuchos::null)); }, "there is no domain map"));
  CHECK(refuses([&] { (void)(Operator(nullptr, map(3), map(2))); }, "there is no matrix"));
  const std::vector<Global> apart_by_two{0, 2, 4};
  const auto gaps = Teuchos::rcp(new Map(3, Teuchos::ArrayView<const Global>(apart_by_two), 0, self()));
  CHECK(refuses([&] { (void)(whole(3, 2, gaps, map(2))); }, "range map is not contiguous"));
  if (all()->getSize() > 1)
    CHECK(refuses([&] { (void)(whole(3, 2, Teuchos::rcp(new Map(3, 0, all())), map(2))); },
                  "processes, and a whole matrix of one"));
}

TEST_CASE("matrices that cannot be encoded are refused by all processes") {
  const auto rows = uneven(53, 0);
  CHECK(refuses([&] { (void)(Operator::encode(CrsMatrix(rows, 1))); }, "call fillComplete() first"));
  auto request = tpetra::default_request();
  if (all()->getRank() == 0) request.memory_limit = 1;
  CHECK(refuses([&] { (void)(Operator::encode(*matrix(rows, rows), request)); },
                all()->getRank() == 0 ? "raise the memory limit" : "rank 0 could not encode its rows"));
  if (all()->getSize() > 1) {  // all of them have row 0
    const std::vector<Global> first{0};
    const auto shared = Teuchos::rcp(new Map(unknown, Teuchos::ArrayView<const Global>(first), 0, all()));
    CrsMatrix a(shared, 1);
    const double one = 1;
    a.insertGlobalValues(0, 1, &one, first.data());
    const auto one_row = Teuchos::rcp(new Map(1, 0, all()));
    a.fillComplete(one_row, one_row);
    CHECK(refuses([&] { (void)(Operator::encode(a)); }, "processes share rows"));
  }
}

TEST_CASE("vectors that do not fit are refused by all processes") {
  const auto rows = uneven(53, 0), cols = uneven(37, 0);
  const auto op = Operator::encode(*matrix(rows, cols));
  MultiVector x(cols, 2), y(rows, 2), three(rows, 3);
  CHECK(refuses([&] { (void)(op->apply(y, y)); }, "map of X, of 53 elements, is not the domain map, of 37"));
  CHECK(refuses([&] { (void)(op->apply(x, x)); }, "map of Y, of 37 elements, is not the range map, of 53"));
  MultiVector elsewhere(dealt(53, 0), 2);
  CHECK(refuses([&] { (void)(op->apply(x, elsewhere)); }, "map of Y, of 53 elements, is not the range map"));
  CHECK(refuses([&] { (void)(op->apply(x, three)); }, "X has 2 columns, Y 3"));
  CHECK_FALSE(op->hasTransposeApply());
  CHECK(refuses([&] { (void)(op->apply(y, x, Teuchos::TRANS)); }, "there is no transpose to apply"));
}

int main(int argc, char** argv) {
  const Tpetra::ScopeGuard scope(&argc, &argv);
  return Catch::Session().run(argc, argv);
}
