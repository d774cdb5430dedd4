// Every golden file in this process: by every way of loading on the host and by C, with both operations, both bases and
// vectors of both types; what it holds against its listing; encoded again; or refused with the code that its text file
// names. tests/format_test.py reads them with the second reader and runs the command on some of each kind,
// gpu_load_test.cpp loads them on a GPU, tests/python/test_golden.py in Python.

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "columns.hpp"
#include "golden_files.hpp"
#include "products.hpp"
#include "sanitized.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/spmvpack.h"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;

/// Larger matrices are only loaded: their vectors would take gigabytes.
bool is_small(const MatrixFacts& facts) { return std::max(facts.rows, facts.cols) <= 1'000'000; }

/// What checking a whole file ends with.
int verdict(const Container& container) {
  return verdict_of([&] {
    container.check_blocks({.threads = 1});
    check_contents(container, {.threads = 1});
    (void)container.provenance();
  });
}

/// A container by each way that there is: from a file, and in memory, where sections lie as in an Array, or anywhere.
std::vector<std::pair<std::string, std::function<Container()>>> ways_to_open(const GoldenFile& file) {
  std::vector<std::pair<std::string, std::function<Container()>>> ways{
      {"path", [path = file.path] { return Container::open(path); }}};
  const auto bytes = std::make_shared<const std::vector<std::byte>>(read_file(file.path));
  for (const std::size_t shift : {0U, 1U, 8U})
    ways.emplace_back("memory + " + std::to_string(shift), [bytes, shift] {
      return Container::open(std::make_shared<const ShiftedSource>(*bytes, shift), "memory");
    });
  return ways;
}

/// y = op(A) x.
template <class V>
std::vector<V> product(const HostMatrix& a, Operation operation, Basis basis, const std::vector<V>& x) {
  std::vector<V> y(operation == Operation::none ? a.facts().rows : a.facts().cols,
                   V(std::numeric_limits<real_of<V>>::quiet_NaN()));
  MultiplyDescription description = describe<V>(operation);
  description.basis = basis;
  a.multiply<V>(1, x, 0, std::span<V>(y), 1, description);
  return y;
}

/// The same by way of the permuted basis.
template <class V>
std::vector<V> permuted_product(const HostMatrix& a, const std::vector<V>& x) {
  std::vector<V> permuted(x.size()), y(x.size());
  a.permute<V>(x, permuted);
  permuted = product<V>(a, Operation::none, Basis::permuted, permuted);
  a.unpermute<V>(permuted, y);
  return y;
}

/// What C makes of a container.
class InC {
 public:
  spmvpack_status open(const std::string& path) { return spmvpack_open(path.c_str(), &container_); }
  spmvpack_status open(std::span<const std::byte> bytes) {
    return spmvpack_open_memory(bytes.data(), bytes.size(), &container_);
  }
  InC() = default;
  InC(const InC&) = delete;
  InC& operator=(const InC&) = delete;
  ~InC() {
    spmvpack_host_free(matrix_);
    spmvpack_close(container_);
  }
  spmvpack_status load(bool check_contents) {
    spmvpack_load_options options = spmvpack_load_default();
    options.threads = 1;
    options.check_contents = check_contents ? 1 : 0;
    spmvpack_host_free(matrix_);
    return spmvpack_host_load_with(container_, &options, &matrix_);
  }
  template <class V>
  spmvpack_status multiply(Operation operation, const std::vector<V>& x, std::vector<V>& y) {
    const real_of<V> alpha = 1, beta = 0;
    const spmvpack_type type = c_type<V>();
    if (operation == Operation::conjugate_transpose) {
      spmvpack_multiply_description description = spmvpack_multiply_default(type);
      description.operation = SPMVPACK_OPERATION_H;
      return spmvpack_host_multiply_with(matrix_, &description, &alpha, x.data(), &beta, y.data(), 1);
    }
    const auto f = operation == Operation::none ? spmvpack_host_multiply : spmvpack_host_multiply_transposed;
    return f(matrix_, type, &alpha, x.data(), &beta, y.data(), 1);
  }

 private:
  template <class V>
  static spmvpack_type c_type() {
    const bool wide = std::is_same_v<real_of<V>, double>;
    if (is_complex<V>) return wide ? SPMVPACK_C128 : SPMVPACK_C64;
    return wide ? SPMVPACK_F64 : SPMVPACK_F32;
  }

