// New values in an old pattern: where the entries of all layouts find them, and what a matrix with them is.

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "containers.hpp"
#include "dealt.hpp"
#include "every_entries.hpp"
#include "matrices.hpp"
#include "spmvpack/container/multiply/value_slots.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using host_loader::HostMatrix;
using layouts::ValuesAre;
using layouts::ValueSlot;

/// All parts of a container in memory.
struct Parts {
  std::vector<LoadedPart> loaded;
  std::vector<const PartView*> views;

  explicit Parts(const Container& container) {
    for (std::size_t p = 0; p < container.parts().size(); ++p) loaded.push_back(container.load_part(p));
    for (const LoadedPart& part : loaded) views.push_back(&part.view());
  }
  /// Whether every entry has a value of its own.
  [[nodiscard]] bool own() const {
    bool all = true;
    for (const PartView* const part : views)
      dispatch(part->info().value_type, [&]<class T>(T) {
        with_entries<T>(*part, [&](const auto& entries) {
          each_entry(entries, 1,
                     [&](std::uint32_t /*row*/, std::uint64_t /*run*/, std::uint32_t /*index*/,
                         std::uint32_t /*column*/, const ValueSlot& slot) { all = all && slot.are == ValuesAre::own; });
        });
      });
    return all;
  }
};

/// Each entry of each part finds the value that is stored, and the parts of each role together all values, once. True
/// if each has a value of its own; otherwise, that is an error.
bool check_sources(const Container& container, std::map<std::string, int>& looked_at) {
  const Parts parts(container);
  if (!parts.own()) {
    CHECK_THROWS_WITH(value_sources(container.facts(), parts.views, 2), Catch::Contains("--updatable"));
    return false;
  }
  const CsrMatrix a = unpack(container);
  const std::vector<ValueSource> sources = value_sources(container.facts(), parts.views, 2);
  REQUIRE(sources.size() == parts.views.size());
  dispatch(a.value_type(), [&]<class T>(T) {
    const auto& values = std::get<Array<T>>(a.values);
    std::map<format::Role, std::vector<int>> found;
    for (const format::Role role : {format::Role::a, format::Role::transpose})
      found[role].resize(container.parts(role).empty() ? 0 : a.nnz());
    std::uint64_t wrong = 0, in_slots = 0;
    for (std::size_t p = 0; p < sources.size(); ++p) {
      const PartView& part = *parts.views[p];
      const auto bytes = layouts::section_bytes(part);
      const ValueSource& source = sources[p];
      ++looked_at[part.info().layout];
      with_entries<T>(part, [&](const auto& entries) {
        each_entry(entries, 3,
                   [&](std::uint32_t row, std::uint64_t run, std::uint32_t index, std::uint32_t /*column*/,
                       const ValueSlot& slot) {
                     std::uint64_t i = source.order().first(row, run) + index;
                     if (source.has_places()) i = std::get<Array<std::uint32_t>>(source.place)[i];
                     if (i >= a.nnz()) return void(++wrong);
                     ++found[part.info().role][i];
                     if (bytes.read<T>(slot) != std::bit_cast<bits_of<T>>(values[i])) ++wrong;
                   });
      });
      // The same, seen from the section.
      const ValueSlots slots = value_slots(part, source, a.nnz(), 2);
      const auto& places = std::get<Array<std::uint32_t>>(slots.value);
      for (std::uint64_t k = 0; k < slots.elements; ++k) {
        const std::uint64_t i = places.empty() ? k : places[k];
        if (i == no_value<std::uint32_t>) continue;
        ++in_slots;
        if (i >= a.nnz() || std::memcmp(bytes.begin[slots.section] + k * sizeof(T), &values[i], sizeof(T)) != 0)
          ++wrong;
      }
      bool by_bits = false;
      with_entries<T>(part, [&](const auto& entries) {
        each_entry(entries, 1,
                   [&](std::uint32_t /*row*/, std::uint64_t /*run*/, std::uint32_t /*index*/, std::uint32_t /*column*/,
                       const ValueSlot& slot) { by_bits = by_bits || slot.holds_by_bits; });
      });
      CHECK(slots.held_by_bits == by_bits);
    }
    CHECK(wrong == 0);
    CHECK(in_slots == a.nnz() * found.size() - (found[format::Role::transpose].empty() ? a.nnz() : 0));
    for (const auto& [role, counts] : found)
      CHECK(std::all_of(counts.begin(), counts.end(), [](int count) { return count == 1; }));
  });
  return true;
}

