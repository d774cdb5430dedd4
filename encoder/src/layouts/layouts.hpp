#pragma once
// Shared by the planners of all layouts.

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/settings.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/encoding_rules/chains.hpp"
#include "spmvpack/launch_rules/padded_rows.hpp"

namespace spmvpack::encoder::layouts {

/// All of layout_encoders().
extern const LayoutEncoder csr, coo, ell, ellpack_r, sell, pjds, dia, ccoo, amb, pkt, csell, bitflag, sjds;

/// Error(errc::unsupported): a layout or strategy of that name has no complex values.
[[noreturn]] void refuse_complex(std::string_view name, ValueType type);

/// The start of a plan of `layout` for this part: its table entry, and the sections of its list maps.
PartPlan begin_plan(const spmvpack::Layout& layout, const PartMatrix& part);

/// Adds the described section to the plan. If its description does not determine the number of its elements,
/// PartInfo::counts says it; afterwards it does of each of the layout's sections.
void add_section(PartPlan& plan, const SectionDescription& description);
/// The same for several.
void add_sections(PartPlan& plan, std::span<const SectionDescription> descriptions);

using encoder::check_values_setting;
using encoder::device_of;
using encoder::has_name;
using encoder::read_name;
using encoder::read_setting;
using encoder::refuse_setting;
using encoder::refuse_shared_values;

/// Puts PartPlan::choices into a plan, and finds them there.
template <class Choices>
void keep_choices(PartPlan& plan, std::shared_ptr<Choices> choices) {
  plan.choices = std::shared_ptr<const Choices>(std::move(choices));
}
template <class Choices>
const Choices& choices_of(const PartPlan& plan) {
  return *std::any_cast<const std::shared_ptr<const Choices>&>(plan.choices);
}

/// The values that a plan of `a` may go by: those that have been counted, if not null, else it counts; of an updatable
/// matrix ValueTable::any(). `estimate`: as of ValueTable::count().
std::shared_ptr<const ValueTable> values_of(const CsrView& a, std::shared_ptr<const ValueTable> counted,
                                            const PlanOptions& options, bool estimate = false);

/// Whether any entry is +0. Most matrices have none, and need no list of them.
bool stores_zeros(const CsrView& a, int threads);

/// The units of the kernels that give each row a thread.
struct RowChain {
  std::uint64_t loads;  ///< NAME.chain, of the longest row
  std::uint64_t slots;  ///< NAME.chain_slots: those of the batches that it is loaded in
  std::uint64_t turns;  ///< NAME.turns
};
constexpr RowChain chain_of_rows(std::uint64_t rows, std::uint64_t longest, std::uint64_t nnz, ValueType type,
                                 const Device& device) {
  constexpr bool sorted = false;  // or not, a batch is the same
  const auto launch =
      launch_rules::padded_rows::launch_of(rows, nnz, type == ValueType::f32, device.multiprocessors, sorted);
  const auto batch = static_cast<std::uint64_t>(launch.batch);
  return {chain_of(longest, batch), div_up(longest, batch) * batch,
          turns_of(rows, device.multiprocessors * launch.held)};
}

/// Whether the longest row is in so many chunks of so many entries that whole warps add up its sums, where a lane does
/// those of others.
constexpr bool has_long_row(std::uint64_t longest, std::uint64_t chunk_entries) { return longest > 8 * chunk_entries; }

/// Entries in runs of columns side by side that are so long that neighbouring lanes, of `lane_entries` each, have the
/// same run: what they load of x at a time lies as far apart as the elements that each of them has, in few banks.
std::uint64_t entries_in_runs(const CsrView& a, std::uint64_t lane_entries, int threads);

/// What makes rows dear for a host that visits them by length.
struct UnevenRows {
  std::uint64_t uneven = 0;             ///< rows with entries that have not as many as the row before
  std::uint64_t empty = 0;              ///< rows without entries
  std::uint64_t scattered_entries = 0;  ///< those of rows whose columns are not one higher than in the row before
};
/// O(nnz), parallel.
UnevenRows uneven_rows(const CsrView& a, int threads);

/// Entries of long rows that a host adds up in turn, so that their elements of x are in a near cache: `rows` are cut
/// into pieces of so many. O(pieces log pieces).
std::uint64_t entries_in_turns(const CsrView& a, std::span<const std::uint32_t> rows, std::uint64_t piece_entries);

/// Rows with entries. O(rows), parallel.
std::uint64_t filled_rows(const CsrView& a, int threads);

/// Sets the byte shares of a part to its device sections, one share each.
void share_by_section(PartPlan& plan);

/// Fills from an array that is in memory as it will be in the file.
inline void copy_from(const void* array, std::uint64_t begin, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), static_cast<const std::byte*>(array) + begin, out.size());
}

/// Copies what [begin, begin + out.size()) of a section has of the bytes `from`, which begin at byte `at` of it.
inline void copy_overlap(std::uint64_t begin, std::span<std::byte> out, std::uint64_t at,
                         std::span<const std::byte> from) {
  const std::uint64_t first = std::max(begin, at), last = std::min(begin + out.size(), at + from.size());
  if (first < last) std::memcpy(out.data() + (first - begin), from.data() + (first - at), last - first);
}

/// Fills a section that is made of pieces, piece by piece. begin_of(i): the byte at which piece i begins, or of i =
/// count the section's end; the first is 0, and none falls. write(i, bytes): writes all bytes of a piece.
template <class BeginOf, class Write>
void fill_pieces(std::uint64_t count, BeginOf&& begin_of, std::uint64_t begin, std::span<std::byte> out,
                 Write&& write) {
  if (count == 0 || out.empty()) return;
  const std::uint64_t end = begin + out.size();
  std::uint64_t i = 0;  // the last piece that does not begin behind `begin`
  for (std::uint64_t n = count; n > 1;) {
    const std::uint64_t half = n / 2;
    const bool behind = begin_of(i + half) > begin;
    i += behind ? 0 : half;
    n = behind ? half : n - half;
  }
  CountedVector<std::byte> whole;
  for (; i < count && begin_of(i) < end; ++i) {
    const std::uint64_t at = begin_of(i), size = begin_of(i + 1) - at;
    if (begin <= at && at + size <= end) {
      write(i, out.subspan(at - begin, size));
      continue;
    }
    whole.resize(size);
    write(i, std::span<std::byte>(whole));
    copy_overlap(begin, out, at, whole);
  }
}

/// Fills elements of type T one by one, calling element(i) for those that touch bytes [begin, begin + out.size()).
template <class T, class F>
void compute_elements(std::uint64_t begin, std::span<std::byte> out, F&& element) {
  for (std::uint64_t at = 0; at < out.size();) {
    const std::uint64_t byte = begin + at, within = byte % sizeof(T);
    const T value = element(byte / sizeof(T));
    const std::uint64_t n = sizeof(T) - within < out.size() - at ? sizeof(T) - within : out.size() - at;
    std::memcpy(out.data() + at, reinterpret_cast<const std::byte*>(&value) + within, n);
    at += n;
  }
}

/// Fills a table of values.
inline void fill_table(ValueType type, std::span<const ValueKey> table, std::uint64_t begin, std::span<std::byte> out) {
  dispatch(type, [&]<class T>(T) {
    compute_elements<bits_of<T>>(begin, out, [&](std::uint64_t i) { return static_cast<bits_of<T>>(table[i]); });
  });
}

}  // namespace spmvpack::encoder::layouts
