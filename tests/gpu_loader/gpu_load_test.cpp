// Loading into device memory: what is refused and what is not, the ring, the caller's allocator. Part of gpu_test.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "catch.hpp"
#include "columns.hpp"
#include "device.hpp"
#include "golden_files.hpp"
#include "matrices.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;
using host_loader::HostMatrix;

/// What loading says, "" where it succeeds; errors of another kind pass.
template <class Load>
std::string refusal(Load&& load) {
  try {
    load();
  } catch (const Error& e) {
    if (e.code() != errc::corrupt && e.code() != errc::unsupported && e.code() != errc::bad_input &&
        e.code() != errc::too_large)
      throw;
    return std::string(to_string(e.code()));
  }
  return "";
}

/// alpha op(A) x + beta y with a description.
template <class T>
std::vector<T> multiply(const DeviceMatrix& a, const MultiplyDescription& description, const std::vector<T>& x,
                        const std::vector<T>& y0) {
  const DeviceVector<T> device_x(x), y(y0);
  const DeviceVector<std::byte> workspace(a.workspace_bytes(description));
  a.multiply<T>(2, device_x.view(), T(0.5), y.span(), workspace.span(), nullptr, description);
  return y.get();
}

template <class T>
void require_close(const std::vector<T>& y, const std::vector<T>& expected) {
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::isnan(y[i]) && std::isnan(expected[i])) && y[i] != expected[i])
      REQUIRE(y[i] == Approx(expected[i]).epsilon(1e-5));
}

/// Multiplies by every kernel, with both operations and both bases as far as there are any, as the host does: within
/// the bound of a row of a few entries.
template <class T>
void require_same_matrix(const DeviceMatrix& a, const HostMatrix& host, bool has_permuted_basis) {
  const std::vector<T> of_columns = random_vector<T>(a.facts().cols, 3), of_rows = random_vector<T>(a.facts().rows, 4);
  for (const Operation operation : {Operation::none, Operation::transpose}) {
    const bool plain = operation == Operation::none;
    const std::vector<T>&x = plain ? of_columns : of_rows, &y0 = plain ? of_rows : of_columns;
    INFO((plain ? "A" : "A^T"));
    if (!plain && !a.has_transpose()) {
      REQUIRE_THROWS_AS(a.workspace_bytes({.operation = operation, .vectors = value_type_of<T>}), Error);
      continue;
    }
    std::vector<T> expected = y0;
    host.multiply<T>(2, x, T(0.5), std::span<T>(expected), 1, describe<T>(operation));
    for (const auto& kernel : a.kernels()) {
      INFO(kernel.name);
      MultiplyDescription description = by<T>(kernel.name);
      description.operation = operation;
      require_close(multiply<T>(a, description, x, y0), expected);
    }
  }
  const MultiplyDescription permuted{.vectors = value_type_of<T>, .basis = Basis::permuted};
  if (!has_permuted_basis) {
    REQUIRE_THROWS_AS(a.workspace_bytes(permuted), Error);
    return;
  }
  const std::vector<T> expected = multiply<T>(a, {.vectors = value_type_of<T>}, of_columns, of_rows);
  const DeviceVector<T> user_x(of_columns), user_y(of_rows), x(of_columns.size()), y(of_rows.size());
  a.permute<T>(user_x.view(), x.span(), nullptr);
  a.permute<T>(user_y.view(), y.span(), nullptr);
  a.multiply<T>(2, x.view(), T(0.5), y.span(), {}, nullptr, permuted);
  a.unpermute<T>(y.view(), user_y.span(), nullptr);
  require_close(user_y.get(), expected);
}

/// Chunks of ccoo that are smaller than a warp, which only hosts multiply.
bool has_small_chunks(const std::string& path) {
  constexpr std::uint64_t warp = 32;
  const Container container = Container::open(path);
  return std::any_of(container.parts().begin(), container.parts().end(),
                     [](const PartInfo& p) { return p.layout == "ccoo" && p.params[0] < warp; });
}

