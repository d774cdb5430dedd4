// Encoding by the passes of gpu_encoder, on the host: every section has the bytes that encoder gives it.

#include "catch.hpp"
#include "layouts/bitflag.hpp"
#include "layouts/csr.hpp"
#include "layouts/ell.hpp"
#include "layouts/sell.hpp"
#include "matrices.hpp"
#include "on_host.hpp"
#include "requests.hpp"
#include "spmvpack/encoder/time_model.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using gpu_encoder::DeviceCsr;
using gpu_encoder::DeviceEncodeRequest;
using gpu_encoder::EncodedMatrix;

/// What encoding the arrays says; empty: nothing. Whatever it says, nothing is left.
template <class Pointer>
std::string refusal(std::uint64_t cols, const std::vector<Pointer>& row_ptr, const std::vector<std::int32_t>& col_idx,
                    bool sort = false) {
  const std::vector<double> values(col_idx.size(), 1);
  HostArena arena;
  DeviceEncodeRequest request{.strategy = "csr", .sort = sort};
  std::string text;
  try {
    encode_on_host(arena,
                   DeviceCsr(row_ptr.size() - 1, cols, col_idx.size(), row_ptr.data(), col_idx.data(), values.data()),
                   request);
  } catch (const Error& e) {
    CHECK(e.code() == errc::bad_input);
    text = e.what();
  }
  CHECK(arena.live() == 0);
  return text;
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

/// Another order of the entries of each row.
CsrMatrix shuffled(const CsrMatrix& a, std::uint64_t seed) {
  CsrMatrix b = clone(a);
  std::mt19937_64 rng(seed);
  auto& values = std::get<Array<double>>(b.values);
  for (std::uint64_t r = 0; r < b.rows; ++r)
    for (std::uint64_t k = b.row_ptr[r + 1]; k > b.row_ptr[r] + 1; --k) {
      const std::uint64_t other = b.row_ptr[r] + rng() % (k - b.row_ptr[r]);
      std::swap(b.col_idx[k - 1], b.col_idx[other]);
      std::swap(values[k - 1], values[other]);
    }
  return b;
}

}  // namespace

TEMPLATE_TEST_CASE("passes make the bytes of the host's encoder", "", double, float) {
  for (const NamedMatrix& m : random_matrices<TestType>(29, 4))
    for (const DeviceEncodeRequest& request : encode_requests()) {
      if (request.strategy == "csell") continue;                         // has cases of its own
      if (sizeof(TestType) == 4 && !request.settings.empty()) continue;  // the same passes over other values
      INFO(name_of(request) << ", " << m.name);
      CHECK(compared(m.matrix, request).empty());
    }
}

TEST_CASE("the transpose has the bytes of the host's encoder") {
  for (const NamedMatrix& m : random_matrices<double>(30, 4)) {
    INFO(m.name);
    CHECK(compared(m.matrix, {.strategy = "csr", .transpose = true}).empty());
  }
}

TEST_CASE("bitflag takes the segments that suit a device, as the host does") {
  std::mt19937_64 rng(4);
  auto profile = std::make_shared<encoder::Profile>(encoder::default_profile(encoder::Target::gpu));
  profile->device.small_entries = 1000;
  profile->device.segment_columns = 500;
  profile->device.multiprocessors = 4;
  const CsrMatrix a = from_rows<double>(60, 3000, rng, 1, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row(r % 7 == 0 ? 0 : 200);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 3000);
    return row;
  });
  const DeviceEncodeRequest request{.strategy = "bitflag", .aim = {.profile = profile}};
  CHECK(compared(a, request).empty());
  CHECK(layouts::bitflag::segments_of(open(encoded_by_host(a, request)).parts()[0]) > 1);
}

TEST_CASE("symmetric and skew matrices need no transpose") {
  const CsrMatrix symmetric = make_csr(3, 3, {{{0, 0}, 1.0}, {{0, 2}, -0.0}, {{2, 0}, -0.0}}),
                  skew = make_csr(3, 3, {{{0, 2}, 0.0}, {{2, 0}, -0.0}}),
                  general = make_csr(3, 3, {{{0, 0}, 1.0}, {{0, 2}, 0.0}, {{2, 0}, -0.0}});
  for (const CsrMatrix* a : {&symmetric, &skew, &general})
    for (const bool updatable : {false, true})
      CHECK(compared(*a, {.strategy = "csr", .transpose = true, .updatable = updatable}).empty());
  HostArena arena;
  CHECK(encode_on_host(arena, device_csr(symmetric), {.strategy = "csr", .transpose = true}).facts.found ==
        Symmetry::symmetric);
  CHECK(encode_on_host(arena, device_csr(skew), {.strategy = "csr", .transpose = true}).facts.found ==
        Symmetry::skew_symmetric);
}

