// Multiplies with D_r A D_c on a GPU: the bits of the plain multiply with x times factors, and sums times factors, in
// every order of X and Y; scalars in device memory, graphs, and factors that change. Part of gpu_test.

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "catch.hpp"
#include "columns.hpp"
#include "dealt.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceMatrix;
using gpu_loader::DeviceMultiplier;
using gpu_loader::Scalar;

/// Some rows without entries, and a full one.
template <class A>
std::vector<NamedMatrix> matrices_to_scale() {
  std::mt19937_64 rng(17);
  using Row = std::vector<std::uint32_t>;
  std::vector<NamedMatrix> all;
  all.push_back({"0 rows", from_rows<A>(0, 7, rng, 3, [](auto) { return Row{}; })});
  all.push_back({"0 columns", from_rows<A>(7, 0, rng, 3, [](auto) { return Row{}; })});
  all.push_back({"0 nonzeros", from_rows<A>(400, 9, rng, 3, [](auto) { return Row{}; })});
  all.push_back({"rows of any lengths", from_rows<A>(700, 930, rng, 3, [&](std::uint64_t r) {
                   Row row;
                   for (std::uint32_t c = 0; c < 930; ++c)
                     if (r == 5 || (r % 4 != 0 && rng() % 40 == 0)) row.push_back(c);
                   return row;
                 })});
  return all;
}

template <class A>
std::vector<std::byte> with_transpose(const CsrMatrix& a, const std::string& layout) {
  const encoder::EncodeRequest request{.strategy = layout, .transpose = true, .threads = 2, .force_size = true};
  if (layout == "parts") return encode({clone(a), Field::real, Symmetry::general, {}}, dealt(3), request).bytes;
  MemorySink sink;
  encoder::encode(a, request, sink);
  return bytes_of(sink);
}

template <class V>
std::vector<V> plain(const DeviceMatrix& a, Operation operation, V alpha, const std::vector<V>& x, V beta,
                     const std::vector<V>& y0) {
  const DeviceVector<V> device_x(x), y(y0);
  DeviceMultiplier(a, describe<V>(operation)).multiply<V>(alpha, device_x.view(), beta, y.span(), nullptr);
  return y.get();
}

template <class V>
std::vector<V> by_parts(const DeviceMatrix& a, Operation operation, const std::vector<V>& of_x,
                        const std::vector<V>& of_y, V alpha, const std::vector<V>& x, V beta, const std::vector<V>& y) {
  return with_factors<V>(of_y, of_x, alpha, x, beta, y,
                         [&](V factor, const std::vector<V>& of_a, V b, const std::vector<V>& before) {
                           return plain<V>(a, operation, factor, of_a, b, before);
                         });
}