  spmvpack_container* container_ = nullptr;
  spmvpack_host_matrix* matrix_ = nullptr;
};

/// The exit code for a status of C.
int exit_code_of(spmvpack_status status) {
  return status == SPMVPACK_OK ? 0 : test::exit_code_of(static_cast<errc>(status));
}

std::array<double, 1> parts_of_value(double value) { return {value}; }
std::array<double, 1> parts_of_value(float value) { return {static_cast<double>(value)}; }
template <class T>
std::array<double, 2> parts_of_value(std::complex<T> value) {
  return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

/// f(A{}, V{}) for each type of vectors that goes with complex values of a type.
template <class F>
void each_complex_pair_of(ValueType values, F&& f) {
#define SPMVPACK_IF(A, V) \
  if (values == value_type_of<A>) f(A{}, V{});
  SPMVPACK_COMPLEX_PAIRS(SPMVPACK_IF)
#undef SPMVPACK_IF
}

constexpr std::array operations{Operation::none, Operation::transpose};

/// Multiplies in every way that the matrix has; the others are refused. Calls seen(operation, x, y) for each product.
template <class V, class Seen>
void multiply_in_all_ways(const HostMatrix& a, bool has_permuted_basis, Seen&& seen) {
  const MatrixFacts& facts = a.facts();
  if (facts.value_type == ValueType::f64 && std::is_same_v<V, float>) {
    const std::vector<V> x(facts.cols);
    REQUIRE_THROWS_AS(product<V>(a, Operation::none, Basis::user, x), Error);
    return;
  }
  for (const Operation operation : operations) {
    const auto x = random_vector<V>(operation == Operation::none ? facts.cols : facts.rows, 5);
    if (operation == Operation::transpose && !a.has_transpose()) {
      REQUIRE_THROWS_AS(product<V>(a, operation, Basis::user, x), Error);
      continue;
    }
    seen(operation, x, product<V>(a, operation, Basis::user, x));
  }
  const auto x = random_vector<V>(facts.cols, 5);
  if (!has_permuted_basis) {
    REQUIRE_THROWS_AS(product<V>(a, Operation::none, Basis::permuted, x), Error);
    return;
  }
  seen(Operation::none, x, permuted_product<V>(a, x));
  // A^T has none, unless it is A.
  if (facts.bitwise_symmetry() == Symmetry::general)
    REQUIRE_THROWS_AS(product<V>(a, Operation::transpose, Basis::permuted, x), Error);
}

}  // namespace

TEST_CASE("every golden file to accept is accepted") {
  for (const GoldenFile& file : all_golden_files("accept")) {
    INFO(file.name());
    CHECK(verdict(Container::open(file.path)) == 0);
  }
}

TEST_CASE("every golden file to accept holds what its listing says, bit for bit") {
  for (const GoldenFile& file : all_golden_files("accept")) {
    INFO(file.name());
    const Container container = Container::open(file.path);
    const CsrMatrix a = unpack(container);
    std::ifstream listing(std::filesystem::path(file.path).replace_extension(".csr.txt"));
    std::uint64_t rows = 0, cols = 0, nnz = 0;
    std::string type;
    REQUIRE(listing >> rows >> cols >> nnz >> type);
    REQUIRE(a.rows == rows);
    REQUIRE(a.cols == cols);
    REQUIRE(a.nnz() == nnz);
    REQUIRE(to_string(a.value_type()) == type);
    std::uint64_t row = 0;
    for (std::uint64_t k = 0; k < nnz; ++k) {
      std::uint64_t expected_row = 0, expected_col = 0;
      REQUIRE(listing >> expected_row >> expected_col);
      while (a.row_ptr[row + 1] <= k) ++row;
      REQUIRE(row == expected_row);
      REQUIRE(a.col_idx[k] == expected_col);
      dispatch_any(a.value_type(), [&]<class T>(T) {
        for (const double part : parts_of_value(std::get<Array<T>>(a.values)[k])) {
          std::string text;
          REQUIRE(listing >> text);
          REQUIRE(std::bit_cast<std::uint64_t>(part) ==
                  (text.starts_with("nan:") ? std::stoull(text.substr(4), nullptr, 16)
                                            : std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr))));
        }
      });
    }
  }
}