/// Workspace of the default kernels: the parts of A run one after the other.
std::uint64_t workspace_of(const Container& container) {
  std::uint64_t most = 0;
  for (const PartInfo& part : container.parts())
    if (part.role == format::Role::a) most = std::max(most, gpu_loader::workspace_bytes(part, {}, part.value_type));
  return most;
}

CsrMatrix tridiagonal(std::uint64_t n) {
  std::mt19937_64 rng(n);
  return from_rows<double>(n, n, rng, 3, [&](std::uint64_t r) {
    std::vector<std::uint32_t> row{static_cast<std::uint32_t>(r)};
    if (r != 0) row.push_back(static_cast<std::uint32_t>(r - 1));
    if (r + 1 < n) row.push_back(static_cast<std::uint32_t>(r + 1));
    return row;
  });
}

}  // namespace

TEST_CASE("golden files: the GPU's loader takes and refuses what the host's does, from files and from memory",
          "[short]") {
  int refused_contents = 0;
  for (const char* const kind : {"accept", "reject"})
    for (const GoldenFile& file : golden_files(kind)) {
      INFO(file.name());
      const std::string path = file.path;
      std::string expected = refusal([&] { HostMatrix::load(path); });
      const std::string found = refusal([&] { DeviceMatrix::load(path); });
      if (expected.empty() && has_small_chunks(path)) expected = "unsupported";
      // Only the host has the list of stored zeros: it cannot lead a multiply astray.
      if (path.find("_stored_zeros") != std::string::npos && found.empty()) continue;
      REQUIRE(found == expected);
      const std::vector<std::byte> bytes = read_file(path);
      const auto source = [&](std::size_t shift) { return std::make_shared<const ShiftedSource>(bytes, shift); };
      for (const std::size_t shift : {0U, 1U})
        REQUIRE(refusal([&] { DeviceMatrix::load(Container::open(source(shift), "memory")); }) == found);
      if (!found.empty()) continue;
      const DeviceMatrix a = DeviceMatrix::load(Container::open(source(1), "memory"));
      const Container container = Container::open(path);
      DeviceLoadOptions checked;
      checked.check_contents = true;
      if (file.exit_code != 0 && !file.is_of_whole_files()) {
        REQUIRE(refusal([&] { DeviceMatrix::load(path, nullptr, checked); }) == "corrupt");
        ++refused_contents;
      } else {
        REQUIRE_NOTHROW(DeviceMatrix::load(path, nullptr, checked));
      }
      REQUIRE(a.workspace_bytes({.vectors = a.facts().value_type}) == workspace_of(container));
      const HostMatrix host = HostMatrix::load(path);
      const bool permuted = has_permuted_basis(container.parts());
      require_same_matrix<double>(a, host, permuted);
      if (a.facts().value_type == ValueType::f32) require_same_matrix<float>(a, host, permuted);
    }
  CHECK(refused_contents > 15);
}

