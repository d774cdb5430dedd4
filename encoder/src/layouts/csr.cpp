#include "spmvpack/container/layouts/csr.hpp"

#include "layouts.hpp"

namespace spmvpack::encoder::layouts {
namespace {

enum SectionIndex : std::uint8_t { row_ptr, col_idx, values };

class CsrPlan final : public Plan {
 public:
  explicit CsrPlan(const CsrView& a) : a_(a), wide_(a.nnz() >= spmvpack::layouts::csr::wide_from) {
    part = whole_matrix("csr", a);
    sections = {section("row_ptr", wide_ ? format::ElementType::u64 : format::ElementType::u32, a.rows() + 1),
                section("col_idx", format::ElementType::u32, a.nnz()),
                section("values", format::element_type(a.value_type()), a.nnz())};
    for (const SectionSource& s : sections) byte_shares.push_back({s.name, s.raw_bytes()});
    counters = {{"row_ptr.bits", wide_ ? 64U : 32U}};
  }

  void fill(std::size_t index, std::uint64_t begin, std::span<std::byte> out) const override {
    switch (index) {
      case row_ptr:
        if (wide_)
          compute_elements<std::uint64_t>(begin, out, [&](std::uint64_t r) { return a_.row_ptr(r); });
        else
          compute_elements<std::uint32_t>(begin, out,
                                          [&](std::uint64_t r) { return static_cast<std::uint32_t>(a_.row_ptr(r)); });
        return;
      case col_idx:
        return copy_bytes(a_.col_idx(), begin, out);
      default:
        return copy_bytes(a_.value_bytes(), begin, out);
    }
  }

 private:
  CsrView a_;
  bool wide_;
};

}  // namespace

std::unique_ptr<Plan> plan_csr(const CsrView& a, const PlanOptions& /*options*/) {
  return std::make_unique<CsrPlan>(a);
}

}  // namespace spmvpack::encoder::layouts