TEST_CASE("golden files of complex values: encoded again by csr, coo and auto, and refused by others") {
  int encoded = 0;
  for (const GoldenFile& file : all_golden_files("accept")) {
    const Container container = Container::open(file.path);
    const MatrixFacts& facts = container.facts();
    if (!holds_complex(facts.value_type)) continue;
    INFO(file.name());
    const SourceMatrix source{unpack(container), facts.field, facts.symmetry, {}};
    for (const encoder::Strategy& strategy : encoder::strategies()) {
      INFO(strategy.name);
      const encoder::EncodeRequest request{.codec = format::Codec::zstd, .threads = 1, .force_size = true};
      if (!strategy.traits.takes_complex) {
        CHECK(verdict_of([&] { encode(source, strategy, request); }) == 5);
        continue;
      }
      const Container copy = open(encode(source, strategy, request).bytes);
      CHECK(verdict(copy) == 0);
      CHECK(copy.facts().digest == facts.digest);
      CHECK(copy.facts().symmetry == facts.symmetry);
      CHECK(equal_bits(unpack(copy), source.matrix));
      ++encoded;
    }
  }
  CHECK(encoded == 3 * 12);
}

TEST_CASE("golden files of complex values multiply as their entries do, however they are loaded") {
  int multiplied = 0;
  const auto multiply = [&]<class A, class V>(A, V, const GoldenFile& file, const CsrMatrix& a) {
    for (const Operation operation : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
      INFO("operation " << static_cast<int>(operation) << ", vectors " << sizeof(V));
      CsrMatrix of_a = operation == Operation::none ? clone(a) : transposed(a);
      auto& values = std::get<Array<A>>(of_a.values);
      if (operation == Operation::conjugate_transpose)
        for (A& value : values) value = std::conj(value);
      const auto x = random_vector<V>(of_a.cols, 5);
      std::optional<std::vector<V>> first;
      for (const auto& [way, open_it] : ways_to_open(file)) {
        INFO(way);
        const HostMatrix host = HostMatrix::load(open_it(), {.threads = 1, .check_contents = way == "path"});
        if (operation != Operation::none && !host.has_transpose()) {
          REQUIRE_THROWS_AS(product<V>(host, operation, Basis::user, x), Error);
          continue;
        }
        const std::vector<V> y = product<V>(host, operation, Basis::user, x);
        if (!first) {
          first = y;
          ++multiplied;
          const bool finite = std::all_of(values.begin(), values.end(), [](A v) { return std::isfinite(std::abs(v)); });
          if (finite) require_correct<A>(of_a, x, y);
        }
        REQUIRE(same_bits(y, *first));
      }
      for (const bool memory : {false, true}) {
        InC c;
        REQUIRE((memory ? c.open(read_file(file.path)) : c.open(file.path.string())) == SPMVPACK_OK);
        REQUIRE(c.load(true) == SPMVPACK_OK);
        std::vector<V> y(of_a.rows);
        REQUIRE(c.multiply(operation, x, y) == (first ? SPMVPACK_OK : SPMVPACK_USAGE));
        if (first) REQUIRE(same_bits(y, *first));
      }
    }
  };
  for (const GoldenFile& file : all_golden_files("accept")) {
    const Container container = Container::open(file.path);
    if (!holds_complex(container.facts().value_type)) continue;
    INFO(file.name());
    const CsrMatrix a = unpack(container);
    each_complex_pair_of(a.value_type(),
                         [&](auto of_values, auto of_vectors) { multiply(of_values, of_vectors, file, a); });
  }
  CHECK(multiplied > 24);
}

TEST_CASE("every golden file of complex values to reject is rejected") {
  int rejected = 0;
  for (const GoldenFile& file : all_golden_files("reject")) {
    if (!file.named("complex")) continue;
    INFO(file.name() << ": " << file.exit_code << ", " << file.stage);
    CHECK(verdict_of([&] { check_contents(Container::open(file.path), {.threads = 1}); }) == file.exit_code);
    ++rejected;
  }
  CHECK(rejected == 12);
}