TEST_CASE("a matrix that is none is refused by its row") {
  using Wide = std::vector<std::int64_t>;
  using Narrow = std::vector<std::int32_t>;
  CHECK(refusal(4, Wide{0, 2, 3}, {1, 3, 0}).empty());
  CHECK_THAT(refusal(4, Wide{1, 2, 3}, {1, 3, 0}), Catch::Contains("row_ptr[0] is 1, expected 0"));
  CHECK_THAT(refusal(4, Narrow{0, 2, -3}, {1, 3, 0}),
             Catch::Contains("row_ptr[2] is -3 (4294967293 if unsigned), expected the 3 nonzeros"));
  CHECK_THAT(refusal(4, Wide{0, 3, 2, 3}, {1, 2, 3}),
             Catch::Contains("row 1: row pointers 3 and 2 are not increasing"));
  CHECK_THAT(refusal(4, Wide{0, -1, 3}, {1, 2, 3}), Catch::Contains("row 0: row pointers 0 and -1"));
  CHECK_THAT(refusal(4, Wide{0, 1LL << 40, 3}, {1, 2, 3}), Catch::Contains("row 0: row pointers 0 and 1099511627776"));
  CHECK_THAT(refusal(4, Narrow{0, 2, 3}, {1, 3, 4}), Catch::Contains("row 1: column 4 of a matrix with 4 columns"));
  CHECK_THAT(refusal(4, Wide{0, 2, 3}, {1, -3, 0}, true), Catch::Contains("row 0: column -3"));
  CHECK_THAT(refusal(4, Wide{0, 1, 1, 3}, {3, 2, 1}), Catch::Contains("row 2: column 1 after column 2"));
  CHECK_THAT(refusal(4, Wide{0, 1, 1, 3}, {3, 2, 1}), Catch::Contains("set sort"));
  CHECK(refusal(4, Wide{0, 1, 1, 3}, {3, 2, 1}, true).empty());
  CHECK_THAT(refusal(4, Narrow{0, 1, 1, 4}, {3, 2, 1, 2}, true), Catch::Contains("row 2: column 2 after column 2"));
  CHECK_THAT(refusal(0, Wide{0, 1}, {0}), Catch::Contains("column 0 of a matrix with 0 columns"));
}

TEST_CASE("columns are sorted if asked, with the values they had") {
  for (const NamedMatrix& m : random_matrices<double>(3, 4)) {
    INFO(m.name);
    HostArena arena;
    const CsrMatrix other = shuffled(m.matrix, 1);
    const EncodedMatrix sorted = encode_on_host(arena, device_csr(other), {.strategy = "csr", .sort = true});
    CHECK(difference(sorted.parts, open(encode(m.matrix, "csr").bytes)).empty());
  }
}

TEST_CASE("what only the host plans is refused before anything is allocated") {
  const CsrMatrix a = make_csr(2, 2, {{{0, 0}, 1.0}});
  HostArena arena;
  const auto code = [&](const DeviceEncodeRequest& request) {
    return code_of([&] { encode_on_host(arena, device_csr(a), request); });
  };
  CHECK(code({.strategy = "pkt"}) == errc::unsupported);
  CHECK(code({.settings = {{"ccoo.k", "4"}}}) == errc::unsupported);
  CHECK(code({.strategy = "nothing"}) == errc::usage);
  CHECK(code({.strategy = "sell", .settings = {{"csell.values", "raw"}}}) == errc::usage);
  CHECK(code({.strategy = "csr", .aim = {.target = encoder::Target::host}}) == errc::unsupported);
  DeviceCsr null = device_csr(a);
  null.values = nullptr;
  CHECK(code_of([&] { encode_on_host(arena, null, {.strategy = "csr"}); }) == errc::usage);
  DeviceCsr large = device_csr(a);
  large.cols = max_dimension;
  CHECK(code_of([&] { encode_on_host(arena, large, {.strategy = "csr"}); }) == errc::unsupported);
  CHECK(arena.allocations() == 0);
  CHECK(code({.strategy = "sell", .settings = {{"sell.c", "0"}}}) == errc::usage);
  CHECK(arena.live() == 0);
}

TEST_CASE("an allocation that fails, and a limit, leave nothing") {
  std::mt19937_64 rng(7);
  const CsrMatrix a = from_rows<double>(300, 400, rng, 3, [&](std::uint64_t) {
    std::vector<std::uint32_t> row(rng() % 9);
    for (std::uint32_t& c : row) c = static_cast<std::uint32_t>(rng() % 400);
    return row;
  });
  for (DeviceEncodeRequest request : encode_requests()) {
    if (encoded_by_host(a, request).empty()) continue;
    request.transpose = true;
    INFO(name_of(request));
    HostArena whole;
    std::uint64_t peak = 0;
    encode_on_host(whole, device_csr(a), request, &peak);
    request.memory_limit = peak;
    encode_on_host(whole, device_csr(a), request);
    request.memory_limit = peak - 1;
    CHECK(code_of([&] { encode_on_host(whole, device_csr(a), request); }) == errc::out_of_memory);
    CHECK(whole.live() == 0);
    request.memory_limit = 0;
    for (std::uint64_t i = 0; i < whole.allocations() / 2; ++i) {
      HostArena arena(i);
      const errc code = code_of([&] { encode_on_host(arena, device_csr(a), request); });
      CHECK((code == errc::out_of_memory || i >= arena.allocations()));
      CHECK(arena.live() == 0);
    }
  }
}

TEST_CASE("memory waits for passes that still use it") {
  HostArena arena;
  gpu_encoder::MemorySource source = arena.source();
  int settled = 0;
  source.settle = [&] { ++settled; };
  std::shared_ptr<void> kept;
  {
    gpu_encoder::Memory memory(source, 0);
    kept = memory.get(10, gpu_encoder::Memory::Use::kept);
    memory.get(20, gpu_encoder::Memory::Use::scratch).reset();
    CHECK(arena.live() == 2);
    CHECK(memory.held() == 30);
    memory.get(5, gpu_encoder::Memory::Use::scratch).reset();
    CHECK(settled == 1);
    CHECK(memory.peak() == 30);
  }
  CHECK(settled == 2);
  CHECK(arena.live() == 1);
  kept.reset();
  CHECK(arena.live() == 0);
}

}  // namespace spmvpack::test
