// Plans of several parts go through everything: encode, report, unpack, multiply. Commands: tools_test.cpp.

#include "strategies/strategies.hpp"

#include "catch.hpp"
#include "dealt.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/sources/matrix_market.hpp"
#include "spmvpack/sources/read_matrix.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

template <class T>
std::vector<T> multiply(const std::vector<std::byte>& file, T alpha, const std::vector<T>& x, T beta, std::vector<T> y,
                        int threads) {
  HostMatrix::load(open(file)).multiply<T>(alpha, x, beta, y, threads);
  return y;
}

template <class T>
void check_multiplies(const NamedMatrix& m, std::uint64_t seed) {
  const std::vector<std::byte> file =
      encode({clone(m.matrix), Field::real, Symmetry::general, {}}, dealt(seed), {.threads = 2, .force_size = true})
          .bytes;
  const std::vector<DealtPart> parts = deal(m.matrix, seed);
  const auto x = random_vector<T>(m.matrix.cols, 3), y = random_vector<T>(m.matrix.rows, 4);
  for (const T beta : {T{0}, T{0.75}}) {
    const auto expected =
        multiply_dealt<T>(parts, T{-2.5}, x, beta, y, [](const std::vector<std::byte>& part, const auto& local_x) {
          const std::uint64_t rows = open(part).facts().rows;
          return multiply<T>(part, T{1}, local_x, T{0}, std::vector<T>(rows), 2);
        });
    for (const int threads : {1, 3}) REQUIRE(same_bits(multiply<T>(file, T{-2.5}, x, beta, y, threads), expected));
  }
}

}  // namespace

TEST_CASE("a matrix dealt out to parts of every layout comes back bit for bit", "[sequential]") {
  std::uint64_t seed = 0;
  int dealt_out = 0;
  for (const int values : {0, 2, 4})
    for (const NamedMatrix& m : random_matrices<double>(67, values)) {
      INFO(m.name << ", values " << values);
      const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
      for (const format::Codec codec : {format::Codec::none, format::Codec::zstd}) {
        const Encoded file = encode(source, dealt(++seed), {.codec = codec, .threads = 2, .force_size = true});
        const Container container = open(file.bytes);
        CHECK(container.parts().size() == deal(m.matrix, seed).size());
        const bool all = container.parts().size() == 2 * (layout_names().size() + 1);  // none is without entries
        dealt_out += all ? 1 : 0;
        CHECK(container.device_bytes() == file.device_bytes);
        if (codec == format::Codec::none) CHECK(file.bytes.size() == file.predicted_bytes);
        REQUIRE(equal_bits(unpack(container), m.matrix));
        CHECK(container.provenance().options.starts_with("--layout dealt "));
        CHECK(container.provenance().target.empty());
        if (all) CHECK(container.provenance().parts.find("coo") != std::string::npos);
      }
    }
  CHECK(dealt_out > 6);
}

TEST_CASE("several parts multiply in the order of the part table") {
  std::uint64_t seed = 0;
  for (const NamedMatrix& m : random_matrices<double>(71, 3)) {
    INFO(m.name);
    check_multiplies<double>(m, ++seed);
  }
  for (const NamedMatrix& m : random_matrices<float>(73, 3)) {
    if (sanitized) break;
    INFO(m.name << ", f32");
    check_multiplies<float>(m, ++seed);
    check_multiplies<double>(m, ++seed);
  }
}

TEST_CASE("a report speaks of the parts") {
  int in_parts = 0;
  for (const NamedMatrix& m : random_matrices<double>(79, 2)) {
    INFO(m.name);
    const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
    const std::vector<encoder::Strategy> both{encoder::find_strategy("csr"), dealt(5)};
    analyzer::ReportOptions options;
    options.strategies = both;
    options.workspace = [](const PartInfo& part) { return part.nnz; };
    const analyzer::Report report = analyzer::make_report(source, options);
    REQUIRE(report.layouts.size() == 2);
    const analyzer::LayoutCost& cost = report.layouts[1];
    const Encoded file = encode(source, both[1], {.threads = 1, .force_size = true});
    CHECK(cost.device_bytes == file.device_bytes);
    CHECK(cost.file_bytes == file.bytes.size());
    REQUIRE(cost.parts.size() == open(file.bytes).parts().size());
    std::uint64_t nnz = 0, device = 0, most = 0, shares = 0;
    for (const analyzer::PartCost& part : cost.parts) {
      nnz += part.info.nnz;
      device += part.device_bytes;
      most = std::max(most, part.info.nnz);
    }
    for (const encoder::Counter& share : cost.byte_shares) shares += share.value;
    CHECK(nnz == m.matrix.nnz());
    CHECK(device == cost.device_bytes);
    CHECK(shares == cost.device_bytes);
    CHECK(cost.workspace_bytes == most);
    if (cost.parts.size() == 1) continue;  // too few entries for several
    ++in_parts;
    CHECK(to_text(report, analyzer::Detail::full).find("\nParts\n") != std::string::npos);
    CHECK(to_json(report).find("\"map\": \"list\"") != std::string::npos);
  }
  CHECK(in_parts > 8);
}

