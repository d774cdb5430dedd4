// A^T on a GPU: the bits of the container of A^T alone, with its own workspace, in graphs, and for symmetric matrices
// with A's parts. Part of gpu_test.

#include "catch.hpp"
#include "device.hpp"
#include "golden_files.hpp"
#include "matrices.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using gpu_loader::DeviceMultiplier;
using gpu_loader::Scalar;

std::vector<std::byte> encoded(const CsrView& a, const std::string& layout, bool transpose) {
  MemorySink sink;
  encoder::encode(a, {.strategy = layout, .transpose = transpose, .threads = 2, .force_size = true}, sink);
  const Array<std::byte> bytes = sink.take();
  return {bytes.begin(), bytes.end()};
}

/// alpha op(A) x + beta y; `on_device`: with scalars that are read on the device.
template <class T>
std::vector<T> multiply(const DeviceMatrix& a, Operation operation, const std::vector<T>& x, T alpha, T beta,
                        const std::vector<T>& y0, bool on_device = false) {
  const DeviceVector<T> device_x(x), y(y0), scalars(std::vector<T>{alpha, beta});
  const DeviceMultiplier multiplier(a, describe<T>(operation));
  if (on_device)
    multiplier.multiply<T>(Scalar<T>::on_device(scalars.data()), device_x.view(),
                           Scalar<T>::on_device(scalars.data() + 1), y.span(), nullptr);
  else
    multiplier.multiply<T>(alpha, device_x.view(), beta, y.span(), nullptr);
  return y.get();
}

template <class A>
void as_if_alone(const std::vector<std::string>& layouts) {
  for (const NamedMatrix& m : random_matrices<A>(91, 3))
    for (const std::string& layout : layouts) {
      const CsrMatrix t = transposed(m.matrix);
      if (layout != "auto" && !(suits(m.matrix, Variant{layout, {}}) && suits(t, Variant{layout, {}}))) continue;
      const std::vector<std::byte> bytes = encoded(m.matrix, layout, true);
      if (open(bytes).facts().bitwise_symmetry() != Symmetry::general) continue;
      INFO(m.name << ", " << layout);
      const DeviceMatrix both = load_device(bytes), turned = load_device(encoded(t, layout, false)),
                         alone = load_device(encoded(m.matrix, layout, false));
      REQUIRE(both.has_transpose());
      CHECK(both.device_bytes() == alone.device_bytes());
      CHECK(both.workspace_bytes(describe<double>(Operation::transpose)) == turned.workspace_bytes(describe<double>()));
      CHECK(both.workspace_bytes(describe<double>()) == alone.workspace_bytes(describe<double>()));
      const auto x = random_vector<double>(m.matrix.rows, 1), y0 = random_vector<double>(m.matrix.cols, 2);
      for (const double beta : {0.0, 0.75}) {
        const auto expected = multiply<double>(turned, Operation::none, x, -2.5, beta, y0);
        REQUIRE(same_bits(multiply<double>(both, Operation::transpose, x, -2.5, beta, y0), expected));
        REQUIRE(same_bits(multiply<double>(both, Operation::transpose, x, -2.5, beta, y0, true), expected));
        REQUIRE(same_bits(multiply<double>(both, Operation::none, y0, -2.5, beta, x),
                          multiply<double>(alone, Operation::none, y0, -2.5, beta, x)));
      }
      require_correct<A>(t, x, multiply<double>(both, Operation::transpose, x, 1, 0, y0));
    }
}

}  // namespace

TEST_CASE("A and A^T of one container multiply on a GPU as if each were alone", "[short]") {
  as_if_alone<double>({"auto", "csr", "pjds"});
  as_if_alone<float>({"ccoo", "amb", "csell"});
}

TEST_CASE("a GPU multiplies with the transpose of a symmetric or skew-symmetric matrix, which is stored once",
          "[short]") {
  Entries entries;
  std::mt19937_64 rng(5);
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const auto j = static_cast<std::uint32_t>(rng() % 2000);
    if (i != j) entries[{i, j}] = entries[{j, i}] = random_value<double>(rng, 3);
  }
  for (const bool skew : {false, true}) {
    if (skew)
      for (auto& [at, value] : entries)
        if (at.first < at.second) value = -value;
    const auto x = random_vector<double>(2000, 3), y0 = random_vector<double>(2000, 4);
    for (const char* const layout : {"csr", "ell", "sell", "ccoo", "amb", "csell", "coo"}) {
      INFO(layout << (skew ? ", skew" : ""));
      const DeviceMatrix a = load_device(encoded(make_csr(2000, 2000, entries), layout, false));
      for (const double beta : {0.0, 0.75})
        for (const bool on_device : {false, true})
          REQUIRE(same_bits(multiply<double>(a, Operation::transpose, x, -2.5, beta, y0, on_device),
                            multiply<double>(a, Operation::none, x, skew ? 2.5 : -2.5, beta, y0)));
    }
  }
}

TEST_CASE("a multiply with A^T allocates nothing and runs in a CUDA graph", "[short]") {
  const CsrMatrix a = std::move(random_matrices<double>(92, 3)[14].matrix);  // power law
  const DeviceMatrix m = load_device(encoded(a, "auto", true));
  const DeviceMultiplier multiplier(m, describe<double>(Operation::transpose));
  const auto values = random_vector<double>(a.rows, 5);
  const DeviceVector<double> x(values), y(a.cols);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));  // which refuses allocations
  multiplier.multiply<double>(1, x.view(), 0, y.span(), stream);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&replay, graph, 0));
  cuda(cudaGraphLaunch(replay, stream));
  cuda(cudaStreamSynchronize(stream));
  CHECK(same_bits(y.get(), multiply<double>(m, Operation::transpose, values, 1, 0, std::vector<double>(a.cols))));
  cuda(cudaGraphExecDestroy(replay));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
}

TEST_CASE("a GPU refuses A^T where there is none, and vectors of A's sizes with it", "[short]") {
  const CsrMatrix a = make_csr(3, 2, {{{0, 0}, 2.0}, {{2, 1}, 5.0}});
  const DeviceMatrix without = load_device(encoded(a, "csr", false)), with = load_device(encoded(a, "csr", true));
  const DeviceVector<double> three(3), two(2);
  const auto go = [](const DeviceMatrix& m, const DeviceVector<double>& x, const DeviceVector<double>& y) {
    try {
      m.multiply<double>(1, x.view(), 0, y.span(), {}, nullptr, describe<double>(Operation::transpose));
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  CHECK(!without.has_transpose());
  CHECK(go(without, three, two) == errc::usage);
  CHECK(go(with, three, two) == errc{});
  CHECK(go(with, two, three) == errc::usage);
}

TEST_CASE("the check on the device holds lists of A^T against A^T", "[short]") {
  const std::string golden = golden_directory();
  CHECK_NOTHROW(load_device(read_file(golden + "/accept/transpose_pjds.spmvc")));
  CHECK_THROWS_AS(load_device(read_file(golden + "/reject/transpose_row_map_beyond.spmvc")), Error);
  CHECK_THROWS_AS(load_device(read_file(golden + "/reject/transpose_column_beyond.spmvc")), Error);
}

}  // namespace spmvpack::test
