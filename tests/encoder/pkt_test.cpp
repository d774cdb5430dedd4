// Layout and strategy `pkt`. The example is that of docs/LAYOUTS.md.

#include "spmvpack/container/layouts/pkt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "containers.hpp"
#include "layouts/pkt/packets.hpp"
#include "matrices.hpp"
#include "products.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using encoder::Plan;
using host_loader::HostMatrix;
using Settings = std::map<std::string, std::string>;
using U32s = std::vector<std::uint32_t>;

constexpr std::uint32_t none = 0xFFFFFFFF;
constexpr std::uint32_t at(std::uint32_t row, std::uint32_t column) { return row << 16U | column; }

/// Rows 0, 2 and 4 share columns, and so do 1, 3 and 5; two entries connect them. Row 4 is empty.
CsrMatrix example() {
  CsrMatrix m = allocate_csr(6, 6, 11, ValueType::f64);
  const std::vector<std::uint64_t> row_ptr{0, 3, 5, 8, 9, 9, 11};
  const U32s columns{0, 2, 4, 1, 3, 0, 2, 5, 3, 0, 5};
  std::copy(row_ptr.begin(), row_ptr.end(), m.row_ptr.begin());
  std::copy(columns.begin(), columns.end(), m.col_idx.begin());
  for (std::uint64_t k = 0; k < 11; ++k) std::get<Array<double>>(m.values)[k] = static_cast<double>(k + 1);
  return m;
}

template <class T>
std::vector<T> section(const Container& file, std::size_t part, std::string_view name) {
  const LoadedPart loaded = file.load_part(part, {.threads = 1});
  const auto elements = loaded.view().get<T>(name);
  return {elements.begin(), elements.end()};
}

/// Whether this build cuts matrices that do not fit into a packet.
bool can_cut() { return !encoder::metis_version().empty(); }

Plan plan_by_pkt(const CsrMatrix& m, const Settings& settings = {}) {
  return encoder::find_strategy("pkt").plan(m, {.settings = settings});
}

/// y = A x, from the parts' entries alone: of each row the sum of those inside of its packet, then of the others.
template <class A, class V>
std::vector<V> in_order(const CsrMatrix& m, const encoder::layouts::Packets& packets, V alpha, const std::vector<V>& x,
                        V beta, std::vector<V> y) {
  const auto& values = std::get<Array<A>>(m.values);
  for (std::uint64_t r = 0; r < m.rows; ++r) {
    y[r] = beta == 0 ? V{0} : beta * y[r];
    for (const bool inside : {true, false}) {
      V sum = 0;
      bool any = false;
      for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k) {
        if (packets.has(r, m.col_idx[k]) != inside) continue;
        sum = std::fma(V{values[k]}, x[m.col_idx[k]], sum);
        any = true;
      }
      if (any) y[r] = std::fma(alpha, sum, y[r]);
    }
  }
  return y;
}

template <class A, class V>
void require_order(const CsrMatrix& m, const Settings& settings) {
  const auto packets = encoder::layouts::cut_into_packets(m, {.settings = settings});
  const std::vector<std::byte> file = encode(m, "pkt", settings).bytes;
  for (const int threads : {1, 3}) REQUIRE(encode(m, "pkt", settings, format::Codec::none, threads).bytes == file);
  const HostMatrix a = HostMatrix::load(open(file));
  const auto x = random_vector<V>(m.cols, 3), y = random_vector<V>(m.rows, 4);
  for (const V beta : {V{0}, V{0.75}}) {
    const std::vector<V> expected = in_order<A, V>(m, *packets, V{1.5}, x, beta, y);
    for (const int threads : {1, 3}) {
      std::vector<V> found = y;
      a.multiply<V>(V{1.5}, std::span<const V>(x), beta, std::span<V>(found), threads);
      REQUIRE(same_bits(found, expected));
    }
  }
}

