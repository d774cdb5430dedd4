#pragma once
/// Layouts and strategies as the encoder sees them. A layout encodes one part of a matrix; a strategy splits a matrix
/// into parts and picks a layout for each. A plan makes every decision and knows every size. It is data, without the
/// matrix; fill_section() is given both and only writes what the plan has decided.

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/encoder/aim.hpp"

namespace spmvpack::encoder {

class ValueTable;
struct Survey;

struct PlanOptions {
  int threads = 0;
  /// Settings by full name, such as {"ccoo.k", "4"}. A plan reads those of its own layout.
  std::map<std::string, std::string> settings = {};
  /// The value table of the whole matrix, counted once and shared by all its plans; if null, each plan counts again.
  std::shared_ptr<const ValueTable> values = {};
  ProgressCallback progress = {};  ///< called between layouts and between parts
  Aim aim = {};                    ///< of strategies that have one
  /// Refuse a plan that another strategy makes, too: Error(errc::unsupported).
  bool only_own = false;
  /// Also count what only reports show, if counting takes time: ccoo's counter `published.bytes`.
  bool for_report = false;
  /// Whether every entry is to have a slot of its own, so that its value can be replaced. Plans then do not depend on
  /// values, but for the lists of stored zeros of dia and amb. Error(errc::usage) if a setting wants values that
  /// entries share, or that are computed.
  bool updatable = false;
};

/// What a part's local indices stand for: all indices of the matrix, a range, or a list in any order without
/// repetition.
struct PartIndices {
  IndexMap map;
  std::shared_ptr<const CountedVector<std::uint32_t>> list;  ///< map.count elements if map is a list, else null

  static PartIndices all(std::uint64_t count) { return {{format::MapKind::all, 0, count}, nullptr}; }
  static PartIndices range(std::uint64_t begin, std::uint64_t count) {
    return {{format::MapKind::range, begin, count}, nullptr};
  }
  static PartIndices of(CountedVector<std::uint32_t> list) {
    const std::uint64_t count = list.size();
    return {{format::MapKind::list, 0, count}, std::make_shared<const CountedVector<std::uint32_t>>(std::move(list))};
  }
  static PartIndices of(const std::vector<std::uint32_t>& list) {
    return of(CountedVector<std::uint32_t>(list.begin(), list.end()));
  }
  [[nodiscard]] std::uint32_t operator[](std::uint64_t i) const {
    return list != nullptr ? (*list)[i] : static_cast<std::uint32_t>(map.begin + i);
  }
};

/// The entries of a part that a strategy cuts out of a matrix, with local indices.
class PartEntries {
 public:
  PartEntries() = default;
  PartEntries(const PartEntries&) = delete;
  PartEntries& operator=(const PartEntries&) = delete;
  virtual ~PartEntries() = default;
  /// `whole`: the matrix that the strategy cuts. Called from several threads at once.
  [[nodiscard]] virtual CsrView of(const CsrView& whole) const = 0;
};
/// Entries that have been copied already.
SPMVPACK_EXPORT std::shared_ptr<const PartEntries> own_entries(std::shared_ptr<const CsrMatrix> copy);

/// The entries of one part with local indices, and what these stand for.
struct PartMatrix {
  CsrView a;  ///< rows.map.count x cols.map.count
  PartIndices rows, cols;
  std::shared_ptr<const ValueTable> values;    ///< of `a`; null if not counted yet
  std::shared_ptr<const PartEntries> entries;  ///< has `a`; null if that is the whole matrix

  /// The whole matrix as one part.
  static PartMatrix whole(const CsrView& a, const PlanOptions& options) {
    return {a, PartIndices::all(a.rows()), PartIndices::all(a.cols()), options.values, nullptr};
  }
};

/// A named number from a plan, for the report: {"chunks.one_row", 17}.
struct Counter {
  std::string name;
  std::uint64_t value = 0;
  bool main_choice = false;  ///< shown for a plan where there is little room

