// The strategy `split`: short rows in csell or sell, long ones in bitflag.

#include <numeric>

#include "catch.hpp"
#include "products.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using encoder::Aim;
using encoder::Objective;
using encoder::Plan;
using encoder::Target;
using Settings = std::map<std::string, std::string>;
using Parts = std::vector<std::pair<std::string, std::uint64_t>>;

Plan split(const CsrView& a, const Settings& settings = {}, const Aim& aim = {}) {
  return encoder::find_strategy("split").plan(a, {.settings = settings, .aim = aim});
}

/// The layout and the number of entries of each part.
Parts parts(const Plan& plan) {
  Parts all;
  for (const encoder::PartPlan& part : plan.parts) all.emplace_back(part.info.layout, part.info.nnz);
  return all;
}

/// A five-point grid, and of every `every`-th row that many columns instead, all over the matrix; 0: of none.
/// Rows of a grid with 5 points, or with all within a distance of `reach`.
CsrMatrix grid_with_long_rows(std::uint32_t side, std::uint32_t every, std::uint32_t length, std::uint32_t reach = 0) {
  std::mt19937_64 rng(1);
  const std::uint32_t n = side * side;
  return from_rows<double>(n, n, rng, reach == 0 ? 3 : 0, [&](std::uint64_t row) {
    const auto r = static_cast<std::uint32_t>(row);
    std::vector<std::uint32_t> columns{r};
    if (every != 0 && r % every == every / 2) {
      for (std::uint32_t k = 1; k < length; ++k) columns.push_back(static_cast<std::uint32_t>(rng() % n));
      return columns;
    }
    if (reach != 0) {
      columns.clear();
      const std::uint32_t x = r % side, y = r / side;
      for (std::uint32_t v = y - std::min(y, reach); v <= std::min(side - 1, y + reach); ++v)
        for (std::uint32_t u = x - std::min(x, reach); u <= std::min(side - 1, x + reach); ++u)
          columns.push_back(v * side + u);
      return columns;
    }
    if (r % side != 0) columns.push_back(r - 1);
    if (r % side != side - 1) columns.push_back(r + 1);
    if (r >= side) columns.push_back(r - side);
    if (r + side < n) columns.push_back(r + side);
    return columns;
  });
}

/// The same pattern with small integers, of which all sums are exact.
CsrMatrix in_integers(const CsrMatrix& a) {
  CsrMatrix b = clone(a);
  std::uint64_t k = 0;
  for (double& v : std::get<Array<double>>(b.values)) v = static_cast<double>(k++ % 17) - 8;
  return b;
}

void check_exact(const CsrMatrix& a, const Settings& settings) {
  const Container c = open(encode(a, "split", settings).bytes);
  REQUIRE(equal_bits(unpack(c), a));
  std::vector<double> x(a.cols), y(a.rows), expected(a.rows);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 13) - 6;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i % 7) + 1;
  for (std::uint64_t r = 0; r < a.rows; ++r) {
    expected[r] = -2 * y[r];
    for (std::uint64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k)
      expected[r] += 3 * std::get<Array<double>>(a.values)[k] * x[a.col_idx[k]];
  }
  host_loader::HostMatrix::load(c).multiply<double>(3, x, -2, y, 2);
  CHECK(y == expected);
}

}  // namespace

TEST_CASE("short rows are in one part, over all rows, and long ones in another that lists them") {
  const CsrMatrix a = worked_example();  // rows of 2, 3, 0 and 2 entries
  for (const char* const layout : {"csell", "sell"}) {
    const Settings settings{{"split.length", "2"}, {"split.short", layout}};
    const Plan plan = split(a, settings);
    REQUIRE(parts(plan) == Parts{{layout, 4}, {"bitflag", 3}});
    CHECK(plan.strategy == "split");
    CHECK(plan.parts[0].info.rows.kind == format::MapKind::all);
    CHECK(plan.parts[1].info.rows.kind == format::MapKind::list);
    CHECK(plan.parts[1].info.rows.count == 1);
    const Container c = open(encode(a, "split", settings).bytes);
    CHECK(elements<std::uint32_t>(c, "row_map") == U32{1});
    CHECK(equal_bits(unpack(c), a));
  }
}

TEST_CASE("rows that are all short, or all long, are one part") {
  const CsrMatrix a = worked_example();
  CHECK(split(a, {{"split.length", "3"}}).parts.size() == 1);
  CHECK(split(a, {{"split.length", "1"}}).parts.size() == 1);  // but for the empty one
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 4}, {4, 0}, {5000, 4}}) {
    const CsrMatrix none = make_csr(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), {});
    CHECK(split(none).parts.size() == 1);
    CHECK(split(none, {{"split.length", "1"}}).parts.size() == 1);
  }
}