template <class V>
void check_roundings(const DeviceMatrix& a, Operation operation, bool of_rows, bool of_columns) {
  const auto rows = random_vector<V>(of_rows ? a.facts().rows : 0, 3),
             columns = random_vector<V>(of_columns ? a.facts().cols : 0, 4);
  const DeviceVector<V> device_rows(rows, 1), device_columns(columns);
  const Scaling<V> scaling{device_rows.view(), device_columns.view()};
  const bool turned = operation != Operation::none;
  const std::uint64_t x_rows = turned ? a.facts().rows : a.facts().cols,
                      y_rows = turned ? a.facts().cols : a.facts().rows;
  for (const V beta : {V{0}, V(0.75)})
    for (const bool on_device : {false, true}) {
      const DeviceVector<V> scalars(std::vector<V>{V(-1.5), beta});
      const auto one = [&](const std::vector<V>& x, const std::vector<V>& y) {
        return by_parts<V>(a, operation, turned ? rows : columns, turned ? columns : rows, V(-1.5), x, beta, y);
      };
      const auto all = [&]<class W>(StoredColumns<W>& x, StoredColumns<W>& y) {
        MultiplyDescription d = describe<W>(operation);
        d.right_hand_sides *= x.cols;
        d.strided_x = d.strided_x || x.row_stride != 1;
        d.strided_y = d.strided_y || y.row_stride != 1;
        d.scaled_rows = of_rows;
        d.scaled_columns = of_columns;
        const DeviceVector<W> device_x(x.memory), device_y(y.memory);
        const std::uint64_t bytes = a.workspace_bytes(d);
        const DeviceVector<std::byte> workspace(bytes);
        const Scalar<V> alpha = on_device ? Scalar<V>::on_device(scalars.data()) : Scalar<V>(V(-1.5)),
                        b = on_device ? Scalar<V>::on_device(scalars.data() + 1) : Scalar<V>(beta);
        a.multiply<W>(alpha, x.at(static_cast<const W*>(device_x.data())), b, y.at(device_y.data()), workspace.span(),
                      nullptr, d, scaling);
        y.memory = device_y.get();
        x.memory = device_x.get();
      };
      const auto report = [&](bool same, std::size_t count, std::string_view in_x, std::string_view in_y) {
        if (same) return;
        INFO(count << " columns, X in " << in_x << ", Y in " << in_y << ", beta " << beta << ", on device "
                   << on_device);
        CHECK(same);
      };
      compare_columns<V>(x_rows, y_rows, one, all, report);
      compare_complex_columns<V>(x_rows, y_rows, one, all, report);
    }
}

template <class A, class V>
void check_roundings_of(const std::vector<std::string>& layouts) {
  for (const NamedMatrix& m : matrices_to_scale<A>())
    for (const std::string& layout : layouts) {
      INFO(m.name << ", " << layout << ", vectors of " << sizeof(V));
      const DeviceMatrix a = load_device(with_transpose<A>(m.matrix, layout));
      for (const Operation operation : {Operation::none, Operation::transpose})
        for (const int which : {1, 2, 3}) check_roundings<V>(a, operation, which != 1, which != 2);
    }
}

}  // namespace

TEST_CASE("a GPU multiplies with factors as by x times factors, the plain multiply, and sums times factors",
          "[short][scaling]") {
  check_roundings_of<double, double>({"csr", "csell", "bitflag", "sjds", "parts"});
  check_roundings_of<float, float>({"csell", "ccoo"});
  check_roundings_of<float, double>({"csr"});
}

TEST_CASE("a GPU and a host have the same bits with factors", "[short][scaling]") {
  const CsrMatrix a = clone(matrices_to_scale<double>().back().matrix);
  for (const char* const layout : {"csell", "bitflag", "sell"}) {
    const auto bytes = with_transpose<double>(a, layout);
    const auto r = random_vector<double>(a.rows, 1), c = random_vector<double>(a.cols, 2),
               x = random_vector<double>(a.cols, 3), y0 = random_vector<double>(a.rows, 4);
    std::vector<double> expected = y0;
    host_loader::HostMatrix::load(open(bytes)).multiply<double>(-2.5, x, 0.75, expected, 2, describe<double>(), {r, c});
    const DeviceVector<double> device_r(r), device_c(c), device_x(x), y(y0);
    MultiplyDescription d = describe<double>();
    d.scaled_rows = d.scaled_columns = true;
    DeviceMultiplier(load_device(bytes), d)
        .multiply<double>(-2.5, device_x.view(), 0.75, y.span(), nullptr, {device_r.view(), device_c.view()});
    INFO(layout);
    CHECK(same_bits(y.get(), expected));
  }
}

