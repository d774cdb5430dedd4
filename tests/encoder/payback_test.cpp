// After how many multiplies encoding pays, and what encoding is predicted to take.

#include "spmvpack/encoder/payback.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::test {
namespace {

using encoder::pays_after;

}  // namespace

TEST_CASE("encoding pays once it has saved what it took") {
  CHECK(pays_after(3.0, {0.25, 0.5}) == 12);  // a quarter saved each time
  CHECK(pays_after(0.25, {0.5, 0.75}) == 1);
  CHECK(pays_after(0.26, {0.5, 0.75}) == 2);  // a multiply is a whole one
  CHECK(pays_after(0.0, {1, 2}) == 0);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(!pays_after(1.0, {4e-5, 4e-5}));
  CHECK(!pays_after(1.0, {5e-5, 4e-5}));
  CHECK(!pays_after(1.0, {1, 1 + 1e-15}));  // a rounding error is no gain
  CHECK(!pays_after(infinite, {1, 2}));
  CHECK(!pays_after(1.0, {std::nan(""), 2}));
  CHECK(!pays_after(1.0, {infinite, infinite}));
}

TEST_CASE("the number is told in two digits") {
  const auto text = [](std::uint64_t n) { return encoder::pays_text(n); };
  CHECK(text(0) == "after 0 multiplies");
  CHECK(text(1) == "after 1 multiply");
  CHECK(text(99) == "after 99 multiplies");
  CHECK(text(104) == "after about 100 multiplies");
  CHECK(text(105) == "after about 110 multiplies");
  CHECK(text(996) == "after about 1,000 multiplies");
  CHECK(text(52'341) == "after about 52,000 multiplies");
  CHECK(encoder::pays_text({}) == "never: csr is as fast");
}

TEST_CASE("every strategy has a price, and more work never takes less time") {
  const encoder::EncodeWork work{1000, 20'000, false, 3000, 100'000};
  for (const encoder::Strategy& s : encoder::strategies())
    for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes})
      for (const encoder::Target target : {encoder::Target::gpu, encoder::Target::host}) {
        INFO(s.name);
        const auto seconds = [&](const encoder::EncodeWork& w) {
          return encoder::predicted_encode_seconds(s.name, {optimize, target}, w);
        };
        REQUIRE(seconds(work));
        CHECK(*seconds(work) > 0);
        CHECK(*seconds(work) < 1e-3 * 20);  // 20,000 nonzeros, a microsecond each
        encoder::EncodeWork more = work;
        for (std::uint64_t* const count : {&more.rows, &more.nonzeros, &more.x_sectors, &more.device_bytes}) {
          *count *= 2;
          CHECK(*seconds(more) >= *seconds(work));
        }
        CHECK(*seconds(more) == Approx(2 * *seconds(work)));
        more.symmetry_found = true;
        CHECK(*seconds(more) > 2 * *seconds(work));
      }
  CHECK(!encoder::predicted_encode_seconds("dealt", {}, work));
}

TEST_CASE("encode() tells what auto chose by, beside csr") {
  const std::vector<NamedMatrix> matrices = random_matrices<double>(7, 3);
  const CsrMatrix& a = std::max_element(matrices.begin(), matrices.end(), [](const auto& m, const auto& n) {
                         return m.matrix.nnz() < n.matrix.nnz();
                       })->matrix;
  MemorySink sink;
  const encoder::EncodeResult result = encoder::encode(a, {}, sink);
  const encoder::XSectors x = encoder::x_sectors(a, 0, encoder::default_profile(encoder::Target::gpu).x_caches);
  const auto predicted = [&](const char* strategy) {
    const encoder::Plan plan = encoder::find_strategy(strategy).plan(a, {});
    return encoder::predicted_seconds(encoder::work_of(plan, a.rows, x), encoder::Target::gpu);
  };
  REQUIRE(result.plan.beside_csr);
  CHECK(!result.plan.beside_csr->measured);
  CHECK(result.plan.beside_csr->csr_seconds == Approx(predicted("csr")));
  CHECK(result.plan.beside_csr->seconds == Approx(predicted(result.plan.strategy.c_str())));
  CHECK(result.pays_after() == pays_after(result.plan_seconds + result.write_seconds, *result.plan.beside_csr));

  for (const encoder::EncodeRequest& request :
       {encoder::EncodeRequest{.strategy = "ccoo"},
        encoder::EncodeRequest{.aim = {.optimize = encoder::Objective::bytes}}}) {
    MemorySink other;
    const encoder::EncodeResult forced = encoder::encode(a, request, other);  // no time was predicted
    CHECK(!forced.plan.beside_csr);
    CHECK(!forced.pays_after());
  }
}

}  // namespace spmvpack::test
