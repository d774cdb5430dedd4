/// Generators: what all of them promise, and their parts. What each matrix is, generated_matrices_test.py checks by
/// SciPy.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "catch.hpp"
#include "market_files.hpp"
#include "spmvpack/generators/adaptive.hpp"
#include "spmvpack/generators/block_mesh.hpp"
#include "spmvpack/generators/cage.hpp"
#include "spmvpack/generators/circuit.hpp"
#include "spmvpack/generators/cubic.hpp"
#include "spmvpack/generators/elasticity.hpp"
#include "spmvpack/generators/epidemic.hpp"
#include "spmvpack/generators/holstein_hubbard.hpp"
#include "spmvpack/generators/hpcg.hpp"
#include "spmvpack/generators/kkt.hpp"
#include "spmvpack/generators/lattice_qcd.hpp"
#include "spmvpack/generators/logdist.hpp"
#include "spmvpack/generators/matrix_build.hpp"
#include "spmvpack/generators/matrix_stream.hpp"
#include "spmvpack/generators/rmat.hpp"
#include "spmvpack/generators/shapes.hpp"
#include "spmvpack/generators/stencils.hpp"
#include "spmvpack/generators/triangles.hpp"
#include "spmvpack/generators/uniform.hpp"
#include "spmvpack/sources/matrix_market.hpp"

using namespace spmvpack;
using namespace spmvpack::generators;

namespace {

constexpr Coefficients constant{}, per_cell{Coefficients::Kind::random}, blocks{Coefficients::Kind::blocks, 2};
constexpr NumberingRule natural{}, scrambled{NumberingRule::Kind::random}, shuffled{NumberingRule::Kind::shuffled, 7},
    rcm{NumberingRule::Kind::rcm};

struct Case {
  std::string name;
  std::function<std::unique_ptr<MatrixGenerator>(int threads)> make;
};

template <class Generator, class... Arguments>
Case one(std::string name, Arguments... arguments) {
  return {std::move(name), [=](int) { return std::make_unique<Generator>(arguments...); }};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Coefficients& coefficients : {constant, blocks, per_cell}) {
    const auto name = [&](const char* kind) { return fmt::format("{}, {}", kind, coefficients.describe("cell")); };
    cases.push_back(one<Laplace2d>(name("laplace2d"), 7U, 5U, false, coefficients, 3U));
    cases.push_back(one<Laplace2d>(name("laplace2d without one"), 7U, 5U, true, coefficients, 3U));
    for (const Point& n : {Point{1, 1, 1}, Point{4, 1, 5}, Point{5, 4, 3}}) {
      cases.push_back(one<ConvectionDiffusion>(name("convection-diffusion"), n, coefficients, 3U));
      cases.push_back(one<Hpcg>(name("hpcg"), n, coefficients, 3U));
      cases.push_back(one<Kkt>(name("kkt"), n, coefficients, 3U));
    }
    for (const Point& n : {Point{1, 2, 2}, Point{3, 2, 4}}) {
      cases.push_back(one<Elasticity>(name("elasticity"), n, coefficients, 0.0, 3U));
      cases.push_back(one<Elasticity>(name("elasticity, nodes moved"), n, coefficients, 0.1, 3U));
    }
    for (const NumberingRule& rule : {natural, scrambled, shuffled, rcm})
      for (const double jitter : {0.0, 0.2})
        cases.push_back({name("triangles"), [=](int threads) {
                           return std::make_unique<Triangles>(9, 5, rule, coefficients, jitter, 3, Resources{threads});
                         }});
    cases.push_back(one<Triangles>(name("one triangle node"), 1U, 1U, natural, coefficients));
    for (const std::uint64_t rows : {2U, 3000U})
      cases.push_back({name("circuit"), [=](int threads) {
                         return std::make_unique<Circuit>(rows, coefficients, 3, Resources{threads});
                       }});
    for (const double jitter : {0.0, 0.25})
      cases.push_back(one<BlockMesh>(name("block-mesh"), Point{4, 3, 3}, 3U, 1.8, coefficients, jitter, 3U));
    for (const Point& n : {Point{2, 2, 2}, Point{9, 7, 8}})
      cases.push_back({name("adaptive"), [=](int threads) {
                         return std::make_unique<Adaptive>(n, coefficients, 3, Resources{threads});
                       }});
    cases.push_back(one<Uniform>(name("random"), 50U, 400U, 9U, coefficients, 3U));
    const auto shape = [&](const char* kind, auto make) {
      cases.push_back({name(kind), [make](int) -> std::unique_ptr<MatrixGenerator> { return make(); }});
    };
    shape("full", [=] { return Runs::full(3, 70, coefficients, 3); });
    shape("band", [=] { return Runs::band(40, 7, 2, 3, coefficients, 3); });
    shape("triangle", [=] { return Runs::band(20, 19, 0, 0, coefficients, 3); });
    shape("diagonal blocks", [=] { return Runs::blocks(23, 5, coefficients, 3); });
    cases.push_back(one<Arrow>(name("arrow"), 30U, coefficients, 3U));
    cases.push_back(one<PowerLawRows>(name("power law"), 60U, 500U, 1.6, 300U, coefficients, 3U));
    cases.push_back(one<Scattered>(name("scattered"), 40U, 30U, 100U, coefficients, 3U));
    cases.push_back(one<Scattered>(name("no entries"), 40U, 30U, 0U, coefficients, 3U));
  }
  for (const NumberingRule& rule : {natural, scrambled})
    cases.push_back({"rmat", [=](int threads) { return std::make_unique<Rmat>(9, 12, rule, 3, Resources{threads}); }});
  cases.push_back(one<Cage>("cage", 3U));
  cases.push_back(one<Cage>("cage", 7U));
  cases.push_back(one<Epidemic>("epidemic", 2U, 2U));
  cases.push_back(one<Epidemic>("epidemic", 7U, 5U));
  cases.push_back(one<HolsteinHubbard>("holstein-hubbard", 2U, 1U, 0U));
  cases.push_back(one<HolsteinHubbard>("holstein-hubbard", 4U, 4U, 3U));
  cases.push_back(one<HolsteinHubbard>("holstein-hubbard", 3U, 6U, 4U));
  cases.push_back(one<LatticeQcd>("lattice-qcd", 3U, 3U));
  cases.push_back(one<LinearProgram>("lp", 6U, 5000U, 700U, true, 3U));
  cases.push_back(one<LinearProgram>("lp of ones, full rows", 6U, 50U, 50U, false, 3U));
  for (const std::uint64_t rows : {2U, 1000U})
    for (const std::uint64_t per_row : {1U, 6U, 90U}) cases.push_back(one<LogDistance>("logdist", rows, per_row, 3U));
  return cases;
}