TEST_CASE("the example: two packets of three rows, two threads, and a remainder") {
  using encoder::layouts::packets_of;
  const CsrMatrix m = example();
  const auto packets = std::make_shared<const encoder::layouts::Packets>(packets_of({7, 2, 7, 2, 7, 2}, 3));
  CHECK(packets->count() == 2);
  const encoder::PartPlan plan =
      encoder::layouts::plan_packets(encoder::PartMatrix::whole(m, {}), packets, {.settings = {{"pkt.threads", "2"}}});
  CHECK(plan.info.nnz == 9);
  CHECK(plan.padding == 1);
  CHECK_FALSE(plan.fill_reads_x);
  const Container file = open(file_of(6, 6, ValueType::f64, {plan}, m));
  CHECK(section<std::uint32_t>(file, 0, "packet_ptr") == U32s{0, 3, 6});
  CHECK(section<std::uint32_t>(file, 0, "step_ptr") == U32s{0, 3, 5});
  CHECK(section<std::uint32_t>(file, 0, "rows") == U32s{0, 2, 4, 1, 3, 5});
  CHECK(section<std::uint32_t>(file, 0, "local_idx") ==
        U32s{at(0, 0), at(1, 0), at(0, 1), at(1, 1), at(0, 2), none,  // thread 0 has row 0; thread 1 has 2
             at(0, 0), at(1, 1), at(0, 1), at(2, 2)});                // thread 0 has row 1; thread 1 has 3 and 5
  CHECK(section<double>(file, 0, "values") == std::vector<double>{1, 6, 2, 7, 3, 0, 4, 9, 5, 11});
  CHECK(plan.device_bytes() == 3 * 4 + 3 * 4 + 6 * 4 + 10 * (4 + 8));
}

TEST_CASE("packets are in the order of their first rows, and parts that are too large become several") {
  using encoder::layouts::packets_of;
  const auto packets = packets_of({9, 4, 9, 4, 4, 9, 4, 4}, 2);
  CHECK(std::vector<std::uint32_t>(packets.rows.begin(), packets.rows.end()) == U32s{0, 1, 2, 5, 3, 4, 6, 7});
  CHECK(std::vector<std::uint32_t>(packets.ptr.begin(), packets.ptr.end()) == U32s{0, 1, 2, 4, 6, 8});
  CHECK(packets.has(2, 5));
  CHECK_FALSE(packets.has(0, 2));
  CHECK(packets_of({}, 2).count() == 0);
}

TEST_CASE("rows go to the thread with the fewest entries, the longest first") {
  std::mt19937_64 rng(1);
  // Rows of 1, 4, 2, 3 and 3 entries: 4 to the first of two threads, 3 and 3 to the second, then 2 and 1 to the first.
  const std::vector<std::uint32_t> lengths{1, 4, 2, 3, 3};
  const CsrMatrix m = from_rows<double>(5, 5, rng, 0, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(lengths[r]);
    for (std::uint32_t c = 0; c < row.size(); ++c) row[c] = c;
    return row;
  });
  const Container file = open(encode(m, "pkt", {{"pkt.threads", "2"}}).bytes);
  CHECK(section<std::uint32_t>(file, 0, "step_ptr") == U32s{0, 7});
  CHECK(section<std::uint32_t>(file, 0, "local_idx") == U32s{at(0, 0), at(3, 0), at(1, 0), at(3, 1), at(1, 1), at(3, 2),
                                                             at(1, 2), at(4, 0), at(1, 3), at(4, 1), at(2, 0), at(4, 2),
                                                             at(2, 1), none});
}

