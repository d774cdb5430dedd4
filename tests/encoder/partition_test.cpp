// Shares of a matrix for several ranks: every row once, as many nonzeros each, exactly the ghosts that a rank needs,
// and together the same multiply.

#include "spmvpack/encoder/partition.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "catch.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

namespace fs = std::filesystem;

/// Rows of different lengths, some of them empty. Values and x are such that sums are exact.
SourceMatrix ragged(std::uint64_t rows, std::uint64_t cols, std::uint64_t longest) {
  std::mt19937_64 random(rows + cols + longest);
  Entries entries;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint64_t k = longest == 0 || r % 5 == 3 ? 0 : random() % (longest + 1); k > 0; --k)
      entries[{r, static_cast<std::uint32_t>(random() % cols)}] = 1 + static_cast<double>(random() % 1000) / 64;
  return {make_csr(rows, cols, entries), Field::real, Symmetry::general, {}};
}

/// The message of the error that f() throws.
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

/// What the source calls row, and column, `i` of the whole.
std::uint64_t original(const encoder::Partition& p, std::uint64_t i) { return p.order.empty() ? i : p.order[i]; }

struct Case {
  std::uint64_t rows, cols, longest, ranks;
};

/// The partition of rows in order, and one that deals them out and leaves one rank without any.
std::vector<encoder::Partition> partitions(const CsrView& a, std::uint64_t ranks) {
  std::vector<encoder::Partition> made;
  made.push_back(encoder::partition_rows(a, ranks));
  if (a.rows() != a.cols()) return made;
  std::vector<std::uint32_t> rank_of_row(a.rows());
  for (std::uint64_t r = 0; r < a.rows(); ++r) {
    rank_of_row[r] = static_cast<std::uint32_t>(r * 7 % ranks);
    if (ranks > 2 && rank_of_row[r] == 1) rank_of_row[r] = 2;
  }
  made.push_back(encoder::partition_of(a, rank_of_row, ranks));
  return made;
}

const std::vector<Case> cases{{50, 50, 9, 1}, {50, 50, 9, 4}, {5, 5, 3, 9},     {40, 70, 8, 3}, {70, 40, 8, 6},
                              {30, 30, 0, 4}, {1, 1, 1, 3},   {6, 300, 200, 4}, {9, 0, 0, 2}};

}  // namespace

TEST_CASE("shares: every entry once, in the rank that has its row; exactly the ghosts that rows need") {
  for (const Case& c : cases) {
    const SourceMatrix whole = ragged(c.rows, c.cols, c.longest);
    const CsrMatrix& m = whole.matrix;
    for (const encoder::Partition& p : partitions(m, c.ranks)) {
      INFO(fmt::format("{} x {}, {} ranks, order {}", c.rows, c.cols, c.ranks, p.order.size()));
      REQUIRE(p.ranks() == c.ranks);
      CHECK(p.first_row.front() == 0);
      CHECK(p.first_row.back() == c.rows);
      CHECK(p.first_col.front() == 0);
      CHECK(p.first_col.back() == c.cols);
      CHECK(std::is_sorted(p.first_row.begin(), p.first_row.end()));
      CHECK(std::is_sorted(p.first_col.begin(), p.first_col.end()));
      std::map<std::uint64_t, std::uint64_t> whole_number;  // of the source's rows
      for (std::uint64_t i = 0; i < c.rows; ++i) whole_number[original(p, i)] = i;
      CHECK(whole_number.size() == c.rows);

      encoder::ShareMaker maker(whole, p, 2);
      std::map<std::pair<std::uint64_t, std::uint64_t>, double> found;  // by the source's numbers
      for (std::uint64_t rank = 0; rank < c.ranks; ++rank) {
        const SourceMatrix share = maker.make(rank);
        const ShareFacts& f = share.share->facts;
        const Array<std::uint32_t>& ghosts = share.share->ghosts;
        CHECK(check_share(f, share.matrix.rows, share.matrix.cols, share.matrix.nnz()).empty());
        CHECK(check_lists(f, {ghosts.data(), ghosts.size()},
                          {share.share->original_rows.data(), share.share->original_rows.size()})
                  .empty());
        CHECK_NOTHROW(share.matrix.view().check());
        CHECK(share.matrix.cols == f.own_cols + ghosts.size());
        std::set<std::uint64_t> needed;  // by brute force: of the rank's rows, columns that it does not own
        for (std::uint64_t i = f.first_row; i < f.first_row + share.matrix.rows; ++i)
          for (std::uint64_t k = m.row_ptr[original(p, i)]; k < m.row_ptr[original(p, i) + 1]; ++k) {
            const std::uint64_t column = p.order.empty() ? m.col_idx[k] : whole_number.at(m.col_idx[k]);
            if (column < f.first_col || column >= f.first_col + f.own_cols) needed.insert(column);
          }
        CHECK(std::equal(needed.begin(), needed.end(), ghosts.begin(), ghosts.end()));
        for (std::uint64_t i = 0; i < share.matrix.rows; ++i)
          for (std::uint64_t k = share.matrix.row_ptr[i]; k < share.matrix.row_ptr[i + 1]; ++k) {
            const std::uint64_t local = share.matrix.col_idx[k];
            const std::uint64_t column = local < f.own_cols ? f.first_col + local : ghosts[local - f.own_cols];
            const auto place = std::pair(original(p, f.first_row + i), original(p, column));
            CHECK(found.emplace(place, std::get<Array<double>>(share.matrix.values)[k]).second);
          }
      }
      REQUIRE(found.size() == m.nnz());
      for (std::uint64_t r = 0; r < m.rows; ++r)
        for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k)
          REQUIRE(found.at({r, m.col_idx[k]}) == std::get<Array<double>>(m.values)[k]);
    }
  }
}

