// The multiply on the GPU: right within the error bound, in the orders of additions that docs/LAYOUTS.md gives, the
// same bits every time. main() skips all where there is no device (77).

#define CATCH_CONFIG_RUNNER
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "catch.hpp"
#include "dealt.hpp"
#include "device.hpp"
#include "edited.hpp"
#include "matrices.hpp"
#include "orders/csr.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using gpu_loader::Scalar;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// Rows of 0 to 5 entries, a row of all columns in the middle, all columns used.
template <class A = double>
CsrMatrix sized(std::uint64_t n) {
  std::mt19937_64 rng(n);
  return from_rows<A>(n, n, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row;
    for (std::uint64_t c = 0; c < (r == n / 2 ? n : r % 6); ++c)
      row.push_back(static_cast<std::uint32_t>(r == n / 2 ? c : (r + c * 7) % n));
    return row;
  });
}

template <class A = double>
std::vector<NamedMatrix> sized_matrices() {
  std::vector<NamedMatrix> all;
  for (const std::uint64_t n : {0U, 1U, 31U, 32U, 33U, 63U, 64U, 65U, 255U, 256U, 257U, 1025U}) {
    all.push_back({"size " + std::to_string(n), sized<A>(n)});
    std::mt19937_64 rng(n);
    // n nonzeros: one row, and one column.
    const auto every = [&](std::uint64_t count) {
      std::vector<std::uint32_t> row(count);
      for (std::size_t c = 0; c < row.size(); ++c) row[c] = static_cast<std::uint32_t>(c);
      return row;
    };
    all.push_back({"row of " + std::to_string(n), from_rows<A>(1, n, rng, 3, [&](auto) { return every(n); })});
    all.push_back({"column of " + std::to_string(n), from_rows<A>(n, 1, rng, 3, [&](auto) { return every(1); })});
  }
  // Rows that end where chunks and blocks do: 2,048 entries in one row and in several, 64 chunks of one row.
  std::mt19937_64 rng(1);
  all.push_back({"full blocks", from_rows<A>(300, 20000, rng, 3, [&](std::uint64_t r) {
                   std::vector<std::uint32_t> row(r == 0    ? 2048
                                                  : r == 1  ? 2047
                                                  : r == 2  ? 1
                                                  : r == 9  ? 16384
                                                  : r == 10 ? 8193
                                                  : r < 140 ? 16
                                                            : 256);
                   for (std::size_t c = 0; c < row.size(); ++c) row[c] = static_cast<std::uint32_t>(c + r);
                   return row;
                 })});
  return all;
}

/// The bits that a kernel must give: those of the order in LAYOUTS.md that Orders writes down, else those of the host,
/// which has orders of its own to be held to. y = 1 A x + 0.
template <class A, class V>
std::vector<V> expected(const NamedMatrix& m, const Encoded& file, const std::vector<V>& x, const std::string& kernel) {
  const Orders<A, V> orders(m.matrix, x);
  if (!orders.knows(kernel)) {
    std::vector<V> y(m.matrix.rows);
    host_loader::HostMatrix::load(open(file.bytes)).template multiply<V>(1, x, 0, y, 2);
    return y;
  }
  std::vector<V> y = orders.by(kernel);
  for (std::size_t r = 0; r < y.size(); ++r)
    y[r] = m.matrix.row_ptr[r] == m.matrix.row_ptr[r + 1] ? V{0} : std::fma(V{1}, y[r], V{0});
  return y;
}