TEST_CASE("a matrix that is not square is refused, and one that a build cannot cut") {
  std::mt19937_64 rng(1);
  const CsrMatrix wide = from_rows<double>(3, 4, rng, 0, [](std::uint64_t) { return U32s{1}; });
  CHECK_THROWS_WITH(plan_by_pkt(wide), "pkt takes square matrices, not one of 3 x 4; use another layout");
  const CsrMatrix m = example();
  if (!can_cut())
    CHECK_THROWS_WITH(plan_by_pkt(m, {{"pkt.rows", "3"}}),
                      Catch::Contains("cutting 6 rows needs METIS, which this build does not have; install METIS"));
  CHECK_THROWS_WITH(plan_by_pkt(m, {{"pkt.rows", "3073"}}), Catch::Contains("a number from 1 to 3072"));
  CHECK_THROWS_WITH(plan_by_pkt(m, {{"pkt.threads", "0"}}), Catch::Contains("a number from 1 to 1024"));
  CHECK_THROWS_WITH(plan_of(m, "pkt", {.settings = {{"pkt.rows", "1"}}}),
                    Catch::Contains("6 of 11 entries are outside of the packets"));
}

TEST_CASE("what is outside of packets is in a coo part; a part without entries is left out") {
  const CsrMatrix m = example();
  const Plan diagonal = plan_by_pkt(m, {{"pkt.rows", "1"}});  // needs no METIS
  REQUIRE(diagonal.parts.size() == 2);
  CHECK(diagonal.layouts() == "pkt+coo");
  CHECK(diagonal.parts[0].info.nnz == 5);
  CHECK(diagonal.parts[1].info.nnz == 6);
  CHECK(plan_by_pkt(m).layouts() == "pkt");
  std::mt19937_64 rng(1);
  const CsrMatrix off = from_rows<double>(4, 4, rng, 0, [](std::uint64_t r) { return U32s{r == 0 ? 1U : 0U}; });
  CHECK(plan_by_pkt(off, {{"pkt.rows", "1"}}).layouts() == "coo");
  CHECK(plan_by_pkt(from_rows<double>(0, 0, rng, 0, [](std::uint64_t) { return U32s{}; })).layouts() == "pkt");
  if (can_cut()) CHECK(plan_by_pkt(m, {{"pkt.rows", "3"}}).parts[0].info.nnz <= 9);
}

TEST_CASE("auto leaves pkt alone, and has none of its settings") {
  const CsrMatrix m = example();
  CHECK(encoder::find_strategy("pkt").traits.by_name_only);
  for (const encoder::Setting& setting : encoder::find_strategy("auto").settings) CHECK(setting.name.find("pkt.") != 0);
  CHECK_THROWS_WITH(encode(m, "auto", {{"pkt.rows", "3"}}), Catch::Contains("is not a setting of the layout auto"));
}

