#pragma once
// The entries of a slice of sjds, and how they become steps.

#include <array>
#include <span>

#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/launch_rules/sjds_kinds.hpp"

namespace spmvpack::encoder::layouts::sjds_plans {

using namespace spmvpack::layouts::sjds;  // what the bytes mean

/// Where the entries of lanes are in a matrix: of rows by falling length, or of a piece of one row, dealt out in turn.
class Lanes {
 public:
  /// Of up to 8 rows, first_row + rows[i].
  static Lanes of_rows(const CsrView& a, std::uint64_t first_row, std::span<const std::uint16_t> rows);
  /// Of entries [begin, begin + count) of the matrix.
  static Lanes of_piece(std::uint64_t begin, std::uint64_t count);

  [[nodiscard]] std::uint64_t entry(std::uint32_t lane, std::uint32_t step) const {
    return first_[lane] + std::uint64_t{step} * stride_;
  }
  /// Steps in which any lane, and in which every lane has an entry.
  [[nodiscard]] std::uint32_t steps() const { return length_[0]; }
  [[nodiscard]] std::uint32_t full_steps() const { return length_[lanes - 1]; }
  /// Lanes that have an entry in a step: the first ones.
  [[nodiscard]] std::uint32_t lanes_of(std::uint32_t step) const {
    std::uint32_t n = lanes;
    while (n != 0 && length_[n - 1] <= step) --n;
    return n;
  }

 private:
  std::array<std::uint64_t, lanes> first_{};
  std::array<std::uint32_t, lanes> length_{};  // falling; 0 where there is no row
  std::uint32_t stride_ = 1;
};

/// What a slice's steps of all lanes have in common, by which a host's loops go.
struct FullSteps {
  launch_rules::sjds::CommonColumns common;
  std::uint32_t last_base = 0;  ///< the greatest first column of a window step

  /// Of a slice of a part with so many columns.
  [[nodiscard]] launch_rules::sjds::Kind kind_of(const Slice& slice, std::uint64_t cols) const {
    // A window step begins before the last columns, so that places of these are others.
    return launch_rules::sjds::kind_of(
        slice, [&] { return common.are_consecutive() && last_base + std::uint64_t{reach} <= cols; },
        [&] { return common; });
  }
};

/// Counts the steps of each kind and chooses the width of columns. Of the kind of slice, only that is set. Where
/// `full` is not null, its steps of all lanes are taken.
Slice measure(const CsrView& a, const Lanes& from, FullSteps* full = nullptr);

// What belongs to a slice of each section; the bytes of `out` are 0 before.

/// `rows`: its list, if it has one.
void write_stream(const CsrView& a, const Slice& slice, const Lanes& from, std::span<const std::uint16_t> rows,
                  std::span<std::byte> out);
void write_values(const CsrView& a, const Slice& slice, const Lanes& from, std::span<std::byte> out);
/// `ids`: of the values that have codes.
void write_codes(const CsrView& a, const Slice& slice, const Lanes& from, const ValueIds& ids,
                 std::span<std::byte> out);

}  // namespace spmvpack::encoder::layouts::sjds_plans