TEST_CASE("encode takes what a report recommends, whatever the aim") {
  for (const NamedMatrix& m : random_matrices<double>(89, 2))
    for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes})
      for (const encoder::Target target : {encoder::Target::gpu, encoder::Target::host}) {
        INFO(m.name);
        const encoder::Aim aim{optimize, target};
        const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
        analyzer::ReportOptions options;
        options.aim = aim;
        const analyzer::Report report = analyzer::make_report(source, options);
        const encoder::Plan plan = encoder::find_strategy("auto").plan(m.matrix, {.aim = aim});
        CHECK(report.layouts[report.recommended].name == plan.strategy);
        CHECK(report.reason == plan.reason);
      }
}

TEST_CASE("by bytes, ties go to the simpler layout") {
  const auto choice = [](std::vector<std::uint64_t> bytes, std::uint64_t csr) {
    std::vector<encoder::Candidate> candidates;
    for (const std::uint64_t b : bytes) candidates.push_back({"layout", b});
    return encoder::choose(candidates, csr, encoder::Objective::bytes);
  };
  CHECK(choice({100, 50, 50}, 100).index == 1);
  CHECK(choice({100, 50, 50}, 100).reason == "50.0 % of csr's bytes");
  CHECK(choice({100, 100, 101}, 100).index == 0);
  CHECK(choice({100, 100, 101}, 100).reason == "no layout that auto takes is smaller than csr");
}

TEST_CASE("encode takes a matrix in the caller's own 32-bit arrays") {
  const TemporaryDirectory directory;
  const std::vector<std::int32_t> row_ptr{0, 2, 2, 3}, columns{0, 3, 1};
  const std::vector<float> values{1.5F, -2.0F, 0.5F};
  const CsrView view(3, 4, std::span(row_ptr), std::span(columns), std::span(values));
  const std::string path = directory.file("A.spmvc");
  encoder::encode(view, {}, path);
  const Container container = Container::open(path);
  CHECK(equal_bits(unpack(container), view));
  CHECK(container.facts().field == Field::real);
  CHECK(container.provenance().entries == 3);
  const std::vector<std::int32_t> negative{0, -1, 1};
  CHECK_THROWS_AS(encoder::encode(CsrView(3, 4, std::span(row_ptr), std::span(negative), std::span(values)), {},
                                  directory.file("B.spmvc")),
                  Error);
}

