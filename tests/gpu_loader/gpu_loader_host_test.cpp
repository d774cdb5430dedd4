// What the GPU loader decides without a device: placement, transfers, names of kernels, arguments.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "arguments.hpp"
#include "catch.hpp"
#include "device_facts.hpp"
#include "placement.hpp"
#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/gpu_loader/timing.hpp"
#include "usable_gpu.hpp"

namespace spmvpack::gpu_loader {
namespace {

SectionInfo section(const std::string& name, std::uint64_t raw_bytes, std::uint32_t part = 0,
                    std::uint8_t flags = format::section_required | format::section_device) {
  SectionInfo s;
  s.name = name;
  s.part = part;
  s.flags = flags;
  s.known = true;
  s.raw_bytes = raw_bytes;
  s.block_count = div_up(raw_bytes, format::block_bytes);
  return s;
}

errc code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return errc{};
}

/// An address that nobody follows.
const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

TEST_CASE("kernels are launched early only where the code that runs waits for the one before") {
  CHECK(code_can_wait({800, 900}, 900));
  CHECK(code_can_wait({900}, 900));
  CHECK(code_can_wait({800, 900, 1000, 1200}, 1210));
  CHECK(!code_can_wait({800}, 900));        // PTX of Ampere on Hopper
  CHECK(!code_can_wait({800, 900}, 1000));  // or of Hopper on Blackwell: it may as well be Ampere's
  CHECK(!code_can_wait({800, 900, 1030}, 1000));
  CHECK(!code_can_wait({800, 860}, 860));
  CHECK(!code_can_wait({800, 900}, 890));
}

TEST_CASE("a GPU that a build has no code for is told both, and what to do") {
  const std::string image = "no kernel image is available for execution on the device";
  const Error newer = no_code_error("NVIDIA H100", 9, 0, "12.0 and PTX", image);
  CHECK(newer.code() == errc::no_device);
  CHECK(std::string(newer.what()) ==
        "NVIDIA H100 has compute capability 9.0, and this build has code for 12.0 and PTX (" + image +
            "); build spmvpack on this machine, or with "
            "-DCMAKE_CUDA_ARCHITECTURES=90");
  const Error older = no_code_error("Tesla T4", 7, 5, "8.0, 9.0 and PTX", image);
  CHECK(older.message() ==
        "Tesla T4 has compute capability 7.5, and this build has code for 8.0, 9.0 and PTX (" + image + ")");
  CHECK(older.remedy() == "use a GPU of compute capability 8.0 or newer");
}

TEST_CASE("a build knows what GPUs it has code for") {
  if (built_with_cuda()) {
    CHECK(built_for().find_first_of("0123456789") != std::string_view::npos);
  } else {
    CHECK(built_for().empty());
    CHECK_THROWS_AS(require_device_code(), Error);
  }
}

TEST_CASE("sections are placed on 256-byte boundaries, beyond 2^32 too; host-only ones are not") {
  const std::uint64_t large = (std::uint64_t{5} << 32) + 7;
  const std::vector<SectionInfo> sections{section("row_ptr", 12),      section("col_idx", large),
                                          section("extra", 100, 0, 0), section("row_map", 40, 0),
                                          section("values", 8),        section("provenance", 50, format::no_part, 0)};
  const Placement p = place(sections);
  REQUIRE(p.sections.size() == 4);
  CHECK(p.sections[0].offset == 0);
  CHECK(p.sections[1].offset == 256);
  CHECK(p.sections[2].section == 3);
  CHECK(p.sections[2].offset == (std::uint64_t{5} << 32) + 512);
  CHECK(p.sections[3].offset == (std::uint64_t{5} << 32) + 768);
  CHECK(p.bytes == (std::uint64_t{5} << 32) + 776);
  CHECK(code_of([&] {
          place(std::vector{section("a", ~std::uint64_t{0} - 100), section("b", 1)});
        }) == errc::unsupported);

  // The transfers are the sections, each byte once and in order.
  for (const std::uint64_t blocks : {1U, 2U, 7U}) {
    const auto all = transfers(sections, p, blocks);
    std::size_t next = 0;
    for (const Placed& placed : p.sections) {
      std::uint64_t done = 0;
      for (; next < all.size() && all[next].section == placed.section; ++next) {
        const Transfer& t = all[next];
        REQUIRE(t.block * format::block_bytes == done);
        REQUIRE(t.to == placed.offset + done);
        REQUIRE(t.bytes <= blocks * format::block_bytes);
        done += t.bytes;
      }
      REQUIRE(done == sections[placed.section].raw_bytes);
    }
    CHECK(next == all.size());
  }
}

TEST_CASE("a ring stays within its bytes and has slots for each thread, as many as the others'") {
  constexpr std::uint64_t mib = format::block_bytes;
  for (const std::uint64_t bytes : {std::uint64_t{0}, mib - 1, mib, 2 * mib, 3 * mib, 17 * mib, 64 * mib, 1024 * mib})
    for (const int threads : {1, 2, 3, 16, 17, 64, 500})
      for (const std::uint64_t blocks : {1U, 2U, 5U, 100U, 100000U})
        for (const bool inflate : {false, true}) {
          const RingShape shape = ring_shape(bytes, threads, blocks, inflate);
          REQUIRE(shape.threads >= 1);
          REQUIRE(shape.threads <= threads);
          REQUIRE(shape.slots >= static_cast<std::uint64_t>(shape.threads));
          REQUIRE(shape.slots % static_cast<std::uint64_t>(shape.threads) == 0);
          REQUIRE(shape.slot_blocks >= 1);
          REQUIRE(shape.slots * shape.slot_blocks * mib <= std::max(bytes, mib));
          REQUIRE(shape.slots <= 2 * blocks);
        }
  // Measured in docs/notebook/GPU.md, "Loading: what made the difference": 16 threads, two slots of 2 MiB each.
  const RingShape shape = ring_shape(64 * mib, 16, 1000, false);
  CHECK(shape.threads == 16);
  CHECK(shape.slots == 32);
  CHECK(shape.slot_blocks == 2);
  CHECK(ring_shape(64 * mib, 64, 1000, false).threads == 16);
  CHECK(ring_shape(64 * mib, 64, 1000, true).threads == 64);
}

TEST_CASE("kernels have names, of their layout, and ids that differ") {
  std::vector<std::uint32_t> ids{KernelId{}.value};
  for (const Layout* const layout : layouts_known()) {
    const auto all = kernels(layout->name);
    INFO(layout->name);
    REQUIRE(!all.empty());
    for (const KernelInfo& kernel : all) {
      CHECK(kernel.layout == layout->name);
      CHECK(kernel.name.substr(0, layout->name.size() + 1) == std::string(layout->name) + '/');
      const KernelId id = find_kernel(kernel.name);
      CHECK(kernel_name(id) == kernel.name);
      CHECK(std::find(ids.begin(), ids.end(), id.value) == ids.end());
      ids.push_back(id.value);
    }
  }
  CHECK(kernels("no such layout").empty());
  CHECK(kernel_name({}) == "default");
  CHECK(code_of([] { static_cast<void>(kernel_name({~0U})); }) == errc::usage);
  const std::uint32_t last = *std::max_element(ids.begin(), ids.end());
  CHECK(code_of([&] { static_cast<void>(kernel_name({last + 1})); }) == errc::usage);
  for (const char* const name : {"", "vector", "csr", "csr/", "csr/vectors", "coo/vector", "default"})
    CHECK(code_of([&] { static_cast<void>(find_kernel(name)); }) == errc::usage);
  try {
    static_cast<void>(find_kernel("csr/fast"));
    FAIL("found");
  } catch (const Error& e) {
    CHECK(e.message() == "no kernel is named 'csr/fast'");
    for (const char* const known : {"csr/ipcsr", "csr/merge", "coo/balanced", "ccoo/atomic"})
      CHECK(e.remedy().find(known) != std::string::npos);
  }
}

TEST_CASE("the default of csr follows from the lengths of rows") {
  PartInfo part;
  part.layout = "csr";
  const auto name = [&](std::uint64_t longest, std::uint64_t nnz, std::uint64_t rows = 1) {
    part.params[spmvpack::layouts::csr::param_longest_row] = longest;
    part.nnz = nnz;
    part.rows.count = rows;
    return kernel_name(default_kernel(part));
  };
  CHECK(name(0, 0, 0) == "csr/scalar");
  CHECK(name(8, std::uint64_t{8} << 30U, std::uint64_t{1} << 30U) == "csr/scalar");
  CHECK(name(9, 900, 100) == "csr/vector");  // 8 lanes for each row
  CHECK(name(64, 900, 100) == "csr/vector");
  CHECK(name(65, 900, 100) == "csr/ipcsr");
  CHECK(name(256, 25600, 100) == "csr/vector");  // 32 lanes
  CHECK(name(257, 25700, 100) == "csr/ipcsr");
  CHECK(name(9, 1U << 21U, 1U << 18U) == "csr/vector");
  CHECK(name(9, (1U << 21U) + 1, 1U << 18U) == "csr/ipcsr");
  CHECK(name(16384, 16384, 3) == "csr/ipcsr");
  CHECK(name(16385, 16385, 3) == "csr/merge");
  CHECK(name(16385, 16385 * 512 - 1, 16385) == "csr/merge");
  CHECK(name(16385, 16385 * 512, 16385) == "csr/ipcsr");
  CHECK(name(16384, 16384, 2) == "csr/long");
  CHECK(name(131072, 131072, 16) == "csr/long");
  CHECK(name(131073, 131073, 16) == "csr/long");
  CHECK(name(131073, 131073 * 16 - 1, 129) == "csr/merge");
  // Two entries in a row on average: a thread of a block has a row of more than 256 for itself.
  CHECK(name(256, 2000, 1000) == "csr/ipcsr");
  CHECK(name(257, 2000, 1000) == "csr/merge");
  CHECK(name(300, 44 * 8192, 22 * 8192) == "csr/ipcsr");
  CHECK(name(301, 44 * 8192, 22 * 8192) == "csr/merge");
  CHECK(name(16384, 1U << 28U, 1U << 27U) == "csr/ipcsr");  // no block has more than 2,048 entries of several rows
  CHECK(name(2048, 16 * 1000, 1000) == "csr/merge");        // 128 rows of a block, 2 threads each
  CHECK(name(2048, 64 * 1000, 1000) == "csr/ipcsr");        // 8 threads
  CHECK(name(9, 0, 0) == "csr/ipcsr");                      // what no matrix has, but a file may say
  for (const char* const layout : {"coo", "ccoo"}) {
    part.layout = layout;
    CHECK(default_kernel(part) == find_kernel(kernels(layout)[0].name));
  }
  part.layout = "no such";
  CHECK(code_of([&] { static_cast<void>(default_kernel(part)); }) == errc::unsupported);
  CHECK(code_of([&] { static_cast<void>(workspace_bytes(part, {}, ValueType::f64)); }) == errc::unsupported);
}

TEST_CASE("workspaces are those of docs/LAYOUTS.md, and a gathered x where a part lists its columns") {
  const std::set<std::string_view> takes_columns{"csr/ipcsr",    "csr/vector",     "csr/vector32", "csr/scalar",
                                                 "ell/rows",     "ellpack_r/rows", "sell/rows",    "pjds/rows",
                                                 "csell/slices", "bitflag/tiles"};
  for (const std::uint64_t n : {0U, 1U, 255U, 256U, 257U, 16385U})
    for (const ValueType vectors : {ValueType::f32, ValueType::f64})
      for (const std::uint64_t listed : {0U, 1U, 1000U}) {
        const std::uint64_t v = size_of(vectors), chunks = (n + 255) / 256;
        const std::uint64_t sums = listed == 1 ? 0 : n * v;  // a column is one segment
        const std::map<std::string_view, std::uint64_t> expected{
            {"csr/ipcsr", 0},         {"csr/vector", 0},
            {"csr/vector32", 0},      {"csr/scalar", 0},
            {"csr/pcsr", n * v},      {"csr/merge", chunks * 2 * v},
            {"csr/long", 7 * 16 * v}, {"coo/balanced", chunks * 2 * (v + 4)},
            {"coo/atomic", 0},        {"ccoo/ordered", n * 2 * v},
            {"ell/rows", 0},          {"ell/padded", 0},
            {"ellpack_r/rows", 0},    {"sell/rows", 0},
            {"pjds/rows", 0},         {"dia/rows", 0},
            {"amb/ordered", sums},    {"amb/atomic", 0},
            {"amb/atomic32", 0},      {"amb/atomic64", 0},
            {"amb/atomic128", 0},     {"amb/atomic512", 0},
            {"pkt/packets", 0},       {"csell/slices", 0},
            {"sjds/lanes", 0},        {"bitflag/tiles", (n * v + 255) / 256 * 256 + n % 2 * 6 * v},
            {"ccoo/atomic", 0},       {"csr/ipcsr_printed", 0},
            {"coo/scan", 0}};
        for (const Layout* const layout : layouts_known())
          for (const KernelInfo& kernel : kernels(layout->name)) {
            INFO(kernel.name);
            CHECK(expected.contains(kernel.name));
          }
        const std::uint64_t gathered = (listed * v + 255) / 256 * 256;
        for (const auto& [name, bytes] : expected) {
          INFO(name << ", " << n << ", " << listed);
          PartInfo part;
          part.layout = name.substr(0, name.find('/'));
          part.nnz = n;
          part.rows = {format::MapKind::list, 0, 7};
          if (listed != 0) part.cols = {format::MapKind::list, 0, listed};
          if (part.layout == "csr") part.params[0] = n;                  // the longest row
          if (part.layout == "ccoo") *find_count(part, "encoding") = n;  // chunks
          if (part.layout == "amb") {                                    // n partial sums of three times as many lanes
            *find_count(part, "shared_rows") = n;
            *find_count(part, "cl") = 3 * n;
            part.params[spmvpack::layouts::amb::param_segment_cols] = 2;
            if (listed == 0) part.cols = {format::MapKind::range, 0, 9};
            part.params[spmvpack::layouts::amb::param_chunk_rows] = 1;
          }
          if (part.layout == "bitflag") {  // three tiles, n hot columns
            part.params = {0, 8, n % 2};
            *find_count(part, "chunks") = 4 * (24 + 1);
            *find_count(part, "hot") = n;
          }
          CHECK(workspace_bytes(part, find_kernel(name), vectors) == bytes + gathered);
          if (part.layout == "bitflag" && n >= 2) {
            PartInfo segments = part;  // n of them, of seven rows each, instead, and one element more
            *find_count(segments, "hot") = 0;
            *find_count(segments, "segments") = n + 1;
            CHECK(workspace_bytes(segments, {}, vectors) ==
                  ((7 * n + 1) * v + 255) / 256 * 256 + n % 2 * 6 * v + gathered);
          }
          if (part.layout == "amb" && n != 0) {  // twice as many lanes: a place for each
            PartInfo lanes = part;
            *find_count(lanes, "cl") = 2 * n;
            lanes.cols = {format::MapKind::range, 0, 9};
            CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == 2 * n * v);
            lanes.cols.count = 8;  // four segments
            CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == 0);
            for (const std::uint64_t block : {1U, 3U}) {
              lanes.value_type = ValueType::f32;
              lanes.params[spmvpack::layouts::amb::param_block] = block;
              CHECK(workspace_bytes(lanes, find_kernel("amb/ordered"), vectors) == (block == 1 ? 0 : 2 * n * v));
            }
          }
          // The default, by its name, without one, and where a kernel is another layout's.
          const KernelId of_another = find_kernel(part.layout == "coo" ? "csr/pcsr" : "coo/balanced");
          const std::uint64_t by_default = workspace_bytes(part, default_kernel(part), vectors);
          CHECK(workspace_bytes(part, {}, vectors) == by_default);
          CHECK(workspace_bytes(part, of_another, vectors) == by_default);
          CHECK(workspace_bytes(part, {}, vectors, 0) == 0);
          // Of seven columns, eight lie side by side, or one comes after the other.
          const std::uint64_t of_rows = (listed * 8 * v + 255) / 256 * 256;
          const bool at_once = takes_columns.contains(name);
          CHECK(workspace_bytes(part, find_kernel(name), vectors, 7) == (!at_once ? bytes + gathered
                                                                         : part.layout == "bitflag"
                                                                             ? of_rows + n % 2 * 6 * v * 8
                                                                             : of_rows));
        }
      }
  PartInfo part;
  part.layout = "csr";
  part.nnz = std::uint64_t{1} << 61;
  const auto bytes = [&](const char* kernel) { return workspace_bytes(part, find_kernel(kernel), ValueType::f64); };
  CHECK(code_of([&] { bytes("csr/pcsr"); }) == errc::unsupported);
  CHECK(bytes("csr/merge") == (std::uint64_t{1} << 53) * 16);
  part.layout = "ccoo";
  *find_count(part, "encoding") = std::uint64_t{1} << 60;
  CHECK(code_of([&] { bytes("ccoo/ordered"); }) == errc::unsupported);
  CHECK(code_of([&] { static_cast<void>(workspace_bytes(part, {12345}, ValueType::f64)); }) == errc::usage);
}

