// The predicates of the layouts' NAME_check.hpp in both forms, here on the host: as check() runs them, from a part's
// beginning to its first violation, and as the GPU's kernels do (gpu_loader/src/layouts/NAME/check.cu): one phase after
// the other, every chunk, slice, lane or slot of a phase by itself, whatever the others are like, in any order (here
// from the last to the first), and the kinds of violations added up. Both take and refuse the same parts: those of all
// golden files, and of mutants of them. Each section has a block of memory of its own, so that AddressSanitizer sees
// reads beyond it.

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "golden_files.hpp"
#include "sanitized.hpp"
#include "spmvpack/container/layouts/amb_check.hpp"
#include "spmvpack/container/layouts/bitflag_check.hpp"
#include "spmvpack/container/layouts/ccoo_check.hpp"
#include "spmvpack/container/layouts/coo_check.hpp"
#include "spmvpack/container/layouts/csell_check.hpp"
#include "spmvpack/container/layouts/dia_check.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pjds_check.hpp"
#include "spmvpack/container/layouts/pkt_check.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/container/layouts/sell_check.hpp"
#include "spmvpack/container/layouts/sjds_check.hpp"

namespace spmvpack::test {
namespace {

/// Whether predicate(i) finds nothing, whichever i below n.
template <class Predicate>
bool all_sound(std::uint64_t n, Predicate&& predicate) {
  std::uint32_t found = 0;
  while (n-- != 0) found |= predicate(n);
  return (found & violation_kinds) == 0;
}

template <class T>
bool device_takes_ccoo(const PartView& part) {
  using namespace layouts::ccoo;
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of<T>(part);
  if (!all_sound(v.chunks, [&](std::uint64_t c) { return check_place(v, n, c); }) || check_end(v, n) != sound)
    return false;
  std::uint64_t entries = 0;
  return all_sound(v.chunks,
                   [&](std::uint64_t c) {
                     std::uint32_t found = check_bases(v, n, c);
                     if (found != 0) return found;
                     const std::uint32_t lanes = stored_lanes(v, c);
                     const Blob blob = Blob::of(v, c);
                     if (!blob.encoding.one_row())
                       for (std::uint32_t lane = lanes; lane-- != 0;) found |= check_row_byte(v, n, c, lane);
                     bool at_base = false;
                     for (std::uint32_t slot = lanes * v.slots; slot-- != 0;) {
                       found |= check_slot(v, n, c, blob, blob, slot);
                       entries += is_padding(blob, v.slots, slot) ? 0 : 1;
                       at_base = at_base || blob.offset(slot) == 0;
                     }
                     if (!at_base) found |= base_of_no_column;
                     const Ends before = c == 0 ? Ends{} : Ends::of(v, c - 1, Blob::of(v, c - 1));
                     return found | check_order(v, c, before, Ends::of(v, c, blob));
                   }) &&
         entries == part.info().nnz;
}

template <class T>
bool device_takes_bitflag(const PartView& part) {
  using namespace layouts::bitflag;
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of(part);
  std::uint64_t continued = 0, entries = 0;
  const bool placed = all_sound(v.chunk_count + 1, [&](std::uint64_t c) {
    continued += continues_tile(v, c) ? 1 : 0;
    return check_header(v, n, c);
  });
  const bool hot =
      all_sound(v.hot_count, [&](std::uint64_t i) { return check_hot(v, n, static_cast<std::uint32_t>(i)); });
  const bool segments = all_sound(v.segment_count > 1 ? v.segment_count + std::uint64_t{1} : 0,
                                  [&](std::uint64_t s) { return check_segment(v, s); });
  if (!placed || !hot || !segments) return false;
  return all_sound(v.chunk_count,
                   [&](std::uint64_t c) {
                     const ChunkView chunk = ChunkView::of(v, c);
                     const std::uint32_t count = chunk.chunk.info.entries();
                     if (count == 0) return std::uint32_t{sound};
                     entries += count;
                     std::uint32_t found = check_base(v, chunk.chunk), all_starts = 0;
                     for (std::uint32_t e = count; e-- != 0;) {
                       std::uint32_t starts = 0;
                       for (std::uint32_t before = 0; before < e; ++before) starts += chunk.starts_row(before) ? 1 : 0;
                       all_starts += chunk.starts_row(e) ? 1 : 0;
                       const std::uint32_t column_before = e != 0 && !chunk.starts_row(e) ? chunk.column(e - 1) : 0;
                       found |= check_entry(v, n, c, chunk, e, starts, chunk.column(e), column_before);
                     }
                     for (std::uint32_t lane = 32; lane-- != 0;) found |= check_unused(chunk, lane, 32);
                     return found | check_rows(v, c, chunk, all_starts);
                   }) &&
         entries == part.info().nnz && continued == part.info().params[param_continued];
}

template <class T>
bool device_takes_csell(const PartView& part) {
  using namespace layouts::csell;
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of(part);
  Tables tables;
  std::uint32_t found = check_no_slices(v, n);
  for (std::uint64_t t = 0; t < n.tiles; ++t) found |= tables.add(v.tiles[t], n);  // these in order
  found |= tables.check(v.source, n);
  const bool steps = all_sound(n.patterns * group_steps, [&](std::uint64_t i) -> std::uint32_t {
    return check_step(v, i) | (v.patterns[i / group_steps].is_sound() ? sound : bad_pattern);
  });
  bool others = false;
  const bool slices = all_sound(v.slice_count, [&](std::uint64_t s) -> std::uint32_t {
    others = others || !v.slices[s].is_pattern();
    return check_slice(v, n, s) | check_kind(v.slices[s], n);
  });
  if (found != 0 || !steps || !slices || check_kinds(others, n) != sound) return false;
  std::uint64_t entries = 0;
  const auto all_lanes_sound = [&](auto&& predicate) {
    return all_sound(v.slice_count * lanes, [&](std::uint64_t i) -> std::uint32_t {
      return predicate(i / lanes, static_cast<std::uint32_t>(i % lanes));
    });
  };
  if (!all_lanes_sound([&](std::uint64_t s, std::uint32_t lane) {
        const SliceView slice = SliceView::of(v, s);
        std::uint32_t of_lane = check_lane(v, n, slice, s, lane, entries);
        for (std::uint64_t g = 0; g < slice.n.total(); ++g)
          for (std::uint32_t k = 0; k < group_steps; ++k)
            if ((slice.group(g).mask[k] >> lane & 1U) == 0) of_lane |= check_unused(slice, g, k, lane);
        return of_lane;
      }))
    return false;
  std::vector<std::uint32_t> columns(has_mirrors(v.source) ? n.values / (std::uint64_t{v.block} * v.block) : 0);
  if (has_mirrors(v.source) && (!all_lanes_sound([&](std::uint64_t s, std::uint32_t lane) {
        return check_slots(v, n, s, lane, columns.data());
      }) || !all_lanes_sound([&](std::uint64_t s, std::uint32_t lane) {
        return check_mirrors(v, n, s, lane, columns.data());
      })))
    return false;
  return entries * v.block * v.block == part.info().nnz;
}

template <class T>
bool device_takes_amb(const PartView& part) {
  using namespace layouts::amb;
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of(part);
  std::vector<std::uint32_t> marks(n.rows), segments(v.shared);
  const auto seen = [&](std::uint32_t row) { return std::exchange(marks[row], 1) != 0; };
  const auto claim = [&](std::uint32_t i, std::uint32_t segment) { return std::exchange(segments[i], segment); };
  const std::uint64_t lanes = v.chunks * v.chunk_rows;
  std::uint64_t zeros = 0, entries = 0;
  if (const PartView::Section* const list = part.find("stored_zeros"); list != nullptr) zeros = list->bytes.size() / 8;
  bool ok = check_steps(v) == sound && all_sound(v.chunks, [&](std::uint64_t c) { return check_chunk(v, n, c); });
  ok = all_sound(lanes, [&](std::uint64_t i) { return check_target(v, n, i, seen, claim); }) && ok;
  ok = all_sound(v.shared, [&](std::uint64_t i) { return check_shared(v, n, i, segments.data(), seen); }) && ok;
  ok = all_sound(v.empty, [&](std::uint64_t i) { return check_empty(v, n, i, seen); }) && ok;
  ok = all_sound(n.rows, [&](std::uint64_t r) { return marks[r] == 0 ? row_nowhere : sound; }) && ok;
  if (!ok) return false;
  const auto is_filled = [&](std::uint64_t slot) {
    bits_of<T> bits = 0;
    std::memcpy(&bits, v.values + slot, sizeof bits);
    return bits != 0;
  };
  return all_sound(lanes,
                   [&](std::uint64_t i) -> std::uint32_t {
                     const std::uint64_t chunk = i / v.chunk_rows, lane = i % v.chunk_rows;
                     const LaneCheck of_lane = check_lane(v, n, chunk, lane, is_filled, zeros == 0);
                     entries += of_lane.entries;
                     return of_lane.found | (lane == 0 ? check_length(v, chunk) : sound);
                   }) &&
         entries + zeros == part.info().nnz;
}

template <class T>
bool device_takes_pkt(const PartView& part) {
  using namespace layouts::pkt;
  const View<T> v = view<T>(part);
  const bool ok = all_sound(v.packets, [&](std::uint64_t p) { return check_packet(v, p); });
  if (check_end(v, part.rows()) != sound || !ok) return false;
  std::vector<std::uint8_t> rows(part.rows()), places(part.rows());
  const auto seen = [&](std::uint32_t row) { return std::exchange(rows[row], std::uint8_t{1}) != 0; };
  const auto taken = [&](std::uint64_t i) { return std::exchange(places[i], std::uint8_t{1}) != 0; };
  std::uint64_t entries = 0;
  return all_sound(v.packets,
                   [&](std::uint64_t p) {
                     std::uint32_t found = check_length(v, p);
                     for (std::uint64_t i = v.packet_ptr[p]; i < v.packet_ptr[p + 1]; ++i)
                       found |= check_row(v, part.rows(), p, i, seen);
                     for (std::uint64_t t = 0; t < v.threads; ++t) {
                       const ThreadCheck of_thread = check_thread(v, p, t, taken);
                       found |= of_thread.found;
                       entries += of_thread.entries;
                     }
                     return found;
                   }) &&
         entries == part.info().nnz;
}

template <class T>
bool device_takes_sjds(const PartView& part) {
  using namespace layouts::sjds;
  const View<T> v = view<T>(part);
  const Sizes n = sizes_of(part);
  bool ok = all_sound(v.window_count + 1, [&](std::uint64_t w) { return check_window(v, w); });
  ok = all_sound(v.slice_count, [&](std::uint64_t s) { return check_slice(v, n, s); }) && ok;
  if (v.slice_count == 0) ok = check_end(v, n) == sound && ok;
  if (!ok) return false;
  std::vector<std::uint8_t> marks(v.rows);
  const auto seen = [&](std::uint32_t row) { return std::exchange(marks[row], std::uint8_t{1}) != 0; };
  std::uint64_t entries = 0;
  return all_sound(v.slice_count,
                   [&](std::uint64_t s) {
                     entries += v.slices[s].entries();
                     return check_entries(v, n, s, seen);
                   }) &&
         entries == part.info().nnz;
}

bool device_takes_coo(const PartView& part) {
  using namespace layouts::coo;
  const Indices e{part.get<std::uint32_t>("row_idx").data(), part.get<std::uint32_t>("col_idx").data(), part.rows(),
                  part.cols()};
  return all_sound(part.info().nnz, [&](std::uint64_t i) { return check_entry(e, i); });
}

/// The first `lanes` rows of a geometry, the longest of which has `width` entries. also(r, entries): what else a layout
/// asks of a row.
template <class T, class Geometry, class Also>
bool device_takes_rows(const PartView& part, const Geometry& geometry, std::uint64_t lanes,
                       std::optional<std::uint64_t> width, const std::uint32_t* order, Also&& also) {
  using namespace layouts::padded_rows;
  const auto columns = part.get<std::uint32_t>("col_idx");
  if (columns.empty()) lanes = 0;  // rows without slots, of which a small file may have many
  std::uint64_t entries = 0, longest = 0;
  return all_sound(lanes,
                   [&](std::uint64_t r) -> std::uint32_t {
                     const RowCheck row = check_row(columns.data(), part.get<T>("values").data(), geometry(r), r,
                                                    {part.rows(), part.cols(), order});
                     entries += row.entries;
                     longest = std::max(longest, row.entries);
                     const std::uint32_t others = also(r, row.entries);
                     return row.found | others;
                   }) &&
         entries == part.info().nnz && longest == width.value_or(longest);
}

/// ell, and ellpack_r, which has the lengths of rows besides.
template <class T>
bool device_takes_ell(const PartView& part, std::uint64_t width) {
  using namespace layouts::padded_rows;
  const auto as_said = [&](std::uint64_t r, std::uint64_t entries) {
    return part.find("row_len") == nullptr || part.get<std::uint32_t>("row_len")[r] == entries ? sound
                                                                                               : entry_after_padding;
  };
  const bool ok = device_takes_rows<T>(part, layouts::ell::geometry(part), part.rows(), width, nullptr, as_said);
  // Without slots, too.
  return ok && (width != 0 || all_sound(part.find("row_len") == nullptr ? 0 : part.rows(),
                                        [&](std::uint64_t r) { return as_said(r, 0); }));
}

template <class T>
bool device_takes_sell(const PartView& part) {
  using namespace layouts::sell;
  const layouts::SellGeometry g = geometry(part);
  const std::uint64_t slices = slices_of(part.info());
  const bool ok = all_sound(slices, [&](std::uint64_t s) { return check_slice(g, s); });
  if (check_ends(g, slices, steps_of(part.info())) != sound || !ok) return false;
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  return device_takes_rows<T>(part, g, slices * g.slice_rows, {}, nullptr, [](auto...) { return sound; }) &&
         all_sound(slices, [&](std::uint64_t s) { return check_steps(g, columns, s); });
}

template <class T>
bool device_takes_pjds(const PartView& part) {
  using namespace layouts::pjds;
  const layouts::PjdsGeometry g = geometry(part);
  const bool ok = all_sound(g.width, [&](std::uint64_t s) { return check_column(g, part.rows(), s); });
  if (check_ends(g, slots_of(part.info())) != sound || !ok) return false;
  const std::uint32_t* const order = column_order(part);
  if (order != nullptr && !std::equal(order, order + part.cols(), part.get<std::uint32_t>("row_map").data()))
    return false;
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  return device_takes_rows<T>(part, g, part.rows(), g.width, order, [&](std::uint64_t r, std::uint64_t /*entries*/) {
    return check_length(g, columns, part.rows(), r);
  });
}

template <class T>
bool device_takes_dia(const PartView& part) {
  using namespace layouts::dia;
  const View v = view(part);
  const T* const values = part.get<T>("values").data();
  const PartView::Section* const zeros = part.find("stored_zeros");
  std::uint64_t entries = zeros == nullptr ? 0 : zeros->bytes.size() / 8;
  const bool ok = all_sound(v.count, [&](std::uint64_t i) { return check_diagonal(v, i); });
  const bool columns = all_sound(v.count == 0 ? 0 : v.count * v.rows, [&](std::uint64_t slot) {
    bits_of<T> bits = 0;
    std::memcpy(&bits, values + slot, sizeof bits);
    if (bits == 0) return sound;
    ++entries;
    return check_entry(v, slot % v.rows, slot / v.rows);
  });
  return ok && columns && entries == part.info().nnz;
}

bool device_takes(const PartView& part) {
  return dispatch(part.info().value_type, [&]<class T>(T) {
    if (part.info().layout == "coo") return device_takes_coo(part);
    if (part.info().layout == "ell") return device_takes_ell<T>(part, layouts::ell::width_of(part));
    if (part.info().layout == "ellpack_r") return device_takes_ell<T>(part, layouts::ellpack_r::width_of(part));
    if (part.info().layout == "sell") return device_takes_sell<T>(part);
    if (part.info().layout == "pjds") return device_takes_pjds<T>(part);
    if (part.info().layout == "dia") return device_takes_dia<T>(part);
    if (part.info().layout == "ccoo") return device_takes_ccoo<T>(part);
    if (part.info().layout == "bitflag") return device_takes_bitflag<T>(part);
    if (part.info().layout == "csell") return device_takes_csell<T>(part);
    if (part.info().layout == "pkt") return device_takes_pkt<T>(part);
    if (part.info().layout == "sjds") return device_takes_sjds<T>(part);
    return device_takes_amb<T>(part);
  });
}

bool host_takes(const PartView& part) {
  return verdict_of([&] { find_layout(part.info().layout).check(part, 1); }) == 0;
}

/// A part that can be changed, its sections in blocks of memory of exactly their sizes.
class Mutant {
 public:
  explicit Mutant(const LoadedPart& part) : info_(part.info()) {
    for (const SectionInfo& s : part.sections()) {
      const PartView::Section* const from = part.view().find(s.name);
      if (from == nullptr) continue;
      constexpr std::align_val_t alignment{256};
      auto* const bytes = static_cast<std::byte*>(::operator new(from->bytes.size(), alignment));
      blocks_.emplace_back(bytes, [](std::byte* p) { ::operator delete(p, alignment); });
      std::copy(from->bytes.begin(), from->bytes.end(), bytes);
      sections_.push_back({from->name, from->type, {bytes, from->bytes.size()}});
    }
  }
  [[nodiscard]] PartView view() const { return {info_, sections_, "a mutant"}; }

