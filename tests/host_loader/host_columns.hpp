#pragma once
// Several columns at once, compared with the columns one by one.

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "columns.hpp"
#include "host_loader/host_multiply.hpp"

namespace spmvpack::test {

/// Numbers of columns.
inline constexpr std::array<std::size_t, 11> counts{0, 1, 2, 3, 5, 8, 9, 16, 17, 33, 128};
/// One of them.
inline std::span<const std::size_t> one_count(std::size_t turn, std::size_t below = counts.size() - 1) {
  return std::span(counts).subspan(2 + turn % (below - 2), 1);
}

/// Multiplies `numbers` of columns, X and Y in orders that take turns.
template <class A, class V>
void require_columns(const HostMatrix& a, const CsrMatrix* matrix, Operation operation, std::size_t turn,
                     std::span<const std::size_t> numbers) {
  const std::uint64_t rows = operation == Operation::none ? a.facts().rows : a.facts().cols,
                      cols = operation == Operation::none ? a.facts().cols : a.facts().rows;
  const auto nan = std::numeric_limits<real_of<V>>::quiet_NaN();
  std::vector<std::vector<V>> xs, y0s, plain, added;  // columns; A x, and -2.5 A x + 0.75 y
  const auto prepare = [&](std::size_t count) {
    for (std::size_t j = xs.size(); j < count; ++j) {
      xs.push_back(random_vector<V>(cols, 100 + j));
      y0s.push_back(random_vector<V>(rows, 300 + j));
      if (j % 4 == 3 && cols != 0) {  // none of which reaches another column
        xs.back()[j % cols] = V{nan};
        xs.back()[j * 7 % cols] = V{-std::numeric_limits<real_of<V>>::infinity()};
      }
      plain.emplace_back(rows, V{nan});
      added.push_back(y0s.back());
      a.multiply<V>(1, xs.back(), 0, plain.back(), 1, describe<V>(operation));
      a.multiply<V>(V{-2.5}, xs.back(), V{0.75}, added.back(), 1, describe<V>(operation));
      if (matrix != nullptr && j == 8) require_correct<A>(*matrix, xs[j], plain[j]);
    }
  };
  const auto first = [](const std::vector<std::vector<V>>& all, std::size_t count) {
    return std::vector(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  for (const std::size_t count : numbers) {
    prepare(count);
    for (const bool adds : {false, true}) {
      const Storage &of_x = storages.at(turn % 4), &of_y = storages.at(turn / 4 % 4);
      turn += 3;  // all of the 16 pairs in turn
      StoredColumns<V> x(first(xs, count), cols, of_x), y(first(y0s, count), rows, of_y), x0 = x;
      const StoredColumns<V> expected(first(adds ? added : plain, count), rows, of_y);
      const auto description = describe<V>(operation);
      if (adds)
        a.multiply<V>(V{-2.5}, x.view(), V{0.75}, y.view(), 2, description);
      else
        a.multiply<V>(1, x.view(), 0, y.view(), 2, description);
      INFO(count << " columns, X by " << of_x.name << ", Y by " << of_y.name << (adds ? ", added" : ""));
      REQUIRE(same_bits_or_nan(y.memory, expected.memory));  // what lies between the elements is NaN as before
      REQUIRE(same_bits(x.memory, x0.memory));
    }
  }
}

}  // namespace spmvpack::test