template <class A, class V>
void all_correct(const std::vector<NamedMatrix>& matrices, const std::vector<Variant>& variants = every_variant()) {
  for (const Variant& variant : variants)
    for (const NamedMatrix& m : matrices) {
      if (!suits(m.matrix, variant)) continue;
      const Encoded file = encode(m.matrix, variant.layout, variant.settings);
      const DeviceMatrix a = load_device(file.bytes);
      REQUIRE(a.device_bytes() == file.device_bytes);
      const std::vector<V> x = random_vector<V>(m.matrix.cols, 7);
      for (const auto& kernel : a.kernels()) {
        INFO(variant.name() << " " << kernel.name << ", " << m.name);
        const std::vector<V> y = multiply<V>(a, x, kernel.name);
        require_correct<A, V>(m.matrix, x, y);
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        REQUIRE(same_bits(y, multiply<V>(a, x, kernel.name, 1, 0, nullptr, 1)));  // misaligned, and once more
        REQUIRE(same_bits(y, expected<A, V>(m, file, x, std::string(kernel.name))));
      }
    }
}

}  // namespace

TEST_CASE("every kernel is right at every size, in its documented order", "[short]") {
  all_correct<double, double>(sized_matrices());
}

TEST_CASE("the papers' kernels of csr and coo, without settings, are right in all types", "[papers]") {
  const std::vector<NamedMatrix> matrices = sized_matrices(), singles = sized_matrices<float>();
  const std::vector<Variant> plain{{"csr", {}}, {"coo", {}}};
  all_correct<double, double>(matrices, plain);
  all_correct<float, float>(singles, plain);
  all_correct<float, double>(singles, plain);
}

TEST_CASE("chunks of ccoo of fewer lanes than 256: ccoo/atomic has as many threads", "[short]") {
  std::vector<Variant> variants;
  for (const char* const lanes : {"32", "64", "128"})
    for (const char* const k : {"1", "4"}) variants.push_back({"ccoo", {{"ccoo.b", lanes}, {"ccoo.k", k}}});
  all_correct<double, double>(sized_matrices(), variants);
}

TEST_CASE("every kernel is right with more chunks than a device works on at once", "[short]") {
  std::vector<NamedMatrix> matrices;
  for (const int values : {0, 2}) {
    std::mt19937_64 rng(static_cast<unsigned>(values));
    // ccoo ends a chunk before row 256 after its first: of each 256 rows it makes a chunk, of three that are not empty.
    const auto columns = [&](std::uint64_t r) {
      const bool is_empty = r % 256 != 0 && r % 256 != 1 && r % 256 != 255;
      std::vector<std::uint32_t> row(is_empty ? 0 : 1 + rng() % 60);
      for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 5000);
      return row;
    };
    matrices.push_back({"values " + std::to_string(values), from_rows<double>(600000, 5000, rng, values, columns)});
  }
  all_correct<double, double>(matrices);
}

TEST_CASE("rows of any number of chunks are finished in order") {
  // The second pass has a lane, or a warp with 32 or 128 chunks at a time: rows of as many chunks, and one more or
  // less. Chunks have 256 entries, in ccoo 256 K.
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t entries : {256U, 2048U})
    for (const std::uint64_t chunks : {1U, 2U, 3U, 4U, 5U, 6U, 31U, 32U, 33U, 34U})
      for (const std::uint64_t more : {0U, 1U, 255U}) lengths.push_back(entries * chunks + more);
  for (const std::uint64_t chunks : {64U, 127U, 128U, 129U, 130U, 256U, 257U}) lengths.push_back(256 * chunks);
  std::mt19937_64 rng(61);
  const auto columns = [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r % 2 == 0 ? lengths[r / 2] : r % 7);  // short rows between them: other places
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = static_cast<std::uint32_t>(c + r);
    return row;
  };
  std::vector<NamedMatrix> matrices;
  matrices.push_back({"rows of many chunks", from_rows<double>(2 * lengths.size(), 80000, rng, 3, columns)});
  all_correct<double, double>(matrices);
  // After 128 chunks the whole block goes on, with 1,024 at a time.
  lengths.clear();
  for (const std::uint64_t chunks : {128U, 1151U, 1152U, 128U, 1153U, 2177U})
    lengths.push_back(256 * chunks - (chunks % 2 == 0 ? 0 : 100));
  matrices[0] = {"rows of very many chunks", from_rows<double>(2 * lengths.size(), 600000, rng, 3, columns)};
  all_correct<double, double>(matrices);
}

