#include "strategies/lazy_part.hpp"

#include <mutex>

namespace spmvpack::encoder::strategy {
namespace {

struct Entries {
  CsrMatrix matrix;
  std::function<void(CsrMatrix&)> copy;
  std::once_flag copied;

  void require() {
    std::call_once(copied, [&] { copy(matrix); });
  }
};

}  // namespace

PartPlan plan_part(std::string_view layout, LazyPart part, ValueType type, const PlanOptions& options) {
  const auto entries = std::make_shared<Entries>();
  const std::uint64_t rows = part.rows.map.count, nnz = part.row_ptr[rows];
  entries->matrix.rows = rows;
  entries->matrix.cols = part.cols.map.count;
  entries->matrix.row_ptr = std::move(part.row_ptr);
  entries->matrix.col_idx = Array<std::uint32_t>(nnz);  // memory that nobody touches costs nothing
  dispatch(type, [&]<class T>(T) { entries->matrix.values = Array<T>(nnz); });
  entries->copy = std::move(part.copy);
  PartPlan plan = find_layout_encoder(layout).plan(
      {entries->matrix.view(), std::move(part.rows), std::move(part.cols), nullptr, entries}, options);
  for (SectionSource& section : plan.sections)
    section.fill = [entries, fill = std::move(section.fill)](std::uint64_t begin, std::span<std::byte> out) {
      entries->require();
      fill(begin, out);
    };
  return plan;
}

}  // namespace spmvpack::encoder::strategy
