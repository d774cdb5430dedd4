#include "spmvpack/container/layouts/csr.hpp"

#include <atomic>

#include "layouts/layouts.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder::layouts {
namespace {

using namespace spmvpack::layouts::csr;  // what the bytes mean

enum SectionIndex : std::uint8_t { row_ptr, col_idx, values };

bool any_very_long_row(const CsrView& a, int threads) {
  constexpr std::uint64_t piece = 1U << 18;
  std::atomic<bool> found{false};
  parallel_pieces(a.rows(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r)
      if (is_very_long_row(a.row_length(r), a.nnz())) found = true;
  });
  return found;
}

class CsrPlan final : public Plan {
 public:
  CsrPlan(const CsrView& a, int threads) : a_(a), wide_(a.nnz() >= wide_from) {
    part = whole_matrix("csr", a);
    if (any_very_long_row(a, threads)) part.workspace_bytes = merge_workspace(a.nnz(), a.value_type());
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

std::unique_ptr<Plan> plan_csr(const CsrView& a, const PlanOptions& options) {
  return std::make_unique<CsrPlan>(a, options.threads);
}

}  // namespace spmvpack::encoder::layouts
