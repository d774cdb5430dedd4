// The strategies that cut a matrix into parts: hyb, segmented_sell and nus_sell.

#include "catch.hpp"
#include "products.hpp"
#include "spmvpack/container/layouts/padded_rows.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using Settings = std::map<std::string, std::string>;

encoder::Plan plan_by(const std::string& strategy, const CsrView& a, const Settings& settings = {}) {
  return encoder::find_strategy(strategy).plan(a, {.settings = settings});
}

/// The layout and the number of entries of each part.
std::vector<std::pair<std::string, std::uint64_t>> parts(const encoder::Plan& plan) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (const encoder::PartPlan& part : plan.parts) all.emplace_back(part.info.layout, part.info.nnz);
  return all;
}
using Parts = std::vector<std::pair<std::string, std::uint64_t>>;

/// The first `longer` rows have two entries, the next ones one, up to `filled`; the rest none.
CsrMatrix two_columns(std::uint64_t rows, std::uint64_t filled, std::uint64_t longer) {
  std::mt19937_64 rng(1);
  return from_rows<double>(rows, 3, rng, 3, [&](std::uint64_t r) {
    return r < longer ? std::vector<std::uint32_t>{0, 2} : std::vector<std::uint32_t>(r < filled ? 1 : 0, 1);
  });
}

/// The list of columns of a part.
U32 columns_of(const encoder::PartPlan& part) {
  return part.col_list == nullptr ? U32{} : U32(part.col_list->begin(), part.col_list->end());
}

bool is_range(const IndexMap& map, std::uint64_t begin, std::uint64_t count) {
  return map.kind == format::MapKind::range && map.begin == begin && map.count == count;
}

template <class T>
void check_everything(const std::string& strategy, const Settings& settings, int values) {
  for (const NamedMatrix& m : random_matrices<T>(103, values)) {
    INFO(strategy << ", " << m.name);
    const Encoded file = encode(m.matrix, strategy, settings);
    CHECK(file.bytes == encode(m.matrix, strategy, settings, format::Codec::none, 1).bytes);
    CHECK(file.bytes.size() == file.predicted_bytes);
    const Container c = open(file.bytes);
    CHECK(c.device_bytes() == file.device_bytes);
    REQUIRE(equal_bits(unpack(c), m.matrix));
    std::vector<T> y(m.matrix.rows);
    const auto x = random_vector<T>(m.matrix.cols, 5);
    const host_loader::HostMatrix matrix = host_loader::HostMatrix::load(c);
    matrix.template multiply<T>(1, x, 0, y);
    if (values == 3) require_correct<T, T>(m.matrix, x, y);
    std::vector<T> again(m.matrix.rows);
    matrix.template multiply<T>(1, x, 0, again, 3);
    CHECK(same_bits(y, again));
  }
}

}  // namespace

TEST_CASE("hyb keeps a column of ell while 4,096 rows and a third of all fill it") {
  // 4,096 rows decide while there are at most 12,288.
  CHECK(parts(plan_by("hyb", two_columns(4096, 4096, 4095))) == Parts{{"ell", 4096}, {"coo", 4095}});
  CHECK(parts(plan_by("hyb", two_columns(4096, 4096, 4096))) == Parts{{"ell", 8192}});
  CHECK(parts(plan_by("hyb", two_columns(5000, 4095, 17))) == Parts{{"coo", 4112}});
  CHECK(parts(plan_by("hyb", two_columns(12288, 12288, 4096))) == Parts{{"ell", 16384}});
  // Then a third of the rows does.
  CHECK(parts(plan_by("hyb", two_columns(12289, 12289, 4096))) == Parts{{"ell", 12289}, {"coo", 4096}});
  CHECK(parts(plan_by("hyb", two_columns(30000, 20000, 10000))) == Parts{{"ell", 30000}});
  CHECK(parts(plan_by("hyb", two_columns(30001, 20000, 10000))) == Parts{{"ell", 20000}, {"coo", 10000}});
  CHECK(parts(plan_by("hyb", two_columns(30000, 9999, 5000))) == Parts{{"coo", 14999}});
}

