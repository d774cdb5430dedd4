// Encoding on a GPU: the sums of the matrix that the host encodes and a GPU loads, and the bytes of its sections. Part
// of gpu_test.

#include "catch.hpp"
#include "containers.hpp"
#include "csell_cases.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "requests.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"

namespace spmvpack::test {
namespace {

using gpu_encoder::DeviceCsr;
using gpu_encoder::DeviceEncoded;
using gpu_encoder::DeviceEncodeRequest;
using gpu_loader::DeviceMatrix;

/// A matrix in device memory.
template <class T, class Pointer>
class OnGpu {
 public:
  explicit OnGpu(const CsrMatrix& a)
      : rows_(a.rows),
        cols_(a.cols),
        row_ptr_(std::vector<Pointer>(a.row_ptr.begin(), a.row_ptr.end())),
        col_idx_(std::vector<std::uint32_t>(a.col_idx.begin(), a.col_idx.end())),
        values_(std::vector<T>(std::get<Array<T>>(a.values).begin(), std::get<Array<T>>(a.values).end())) {}
  [[nodiscard]] DeviceCsr csr() const {
    return {rows_, cols_, col_idx_.get().size(), row_ptr_.data(), col_idx_.data(), values_.data()};
  }
  [[nodiscard]] const DeviceVector<std::uint32_t>& columns() const { return col_idx_; }
  [[nodiscard]] const DeviceVector<Pointer>& pointers() const { return row_ptr_; }

 private:
  std::uint64_t rows_, cols_;
  DeviceVector<Pointer> row_ptr_;
  DeviceVector<std::uint32_t> col_idx_;
  DeviceVector<T> values_;
};

/// Device memory of a caller: what lives, how much there was, and which allocation finds none.
struct CountingAllocator {
  std::uint64_t live = 0, allocations = 0, fails = ~std::uint64_t{0};
  std::vector<std::pair<void*, std::uint64_t>> blocks = {};  ///< that live, in the order in which they were allocated

