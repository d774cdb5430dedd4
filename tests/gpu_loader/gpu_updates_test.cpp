// New values for a matrix on a GPU: the bits of the matrix that is encoded with them. Part of gpu_test.

#include "catch.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "spmvpack/gpu_loader/device_assembly.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;

DeviceMatrix load_updatable(const std::vector<std::byte>& bytes) {
  DeviceLoadOptions options;
  options.threads = 4;
  options.updatable = true;
  return DeviceMatrix::load(open(bytes), nullptr, options);
}

std::vector<std::byte> with_transpose(const CsrMatrix& a, const Variant& variant) {
  const SourceMatrix source{clone(a), Field::real, Symmetry::general, {}};
  return encode(source, encoder::find_strategy(variant.layout),
                {.settings = variant.settings, .transpose = true, .threads = 2, .force_size = true})
      .bytes;
}

template <class T>
std::vector<T> product(const DeviceMatrix& a, Operation operation, std::string_view kernel) {
  MultiplyDescription d = by<T>(kernel);
  d.operation = operation;
  const bool transpose = operation == Operation::transpose;
  const DeviceVector<T> x(random_vector<T>(transpose ? a.facts().rows : a.facts().cols, 3)),
      y(transpose ? a.facts().cols : a.facts().rows);
  const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
  a.multiply<T>(1, x.view(), 0, y.span(), workspace.span(), nullptr, d);
  return y.get();
}

template <class T>
std::vector<T> values_of(const CsrMatrix& a) {
  const auto& values = std::get<Array<T>>(a.values);
  return {values.begin(), values.end()};
}

/// Other values in the same places; none is +0.
template <class T>
CsrMatrix with_other_values(const CsrMatrix& a, std::uint64_t seed) {
  CsrMatrix b = clone(a);
  const std::vector<T> random = random_vector<T>(a.nnz(), seed);
  auto& values = std::get<Array<T>>(b.values);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = random[k] == 0 ? T{1} : random[k];
  return b;
}

template <class A, class V>
void same_as_encoded(int& updated, int& refused) {
  for (const NamedMatrix& m : random_matrices<A>(43, 3)) {
    const CsrMatrix before = with_other_values<A>(m.matrix, 1), after = with_other_values<A>(m.matrix, 2);
    const DeviceVector<A> values(values_of<A>(after), 1);
    for (const Variant& variant : every_variant()) {
      if (!suits(before, variant) || !suits(transposed(before), variant)) continue;
      INFO(m.name << ", " << variant.name());
      const std::vector<std::byte> bytes = with_transpose(before, variant);
      std::optional<DeviceMatrix> a;
      try {
        a = load_updatable(bytes);
      } catch (const Error& e) {
        REQUIRE(e.code() == errc::unsupported);
        REQUIRE_THAT(e.what(), Catch::Contains("--updatable"));
        ++refused;
        continue;
      }
      ++updated;
      const DeviceMatrix copy = *a, expected = load_device(with_transpose(after, variant));
      a->update_values<A>(values.view(), nullptr);
      a->require_updated(nullptr);
      for (const auto& kernel : expected.kernels()) {
        if (kernel.determinism != gpu_loader::Determinism::bitwise) continue;
        for (const Operation operation : {Operation::none, Operation::transpose})
          if (operation == Operation::none || copy.has_transpose())  // a symmetric matrix has no parts of A^T
            REQUIRE(same_bits(product<V>(copy, operation, kernel.name), product<V>(expected, operation, kernel.name)));
      }
    }
  }
}

/// Captured updates and multiplies, replayed with other values.
void replay(const CsrMatrix& matrix, const Variant& variant) {
  const DeviceMatrix a = load_updatable(with_transpose(matrix, variant));
  DeviceVector<double> values(values_of<double>(matrix));
  const DeviceVector<double> x(random_vector<double>(matrix.cols, 3)), y(matrix.rows);
  const MultiplyDescription d = by<double>("");
  const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  a.update_values<double>(values.view(), stream);
  a.multiply<double>(1, x.view(), 0, y.span(), workspace.span(), stream, d);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&executable, graph, 0));
  for (const std::uint64_t seed : {5U, 6U}) {
    const CsrMatrix other = with_other_values<double>(matrix, seed);
    values.set(values_of<double>(other));
    cuda(cudaGraphLaunch(executable, stream));
    cuda(cudaStreamSynchronize(stream));
    REQUIRE(same_bits(y.get(), product<double>(load_device(with_transpose(other, variant)), Operation::none, "")));
  }
  cuda(cudaGraphExecDestroy(executable));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
}

}  // namespace

TEST_CASE("updates: new values give the bits of the matrix encoded with them, A^T as well", "[updates]") {
  int updated = 0, refused = 0;
  SECTION("f64") { same_as_encoded<double, double>(updated, refused); }
  SECTION("f32") { same_as_encoded<float, float>(updated, refused); }
  SECTION("mixed") { same_as_encoded<float, double>(updated, refused); }
  CHECK(updated > 300);
  CHECK(refused > 10);
}

