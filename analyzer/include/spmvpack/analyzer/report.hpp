#pragma once
/// The report: the structure of a matrix and what each layout would cost, before anything is written.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spmvpack/analyzer/balance.hpp"
#include "spmvpack/analyzer/density.hpp"
#include "spmvpack/analyzer/structure.hpp"
#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::analyzer {

/// The cost of one part.
struct PartCost {
  PartInfo info;  ///< layout, rows and columns, number of entries
  std::uint64_t device_bytes = 0;
  std::optional<std::uint64_t> workspace_bytes;
};

/// The cost of encoding with one strategy; all byte counts are exact. Each single layout is a strategy, too.
struct LayoutCost {
  std::string name;
  bool reproduction = false;                     ///< encoder::Traits::reproduction
  bool by_name_only = false;                     ///< `auto` never takes it: not encoder::is_weighed()
  std::uint64_t device_bytes = 0;                ///< what a multiply reads of the matrix
  std::uint64_t file_bytes = 0;                  ///< the file that encode() writes with these settings and codec none
  std::optional<std::uint64_t> workspace_bytes;  ///< of one multiply, from ReportOptions::workspace
  std::uint64_t padding = 0;                     ///< stored slots that hold no entry
  std::optional<double> padding_percent;         ///< of all stored slots; unset if there are none
  std::string parts_reason;                      ///< encoder::Plan::parts_reason
  bool fill_reads_x = false;                     ///< encoder::PartPlan::fill_reads_x of any part
  bool updatable = false;                        ///< encoder::Plan::updatable()
  bool holds_by_bits = false;               ///< encoder::Plan::holds_by_bits(): an update keeps its zeros, no other
  std::vector<encoder::Counter> work;       ///< of a multiply: encoder::work_of()
  double predicted_seconds = 0;             ///< of a multiply, for the aim's target
  bool too_large = false;                   ///< encode() refuses it unless forced (encoder::too_large)
  std::optional<double> bytes_per_nonzero;  ///< device bytes; unset if there are no nonzeros
  double bytes_of_csr = 0;                  ///< device bytes / those of csr
  std::optional<double> time_of_csr;        ///< predicted time / that of csr; unset without csr or its time
  std::optional<double> encode_seconds;     ///< on one core, if asked for it: encoder::predicted_encode_seconds()
  std::optional<std::uint64_t> pays_after;  ///< multiplies, by predicted times: encoder::pays_after()
  double overhead_percent = 0;              ///< (device bytes / those of csr - 1) 100: figure 3 of Aliaga et al. 2020
  /// Bytes by the rules of the layout's paper, which leave out what is ours (amb, ccoo), and how many fewer they are
  /// than those of csr, in per cent: the reduction rate of Nagasaka et al. 2016, table 2, over CSR alone.
  std::optional<std::uint64_t> published_bytes;
  std::optional<double> published_reduction_percent;
  /// From the plan; with several parts, names start with "part0.", "part1.", ...
  std::vector<encoder::Counter> byte_shares, counters;
  std::vector<PartCost> parts;  ///< in the order of the part table
};

/// A strategy whose plan refuses the matrix.
struct Refusal {
  std::string name, reason;
  bool reproduction = false;  ///< encoder::Traits::reproduction
  bool not_planned = false;   ///< left out by ReportOptions::by_name_only, whether or not it would refuse
};

/// What `--layout auto` chooses for a matrix, and what that costs.
struct ChosenCost {
  std::string layout, reason;
  std::uint64_t device_bytes = 0;
  std::optional<double> bytes_per_nonzero;
  double predicted_seconds = 0;
};

/// What A^T costs beside A: nothing if it is A or -A, and `layout` is then empty.
struct TransposeCost : ChosenCost {
  /// The symmetry of the entries, bit for bit. General if the matrix is to be updatable: other values need not be
  /// symmetric.
  Symmetry symmetry = Symmetry::general;
};

/// What a multiply with D_r A D_c costs, by factors of rows and columns and by values of its own.
struct ScaledCost {
  double factors_seconds = 0;      ///< predicted, of the recommended layout and the passes over vectors
  std::uint64_t vector_bytes = 0;  ///< that these passes move
  ChosenCost values;               ///< of values that are all different: factors of rows and columns are unrelated

  [[nodiscard]] bool factors_pay() const noexcept { return factors_seconds < values.predicted_seconds; }
};

