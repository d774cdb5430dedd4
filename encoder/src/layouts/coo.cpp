#include "spmvpack/container/layouts/coo.hpp"

#include <algorithm>

#include "layouts/layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace {

enum SectionIndex : std::uint8_t { row_idx, col_idx, values };

class CooPlan final : public Plan {
 public:
  explicit CooPlan(const CsrView& a) : a_(a) {
    part = whole_matrix("coo", a);
    part.workspace_bytes = spmvpack::layouts::coo::balanced_workspace(a.nnz(), a.value_type());
    sections = {section("row_idx", format::ElementType::u32, a.nnz()),
                section("col_idx", format::ElementType::u32, a.nnz()),
                section("values", format::element_type(a.value_type()), a.nnz())};
    for (const SectionSource& s : sections) byte_shares.push_back({s.name, s.raw_bytes()});
  }

  void fill(std::size_t index, std::uint64_t begin, std::span<std::byte> out) const override {
    if (out.empty()) return;
    if (index == col_idx) return copy_bytes(a_.col_idx(), begin, out);
    if (index == values) return copy_bytes(a_.value_bytes(), begin, out);
    std::uint64_t row = a_.row_of(begin / 4);
    compute_elements<std::uint32_t>(begin, out, [&](std::uint64_t k) {
      while (a_.row_ptr(row + 1) <= k) ++row;
      return static_cast<std::uint32_t>(row);
    });
  }

 private:
  CsrView a_;
};

}  // namespace

std::unique_ptr<Plan> plan_coo(const CsrView& a, const PlanOptions& /*options*/) {
  return std::make_unique<CooPlan>(a);
}

}  // namespace spmvpack::encoder::layouts
