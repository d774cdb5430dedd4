#include "layouts/csell/writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "layouts/csell/slice.hpp"
#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts::csell_plans {
namespace {

/// Writes the sections.
class CsellWriter {
 public:
  CsellWriter(const Slices& plan, const CsrView& a) : p_(plan), a_(a) {}

  void fill_stream(std::uint64_t begin, std::span<std::byte> out) const;
  template <class T>
  void fill_values(std::uint64_t begin, std::span<std::byte> out) const;

 private:
  /// Calls f(steps, slice) for the slices whose bytes overlap [begin, end), where `place` is their element in units.
  template <class F>
  void each_slice(std::uint32_t Slice::*place, std::uint64_t begin, std::uint64_t end, F&& f) const;
  template <class T>
  void write_stream(const SliceSteps& steps, std::uint64_t s, const TileIds* ids, std::byte* out) const;
  template <class T>
  void write_values(const SliceSteps& steps, std::uint64_t s, bits_of<T>* out) const;
  template <class T>
  void write_slots(std::uint64_t s, bits_of<T>* out) const;
  template <class T>
  void fill_slots(std::uint64_t begin, std::span<std::byte> out) const;

  const Slices& p_;
  CsrView a_;
};

template <class F>
void CsellWriter::each_slice(std::uint32_t Slice::*place, std::uint64_t begin, std::uint64_t end, F&& f) const {
  const CountedVector<Slice>& slices = p_.columns.slices;
  const auto after = std::upper_bound(slices.begin(), slices.end(), begin / unit,
                                      [&](std::uint64_t at, const Slice& slice) { return at < slice.*place; });
  const BlockRows rows(a_, p_.columns.block);
  RecentSlices<std::optional<SliceSteps>> recent(rows, p_.columns.by_value);
  for (auto s = static_cast<std::uint64_t>(after - slices.begin()) - 1;
       s < slices.size() && std::uint64_t{slices[s].*place} * unit < end; ++s) {
    const std::uint64_t to = s + 1 < slices.size() ? slices[s + 1].*place : ~std::uint64_t{0};
    if (to == slices[s].*place) continue;
    const auto& steps = recent(s, [&](std::optional<SliceSteps>& known) {
      if (!known) known.emplace(rows);
      p_.columns.arrange(*known, s);
    });
    f(*steps, s);
  }
}

template <class T>
void CsellWriter::write_stream(const SliceSteps& steps, std::uint64_t s, const TileIds* ids, std::byte* out) const {
  const SliceGroups n = steps.groups();
  const StreamLayout at = stream_layout(n, p_.entry_id_bytes(s));
  const std::uint32_t block = p_.columns.block, values = ids == nullptr ? 1 : block * block,  // with ids
      id_bytes = p_.entry_id_bytes(s) / values;
  if (n.counts() == SliceGroups::many) std::memcpy(out, &n, sizeof n);
  const auto shift = static_cast<std::uint32_t>((s - steps.slice()) * lanes);  // they may be another slice's
  const BlockRows rows(a_, block);
  std::array<LaneStarts, max_block> starts;  // of each row of a block
  for (std::uint32_t r = 0; r < (ids == nullptr ? 1 : block); ++r) starts.at(r) = lane_starts(rows, s, r);
  std::array<std::uint64_t, 4> next{};  // steps of each kind so far
  for (const Step& step : steps.steps()) {
    const auto kind = static_cast<std::size_t>(step.columns);
    std::uint64_t group = next.at(kind) / group_steps;
    const std::uint64_t of_kind = group, k = next.at(kind)++ % group_steps;
    for (std::size_t i = 0; i < kind; ++i) group += n.of[i];
    /// Writes value(the first entry of the row of element e, number of the block) for each of the step's lanes, into
    /// words of type W, of which the groups begin there.
    const auto put = [&]<class W>(W* of_groups, std::uint64_t g, std::uint32_t e, auto&& value) {
      const LaneStarts& of_row = starts.at(e / block);
      W* const words = of_groups + g * lanes * group_steps + k;
      const std::uint32_t* entry = steps.entries().data() + step.first;
      for (std::uint32_t mask = step.mask; mask != 0; mask &= mask - 1, ++entry) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        words[lane * group_steps] = static_cast<W>(value(of_row[lane], *entry));
      }
    };
    if (kind != 0) {
      Group* const header = reinterpret_cast<Group*>(out + at.groups * unit) + (group - n.of[0]);
      const std::uint32_t base = step.base + shift;
      header->base[k] = base;
      header->mask[k] = step.mask;
      std::byte* const offsets = out + at.words[kind - 1] * unit;
      const auto offset = [&](std::uint64_t row, std::uint32_t number) {
        return rows.in_blocks(a_.col_idx()[row + std::uint64_t{number} * block]) - base;
      };
      if (step.columns == Columns::offset_8)
        put(reinterpret_cast<std::uint8_t*>(offsets), of_kind, 0, offset);
      else if (step.columns == Columns::offset_16)
        put(reinterpret_cast<std::uint16_t*>(offsets), of_kind, 0, offset);
      else
        put(reinterpret_cast<std::uint32_t*>(offsets), of_kind, 0, offset);
    }
    if (id_bytes == 0) continue;
    for (std::uint32_t e = 0; e < values; ++e) {
      const auto id = [&](std::uint64_t row, std::uint32_t number) -> std::uint32_t {
        if (p_.mirrors) return p_.mirrors->references[rows.number(row) + number];
        return ids->find(value_bits(a_.values<T>()[row + std::uint64_t{number} * block + e % block]));
      };
      const std::uint64_t of_element = group * values + e;
      if (id_bytes == 1)
        put(reinterpret_cast<std::uint8_t*>(out + at.ids * unit), of_element, e, id);
      else
        put(reinterpret_cast<std::uint16_t*>(out + at.ids * unit), of_element, e, id);
    }
  }
}

