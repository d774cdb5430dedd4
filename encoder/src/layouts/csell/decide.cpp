#include "decide.hpp"

#include "column_passes.hpp"
#include "layouts/csell/csell_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

std::optional<CsellDecision> decide(const CsellFacts& facts, const Aim& aim) {
  const Device& device = device_of(aim);
  std::optional<CsellDecision> best;
  Rank least;
  for (const Source source : sources) {
    const auto& planned = facts.forms.at(static_cast<std::size_t>(source));
    if (!planned) continue;
    FormFacts form = *planned;
    form.sums = facts.sums.value_or(sums_of(form, device));
    const ColumnsWork columns = columns_on(aim, "csell", form.entries, columns_of(form));
    const Rank rank =
        rank_of(for_columns({form.device_bytes, work_of(form, device)}, columns, aim), facts.csr_bytes, aim);
    if (best && !(rank < least)) continue;
    best = CsellDecision{source, form.sums};
    least = rank;
  }
  return best;
}

}  // namespace spmvpack::encoder::layouts::csell_plans