/// Some that are small; those of `large` structures, which are not, too.
template <class T>
std::vector<NamedMatrix> some_matrices(const std::set<std::string>& large) {
  std::vector<NamedMatrix> all = random_matrices<T>(17, 3);
  std::erase_if(all, [&](const NamedMatrix& m) { return m.matrix.nnz() > 2000 && large.count(m.name) == 0; });
  std::mt19937_64 rng(5);
  const auto columns = [](std::uint64_t r, std::uint32_t count) {
    std::vector<std::uint32_t> row;
    for (std::uint32_t c = 0; c < count; ++c) row.push_back(static_cast<std::uint32_t>((r / 3 * 3 + c) % 120));
    return row;
  };
  all.push_back({"small blocks of 3", from_rows<T>(120, 120, rng, 3, [&](std::uint64_t r) { return columns(r, 27); })});
  all.push_back({"small band", from_rows<T>(120, 120, rng, 3, [&](std::uint64_t r) { return columns(r, 4); })});
  return all;
}

/// As dealt(), of parts whose entries have values of their own.
encoder::Strategy dealt_raw(std::uint64_t seed) {
  encoder::Strategy strategy = dealt(seed);
  strategy.plan = [seed](const CsrView& a, const encoder::PlanOptions& given) {
    encoder::PlanOptions options = given;
    options.settings = {{"csell.values", "raw"}, {"bitflag.values", "raw"}, {"sjds.values", "raw"}};
    encoder::Plan plan;
    plan.strategy = "dealt";
    for (const DealtPart& part : deal(a, seed)) {
      const bool has_table = part.layout == "ccoo" && part.matrix->nnz() < 400;
      plan.parts.push_back(
          encoder::find_layout_encoder(has_table ? "coo" : part.layout)
              .plan({*part.matrix, part.rows, part.cols, nullptr, encoder::own_entries(part.matrix)}, options));
    }
    return plan;
  };
  return strategy;
}

SourceMatrix source_of(const CsrMatrix& a) { return {clone(a), Field::real, Symmetry::general, {}}; }

TEST_CASE("entries of every layout find their values in the order of the matrix") {
  std::map<std::string, int> looked_at;
  int refused = 0;
  for (const NamedMatrix& m : some_matrices<double>({}))
    for (const Variant& variant : every_variant()) {
      if (!suits(m.matrix, variant) || !suits(transposed(m.matrix), variant)) continue;
      INFO(m.name << ", " << variant.name());
      const Encoded file = encode(source_of(m.matrix), encoder::find_strategy(variant.layout),
                                  {.settings = variant.settings, .transpose = true, .threads = 2, .force_size = true});
      if (!check_sources(open(file.bytes), looked_at)) ++refused;
    }
  for (const std::string& layout : layout_names()) {
    INFO(layout);
    CHECK(looked_at[layout] > 5);
  }
  CHECK(refused > 10);
}

TEST_CASE("entries of several parts find their values") {
  std::map<std::string, int> looked_at;
  std::uint64_t seed = 0;
  int checked = 0;
  for (const NamedMatrix& m : some_matrices<double>({"blocks of 3", "tridiagonal"})) {
    INFO(m.name);
    const SourceMatrix source = source_of(m.matrix);
    const encoder::EncodeRequest request{.transpose = true, .threads = 2, .force_size = true};
    checked += check_sources(open(encode(source, dealt_raw(++seed), request).bytes), looked_at) ? 1 : 0;
    checked += check_sources(open(encode(source, encoder::find_strategy("split"), request).bytes), looked_at) ? 1 : 0;
    if (m.matrix.rows == m.matrix.cols)
      check_sources(open(encode(m.matrix, "pjds", {{"pjds.basis", "permuted"}}).bytes), looked_at);
  }
  CHECK(checked > 10);
  for (const std::string& layout : layout_names()) {
    if (layout == "pkt") continue;  // of square parts alone
    INFO(layout);
    CHECK(looked_at[layout] > 1);
  }
}