TEST_CASE("updates: several parts, and sections that are on the device already", "[updates]") {
  for (const NamedMatrix& m : random_matrices<double>(47, 3)) {
    const CsrMatrix after = with_other_values<double>(m.matrix, 2);
    const Variant split{"split", {{"csell.values", "raw"}, {"bitflag.values", "raw"}}};
    INFO(m.name);
    const DeviceVector<double> values(values_of<double>(after));
    const Encoded file = encode(m.matrix, split.layout, split.settings);
    const DeviceMatrix a = load_updatable(file.bytes);
    const auto expected =
        product<double>(load_device(encode(after, split.layout, split.settings).bytes), Operation::none, "");
    a.update_values<double>(values.view(), nullptr);
    REQUIRE(same_bits(product<double>(a, Operation::none, ""), expected));
  }
}

/// An entry in each row, so that a product with ones shows its value.
template <class A>
void special_values(const std::vector<double>& special) {
  std::mt19937_64 rng(5);
  const CsrMatrix matrix = from_rows<A>(500, 700, rng, 3, [](std::uint64_t r) {
    return std::vector<std::uint32_t>{static_cast<std::uint32_t>(r * 37 % 700)};
  });
  std::vector<double> values(matrix.rows), expected;
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = special[k % special.size()];
  for (const double value : values) expected.push_back(static_cast<double>(static_cast<A>(value)));
  const DeviceVector<double> device(values);
  for (const char* const layout : {"csr", "coo", "ell", "sell", "csell", "bitflag"}) {
    INFO(layout);
    std::map<std::string, std::string> settings;
    if (layout == std::string("csell") || layout == std::string("bitflag"))
      settings[layout + std::string(".values")] = "raw";
    const DeviceMatrix a = load_updatable(encode(matrix, layout, settings).bytes);
    a.update_values<double>(device.view(), nullptr);
    const std::vector<double> y = multiply<double>(a, std::vector<double>(matrix.cols, 1), "");
    for (std::size_t r = 0; r < y.size(); ++r) {
      INFO(r);
      if (std::isnan(expected[r]))
        CHECK(std::isnan(y[r]));
      else
        CHECK(y[r] == expected[r]);
    }
  }
}

TEST_CASE("updates: NaN, infinities, denormals and stored zeros; f64 for an f32 matrix is rounded", "[updates]") {
  const std::vector<double> special{std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::infinity(),
                                    0.0,
                                    -0.0,
                                    std::numeric_limits<double>::denorm_min(),
                                    1e300,
                                    0.1};
  special_values<double>(special);
  special_values<float>(special);
}

TEST_CASE("updates: a captured one replays", "[updates]") {
  for (const NamedMatrix& m : random_matrices<double>(53, 3)) {
    INFO(m.name);
    const CsrMatrix matrix = with_other_values<double>(m.matrix, 1);
    for (const Variant& variant : {Variant{"csr", {}}, Variant{"csell", {{"csell.values", "raw"}}},
                                   Variant{"bitflag", {{"bitflag.values", "raw"}}}, Variant{"dia", {}}})
      if (suits(matrix, variant) && suits(transposed(matrix), variant)) replay(matrix, variant);
  }
}

TEST_CASE("updates: what would be another pattern is refused as a whole, and said once", "[updates]") {
  const CsrMatrix matrix = make_csr(3, 3, {{{0, 0}, 1}, {{1, 1}, 0}, {{1, 2}, 2}, {{2, 2}, 3}});
  const DeviceMatrix a = load_updatable(with_transpose(matrix, {"dia", {}}));
  const std::vector<double> x{1, 10, 100}, old{1, 200, 300};
  REQUIRE(multiply<double>(a, x, "") == old);
  for (const std::vector<double>& wrong : {std::vector<double>{5, 6, 7, 8}, std::vector<double>{0, 0, 7, 8}}) {
    a.update_values<double>(DeviceVector<double>(wrong).view(), nullptr);
    CHECK(multiply<double>(a, x, "") == old);
    CHECK_THROWS_WITH(a.require_updated(nullptr), Catch::Contains("refused"));
    CHECK_NOTHROW(a.require_updated(nullptr));
  }
  a.update_values<double>(DeviceVector<double>(std::vector<double>{5, 0, 7, 8}).view(), nullptr);
  a.require_updated(nullptr);
  CHECK(multiply<double>(a, x, "") == std::vector<double>{5, 700, 800});
}