TEST_CASE("a description that does not fit the matrix is refused") {
  MatrixFacts facts;
  facts.rows = 3;
  facts.cols = 2;
  facts.nnz = 1;
  const auto refusal = [&](const MultiplyDescription& description) {
    return code_of([&] { check_description(description, facts, {}); });
  };
  CHECK(refusal({}) == errc{});
  CHECK(refusal({.operation = Operation::transpose}) == errc::usage);
  CHECK(refusal({.operation = Operation::conjugate_transpose}) == errc::usage);
  CHECK(refusal({.operation = static_cast<Operation>(77)}) == errc::usage);
  for (const std::uint64_t sides : {0U, 2U}) CHECK(refusal({.right_hand_sides = sides}) == errc{});
  CHECK(refusal({.vectors = ValueType::f32}) == errc::usage);
  facts.value_type = ValueType::f32;
  CHECK(refusal({.vectors = ValueType::f32}) == errc{});
  CHECK(refusal({}) == errc{});
}

struct Range {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
DensePlace place(Range range, ValueType type) {
  return dispatch(type, [&]<class T>(T) {
    return DensePlace(DenseView<const T>(static_cast<const T*>(range.data), range.bytes / sizeof(T)));
  });
}

TEST_CASE("vectors and workspaces that do not fit are refused") {
  Operand operand{.rows = 3, .cols = 2};
  const auto vectors = [&](ValueType type, Range x, Range y) {
    return code_of([&] { require_vectors(operand, {.vectors = type}, type, place(x, type), place(y, type)); });
  };
  constexpr auto f64 = ValueType::f64, f32 = ValueType::f32;
  CHECK(code_of([&] {
          require_vectors(operand, {.vectors = f64}, f32, place({at(0x1000), 8}, f32), place({at(0x2000), 12}, f32));
        }) == errc::usage);
  const Range x{at(0x1000), 16}, y{at(0x1010), 24};
  CHECK(vectors(f64, x, y) == errc{});
  CHECK(vectors(f64, {at(0x1008), 16}, {at(0x2008), 24}) == errc{});  // any boundary of an element
  CHECK(vectors(f64, {at(0x1000), 24}, y) == errc::usage);
  CHECK(vectors(f64, x, {at(0x1010), 16}) == errc::usage);
  CHECK(vectors(f64, {at(0x1004), 16}, {at(0x2000), 24}) == errc::usage);
  CHECK(vectors(f64, {nullptr, 16}, y) == errc::usage);
  CHECK(vectors(f64, x, {at(0x1008), 24}) == errc::usage);  // y begins in x
  CHECK(vectors(f64, {at(0x1018), 16}, {at(0x1008), 24}) == errc::usage);
  CHECK(vectors(f32, {at(0x1004), 8}, {at(0x2004), 12}) == errc{});
  CHECK(vectors(f64, x, y) == errc{});
  operand.rows = operand.cols = 0;
  CHECK(vectors(f64, {}, {}) == errc{});

  const auto workspace = [&](Range w, std::uint64_t needed) {
    const std::span<const std::byte> room(static_cast<const std::byte*>(w.data), w.bytes);
    return code_of([&] { require_workspace(room, needed, {place(x, f64), place(y, f64)}); });
  };
  CHECK(workspace({}, 0) == errc{});
  CHECK(workspace({at(0x3000), 64}, 64) == errc{});
  CHECK(workspace({at(0x3000), 63}, 64) == errc::usage);
  CHECK(workspace({at(0x3080), 64}, 64) == errc::usage);
  CHECK(workspace({nullptr, 64}, 64) == errc::usage);
  CHECK(workspace({at(0x1000), 64}, 64) == errc::usage);
  CHECK(workspace({at(0x0F00), 256}, 256) == errc{});
  CHECK(workspace({at(0x0F00), 264}, 264) == errc::usage);
}

TEST_CASE("a GPU is usable if the driver and this build have code for it") {
  const auto runs = [](int major, int minor, int driver, const char* built_for, int toolkit = 12080) {
    return runs_code({major, minor, {}}, driver, built_for, toolkit);
  };
  CHECK(runs(9, 0, 12080, "8.0, 9.0 and PTX"));
  CHECK(runs(8, 6, 12080, "8.0, 9.0 and PTX"));   // a later one of the same family
  CHECK(!runs(8, 0, 12080, "8.6, 9.0 and PTX"));  // an earlier one
  CHECK(!runs(7, 5, 12080, "8.0, 9.0 and PTX"));
  CHECK(runs(12, 0, 12080, "8.0, 9.0 and PTX"));  // compiles PTX
  CHECK(!runs(12, 0, 12080, "8.0, 9.0"));
  CHECK(!runs(12, 0, 12040, "8.0, 9.0 and PTX"));  // of a newer toolkit than the driver
  CHECK(runs(9, 0, 12000, "8.0, 9.0 and PTX"));    // binaries of any minor version run
  CHECK(!runs(9, 0, 11080, "8.0, 9.0 and PTX"));
  CHECK(runs(9, 0, 13000, "8.0, 9.0 and PTX"));
  CHECK(runs(9, 0, 12080, "9.0a"));
  CHECK(!runs(12, 1, 12080, "12.0a"));
  CHECK(runs(9, 0, 12080, "all-major"));
  CHECK(!runs(9, 0, 12080, ""));
}

TEST_CASE("CUDA_VISIBLE_DEVICES hides GPUs from a process") {
  const FoundDriver both{12080, {{9, 0, "GPU-11aa"}, {7, 5, "GPU-22bb"}}}, none{12080, {}};
  const auto usable = [&](const FoundDriver& driver, const char* visible) {
    return any_usable(driver, visible, "9.0", 12080);
  };
  for (const char* const visible :
       {"0", "1", "0,1", " 0", "GPU-11aa", "GPU-11", "GPU-22bb,GPU-11aa", "0,-1", "0,x", "MIG-1"})
    CHECK(usable(both, visible));
  CHECK(usable(both, nullptr));
  for (const char* const visible : {"", "-1", "2", "x", ",0", "GPU-22bb", "GPU-33", "x,0", "-1,0", "GPU-22bb,-1,0"}) {
    INFO(visible);
    CHECK(!usable(both, visible));
  }
  CHECK(!usable(none, nullptr));
  CHECK(!usable(none, "0"));
  CHECK(!found_driver("libspmvpack_of_nobody.so"));
  CHECK(!found_driver("libm.so.6"));  // a library that is none of NVIDIA's
  if (!built_with_cuda()) CHECK(!has_usable_gpu());
}

TEST_CASE("a build without CUDA says so") {
  if (built_with_cuda()) return;
  CHECK(code_of([] { static_cast<void>(DeviceMatrix::load("any.spmvc")); }) == errc::unsupported);
  CHECK(code_of([] { static_cast<void>(devices()); }) == errc::unsupported);
  CHECK(code_of([] { static_cast<void>(measure_on_device()); }) == errc::unsupported);
  CHECK(code_of([] { const DeviceTimer timer; }) == errc::unsupported);
}

}  // namespace spmvpack::gpu_loader