void CsellWriter::fill_stream(std::uint64_t begin, std::span<std::byte> out) const {
  if (out.empty()) return;
  CountedVector<std::byte> bytes;
  std::optional<TileIds> ids;
  std::uint64_t tile = ~std::uint64_t{0};
  each_slice(&Slice::stream, begin, begin + out.size(), [&](const SliceSteps& steps, std::uint64_t s) {
    if (!p_.tiles.empty() && tile != s / p_.tables.slices) ids.emplace(p_.tables.values[tile = s / p_.tables.slices]);
    bytes.assign(stream_layout(steps.groups(), p_.entry_id_bytes(s)).end * unit, {});
    dispatch(a_.value_type(), [&]<class T>(T) { write_stream<T>(steps, s, ids ? &*ids : nullptr, bytes.data()); });
    copy_overlap(begin, out, std::uint64_t{p_.columns.slices[s].stream} * unit, bytes);
  });
}

/// Step by step, as raw_place() says.
template <class T>
void CsellWriter::write_values(const SliceSteps& steps, std::uint64_t s, bits_of<T>* out) const {
  // As bits, which a copy of a NaN keeps.
  const auto* const values = static_cast<const bits_of<T>*>(a_.value_bytes());
  const std::uint32_t block = p_.columns.block;
  std::array<LaneStarts, max_block> starts;
  for (std::uint32_t r = 0; r < block; ++r) starts.at(r) = lane_starts({a_, block}, s, r);
  for (const Step& step : steps.steps()) {
    const auto n = static_cast<std::size_t>(std::popcount(step.mask));
    for (std::uint32_t r = 0; r < block; ++r) {
      const LaneStarts& row = starts.at(r);
      const std::uint32_t* const entries = steps.entries().data() + step.first;
      std::size_t rank = 0;
      for (std::uint32_t mask = step.mask; mask != 0; mask &= mask - 1, ++rank) {
        const bits_of<T>* const from =
            values + row[static_cast<std::uint32_t>(std::countr_zero(mask))] + std::uint64_t{entries[rank]} * block;
        for (std::uint32_t c = 0; c < block; ++c) out[raw_place<std::size_t>(r * block + c, n, rank)] = from[c];
      }
    }
    out += n * block * block;
  }
}

