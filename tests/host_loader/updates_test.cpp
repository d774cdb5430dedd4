// New values in an old pattern: where the entries of all layouts find them.

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "containers.hpp"
#include "dealt.hpp"
#include "every_entries.hpp"
#include "matrices.hpp"
#include "spmvpack/container/multiply/value_slots.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

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
        if (i == no_value) continue;
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

/// Those of every structure that have few entries.
template <class T>
std::vector<NamedMatrix> small_matrices(int values, std::uint64_t entries) {
  std::vector<NamedMatrix> all = random_matrices<T>(17, values);
  std::erase_if(all, [&](const NamedMatrix& m) { return m.matrix.nnz() > entries; });
  return all;
}

/// dealt(), whose parts have values of their own where their layouts have a choice.
encoder::Strategy dealt_raw(std::uint64_t seed) {
  encoder::Strategy strategy = dealt(seed);
  strategy.plan = [plan = strategy.plan](const CsrView& a, encoder::PlanOptions options) {
    options.settings = {{"csell.values", "raw"}, {"bitflag.values", "raw"}, {"sjds.values", "raw"}};
    return plan(a, options);
  };
  return strategy;
}

SourceMatrix source_of(const CsrMatrix& a) { return {clone(a), Field::real, Symmetry::general, {}}; }

TEMPLATE_TEST_CASE("entries of every layout find their values in the order of the matrix", "", double, float) {
  std::map<std::string, int> looked_at;
  int refused = 0;
  for (const NamedMatrix& m : small_matrices<TestType>(3, 6000))
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
  for (const NamedMatrix& m : small_matrices<double>(3, 30'000)) {
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

}  // namespace
}  // namespace spmvpack::test