TEST_CASE("encode refuses a matrix that is not one") {
  const TemporaryDirectory directory;
  const auto refusal = [&](const std::vector<std::uint64_t>& row_ptr, const std::vector<std::uint32_t>& columns) {
    SourceMatrix source;
    source.matrix = allocate_csr(row_ptr.size() - 1, 4, columns.size(), ValueType::f64);
    std::copy(row_ptr.begin(), row_ptr.end(), source.matrix.row_ptr.begin());
    std::copy(columns.begin(), columns.end(), source.matrix.col_idx.begin());
    for (double& v : std::get<Array<double>>(source.matrix.values)) v = 1;
    try {
      encoder::encode(source, {}, directory.file("A.spmvc"));
    } catch (const Error& e) {
      CHECK(e.code() == errc::bad_input);
      CHECK_THROWS_AS(analyzer::make_report(source), Error);
      return e.message();
    }
    return std::string();
  };
  CHECK(refusal({0, 2, 3}, {0, 3, 1}).empty());
  std::filesystem::remove(directory.file("A.spmvc"));
  CHECK(refusal({0, 2, 3}, {3, 0, 1}) == "column 0 after column 3");
  CHECK(refusal({0, 2, 3}, {0, 0, 1}) == "column 0 after column 0");
  CHECK(refusal({0, 2, 3}, {0, 4, 1}) == "column 4 of a matrix with 4 columns");
  CHECK(refusal({0, 3, 2}, {0, 1}) == "row pointers 0 and 3 are not increasing up to 2");
  CHECK(refusal({1, 2, 3}, {0, 3, 1}) == "row_ptr[0] is 1, expected 0");
  // Arrays of signed numbers, as SciPy has them, are told as such.
  const std::vector<std::int32_t> below{0, -5, 2}, backwards{0, 1, -2}, sound{0, 1, 2}, columns{0, 1}, negative{0, -1};
  const std::vector<std::int64_t> long_pointers{-3, 1, 2};
  const std::vector<double> values{1, 2};
  const auto complaint = [&](const auto& row_ptr, const auto& col_idx) -> std::string {
    try {
      CsrView(2, 4, std::span(row_ptr), std::span(col_idx), std::span(values)).check();
    } catch (const Error& e) {
      return e.message();
    }
    return "";
  };
  CHECK(complaint(below, columns) == "row pointers 0 and -5 (4294967291 if unsigned) are not increasing up to 2");
  CHECK(complaint(backwards, columns) == "row_ptr[2] is -2 (4294967294 if unsigned), expected the 2 nonzeros");
  CHECK(complaint(long_pointers, columns) == "row_ptr[0] is -3 (18446744073709551613 if unsigned), expected 0");
  CHECK(complaint(sound, negative) == "column -1 (4294967295 if unsigned) of a matrix with 4 columns");
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a layout that cannot take a matrix is left out of auto's choice, and named in a report") {
  // 65,537 segments of amb. The matrix is tiny but for its columns.
  const std::uint64_t cols = std::uint64_t{65536} * 65536 - 2;
  const CsrMatrix wide = make_csr(2, cols, {{{0, 0}, 1.0}, {{1, static_cast<std::uint32_t>(cols - 1)}, 2.0}});
  const std::vector<std::string> narrow{"csr", "amb"};
  std::vector<encoder::Strategy> strategies;
  for (const std::string& name : narrow) strategies.push_back(encoder::find_strategy(name));
  const encoder::Strategy& amb = strategies[1];
  CHECK_NOTHROW(amb.plan(wide, {}));  // 65,536 segments
  const std::map<std::string, std::string> settings{{"amb.segment", "65535"}};
  CHECK_THROWS_AS(amb.plan(wide, {.settings = settings}), Error);
  CHECK(encoder::find_strategy("auto").plan(wide, {.settings = settings}).strategy != "amb");
  // Sorting columns takes memory for each.
  CHECK_THROWS_WITH(encoder::find_strategy("nus_sell").plan(wide, {}),
                    "nus_sell: 4294967294 columns for 2 nonzeros; use segmented_sell, which does not sort columns");
}

TEST_CASE("auto says why if every layout refuses a matrix, and names csr's reason first") {
  const auto refusing = [](const std::string& name, const std::string& why) {
    encoder::Strategy s = encoder::find_strategy(name);
    s.traits.least = {};
    s.plan = [why](const CsrView&, const encoder::PlanOptions&) -> encoder::Plan {
      throw Error(errc::unsupported, why, "a place", "a remedy");
    };
    return s;
  };
  const CsrMatrix a = make_csr(1, 1, {{{0, 0}, 1.0}});
  for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes}) {
    const encoder::PlanOptions options{.aim = {.optimize = optimize}};
    CHECK_THROWS_WITH(
        encoder::strategy::choose_best({refusing("ell", "too wide"), refusing("csr", "too long")}).plan(a, options),
        "a place: no layout takes the matrix; too long; a remedy");
    CHECK_THROWS_WITH(encoder::strategy::choose_best({refusing("ell", "too wide")}).plan(a, options),
                      "a place: no layout takes the matrix; too wide; a remedy");
    CHECK(encoder::strategy::choose_best({refusing("ell", "too wide"), encoder::find_strategy("csr")})
              .plan(a, options)
              .strategy == "csr");
  }
}

}  // namespace spmvpack::test