TEST_CASE("updates: an assembly sums on the device with the bits of the host, and captured", "[updates]") {
  std::mt19937_64 rng(7);
  std::vector<std::int32_t> rows, cols;
  std::vector<double> list;
  for (std::size_t k = 0; k < 5000; ++k) {
    rows.push_back(static_cast<std::int32_t>(rng() % 70) - (k % 9 == 0 ? 60 : 0));
    cols.push_back(static_cast<std::int32_t>(rng() % 40) - (k % 7 == 0 ? 3 : 0));
    list.push_back(random_value<double>(rng, k % 50 == 0 ? 4 : 3));
  }
  const CsrMatrix pattern = [&] {
    Entries dense;
    for (std::uint32_t i = 0; i < 80; ++i)
      for (std::uint32_t j = 0; j < 40; ++j) dense[{i, j}] = 1;
    return make_csr(80, 40, dense);
  }();
  const auto map = AssemblyMap::of(pattern, std::span<const std::int32_t>(rows), std::span<const std::int32_t>(cols));
  const auto on_device = gpu_loader::DeviceAssembly::of(map);
  CHECK(on_device.nnz() == 3200);
  CHECK(on_device.allocated_bytes() == 4 * (3201 + map.first[3200]));
  const DeviceVector<double> given(list, 1);
  for (const InsertMode mode : {InsertMode::insert, InsertMode::add})
    for (const bool none : {false, true}) {
      std::vector<double> expected = random_vector<double>(3200, 8);
      const DeviceVector<double> values(expected, 1);
      const std::span<const double> from = none ? std::span<const double>() : std::span<const double>(list);
      map.sum(from, std::span<double>(expected), mode);
      on_device.sum<double>(none ? from : given.view(), values.span(), mode, nullptr);
      CHECK(same_bits(values.get(), expected));
    }
  CHECK_THROWS_WITH(on_device.sum<double>(given.view().first(3), given.span().first(3200), InsertMode::add, nullptr),
                    Catch::Contains("3 values for a list of 5000"));

  // From the list to a product, in a graph.
  const DeviceMatrix a = load_updatable(encode(pattern, "csell", {{"csell.values", "raw"}}).bytes);
  const DeviceVector<double> values(3200), x(random_vector<double>(40, 3)), y(80);
  const MultiplyDescription d = by<double>("");
  const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  on_device.sum<double>(given.view(), values.span(), InsertMode::insert, stream);
  a.update_values<double>(values.view(), stream);
  a.multiply<double>(1, x.view(), 0, y.span(), workspace.span(), stream, d);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphInstantiate(&executable, graph, 0));
  cuda(cudaGraphLaunch(executable, stream));
  cuda(cudaStreamSynchronize(stream));
  CsrMatrix summed = clone(pattern);
  map.sum(std::span<const double>(list), std::span<double>(std::get<Array<double>>(summed.values)));
  CHECK(same_bits(y.get(), product<double>(load_device(encode(summed, "csell", {{"csell.values", "raw"}}).bytes),
                                           Operation::none, "")));
  cuda(cudaGraphExecDestroy(executable));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
}

TEST_CASE("updates: what is written from a device is the container of the host", "[updates]") {
  for (const NamedMatrix& m : random_matrices<double>(59, 3)) {
    const CsrMatrix after = with_other_values<double>(m.matrix, 2);
    for (const Variant& variant : {Variant{"csr", {}}, Variant{"sell", {}}, Variant{"csell", {{"csell.values", "raw"}}},
                                   Variant{"bitflag", {{"bitflag.values", "raw"}}}}) {
      INFO(m.name << ", " << variant.name());
      const auto bytes = [&](const CsrMatrix& a) { return encode(a, variant.layout, variant.settings).bytes; };
      const DeviceMatrix a = load_updatable(bytes(m.matrix));
      a.update_values<double>(DeviceVector<double>(values_of<double>(after)).view(), nullptr);
      MemorySink sink;
      a.write(sink);

      const Container from_device = Container::open(memory_source(sink.take()), "memory"),
                      expected = open(bytes(after));
      CHECK(from_device.facts().digest == expected.facts().digest);
      for (std::size_t i = 0; i < expected.parts()[0].section_count; ++i) {
        CHECK(from_device.sections()[i].name == expected.sections()[i].name);
        const Array<std::byte> found = from_device.read_section(i), wanted = expected.read_section(i);
        CHECK(std::equal(found.begin(), found.end(), wanted.begin(), wanted.end()));
      }
      check_contents(from_device, {});
    }
  }
}

TEST_CASE("updates: errors before anything is launched", "[updates]") {
  const CsrMatrix matrix = make_csr(2, 2, {{{0, 0}, 1}, {{1, 1}, 2}});
  const DeviceVector<double> values(std::vector<double>{3, 4});
  const DeviceMatrix fixed = load_device(encode(matrix, "csr").bytes);
  CHECK_THROWS_WITH(fixed.update_values<double>(values.view(), nullptr), Catch::Contains("not loaded to be updated"));
  const DeviceMatrix a = load_updatable(encode(matrix, "csr").bytes);
  CHECK_THROWS_WITH(a.update_values<double>(values.view().first(1), nullptr),
                    Catch::Contains("1 values for 2 entries"));
  CHECK_THROWS_WITH(a.update_values<float>(DeviceVector<float>(2).view(), nullptr), Catch::Contains("f32 values"));
  CHECK(a.facts().symmetry == Symmetry::general);
}

}  // namespace spmvpack::test