  /// One of what happens to numbers: a bit flips, they are one more or less, nothing or all ones, or their neighbours'.
  void mutate(std::mt19937_64& random) {
    if (random() % 12 == 0) {
      const std::size_t parameters = find_layout(info_.layout).parameters.size();
      std::uint64_t& number = parameters == 0 || random() % 2 == 0 ? info_.nnz : info_.params.at(random() % parameters);
      number += random() % 2 == 0 ? 1 : ~std::uint64_t{0};
      return;
    }
    const std::size_t section = random() % sections_.size();
    std::byte* const bytes = blocks_[section].get();
    const std::size_t size = sections_[section].bytes.size(), width = size_of(sections_[section].type);
    if (size == 0) return;
    const std::size_t at = random() % 3 == 0 ? random() % std::min<std::size_t>(size, 64) : random() % size;
    std::byte* const element = bytes + at / width * width;
    switch (random() % 6) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random());
        break;
      case 2:
        *element = static_cast<std::byte>(static_cast<unsigned>(*element) + 1);
        break;
      case 3:
        *element = static_cast<std::byte>(static_cast<unsigned>(*element) - 1);
        break;
      case 4:
        std::fill_n(element, width, random() % 2 == 0 ? std::byte{0} : std::byte{0xFF});
        break;
      default:
        if (element + 2 * width <= bytes + size) std::swap_ranges(element, element + width, element + width);
    }
  }

