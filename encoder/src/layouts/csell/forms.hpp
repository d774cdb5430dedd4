#pragma once
// Which of csell's forms to store values and columns a part takes: all that its settings and rules allow are planned,
// and the best for the aim is kept.

#include <array>
#include <optional>
#include <vector>

#include "layouts/csell/columns.hpp"
#include "layouts/csell/mirrors.hpp"
#include "layouts/csell/tables.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/value_table.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

inline constexpr std::array<Setting, 3> settings{
    Setting{"csell.block", "auto, or 1 to 4", "rows and columns of a block; auto takes the largest that has no fill"},
    Setting{"csell.values", "auto, raw, table, step, single, mirror or skew",
            "where values are; auto takes what is predicted fastest, or smallest"},
    Setting{"csell.sums", "auto, 1, 2 or 4", "sums of a row, each by a warp; auto takes several if rows are few"}};

/// A form, planned.
struct Form {
  FormFacts facts;
  Tables tables;                   ///< of Source::table
  std::optional<Mirrors> mirrors;  ///< of Source::mirror and skew
};

struct ChosenForm {
  Form form;
  ColumnsPlan columns;
  std::vector<Counter> considered;  ///< the device bytes of every form that was planned
};

/// Error(errc::usage) for a setting that is none; errc::unsupported if the matrix is not as the settings want it.
ChosenForm choose_form(const CsrView& a, const ValueTable& values, const PlanOptions& options);

}  // namespace spmvpack::encoder::layouts::csell_plans