TEST_CASE("runs of rows without entries of any length, before, between and after the others") {
  // csr's merge looks at 128 rows at a time, and leaves runs of more than 512 to a kernel before.
  std::mt19937_64 rng(67);
  std::vector<NamedMatrix> matrices;
  for (const std::uint64_t longest : {127U, 128U, 129U, 511U, 512U, 513U, 70000U})
    for (const std::uint64_t entries : {1U, 3U, 255U, 700U}) {
      std::vector<std::uint64_t> lengths;
      for (const std::uint64_t run : {longest, std::uint64_t{0}, std::uint64_t{1}, longest / 2, longest}) {
        lengths.insert(lengths.end(), run, 0);
        if (lengths.size() < 3 * longest) lengths.insert(lengths.end(), {entries, 1, entries});
      }
      const auto columns = [&](std::uint64_t r) {
        std::vector<std::uint32_t> row(lengths[r]);
        std::iota(row.begin(), row.end(), static_cast<std::uint32_t>(r % 7));
        return row;
      };
      matrices.push_back({std::to_string(entries) + " entries after runs of " + std::to_string(longest),
                          from_rows<double>(lengths.size(), 800, rng, 3, columns)});
    }
  for (const NamedMatrix& m : matrices) {
    INFO(m.name);
    const DeviceMatrix a = load_device(encode(m.matrix, "csr").bytes);
    const std::vector<double> x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
    const std::vector<double> sums = Orders<double, double>(m.matrix, x).by("csr/merge");
    for (const double alpha : {1.0, 0.0, -2.5})
      for (const double beta : {0.0, 1.0, 0.5}) {
        std::vector<double> y = y0;
        for (std::size_t r = 0; r < y.size(); ++r) {
          const double before = beta == 0 ? 0 : beta * y0[r];
          const bool has_sum = alpha != 0 && m.matrix.row_ptr[r] != m.matrix.row_ptr[r + 1];
          y[r] = has_sum ? std::fma(alpha, sums[r], before) : before;
        }
        REQUIRE(same_bits(multiply<double>(a, x, "csr/merge", alpha, beta, beta == 0 ? nullptr : &y0), y));
      }
  }
  all_correct<double, double>(matrices);
}

TEST_CASE("every kernel is right on random matrices of all kinds, in its documented order") {
  SECTION("f64") {
    for (const int values : {0, 2, 3}) all_correct<double, double>(random_matrices<double>(23, values));
  }
  SECTION("f32") { all_correct<float, float>(random_matrices<float>(29, 3)); }
  SECTION("f32 matrix, f64 vectors") { all_correct<float, double>(random_matrices<float>(31, 3)); }
}

TEST_CASE("alpha and beta, by value and in device memory; y unread where beta is 0, x where alpha is 0") {
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<double>(37, 3)) {
      if (!suits(m.matrix, variant)) continue;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
      const DeviceVector<double> device_x(x), nan_x(x.size());
      DeviceVector<double> y(y0.size());
      for (const auto& kernel : a.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        const DeviceVector<std::byte> workspace(a.workspace_bytes(by<double>(kernel.name)));
        const auto sums = multiply<double>(a, x, kernel.name);
        for (const double alpha : {1.0, 0.0, -2.5})
          for (const double beta : {0.0, 1.0, 0.75})
            for (const bool by_pointer : {false, true}) {
              INFO(variant.name() << " " << kernel.name << ", " << m.name << ", " << alpha << ", " << beta);
              y.poison();
              if (beta != 0) y.set(y0);
              const DeviceVector<double> scalars(std::vector<double>{alpha, beta});
              const auto scalar = [&](double value, int place) {
                return by_pointer ? Scalar<double>::on_device(scalars.data() + place) : Scalar<double>(value);
              };
              a.multiply<double>(scalar(alpha, 0), alpha == 0 ? nan_x.view() : device_x.view(), scalar(beta, 1),
                                 y.span(), workspace.span(), nullptr, by<double>(kernel.name));
              std::vector<double> expected(y0.size());
              for (std::size_t r = 0; r < expected.size(); ++r) {
                const double scaled = beta == 0 ? 0.0 : beta * y0[r];
                const bool none = alpha == 0 || m.matrix.row_ptr[r] == m.matrix.row_ptr[r + 1];
                expected[r] = none ? scaled : std::fma(alpha, sums[r], scaled);
              }
              REQUIRE(same_bits(y.get(), expected));
            }
      }
    }
}