TEST_CASE("golden files: several columns multiply on a GPU as one at a time, in any order of their elements",
          "[short]") {
  int multiplied = 0;
  for (const GoldenFile& file : golden_files("accept")) {
    if (has_small_chunks(file.path)) continue;
    INFO(file.name());
    const DeviceMatrix a = DeviceMatrix::load(file.path.string());
    const MatrixFacts& facts = a.facts();
    if (facts.rows + facts.cols > 10'000) continue;
    const auto compare = [&]<class T>(T, Operation operation, T beta, bool on_device) {
      const bool plain = operation == Operation::none;
      INFO((plain ? "A, " : "A^T, ") << "beta " << beta << (on_device ? " on the device" : ""));
      const DeviceVector<T> scalars(std::vector<T>{T(2), beta});
      const auto multiply = [&]<class V>(const DenseView<const V>& x, const DenseView<V>& y) {
        MultiplyDescription description = describe<V>(operation);
        description.right_hand_sides *= x.cols;
        description.strided_x |= !x.has_contiguous_columns();
        description.strided_y |= !y.has_contiguous_columns();
        const DeviceVector<std::byte> workspace(a.workspace_bytes(description));
        using S = gpu_loader::Scalar<T>;
        a.multiply<V>(on_device ? S::on_device(scalars.data()) : S(T(2)), x,
                      on_device ? S::on_device(scalars.data() + 1) : S(beta), y, workspace.span(), nullptr,
                      description);
      };
      const std::uint64_t x_rows = plain ? facts.cols : facts.rows, y_rows = plain ? facts.rows : facts.cols;
      const auto one = [&](const std::vector<T>& x, const std::vector<T>& y0) {
        const DeviceVector<T> device_x(x), y(y0);
        multiply(DenseView<const T>(device_x.view()), DenseView<T>(y.span()));
        return y.get();
      };
      const auto all = [&]<class V>(StoredColumns<V>& x, StoredColumns<V>& y) {
        const DeviceVector<V> device_x(x.memory), device_y(y.memory);
        multiply(x.at(static_cast<const V*>(device_x.data())), y.at(device_y.data()));
        y.memory = device_y.get();
      };
      const auto report = [&](bool same, std::size_t count, std::string_view x, std::string_view y) {
        INFO(count << " columns, X in " << x << ", Y in " << y);
        REQUIRE(same);
        ++multiplied;
      };
      compare_columns<T>(x_rows, y_rows, one, all, report);
      compare_complex_columns<T>(x_rows, y_rows, one, all, report);
      if (on_device) return;
      const auto one_of_host = [&](const std::vector<T>& x, std::vector<T> y) {
        a.multiply_host_vectors<T>(2, x, beta, y, describe<T>(operation));
        return y;
      };
      const auto all_of_host = [&]<class V>(StoredColumns<V>& x, StoredColumns<V>& y) {
        a.multiply_host_vectors<T>(2, x.view(), beta, y.view(), describe<T>(operation));
      };
      compare_columns<T>(x_rows, y_rows, one_of_host, all_of_host, report);
      compare_complex_columns<T>(x_rows, y_rows, one_of_host, all_of_host, report);
    };
    const auto in_all_ways = [&](auto zero) {
      using T = decltype(zero);
      for (const Operation operation : {Operation::none, Operation::transpose}) {
        if (operation == Operation::transpose && !a.has_transpose()) continue;
        compare(zero, operation, T(0.5), false);
        compare(zero, operation, T(0), false);
        compare(zero, operation, T(0.5), true);
        compare(zero, operation, T(0), true);
      }
    };
    in_all_ways(double{});
    if (facts.value_type == ValueType::f32) in_all_ways(float{});
  }
  CHECK(multiplied > 15'000);
}

TEST_CASE("more columns in host memory than are on the device at once", "[short]") {
  const DeviceMatrix a = load_device(encode(make_csr(3, 2, {{{0, 0}, 1.0}, {{2, 1}, 2.0}}), "csr").bytes);
  for (const Storage& storage : storages) {
    std::vector<std::vector<double>> xs, ys;
    for (std::uint64_t j = 0; j < 35; ++j) {
      xs.push_back(random_vector<double>(2, j));
      ys.push_back({xs[j][0], 0, 2 * xs[j][1]});
    }
    StoredColumns<double> x(xs, 2, storage), y(std::vector(35, std::vector<double>(3)), 3, storage);
    const StoredColumns<double> expected(ys, 3, storage);
    a.multiply_host_vectors(1.0, x.view(), 0.0, y.view());
    CHECK(same_bits(y.memory, expected.memory));
  }
}

TEST_CASE("each check on the device has a file that lies to it, and names it", "[short]") {
  const std::vector<std::pair<std::string, std::string>> lies{
      {"csr_row_ptr_start", "row_ptr: it does not start at 0"},
      {"csr_row_ptr_ends_late", "row_ptr: it does not start at 0 or does not end"},
      {"csr_row_ptr_falls", "row_ptr: a row pointer falls"},
      {"csr_row_ptr_far", "row_ptr: a row pointer falls or is past the nonzeros"},
      {"csr_column", "col_idx: a column is not below"},
      {"csr_columns_fall", "col_idx: columns do not increase"},
      {"coo_row", "row_idx: a row is not below"},
      {"coo_column", "col_idx: a column is not below"},
      {"coo_rows_fall", "an entry does not follow the one before it"},
      {"coo_entry_twice", "an entry does not follow the one before it"},
      {"ccoo_encoding_unused_columns", "encoding: column offsets of a width"},
      {"ccoo_single_raw", "raw values beside a single one"},
      {"ccoo_groups", "or more groups than a chunk has"},
      {"ccoo_blob_offset_far", "blob_offset: a chunk does not start"},
      {"ccoo_blob_offset_overlaps", "blob_offset: a chunk does not start"},
      {"ccoo_row", "row_base: a row is not below"},
      {"ccoo_row_wraps", "row_base: a row is not below"},
      {"ccoo_column", "col_base: a column is not below"},
      {"ccoo_column_wraps", "col_base: a column is not below"},
      {"ccoo_row_bytes_fall", "blob: row bytes do not start at 0 or fall"},
      {"ccoo_first_row_byte", "blob: row bytes do not start at 0 or fall"},
      {"ccoo_columns_fall", "blob: columns fall within a row"},
      {"ccoo_no_column_offset_0", "or none is at the column baseline"},
      {"ccoo_entry_after_padding", "blob: an entry after padding"},
      {"ccoo_padding_value", "or padding with a value"},
      {"ccoo_id", "blob: a value's id is not below"},
      {"ccoo_chunk_row_falls", "blob: a chunk does not follow"},
      {"ccoo_chunk_continues_unannounced", "encoding: a chunk continues a row"},
      {"ccoo_first_chunk_continues", "encoding: a chunk continues a row"},
      {"ccoo_entry_missing", "the entries are not as many"},
      {"ellpack_r_column", "col_idx: a column is not below"},
      {"ellpack_r_falls", "col_idx: columns do not rise"},
      {"ellpack_r_gap", "values: padding with a value"},
      {"ellpack_r_padding_value", "values: padding with a value"},
      {"sell_gap", "col_idx: an entry after padding"},
      {"ellpack_r_row_len_far", "row_len: a row does not have"},
      {"ellpack_r_row_len_less", "row_len: a row does not have"},
      {"sell_slice_ptr_falls", "slice_ptr: it does not start at 0"},
      {"sell_slice_ptr_far", "slice_ptr: it does not start at 0"},
      {"sell_slice_wider", "slice_ptr: a slice has more steps"},
      {"sell_entry_past_the_last_row", "or in a row that the part does not have"},
      {"pjds_col_start_falls", "col_start: it does not start at 0"},
      {"pjds_col_start_far", "col_start: it does not start at 0"},
      {"pjds_jagged_ends_in_block", "col_start: it does not start at 0"},
      {"pjds_rows_rise", "col_idx: a row is shorter than the next"},
      {"pjds_permuted_lists_differ", "col_map: it is not the list of rows"},
      {"pjds_permuted_sorted_by_part", "col_idx: columns do not rise"},
      {"dia_offset_beyond", "offsets: a diagonal outside"},
      {"dia_offsets_fall", "offsets: a diagonal outside the matrix, or not after"},
      {"dia_value_left_of_the_part", "values: a value without a column"},
      {"dia_without_stored_zeros", "the entries are not as many"},
      {"amb_segment_far", "cl or cs: a chunk's segment"},
      {"amb_cs_far", "cl or cs: a chunk's segment"},
      {"amb_row_twice", "a row or partial sum is out of range, missing, or there twice"},
      {"amb_partial_sum_missing", "a row or partial sum is out of range, missing, or there twice"},
      {"amb_partial_sums_fall", "or its segments do not rise"},
      {"amb_shared_row_with_one_sum", "a row has one partial sum"},
      {"amb_block_leaves_segment", "col_idx: a block leaves its segment"},
      {"amb_chunk_longer_than_its_lanes", "or a chunk has steps without a block"},
      {"amb_padding_value", "values: padding with a value"},
      {"pkt_packets_fall", "packet_ptr or step_ptr: a packet without rows"},
      {"pkt_steps_end_far", "packet_ptr or step_ptr: a packet without rows"},
      {"pkt_row_twice", "rows: a row is out of range or there twice"},
      {"pkt_column_outside", "local_idx: a row or column outside"},
      {"pkt_row_of_two_threads", "a row of two threads"},
      {"pkt_padding_with_value", "values: padding with a value"},
      {"pkt_entry_more", "the entries are not as many"},
      {"row_map_beyond", "row_map: an index is not below"},
      {"row_map_twice", "row_map: an index is not below the matrix's rows, or comes twice"},
      {"column_map_beyond", "col_map: an index is not below"}};
  const std::vector<GoldenFile> files = golden_files("reject");
  for (const auto& [name, text] : lies) {
    INFO(name);
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&, &wanted = name](const GoldenFile& f) { return f.name() == wanted; });
    REQUIRE(file != files.end());
    try {
      DeviceMatrix::load(file->path.string());
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == errc::corrupt);
      INFO(e.message());
      CHECK(e.message().find(text) != std::string::npos);
      CHECK(e.where().find("part ") != std::string::npos);
    }
  }
}

