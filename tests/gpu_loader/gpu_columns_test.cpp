// Several columns at once: each has the bits of a multiply with it alone, in any order of the elements of X and Y, and
// what lies between them is not touched. Part of gpu_test.

#include <limits>
#include <random>
#include <sstream>

#include "bitflag_cases.hpp"
#include "catch.hpp"
#include "columns.hpp"
#include "csell_cases.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using gpu_loader::Scalar;

/// X and Y of so many columns, and what multiplies by one make of each.
template <class V>
struct Columns {
  std::vector<std::vector<V>> x, y0, sums, scaled;

  Columns(const DeviceMatrix& a, std::string_view kernel, std::size_t count) {
    for (std::size_t j = 0; j < count; ++j) {
      x.push_back(random_vector<V>(a.facts().cols, 10 + j));
      y0.push_back(random_vector<V>(a.facts().rows, 1000 + j));
      if (!x[j].empty()) {
        // Not both: which NaN comes of a NaN and of Inf - Inf is the compiler's choice.
        x[j][7 * j % x[j].size()] =
            j % 2 == 0 ? std::numeric_limits<V>::infinity() : std::numeric_limits<V>::quiet_NaN();
      }
      sums.push_back(multiply<V>(a, x[j], kernel));
      scaled.push_back(multiply<V>(a, x[j], kernel, V{-2.5}, V{0.75}, &y0[j]));
    }
  }
  static std::vector<std::vector<V>> some(const std::vector<std::vector<V>>& all, std::size_t count) {
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

template <class V>
MultiplyDescription description_of(const StoredColumns<V>& x, const StoredColumns<V>& y, std::string_view kernel,
                                   std::size_t shift = 0) {
  MultiplyDescription d = by<V>(kernel);
  d.right_hand_sides = x.cols;
  d.strided_x = x.row_stride != 1;
  d.strided_y = y.row_stride != 1;
  d.row_major_x = x.col_stride == 1 && (static_cast<std::size_t>(x.row_stride) | shift) * sizeof(V) % 16 == 0;
  return d;
}

/// Where bits differ first, and which.
template <class V>
std::string difference(const std::vector<V>& is, const std::vector<V>& expected) {
  for (std::size_t i = 0; i < std::min(is.size(), expected.size()); ++i)
    if (!same_bits(std::vector<V>{is[i]}, std::vector<V>{expected[i]})) {
      std::ostringstream text;
      text << "element " << i << ": " << std::hexfloat << is[i] << " for " << expected[i];
      return text.str();
    }
  return is.size() == expected.size() ? "" : "sizes";
}

/// The first `count` columns, X and Y stored so; `shift`: elements by which both are past a boundary of 256 bytes.
template <class V>
void require_columns(const DeviceMatrix& a, std::string_view kernel, const Columns<V>& all, std::size_t count,
                     const Storage& of_x, const Storage& of_y, std::size_t shift) {
  INFO(count << " columns, X in " << of_x.name << ", Y in " << of_y.name << ", shifted by " << shift);
  const StoredColumns<V> x(all.some(all.x, count), a.facts().cols, of_x);
  const DeviceVector<V> device_x(x.memory, shift);
  for (const bool scaled : {false, true}) {
    const StoredColumns<V> y(all.some(all.y0, count), a.facts().rows, of_y),
        expected(all.some(scaled ? all.scaled : all.sums, count), a.facts().rows, of_y);
    const DeviceVector<V> device_y(y.memory, shift);
    const MultiplyDescription d = description_of(x, y, kernel, shift);
    const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
    a.multiply<V>(scaled ? V{-2.5} : V{1}, x.at(static_cast<const V*>(device_x.data())), scaled ? V{0.75} : V{0},
                  y.at(device_y.data()), workspace.span(), nullptr, d);
    REQUIRE(difference(device_y.get(), expected.memory) == "");
  }
}

template <class V>
void require_columns(const DeviceMatrix& a, std::string_view kernel, std::initializer_list<std::size_t> counts) {
  const Columns<V> all(a, kernel, *std::max_element(counts.begin(), counts.end()));
  std::size_t turn = 0;
  for (const std::size_t count : counts)
    for (int once = 0; once < 2; ++once, ++turn)
      require_columns<V>(a, kernel, all, count, storages[turn % 4], storages[(turn + turn / 4) % 4], turn % 3 == 2);
}

template <class A, class V>
void all_csell_cases() {
  for (const CsellCase& c : csell_cases<A>())
    for (const char* const sums : {"1", "4"}) {
      INFO(c.values << ", " << c.name << ", sums " << sums);
      require_columns<V>(
          load_device(encode(c.matrix, "csell", {{"csell.values", c.values}, {"csell.sums", sums}}).bytes), "",
          {2, 5, 8});
    }
}

template <class A, class V>
void all_bitflag_cases() {
  for (const BitflagCase& c : bitflag_cases<A>()) {
    INFO(c.name);
    require_columns<V>(load_device(encode(c.matrix, "bitflag", c.settings).bytes), "", {2, 5, 8});
  }
}

template <class A, class V>
void all_kernels() {
  std::vector<NamedMatrix> matrices = random_matrices<A>(3, 3);
  std::mt19937_64 rng(1);
  matrices.push_back({"no rows", from_rows<A>(0, 5, rng, 3, [](auto) { return std::vector<std::uint32_t>(); })});
  matrices.push_back({"no entries", from_rows<A>(70, 5, rng, 3, [](auto) { return std::vector<std::uint32_t>(); })});
  for (const Variant& variant : every_variant())
    for (const NamedMatrix& m : matrices) {
      if (!suits(m.matrix, variant)) continue;
      const DeviceMatrix a = load_device(encode(m.matrix, variant.layout, variant.settings).bytes);
      for (const auto& kernel : a.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        INFO(variant.name() << " " << kernel.name << ", " << m.name);
        require_columns<V>(a, kernel.name, {3, 9, 16});
      }
    }
}

}  // namespace

TEST_CASE("columns: csell gives the bits of each alone, from every source of values and kind of columns", "[columns]") {
  SECTION("f64") { all_csell_cases<double, double>(); }
  SECTION("f32") { all_csell_cases<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { all_csell_cases<float, double>(); }
}

TEST_CASE("columns: bitflag gives the bits of each alone, from every source, kind of columns and rows, and tiles",
          "[columns]") {
  SECTION("f64") { all_bitflag_cases<double, double>(); }
  SECTION("f32") { all_bitflag_cases<float, float>(); }
  SECTION("f32 matrix, f64 vectors") { all_bitflag_cases<float, double>(); }
}

TEST_CASE("columns: bitflag's tiles of any size, more of them than a device works on at once", "[columns]") {
  for (const char* const tile : {"1", "2", "3", "5", "8", "9", "32"}) {
    INFO("tiles of " << tile);
    for (const char* const hot : {"0", "1000"})
      require_columns<double>(load_device(encode(rows_of<double>(random_lengths(40001, 300, 2), 70000, 3), "bitflag",
                                                 {{"bitflag.tile", tile}, {"bitflag.hot", hot}})
                                              .bytes),
                              "", {2, 16});
    require_columns<float>(
        load_device(encode(rows_of<float>(awkward_lengths(), 100000, 1), "bitflag", {{"bitflag.tile", tile}}).bytes),
        "", {7, 16});
  }
}

TEST_CASE("columns: every kernel gives the bits of each alone", "[columns]") {
  SECTION("f64") { all_kernels<double, double>(); }
  SECTION("f32") { all_kernels<float, float>(); }
}

TEST_CASE("columns: many of them, and one", "[columns]") {
  std::mt19937_64 rng(2);
  const CsrMatrix matrix = rows_of<double>(random_lengths(3001, 60, 2), 5000, 3);
  for (const char* const layout : {"csell", "bitflag", "csr", "sell", "ell", "coo"}) {
    INFO(layout);
    require_columns<double>(load_device(encode(matrix, layout).bytes), "", {1, 32, 33, 65, 128});
  }
}

TEST_CASE("columns: a captured multiply replays; alpha and beta in device memory, X unread where alpha is 0",
          "[columns]") {
  const CsrMatrix matrix = rows_of<double>(random_lengths(3001, 60, 2), 5000, 3);
  constexpr std::size_t count = 6;
  for (const char* const layout : {"csell", "bitflag", "csr", "sell"})
    for (const Storage& storage : {storages[2], storages[1]}) {
      INFO(layout << ", " << storage.name);
      const DeviceMatrix a = load_device(encode(matrix, layout).bytes);
      const Columns<double> all(a, "", count);
      const StoredColumns<double> x(all.x, a.facts().cols, storage), y(all.y0, a.facts().rows, storage);
      const DeviceVector<double> device_x(x.memory), device_y(y.memory), scalars(std::vector<double>{-2.5, 0.75});
      const MultiplyDescription d = description_of(x, y, "");
      const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
      cudaStream_t stream = nullptr;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      cuda(cudaStreamCreate(&stream));
      cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      using S = Scalar<double>;
      a.multiply<double>(S::on_device(scalars.data()), x.at(static_cast<const double*>(device_x.data())),
                         S::on_device(scalars.data() + 1), y.at(device_y.data()), workspace.span(), stream, d);
      cuda(cudaStreamEndCapture(stream, &graph));
      cuda(cudaGraphInstantiate(&executable, graph, 0));
      const auto replay = [&](const std::vector<std::vector<double>>& expected) {
        cuda(cudaMemcpy(device_y.data(), y.memory.data(), y.memory.size() * sizeof(double), cudaMemcpyHostToDevice));
        cuda(cudaGraphLaunch(executable, stream));
        cuda(cudaStreamSynchronize(stream));
        REQUIRE(same_bits(device_y.get(), StoredColumns<double>(expected, a.facts().rows, storage).memory));
      };
      replay(all.scaled);
      cuda(cudaMemset(scalars.data(), 0, sizeof(double)));  // alpha: X, with its NaNs, is not read
      std::vector<std::vector<double>> beta_alone = all.y0;
      for (auto& column : beta_alone)
        for (double& v : column) v *= 0.75;
      replay(beta_alone);
      cuda(cudaGraphExecDestroy(executable));
      cuda(cudaGraphDestroy(graph));
      cuda(cudaStreamDestroy(stream));
    }
}

}  // namespace spmvpack::test