TEST_CASE("a graph of a multiply with factors follows scalars and factors that change, and reads nothing for 0",
          "[short][scaling]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const CsrMatrix matrix = clone(matrices_to_scale<double>().back().matrix);
  const DeviceMatrix a = load_device(with_transpose<double>(matrix, "csell"));
  const auto x = random_vector<double>(matrix.cols, 3), y0 = random_vector<double>(matrix.rows, 4);
  DeviceVector<double> r(matrix.rows), c(matrix.cols), y(y0), scalars(2);
  const DeviceVector<double> device_x(x);
  MultiplyDescription d = describe<double>();
  d.scaled_rows = d.scaled_columns = true;
  const DeviceMultiplier multiplier(a, d);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  multiplier.multiply<double>(Scalar<double>::on_device(scalars.data()), device_x.view(),
                              Scalar<double>::on_device(scalars.data() + 1), y.span(), stream, {r.view(), c.view()});
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&replay, graph, 0));
  const auto run = [&](double alpha, double beta, const std::vector<double>& of_rows,
                       const std::vector<double>& of_columns) {
    scalars.set({alpha, beta});
    r.set(of_rows);
    c.set(of_columns);
    y.set(y0);
    cuda(cudaGraphLaunch(replay, stream));
    cuda(cudaStreamSynchronize(stream));
    return y.get();
  };
  for (const std::uint64_t seed : {5U, 6U}) {
    const auto of_rows = random_vector<double>(matrix.rows, seed),
               of_columns = random_vector<double>(matrix.cols, seed);
    for (const double beta : {0.0, 0.75})
      CHECK(same_bits(run(-1.5, beta, of_rows, of_columns),
                      by_parts<double>(a, Operation::none, of_columns, of_rows, -1.5, x, beta, y0)));
  }
  std::vector<double> twice = y0;
  for (double& e : twice) e *= 2;
  const std::vector<double> nan_rows(matrix.rows, nan), nan_columns(matrix.cols, nan);
  CHECK(same_bits(run(0, 2, nan_rows, nan_columns), twice));
  // Known to be 0: nothing is launched that reads factors, and less workspace does.
  y.set(y0);
  a.multiply<double>(0, device_x.view(), 2, y.span(), {}, stream, describe<double>(), {r.view(), c.view()});
  cuda(cudaStreamSynchronize(stream));
  CHECK(same_bits(y.get(), twice));
  cuda(cudaGraphExecDestroy(replay));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
}

TEST_CASE("factors that do not fit, and a workspace without room for them, are refused before anything is launched",
          "[short][scaling]") {
  const CsrMatrix matrix = clone(matrices_to_scale<double>().back().matrix);
  const DeviceMatrix a = load_device(with_transpose<double>(matrix, "csell"));
  const DeviceVector<double> x(matrix.cols), y(matrix.rows), rows(matrix.rows), columns(matrix.cols);
  MultiplyDescription d = describe<double>();
  const std::uint64_t least = a.workspace_bytes(d);
  d.scaled_columns = true;
  CHECK(a.workspace_bytes(d) == least + round_up(matrix.cols * 8, 256));
  d.scaled_rows = true;
  CHECK(a.workspace_bytes(d) == least + round_up(matrix.cols * 8, 256) + round_up(matrix.rows * 8, 256) + 256);
  const std::uint64_t needed = a.workspace_bytes(d);
  const DeviceVector<std::byte> workspace(needed);
  const auto refused = [&](const Scaling<double>& scaling, std::size_t bytes) {
    try {
      a.multiply<double>(1, x.view(), 0, y.span(), workspace.span().first(bytes), nullptr, d, scaling);
      return false;
    } catch (const Error& e) {
      return e.code() == errc::usage;
    }
  };
  CHECK(!refused({rows.view(), columns.view()}, needed));
  CHECK(refused({rows.view(), columns.view()}, needed - 1));
  CHECK(refused({columns.view(), {}}, needed));
  CHECK(refused({{}, rows.view()}, needed));
  CHECK(refused({y.view(), {}}, needed));
  const auto* const in_workspace = reinterpret_cast<const double*>(workspace.data());
  CHECK(refused({{in_workspace, matrix.rows}, {}}, needed));
  CHECK(
      refused({{reinterpret_cast<const double*>(reinterpret_cast<const std::byte*>(rows.data()) + 4), matrix.rows}, {}},
              needed));
  CHECK(refused({{static_cast<const double*>(nullptr), matrix.rows}, {}}, needed));
  cuda(cudaDeviceSynchronize());
}

}  // namespace spmvpack::test