TEST_CASE("partition_rows: no rank has more than its part of the nonzeros and the longest row's") {
  for (const std::uint64_t ranks : {1U, 2U, 3U, 7U, 32U, 400U}) {
    const SourceMatrix whole = ragged(300, 300, 40);
    const encoder::Partition p = encoder::partition_rows(whole.matrix, ranks);
    const std::uint64_t most = whole.matrix.nnz() / ranks + whole.matrix.view().longest_row() + 1;
    for (std::uint64_t r = 0; r < ranks; ++r)
      CHECK(whole.matrix.row_ptr[p.first_row[r + 1]] - whole.matrix.row_ptr[p.first_row[r]] <= most);
  }
  // One row that holds all, and rows without entries at both ends.
  const CsrMatrix one = make_csr(9, 9, {{{4, 0}, 1}, {{4, 3}, 2}, {{4, 8}, 3}});
  for (const std::uint64_t ranks : {2U, 3U}) CHECK(encoder::partition_rows(one, ranks).first_row.back() == 9);
  // Without entries, rows are shared out.
  CHECK(encoder::partition_rows(make_csr(8, 8, Entries{}), 4).first_row == std::vector<std::uint64_t>{0, 2, 4, 6, 8});
  // Columns of a matrix that is not square: the first ranks have one more.
  CHECK(encoder::partition_rows(make_csr(4, 10, Entries{}), 4).first_col == std::vector<std::uint64_t>{0, 3, 6, 8, 10});
}

TEST_CASE("partition_by_metis: ranks of as many nonzeros, which need fewer columns of each other than rows in order") {
  if (encoder::metis_version().empty()) {
    CHECK(message([] {
            static_cast<void>(encoder::partition_by_metis(make_csr(4, 4, {{{0, 1}, 1}}), 2));
          }).find("takes METIS, ") != std::string::npos);
    return;
  }
  // A grid of 40 x 40 points, the upper quarter of whose rows have 3 entries more.
  constexpr std::uint32_t n = 40;
  Entries entries;
  for (std::uint32_t r = 0; r < n * n; ++r) {
    for (const std::uint32_t c : {r, r - 1, r + 1, r - n, r + n})
      if (c < n * n && (c % n == r % n || c / n == r / n)) entries[{r, c}] = 1;
    for (std::uint32_t k = 2; r < n * n / 4 && k < 5; ++k) entries[{r, (r / n * n + (r % n + k) % n)}] = 1;
  }
  const SourceMatrix whole{make_csr(n * n, n * n, entries), Field::real, Symmetry::general, {}};
  const auto ghosts_and_most_entries = [&](const encoder::Partition& p) {
    encoder::ShareMaker maker(whole, p);
    std::pair<std::uint64_t, std::uint64_t> found{0, 0};
    for (std::uint64_t rank = 0; rank < p.ranks(); ++rank) {
      const SourceMatrix share = maker.make(rank);
      found.first += share.share->ghosts.size();
      found.second = std::max(found.second, share.matrix.nnz());
    }
    return found;
  };
  for (const std::uint64_t ranks : {9U, 16U}) {
    const encoder::Partition p = encoder::partition_by_metis(whole.matrix, ranks, 1);
    CHECK(std::set(p.order.begin(), p.order.end()).size() == n * n);
    const auto [ghosts, most] = ghosts_and_most_entries(p);
    CHECK(ghosts < ghosts_and_most_entries(encoder::partition_rows(whole.matrix, ranks)).first);
    CHECK(static_cast<double>(most) < 1.1 * static_cast<double>(whole.matrix.nnz()) / static_cast<double>(ranks));
    CHECK(encoder::partition_by_metis(whole.matrix, ranks, 3).order == p.order);
  }
  // Without edges, which METIS does not take, rows are shared out in order.
  CHECK(encoder::partition_by_metis(make_csr(4, 4, {{{1, 1}, 1}}), 2).first_row == std::vector<std::uint64_t>{0, 2, 4});
}

