#include "spmvpack/container/layouts/ell.hpp"

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::ell;  // what the bytes mean

/// Slots in file order: element(k) for entry k, `padding` for a slot without one.
template <class T, class F>
Fill slots(const PartMatrix& part, T padding, F element) {
  return [part, padding, element](std::uint64_t begin, std::span<std::byte> out) {
    if (out.empty()) return;
    const CsrView& a = part.a;
    std::uint64_t step = begin / sizeof(T) / a.rows(), row = begin / sizeof(T) % a.rows();
    compute_elements<T>(begin, out, [&](std::uint64_t /*slot*/) {
      const std::uint64_t k = a.row_ptr(row) + step;
      const T value = k < a.row_ptr(row + 1) ? element(k) : padding;
      if (++row == a.rows()) row = 0, ++step;
      return value;
    });
  };
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_width] = a.longest_row(options.threads);
  plan.sections.push_back(
      section(plan, sections[0], slots(part, no_column, [a](std::uint64_t k) { return a.col_idx()[k]; })));
  dispatch(a.value_type(), [&]<class T>(T) {
    // As bits, which a copy of a NaN keeps.
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    plan.sections.push_back(
        section(plan, sections[1], slots(part, bits_of<T>{0}, [values](std::uint64_t k) { return values[k]; })));
  });
  plan.padding = slots_of(plan.info) - a.nnz();
  share_by_section(plan);
  plan.counters = {{"width", plan.info.params[param_width]}};
  return plan;
}

}  // namespace

extern const LayoutEncoder ell{
    "ell", "ELLPACK: every row padded to the longest, neighbouring rows side by side", {}, plan};

}  // namespace spmvpack::encoder::layouts