  [[nodiscard]] gpu_loader::DeviceAllocator allocator() {
    return {[this](std::uint64_t bytes) -> void* {
              if (allocations++ == fails) return nullptr;
              void* memory = nullptr;
              cuda(cudaMalloc(&memory, bytes));
              cuda(cudaMemset(memory, 0xA5, bytes));
              cuda(cudaDeviceSynchronize());
              blocks.emplace_back(memory, bytes);
              ++live;
              return memory;
            },
            [this](void* memory) {
              blocks.erase(std::find_if(blocks.begin(), blocks.end(), [&](auto& b) { return b.first == memory; }));
              --live;
              cudaFree(memory);
            }};
  }
};

/// The bytes of all sections of a container that are not empty, in order.
std::vector<std::vector<std::byte>> sections_of(const Container& c) {
  std::vector<std::vector<std::byte>> all;
  for (std::size_t s = 0; s < c.sections().size(); ++s) {
    if (c.sections()[s].part == format::no_part || c.sections()[s].raw_bytes == 0) continue;
    const auto bytes = c.read_section(s);
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

/// What encoder makes of the matrix; empty: it refuses it.
std::vector<std::byte> encoded_by_host(const CsrMatrix& a, const DeviceEncodeRequest& request) {
  encoder::EncodeRequest same;
  same.strategy = request.strategy;
  same.settings = request.settings;
  same.transpose = request.transpose;
  MemorySink sink;
  try {
    encoder::encode(a.view(), same, sink);
  } catch (const Error& e) {
    if (e.code() != errc::unsupported) throw;
    return {};
  }
  return bytes_of(sink);
}

template <class T>
std::vector<T> product(const DeviceMatrix& a, Operation operation) {
  MultiplyDescription d = by<T>("");
  d.operation = operation;
  const bool transpose = operation == Operation::transpose;
  const DeviceVector<T> x(random_vector<T>(transpose ? a.facts().rows : a.facts().cols, 3)),
      y(transpose ? a.facts().cols : a.facts().rows);
  const DeviceVector<std::byte> workspace(a.workspace_bytes(d));
  a.multiply<T>(1, x.view(), 0, y.span(), workspace.span(), nullptr, d);
  return y.get();
}

template <class F>
errc code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return errc{};
}

template <class T, class Pointer>
void same_as_host(int values) {
  for (const NamedMatrix& m : random_matrices<T>(31, values)) {
    const OnGpu<T, Pointer> a(m.matrix);
    for (DeviceEncodeRequest request : encode_requests())
      for (const bool transpose : {false, true}) {
        request.transpose = transpose;
        INFO(m.name << ", " << name_of(request));
        const std::vector<std::byte> file = encoded_by_host(m.matrix, request);
        CountingAllocator memory;
        request.allocator = memory.allocator();
        if (file.empty()) {
          CHECK(code_of([&] { encode_on_device(a.csr(), request); }) == errc::unsupported);
          CHECK(memory.live == 0);
          continue;
        }
        {
          const DeviceEncoded encoded = encode_on_device(a.csr(), request);
          // The sections are the first that are left, in order; what loading prepares comes after them.
          const auto sections = sections_of(open(file));
          REQUIRE(memory.blocks.size() >= sections.size());
          for (std::size_t s = 0; s < sections.size(); ++s) {
            const auto [block, bytes] = memory.blocks[s];
            std::vector<std::byte> made(bytes);
            cuda(cudaMemcpy(made.data(), block, bytes, cudaMemcpyDeviceToHost));
            REQUIRE(made == sections[s]);
          }
          CHECK(encoded.peak_bytes >= encoded.section_bytes);
          if (values != 4) {
            const DeviceMatrix expected = load_device(file);
            CHECK(product<T>(encoded.matrix, Operation::none) == product<T>(expected, Operation::none));
            CHECK(encoded.matrix.has_transpose() >= transpose);
            if (transpose)
              CHECK(product<T>(encoded.matrix, Operation::transpose) == product<T>(expected, Operation::transpose));
          }
        }
        CHECK(memory.live == 0);
      }
  }
}

}  // namespace

TEST_CASE("encoding on a GPU makes the bytes of the host", "[gpu_encoder]") {
  same_as_host<double, std::uint64_t>(3);
  same_as_host<double, std::int32_t>(4);
  same_as_host<float, std::uint32_t>(2);
}

TEST_CASE("encoding csell on a GPU takes every path of the layout", "[gpu_encoder]") {
  for (const CsellCase& c : csell_cases<double>()) {
    if (c.values == "mirror" || c.values == "skew") continue;  // for the host
    INFO(c.name << ", " << c.values);
    const OnGpu<double, std::uint64_t> a(c.matrix);
    CountingAllocator memory;
    const DeviceEncodeRequest request{
        .strategy = "csell", .settings = {{"csell.values", c.values}}, .allocator = memory.allocator()};
    const std::vector<std::byte> file = encoded_by_host(c.matrix, request);
    const DeviceEncoded encoded = encode_on_device(a.csr(), request);
    const auto sections = sections_of(open(file));
    REQUIRE(memory.blocks.size() >= sections.size());
    for (std::size_t s = 0; s < sections.size(); ++s) {
      std::vector<std::byte> made(memory.blocks[s].second);
      cuda(cudaMemcpy(made.data(), memory.blocks[s].first, made.size(), cudaMemcpyDeviceToHost));
      CHECK(made == sections[s]);
    }
    CHECK(product<double>(encoded.matrix, Operation::none) == product<double>(load_device(file), Operation::none));
  }
}

TEST_CASE("auto on a GPU predicts what encoder does, and makes the bytes of the host", "[gpu_encoder]") {
  auto profile = std::make_shared<encoder::Profile>(encoder::default_profile(encoder::Target::gpu));
  profile->device.multiprocessors = 1;
  profile->device.small_entries = 1000;
  profile->x_caches = {2000, 1200, 500};
  for (const bool tiny : {false, true})
    for (const int values : {0, 1, 4})
      for (const NamedMatrix& m : random_matrices<double>(36, values)) {
        INFO(m.name << ", values " << values << ", tiny " << tiny);
        const OnGpu<double, std::uint64_t> a(m.matrix);
        CountingAllocator memory;
        DeviceEncodeRequest request{.allocator = memory.allocator()};
        if (tiny) request.aim.profile = profile;
        {
          const DeviceEncoded encoded = encode_on_device(a.csr(), request);
          REQUIRE(encoded.choices.size() == 1);
          DeviceEncodeRequest named = request;
          named.strategy = encoded.choices[0].layout;
          const encoder::Strategy& strategy = encoder::find_strategy(named.strategy);
          encoder::PlanOptions options;
          options.aim = request.aim;
          const encoder::XSectors x = encoder::x_sectors(m.matrix, 0, encoder::profile_of(request.aim).x_caches);
          const encoder::Weighed weighed = encoder::weigh(strategy, m.matrix, options, x);
          if (named.strategy != "csell" ||
              !layouts::csell::has_mirrors(layouts::csell::source_of(weighed.asked_for.plan.parts[0].info)))
            CHECK(*encoded.choices[0].seconds == weighed.candidate.seconds);
          CountingAllocator other;
          named.allocator = other.allocator();
          const DeviceEncoded expected = encode_on_device(a.csr(), named);
          MemorySink chosen, by_name;
          encoded.matrix.write(chosen);
          expected.matrix.write(by_name);
          CHECK(bytes_of(chosen) == bytes_of(by_name));
        }
        CHECK(memory.live == 0);
      }
}

TEST_CASE("encoding on a GPU takes CUDA's memory, and another stream", "[gpu_encoder]") {
  const CsrMatrix m = clone(random_matrices<double>(5, 3)[12].matrix);
  const OnGpu<double, std::uint64_t> a(m);
  cudaStream_t stream = nullptr;
  cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const DeviceEncodeRequest& request : encode_requests()) {
    INFO(name_of(request));
    const std::vector<std::byte> file = encoded_by_host(m, request);
    if (file.empty()) continue;
    const DeviceEncoded encoded = encode_on_device(a.csr(), request, stream);
    CHECK(product<double>(encoded.matrix, Operation::none) == product<double>(load_device(file), Operation::none));
  }
  cuda(cudaStreamDestroy(stream));
}

TEST_CASE("encoding on a GPU that fails leaves nothing", "[gpu_encoder]") {
  const CsrMatrix m = clone(random_matrices<double>(7, 3)[11].matrix);
  const OnGpu<double, std::uint32_t> a(m);
  for (DeviceEncodeRequest request : encode_requests()) {
    request.transpose = true;
    if (encoded_by_host(m, request).empty()) continue;
    CountingAllocator all;
    request.allocator = all.allocator();
    std::uint64_t peak = 0;
    { peak = encode_on_device(a.csr(), request).peak_bytes; }
    REQUIRE(all.live == 0);
    for (std::uint64_t limit = 1; limit < peak; limit += peak / 20 + 1) {
      INFO(name_of(request) << ", a limit of " << limit << " bytes of " << peak);
      CountingAllocator memory;
      request.allocator = memory.allocator();
      request.memory_limit = limit;
      CHECK(code_of([&] { encode_on_device(a.csr(), request); }) == errc::out_of_memory);
      CHECK(memory.live == 0);
    }
    request.memory_limit = 0;
    for (std::uint64_t i = 0; i < all.allocations; ++i) {
      INFO(name_of(request) << ", allocation " << i);
      CountingAllocator memory;
      memory.fails = i;
      request.allocator = memory.allocator();
      CHECK(code_of([&] { encode_on_device(a.csr(), request); }) == errc::out_of_memory);
      CHECK(memory.live == 0);
    }
  }
}

TEST_CASE("encoding on a GPU refuses a stream in capture, and a matrix that is none", "[gpu_encoder]") {
  const CsrMatrix m = make_csr(2, 4, {{{0, 1}, 1.0}, {{0, 3}, 2.0}, {{1, 0}, 3.0}});
  const OnGpu<double, std::uint64_t> a(m);
  const DeviceCsr csr = a.csr();
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CountingAllocator memory;
  for (const DeviceEncodeRequest& request : encode_requests()) {
    DeviceEncodeRequest counted = request;
    counted.allocator = memory.allocator();
    CHECK(code_of([&] { encode_on_device(csr, counted, stream); }) == errc::usage);
  }
  CHECK(memory.allocations == 0);
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
  CsrMatrix unsorted = clone(m);
  std::swap(unsorted.col_idx[0], unsorted.col_idx[1]);
  const OnGpu<double, std::uint64_t> b(unsorted);
  CHECK(code_of([&] { encode_on_device(b.csr(), {.strategy = "csr"}); }) == errc::bad_input);
  std::swap(std::get<Array<double>>(unsorted.values)[0], std::get<Array<double>>(unsorted.values)[1]);
  const OnGpu<double, std::uint64_t> c(unsorted);
  const DeviceEncoded sorted = encode_on_device(c.csr(), {.strategy = "ell", .sort = true});
  CHECK(product<double>(sorted.matrix, Operation::none) ==
        product<double>(load_device(encode(m, "ell").bytes), Operation::none));
}

}  // namespace spmvpack::test
