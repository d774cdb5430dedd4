#pragma once
// A strategy for tests: deals a matrix out to parts of every layout, so that everything that handles several parts has
// some. Columns are cut in two, the second half as a shuffled list; in each half the first rows go to a part that is a
// range, the others at random to parts that are shuffled lists.

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "containers.hpp"
#include "orders/scalars.hpp"

namespace spmvpack::test {

struct DealtPart {
  std::string layout;
  encoder::PartIndices rows, cols;
  std::shared_ptr<const CsrMatrix> matrix;  ///< local

  [[nodiscard]] static std::uint64_t global(const encoder::PartIndices& indices, std::uint64_t local) {
    return indices.list ? (*indices.list)[local] : indices.map.begin + local;
  }
  /// The part's x: what its local columns stand for.
  template <class T>
  [[nodiscard]] std::vector<T> local_x(const std::vector<T>& x) const {
    std::vector<T> local(cols.map.count);
    for (std::uint64_t c = 0; c < local.size(); ++c) local[c] = x[global(cols, c)];
    return local;
  }
  /// y = alpha sums + y for the part's rows that have entries, where `sums` are of its local rows.
  template <class T>
  void add(T alpha, const std::vector<T>& sums, std::vector<T>& y) const {
    for (std::uint64_t r = 0; r < sums.size(); ++r)
      if (matrix->row_ptr[r] != matrix->row_ptr[r + 1]) {
        T& element = y[global(rows, r)];
        element = orders::completed(alpha, sums[r], element);
      }
  }
};

/// The entries of `a` in these rows and columns, in local indices.
inline CsrMatrix restrict_to(const CsrView& a, const encoder::PartIndices& rows, const encoder::PartIndices& cols) {
  constexpr std::uint32_t none = ~0U;
  std::vector<std::uint32_t> local_col(a.cols(), none);
  for (std::uint64_t c = 0; c < cols.map.count; ++c)
    local_col[DealtPart::global(cols, c)] = static_cast<std::uint32_t>(c);
  std::vector<std::uint64_t> row_ptr{0};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> entries;  // local column, place in a
  for (std::uint64_t r = 0; r < rows.map.count; ++r) {
    const std::uint64_t row = DealtPart::global(rows, r), first = entries.size();
    for (std::uint64_t k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k)
      if (local_col[a.col_idx()[k]] != none) entries.emplace_back(local_col[a.col_idx()[k]], k);
    std::sort(entries.begin() + static_cast<std::ptrdiff_t>(first), entries.end());
    row_ptr.push_back(entries.size());
  }
  CsrMatrix m = allocate_csr(rows.map.count, cols.map.count, entries.size(), a.value_type());
  std::copy(row_ptr.begin(), row_ptr.end(), m.row_ptr.begin());
  dispatch_any(a.value_type(), [&]<class T>(T) {
    auto& values = std::get<Array<T>>(m.values);
    for (std::uint64_t k = 0; k < entries.size(); ++k) {
      m.col_idx[k] = entries[k].first;
      values[k] = a.values<T>()[entries[k].second];
    }
  });
  return m;
}

inline std::vector<DealtPart> deal(const CsrView& a, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto shuffled = [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint32_t> list(end - begin);
    std::iota(list.begin(), list.end(), static_cast<std::uint32_t>(begin));
    std::shuffle(list.begin(), list.end(), rng);
    return list;
  };
  const std::uint64_t cut = a.cols() / 3, first_rows = a.rows() / 4;
  std::vector<DealtPart> parts;
  for (const auto& cols : {encoder::PartIndices::range(0, cut), encoder::PartIndices::of(shuffled(cut, a.cols()))}) {
    const auto add = [&](const std::string& layout, const encoder::PartIndices& rows) {
      auto matrix = std::make_shared<const CsrMatrix>(restrict_to(a, rows, cols));
      parts.push_back({suits(*matrix, layout) ? layout : "csr", rows, cols, matrix});
    };
    const std::vector<std::string> layouts = layout_names();
    std::vector<std::vector<std::uint32_t>> hands(layouts.size());
    for (const std::uint32_t row : shuffled(first_rows, a.rows())) hands[rng() % hands.size()].push_back(row);
    add(layouts[rng() % layouts.size()], encoder::PartIndices::range(0, first_rows));
    for (std::size_t i = 0; i < layouts.size(); ++i) add(layouts[i], encoder::PartIndices::of(std::move(hands[i])));
  }
  // Of several parts, none is without entries.
  const auto is_empty = [](const DealtPart& part) { return part.matrix->nnz() == 0; };
  if (std::all_of(parts.begin(), parts.end(), is_empty))
    parts.resize(1);
  else
    parts.erase(std::remove_if(parts.begin(), parts.end(), is_empty), parts.end());
  return parts;
}

inline encoder::Strategy dealt(std::uint64_t seed) {
  return {.name = "dealt",
          .summary = "parts of every layout, for tests",
          .settings = {},
          .plan = [seed](const CsrView& a, const encoder::PlanOptions& options) {
            encoder::Plan plan;
            plan.strategy = "dealt";
            for (const DealtPart& part : deal(a, seed))
              plan.parts.push_back(
                  encoder::find_layout_encoder(part.layout)
                      .plan({*part.matrix, part.rows, part.cols, nullptr, encoder::own_entries(part.matrix)}, options));
            return plan;
          }};
}

/// y = alpha A x + beta y as the parts' order in the table defines it: `sums(part, its container, its x)` are the row
/// sums of one part alone.
template <class T, class Sums>
std::vector<T> multiply_dealt(const std::vector<DealtPart>& parts, T alpha, const std::vector<T>& x, T beta,
                              std::vector<T> y, Sums&& sums) {
  for (T& element : y) element = orders::scaled(beta, element);
  for (const DealtPart& part : parts)
    part.add(alpha, sums(encode(*part.matrix, part.layout).bytes, part.local_x(x)), y);
  return y;
}

}  // namespace spmvpack::test