TEST_CASE("what is wrong is named, and an option trusts it") {
  for (const GoldenFile& file : golden_files("reject")) {
    if (!file.named("csr_column_twice")) continue;
    const std::string path = file.path;
    try {
      DeviceMatrix::load(path);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == errc::corrupt);
      CHECK(e.message() == "col_idx: columns do not increase within a row");
      CHECK(e.where().find("part 0") != std::string::npos);
    }
    DeviceLoadOptions trusting;
    trusting.check_structure = false;
    CHECK_NOTHROW(DeviceMatrix::load(path, nullptr, trusting));
  }
}

TEST_CASE("any ring and number of threads load the same matrix; a flipped bit is noticed") {
  const CsrMatrix m = tridiagonal(400000);
  const std::vector<double> x = random_vector<double>(m.cols, 1);
  std::vector<double> expected(m.rows);
  for (const auto codec : {format::Codec::none, format::Codec::zstd}) {
    Encoded file = encode(m, "csr", {}, codec);
    HostMatrix::load(open(file.bytes)).multiply<double>(1, x, 0, expected, 2);
    for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{3} << 20U, std::uint64_t{64} << 20U})
      for (const int threads : {1, 7}) {
        DeviceLoadOptions options;
        options.ring_bytes = ring;
        options.threads = threads;
        const DeviceMatrix a = DeviceMatrix::load(open(file.bytes), nullptr, options);
        REQUIRE(same_bits(multiply<double>(a, x, "csr/scalar"), expected));
      }
    file.bytes[format::header_bytes + (std::size_t{5} << 20U) / (codec == format::Codec::none ? 1 : 8)] ^= std::byte{1};
    CHECK(refusal([&] { DeviceMatrix::load(open(file.bytes)); }) == "corrupt");
  }
}