std::string text_of(const MatrixGenerator& matrix, int threads) {
  std::string text;
  write_generated(matrix, {"one", "two"}, [&](std::string_view piece) { text += piece; }, threads, {});
  return text;
}

}  // namespace

TEST_CASE("rows are sorted, in range, and as many as promised; symmetric matrices are so to the bit") {
  for (const Case& c : all_cases()) {
    INFO(c.name);
    const auto matrix = c.make(0);
    std::map<std::pair<std::uint64_t, std::uint64_t>, double> entries;
    std::uint64_t lower = 0, bad = 0;
    Row row;
    for (std::uint64_t i = 0; i < matrix->rows(); ++i) {
      row.clear();
      matrix->row(i, row);
      const Entry* previous = nullptr;
      for (const Entry& e : row) {
        bad += e.column >= matrix->cols() || (previous != nullptr && previous->column >= e.column) ? 1 : 0;
        bad += !std::isfinite(e.value) || (matrix->field() == Field::pattern && e.value != 1) ? 1 : 0;
        previous = &e;
        lower += e.column <= i ? 1 : 0;
        entries[{i, e.column}] = e.value;
      }
    }
    CHECK(bad == 0);
    const EntryCounts promised = matrix->count(2, {}), counted = matrix->MatrixGenerator::count(3, {});
    CHECK(promised.all == entries.size());
    CHECK(counted.all == entries.size());
    CHECK(counted.lower == lower);
    if (matrix->symmetry() == Symmetry::general) continue;
    CHECK(promised.lower == lower);
    std::uint64_t unlike = 0;
    for (const auto& [at, value] : entries) {
      const auto mirror = entries.find({at.second, at.first});
      unlike += mirror == entries.end() ||
                std::bit_cast<std::uint64_t>(mirror->second) != std::bit_cast<std::uint64_t>(value);
    }
    CHECK(unlike == 0);
  }
}

