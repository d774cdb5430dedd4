#pragma once
/// Layouts as the encoder sees them: a plan decides everything and knows every byte, a fill writes what it says.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/writer.hpp"

namespace spmvpack::encoder {

class ValueTable;

/// How long a multiply of a planned part would take. The analyzer implements it; plans that weigh time against bytes
/// ask it, and without one they go by bytes.
class SPMVPACK_EXPORT TimeEstimator {
 public:
  virtual ~TimeEstimator() = default;
  /// Seconds for one multiply that reads `device_bytes` and does `nnz` multiply-adds in `layout`.
  [[nodiscard]] virtual double seconds(std::string_view layout, std::uint64_t device_bytes,
                                       std::uint64_t nnz) const = 0;
};

struct PlanOptions {
  int threads = 0;
  /// Settings by full name, such as {"ccoo.k", "4"}. A plan reads those of its layout.
  std::map<std::string, std::string> settings;
  /// The matrix's values, counted once and shared by the plans of one matrix; made where it is missing.
  std::shared_ptr<const ValueTable> values;
  const TimeEstimator* time = nullptr;
};

/// A named number of a plan, for the report: {"chunks.one_row", 17}.
struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

/// What a layout makes of a matrix, decided but not written. Refers to the CsrView it was made from.
class SPMVPACK_EXPORT Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  virtual ~Plan() = default;

  /// Raw bytes [begin, begin + out.size()) of section `section` to `out`; any begin and size. Thread-safe.
  virtual void fill(std::size_t section, std::uint64_t begin, std::span<std::byte> out) const = 0;

  /// Bytes that a multiply reads: the raw sections flagged format::section_device.
  [[nodiscard]] std::uint64_t device_bytes() const;

  PartInfo part;                        ///< everything but first_section
  std::vector<SectionSource> sections;  ///< without their fill functions
  std::uint64_t padding = 0;            ///< stored slots that hold no entry
  std::vector<Counter> byte_shares;     ///< device bytes by what they hold; they add up to device_bytes()
  std::vector<Counter> counters;        ///< whatever else the layout's report line tells
};

/// A setting that a layout takes, for --help and for checking.
struct Setting {
  std::string_view name;    ///< "ccoo.k"
  std::string_view values;  ///< "auto, 1, 2, 4 or 8"
  std::string_view meaning;
};

struct LayoutEncoder {
  std::string_view name;
  std::string_view summary;
  std::span<const Setting> settings;
  std::unique_ptr<Plan> (*plan)(const CsrView& a, const PlanOptions& options);
};

SPMVPACK_EXPORT std::span<const LayoutEncoder> layout_encoders();
/// Error(errc::usage), listing the known ones, where there is no such layout.
SPMVPACK_EXPORT const LayoutEncoder& find_layout_encoder(std::string_view name);
/// Error(errc::usage) where a setting is not one of any layout.
SPMVPACK_EXPORT void check_settings(const std::map<std::string, std::string>& settings);

}  // namespace spmvpack::encoder
