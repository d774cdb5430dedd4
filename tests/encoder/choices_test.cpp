// What auto takes of matrices with names, for each target, and why: what the layout that it is taken over, mostly csr,
// has to do besides.

#include <algorithm>
#include <complex>

#include "catch.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/generators/kinds.hpp"
#include "spmvpack/generators/matrix_build.hpp"
#include "spmvpack/launch_rules/columns.hpp"

namespace spmvpack::test {
namespace {

using encoder::Counter;

struct NamedChoice {
  const char* matrix;   ///< what follows 'spmvpack generate'
  const char* target;   ///< as of --target
  const char* takes;    ///< what auto takes
  const char* over;     ///< another layout
  const char* because;  ///< a unit of its work: if it cost nothing, the other would be taken
};

constexpr NamedChoice choices[]{
    {"laplace2d --grid 300x300", "gpu", "csell", "csr", "csr.multiplies"},
    {"laplace2d --grid 300x300", "host", "sjds", "csr", "csr.entries"},
    {"convection-diffusion --grid 48x48x58", "gpu", "csell", "csr", "csr.multiplies"},
    {"convection-diffusion --grid 48x48x58", "h100", "csell", "sell", "sell.multiplies"},
    {"convection-diffusion --grid 48x48x58", "host", "sjds", "csr", "csr.entries"},
    {"convection-diffusion --grid 48x48x58 --coefficients random", "gpu", "csell", "ell", "bytes"},
    {"convection-diffusion --grid 48x48x58 --coefficients random", "h100", "csell", "csr", "bytes"},
    {"convection-diffusion --grid 48x48x58 --coefficients random", "host", "sjds", "csr", "csr.entries"},
    {"hpcg --grid 30x30x30", "gpu", "csell", "bitflag", "bitflag.multiplies"},
    {"hpcg --grid 30x30x30", "host", "sjds", "csr", "csr.entries"},
    {"elasticity --grid 12x12x12 --materials random --mesh jittered", "gpu", "csr", "sell", "sell.chain"},
    {"elasticity --grid 12x12x12 --materials random --mesh jittered", "host", "sjds", "dia", "dia.slots"},
    {"circuit --rows 100000", "gpu", "bitflag", "sell", "sell.chain"},
    {"circuit --rows 100000", "h100", "bitflag", "sell", "sell.chain"},
    {"circuit --rows 100000", "host", "sjds", "csr", "csr.uneven_rows"},
    {"rmat --scale 14 --edge-factor 16", "gpu", "bitflag", "sell", "sell.chain"},
    {"rmat --scale 14 --edge-factor 16", "host", "sjds", "bitflag", "bitflag.entries"},
    {"lp --rows 500 --cols 40000 --per-row 400", "gpu", "bitflag", "csr", "csr.block_multiplies"},
    {"lp --rows 500 --cols 40000 --per-row 400", "h100", "bitflag", "sell", "sell.chain"},
    {"random --rows 40000 --per-row 16", "gpu", "ell", "csr", "csr.multiplies"},
    {"random --rows 40000 --per-row 16", "host", "sjds", "csr", "csr.scattered_entries"},
    {"powerlaw --rows 20000 --exponent 1.8 --longest 8000", "gpu", "bitflag", "sell", "sell.chain"},
    {"powerlaw --rows 20000 --exponent 1.8 --longest 8000", "host", "sjds", "csr", "csr.scattered_entries"},
    {"band --rows 20000 --below 20 --above 20", "gpu", "csell", "ell", "ell.chain"},
    {"band --rows 20000 --below 20 --above 20", "host", "sjds", "csr", "csr.entries"},
    {"arrow --rows 50000", "gpu", "bitflag", "csr", "csr.multiplies"},
    {"arrow --rows 50000", "host", "sjds", "csr", "csr.entries"},
    {"full --rows 600 --cols 600", "gpu", "csr", "bitflag", "bitflag.multiplies"},
    {"full --rows 600 --cols 600", "host", "sjds", "csell", "csell.raw_entries"},
    {"full --rows 1000000 --cols 1", "host", "csr", "sjds", "sjds.slices"},
    {"blocks --rows 64000 --block 16 --coefficients constant", "host", "sjds", "csell", "csell.rows"},
    {"scattered --rows 300000 --entries 3000", "gpu", "csell", "bitflag", "bitflag.multiplies"},
    {"scattered --rows 300000 --entries 3000", "h100", "csell", "csr", "csr.multiplies"},
    {"scattered --rows 300000 --entries 3000", "host", "sjds", "csr", "csr.empty_rows"},
    {"triangles --grid 150x150 --numbering shuffled:1024 --coefficients random", "gpu", "ell", "csr", "csr.multiplies"},
    {"triangles --grid 150x150 --numbering shuffled:1024 --coefficients random", "host", "sjds", "csr",
     "csr.scattered_entries"},
};

/// Where csell has its values, which the aim's profile decides, too.
struct NamedValues {
  const char *matrix, *target, *values;  ///< values: the source, as csell.values has it
  std::uint64_t columns = 1;             ///< of X
};
constexpr NamedValues values_chosen[]{
    {"hpcg --grid 48x48x48 --coefficients random", "gpu", "raw"},
    {"hpcg --grid 48x48x48 --coefficients random", "h100", "raw"},  // 15.4 us, with mirrors 17.1
    {"hpcg --grid 48x48x48 --coefficients random", "host", "raw"},
    {"elasticity --grid 12x12x12 --materials random --mesh jittered", "gpu", "mirror"},
    {"elasticity --grid 12x12x12 --materials random --mesh jittered", "host", "raw"},
    {"elasticity --grid 12x12x12 --materials random --mesh jittered", "gpu", "raw", 8},  // mirrors take one
    {"convection-diffusion --grid 30x30x30 --coefficients random", "h100", "raw"},       // without mirrors
    {"hpcg --grid 30x30x30", "h100", "step"},
};

struct Predicted {
  double seconds = 0, of_unit = 0;
};

Predicted predicted(const CsrView& a, const char* layout, const encoder::Aim& aim, std::string_view unit) {
  const encoder::Profile& profile = encoder::profile_of(aim);
  const encoder::Plan plan = encoder::find_strategy(layout).plan(a, {.aim = aim});
  const std::vector<Counter> work = encoder::work_of(plan, a.rows(), encoder::x_sectors(a, 0, profile.x_caches));
  Predicted p{encoder::predicted_seconds(work, profile), 0};
  for (const Counter& c : work)
    if (c.name == unit || c.name == std::string(unit) + "_slots")  // a chain of rows has two units
      p.of_unit += 1e-12 * profile.price(c.name) * static_cast<double>(c.value);
  return p;
}

}  // namespace

TEST_CASE("auto's choices of named matrices, and what decides each") {
  for (const NamedChoice& choice : choices) {
    INFO(choice.matrix << ", " << choice.target);
    auto [kind, options] = generators::parse_kind(choice.matrix);
    const SourceMatrix source = generators::build_generated(*kind.make(options), {}, {}, {});
    const CsrView a = source.matrix;
    encoder::Aim aim;
    encoder::set_target(aim, choice.target);
    const encoder::Plan plan = encoder::find_strategy("auto").plan(a, {.aim = aim});
    CHECK(plan.strategy == choice.takes);
    const Predicted taken = predicted(a, choice.takes, aim, {}), other = predicted(a, choice.over, aim, choice.because);
    CHECK(taken.seconds < 1.02 * other.seconds);
    INFO(choice.over << ": " << 1e6 * other.seconds << " us, of which " << 1e6 * other.of_unit << " for "
                     << choice.because << "; " << choice.takes << ": " << 1e6 * taken.seconds << " us");
    CHECK(other.seconds - other.of_unit < taken.seconds);
  }
}

TEST_CASE(
    "csell has values where the aim's profile predicts the least time, and the fewest bytes whatever the profile") {
  for (const NamedValues& choice : values_chosen) {
    INFO(choice.matrix << ", " << choice.target << ", " << choice.columns);
    auto [kind, options] = generators::parse_kind(choice.matrix);
    const SourceMatrix source = generators::build_generated(*kind.make(options), {}, {}, {});
    const auto planned = [&](encoder::Objective optimize) {
      encoder::Aim aim{.optimize = optimize, .columns = choice.columns};
      encoder::set_target(aim, choice.target);
      return encoder::find_strategy("csell").plan(source.matrix, {.aim = aim});
    };
    const encoder::Plan fast = planned(encoder::Objective::time), small = planned(encoder::Objective::bytes);
    using namespace spmvpack::layouts::csell;
    CHECK(source_names.at(fast.parts[0].info.params[param_source]) == choice.values);
    CHECK(small.device_bytes() <= fast.device_bytes());
    encoder::Aim other{.optimize = encoder::Objective::bytes};
    encoder::set_target(other, "h100");
    CHECK(encoder::find_strategy("csell").plan(source.matrix, {.aim = other}).device_bytes() == small.device_bytes());
  }
}

TEST_CASE("of several columns auto takes nothing that goes column by column") {
  for (const char* const matrix :
       {"elasticity --grid 12x12x12 --materials random --mesh jittered", "circuit --rows 100000",
        "lp --rows 500 --cols 40000 --per-row 400", "convection-diffusion --grid 48x48x58 --coefficients random"}) {
    INFO(matrix);
    auto [kind, options] = generators::parse_kind(matrix);
    const SourceMatrix source = generators::build_generated(*kind.make(options), {}, {}, {});
    const encoder::Plan plan = encoder::find_strategy("auto").plan(source.matrix, {.aim = {.columns = 8}});
    for (const encoder::PartPlan& part : plan.parts) CHECK(part.columns.at_once >= 16);
  }
}

TEST_CASE("auto for several columns on a host takes a layout that multiplies them at once") {
  auto [kind, options] = generators::parse_kind("hpcg --grid 12x12x12 --coefficients random");
  const SourceMatrix source = generators::build_generated(*kind.make(options), {}, {}, {});
  const auto layout_for = [&](std::uint64_t columns) {
    const encoder::Aim aim{.target = encoder::Target::host, .columns = columns};
    return encoder::find_strategy("auto").plan(source.matrix, {.aim = aim}).layouts();
  };
  CHECK(layout_for(1) == "sjds");
  CHECK(layout_for(8) != "sjds");
}

TEST_CASE("several columns take as many times one, but where kernels take them at once") {
  const auto generated = [](const char* matrix) {
    auto [kind, options] = generators::parse_kind(matrix);
    return generators::build_generated(*kind.make(options), {}, {}, {}).matrix;
  };
  const CsrMatrix a = generated("random --rows 3000 --per-row 7");
  const encoder::XSectors x = encoder::x_sectors(a);
  const auto planned = [&](const std::string& layout) { return encoder::find_strategy(layout).plan(a, {}); };
  const auto work = [&](const encoder::Plan& plan, std::uint64_t columns,
                        encoder::Target target = encoder::Target::gpu) {
    return encoder::work_of(plan, a.rows, x, {.target = target, .columns = columns});
  };
  const auto equal = [](const std::vector<Counter>& one, const std::vector<Counter>& other, std::uint64_t times) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [&](const Counter& c, const Counter& d) {
      return c.name == d.name && c.value * times == d.value;
    });
  };
  for (const char* const layout :
       {"csr", "csell", "bitflag", "ell", "ellpack_r", "sell", "pjds", "coo", "ccoo", "amb", "dia", "sjds", "hyb"}) {
    INFO(layout);
    const encoder::Plan plan = planned(layout);
    const std::vector<Counter> one = encoder::work_of(plan, a.rows, x);
    CHECK(equal(one, work(plan, 1), 1));
    const std::string name = layout;
    const bool alone = name == "coo" || name == "ccoo" || name == "amb" || name == "dia" || name == "sjds" ||
                       name == "hyb";  // a part of which is coo
    CHECK(equal(one, work(plan, 8), 8) == alone);
    CHECK(equal(one, work(plan, 20, encoder::Target::host), 20) == alone);
    if (alone) continue;
    // A host takes up to 16 of them in a pass.
    std::vector<Counter> twenty = work(plan, 20, encoder::Target::host);
    REQUIRE(twenty.size() == one.size() + 3);
    CHECK(twenty.back().value == 18 * (a.rows + a.cols) * sizeof(double));
    CHECK(twenty.at(one.size()).name == (name == "ellpack_r" ? "ell" : name) + ".column_entries");
    CHECK(twenty.at(one.size()).value == 18 * a.nnz());
    twenty.resize(one.size());
    CHECK(equal(one, twenty, 2));
    // Up to 16 or 32 of them in a pass, in which a further one costs its entries and vectors alone.
    std::vector<Counter> eight = work(plan, 8);
    const Counter vectors = eight.back(), entries = eight.at(eight.size() - 2);
    eight.resize(one.size());
    CHECK(equal(one, eight, 1));
    CHECK(vectors.name == "columns.vector_bytes");
    CHECK(vectors.value == 7 * (a.rows + a.cols) * sizeof(double));
    CHECK(entries.name == (name == "ellpack_r" ? "ell" : name) + ".column_entries");
    CHECK(entries.value == 7 * a.nnz());
    const auto csr_kernel = launch_rules::csr::default_kernel(a.rows, a.view().longest_row(), a.nnz());
    const std::uint64_t at_once = plan.parts[0].columns.at_once, passes = (40 + at_once - 1) / at_once;
    CHECK(at_once == (name == "bitflag" ? 16 : name == "csr" ? launch_rules::columns::of_csr(csr_kernel) : 32));
    std::vector<Counter> forty = work(plan, 40);
    CHECK(forty.back().value == (40 - passes) * (a.rows + a.cols) * sizeof(double));
    forty.resize(one.size());
    CHECK(equal(one, forty, passes));
  }
  const encoder::Plan merge = encoder::find_strategy("csr").plan(generated("arrow --rows 20000"), {});
  CHECK(merge.parts[0].columns.at_once == 1);
  for (const std::uint64_t columns : {std::uint64_t{0}, encoder::most_columns + 1})
    CHECK_THROWS_WITH(work(planned("csr"), columns), Catch::Contains("give 1 to 1024"));
  CsrMatrix complex = generated("random --rows 3000 --per-row 7");
  complex.values = Array<std::complex<double>>(complex.nnz());
  const encoder::Plan by_one = encoder::find_strategy("csr").plan(complex, {});
  CHECK(equal(encoder::work_of(by_one, a.rows, x), work(by_one, 20, encoder::Target::host), 20));
  const encoder::Plan none = encoder::find_strategy("csell").plan(allocate_csr(0, 0, 0, ValueType::f64), {});
  CHECK(encoder::predicted_seconds(encoder::work_of(none, 0, {}, {.columns = 8}), encoder::Target::gpu) < 1e-3);
}