TEST_CASE("text and memory agree, at any number of threads") {
  for (const Case& c : all_cases()) {
    INFO(c.name);
    const std::string text = text_of(*c.make(1), 1);
    CHECK(text_of(*c.make(3), 3) == text);
    const test::TemporaryDirectory directory;
    test::write_file(directory.file("a.mtx"), text);
    const SourceMatrix read = sources::read_matrix_market(directory.file("a.mtx"));
    for (const int threads : {1, 2, 5}) {
      const SourceMatrix built = build_generated(*c.make(threads), {"one", "two"}, {threads, 0});
      CHECK(equal_bits(built.matrix, read.matrix));
      CHECK(built.field == read.field);
      CHECK(built.symmetry == read.symmetry);
      CHECK(built.provenance.entries == read.provenance.entries);
      CHECK(built.provenance.explicit_zeros == read.provenance.explicit_zeros);
      CHECK(read.provenance.duplicates == 0);
      CHECK(built.provenance.comments == read.provenance.comments);
    }
  }
}

TEST_CASE("seeds give different matrices") {
  CHECK(text_of(Hpcg({4, 4, 4}, per_cell, 1), 1) != text_of(Hpcg({4, 4, 4}, per_cell, 2), 1));
  CHECK(text_of(Hpcg({4, 4, 4}, constant, 1), 1) == text_of(Hpcg({4, 4, 4}, constant, 2), 1));
  CHECK(text_of(Circuit(500, constant, 1), 1) != text_of(Circuit(500, constant, 2), 1));
  CHECK(text_of(LogDistance(500, 9, 1), 1) != text_of(LogDistance(500, 9, 2), 1));
}

TEST_CASE("published sizes") {
  const auto check = [](const MatrixGenerator& matrix, std::uint64_t rows, std::uint64_t nnz) {
    CHECK(matrix.rows() == rows);
    CHECK(matrix.nnz() == nnz);
  };
  check(Kkt({80, 80, 80}), 1062400, 28192672);      // nlpkkt80
  check(Kkt({120, 120, 120}), 3542400, 95117792);   // nlpkkt120
  check(Kkt({160, 160, 160}), 8345600, 225422112);  // nlpkkt160
  check(Hpcg({120, 120, 120}), 1728000, 45882712);
  check(Elasticity({64, 64, 64}), 786432, 61731000);
  check(Triangles(1800, 1800), 3240000, 22665602);
  check(Cage(12), 130228, 2032536);
  check(Cubic(128, 128), 146689, 3636649);             // Dubcova3
  check(Epidemic(1025, 513), 525825, 2100225);         // mc2depi
  check(LatticeQcd(8), 49152, 1916928);                // conf5.4-00l8x8
  CHECK(HolsteinHubbard(6, 6, 15).rows() == 6201600);  // HMEp
}

TEST_CASE("phonon states are numbered in lexicographic order") {
  const PhononBasis basis(3, 4);
  CHECK(basis.size() == 35);  // C(7, 3)
  std::uint64_t number = 0, pairs = 0;
  for (std::uint32_t a = 0; a <= 4; ++a)
    for (std::uint32_t b = 0; a + b <= 4; ++b)
      for (std::uint32_t c = 0; a + b + c <= 4; ++c, ++number) {
        CHECK(basis.state(number) == PhononBasis::State{a, b, c});
        CHECK(basis.number({a, b, c}) == number);
        pairs += a > 0 ? 1 : 0;
      }
  CHECK(number == basis.size());
  CHECK(basis.pairs() == pairs);
  CHECK(PhononBasis(5, 15).size() == 15504);
  CHECK(PhononBasis(1, 0).pairs() == 0);
  CHECK_THROWS_AS(PhononBasis(15, 40), Error);
  CHECK_THROWS_AS(PhononBasis(2, std::uint64_t{1} << 40), Error);
}

TEST_CASE("parameters out of range are refused") {
  CHECK_THROWS_AS(HolsteinHubbard(1, 1, 3), Error);
  CHECK_THROWS_AS(HolsteinHubbard(17, 4, 3), Error);
  CHECK_THROWS_AS(HolsteinHubbard(4, 0, 3), Error);
  CHECK_THROWS_AS(HolsteinHubbard(4, 9, 3), Error);
  CHECK_THROWS_AS(HolsteinHubbard(16, 16, 15), Error);
  CHECK_THROWS_AS(LatticeQcd(2), Error);
  CHECK_THROWS_AS(LatticeQcd(1000), Error);
  CHECK_THROWS_AS(Epidemic(1, 5), Error);
  CHECK_THROWS_AS(Cubic(1, 5), Error);
  CHECK_THROWS_AS(Cubic(100000, 100000), Error);
  CHECK_THROWS_AS(BlockMesh({3, 3, 3}, 0, 2, constant, 0), Error);
  CHECK_THROWS_AS(BlockMesh({3, 3, 3}, 65, 2, constant, 0), Error);
  CHECK_THROWS_AS(BlockMesh({3, 3, 3}, 2, 0.5, constant, 0), Error);
  CHECK_THROWS_AS(BlockMesh({2000, 2000, 1000}, 2, 2, constant, 0), Error);
  CHECK_THROWS_AS(Adaptive({1, 3, 3}, constant), Error);
  CHECK_THROWS_AS(Cage(2), Error);
  CHECK_THROWS_AS(Cage(17), Error);
}