TEST_CASE("partitions that nobody can make are refused") {
  CHECK(message([] {
          static_cast<void>(encoder::partition_by_metis(make_csr(2, 3, Entries{}), 2));
        }).find("METIS's partition of a matrix of 2 x 3") != std::string::npos);
  CHECK(message([] {
          static_cast<void>(encoder::partition_by_metis(make_csr(2, 2, Entries{}), 3));
        }).find("METIS's partition of 2 rows for 3 ranks") != std::string::npos);
  CHECK(message([&] {
          static_cast<void>(encoder::partition_rows(make_csr(0, 3, Entries{}), 2));
        }).find("a matrix without rows") != std::string::npos);
  CHECK(message([&] { static_cast<void>(encoder::partition_rows(make_csr(2, 2, Entries{}), 0)); }).find("no ranks") !=
        std::string::npos);
  CHECK(message([&] {
          static_cast<void>(encoder::partition_rows(make_csr(2, 2, Entries{}), ~std::uint64_t{0}));
        }).find("18446744073709551615 ranks") != std::string::npos);
  const std::vector<std::uint32_t> ranks{0, 2};
  CHECK(message([&] {
          static_cast<void>(encoder::partition_of(make_csr(2, 2, Entries{}), ranks, 2));
        }).find("a row of rank 2, of 2 ranks") != std::string::npos);
  CHECK(message([&] {
          static_cast<void>(encoder::partition_of(make_csr(2, 3, Entries{}), ranks, 3));
        }).find("2 rows of a matrix of 2 x 3") != std::string::npos);
}

