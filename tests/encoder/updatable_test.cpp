// EncodeRequest::updatable: a form that takes any values, whatever the present ones are. That each entry then has a
// slot of its own is in entries_test.cpp.

#include <fmt/format.h>

#include <map>
#include <random>
#include <string>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/weigh.hpp"

namespace spmvpack::test {
namespace {

using encoder::Objective;

/// A symmetric matrix whose entries are one of few values: the five points of a grid.
CsrMatrix grid(std::uint32_t side) {
  Entries entries;
  for (std::uint32_t r = 0; r < side * side; ++r) {
    entries[{r, r}] = 4;
    if (r % side != 0) entries[{r, r - 1}] = entries[{r - 1, r}] = -1;
    if (r >= side) entries[{r, r - side}] = entries[{r - side, r}] = -1;
  }
  return make_csr(std::uint64_t{side} * side, std::uint64_t{side} * side, entries);
}

CsrMatrix with_values(const CsrMatrix& a, int kind) {
  CsrMatrix b = clone(a);
  std::mt19937_64 rng(9);
  for (double& v : std::get<Array<double>>(b.values)) v = random_value<double>(rng, kind);
  return b;
}

SourceMatrix source_of(const CsrMatrix& a, Field field = Field::real, Symmetry symmetry = Symmetry::general) {
  return {clone(a), field, symmetry, {}};
}

std::vector<std::byte> bytes_with(const SourceMatrix& source, const encoder::EncodeRequest& request,
                                  encoder::EncodeResult* result = nullptr) {
  MemorySink sink;
  const encoder::EncodeResult made = encoder::encode(source, request, sink);
  if (result != nullptr) *result = made;
  return bytes_of(sink);
}

Error error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  FAIL("no error");
  return {errc::internal, ""};
}

TEST_CASE("updatable: plans are the same whatever the values are") {
  for (const Objective optimize : {Objective::time, Objective::bytes})
    for (const encoder::Target target : {encoder::Target::gpu, encoder::Target::host})
      for (const std::string layout : {"auto", "csell", "bitflag", "ccoo", "split", "sjds"}) {
        CAPTURE(layout, optimize == Objective::bytes, target == encoder::Target::host);
        const CsrMatrix few = grid(40);
        encoder::EncodeRequest request{.strategy = layout, .aim = {optimize, target}, .threads = 2};
        request.updatable = true;
        encoder::EncodeResult of_few, of_many;
        bytes_with(source_of(few), request, &of_few);
        bytes_with(source_of(with_values(few, 3)), request, &of_many);
        CHECK(of_few.plan.strategy == of_many.plan.strategy);
        CHECK(of_few.plan.reason == of_many.plan.reason);
        REQUIRE(of_few.plan.parts.size() == of_many.plan.parts.size());
        for (std::size_t p = 0; p < of_few.plan.parts.size(); ++p) {
          CHECK(of_few.plan.parts[p].info.params == of_many.plan.parts[p].info.params);
          CHECK(of_few.plan.parts[p].info.counts == of_many.plan.parts[p].info.counts);
        }
        CHECK(of_few.plan.updatable());
        // Without, few values take fewer bytes.
        request.updatable = false;
        encoder::EncodeResult plain;
        bytes_with(source_of(few), request, &plain);
        CHECK(plain.device_bytes <= of_few.device_bytes);
        if (layout == "csell" || optimize == Objective::bytes) CHECK_FALSE(plain.plan.updatable());
      }
}

TEST_CASE("updatable: a file says nothing that other values could make wrong, and has A^T of its own") {
  const CsrMatrix a = grid(12);
  for (const Symmetry said : {Symmetry::general, Symmetry::symmetric}) {
    encoder::EncodeRequest request{.strategy = "csr", .transpose = true, .threads = 2};
    const SourceMatrix source = source_of(a, Field::integer, said);
    encoder::EncodeResult result;
    const Container plain = open(bytes_with(source, request, &result));
    CHECK(plain.facts().bitwise_symmetry() == Symmetry::symmetric);
    CHECK(plain.parts(format::Role::transpose).empty());
    request.updatable = true;
    const Container file = open(bytes_with(source, request, &result));
    CHECK(file.facts().field == Field::real);
    CHECK(file.facts().bitwise_symmetry() == Symmetry::general);
    CHECK(file.facts().digest == plain.facts().digest);
    CHECK(result.symmetry == Symmetry::general);
    REQUIRE(result.transpose);
    REQUIRE(equal_bits(unpack(file, {}, format::Role::transpose), a));
    CHECK(file.provenance().options.find(" --updatable") != std::string::npos);
    CHECK(plain.provenance().options.find("--updatable") == std::string::npos);
  }
}

TEST_CASE("updatable: a setting that wants shared or computed values is refused, with the remedy") {
  const std::map<std::string, std::vector<std::string>> of_settings{
      {"csell.values", {"table", "step", "single", "mirror", "skew"}},
      {"bitflag.values", {"table", "single", "window", "decimal"}},
      {"ccoo.values", {"lut"}},
      {"sjds.values", {"code"}}};
  const SourceMatrix source = source_of(grid(8));
  for (const auto& [setting, values] : of_settings) {
    const std::string layout = setting.substr(0, setting.find('.'));
    for (const std::string& strategy : {layout, std::string("auto")})
      for (const std::string& value : values) {
        if (strategy == "auto" && layout == "sjds") continue;  // not for a GPU
        CAPTURE(strategy, setting, value);
        encoder::EncodeRequest request{.strategy = strategy, .settings = {{setting, value}}, .threads = 1};
        request.updatable = true;
        const Error e = error_of([&] { bytes_with(source, request); });
        CHECK(e.code() == errc::usage);
        CHECK(e.message().starts_with(fmt::format("{} is {}", setting, value)));
        CHECK(e.remedy().find(setting + "=auto") != std::string::npos);
      }
    for (const std::string value : {"raw", "auto"}) {
      if (layout == "ccoo" && value == "raw") continue;
      encoder::EncodeRequest request{.strategy = layout, .settings = {{setting, value}}, .threads = 1};
      request.updatable = true;
      encoder::EncodeResult result;
      bytes_with(source, request, &result);
      CHECK(result.plan.updatable());
    }
  }
}

TEST_CASE("updatable: auto leaves out what may refuse new zeros, which a name still takes") {
  std::mt19937_64 rng(3);
  const auto tridiagonal = from_rows<double>(3000, 3000, rng, 3, [](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t c = r == 0 ? 0 : r - 1; c < std::min<std::uint64_t>(3000, r + 2); ++c)
      row.push_back(static_cast<std::uint32_t>(c));
    return row;
  });
  encoder::PlanOptions options;
  options.aim.optimize = Objective::bytes;
  const encoder::Strategy &automatic = encoder::find_strategy("auto"), &dia = encoder::find_strategy("dia"),
                          &amb = encoder::find_strategy("amb");
  REQUIRE(automatic.plan(tridiagonal, options).strategy == "dia");
  options.updatable = true;
  const encoder::Plan chosen = automatic.plan(tridiagonal, options), by_name = dia.plan(tridiagonal, options);
  CHECK_FALSE(chosen.holds_by_bits());
  CHECK(chosen.updatable());
  CHECK(by_name.updatable());
  CHECK(by_name.holds_by_bits());
  CHECK(encoder::is_left_out(by_name, options));
  // amb has a form without.
  options.settings = {{"amb.block", "3"}};
  CHECK(amb.plan(tridiagonal, options).holds_by_bits());
  options.settings = {};
  const encoder::Weighed weighed = encoder::weigh(amb, tridiagonal, options, {});
  CHECK_FALSE(weighed.taken().plan.holds_by_bits());
  CHECK_FALSE(weighed.candidate.fill_reads_x);
}