TEST_CASE("a further column of a grid takes about what it was measured to take, in proportion to rows") {
  // (8 columns less one) / 7 of 4,096,000 rows of seven entries with raw values: 40.1 us (one H200).
  constexpr double measured_rows = 4'096'000;
  auto [kind, options] = generators::parse_kind("convection-diffusion --grid 30x30x30 --coefficients random");
  const SourceMatrix source = generators::build_generated(*kind.make(options), {}, {}, {});
  const CsrView a = source.matrix;
  const encoder::Plan plan = encoder::find_strategy("csell").plan(a, {.settings = {{"csell.values", "raw"}}});
  const auto time = [&](std::uint64_t columns) {
    return encoder::predicted_seconds(encoder::work_of(plan, a.rows(), {}, {.columns = columns}), encoder::Target::gpu);
  };
  const double further = (time(8) - time(1)) / 7 * measured_rows / static_cast<double>(a.rows());
  CHECK(further == Approx(40.1e-6).epsilon(0.25));
}

TEST_CASE("of a hypersparse matrix auto takes coordinates, and plans take memory for entries alone") {
  constexpr std::uint64_t size = 2'000'000, limit = 4U << 20U;
  struct Shape {
    std::uint64_t rows, cols, entries;
    bool side_by_side;  // 20 rows have them all, next to one another; else they are all over the matrix
  };
  for (const Shape& shape : {Shape{size, size, 0, false}, Shape{size, size, 10, false}, Shape{size, size, 2000, false},
                             Shape{size, 100, 2000, true}, Shape{size, 1, 7, false}, Shape{10, size, 10, false}}) {
    CsrMatrix m = allocate_csr(shape.rows, shape.cols, shape.entries, ValueType::f64);
    auto& values = std::get<Array<double>>(m.values);
    for (std::uint64_t r = 0, k = 0; r <= shape.rows; ++r) {
      m.row_ptr[r] = k;
      if (r == shape.rows) break;
      const std::uint64_t end = shape.side_by_side ? std::min<std::uint64_t>(r < 20 ? (r + 1) * 100 : 2000, 2000)
                                                   : (r + 1) * shape.entries / shape.rows;
      for (; k < end; ++k) {
        m.col_idx[k] = static_cast<std::uint32_t>(shape.side_by_side ? k % 100 : k * 7919 * 199 % shape.cols);
        values[k] = shape.side_by_side ? 1.5 : static_cast<double>(k + 1);
      }
    }
    m.view().check();
    const bool hypersparse = shape.rows == size;
    CAPTURE(shape.rows, shape.cols, shape.entries, shape.side_by_side);
    CHECK(encoder::is_hypersparse(m) == hypersparse);
    for (const char* const target : {"gpu", "host"})
      for (const encoder::Objective optimize : {encoder::Objective::time, encoder::Objective::bytes}) {
        const bool by_bytes = optimize == encoder::Objective::bytes;
        CAPTURE(target, by_bytes);
        encoder::EncodeRequest request{.aim = {.optimize = optimize}, .threads = 2, .memory_limit = limit};
        encoder::set_target(request.aim, target);
        MemorySink sink;
        const encoder::EncodeResult result = encoder::encode(m.view(), request, sink);
        CHECK(result.device_bytes <= 16 * shape.entries + (hypersparse ? 0 : 200));
        if (!hypersparse) continue;
        CHECK(result.plan.strategy == (by_bytes && shape.side_by_side ? "ccoo" : "coo"));
        CHECK(result.plan.reason.ends_with("as nearly all rows are empty"));
        if (by_bytes && shape.side_by_side) CHECK(result.device_bytes < 8 * shape.entries);
        CHECK(result.plan.beside_csr.has_value() == !by_bytes);
      }
  }
  // One entry more than one in a thousand rows, and a row less than a million.
  CsrMatrix m = allocate_csr(size, 3, 2001, ValueType::f64);
  CHECK_FALSE(encoder::is_hypersparse(m));
  CHECK_FALSE(encoder::is_hypersparse(allocate_csr(999'999, 3, 1, ValueType::f64)));
  CHECK(encoder::is_hypersparse(allocate_csr(1'000'000, 3, 1000, ValueType::f64)));
}

}  // namespace spmvpack::test
