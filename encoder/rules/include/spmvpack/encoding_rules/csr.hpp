#pragma once
// What csr's kernels make of a part, from counts alone.

#include <algorithm>
#include <cstdint>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/types.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/launch_rules/csr.hpp"

namespace spmvpack::encoder::layouts::csr_plans {

/// What the slowest of `ipcsr`'s blocks of rows does in turn.
struct Turns {
  std::uint64_t sums = 0;   ///< the most products that a thread of a block of several rows adds up
  std::uint64_t rows = 0;   ///< the most times that a block of one row has 2,048 entries
  bool single_rows = true;  ///< whether all blocks have one row, for which there is a kernel of its own
};
/// What a block of so many rows does in turn, whose longest has so many entries.
constexpr std::uint64_t turns_of_block(std::uint64_t rows, std::uint64_t longest) {
  constexpr launch_rules::csr::RowBlockLimits limits;
  const std::uint64_t of_turn =
      rows == 1 ? limits.entries : launch_rules::csr::threads_per_row(limits.threads, static_cast<std::uint32_t>(rows));
  return (longest + of_turn - 1) / of_turn;
}

struct CsrFacts {
  std::uint64_t rows = 0, entries = 0, longest = 0;
  ValueType type = ValueType::f64;
  Turns most = {};    ///< if has_turns()
  bool runs = false;  ///< whether each row's columns follow one another; counted if may_have_runs()

  [[nodiscard]] constexpr launch_rules::csr::Kernel kernel() const {
    return launch_rules::csr::default_kernel(rows, longest, entries);
  }
  [[nodiscard]] constexpr bool has_turns() const { return kernel() == launch_rules::csr::ipcsr; }
  [[nodiscard]] constexpr bool may_have_runs() const {
    return (kernel() == launch_rules::csr::ipcsr || kernel() == launch_rules::csr::vector) &&
           launch_rules::csr::looks_for_runs(rows, longest, entries);
  }
};

/// Sets what a multiply by the part does on a GPU: PartPlan's work, columns and how its kernels load.
SPMVPACK_EXPORT void describe_multiply(PartPlan& plan, const CsrFacts& facts, const Device& device);

}  // namespace spmvpack::encoder::layouts::csr_plans