TEST_CASE("Inf and NaN in x reach the rows that touch them and no others", "[short]") {
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<double>(41, 0)) {
      if (!suits(m.matrix, variant)) continue;
      if (m.matrix.cols == 0) continue;
      const std::uint64_t column = m.matrix.cols / 2;
      const bool fill_reads_x = variant.plan(m.matrix).fill_reads_x;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      for (const auto& kernel : a.kernels()) {
        auto x = random_vector<double>(m.matrix.cols, 5);
        x[column] = nan_value;
        const auto y = multiply<double>(a, x, kernel.name);
        for (std::uint64_t r = 0; r < m.matrix.rows; ++r) {
          const auto* const begin = m.matrix.col_idx.begin() + m.matrix.row_ptr[r];
          const auto* const end = m.matrix.col_idx.begin() + m.matrix.row_ptr[r + 1];
          if (std::isnan(y[r]) == std::binary_search(begin, end, column)) continue;
          if (fill_reads_x && std::isnan(y[r])) continue;
          INFO(variant.name() << " " << kernel.name << ", " << m.name << ", row " << r);
          REQUIRE(y[r] == 0.0);
        }
      }
    }
}

TEST_CASE("a captured multiply replays, on other numbers too", "[short]") {
  const auto matrices = random_matrices<double>(43, 3);
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : matrices) {
      if (!suits(m.matrix, variant)) continue;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      cudaStream_t stream = nullptr;
      cuda(cudaStreamCreate(&stream));
      for (const auto& kernel : a.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        INFO(variant.name() << " " << kernel.name << ", " << m.name);
        DeviceVector<double> x(m.matrix.cols), y(m.matrix.rows);
        const DeviceVector<std::byte> workspace(a.workspace_bytes(by<double>(kernel.name)));
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        a.multiply<double>(1, x.view(), 0, y.span(), workspace.span(), stream, by<double>(kernel.name));
        cuda(cudaStreamEndCapture(stream, &graph));
        cuda(cudaGraphInstantiate(&replay, graph, 0));
        for (const std::uint64_t seed : {1U, 2U}) {
          const auto values = random_vector<double>(m.matrix.cols, seed);
          x.set(values);
          y.poison();
          cuda(cudaGraphLaunch(replay, stream));
          cuda(cudaStreamSynchronize(stream));
          REQUIRE(same_bits(y.get(), multiply<double>(a, values, kernel.name)));
        }
        cuda(cudaGraphExecDestroy(replay));
        cuda(cudaGraphDestroy(graph));
      }
      cuda(cudaStreamDestroy(stream));
    }
}