TEST_CASE("hyb.width is how many entries of a row ell has") {
  const CsrMatrix a = two_columns(5000, 300, 17);
  const auto with_width = [&](const char* width) { return parts(plan_by("hyb", a, {{"hyb.width", width}})); };
  CHECK(with_width("auto") == parts(plan_by("hyb", a)));
  CHECK(with_width("0") == Parts{{"coo", 317}});
  CHECK(with_width("1") == Parts{{"ell", 300}, {"coo", 17}});
  CHECK(with_width("2") == Parts{{"ell", 317}});
  CHECK(with_width("1000000") == Parts{{"ell", 317}});
  CHECK_THROWS_AS(with_width("wide"), Error);
}

TEST_CASE("the parts of hyb are over all rows and columns, without lists") {
  const CsrMatrix a = two_columns(6000, 5000, 300);
  const encoder::Plan plan = plan_by("hyb", a);
  CHECK(plan.strategy == "hyb");
  CHECK(plan.layouts() == "ell+coo");
  for (const encoder::PartPlan& part : plan.parts) {
    CHECK(part.info.rows.kind == format::MapKind::all);
    CHECK(part.info.cols.kind == format::MapKind::all);
  }
  CHECK(plan.device_bytes() == 12 * 6000 + 16 * 300);
  CHECK(elements<std::uint32_t>(open(encode(a, "hyb").bytes), "row_idx").size() == 300);
}

TEST_CASE("a matrix without entries is one part") {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 4}, {4, 0}, {5000, 4}}) {
    const CsrMatrix a = make_csr(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols), {});
    CHECK(parts(plan_by("hyb", a)) == Parts{{"ell", 0}});
    CHECK(parts(plan_by("segmented_sell", a)) == Parts{{"sell", 0}});
    CHECK(parts(plan_by("nus_sell", a)) == Parts{{"sell", 0}});
  }
}

TEST_CASE("segmented_sell has a part for each segment with entries, over the rows that have some") {
  // Columns 0-1: rows 0 and 1. Columns 2-3: row 3. Column 4: rows 1 and 3.
  const encoder::Plan plan =
      plan_by("segmented_sell", worked_example(), {{"segmented_sell.cols", "2"}, {"sell.sigma", "1"}});
  REQUIRE(parts(plan) == Parts{{"sell", 4}, {"sell", 1}, {"sell", 2}});
  CHECK(is_range(plan.parts[0].info.cols, 0, 2));
  CHECK(is_range(plan.parts[0].info.rows, 0, 2));
  CHECK(is_range(plan.parts[1].info.cols, 2, 2));
  CHECK(is_range(plan.parts[1].info.rows, 3, 1));
  CHECK(is_range(plan.parts[2].info.cols, 4, 1));
  CHECK(plan.parts[2].info.rows.kind == format::MapKind::list);
  CHECK(plan.parts[2].info.rows.count == 2);
  // A segment without entries has no part; one over all columns is a sell of the rows that have entries.
  CHECK(parts(plan_by("segmented_sell", make_csr(2, 9, {{{0, 0}, 1.0}, {{1, 8}, 1.0}}),
                      {{"segmented_sell.cols", "3"}})) == Parts{{"sell", 1}, {"sell", 1}});
  CHECK(parts(plan_by("segmented_sell", worked_example())) == Parts{{"sell", 7}});
}