TEST_CASE(
    "of many damaged blocks the first is named, whatever the ring and the threads, and nobody waits for the rest") {
  Encoded file = encode(tridiagonal(1000000), "csr");
  for (std::size_t mib = 10; mib < 30; ++mib) file.bytes[format::header_bytes + (mib << 20U)] ^= std::byte{1};
  const Container container = open(file.bytes);
  std::string expected;
  try {
    container.check_blocks();
  } catch (const Error& e) {
    expected = e.where();
  }
  REQUIRE(!expected.empty());
  for (int round = 0; round < 5; ++round)
    for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{5} << 20U, std::uint64_t{64} << 20U})
      for (const int threads : {1, 2, 16, 40}) {
        DeviceLoadOptions options;
        options.ring_bytes = ring;
        options.threads = threads;
        try {
          DeviceMatrix::load(container, nullptr, options);
          FAIL("accepted");
        } catch (const Error& e) {
          CHECK(e.code() == errc::corrupt);
          CHECK(e.where() == expected);
        }
      }
}

/// A container's sections in device memory, each for itself.
struct Sections {
  gpu_loader::DeviceContents contents;
  std::vector<std::unique_ptr<DeviceVector<std::byte>>> memory;

  explicit Sections(const Container& container) {
    contents.facts = container.facts();
    contents.parts = container.parts();
    for (std::size_t i = 0; i < container.sections().size(); ++i) {
      const SectionInfo& s = container.sections()[i];
      if (!s.known || s.part == format::no_part) continue;
      const auto bytes = container.read_section(i);
      memory.push_back(std::make_unique<DeviceVector<std::byte>>(std::vector<std::byte>(bytes.begin(), bytes.end())));
      contents.sections.push_back({s.part, s.name, memory.back()->view()});
    }
    std::reverse(contents.sections.begin(), contents.sections.end());  // in any order
  }
};