TEST_CASE("each multiply sees what the one before it on the stream wrote, launched or replayed", "[short]") {
  constexpr std::size_t steps = 12;
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<double>(59, 3)) {
      if (!suits(m.matrix, variant)) continue;
      const std::size_t n = m.matrix.rows;
      if (n != m.matrix.cols || n == 0) continue;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      const auto x = random_vector<double>(n, 1);
      cudaStream_t stream = nullptr;
      cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (const auto& kernel : a.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        INFO(variant.name() << " " << kernel.name << ", " << m.name);
        std::vector<std::vector<double>> expected{x};  // a step at a time, waiting for each
        for (std::size_t i = 0; i < steps; ++i) expected.push_back(multiply<double>(a, expected.back(), kernel.name));
        const DeviceVector<std::byte> workspace(a.workspace_bytes(by<double>(kernel.name)));
        DeviceVector<double> all(n * (steps + 1));
        const auto run = [&] {
          const std::span<double> y = all.span();
          for (std::size_t i = 0; i < steps; ++i)
            a.multiply<double>(1, y.subspan(i * n, n), 0, y.subspan((i + 1) * n, n), workspace.span(), stream,
                               by<double>(kernel.name));
        };
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        run();
        cuda(cudaStreamEndCapture(stream, &graph));
        cuda(cudaGraphInstantiate(&replay, graph, 0));
        for (const bool replayed : {false, true}) {
          all.poison();
          cuda(cudaMemcpy(all.data(), x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
          cuda(cudaDeviceSynchronize());
          if (replayed)
            cuda(cudaGraphLaunch(replay, stream));
          else
            run();
          cuda(cudaStreamSynchronize(stream));
          const std::vector<double> found = all.get();
          for (std::size_t i = 0; i <= steps; ++i)
            REQUIRE(std::memcmp(found.data() + i * n, expected[i].data(), n * sizeof(double)) == 0);
        }
        cuda(cudaGraphExecDestroy(replay));
        cuda(cudaGraphDestroy(graph));
      }
      cuda(cudaStreamDestroy(stream));
    }
}

TEST_CASE("an error that a caller left behind is not the multiply's, and stays the caller's", "[short]") {
  const NamedMatrix m{"sized", sized(257)};
  for (const Variant& variant : every_variant()) {
    if (!suits(m.matrix, variant)) continue;
    const std::vector<std::byte> file = encode(m.matrix, variant.layout, variant.settings).bytes;
    const auto x = random_vector<double>(m.matrix.cols, 1);
    void* none = nullptr;
    REQUIRE(cudaMalloc(&none, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
    const DeviceMatrix a = load_device(file);
    REQUIRE(cudaMalloc(&none, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
    for (const auto& kernel : a.kernels()) CHECK_NOTHROW(multiply<double>(a, x, kernel.name));
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  }
}

TEST_CASE("two streams with a workspace each; 100 repeats give the same bits") {
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : random_matrices<double>(47, 3)) {
      if (!suits(m.matrix, variant)) continue;
      if (m.matrix.nnz() < 5000) continue;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      const auto x0 = random_vector<double>(m.matrix.cols, 1), x1 = random_vector<double>(m.matrix.cols, 2);
      const DeviceVector<double> x[2]{DeviceVector<double>(x0), DeviceVector<double>(x1)};
      for (const auto& kernel : a.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        INFO(variant.name() << " " << kernel.name << ", " << m.name);
        const std::vector<double> expected[2]{multiply<double>(a, x0, kernel.name),
                                              multiply<double>(a, x1, kernel.name)};
        const gpu_loader::DeviceMultiplier multipliers[2]{gpu_loader::DeviceMultiplier(a, by<double>(kernel.name)),
                                                          gpu_loader::DeviceMultiplier(a, by<double>(kernel.name))};
        cudaStream_t streams[2]{};
        for (auto& stream : streams) cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        std::vector<DeviceVector<double>> y0, y1;
        constexpr std::size_t rounds = 10, at_once = 10;
        const std::size_t rows = m.matrix.rows;
        const DeviceVector<double> y[2]{DeviceVector<double>(rows * at_once), DeviceVector<double>(rows * at_once)};
        for (std::size_t round = 0; round < rounds; ++round) {
          for (std::size_t i = 0; i < at_once; ++i)
            for (const int s : {0, 1})
              multipliers[s].multiply<double>(1, x[s].view(), 0, y[s].span().subspan(i * rows, rows), streams[s]);
          cuda(cudaDeviceSynchronize());
          for (const int s : {0, 1}) {
            const std::vector<double> all = y[s].get();
            for (std::size_t i = 0; i < at_once; ++i)
              REQUIRE(std::memcmp(all.data() + i * rows, expected[s].data(), rows * sizeof(double)) == 0);
          }
        }
        for (auto& stream : streams) cuda(cudaStreamDestroy(stream));
      }
    }
}

TEST_CASE("the default of csr follows from the lengths of rows", "[short]") {
  std::set<std::string> seen;
  std::vector<NamedMatrix> matrices = random_matrices<double>(53, 3);
  std::mt19937_64 rng(59);
  matrices.push_back({"one very long row", from_rows<double>(30, 20000, rng, 3, [](std::uint64_t r) {
                        std::vector<std::uint32_t> row(r == 7 ? 20000 : 3);
                        std::iota(row.begin(), row.end(), 0U);
                        return row;
                      })});
  for (const std::uint32_t longest : {256U, 257U, 300U})
    matrices.push_back(
        {"a row of " + std::to_string(longest), from_rows<double>(700, 900, rng, 3, [&](std::uint64_t r) {
           std::vector<std::uint32_t> row(r == 99 ? longest : 2);
           std::iota(row.begin(), row.end(), static_cast<std::uint32_t>(r % 5));
           return row;
         })});
  for (const NamedMatrix& m : matrices) {
    std::uint64_t longest = 0, lanes = 1;
    for (std::uint64_t r = 0; r < m.matrix.rows; ++r)
      longest = std::max(longest, m.matrix.row_ptr[r + 1] - m.matrix.row_ptr[r]);
    while (lanes < 32 && m.matrix.rows * lanes * 2 <= m.matrix.col_idx.size() && m.matrix.rows != 0) lanes *= 2;
    const DeviceMatrix a = load_device(encode(m.matrix, "csr").bytes);
    const auto x = random_vector<double>(m.matrix.cols, 1);
    INFO(m.name);
    const std::uint64_t nnz = m.matrix.col_idx.size();
    const bool few_long = m.matrix.rows != 0 && nnz / m.matrix.rows >= 8192;
    std::uint64_t block_rows = 1, threads = 1;  // of a block of rows like the others, and of its longest row
    while (block_rows < 256 && (block_rows + 1) * nnz <= m.matrix.rows * 2048) ++block_rows;
    while (threads * 2 <= std::min<std::uint64_t>(256 / block_rows, 128)) threads *= 2;
    const bool many_turns = std::min<std::uint64_t>(longest, 2048) / threads > 256 + nnz / 8192;
    const char* const kernel = few_long               ? "csr/long"
                               : longest > 16384      ? "csr/merge"
                               : longest <= 8         ? "csr/scalar"
                               : longest <= 8 * lanes ? "csr/vector"
                               : many_turns           ? "csr/merge"
                                                      : "csr/ipcsr";
    seen.insert(kernel);
    REQUIRE(a.workspace_bytes(by<double>("")) == a.workspace_bytes(by<double>(kernel)));
    REQUIRE(same_bits(multiply<double>(a, x, ""), multiply<double>(a, x, kernel)));
  }
  CHECK(seen.size() == 5);
}

TEST_CASE("a matrix needs the workspace of its part", "[short]") {
  for (const Variant& variant : every_variant()) {
    if (!suits(sized(257), variant)) continue;
    const auto file = encode(sized(257), variant.layout, variant.settings).bytes;
    const DeviceMatrix a = load_device(file);
    const PartInfo part = open(file).parts()[0];
    CHECK(a.workspace_bytes(by<double>("")) == gpu_loader::workspace_bytes(part, {}, ValueType::f64));
    CHECK(a.kernels().size() == gpu_loader::kernels(variant.layout).size());
    for (const auto& kernel : a.kernels())
      CHECK(a.workspace_bytes(by<double>(kernel.name)) ==
            gpu_loader::workspace_bytes(part, gpu_loader::find_kernel(kernel.name), ValueType::f64));
  }
}

TEST_CASE("csr's longest row is as long as the part table says", "[short]") {
  const CsrMatrix m = make_csr(4, 9, {{{0, 0}, 1.0}, {{2, 1}, 2.0}, {{2, 4}, 2.0}, {{2, 8}, 2.0}, {{3, 1}, 2.0}});
  for (const std::uint64_t length : {2U, 3U, 4U}) {
    const auto load = [&] {
      load_device(edited(encode(m, "csr").bytes, [&](ContainerSource& c) { c.parts[0].info.params[0] = length; }));
    };
    if (length == 3)
      CHECK_NOTHROW(load());
    else
      CHECK_THROWS_AS(load(), Error);
  }
}

TEST_CASE("a matrix dealt out to parts of every layout multiplies in the order of the part table", "[short]") {
  std::uint64_t seed = 0;
  const auto check = [&]<class A, class V>(const std::vector<NamedMatrix>& matrices, A, V) {
    for (const NamedMatrix& m : matrices) {
      INFO(m.name << ", " << sizeof(A) << " " << sizeof(V));
      const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
      const DeviceMatrix a = load_device(encode(source, dealt(++seed), {.threads = 2, .force_size = true}).bytes);
      const auto x = random_vector<V>(m.matrix.cols, 3), y = random_vector<V>(m.matrix.rows, 4);
      for (const V beta : {V{0}, V{0.75}}) {
        const auto expected = multiply_dealt<V>(deal(m.matrix, seed), V{-2.5}, x, beta, y,
                                                [](const std::vector<std::byte>& part, const auto& local_x) {
                                                  return multiply<V>(load_device(part), local_x, "");
                                                });
        REQUIRE(same_bits(multiply<V>(a, x, "", V{-2.5}, beta, beta == 0 ? nullptr : &y), expected));
      }
    }
  };
  check(random_matrices<double>(71, 3), double{}, double{});
  check(random_matrices<float>(73, 3), float{}, double{});
}

TEST_CASE("a permuted basis: the same sums, for permuted vectors and for the user's", "[short]") {
  for (const NamedMatrix& m : random_matrices<double>(61, 3)) {
    if (m.matrix.rows != m.matrix.cols || m.matrix.rows == 0 || !suits(m.matrix, Variant{"pjds", {}})) continue;
    INFO(m.name);
    const DeviceMatrix a = load_device(encode(m.matrix, "pjds", {{"pjds.basis", "permuted"}}).bytes),
                       user = load_device(encode(m.matrix, "pjds").bytes);
    const auto x = random_vector<double>(m.matrix.cols, 1), y0 = random_vector<double>(m.matrix.rows, 2);
    const std::vector<double> expected = multiply<double>(user, x, "", -2.5, 0.75, &y0);
    REQUIRE(same_bits(multiply<double>(a, x, "", -2.5, 0.75, &y0), expected));
    const MultiplyDescription permuted{.basis = Basis::permuted};
    CHECK(a.workspace_bytes(permuted) == 0);
    const DeviceVector<double> user_x(x), user_y(y0), permuted_x(x.size()), permuted_y(y0.size());
    a.permute<double>(user_x.view(), permuted_x.span(), nullptr);
    a.permute<double>(user_y.view(), permuted_y.span(), nullptr);
    a.multiply<double>(-2.5, permuted_x.view(), 0.75, permuted_y.span(), {}, nullptr, permuted);
    a.unpermute<double>(permuted_y.view(), user_y.span(), nullptr);
    REQUIRE(same_bits(user_y.get(), expected));
    CHECK_THROWS_AS(user.workspace_bytes(permuted), Error);
    CHECK_THROWS_AS(user.permute<double>(user_x.view(), user_y.span(), nullptr), Error);
  }
}

TEST_CASE("small matrices take one launch in every layout without carries", "[short]") {
  std::mt19937_64 rng(5);
  const CsrMatrix m = from_rows<double>(3000, 3000, rng, 3, [&](std::uint64_t r) {
    return std::vector<std::uint32_t>{static_cast<std::uint32_t>(r), static_cast<std::uint32_t>((r * 7) % 3000)};
  });
  for (const char* const layout : {"csr", "ell", "ellpack_r", "sell", "pjds", "amb", "pkt", "csell"}) {
    INFO(layout);
    const DeviceMatrix a = load_device(encode(m, layout).bytes);
    CHECK(launches(a, "", 0.5) == 1);
    CHECK(launches(a, "", 0) == 1);
  }
  // Segments of amb share rows. Where one of those lies in more than four, their sums take a second launch, however
  // many segments there are.
  const CsrMatrix many = rows_over_ranges<double>(3000, 300, 10, 5);
  for (const char* const cols : {"1500", "100", "7"}) {
    CHECK(launches(load_device(encode(m, "amb", {{"amb.segment", cols}}).bytes), "", 0.5) == 1);
    CHECK(launches(load_device(encode(many, "amb", {{"amb.segment", cols}}).bytes), "", 0.5) ==
          (cols == std::string("1500") ? 1 : 2));
  }
}

TEST_CASE("arguments that make no sense are refused", "[short]") {
  const CsrMatrix m = make_csr(3, 2, {{{0, 0}, 1.0}, {{2, 1}, 2.0}});
  gpu_loader::DeviceLoadOptions options;
  options.kernels = {gpu_loader::find_kernel("csr/vector")};
  const DeviceMatrix a = DeviceMatrix::load(open(encode(m, "csr").bytes), nullptr, options);
  const DeviceVector<double> x(2), y(3), both(4);
  const DeviceVector<float> xf(2), yf(3);
  const DeviceVector<std::byte> workspace(1024);
  const auto go = [&](std::span<const double> in, std::span<double> out, const MultiplyDescription& description,
                      std::span<std::byte> room) {
    try {
      a.multiply<double>(1, in, 0, out, room, nullptr, description);
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  const auto vector = by<double>("csr/vector"), pcsr = by<double>("csr/pcsr");
  CHECK(go(x.view(), y.span(), vector, {}) == errc{});
  CHECK(go(x.view(), y.span(), pcsr, workspace.span()) == errc{});
  CHECK(go(y.view(), y.span(), vector, {}) == errc::usage);
  CHECK(go(both.view().first(2), both.span().subspan(1, 3), vector, {}) == errc::usage);
  CHECK(go(x.view(), y.span(), pcsr, {}) == errc::usage);
  CHECK(go(x.view(), y.span(), by<double>("coo/balanced"), workspace.span()) == errc::usage);  // of no part
  CHECK(go(x.view(), y.span(), {.kernel = {12345}}, workspace.span()) == errc::usage);
  for (const char* const not_prepared : {"csr/ipcsr", "csr/ipcsr_printed", "csr/merge"})
    CHECK(go(x.view(), y.span(), by<double>(not_prepared), workspace.span()) == errc::usage);
  CHECK(go(x.view(), y.span(), by<double>(""), {}) == errc{});  // its default needs nothing
  const DeviceMatrix long_row = DeviceMatrix::load(open(encode(sized(1025), "csr").bytes), nullptr, options);
  CHECK_THROWS_AS(multiply<double>(long_row, random_vector<double>(1025, 1), ""), Error);
  CHECK(go(x.view(), y.span(), by<float>("csr/vector"), {}) == errc::usage);
  auto other = vector;
  other.operation = Operation::transpose;
  CHECK(go(x.view(), y.span(), other, {}) == errc::usage);  // the container has none
  other = vector;
  other.right_hand_sides = 2;  // of a workspace, not of these operands
  CHECK(go(x.view(), y.span(), other, {}) == errc{});
  CHECK_THROWS_AS(a.multiply<float>(1, xf.view(), 0, yf.span(), {}, nullptr, by<float>("csr/vector")), Error);
  options.kernels = {gpu_loader::find_kernel("coo/balanced")};
  CHECK_THROWS_AS(DeviceMatrix::load(open(encode(m, "csr").bytes), nullptr, options), Error);
}

}  // namespace spmvpack::test

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  if (spmvpack::gpu_loader::devices().empty()) {
    std::cout << "skipped: no GPU\n";
    return skipped;
  }
  return Catch::Session().run(argc, argv);
}