TEST_CASE("every golden file to accept is the same matrix encoded again, to two layouts by turns") {
  std::map<std::pair<std::string, format::Codec>, int> met;
  std::size_t turn = 0;
  for (const GoldenFile& file : golden_files("accept")) {
    ++turn;
    const Container container = Container::open(file.path);
    const MatrixFacts& facts = container.facts();
    const SourceMatrix source{unpack(container), facts.field, facts.symmetry, {}};
    std::vector<std::string> suited;
    for (const std::string& layout : layout_names())
      if (suits(source.matrix, Variant{layout, {}})) suited.push_back(layout);
    REQUIRE(suited.size() > 1);
    for (const format::Codec codec : {format::Codec::zstd, format::Codec::none}) {
      const std::size_t ahead = codec == format::Codec::none ? suited.size() / 2 : 0;
      const std::string& layout = suited[(turn + ahead) % suited.size()];
      ++met[{layout, codec}];
      INFO(file.name() << ", " << layout);
      const Encoded again =
          encode(source, encoder::find_strategy(layout), {.codec = codec, .threads = 1, .force_size = true});
      const Container copy = open(again.bytes);
      CHECK(verdict(copy) == 0);
      CHECK(copy.facts().digest == facts.digest);
      CHECK(copy.facts().field == facts.field);
      CHECK(copy.facts().symmetry == facts.symmetry);
      CHECK(equal_bits(unpack(copy), source.matrix));
    }
  }
  for (const std::string& layout : layout_names())
    for (const format::Codec codec : {format::Codec::zstd, format::Codec::none}) {
      INFO(layout);
      CHECK(met[{layout, codec}] > 5);
    }
}

TEST_CASE("every golden file to accept multiplies as its entries do, however it is loaded") {
  int multiplied = 0, transposes = 0, bases = 0;
  for (const GoldenFile& file : golden_files("accept")) {
    const Container container = Container::open(file.path);
    INFO(file.name());
    for (const PartInfo& part : container.parts()) (void)gpu_loader::workspace_bytes(part, {}, part.value_type);
    if (!is_small(container.facts())) continue;
    const CsrMatrix a = unpack(container), t = transposed(a);
    const bool permuted = has_permuted_basis(container.parts());
    bases += permuted ? 1 : 0;
    const bool finite = std::visit(
        []<class T>(const Array<T>& values) {
          return std::all_of(values.begin(), values.end(), [](T v) {
            const auto parts = parts_of_value(v);
            return std::all_of(parts.begin(), parts.end(), [](double part) { return std::isfinite(part); });
          });
        },
        a.values);
    std::map<Operation, std::vector<double>> doubles;  // the products of the first way
    std::map<Operation, std::vector<float>> floats;
    const auto require_products = [&]<class V>(const HostMatrix& host, std::map<Operation, std::vector<V>>& first) {
      multiply_in_all_ways<V>(
          host, permuted, [&](Operation operation, const std::vector<V>& x, const std::vector<V>& y) {
            const auto [place, is_first] = first.try_emplace(operation, y);
            REQUIRE(same_bits(y, place->second));
            if (!is_first) return;
            ++(operation == Operation::none ? multiplied : transposes);
            if (!finite) return;
            dispatch(a.value_type(),
                     [&]<class A>(A) { require_correct<A>(operation == Operation::none ? a : t, x, y); });
          });
    };
    for (const auto& [way, open_it] : ways_to_open(file)) {
      INFO(way);
      const HostMatrix host = HostMatrix::load(open_it(), {.threads = 1, .check_contents = way == "path"});
      require_products(host, doubles);
      require_products(host, floats);
    }
    for (const bool memory : {false, true}) {
      InC c;
      REQUIRE((memory ? c.open(read_file(file.path)) : c.open(file.path.string())) == SPMVPACK_OK);
      REQUIRE(c.load(true) == SPMVPACK_OK);
      const auto require_same = [&]<class V>(const std::map<Operation, std::vector<V>>& first) {
        for (const auto& [operation, expected] : first) {
          const auto x = random_vector<V>(operation == Operation::none ? a.cols : a.rows, 5);
          std::vector<V> y(expected.size());
          REQUIRE(c.multiply(operation, x, y) == SPMVPACK_OK);
          REQUIRE(same_bits(y, expected));
        }
      };
      require_same(doubles);
      require_same(floats);
    }
  }
  CHECK(multiplied > 300);
  CHECK(transposes > 60);
  CHECK(bases > 2);
}