TEST_CASE("parts that are no matrix have no sources") {
  const CsrMatrix a = make_csr(3, 3, {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 0}, 3}, {{2, 1}, 4}});
  const auto sources = [&](const ContainerSource& source) {
    const std::vector<std::byte> bytes = written(source);
    const Container container = open(bytes);
    return value_sources(container.facts(), Parts(container).views);
  };
  const encoder::PartPlan plan = plan_of(a, "csr");
  ContainerSource source;
  source.facts.rows = source.facts.cols = 3;
  source.facts.nnz = 4;
  source.parts = {encoder::part_source(plan, a), encoder::part_source(plan, a)};
  source.parts[1].info.role = format::Role::transpose;
  CHECK_THROWS_WITH(sources(source), Catch::Contains("not the transpose"));

  source.facts.nnz = 8;
  source.parts[1].info.role = format::Role::a;
  CHECK_THROWS_WITH(sources(source), Catch::Contains("two parts hold the entry in row 0, column 1"));
}

/// Layouts whose entries have values of their own, by settings where they have a choice.
std::vector<Variant> raw_variants() {
  std::vector<Variant> all{{"csell", {{"csell.values", "raw"}}},
                           {"csell", {{"csell.values", "raw"}, {"csell.block", "1"}, {"csell.sums", "4"}}},
                           {"sjds", {{"sjds.values", "raw"}}},
                           {"sjds", {{"sjds.values", "raw"}, {"sjds.sigma", "8"}}},
                           {"bitflag", {{"bitflag.values", "raw"}}},
                           {"bitflag", {{"bitflag.values", "raw"}, {"bitflag.segments", "40"}}},
                           {"bitflag", {{"bitflag.values", "raw"}, {"bitflag.tile", "1"}, {"bitflag.hot", "5"}}},
                           {"ccoo", {{"ccoo.k", "1"}}},
                           {"ccoo", {{"ccoo.k", "8"}}},
                           {"amb", {{"amb.block", "1"}, {"amb.segment", "65"}}},
                           {"amb", {{"amb.block", "3"}, {"amb.segment", "65"}, {"amb.sigma", "64"}}}};
  for (const char* const layout : {"csr", "coo", "ell", "ellpack_r", "sell", "pjds", "dia", "pkt"})
    all.push_back({layout, {}});
  return all;
}

/// Other values for the pattern: mostly different ones, with the nasty ones among them, and +0 if `zeros` are wanted.
template <class T>
std::vector<T> other_values(const CsrView& a, bool zeros) {
  std::mt19937_64 rng(a.nnz());
  std::vector<T> values(a.nnz());
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = random_value<T>(rng, k % 5 == 0 ? 4 : 3);
    if (!zeros && std::bit_cast<bits_of<T>>(values[k]) == 0) values[k] = T{7};
  }
  return values;
}

template <class T>
CsrMatrix with_values(const CsrMatrix& a, const std::vector<T>& values) {
  CsrMatrix b = clone(a);
  std::copy(values.begin(), values.end(), std::get<Array<T>>(b.values).begin());
  return b;
}

HostMatrix load_updatable(const Container& container) {
  LoadOptions options;
  options.threads = 2;
  options.updatable = true;
  return HostMatrix::load(container, options);
}

std::vector<std::byte> present_bytes(const HostMatrix& matrix) {
  MemorySink sink;
  matrix.write(sink);
  return bytes_of(sink);
}

template <class T>
std::vector<bits_of<T>> product(const HostMatrix& a, Operation operation) {
  const MatrixFacts& facts = a.facts();
  const bool none = operation == Operation::none;
  std::vector<T> x(none ? facts.cols : facts.rows), y(none ? facts.rows : facts.cols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 7) - 3;
  a.multiply(T{1}, x, T{0}, y, 2, describe<T>(operation));
  std::vector<bits_of<T>> bits;
  for (const T v : y) bits.push_back(std::bit_cast<bits_of<T>>(v));
  return bits;
}

/// Whether the matrix is what `expected` makes of it, in its bytes and in its products.
template <class T>
void check_equal(const HostMatrix& matrix, const std::vector<std::byte>& expected) {
  CHECK(present_bytes(matrix) == expected);
  const HostMatrix from_scratch = HostMatrix::load(open(expected));
  CHECK(product<T>(matrix, Operation::none) == product<T>(from_scratch, Operation::none));
  if (matrix.has_transpose())
    CHECK(product<T>(matrix, Operation::transpose) == product<T>(from_scratch, Operation::transpose));
}