TEST_CASE("segmented_sell has no more segments than a container has parts") {
  constexpr std::uint64_t most = format::max_parts;
  const auto plan = [](std::uint64_t cols, const char* width) {
    return plan_by("segmented_sell",
                   make_csr(1, cols, {{{0, 0}, 1.0}, {{0, static_cast<std::uint32_t>(cols - 1)}, 2.0}}),
                   {{"segmented_sell.cols", width}});
  };
  CHECK(plan(most, "1").parts.size() == 2);
  CHECK(plan(2 * most, "2").parts.size() == 2);
  try {
    plan(2 * most + 1, "2");
    FAIL("planned");
  } catch (const Error& e) {
    CHECK(e.code() == errc::too_large);
    CHECK(encoder::is_refusal(e));
    CHECK(e.message() == "segmented_sell: 65537 segments, more than the 65536 parts that a container may have");
    CHECK(e.remedy() == "set segmented_sell.cols to 3 or more");
  }
}

TEST_CASE("nus_sell sorts columns, densest first, into segments that double") {
  const CsrMatrix a = worked_example();  // entries by column: 2 2 0 1 2
  const encoder::Plan plan = plan_by("nus_sell", a, {{"nus_sell.cols", "1"}});
  REQUIRE(parts(plan) == Parts{{"sell", 2}, {"sell", 4}, {"sell", 1}});
  CHECK(columns_of(plan.parts[0]) == U32{0});
  CHECK(columns_of(plan.parts[1]) == U32{1, 4});
  CHECK(columns_of(plan.parts[2]) == U32{3, 2});  // of four, as there are no more
  const encoder::Plan two = plan_by("nus_sell", a, {{"nus_sell.cols", "2"}});
  REQUIRE(parts(two) == Parts{{"sell", 4}, {"sell", 3}});
  CHECK(columns_of(two.parts[0]) == U32{0, 1});
  CHECK(columns_of(two.parts[1]) == U32{4, 3, 2});
  CHECK(parts(plan_by("nus_sell", a)) == Parts{{"sell", 7}});
}

TEST_CASE("entries of a row come in the order of the sorted columns in nus_sell") {
  // Column 1 is denser than column 0.
  const CsrMatrix a = make_csr(2, 2, {{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{1, 1}, 3.0}});
  const Container c = open(encode(a, "nus_sell", {{"sell.c", "2"}, {"sell.sigma", "1"}}).bytes);
  CHECK(elements<std::uint32_t>(c, "col_map") == U32{1, 0});
  CHECK(elements<std::uint32_t>(c, "col_idx") == U32{0, 0, 1, layouts::no_column});
  CHECK(elements<double>(c, "values") == F64{2, 3, 1, 0});
  CHECK(equal_bits(unpack(c), a));
}

TEST_CASE("strategies of several parts come back bit for bit and multiply correctly") {
  for (const auto& [strategy, settings] : {std::pair<std::string, Settings>{"hyb", {}},
                                           {"segmented_sell", {{"segmented_sell.cols", "4000"}, {"sell.c", "8"}}},
                                           {"nus_sell", {{"nus_sell.cols", "50"}}},
                                           {"segmented_sell", {}},
                                           {"nus_sell", {}}}) {
    check_everything<double>(strategy, settings, 3);
    check_everything<double>(strategy, settings, 4);
    if (!sanitized) check_everything<float>(strategy, settings, 3);
  }
}

TEST_CASE("settings of the strategies are checked") {
  const auto refusal = [](const std::string& strategy, const std::string& name, const std::string& value) {
    try {
      encode(worked_example(), strategy, {{name, value}});
    } catch (const Error& e) {
      CHECK(e.code() == errc::usage);
      return e.message();
    }
    return std::string();
  };
  CHECK(refusal("segmented_sell", "segmented_sell.cols", "0") == "segmented_sell.cols is '0'");
  CHECK(refusal("nus_sell", "nus_sell.cols", "auto") == "nus_sell.cols is 'auto'");
  CHECK(refusal("nus_sell", "sell.c", "0") == "sell.c is '0'");
  CHECK(refusal("hyb", "sell.c", "8") == "sell.c is not a setting of the layout hyb");
}

}  // namespace spmvpack::test