TEST_CASE("matrices in packets: whole again, the same bytes for any threads, and the documented order of additions") {
  int cut = 0;
  for (const NamedMatrix& m : random_matrices<double>(61, 0)) {
    if (m.matrix.rows != m.matrix.cols || m.matrix.nnz() > 20'000) continue;
    for (const auto& [rows, threads] : {std::pair{"1", "5"}, std::pair{"2", "1"}, std::pair{"7", "5"},
                                        std::pair{"64", "33"}, std::pair{"3072", "512"}}) {
      if (!can_cut() && ((*rows != '1' && *rows != '3') || m.matrix.rows > 3072)) continue;
      if (*rows == '2' && m.matrix.rows > 300) continue;  // METIS takes long to cut so many
      INFO(m.name << ", pkt.rows " << rows << ", pkt.threads " << threads);
      const Settings settings{{"pkt.rows", rows}, {"pkt.threads", threads}};
      if (plan_by_pkt(m.matrix, settings).device_bytes() > 600'000) continue;
      const Container file = open(encode(m.matrix, "pkt", settings).bytes);
      REQUIRE(content_digest(unpack(file)) == content_digest(m.matrix));
      for (const PartInfo& part : file.parts())
        if (part.layout == "pkt") CHECK(part.params[layouts::pkt::param_packet_rows] <= std::stoull(rows));
      require_order<double, double>(m.matrix, settings);
      ++cut;
    }
  }
  for (const NamedMatrix& m : random_matrices<float>(67, 3)) {
    if (m.matrix.rows != m.matrix.cols || m.matrix.rows > 3072 || m.matrix.nnz() > 20'000) continue;
    const Settings settings{{"pkt.threads", "5"}};
    if (plan_by_pkt(m.matrix, settings).device_bytes() > 600'000) continue;
    INFO(m.name);
    require_order<float, float>(m.matrix, settings);
    require_order<float, double>(m.matrix, settings);
  }
  CHECK(cut > (can_cut() ? 12 : 3));
}

TEST_CASE("padding multiplies nothing: what is not finite reaches the rows that have its column, and no others") {
  const CsrMatrix m = example();
  for (const char* const rows : {"1", "6"}) {
    const HostMatrix a = HostMatrix::load(open(encode(m, "pkt", {{"pkt.rows", rows}}).bytes));
    for (std::uint32_t bad = 0; bad < 6; ++bad) {
      std::vector<double> x(6, 1.0), y(6);
      x[bad] = std::numeric_limits<double>::infinity();
      a.multiply<double>(1, std::span<const double>(x), 0, std::span<double>(y));
      for (std::uint64_t r = 0; r < 6; ++r) {
        const auto first = m.col_idx.begin() + m.row_ptr[r], last = m.col_idx.begin() + m.row_ptr[r + 1];
        CHECK(std::isfinite(y[r]) == (std::find(first, last, bad) == last));
      }
    }
  }
}

TEST_CASE("packets of a grid hold most of its entries, in whatever order its points are", "[sequential]") {
  if (!can_cut()) return;
  constexpr std::uint32_t n = 100;
  std::mt19937_64 rng(5);
  U32s number(n * n);
  for (std::uint32_t i = 0; i < number.size(); ++i) number[i] = i;
  std::shuffle(number.begin(), number.end(), rng);
  std::vector<U32s> rows(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i)
    for (const int step : {0, -1, 1, -static_cast<int>(n), static_cast<int>(n)}) {
      const int j = static_cast<int>(i) + step;
      if (j < 0 || j >= static_cast<int>(n * n) || (std::abs(step) == 1 && j / 100 != static_cast<int>(i) / 100))
        continue;
      rows[number[i]].push_back(number[static_cast<std::uint32_t>(j)]);
    }
  const CsrMatrix m = from_rows<double>(n * n, n * n, rng, 0, [&](std::uint64_t r) { return rows[r]; });
  const Plan plan = plan_by_pkt(m, {{"pkt.rows", "1000"}});
  REQUIRE(plan.parts.size() == 2);
  // A square of 1,000 points has a border of 127: of 5 entries a point at least 95 % are inside.
  CHECK(plan.parts[0].info.nnz * 20 > m.nnz() * 19);
  CHECK(plan.parts[0].info.params[layouts::pkt::param_packet_rows] <= 1000);
  require_order<double, double>(m, {{"pkt.rows", "1000"}});
}

TEST_CASE("a part that lists its rows and columns") {
  const CsrMatrix m = example();
  const auto local = std::make_shared<const CsrMatrix>(clone(m));
  const encoder::PartPlan plan = encoder::find_layout_encoder("pkt").plan(
      {*local, encoder::PartIndices::of(std::vector<std::uint32_t>{9, 1, 4, 0, 8, 2}),
       encoder::PartIndices::of(std::vector<std::uint32_t>{3, 0, 7, 1, 2, 5}), nullptr, encoder::own_entries(local)},
      {});
  const HostMatrix a = HostMatrix::load(open(file_of(10, 8, ValueType::f64, {plan})));
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> y(10, 1.0);
  a.multiply<double>(1, std::span<const double>(x), 2, std::span<double>(y));
  // Local row 0 is row 9, and its columns 0, 2 and 4 are 3, 7 and 2; local row 3 is row 0, and column 3 is 1.
  CHECK(y == std::vector<double>{9 * 2 + 2, 4 * 1 + 5 * 2 + 2, 10 * 4 + 11 * 6 + 2, 2, 6 * 4 + 7 * 8 + 8 * 6 + 2, 2, 2,
                                 2, 2, 1 * 4 + 2 * 8 + 3 * 3 + 2});
}

}  // namespace
}  // namespace spmvpack::test
