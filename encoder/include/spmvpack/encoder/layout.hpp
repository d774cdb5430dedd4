#pragma once
/// Layouts and strategies as the encoder sees them. A layout encodes one part of a matrix; a strategy cuts a matrix
/// into parts and picks a layout for each. A plan decides everything and knows every byte; its sections' fill functions
/// write what it says.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/progress.hpp"
#include "spmvpack/container/writer.hpp"

namespace spmvpack::encoder {

class ValueTable;

struct PlanOptions {
  int threads = 0;
  /// Settings by full name, such as {"ccoo.k", "4"}. A plan reads those of its layout.
  std::map<std::string, std::string> settings = {};
  /// The whole matrix's values, counted once and shared by the plans of one matrix; counted again where it is missing.
  std::shared_ptr<const ValueTable> values = {};
  ProgressCallback progress = {};  ///< asked between layouts and parts
};

/// What a part's local indices stand for: all of the matrix's, a range, or a list in any order without repetition.
struct PartIndices {
  IndexMap map;
  std::shared_ptr<const std::vector<std::uint32_t>> list;  ///< map.count elements if map is a list, else null

  static PartIndices all(std::uint64_t count) { return {{format::MapKind::all, 0, count}, nullptr}; }
  static PartIndices range(std::uint64_t begin, std::uint64_t count) {
    return {{format::MapKind::range, begin, count}, nullptr};
  }
  static PartIndices of(std::vector<std::uint32_t> list) {
    const std::uint64_t count = list.size();
    return {{format::MapKind::list, 0, count}, std::make_shared<const std::vector<std::uint32_t>>(std::move(list))};
  }
};

/// The entries of one part in local indices, and what these stand for.
struct PartMatrix {
  CsrView a;  ///< rows.map.count x cols.map.count
  PartIndices rows, cols;
  std::shared_ptr<const ValueTable> values;  ///< of `a`; null: not counted yet
  std::shared_ptr<const void> owner;         ///< keeps the arrays of `a` where they are the part's own

  /// The whole matrix as one part. Its arrays outlive the plan.
  static PartMatrix whole(const CsrView& a, const PlanOptions& options) {
    return {a, PartIndices::all(a.rows()), PartIndices::all(a.cols()), options.values, nullptr};
  }
};

/// A named number of a plan, for the report: {"chunks.one_row", 17}.
struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

/// What a layout makes of a part, decided but not written. The sections fill themselves from what they own and from the
/// arrays of the PartMatrix.
struct PartPlan {
  PartInfo info;                        ///< everything but first_section and section_count
  std::vector<SectionSource> sections;  ///< those of the maps first
  std::uint64_t padding = 0;            ///< stored slots that hold no entry
  std::vector<Counter> byte_shares;     ///< device bytes by what they hold; they add up to device_bytes()
  std::vector<Counter> counters;        ///< whatever else the layout's report line shows; its main choices first

  /// Bytes that a multiply reads: the raw sections flagged format::section_device.
  [[nodiscard]] SPMVPACK_EXPORT std::uint64_t device_bytes() const;
};

/// What a strategy makes of a matrix: its parts, in the order of the part table.
struct Plan {
  std::vector<PartPlan> parts;
  std::string strategy;  ///< that has made the parts: of `auto`, the one that it chose
  std::string reason;    ///< why `auto` chose it, in a few words; else empty

  [[nodiscard]] SPMVPACK_EXPORT std::uint64_t device_bytes() const;
  /// The layouts of the parts, each once, in table order: "ell+coo".
  [[nodiscard]] SPMVPACK_EXPORT std::string layouts() const;
};

/// A setting that a layout or a strategy takes, for --help and for checking.
struct Setting {
  std::string_view name;    ///< "ccoo.k"
  std::string_view values;  ///< "auto, 1, 2, 4 or 8"
  std::string_view meaning;
};

struct LayoutEncoder {
  std::string_view name;
  std::string_view summary;
  std::span<const Setting> settings;
  /// O(nnz), parallel. `part` is copied where the plan needs it; what its arrays point to outlives the plan.
  PartPlan (*plan)(const PartMatrix& part, const PlanOptions& options);
};

/// All layouts, the simplest first.
SPMVPACK_EXPORT std::span<const LayoutEncoder> layout_encoders();
/// Error(errc::usage), listing the known ones, where there is no such layout.
SPMVPACK_EXPORT const LayoutEncoder& find_layout_encoder(std::string_view name);

/// A way to encode a whole matrix. Every layout alone is one, of the layout's name.
struct Strategy {
  std::string name;
  std::string summary;
  std::vector<Setting> settings;
  /// The matrix outlives the plan. The parts' entries are disjoint and together are the matrix.
  std::function<Plan(const CsrView& a, const PlanOptions& options)> plan;
  /// Whether it picks among the other strategies, so that it is no candidate itself and has no line in a report.
  bool chooses = false;
};

/// What `auto` weighs: a plan's strategy and what it costs.
struct Candidate {
  std::string_view strategy;
  std::uint64_t device_bytes = 0;
};
struct Choice {
  std::size_t index = 0;  ///< of the candidate
  std::string reason;     ///< "28.7 % of CSR"
};
/// The rule of `auto`, for encode and report alike: the fewest device bytes, of equals the first. `candidates` is not
/// empty; `csr_bytes` are those of the layout csr.
SPMVPACK_EXPORT Choice choose(std::span<const Candidate> candidates, std::uint64_t csr_bytes);

/// `auto`, which is the default, then every layout, then the strategies that cut a matrix into parts.
SPMVPACK_EXPORT std::span<const Strategy> strategies();
/// Error(errc::usage), listing the known ones, where there is no such strategy.
SPMVPACK_EXPORT const Strategy& find_strategy(std::string_view name);

/// Error(errc::usage) where a setting is not one of any strategy.
SPMVPACK_EXPORT void check_settings(const std::map<std::string, std::string>& settings);
/// The same for the settings of one strategy.
SPMVPACK_EXPORT void check_settings(const std::map<std::string, std::string>& settings, const Strategy& strategy);

}  // namespace spmvpack::encoder