TEST_CASE("a grid with a few long rows is cut, and costs less than in any layout that does not cut rows itself") {
  const CsrMatrix a = grid_with_long_rows(150, 500, 3000, 3);  // 45 long rows with a ninth of all entries
  const encoder::XSectors x = encoder::x_sectors(a);
  const Aim aim{Objective::time, Target::host};
  const auto seconds = [&](const Plan& plan) {
    return encoder::predicted_seconds(encoder::work_of(plan, a.rows, x), aim.target);
  };
  const Plan plan = split(a, {}, aim);
  const std::uint64_t in_long = 45 * 3000;
  REQUIRE(plan.parts.size() == 2);
  CHECK(plan.parts[0].info.layout == "csell");
  CHECK(plan.parts[1].info.rows.count == 45);
  CHECK(plan.parts[1].info.nnz <= in_long);
  CHECK(plan.parts_reason.find("22,455 rows of up to ") == 0);
  for (const encoder::LayoutEncoder& layout : encoder::layout_encoders()) {
    INFO(layout.name);
    const encoder::Strategy& alone = encoder::find_strategy(layout.name);
    if (alone.traits.by_name_only || layout.name == "sjds" || layout.name == "csr") continue;  // which cut them
    CHECK(seconds(plan) < seconds(alone.plan(a, {.aim = aim})));
  }
  const bool is_faster = seconds(plan) < seconds(encoder::find_strategy("sjds").plan(a, {.aim = aim}));
  CHECK(encoder::find_strategy("auto").plan(a, {.aim = aim}).strategy == (is_faster ? "split" : "sjds"));
  // Two launches take longer than anything that a GPU does with so few entries.
  CHECK(split(a).parts.size() == 1);
}

TEST_CASE("a block of wide rows is apart if segments then spare its gathers", "[sequential]") {
  const CsrMatrix a = grid_with_long_rows(300, 200, 6000);
  const Plan plan = split(a);
  REQUIRE(plan.parts.size() == 2);
  CHECK(plan.parts[1].info.rows.count == 450);
  CHECK(counter(plan.parts[1], "segments") > 1);
  CHECK(plan.parts[1].near_entries == plan.parts[1].info.nnz);
  const encoder::XSectors x = encoder::x_sectors(a, 0, encoder::default_profile(Target::gpu).x_caches);
  const auto seconds = [&](const Plan& of) {
    return encoder::predicted_seconds(encoder::work_of(of, a.rows, x), Target::gpu);
  };
  CHECK(seconds(plan) < seconds(encoder::find_strategy("bitflag").plan(a, {})));
  CHECK(split(a, {{"bitflag.segments", "1"}}).parts.size() == 1);  // the second launch does not pay
  CHECK(split(a, {{"bitflag.hot", "0"}}).parts.size() == 2);       // segments are as without
  // All rows may be in segments, and spare most: no part takes less than its launch and entries.
  std::mt19937_64 rng(1);
  const CsrMatrix wide = from_rows<double>(1570, 80000, rng, 1, [&](std::uint64_t row) {
    std::vector<std::uint32_t> columns(row < 1500 ? 1500 : 60000);
    for (std::uint32_t& c : columns) c = static_cast<std::uint32_t>(rng() % 80000);
    return columns;
  });
  const Plan whole = split(wide);
  INFO(whole.parts_reason);
  const std::string begin = "all rows in bitflag: ";
  REQUIRE(whole.parts_reason.starts_with(begin));
  CHECK(std::stod(whole.parts_reason.substr(begin.size())) * 1e-6 >
        encoder::predicted_seconds(
            std::vector<encoder::Counter>{{"bitflag.multiplies", 1}, {"bitflag.entries", wide.nnz()}}, Target::gpu));
}

TEST_CASE("csell is sampled where the short rows are, though these be few and side by side") {
  // 576,000 entries in rows 256 to 319, more than are looked at; one longer row.
  std::mt19937_64 rng(5);
  const CsrMatrix a = from_rows<double>(320, 20000, rng, 1, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r == 0 ? 20000 : r < 256 ? 0 : 9000);
    std::iota(row.begin(), row.end(), static_cast<std::uint32_t>(r));
    for (std::uint32_t& c : row) c %= 20000;
    return row;
  });
  const Plan plan = split(a, {{"split.length", "10000"}, {"split.short", "csell"}});
  CHECK(parts(plan) == Parts{{"csell", 576000}, {"bitflag", 20000}});
}