 private:
  PartInfo info_;
  std::vector<std::shared_ptr<std::byte>> blocks_;
  std::vector<PartView::Section> sections_;
};

/// Both forms take the part, or both refuse it, if its shape is right. `verdicts`: counts of parts refused and taken.
void require_same(const PartView& part, std::array<int, 2>& verdicts) {
  try {
    check_shape(part);
  } catch (const Error&) {
    return;
  }
  const bool host = host_takes(part), device = device_takes(part);
  ++verdicts.at(host ? 1 : 0);
  // Only the host has the list of stored zeros: it cannot lead a multiply astray.
  const PartView::Section* const zeros = part.find("stored_zeros");
  if (zeros != nullptr && !zeros->bytes.empty() && device) return;
  REQUIRE(device == host);
}

}  // namespace

TEST_CASE("what a GPU's checks take and refuse, the host's do, of golden files and of mutants") {
  constexpr int mutants = sanitized ? 40 : 200;
  constexpr std::uint64_t most_rows = 100'000;  // others are not mutated
  std::map<std::string, std::array<int, 2>> verdicts;
  for (const char* const kind : {"accept", "reject"})
    for (const GoldenFile& file : golden_files(kind)) {
      INFO(file.name());
      std::optional<Container> container;
      if (verdict_of([&] { container = Container::open(file.path); }) != 0) continue;
      for (std::size_t p = 0; p < container->parts().size(); ++p) {
        const std::string layout = container->parts()[p].layout;
        if (layout == "csr") continue;  // which the device counts, rather than checks by predicates
        std::optional<LoadedPart> part;
        if (verdict_of([&] { part = container->load_part(p, {.threads = 1, .check_structure = false}); }) != 0)
          continue;
        require_same(Mutant(*part).view(), verdicts[layout]);
        if (part->info().rows.count > most_rows) continue;
        std::mt19937_64 random(p);
        for (int m = 0; m < mutants; ++m) {
          INFO("mutant " << m);
          Mutant mutant(*part);
          for (std::uint64_t changes = 1 + random() % 3; changes != 0; --changes) mutant.mutate(random);
          require_same(mutant.view(), verdicts[layout]);
        }
      }
    }
  REQUIRE(verdicts.size() == 12);
  for (const auto& [layout, of_layout] : verdicts) {
    INFO(layout);
    CHECK(of_layout[0] > 300);
    CHECK(of_layout[1] > 100);
  }
}

}  // namespace spmvpack::test