TEST_CASE("updatable: a caller's strategy that shares values is refused") {
  const encoder::Strategy shares{
      .name = "mine", .summary = "", .settings = {}, .plan = [](const CsrView& a, encoder::PlanOptions options) {
        options.updatable = false;
        return encoder::find_strategy("csell").plan(a, options);
      }};
  encoder::EncodeRequest request{.strategy = "mine"};
  MemorySink sink;
  encoder::encode(source_of(grid(8)), shares, request, sink);
  request.updatable = true;
  const Error e = error_of([&] { encoder::encode(source_of(grid(8)), shares, request, sink); });
  CHECK(e.code() == errc::unsupported);
  CHECK(e.message().find("csell") == 0);
}

TEST_CASE("updatable: matrices without entries, of one dense row and of one column are no exception") {
  for (const CsrMatrix& a : {make_csr(0, 0, {}), make_csr(5, 0, {}), make_csr(7, 9, {}),
                             make_csr(1, 4, {{{0, 0}, 1.0}, {{0, 1}, 1.0}, {{0, 2}, 1.0}, {{0, 3}, 1.0}}),
                             make_csr(3, 1, {{{0, 0}, 1.0}, {{2, 0}, 1.0}})})
    for (const std::string layout : {"auto", "csell", "bitflag", "ccoo", "sjds", "split"}) {
      CAPTURE(a.rows, a.cols, layout);
      encoder::EncodeRequest request{.strategy = layout, .transpose = true, .threads = 1, .force_size = true};
      request.updatable = true;
      encoder::EncodeResult result;
      const Container file = open(bytes_with(source_of(a), request, &result));
      CHECK(result.plan.updatable());
      REQUIRE(equal_bits(unpack(file), a));
    }
}

}  // namespace
}  // namespace spmvpack::test