TEST_CASE("element stiffness by quadrature is that of cubes where nodes hardly move") {
  const auto cubes = build_generated(Elasticity({3, 4, 5}, blocks, 0, 5), {});
  const auto moved = build_generated(Elasticity({3, 4, 5}, blocks, 1e-9, 5), {});
  REQUIRE(cubes.matrix.nnz() == moved.matrix.nnz());
  const auto &a = std::get<Array<double>>(cubes.matrix.values), &b = std::get<Array<double>>(moved.matrix.values);
  double worst = 0;
  for (std::uint64_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  CHECK(worst < 1e-7);
  CHECK(worst > 0);
}

TEST_CASE("numberings are bijections of the kind they say") {
  // A path 0 - 3 - 6 - ... - 1 - 4 - ... - 2 - 5 - ...: bandwidth 3 and more as it stands, 1 in the right order.
  const std::uint64_t n = 100;
  std::vector<std::uint32_t> path;
  for (std::uint32_t first = 0; first < 3; ++first)
    for (std::uint32_t v = first; v < n; v += 3) path.push_back(v);
  const auto neighbours = [&](std::uint32_t vertex, std::vector<std::uint32_t>& out) {
    const auto at = std::find(path.begin(), path.end(), vertex);
    if (at != path.begin()) out.push_back(*(at - 1));
    if (at + 1 != path.end()) out.push_back(*(at + 1));
  };
  for (const NumberingRule& rule : {natural, scrambled, shuffled, rcm}) {
    INFO(rule.describe());
    const Numbering numbering(n, rule, 1, neighbours, {});
    std::set<std::uint64_t> seen;
    std::uint64_t moved = 0;
    for (std::uint64_t v = 0; v < n; ++v) {
      CHECK(numbering.vertex(numbering.row(v)) == v);
      seen.insert(numbering.row(v));
      moved += numbering.row(v) != v ? 1 : 0;
      if (rule.kind == NumberingRule::Kind::shuffled) CHECK(numbering.row(v) / 7 == v / 7);
    }
    CHECK(seen.size() == n);
    CHECK(*seen.rbegin() == n - 1);
    CHECK((moved > n / 2) == (rule.kind != NumberingRule::Kind::natural));
    if (rule.kind == NumberingRule::Kind::rcm)
      for (std::size_t k = 1; k < path.size(); ++k)
        CHECK(std::max(numbering.row(path[k]), numbering.row(path[k - 1])) ==
              std::min(numbering.row(path[k]), numbering.row(path[k - 1])) + 1);
  }
  // Vertices without any edge, and several components.
  const Numbering lonely(5, rcm, 1, [](std::uint32_t, std::vector<std::uint32_t>&) {}, {});
  std::set<std::uint64_t> rows;
  for (std::uint64_t v = 0; v < 5; ++v) rows.insert(lonely.row(v));
  CHECK(rows == std::set<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a graph's rows are sorted and hold repeated edges once") {
  for (const int threads : {1, 4}) {
    // Source k makes the edges (k mod 3, 10 - k mod 5) and again the same.
    const Adjacency graph(4, 20000, {threads, 0}, [](std::uint64_t k, auto& emit) {
      emit(k % 3, 10 - k % 5);
      emit(k % 3, 10 - k % 5);
    });
    CHECK(graph.edges() == 15);
    for (std::uint64_t r = 0; r < 3; ++r) {
      const auto row = graph.row(r);
      CHECK(std::vector<std::uint32_t>(row.begin(), row.end()) == std::vector<std::uint32_t>{6, 7, 8, 9, 10});
    }
    CHECK(graph.row(3).empty());
  }
}

TEST_CASE("random sets of columns are distinct and reach every column") {
  for (const std::uint64_t per_row : {1U, 3U, 24U, 25U, 26U, 99U, 100U}) {
    INFO(per_row);
    std::vector<std::uint64_t> hits(100);
    const Uniform matrix(3000, 100, per_row, constant, 1);
    Row row;
    for (std::uint64_t i = 0; i < matrix.rows(); ++i) {
      row.clear();
      matrix.row(i, row);
      REQUIRE(row.size() == per_row);
      for (const Entry& e : row) ++hits[e.column];
    }
    // Binomial with mean 30 per_row: six standard deviations on either side.
    const double p = static_cast<double>(per_row) / 100, mean = 3000 * p, deviation = std::sqrt(mean * (1 - p));
    for (const std::uint64_t h : hits) CHECK(std::abs(static_cast<double>(h) - mean) <= 6 * deviation);
  }
}

TEST_CASE("what makes no matrix is refused") {
  const auto code_of = [](auto&& make) {
    try {
      make();
    } catch (const Error& e) {
      return e.code();
    }
    return errc::internal;
  };
  CHECK(code_of([] { Laplace2d(0, 5, false); }) == errc::usage);
  CHECK(code_of([] { Laplace2d(2, 5, true); }) == errc::usage);
  CHECK(code_of([] { Laplace2d(65536, 65536, false); }) == errc::unsupported);
  CHECK(code_of([] { ConvectionDiffusion({1, 0, 1}); }) == errc::usage);
  // The product of the sides is 2^64, which must not wrap around to something small.
  CHECK(code_of([] { ConvectionDiffusion({1U << 31, 1U << 31, 4}); }) == errc::unsupported);
  CHECK(code_of([] { Hpcg({0, 1, 1}); }) == errc::usage);
  CHECK(code_of([] { Hpcg({1U << 16, 1U << 16, 1}); }) == errc::unsupported);
  CHECK(code_of([] { Kkt({0, 4, 4}); }) == errc::usage);
  CHECK(code_of([] { Kkt({1290, 1290, 1290}); }) == errc::unsupported);  // n fits, 2 n + m does not
  CHECK(code_of([] { Elasticity({0, 2, 2}); }) == errc::usage);
  CHECK(code_of([] { Elasticity({1, 1, 2}); }) == errc::usage);
  CHECK(code_of([] { Elasticity({1200, 1200, 1200}); }) == errc::unsupported);
  CHECK(code_of([] { Triangles(0, 3); }) == errc::usage);
  CHECK(code_of([] { Triangles(1000, 1000, scrambled, {}, 0.2, 0, {1, 7999999}); }) == errc::out_of_memory);
  CHECK(code_of([] { Circuit(1, constant); }) == errc::usage);
  CHECK(code_of([] { Circuit(std::uint64_t{1} << 32, constant); }) == errc::unsupported);
  CHECK(code_of([] { Circuit(1000, constant, 0, {1, 100}); }) == errc::out_of_memory);
  CHECK(code_of([] { Rmat(0, 1, natural); }) == errc::usage);
  CHECK(code_of([] { Rmat(32, 1, natural); }) == errc::usage);
  CHECK(code_of([] { Rmat(4, 1, rcm); }) == errc::usage);
  CHECK(code_of([] { Rmat(10, 16, natural, 0, {1, 60000}); }) == errc::out_of_memory);
  CHECK(code_of([] { LinearProgram(3, 10, 11, true); }) == errc::usage);
  CHECK(code_of([] { Uniform(3, 10, 0, constant); }) == errc::usage);
  CHECK(code_of([] { Uniform(0, 10, 1, constant); }) == errc::usage);
  CHECK(code_of([] { LogDistance(1, 5); }) == errc::usage);
  CHECK(code_of([] { LogDistance(100, 1001); }) == errc::usage);
  CHECK(code_of([] { build_generated(Hpcg({9, 9, 9}), {}, {1, 5000}); }) == errc::out_of_memory);
  for (const char* bad : {"", "blocks", "blocks:", "blocks:0", "blocks:x", "blocks:4294967296", "Random", "local"}) {
    INFO(bad);
    CHECK(code_of([&] { parse_coefficients("--c", bad); }) == errc::usage);
  }
  for (const char* bad : {"", "shuffled", "shuffled:0", "shuffled:-1", "RCM"}) {
    INFO(bad);
    CHECK(code_of([&] { parse_numbering("--n", bad); }) == errc::usage);
  }
}

TEST_CASE("an interrupt stops the making of a matrix") {
  const Hpcg matrix({50, 50, 50});
  const auto stop = [](std::string_view, std::uint64_t done, std::uint64_t) { return done == 0; };
  CHECK_THROWS_AS(build_generated(matrix, {}, {1, 0}, stop), Error);
  CHECK_THROWS_AS(write_generated(
                      matrix, {}, [](std::string_view) {}, 1, stop),
                  Error);
}
