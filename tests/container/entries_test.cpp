// Where the value of each entry lies, as the layouts' each_entry() say: enumerating the parts of all golden files, and
// of matrices of every awkward kind in every layout, gives the entries of CSR, each with its bits, and a slot that is
// an entry's own is no other's.

#include <bit>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "containers.hpp"
#include "golden_files.hpp"
#include "matrices.hpp"
#include "spmvpack/container/layouts/amb_entries.hpp"
#include "spmvpack/container/layouts/bitflag_entries.hpp"
#include "spmvpack/container/layouts/ccoo_entries.hpp"
#include "spmvpack/container/layouts/coo.hpp"
#include "spmvpack/container/layouts/csell_entries.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/dia.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pkt_entries.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/container/layouts/sjds_entries.hpp"
#include "variants.hpp"

namespace spmvpack::test {
namespace {

using layouts::element_slot;
using layouts::ValuesAre;
using layouts::ValueSlot;

/// What is enumerated of a part, by row, in the order in which it comes.
template <class T>
class Found {
 public:
  explicit Found(std::uint64_t rows) : rows_(rows) {}

  void add(std::uint64_t row, std::uint32_t column, const void* section, const ValueSlot& slot, ValuesAre are) {
    const void* const at = static_cast<const std::byte*>(section) + slot.section_byte;
    if (are == ValuesAre::own && (!own_.insert(at).second || slot.change != layouts::Change::none)) ++not_own_;
    rows_.at(row).emplace_back(column, layouts::value_bits<T>(section, slot));
  }
  /// The columns of a row as CSR has them: rising, but in a part whose columns are in an order of their own.
  [[nodiscard]] bool equals(const CsrMatrix& m) const {
    const auto& values = std::get<Array<T>>(m.values);
    for (std::uint64_t r = 0; r < m.rows; ++r) {
      if (rows_[r].size() != m.row_ptr[r + 1] - m.row_ptr[r]) return false;
      for (std::uint64_t i = 0; i < rows_[r].size(); ++i) {
        const std::uint64_t k = m.row_ptr[r] + i;
        if (rows_[r][i] != std::pair{m.col_idx[k], std::bit_cast<bits_of<T>>(values[k])}) return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::uint64_t not_own() const { return not_own_; }

 private:
  std::vector<std::vector<std::pair<std::uint32_t, bits_of<T>>>> rows_;
  std::set<const void*> own_;
  std::uint64_t not_own_ = 0;
};

template <class T>
void enumerate_csr(const PartView& part, Found<T>& found) {
  const CsrView a = layouts::csr::view(part);
  for (std::uint64_t r = 0; r < a.rows(); ++r)
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k)
      found.add(r, a.col_idx()[k], a.values<T>(), element_slot<T>(k), ValuesAre::own);
}

template <class T>
void enumerate_coo(const PartView& part, Found<T>& found) {
  const auto rows = part.get<std::uint32_t>("row_idx"), columns = part.get<std::uint32_t>("col_idx");
  for (std::uint64_t k = 0; k < rows.size(); ++k)
    found.add(rows[k], columns[k], part.get<T>("values").data(), element_slot<T>(k), ValuesAre::own);
}

template <class T, class Geometry>
void enumerate_padded(const PartView& part, const Geometry& geometry, Found<T>& found) {
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  for (std::uint64_t r = 0; r < part.rows(); ++r)
    layouts::each_entry<T>(columns, geometry(r), [&](std::uint32_t column, const ValueSlot& slot) {
      found.add(r, column, part.get<T>("values").data(), slot, ValuesAre::own);
    });
}

/// Whether an element of `values` is an entry's, naively.
template <class T>
auto holds_entry(const PartView& part) {
  return [values = part.get<T>("values"), zeros = part.find("stored_zeros") == nullptr
                                                      ? std::span<const std::uint64_t>{}
                                                      : part.get<std::uint64_t>("stored_zeros")](std::uint64_t i) {
    return std::bit_cast<bits_of<T>>(values[i]) != 0 || std::find(zeros.begin(), zeros.end(), i) != zeros.end();
  };
}

template <class T>
void enumerate_dia(const PartView& part, Found<T>& found) {
  const layouts::dia::View v = layouts::dia::view(part);
  for (std::uint64_t r = 0; r < part.rows(); ++r)
    layouts::dia::each_entry<T>(v, r, holds_entry<T>(part), [&](std::uint32_t column, const ValueSlot& slot) {
      found.add(r, column, part.get<T>("values").data(), slot, ValuesAre::own);
    });
}

/// A row's lanes by their segments, as the partial sums of a shared row are numbered.
template <class T>
void enumerate_amb(const PartView& part, Found<T>& found) {
  using namespace layouts::amb;
  const View<T> v = view<T>(part);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lanes;  // by row and segment
  for (std::uint64_t lane = 0; lane < v.chunks * v.chunk_rows; ++lane) {
    const LaneRow to{v.row_idx[lane]};
    if (to.is_none()) continue;
    const std::uint32_t row = to.is_shared() ? v.shared_rows[to.index()] : to.index();
    lanes[{row, ChunkLength{v.cl[lane / v.chunk_rows]}.segment()}] = lane;
  }
  for (const auto& [at, lane] : lanes)
    each_entry(v, lane / v.chunk_rows, lane % v.chunk_rows, holds_entry<T>(part),
               [&, row = at.first](std::uint32_t column, const ValueSlot& slot) {
                 found.add(row, column, v.values, slot, ValuesAre::own);
               });
}

template <class T>
void enumerate_ccoo(const PartView& part, Found<T>& found) {
  using namespace layouts::ccoo;
  const View<T> v = view<T>(part);
  for (std::uint64_t c = 0; c < v.chunks; ++c)
    each_entry(v, c, Blob::of(v, c), [&](std::uint32_t row, std::uint32_t column, const ValueSlot& slot) {
      found.add(row, column, value_section(v, c), slot, values_are(Encoding{v.encoding[c]}));
    });
}

/// Segments are in the order of their columns. False of decimals, whose values have no slots.
template <class T>
bool enumerate_bitflag(const PartView& part, Found<T>& found) {
  using namespace layouts::bitflag;
  const View<T> v = view<T>(part);
  if (values_are(v.source) == ValuesAre::computed) return false;
  for (std::uint64_t c = 0; c < v.chunk_count; ++c)
    each_entry<T>(ChunkView::of(v, c), [&](std::uint32_t row, std::uint32_t column, const ValueSlot& slot) {
      found.add(row % v.rows, column, value_section(v), slot, values_are(v.source));
    });
  return true;
}

template <class T>
void enumerate_csell(const PartView& part, Found<T>& found) {
  using namespace layouts::csell;
  const View<T> v = view<T>(part);
  for (std::uint64_t row = 0; row < part.rows(); ++row) {
    const std::uint64_t block_row = row / v.block, s = block_row / lanes;
    const SliceView slice = SliceView::of(v, s);
    each_entry(v, slice, EntriesBefore::of(slice), s, static_cast<std::uint32_t>(block_row % lanes),
               static_cast<std::uint32_t>(row % v.block), [&](std::uint32_t column, const ValueSlot& slot) {
                 found.add(row, column, v.values, slot, values_are(v.source));
               });
  }
}

template <class T>
void enumerate_pkt(const PartView& part, Found<T>& found) {
  using namespace layouts::pkt;
  const View<T> v = view<T>(part);
  for (std::uint64_t p = 0; p < v.packets; ++p)
    for (std::uint64_t t = 0; t < v.threads; ++t)
      each_entry(v, p, t, [&](std::uint32_t row, std::uint32_t column, const ValueSlot& slot) {
        found.add(row, column, v.values, slot, ValuesAre::own);
      });
}

template <class T>
void enumerate_sjds(const PartView& part, Found<T>& found) {
  using namespace layouts::sjds;
  const View<T> v = view<T>(part);
  for (std::uint64_t s = 0; s < v.slice_count; ++s) {
    const SliceView slice = SliceView::of(v, s);
    const auto add_to = [&](std::uint64_t row) {
      return [&, row](std::uint64_t column, const ValueSlot& slot) {
        found.add(row, static_cast<std::uint32_t>(column), v.values, slot, values_are(v.source));
      };
    };
    if (s >= v.row_slices()) {
      each_entry_of_piece<T>(slice, add_to(slice.slice.row));
      continue;
    }
    for (std::uint32_t lane = 0; lane < slice.slice.rows(); ++lane) each_entry<T>(slice, lane, add_to(slice.row(lane)));
  }
}

/// Enumerates a part; false if its values have no slots.
template <class T>
bool enumerate(const PartView& part, Found<T>& found) {
  namespace of = layouts;
  const std::string& name = part.info().layout;
  if (name == "csr") return enumerate_csr(part, found), true;
  if (name == "coo") return enumerate_coo(part, found), true;
  if (name == "ell") return enumerate_padded(part, of::ell::geometry(part), found), true;
  if (name == "ellpack_r") return enumerate_padded(part, of::ellpack_r::geometry(part), found), true;
  if (name == "sell") return enumerate_padded(part, of::sell::geometry(part), found), true;
  if (name == "pjds") return enumerate_padded(part, of::pjds::geometry(part), found), true;
  if (name == "dia") return enumerate_dia(part, found), true;
  if (name == "amb") return enumerate_amb(part, found), true;
  if (name == "pkt") return enumerate_pkt(part, found), true;
  if (name == "ccoo") return enumerate_ccoo(part, found), true;
  if (name == "csell") return enumerate_csell(part, found), true;
  if (name == "sjds") return enumerate_sjds(part, found), true;
  REQUIRE(name == "bitflag");
  return enumerate_bitflag(part, found);
}

/// What enumerating the parts of a container gives is what they unpack to.
void check_parts(const Container& container, std::map<std::string, int>& enumerated) {
  for (std::size_t p = 0; p < container.parts().size(); ++p) {
    const LoadedPart loaded = container.load_part(p, {.threads = 1});
    const PartView part = loaded.view();
    if (part.rows() > 100'000) continue;  // empty ones
    INFO("part " << p << ", " << part.info().layout);
    const CsrMatrix expected = find_layout(part.info().layout).unpack(part, 1);
    dispatch(part.info().value_type, [&]<class T>(T) {
      Found<T> found(part.rows());
      if (!enumerate(part, found)) return;
      CHECK(found.equals(expected));
      CHECK(found.not_own() == 0);
      ++enumerated[part.info().layout];
    });
  }
}

TEST_CASE("golden files: each entry's value lies where the enumeration says") {
  std::map<std::string, int> enumerated;
  for (const GoldenFile& file : golden_files("accept")) {
    INFO(file.name());
    check_parts(Container::open(file.path), enumerated);
  }
  for (const std::string& layout : layout_names()) {
    INFO(layout);
    CHECK(enumerated[layout] > 5);
  }
}

TEMPLATE_TEST_CASE("matrices in every layout: each entry's value lies where the enumeration says", "", double, float) {
  std::map<std::string, int> enumerated;
  for (const int values : {0, 1, 3, 4}) {
    if (sanitized && (values % 3 == 0) != std::is_same_v<TestType, double>) continue;
    for (const NamedMatrix& m : random_matrices<TestType>(static_cast<std::uint64_t>(values), values)) {
      if (m.matrix.nnz() > 20'000) continue;
      for (const Variant& variant : every_variant()) {
        if (!suits(m.matrix, variant)) continue;
        INFO(m.name << ", values " << values << ", " << variant.name());
        check_parts(open(encode(m.matrix, variant.layout, variant.settings).bytes), enumerated);
      }
    }
  }
  for (const std::string& layout : layout_names()) {
    INFO(layout);
    CHECK(enumerated[layout] > 5);
  }
}

}  // namespace
}  // namespace spmvpack::test