/// Updates what `make` makes of `a`, and compares it with what that makes of the matrix with the new values. False if
/// entries share values.
template <class T, class Make>
bool check_update(const CsrMatrix& a, bool zeros, Make&& make) {
  const std::vector<T> values = other_values<T>(a, zeros);
  const std::vector<std::byte> before = make(a), after = make(with_values<T>(a, values));
  const Container container = open(before);
  if (!Parts(container).own()) {
    CHECK_THROWS_WITH(load_updatable(container), Catch::Contains("--updatable"));
    return false;
  }
  HostMatrix matrix = load_updatable(container);
  check_equal<T>(matrix, before);
  matrix.update_values(std::span<const T>(values), 2);
  check_equal<T>(matrix, after);
  check_contents(open(present_bytes(matrix)));
  static_cast<void>(unpack(container));  // whose bytes the matrix does not share
  MemorySink sink;
  write_with_values(sink, container, std::span<const T>(values));
  CHECK(bytes_of(sink) == after);
  return true;
}

TEMPLATE_TEST_CASE("a matrix with new values is the one that is encoded with them", "", double, float) {
  std::map<std::string, int> updated;
  for (const NamedMatrix& m : some_matrices<TestType>({"one dense row"}))
    for (const Variant& variant : raw_variants()) {
      if (!suits(m.matrix, variant) || !suits(transposed(m.matrix), variant)) continue;
      INFO(m.name << ", " << variant.name());
      const bool by_bits = variant.layout == "dia" || variant.layout == "amb";
      updated[variant.layout] += check_update<TestType>(m.matrix, !by_bits, [&](const CsrMatrix& a) {
        return encode(source_of(a), encoder::find_strategy(variant.layout),
                      {.settings = variant.settings, .transpose = true, .threads = 2, .force_size = true})
            .bytes;
      });
    }
  for (const std::string& layout : layout_names()) {
    INFO(layout);
    CHECK(updated[layout] > 2);
  }
}

TEST_CASE("matrices of several parts get new values") {
  std::uint64_t seed = 0;
  int updated = 0;
  for (const NamedMatrix& m : some_matrices<double>({"blocks of 3", "tridiagonal"})) {
    INFO(m.name);
    ++seed;
    const auto by = [&](const encoder::Strategy& strategy) {
      return [&](const CsrMatrix& a) {
        return encode(source_of(a), strategy, {.transpose = true, .threads = 2, .force_size = true}).bytes;
      };
    };
    updated += check_update<double>(m.matrix, false, by(dealt_raw(seed)));
    updated += check_update<double>(m.matrix, false, by(encoder::find_strategy("split")));
    if (m.matrix.rows == m.matrix.cols)
      updated += check_update<double>(m.matrix, true, [](const CsrMatrix& a) {
        return encode(a, "pjds", {{"pjds.basis", "permuted"}}).bytes;
      });
  }
  CHECK(updated > 10);
}

const CsrMatrix& small_matrix() {
  static const CsrMatrix a = make_csr(3, 3, {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 0}, 0}, {{2, 1}, 4}});
  return a;
}

