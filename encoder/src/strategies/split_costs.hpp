#pragma once
// What rows take by their length, for the strategy `split`: counted once for all lengths at which it may cut.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "layouts/layouts.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::strategy {

/// The rows of up to `length` entries. Slots, estimated, are those of their slices: each row, and for csell each group
/// of four, has as many as the slice's longest.
struct ShortRows {
  std::uint64_t length = 0, rows = 0, entries = 0, longest = 0;
  std::uint64_t sell_rows = 0;  ///< of a slice of sell
  double sell_slots = 0, csell_slots = 0;
};

/// For each of the rising lengths, with slices of `sell_rows` in sell. O(rows), parallel; the result does not depend on
/// the number of threads.
std::vector<ShortRows> count_short_rows(const CsrView& a, std::span<const std::uint64_t> lengths,
                                        std::uint64_t sell_rows, int threads);

/// The lengths at which rows may be cut apart: 4, 8, 12, 16, 24, 32, 48 and so on, and the longest row's.
std::vector<std::uint64_t> lengths_to_try(std::uint64_t longest);

/// Predicts seconds, or device bytes if these are to be few, but for gathers of x that are the same however the matrix
/// is cut.
class SplitCosts {
 public:
  /// Looks at columns here and there. The matrix and the options must outlive it.
  SplitCosts(const CsrView& a, const PlanOptions& options);

  /// Counts what rows gather from afar unless they are in segments, which some of these cuts may allow.
  void look_at_segments(std::span<const ShortRows> cuts);

  /// Plans csell on rows here and there of up to that length, as its costs depend on more than lengths.
  void sample_csell(const ShortRows& of);

  /// Of the short rows in a layout, sell or csell, with all others empty.
  [[nodiscard]] double of_short(const LayoutEncoder& layout, const ShortRows& s) const;
  /// What csell takes at least, whatever a sample says: its lane of the longest row.
  [[nodiscard]] double least_of_csell(const ShortRows& s) const;
  /// Of the longer rows in bitflag; `longest`: of the matrix.
  [[nodiscard]] double of_long(const ShortRows& s, std::uint64_t longest) const;
  /// Of the gathers that another cut spares: 0 if none does, or this one spares most.
  [[nodiscard]] double far_gathers(const ShortRows& s) const;

 private:
  [[nodiscard]] PartPlan sample(const LayoutEncoder& layout, std::uint64_t length, std::uint64_t entries) const;
  [[nodiscard]] double cost(std::uint64_t bytes, std::uint64_t y_elements, std::vector<Counter> work,
                            ColumnsWork columns) const;
  [[nodiscard]] double sell(const ShortRows& s) const;
  [[nodiscard]] double csell(const ShortRows& s) const;
  [[nodiscard]] std::uint64_t segments_of_long(const ShortRows& s) const;
  [[nodiscard]] double spared_gathers(const ShortRows& s) const;
  void look_at_columns();
  [[nodiscard]] const Device& device() const { return layouts::device_of(options_); }

  CsrView a_;
  const PlanOptions& options_;
  std::uint64_t size_;  ///< of a value
  /// Bytes of a value and a column in bitflag: of chunks of all rows, and of long rows alone.
  double flag_value_bytes_ = 0, column_bytes_ = 4, long_column_bytes_ = 4;
  /// Seconds of an entry's gather in rows that segments may have, and of the gathers that a cut spares at most.
  double far_gather_ = 0, most_spared_ = 0;
  /// csell's work for so many entries and slots.
  double entries_ = 0, slots_ = 0, slot_bytes_ = 0, entry_bytes_ = 0;
  std::vector<Counter> csell_work_;
  ColumnsWork csell_columns_;
};

}  // namespace spmvpack::encoder::strategy