  Counter() = default;
  Counter(std::string of, std::uint64_t count, bool is_main_choice = false)
      : name(std::move(of)), value(count), main_choice(is_main_choice) {}
  /// A count of work, in a unit of an enumeration (encoder/src/work.hpp).
  template <class Unit>
  requires std::is_enum_v<Unit> Counter(Unit unit, std::uint64_t count) : name(name_of(unit)), value(count) {}
};
inline Counter main_choice(std::string name, std::uint64_t value) { return {std::move(name), value, true}; }

/// How a GPU's default kernel multiplies several columns of X, which lie side by side in each of its rows.
struct ColumnsWork {
  std::uint64_t at_once = 1;       ///< columns at most that it takes at once, launch_rules/columns.hpp
  std::vector<Counter> each = {};  ///< what it does for each of them but the first, besides loading X and Y
  std::vector<Counter> pass = {};  ///< what it does once for all of them: it waits where one column does not
};

/// A part as a layout will encode it, decided but not written: fill_section() does that.
struct PartPlan {
  PartInfo info;                       ///< everything except first_section and section_count
  std::vector<SectionShape> sections;  ///< those of the maps come first, then the layout's, as it describes them
  /// What the layout has decided beyond `info`: a shared_ptr to const of a type of its own; empty if that is all.
  std::any choices;
  std::shared_ptr<const CountedVector<std::uint32_t>> row_list, col_list;  ///< PartIndices::list
  std::shared_ptr<const PartEntries> entries;                              ///< PartMatrix::entries
  std::uint64_t padding = 0;                                               ///< stored slots that hold no entry
  /// Whether slots without an entry are multiplied by elements of x outside the row's pattern: an infinite or NaN
  /// element then reaches rows that do not have it.
  bool fill_reads_x = false;
  /// Entries whose elements of x a multiply has in a GPU's shared memory, or in the nearest cache of a host: they never
  /// miss.
  std::uint64_t near_entries = 0;
  /// Whether a GPU's blocks take a fixed number of entries at a time, wherever rows end, or keep chunks in shared
  /// memory: they find less of x in the nearest cache than blocks of rows do (XCaches::chunk_bytes).
  bool in_chunks = false;
  /// The most device bytes of the part that a GPU's kernel prefetches, by launch_rules/prefetch.hpp; 0: the layout's
  /// kernels do not prefetch.
  std::uint64_t fetch_limit = 0;
  /// The part of device_bytes() that a GPU's kernel does not read.
  std::uint64_t unread_bytes = 0;
  /// What a multiply of one column does besides moving bytes and gathering x, in units that the time model prices
  /// (time_model.hpp), such as {"ccoo.slots", 8192}.
  std::vector<Counter> work;
  ColumnsWork columns = {};
  std::vector<Counter> byte_shares;  ///< device bytes by content; they add up to device_bytes()
  std::vector<Counter> counters;     ///< what else the report shows for the layout

  /// Bytes that a multiply reads: the raw bytes of all sections flagged format::section_device.
  [[nodiscard]] SPMVPACK_EXPORT std::uint64_t device_bytes() const;
};

/// Seconds of a multiply, and of one by layout csr.
struct BesideCsr {
  double seconds = 0, csr_seconds = 0;
  bool measured = false;  ///< by a tuner (tune.hpp); else predicted
};

/// A matrix as a strategy will encode it: its parts, in the order of the part table.
struct Plan {
  std::vector<PartPlan> parts;
  std::string strategy;           ///< that made the parts; for `auto`, the strategy it chose
  std::string reason;             ///< why `auto` chose it, in a few words; empty otherwise
  std::string parts_reason = {};  ///< why its strategy made these parts, if it had a choice
  std::string made_with = {};     ///< the setting of plan_without_fill(), such as "amb.block=1"; empty otherwise
  /// What `auto` chose by; unset if it did not choose, or by bytes.
  std::optional<BesideCsr> beside_csr = {};

  /// What made_with adds to a reason.
  [[nodiscard]] std::string made_with_text() const { return made_with.empty() ? "" : ", with " + made_with; }
  [[nodiscard]] SPMVPACK_EXPORT std::uint64_t device_bytes() const;
  /// Whether the fill of any part reads x.
  [[nodiscard]] SPMVPACK_EXPORT bool fill_reads_x() const;
  /// Whether every entry has a slot of its own (part_values()), so that its value can be replaced.
  [[nodiscard]] SPMVPACK_EXPORT bool updatable() const;
  /// Whether, in some part, bits say which slots have entries: there +0 cannot become another value, nor another one
  /// +0.
  [[nodiscard]] SPMVPACK_EXPORT bool holds_by_bits() const;
  /// The distinct layouts of the parts in table order, such as "ell+coo".
  [[nodiscard]] SPMVPACK_EXPORT std::string layouts() const;
};

/// A setting of a layout or strategy, for --help and for validation.
struct Setting {
  std::string_view name;    ///< "ccoo.k"
  std::string_view values;  ///< "auto, 1, 2, 4 or 8"
  std::string_view meaning;
};

/// What every plan of a matrix takes at least, but for those that PlanOptions::only_own refuses.
struct Least {
  std::uint64_t device_bytes = 0;
  /// Whether its gathers of x may all be from shared memory: PartPlan::near_entries.
  bool near = false;
  std::vector<Counter> work = {};    ///< in the order of PartPlan::work
  std::vector<Counter> one_of = {};  ///< every plan has at least one of these, so the cheapest counts
  ColumnsWork columns = {};          ///< of the plan that takes most at once, with the least of each
};

/// Writes the raw bytes [begin, begin + out.size()) of the plan's section. `whole`: the matrix that was planned, whose
/// arrays may be others than then. May be called from several threads at once.
SPMVPACK_EXPORT void fill_section(const PartPlan& plan, const CsrView& whole, std::size_t section, std::uint64_t begin,
                                  std::span<std::byte> out);

/// The cost of rows without entries in a layout over all rows.
enum class EmptyRows : std::uint8_t {
  stored,    ///< bytes, or work of a plan
  in_turn,   ///< nothing is stored; the thread, or on a GPU the warp, with the entries before them writes their y
  in_a_pass  ///< nothing is stored; all of y is scaled in a pass of its own, at the speed of memory
};

/// Properties of all plans by a strategy, or by a layout, whose strategy then has the same traits.
struct Traits {
  /// A lower bound on its plans without settings, found in next to no time: `auto` only makes plans that could be the
  /// best. Null: no bound is known.
  Least (*least)(const Survey& survey) = nullptr;
  /// Whether its plans depend on the aim, or on a part of it. If not, they are the same with any aim.
  bool aims = false;
  /// Whether it reproduces a paper, for comparison: complete and tested, taken by `auto` where it wins, but limited to
  /// f64, f32 and one vector. Reports and help list it after the others, or when asked for details.
  bool reproduction = false;
  /// Whether it is made for hosts: a GPU multiplies with it, with the same bits, but its time there is not predicted.
  bool hosts_only = false;
  /// Whether it is taken by its name alone: `auto` leaves it out, with its settings.
  bool by_name_only = false;
  /// A setting, and its value, with which its plans have no fill that reads x. `auto` uses it if it was not given and
  /// the plan without it has such fill. Empty: there is none.
  std::pair<std::string_view, std::string_view> without_fill = {};
  /// The time of update_values() on a host, in multiplies by csr, as measured on an EPYC (Zen 3).
  double update_multiplies = 4;
  /// Whether it takes complex values.
  bool takes_complex = false;
  /// What is_weighed() goes by (weigh.hpp).
  EmptyRows empty_rows = EmptyRows::stored;