TEST_CASE("sections that are on the device already multiply as those of a file do") {
  for (const GoldenFile& golden : golden_files("accept")) {
    INFO(golden.name());
    const Container container = Container::open(golden.path.string());
    Sections of(container);
    if (refusal([&] { DeviceMatrix::load(container); }) == "unsupported") {  // chunks of 8 lanes
      CHECK(refusal([&] { DeviceMatrix::of_sections(of.contents); }) == "unsupported");
      continue;
    }
    const DeviceMatrix loaded = DeviceMatrix::load(container);
    const std::weak_ptr<const void> owner = [&] {
      auto kept = std::make_shared<const int>(1);
      of.contents.owner = kept;
      return std::weak_ptr<const void>(kept);
    }();
    {
      const DeviceMatrix a = DeviceMatrix::of_sections(std::move(of.contents));
      CHECK(a.device_bytes() == loaded.device_bytes());
      CHECK(a.prepared_bytes() == loaded.prepared_bytes());
      CHECK(a.has_transpose() == loaded.has_transpose());
      const auto x = random_vector<double>(a.facts().cols, 5), y0 = random_vector<double>(a.facts().rows, 6);
      for (const auto& kernel : a.kernels())
        if (kernel.determinism == gpu_loader::Determinism::bitwise)
          CHECK(
              same_bits(multiply(a, by<double>(kernel.name), x, y0), multiply(loaded, by<double>(kernel.name), x, y0)));
      CHECK(!owner.expired());
    }
    CHECK(owner.expired());
  }
}