TEST_CASE("every golden file to accept multiplies several columns as one at a time, in any order of their elements") {
  int multiplied = 0;
  for (const GoldenFile& file : golden_files("accept")) {
    const Container container = Container::open(file.path);
    if (!is_small(container.facts())) continue;
    INFO(file.name());
    const HostMatrix a = HostMatrix::load(container, {.threads = 1});
    const MatrixFacts& facts = a.facts();
    const auto compare = [&]<class T>(T, Operation operation, Basis basis) {
      const MultiplyDescription description{.operation = operation, .vectors = value_type_of<T>, .basis = basis};
      const bool plain = operation == Operation::none;
      for (const T alpha : {T(2), T(0)})
        for (const T beta : {T(0.5), T(0)}) {
          if (sanitized && (alpha == 0) != (beta == 0)) continue;
          INFO((plain ? "A, " : "A^T, ") << to_string(description.vectors) << ", alpha " << alpha << ", beta " << beta);
          compare_columns<T>(
              plain ? facts.cols : facts.rows, plain ? facts.rows : facts.cols,
              [&](const std::vector<T>& x, std::vector<T> y) {
                a.multiply<T>(alpha, x, beta, y, 1, description);
                return y;
              },
              [&](StoredColumns<T>& x, StoredColumns<T>& y) {
                a.multiply<T>(alpha, x.view(), beta, y.view(), 1, description);
              },
              [&](bool same, std::size_t count, std::string_view x, std::string_view y) {
                INFO(count << " columns, X in " << x << ", Y in " << y);
                REQUIRE(same);
                ++multiplied;
              });
        }
    };
    const auto in_all_ways = [&](auto zero) {
      compare(zero, Operation::none, Basis::user);
      if (a.has_transpose()) compare(zero, Operation::transpose, Basis::user);
      if (has_permuted_basis(container.parts())) compare(zero, Operation::none, Basis::permuted);
    };
    in_all_ways(double{});
    if (facts.value_type == ValueType::f32 && facts.rows + facts.cols < 10'000) in_all_ways(float{});
  }
  CHECK(multiplied > (sanitized ? 10'000 : 20'000));
}

TEST_CASE("every golden file to reject is rejected, for what it is, by every way of loading") {
  constexpr std::array<std::string_view, 5> later{"block checksum", "decode", "structure", "digest",
                                                  "field and symmetry"};
  int loaded = 0;
  for (const GoldenFile& file : golden_files("reject")) {
    INFO(file.name() << ": " << file.exit_code << ", " << file.stage);
    for (const auto& [way, open_it] : ways_to_open(file)) {
      INFO(way);
      std::optional<Container> container;
      int found = verdict_of([&, &open = open_it] { container = open(); });
      if (container) found = verdict(*container);
      CHECK(found == file.exit_code);
      // What is wrong with header and tables does not wait for a loader.
      CHECK(!container == (std::find(later.begin(), later.end(), file.stage) == later.end()));
      if (!container) continue;
      for (const PartInfo& part : container->parts()) (void)gpu_loader::workspace_bytes(part, {}, part.value_type);
      std::optional<HostMatrix> host;
      found = verdict_of([&] { host = HostMatrix::load(*container, {.threads = 1}); });
      CHECK(found == (file.is_of_whole_files() || file.is_of_contents() ? 0 : file.exit_code));
      CHECK(verdict_of([&] { HostMatrix::load(*container, {.threads = 1, .check_contents = true}); }) ==
            (file.is_of_whole_files() ? 0 : file.exit_code));
      if (!host) continue;
      // What it computes is nobody's matrix, but it stays within its vectors.
      REQUIRE(is_small(host->facts()));
      const bool permuted = has_permuted_basis(container->parts());
      multiply_in_all_ways<double>(*host, permuted, [](auto&&...) {});
      multiply_in_all_ways<float>(*host, permuted, [](auto&&...) {});
      ++loaded;
    }
    for (const bool memory : {false, true}) {
      InC c;
      if (memory && file.named("length_empty")) continue;  // C takes no null pointer
      const spmvpack_status opened = memory ? c.open(read_file(file.path)) : c.open(file.path.string());
      if (opened != SPMVPACK_OK) {
        CHECK(exit_code_of(opened) == file.exit_code);
        continue;
      }
      CHECK(exit_code_of(c.load(false)) == (file.is_of_whole_files() || file.is_of_contents() ? 0 : file.exit_code));
      CHECK(exit_code_of(c.load(true)) == (file.is_of_whole_files() ? 0 : file.exit_code));
    }
  }
  CHECK(loaded > 100);
}

}  // namespace spmvpack::test
