// ELLPACK: the worked example of docs/LAYOUTS.md, the awkward shapes, files that lie.

#include "spmvpack/container/layouts/ell.hpp"

#include <bit>
#include <functional>

#include "catch.hpp"
#include "worked_example.hpp"

namespace spmvpack::test {
namespace {

using layouts::no_column;

/// The message of the error that unpacking a file ends with after `edit` of its columns and values; empty: none.
std::string refusal(const std::function<void(std::vector<std::uint32_t>&, std::vector<double>&)>& edit) {
  const std::vector<std::byte> file = encode(worked_example(), "ell").bytes;
  auto columns = elements<std::uint32_t>(open(file), "col_idx");
  auto values = elements<double>(open(file), "values");
  const auto lying = edited(file, [&](ContainerSource& source) {
    PartSource& part = source.parts[0];
    edit(columns, values);
    const auto replace = [&](std::size_t i, const auto& array) {
      const auto bytes = std::as_bytes(std::span(array));
      const SectionDescription& s = layouts::ell::sections.at(i);
      part.sections[i] =
          section_of_bytes(std::string(s.name), s.type(part.info), s.flags, s.alignment, {bytes.begin(), bytes.end()});
    };
    replace(0, columns);
    replace(1, values);
  });
  try {
    const LoadedPart part = open(lying).load_part(0);
  } catch (const Error& e) {
    CHECK(e.code() == errc::corrupt);
    return e.message();
  }
  return {};
}

}  // namespace

TEST_CASE("the worked example of docs/LAYOUTS.md in ell") {
  const Container c = open(encode(worked_example(), "ell").bytes);
  constexpr std::uint32_t none = no_column;
  CHECK(layouts::ell::slots_of(c.parts()[0]) == 4 * 3);
  CHECK(elements<std::uint32_t>(c, "col_idx") == std::vector<std::uint32_t>{0, 0, none, 3,  //
                                                                            1, 1, none, 4,  //
                                                                            none, 4, none, none});
  CHECK(elements<double>(c, "values") == std::vector<double>{2, -1, 0, 2, -1, 2, 0, -1, 0, .5, 0, 0});
  CHECK(c.device_bytes() == 4 * 3 * 12);
}

TEST_CASE("ell stores rows times the longest row, and keeps zeros and NaNs that are entries") {
  const double nan = std::bit_cast<double>(std::uint64_t{0x7FF8000000000123});
  const CsrMatrix a = make_csr(3, 4, {{{0, 3}, 0.0}, {{2, 0}, -0.0}, {{2, 1}, nan}});
  const Encoded file = encode(a, "ell");
  CHECK(file.device_bytes == 3 * 2 * 12);
  CHECK(equal_bits(unpack(open(file.bytes)), a));
  const encoder::PartPlan plan = plan_of(a, "ell");
  CHECK(plan.padding == 3);
  CHECK(plan_of(make_csr(0, 4, {}), "ell").device_bytes() == 0);
  CHECK(plan_of(make_csr(4, 4, {}), "ell").device_bytes() == 0);
}

TEST_CASE("ell of a matrix with one long row is costed, and refused unless forced") {
  Entries entries;
  for (std::uint32_t c = 0; c < 3000; ++c) entries[{7, c}] = c;
  const SourceMatrix source{make_csr(3000, 3000, entries), Field::real, Symmetry::general, {}};
  CHECK(plan_of(source.matrix, "ell").device_bytes() == std::uint64_t{3000} * 3000 * 12);
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.spmvc");
  try {
    encoder::encode(source, {.strategy = "ell"}, path);
    FAIL("encoded");
  } catch (const Error& e) {
    CHECK(e.code() == errc::unsupported);
    CHECK(e.message() == "ell takes 108,000,000 bytes, 2,249 times the 48,004 of csr");
  }
  CHECK(std::filesystem::is_empty(directory.path()));
  CHECK(encoder::encode(source, {.strategy = "ell", .force_size = true}, path).device_bytes == 108000000);
  CHECK(equal_bits(unpack(Container::open(path)), source.matrix));
  CHECK(encoder::find_strategy("auto").plan(source.matrix, {}).strategy != "ell");
}

TEST_CASE("ell whose bytes lie is refused") {
  CHECK(refusal([](U32&, F64&) {}).empty());
  CHECK(refusal([](U32& c, F64&) { c[0] = 5; }) == "row 0, slot 0: a column out of range");
  CHECK(refusal([](U32& c, F64&) { c[4] = 0; }) == "row 0, slot 1: columns do not rise");
  CHECK(refusal([](U32& c, F64&) { c[10] = 1; }) == "row 2, slot 2: an entry after padding");
  CHECK(refusal([](U32&, F64& v) { v[8] = -0.0; }) == "row 0, slot 2: padding with a value");
  CHECK(refusal([](U32& c, F64& v) { c[9] = no_column, v[9] = 0; }) == "6 entries, the part table says 7");
  const auto resized = [](std::size_t columns, std::size_t values) {
    return refusal([=](U32& c, F64& v) {
      c.resize(columns, no_column);
      v.resize(values);
    });
  };
  CHECK(resized(16, 16) == "no row has the width of 4 entries");
  CHECK(resized(8, 8) == "6 entries, the part table says 7");
  CHECK(resized(12, 8) == "8 elements, expected 12");
  CHECK(resized(13, 13) == "13 slots of 4 rows");
}

}  // namespace spmvpack::test