TEST_CASE("an update that is refused changes nothing") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](HostMatrix& matrix, const std::vector<double>& values, const std::string& why) {
    const std::vector<std::byte> before = present_bytes(matrix);
    CHECK_THROWS_WITH(matrix.update_values(std::span<const double>(values)), Catch::Contains(why));
    CHECK(present_bytes(matrix) == before);
  };
  const std::vector<std::byte> csr = encode(small_matrix(), "csr").bytes;
  HostMatrix matrix = load_updatable(open(csr));
  refused(matrix, {1, 2, 3}, "3 values for a matrix of 4 entries");
  refused(matrix, {1, 2, 3, 4, 5}, "5 values");
  const std::vector<float> floats(4);
  CHECK_THROWS_WITH(matrix.update_values(std::span<const float>(floats)),
                    Catch::Contains("f32 values for a matrix of f64"));
  CHECK_THROWS_WITH(matrix.update_values(std::span<const double>(), 2000), Catch::Contains("threads"));
  const CsrMatrix less = make_csr(3, 3, {{{0, 1}, 1}}),
                  other = make_csr(3, 3, {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 0}, 0}, {{2, 2}, 4}});
  const std::vector<std::byte> unchanged = present_bytes(matrix);
  CHECK_THROWS_WITH(matrix.update(less), Catch::Contains("with 1 entries"));
  CHECK_THROWS_WITH(matrix.update(other), Catch::Contains("in other rows and columns"));
  CHECK(present_bytes(matrix) == unchanged);
  const CsrMatrix with_others = with_values<double>(small_matrix(), {5, nan, -0.0, 8});
  matrix.update(with_others);
  CHECK(present_bytes(matrix) == encode(with_others, "csr").bytes);

  HostMatrix fixed = HostMatrix::load(open(csr));
  CHECK(!fixed.updatable());
  const std::vector<double> four(4);
  CHECK_THROWS_WITH(fixed.update(small_matrix()), Catch::Contains("LoadOptions::updatable"));
  CHECK_THROWS_WITH(fixed.update_values(std::span<const double>(four)), Catch::Contains("LoadOptions::updatable"));
  CHECK_THROWS_WITH(present_bytes(fixed), Catch::Contains("LoadOptions::updatable"));

  for (const Variant& variant : {Variant{"dia", {}}, Variant{"amb", {{"amb.block", "2"}}}}) {
    INFO(variant.layout);
    const std::vector<std::byte> file = encode(small_matrix(), variant.layout, variant.settings).bytes;
    HostMatrix by_bits = load_updatable(open(file));
    refused(by_bits, {5, 6, 7, 8}, "value 2 would change the pattern");
    refused(by_bits, {5, 0, 7, 8}, "value 1 would change the pattern");
    refused(by_bits, {5, 6, -0.0, 8}, "value 2");
    const std::vector<double> allowed{nan, -0.0, 0, 8};
    by_bits.update_values(std::span<const double>(allowed));
    CHECK(present_bytes(by_bits) ==
          encode(with_values<double>(small_matrix(), allowed), variant.layout, variant.settings).bytes);
  }

  const CsrMatrix narrow = make_csr<float>(1, 2, {{{0, 0}, 1}, {{0, 1}, 2}});
  const std::vector<std::byte> csr32 = encode(narrow, "csr").bytes;
  HostMatrix of_floats = load_updatable(open(csr32));
  refused(of_floats, {1, 1e300}, "value 1, 1e+300, is beyond f32");
  const std::vector<double> wide{0.1, -std::numeric_limits<double>::infinity()};
  of_floats.update_values(std::span<const double>(wide));
  CHECK(present_bytes(of_floats) ==
        encode(with_values<float>(narrow, {0.1F, -std::numeric_limits<float>::infinity()}), "csr").bytes);
}

TEST_CASE("what the values were is not claimed of new ones") {
  const CsrMatrix a = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}});
  const auto updated = [&](Field field, Symmetry symmetry, std::vector<double> values) {
    const std::vector<std::byte> file =
        encode(SourceMatrix{clone(a), field, symmetry, {}}, encoder::find_strategy("csr"), {.threads = 1}).bytes;
    HostMatrix matrix = load_updatable(open(file));
    CHECK(!matrix.has_transpose());
    matrix.update_values(std::span<const double>(values));
    CHECK_THROWS_WITH(product<double>(matrix, Operation::transpose), Catch::Contains("--transpose"));
    const std::vector<std::byte> bytes = present_bytes(matrix);
    const Container container = open(bytes);
    check_contents(container);
    return container.facts();
  };
  const MatrixFacts same = updated(Field::pattern, Symmetry::symmetric, {1, 1, 1, 1});
  CHECK(same.field == Field::pattern);
  CHECK(same.symmetry == Symmetry::symmetric);
  CHECK(updated(Field::pattern, Symmetry::general, {1, 2, 1, 1}).field == Field::real);
  CHECK(updated(Field::integer, Symmetry::general, {1, 2, 1, 1}).field == Field::integer);
  CHECK(updated(Field::integer, Symmetry::general, {1, 2, 0.5, 1}).field == Field::real);
  CHECK(updated(Field::real, Symmetry::symmetric, {1, 2, 3, 1}).symmetry == Symmetry::general);
  CHECK(updated(Field::real, Symmetry::symmetric, {0, 2, -2, 0}).bitwise_symmetry() == Symmetry::general);
  CHECK(updated(Field::real, Symmetry::general, {1, 2, 2, 1}).found == Symmetry::symmetric);
  CHECK(updated(Field::real, Symmetry::general, {1, 2, 3, 1}).found == Symmetry::general);

  const auto updatable = [](const CsrMatrix& matrix) {
    return encode(source_of(matrix), encoder::find_strategy("csell"),
                  {.transpose = true, .threads = 1, .updatable = true})
        .bytes;
  };
  CHECK(check_update<double>(a, true, updatable));
  const std::vector<std::byte> file = updatable(a);
  HostMatrix matrix = load_updatable(open(file));
  const std::vector<double> symmetric{1, 2, 2, 1};
  matrix.update_values(std::span<const double>(symmetric));
  check_equal<double>(matrix, updatable(with_values<double>(a, symmetric)));
}

}  // namespace
}  // namespace spmvpack::test