struct Report {
  std::string name;  ///< ReportOptions::name
  MatrixFacts facts;
  Provenance provenance;
  Structure structure;
  Balance balance;                           ///< of a multiply without compression
  std::vector<LayoutCost> layouts;           ///< in the order of encoder::strategies()
  std::vector<Refusal> refused;              ///< strategies that cannot take the matrix, and are not in `layouts`
  encoder::Aim aim;                          ///< ReportOptions::aim
  encoder::XSectors x_sectors;               ///< what the predicted times are made of, besides LayoutCost::work
  std::size_t recommended = 0;               ///< what `--layout auto` chooses: an index into `layouts`
  std::string reason;                        ///< why: encoder::Choice::reason
  std::uint64_t recommended_file_bytes = 0;  ///< the file that encode() writes with `--layout auto` and codec none
  /// For `--layout auto`: LayoutCost::encode_seconds, pays_after. Unset if it is not one of the strategies.
  std::optional<double> recommended_encode_seconds;
  std::optional<std::uint64_t> recommended_pays_after;
  std::optional<double> data_reduction_pjds;  ///< by pjds_data_reduction()
  std::optional<TransposeCost> transpose;     ///< if ReportOptions::transpose
  std::optional<ChosenCost> not_updatable;    ///< if ReportOptions::updatable: the choice for these values alone
  std::optional<ScaledCost> scaled;           ///< if ReportOptions::scaled
  std::optional<Density> density;             ///< if ReportOptions::density; of Density::picture cells either way
};

struct ReportOptions {
  std::string name = {};  ///< what to call the matrix, such as its path; empty: the name in the provenance
  int threads = 0;
  std::uint64_t memory_limit = 0;                    ///< bytes, including the matrix; 0: available_memory()
  std::map<std::string, std::string> settings = {};  ///< layout settings, such as {"ccoo.k", "4"}
  /// Device memory that one multiply with a part needs as workspace. Only a loader knows it (gpu_loader/kernels.hpp);
  /// if empty, the report omits the figure.
  std::function<std::uint64_t(const PartInfo& part)> workspace = {};
  std::span<const encoder::Strategy> strategies = {};  ///< empty: all of encoder::strategies()
  Speeds speeds = {};
  encoder::Aim aim = {};
  bool transpose = false;  ///< also what A^T costs
  bool updatable = false;  ///< as encoder::EncodeRequest::updatable, and what that costs
  bool scaled = false;     ///< also what scaled rows and columns cost
  bool density = false;    ///< also where the entries are, for to_html()
  /// Whether strategies that `auto` never takes (not encoder::is_weighed()) are planned without a setting of theirs,
  /// too: METIS takes longer than the rest of a report, and plans of a hypersparse matrix take memory for each empty
  /// row.
  bool by_name_only = false;
  ProgressCallback progress = {};
};

/// 1 - slots of pjds / slots of ell, the data reduction in table 1 of Kreutzer et al.; padding counts, entries too.
/// Unset unless both layouts are there and ell has slots.
SPMVPACK_EXPORT std::optional<double> pjds_data_reduction(std::span<const LayoutCost> layouts, std::uint64_t nnz);

/// Analyzes the matrix and plans every layout. O(nnz) per layout. Errors: errc::usage (a setting that no layout has, a
/// speed that is not positive); errc::bad_input (a matrix that CsrView::check() rejects).
SPMVPACK_EXPORT Report make_report(const SourceMatrix& source, const ReportOptions& options = {});
/// The same for a matrix in the caller's arrays, which are not copied; its field is real, its symmetry general.
SPMVPACK_EXPORT Report make_report(const CsrView& matrix, const ReportOptions& options = {});

enum class Detail {
  summary,  ///< recommendation, layouts, model and structure: one screen
  full      ///< plus row lengths, parts, what the bytes hold and every counter
};
/// The report as text, in lines of at most 80 columns (for sizes below 10^12 and fewer than 10^9 rows).
SPMVPACK_EXPORT std::string to_text(const Report& report, Detail detail = Detail::summary);
/// The report as a page of HTML in one file: no script, and nothing that it would load. With Report::density, at most 1
/// MB.
SPMVPACK_EXPORT std::string to_html(const Report& report);
/// The same as an element for a page that has others, such as a notebook's.
SPMVPACK_EXPORT std::string to_html_fragment(const Report& report);
/// The report as JSON, as described in docs/report.schema.json; ends with a newline.
SPMVPACK_EXPORT std::string to_json(const Report& report);

}  // namespace spmvpack::analyzer
