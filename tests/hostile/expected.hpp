#pragma once
// What a multiply has to give by the entries that unpacking finds, whatever the layouts and their orders of additions.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::test::hostile {

/// Of each row of op(A) x: the sum of its products, of their magnitudes, and how many there are.
struct Products {
  std::vector<long double> sum, magnitude;
  std::vector<std::uint64_t> count;

  /// The first row of alpha op(A) x + beta y0 that differs by more than any order of additions explains; empty if none
  /// does. Rows that may overflow on the way can be anything.
  template <class V>
  [[nodiscard]] std::string difference(const std::vector<V>& y, V alpha, V beta, const std::vector<V>& y0) const {
    using Limits = std::numeric_limits<V>;
    for (std::size_t r = 0; r < y.size(); ++r) {
      const long double before = beta == 0 ? 0 : static_cast<long double>(beta) * static_cast<long double>(y0[r]),
                        found = static_cast<long double>(y[r]),
                        expected = static_cast<long double>(alpha) * sum[r] + before,
                        all = std::abs(static_cast<long double>(alpha)) * magnitude[r] + std::abs(before);
      bool same = false;
      if (!std::isfinite(all))
        same = !std::isfinite(found);
      else if (all > static_cast<long double>(Limits::max()) / 8)
        same = true;
      else
        same = std::abs(found - expected) <= (2 * static_cast<long double>(count[r]) + 8) * Limits::epsilon() * all +
                                                 static_cast<long double>(Limits::min()) * (count[r] + 1);
      if (!same)
        return fmt::format("row {} of {}, with {} entries: {} instead of {}", r, y.size(), count[r],
                           static_cast<double>(found), static_cast<double>(expected));
    }
    return {};
  }
};

/// The entries of a container's parts, as they are, whatever its digest says.
class Entries {
 public:
  /// Of a container whose parts have been checked.
  explicit Entries(const Container& c) : facts_(c.facts()), infos_(c.parts()) {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const LoadedPart part = c.load_part(i, {.threads = 1});
      const CsrMatrix m = find_layout(infos_[i].layout).unpack(part.view(), 1);
      const auto of = [&](const IndexMap& map, const char* list, std::uint64_t local) {
        return map.kind == format::MapKind::list ? part.view().get<std::uint32_t>(list)[local] : map.begin + local;
      };
      for (std::uint64_t r = 0; r < m.rows; ++r)
        for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k)
          all_.push_back({infos_[i].role, of(infos_[i].rows, "row_map", r), of(infos_[i].cols, "col_map", m.col_idx[k]),
                          dispatch(m.value_type(),
                                   [&]<class T>(T) { return static_cast<double>(std::get<Array<T>>(m.values)[k]); })});
    }
  }

  template <class V>
  [[nodiscard]] Products products(Operation operation, const std::vector<V>& x) const {
    const Operand operand = check_description(describe<V>(operation), facts_, infos_);
    Products p{std::vector<long double>(operand.rows), std::vector<long double>(operand.rows),
               std::vector<std::uint64_t>(operand.rows)};
    for (const Entry& e : all_) {
      if (e.role != operand.role) continue;
      const long double product = static_cast<long double>(e.value) * static_cast<long double>(x.at(e.col));
      p.sum.at(e.row) += operand.negated ? -product : product;
      p.magnitude[e.row] += std::abs(product);
      ++p.count[e.row];
    }
    return p;
  }

 private:
  struct Entry {
    format::Role role;
    std::uint64_t row, col;
    double value;
  };
  MatrixFacts facts_;
  std::vector<PartInfo> infos_;
  std::vector<Entry> all_;
};

}  // namespace spmvpack::test::hostile