TEST_CASE("encode_shares: files that multiply as the whole does, the same in every run, all of them or none") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("spmvpack_partition_{}", ::getpid());
  fs::create_directories(folder);
  const std::string path = (folder / "A.spmvc").string();
  for (const Case& c : cases) {
    const SourceMatrix whole = ragged(c.rows, c.cols, c.longest);
    const CsrMatrix& m = whole.matrix;
    std::vector<double> x(c.cols), expected(c.rows, 0);
    for (std::uint64_t i = 0; i < c.cols; ++i) x[i] = 1 + static_cast<double>(i * i % 97) / 8;
    for (std::uint64_t r = 0; r < c.rows; ++r)  // exact in f64: small multiples of powers of two
      for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k)
        expected[r] += std::get<Array<double>>(m.values)[k] * x[m.col_idx[k]];
    for (const encoder::Partition& p : partitions(m, c.ranks)) {
      INFO(fmt::format("{} x {}, {} ranks, order {}", c.rows, c.cols, c.ranks, p.order.size()));
      encoder::EncodeRequest request;
      request.overwrite = true;
      request.codec = format::Codec::zstd;
      request.threads = 2;
      encoder::encode_shares(whole, p, request, path);
      std::vector<double> y(c.rows, -1);
      for (std::uint64_t rank = 0; rank < c.ranks; ++rank) {
        const std::string name = share_path(path, rank, c.ranks);
        const Container container = Container::open(name);
        const std::shared_ptr<const Share> share = read_share(container);
        REQUIRE(share);
        CHECK(share->facts == container.facts().share);
        CHECK(share->facts.global_digest == content_digest(m));
        CHECK_NOTHROW(check_contents(container));
        std::vector<double> gathered;
        for (std::uint64_t j = 0; j < share->facts.own_cols; ++j)
          gathered.push_back(x[original(p, share->facts.first_col + j)]);
        for (const std::uint32_t ghost : share->ghosts) gathered.push_back(x[original(p, ghost)]);
        std::vector<double> own(container.facts().rows);
        host_loader::HostMatrix::load(container).multiply<double>(1, gathered, 0, own, 1);
        for (std::uint64_t i = 0; i < own.size(); ++i) {
          const std::uint64_t row = original(p, share->facts.first_row + i);
          if (!p.order.empty()) CHECK(share->original_rows[i] == row);
          y[row] = own[i];
        }
        // With one thread, the same bytes.
        MemorySink sink;
        encoder::EncodeRequest again = request;
        again.threads = 1;
        encoder::ShareMaker maker(whole, p, 1);
        encoder::encode(maker.make(rank), again, sink);
        const Array<std::byte> bytes = sink.take();
        Array<std::byte> there(container.file_bytes());
        open_file(name)->read(0, {there.data(), there.size()});
        CHECK(std::equal(bytes.begin(), bytes.end(), there.begin(), there.end()));
      }
      CHECK(y == expected);
    }
  }
  fs::remove_all(folder);
  fs::create_directories(folder);

  // One name that is taken: none of the others is there afterwards, nor a temporary file.
  const SourceMatrix whole = ragged(20, 20, 5);
  const encoder::Partition p = encoder::partition_rows(whole.matrix, 3);
  fs::create_directory(share_path(path, 2, 3));
  for (const bool overwrite : {false, true}) {
    encoder::EncodeRequest request;
    request.overwrite = overwrite;
    CHECK_THROWS_AS(encoder::encode_shares(whole, p, request, path), Error);
    CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  }
  fs::remove_all(folder);
  fs::create_directories(folder);
  // It appears only while the last one is written.
  const auto taken = [&](const SourceMatrix& share, const encoder::EncodeResult&) {
    if (share.share->facts.rank == 2) fs::create_directory(share_path(path, 2, 3));
  };
  CHECK_THROWS_AS(encoder::encode_shares(whole, p, {}, path, taken), Error);
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  fs::remove_all(folder);
}

TEST_CASE("names of shares") {
  CHECK(share_path("a/A.spmvc", 2, 4) == "a/A.2of4.spmvc");
  CHECK(share_path("A", 0, 1) == "A.0of1");
  for (const auto* const path : {"a/A.spmvc", "A", "a.b/c.1of2.spmvc"}) {
    const auto name = parse_share_path(share_path(path, 3, 12));
    REQUIRE(name);
    CHECK(name->path == path);
    CHECK(name->rank == 3);
    CHECK(name->ranks == 12);
  }
  for (const auto* const path : {"A.spmvc", "A.4of4.spmvc", "A.01of4.spmvc", "A.of4.spmvc", "A.1of.spmvc", "1of2", ""})
    CHECK_FALSE(parse_share_path(path));
}

TEST_CASE("what a header may say of a share") {
  ShareFacts good{10, 12, 40, 3, 4, 5, 1, 3, 7, {}};
  CHECK(check_share(good, 4, 8, 20).empty());
  const auto wrong = [&](auto&& change) {
    ShareFacts bad = good;
    change(bad);
    return check_share(bad, 4, 8, 20);
  };
  CHECK_FALSE(wrong([](ShareFacts& s) { s.rank = 3; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.first_row = 7; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.first_row = ~std::uint64_t{0}; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.first_col = 8; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.own_cols = 9; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.global_cols = 7; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.global_nnz = 19; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.rank = 0; }).empty());
  CHECK_FALSE(wrong([](ShareFacts& s) { s.rank = 2; }).empty());
  const std::vector<std::uint32_t> ghosts{1, 3, 11}, rows{0, 4, 9};
  CHECK(check_lists(good, ghosts, rows).empty());
  for (const auto& bad : std::vector<std::vector<std::uint32_t>>{{3, 1}, {1, 1}, {1, 12}, {4}, {1, 8, 11}})
    CHECK_FALSE(check_lists(good, bad, rows).empty());
  for (const auto& bad : std::vector<std::vector<std::uint32_t>>{{4, 0}, {4, 4}, {10}})
    CHECK_FALSE(check_lists(good, ghosts, bad).empty());
}

}  // namespace spmvpack::test
