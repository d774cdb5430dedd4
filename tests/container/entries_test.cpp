// Where the value of each entry lies, as the layouts' Entries say: enumerating the parts of all golden files, and of
// matrices of every awkward kind in every layout, gives the entries of CSR, each with its bits, whoever takes them. A
// slot that is an entry's own is no other's, and can be written.

#include <algorithm>
#include <bit>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "containers.hpp"
#include "every_entries.hpp"
#include "golden_files.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/entry_order.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "variants.hpp"

SPMVPACK_TEST_ONCE_FROM_HERE

namespace spmvpack::test {
namespace {

using layouts::Change;
using layouts::ValuesAre;
using layouts::ValueSlot;

/// A part's sections, which can be changed.
struct Changeable {
  std::vector<std::vector<std::byte>> sections;
  layouts::SectionBytes<std::byte> bytes;

  explicit Changeable(const PartView& part) {
    const auto names = find_layout(part.info().layout).sections;
    sections.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto* const section = part.find(names[i].name);
      if (section != nullptr) sections[i].assign(section->bytes.begin(), section->bytes.end());
      bytes.begin[i] = sections[i].data();
    }
  }
};

/// What enumerating a part gives is what it unpacks to, whoever takes the entries. Of slots, those that are an entry's
/// own are no other's.
template <class T, class Entries>
void check_entries(const PartView& part, const Entries& entries, const CsrMatrix& expected) {
  const auto& values = std::get<Array<T>>(expected.values);
  std::vector<std::uint64_t> row_ptr(part.rows() + 1);
  const auto before = layouts::count_entries(entries, row_ptr, part.info().nnz, 2);
  REQUIRE(std::equal(row_ptr.begin(), row_ptr.end(), expected.row_ptr.begin(), expected.row_ptr.end()));
  const layouts::EntryOrder order{row_ptr.data(), before.data()};
  const auto bytes = layouts::section_bytes(part);
  for (const std::uint32_t lanes : {1U, 3U}) {
    INFO(lanes << " lanes");
    std::vector<bool> met(expected.nnz());
    std::vector<std::pair<int, std::uint64_t>> own;
    std::uint64_t wrong = 0, twice = 0, out_of_order = 0;
    each_entry(
        entries, lanes,
        [&](std::uint32_t row, std::uint64_t run, std::uint32_t index, std::uint32_t column, const ValueSlot& slot) {
          const std::uint64_t k = order.first(row, run) + index;
          if (k >= row_ptr[row + 1] || met[k]) return void(++twice);
          if (lanes == 1 && k != row_ptr[row] && !met[k - 1] && index != 0) ++out_of_order;
          met[k] = true;
          if (expected.col_idx[k] != column || bytes.read<T>(slot) != std::bit_cast<bits_of<T>>(values[k])) ++wrong;
          if (slot.are == ValuesAre::own && slot.change != Change::none) ++wrong;
          if (slot.are == ValuesAre::own) own.emplace_back(slot.section, slot.byte);
        });
    CHECK(wrong == 0);
    CHECK(twice == 0);
    CHECK(out_of_order == 0);
    CHECK(std::count(met.begin(), met.end(), false) == 0);
    std::sort(own.begin(), own.end());
    CHECK(std::adjacent_find(own.begin(), own.end()) == own.end());
  }
}

/// A value that is written is read again where it is an entry's own, in its place alone, and refused elsewhere; so is
/// +0, and what is not, where it would change the pattern.
template <class T, class Entries>
void check_writing(const PartView& part, const Entries& entries) {
  const Changeable copy(part);
  std::vector<ValueSlot> slots;
  each_entry(entries, 1,
             [&](std::uint32_t /*row*/, std::uint64_t /*run*/, std::uint32_t /*index*/, std::uint32_t /*column*/,
                 const ValueSlot& slot) { slots.push_back(slot); });
  const auto new_bits = [](std::size_t i) { return static_cast<bits_of<T>>(0x7FF0123400000001U + i); };
  std::uint64_t wrong = 0;
  std::vector<bits_of<T>> expected;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bits_of<T> bits = copy.bytes.read<T>(slots[i]);
    const bool is_own = slots[i].are == ValuesAre::own;
    const bool by_bits = part.info().layout == "dia" ||
                         (part.info().layout == "amb" && part.info().params.at(layouts::amb::param_block) > 1);
    const bool takes = is_own && !(by_bits && bits == 0);
    if (copy.bytes.write<T>(slots[i], new_bits(i)) != takes) ++wrong;
    if (copy.bytes.write<T>(slots[i], 0) != (is_own && !(by_bits && bits != 0))) ++wrong;
    if (is_own && !by_bits) copy.bytes.write<T>(slots[i], new_bits(i));
    expected.push_back(takes ? new_bits(i) : bits);
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (copy.bytes.read<T>(slots[i]) != expected[i]) ++wrong;
  CHECK(wrong == 0);
}

/// How many parts of each layout have been looked at, and of each kind of values.
struct Looked {
  std::map<std::string, int> at;
  std::map<ValuesAre, int> values;
};

void check_parts(const Container& container, Looked& looked) {
  static_cast<void>(unpack(container));  // compares digests, which no walk has made
  for (std::size_t p = 0; p < container.parts().size(); ++p) {
    const LoadedPart loaded = container.load_part(p, {.threads = 1});
    const PartView part = loaded.view();
    if (part.rows() > 100'000) continue;  // empty ones
    INFO("part " << p << ", " << part.info().layout);
    const CsrMatrix expected = find_layout(part.info().layout).unpack(part, 1);
    dispatch(part.info().value_type, [&]<class T>(T) {
      with_entries<T>(part, [&](const auto& entries) {
        check_entries<T>(part, entries, expected);
        check_writing<T>(part, entries);
        ++looked.at[part.info().layout];
        const PartValues of_part = part_values(part.info());
        std::uint64_t unlike = 0;
        each_entry(entries, 1,
                   [&](std::uint32_t /*row*/, std::uint64_t /*run*/, std::uint32_t /*index*/, std::uint32_t /*column*/,
                       const ValueSlot& slot) {
                     ++looked.values[slot.are];
                     // Chunks of ccoo may be both.
                     const bool like =
                         slot.are == of_part.are || (part.info().layout == "ccoo" && of_part.are == ValuesAre::shared);
                     if (!like || slot.holds_by_bits != of_part.hold_by_bits) ++unlike;
                   });
        CHECK(unlike == 0);
      });
    });
  }
}

void check_all_looked_at(Looked& looked, bool decimals) {
  for (const std::string& layout : layout_names()) {
    INFO(layout);
    CHECK(looked.at[layout] > 5);
  }
  CHECK(looked.values[ValuesAre::own] > 1000);
  CHECK(looked.values[ValuesAre::shared] > 1000);
  if (decimals) CHECK(looked.values[ValuesAre::computed] > 100);
}

TEST_CASE("golden files: each entry's value lies where the enumeration says") {
  Looked looked;
  for (const GoldenFile& file : golden_files("accept")) {
    INFO(file.name());
    check_parts(Container::open(file.path), looked);
  }
  check_all_looked_at(looked, true);
}

TEMPLATE_TEST_CASE("matrices in every layout: each entry's value lies where the enumeration says", "", double, float) {
  Looked looked;
  for (const int values : {0, 1, 3, 4}) {
    if (sanitized && (values % 3 == 0) != std::is_same_v<TestType, double>) continue;
    for (const NamedMatrix& m : random_matrices<TestType>(static_cast<std::uint64_t>(values), values)) {
      if (m.matrix.nnz() > 20'000) continue;
      for (const Variant& variant : every_variant()) {
        if (!suits(m.matrix, variant)) continue;
        INFO(m.name << ", values " << values << ", " << variant.name());
        check_parts(open(encode(m.matrix, variant.layout, variant.settings).bytes), looked);
      }
    }
  }
  check_all_looked_at(looked, std::is_same_v<TestType, double>);
}

TEST_CASE("updatable: every entry has a slot of its own, in every layout and strategy, for every aim") {
  std::uint64_t slots = 0, looked = 0;
  for (const int values : {0, 2}) {  // one value; some hundred
    for (const NamedMatrix& m : random_matrices<double>(5, values)) {
      if (m.matrix.nnz() > 1000) continue;
      const SourceMatrix source{clone(m.matrix), Field::real, Symmetry::general, {}};
      for (const encoder::Strategy& strategy : encoder::strategies())
        for (const auto optimize : {encoder::Objective::time, encoder::Objective::bytes}) {
          if (!strategy.traits.aims && (optimize == encoder::Objective::bytes || values != 0)) continue;
          INFO(m.name << ", values " << values << ", " << strategy.name);
          encoder::EncodeRequest request{.aim = {.optimize = optimize}, .threads = 2, .force_size = true};
          request.updatable = true;
          Encoded made;
          try {
            made = encode(source, strategy, request);
          } catch (const Error& e) {
            REQUIRE(e.code() == errc::unsupported);  // as without
            continue;
          }
          ++looked;
          const Container file = open(made.bytes);
          REQUIRE(equal_bits(unpack(file), m.matrix));
          std::uint64_t shared = 0, by_bits = 0;
          for (std::size_t p = 0; p < file.parts().size(); ++p) {
            const LoadedPart loaded = file.load_part(p, {.threads = 1});
            const PartView part = loaded.view();
            with_entries<double>(part, [&](const auto& entries) {
              each_entry(entries, 1,
                         [&](std::uint32_t /*row*/, std::uint64_t /*run*/, std::uint32_t /*index*/,
                             std::uint32_t /*column*/, const ValueSlot& slot) {
                           ++slots;
                           if (slot.are != ValuesAre::own) ++shared;
                           if (slot.holds_by_bits) ++by_bits;
                         });
            });
          }
          CHECK(shared == 0);
          if (strategy.chooses) CHECK(by_bits == 0);
        }
    }
  }
  CHECK(looked > 200);
  CHECK(slots > 10'000);
}

}  // namespace
}  // namespace spmvpack::test