  [[nodiscard]] bool suits_target(Target target) const noexcept { return !hosts_only || target == Target::host; }
};

struct LayoutEncoder {
  std::string_view name;
  std::string_view summary;  ///< what it is, in a line
  std::string_view suits;    ///< which matrices it is for, in a line
  std::span<const Setting> settings;
  /// Plans the part. O(nnz), parallel.
  PartPlan (*plan)(const PartMatrix& part, const PlanOptions& options);
  /// fill_section() of a section of the layout, by its place in the layout's description. `a`: the entries of the part.
  void (*fill)(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin,
               std::span<std::byte> out);
  Traits traits = {};
  /// Strategy::plan of the layout's strategy, if that is more than one part in the layout.
  Plan (*plan_matrix)(const CsrView& a, const PlanOptions& options) = nullptr;
};

/// All layouts, simplest first.
SPMVPACK_EXPORT std::span<const LayoutEncoder> layout_encoders();
/// The layout with that name. Error(errc::usage), listing the known ones, if there is none.
SPMVPACK_EXPORT const LayoutEncoder& find_layout_encoder(std::string_view name);

/// The version of METIS that this build cuts packets with (layout pkt), such as "5.1.0"; empty: it has none.
SPMVPACK_EXPORT std::string_view metis_version() noexcept;

/// A way to encode a whole matrix. Each single layout is a strategy, too, under the layout's name.
struct Strategy {
  std::string name;
  std::string summary;     ///< what it is, in a line
  std::string suits = {};  ///< which matrices it is for, in a line
  std::vector<Setting> settings;
  /// Every entry of the matrix is in exactly one part.
  std::function<Plan(const CsrView& a, const PlanOptions& options)> plan;
  /// Whether it picks among the other strategies. If so, it is not a candidate itself and has no line in a report.
  bool chooses = false;
  Traits traits = {};
};

/// Whether a plan ended because its layout or strategy cannot take this matrix, or not in this memory, rather than
/// because of the matrix or the settings: the others may.
inline bool is_refusal(const Error& e) noexcept {
  return e.code() == errc::unsupported || e.code() == errc::out_of_memory || e.code() == errc::too_large;
}

/// `auto` (the default), then every layout, then the strategies that split a matrix into parts.
SPMVPACK_EXPORT std::span<const Strategy> strategies();
/// The strategy with that name. Error(errc::usage), listing the known ones, if there is none.
SPMVPACK_EXPORT const Strategy& find_strategy(std::string_view name);

/// Those of the settings that the strategy has.
SPMVPACK_EXPORT std::map<std::string, std::string> settings_of(const Strategy& strategy,
                                                               const std::map<std::string, std::string>& settings);

/// Error(errc::usage) if no strategy has one of these settings.
SPMVPACK_EXPORT void check_settings(const std::map<std::string, std::string>& settings);
/// Error(errc::usage) if this strategy lacks one of these settings.
SPMVPACK_EXPORT void check_settings(const std::map<std::string, std::string>& settings, const Strategy& strategy);

}  // namespace spmvpack::encoder