TEST_CASE("rows that are alike are not cut, and auto leaves one part to others") {
  const CsrMatrix a = grid_with_long_rows(150, 0, 0);
  const Aim aim{Objective::time, Target::host};
  const Plan plan = split(a, {}, aim);
  CHECK(plan.parts.size() == 1);
  CHECK(plan.parts_reason.find("none is more than 8 times as long as the average") != std::string::npos);
  const auto own = [&](const CsrMatrix& m) {
    return encoder::find_strategy("split").plan(m, {.aim = aim, .only_own = true});
  };
  CHECK_THROWS_AS(own(a), Error);
  CHECK(own(grid_with_long_rows(150, 500, 3000, 3)).parts.size() == 2);
  CHECK_THROWS_AS(own(make_csr(0, 0, {})), Error);
}

TEST_CASE("split comes back bit for bit and multiplies correctly") {
  for (const Settings& settings :
       {Settings{}, Settings{{"split.length", "1"}}, Settings{{"split.length", "3"}, {"split.short", "csell"}},
        Settings{{"split.length", "3"}, {"split.short", "sell"}}, Settings{{"split.length", "9"}},
        Settings{{"split.length", "100"}}})
    for (const int values : sanitized && !settings.empty() ? std::vector{3} : std::vector{2, 3, 4})
      for (const NamedMatrix& m : random_matrices<double>(109, values)) {
        INFO(m.name << ", values " << values << ", " << (settings.empty() ? "" : settings.begin()->second));
        const Encoded file = encode(m.matrix, "split", settings);
        CHECK(file.bytes == encode(m.matrix, "split", settings, format::Codec::none, 1).bytes);
        CHECK(file.bytes.size() == file.predicted_bytes);
        const Container c = open(file.bytes);
        CHECK(c.device_bytes() == file.device_bytes);
        REQUIRE(equal_bits(unpack(c), m.matrix));
        std::vector<double> y(m.matrix.rows), again(m.matrix.rows);
        const auto x = random_vector<double>(m.matrix.cols, 5);
        const host_loader::HostMatrix matrix = host_loader::HostMatrix::load(c);
        matrix.multiply<double>(1, x, 0, y);
        matrix.multiply<double>(1, x, 0, again, 3);
        if (values == 3) require_correct<double, double>(m.matrix, x, y);
        CHECK(same_bits(y, again));
      }
}

TEST_CASE("alpha and beta reach each row once, whatever part it is in") {
  for (const char* const layout : {"csell", "sell"})
    for (const char* const length : {"1", "2", "5", "40"}) {
      const Settings settings{{"split.length", length}, {"split.short", layout}};
      INFO(layout << ", " << length);
      for (const NamedMatrix& m : random_matrices<double>(113, 2)) {
        INFO(m.name);
        check_exact(in_integers(m.matrix), settings);
      }
      check_exact(in_integers(grid_with_long_rows(40, 100, 300)), settings);
    }
}

TEST_CASE("a dense column is in the parts of its rows") {
  std::mt19937_64 rng(3);
  const CsrMatrix a = from_rows<double>(3000, 3000, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row{17, static_cast<std::uint32_t>(r)};
    for (int k = 0; r % 300 == 0 && k < 200; ++k) row.push_back(static_cast<std::uint32_t>(rng() % 3000));
    return row;
  });
  check_exact(in_integers(a), {{"split.length", "2"}});
  check_exact(in_integers(a), {});
}

TEST_CASE("f32 is split, too") {
  for (const NamedMatrix& m : random_matrices<float>(127, 3)) {
    INFO(m.name);
    const Container c = open(encode(m.matrix, "split", {{"split.length", "4"}}).bytes);
    REQUIRE(equal_bits(unpack(c), m.matrix));
    std::vector<float> y(m.matrix.rows);
    const auto x = random_vector<float>(m.matrix.cols, 5);
    host_loader::HostMatrix::load(c).multiply<float>(1, x, 0, y);
    require_correct<float, float>(m.matrix, x, y);
  }
}

TEST_CASE("settings of split are checked") {
  const auto refusal = [](const std::string& name, const std::string& value) {
    try {
      encode(worked_example(), "split", {{name, value}});
    } catch (const Error& e) {
      CHECK(e.code() == errc::usage);
      return e.message();
    }
    return std::string();
  };
  CHECK(refusal("split.length", "0") == "split.length is '0'");
  CHECK(refusal("split.short", "bitflag") == "split.short is 'bitflag'");
  CHECK(refusal("csell.sums", "3") == "csell.sums is '3'");
  CHECK(refusal("ccoo.k", "4") == "ccoo.k is not a setting of the layout split");
}

}  // namespace spmvpack::test