TEST_CASE("sections that do not fit together, or lie, are refused on the device, too") {
  const Container container = open(encode(tridiagonal(1000), "csr").bytes);
  const auto code = [](gpu_loader::DeviceContents contents, const DeviceLoadOptions& options = {}) {
    try {
      DeviceMatrix::of_sections(std::move(contents), nullptr, options);
    } catch (const Error& e) {
      return e.code();
    }
    return errc{};
  };
  const Sections of(container);
  CHECK(code(of.contents) == errc{});
  auto with = [&](auto&& change) {
    gpu_loader::DeviceContents contents = of.contents;
    change(contents);
    return code(contents);
  };
  CHECK(with([](auto& c) { c.sections.pop_back(); }) == errc::corrupt);
  CHECK(with([](auto& c) { c.sections[0].name = "no such"; }) == errc::usage);
  CHECK(with([](auto& c) { c.sections[0].part = 1; }) == errc::usage);
  CHECK(with([](auto& c) { c.sections[0].bytes = c.sections[0].bytes.subspan(16); }) == errc::usage);
  CHECK(with([](auto& c) { c.sections[0].bytes = c.sections[0].bytes.first(16); }) == errc::corrupt);
  CHECK(with([](auto& c) { c.sections[0].bytes = {static_cast<const std::byte*>(nullptr), 8000}; }) == errc::usage);
  CHECK(with([](auto& c) { c.facts.nnz += 1; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.facts.rows = 999; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.facts.cols = 999; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.facts.symmetry = Symmetry::symmetric, c.facts.cols += 1; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.parts[0].role = format::Role::transpose; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.parts[0].rows = {format::MapKind::range, 1, 1000}; }) == errc::corrupt);
  CHECK(with([](auto& c) { c.parts[0].layout = "no such"; }) == errc::unsupported);
  CHECK(with([](auto& c) { c.parts[0].params[0] = 2; }) == errc::corrupt);  // the longest row has three
  DeviceLoadOptions options;
  options.memory_limit = 1000;
  CHECK(code(of.contents, options) == errc::out_of_memory);
  options = {};
  options.check_contents = true;
  CHECK(code(of.contents, options) == errc::usage);
  // A column that is not below the part's columns.
  const std::uint32_t column = 1000;
  for (const auto& s : of.contents.sections)
    if (s.name == "col_idx") cuda(cudaMemcpy(const_cast<std::byte*>(s.bytes.data()), &column, 4, cudaMemcpyDefault));
  CHECK(code(of.contents) == errc::corrupt);
  options = {};
  options.check_structure = false;
  CHECK(code(of.contents, options) == errc{});
}

TEST_CASE("memory: limits, the caller's allocator, interruption") {
  const Encoded file = encode(tridiagonal(1000), "csr");
  std::map<void*, std::uint64_t> alive;
  std::uint64_t most = 0;
  const auto allocated = [&] {
    return std::accumulate(alive.begin(), alive.end(), std::uint64_t{0}, [](auto n, auto& m) { return n + m.second; });
  };
  DeviceLoadOptions options;
  options.allocator.allocate = [&](std::uint64_t bytes) {
    void* memory = nullptr;
    cuda(cudaMalloc(&memory, bytes));
    alive[memory] = bytes;
    most = std::max(most, allocated());
    return memory;
  };
  options.allocator.release = [&](void* memory) {
    alive.erase(memory);
    cudaFree(memory);
  };
  const auto require_out_of_memory = [&] {
    try {
      DeviceMatrix::load(open(file.bytes), nullptr, options);
      FAIL("loaded");
    } catch (const Error& e) {
      CHECK(e.code() == errc::out_of_memory);
    }
  };
  {
    const DeviceMatrix a = DeviceMatrix::load(open(file.bytes), nullptr, options);
    CHECK(a.allocated_bytes() == allocated());
    CHECK(most > allocated());  // what checks need comes from the allocator, too, until the load ends
    CHECK(a.prepared_bytes() != 0);
    CHECK(alive.size() == 3);  // sections, row blocks, the rows at the ends of chunks
    options.memory_limit = a.allocated_bytes();
    CHECK_NOTHROW(DeviceMatrix::load(open(file.bytes), nullptr, options));
    options.memory_limit = a.allocated_bytes() - 1;  // without the last of what is built
    require_out_of_memory();
    options.memory_limit = 0;
    CHECK(alive.size() == 3);
    const DeviceMatrix copy = a;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK(alive.size() == 3);
  }
  CHECK(alive.empty());
  options.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  CHECK_THROWS_AS(DeviceMatrix::load(open(file.bytes), nullptr, options), Error);
  CHECK(alive.empty());
  options.progress = nullptr;
  options.memory_limit = 1000;
  require_out_of_memory();
  options.memory_limit = 0;
  options.allocator.allocate = [](std::uint64_t) { return nullptr; };
  CHECK_THROWS_AS(DeviceMatrix::load(open(file.bytes), nullptr, options), Error);
}

}  // namespace spmvpack::test