/// Slot by slot; of a block element by element, those of the 32 lanes side by side.
template <class T>
void CsellWriter::write_slots(std::uint64_t s, bits_of<T>* out) const {
  const auto* const values = static_cast<const bits_of<T>*>(a_.value_bytes());
  const BlockRows rows(a_, p_.columns.block);
  const std::uint32_t block = p_.columns.block;
  for (std::uint64_t row = s * lanes; row < std::min(rows.rows(), (s + 1) * lanes); ++row) {
    const std::uint16_t* const references = p_.mirrors->references.data() + rows.first_block(row);
    for (std::uint32_t k = 0; k < rows.length(row); ++k) {
      const Reference reference{references[k]};
      if (reference.is_mirror()) continue;
      bits_of<T>* const to = out + reference.slot() * slot_values(block) + row % lanes;
      for (std::uint32_t e = 0; e < block * block; ++e)
        to[std::size_t{e} * lanes] = values[rows.begin(row, e / block) + std::uint64_t{k} * block + e % block];
    }
  }
}

template <class T>
void CsellWriter::fill_slots(std::uint64_t begin, std::span<std::byte> out) const {
  if (out.empty()) return;
  const CountedVector<Slice>& slices = p_.columns.slices;
  const auto after = std::upper_bound(slices.begin(), slices.end(), begin / unit,
                                      [](std::uint64_t at, const Slice& slice) { return at < slice.values; });
  CountedVector<bits_of<T>> whole;
  for (auto s = static_cast<std::uint64_t>(after - slices.begin()) - 1;
       s < slices.size() && std::uint64_t{slices[s].values} * unit < begin + out.size(); ++s) {
    whole.assign(p_.mirrors->slots[s] * slot_values(p_.columns.block), {});
    write_slots<T>(s, whole.data());
    copy_overlap(begin, out, std::uint64_t{slices[s].values} * unit, std::as_bytes(std::span(whole)));
  }
}

template <class T>
void CsellWriter::fill_values(std::uint64_t begin, std::span<std::byte> out) const {
  switch (p_.source) {
    case Source::single:
      return compute_elements<bits_of<T>>(begin, out,
                                          [&](std::uint64_t i) { return static_cast<bits_of<T>>(p_.single[i]); });
    case Source::step:
      if (!out.empty()) std::memcpy(out.data(), p_.columns.step_values.data() + begin, out.size());
      return;
    case Source::table: {
      std::size_t tile = 0;
      return compute_elements<bits_of<T>>(begin, out, [&](std::uint64_t i) {
        while (i >= std::uint64_t{p_.tiles[tile].begin} + p_.tiles[tile].count) ++tile;
        return static_cast<bits_of<T>>(p_.tables.values[tile][i - p_.tiles[tile].begin]);
      });
    }
    case Source::mirror:
    case Source::skew:
      return fill_slots<T>(begin, out);
    default:
      if (out.empty()) return;
      CountedVector<bits_of<T>> whole;
      each_slice(&Slice::values, begin, begin + out.size(), [&](const SliceSteps& steps, std::uint64_t s) {
        const std::uint64_t n = BlockRows(a_, p_.columns.block).blocks(s) * p_.columns.block * p_.columns.block;
        whole.assign(round_up(n, unit / sizeof(T)), {});
        write_values<T>(steps, s, whole.data());
        copy_overlap(begin, out, std::uint64_t{p_.columns.slices[s].values} * unit, std::as_bytes(std::span(whole)));
      });
  }
}

}  // namespace

void fill_section(const Slices& plan, const CsrView& a, std::size_t section, std::uint64_t begin,
                  std::span<std::byte> out) {
  const CsellWriter writer(plan, a);
  switch (section) {
    case section_slices:
      return copy_from(plan.columns.slices.data(), begin, out);
    case section_patterns:
      return copy_from(plan.columns.patterns.data(), begin, out);
    case section_stream:
      return writer.fill_stream(begin, out);
    case section_values:
      return dispatch(a.value_type(), [&]<class T>(T) { writer.fill_values<T>(begin, out); });
    case section_tiles:
      return copy_from(plan.tiles.data(), begin, out);
    default:
      return copy_from(plan.mirrors->step_references.data(), begin, out);
  }
}

}  // namespace spmvpack::encoder::layouts::csell_plans
