#include "spmvpack/generators/uniform.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "random_columns.hpp"

namespace spmvpack::generators {

RandomColumns::RandomColumns(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, std::uint64_t seed)
    : rows_(checked_size("rows", rows, 1)),
      cols_(checked_size("columns", cols, 1)),
      per_row_(per_row),
      columns_(Random(seed).at(0)),
      values_(Random(seed).at(1)) {
  if (per_row < 1 || per_row > cols)
    throw Error(errc::usage, fmt::format("{} entries per row of {} columns", per_row, cols), {},
                "give a number from 1 to that of the columns");
}

EntryCounts RandomColumns::count(int, const ProgressCallback&) const {
  return {checked_mul(rows_, per_row_, "entries"), 0};
}

std::vector<std::uint64_t> random_columns(const Random& random, std::uint64_t cols, std::uint64_t count) {
  std::vector<std::uint64_t> set;
  set.reserve(count);
  if (count > cols / 4) {
    // Selection sampling (Knuth, volume 2, 3.4.2 S): every column in turn, with the probability that is due to it.
    for (std::uint64_t c = 0; set.size() < count; ++c)
      if (random.below(c, cols - c) < count - set.size()) set.push_back(c);
    return set;
  }
  // Draw what is missing until nothing is: columns that come twice are few.
  for (std::uint64_t draws = 0; set.size() < count;) {
    while (set.size() < count) set.push_back(random.below(draws++, cols));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  return set;
}

std::vector<std::uint64_t> RandomColumns::columns(std::uint64_t i) const {
  return random_columns(columns_.at(i), cols_, per_row_);
}

Uniform::Uniform(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, const Coefficients& coefficients,
                 std::uint64_t seed)
    : RandomColumns(rows, cols, per_row, seed), coefficients_(coefficients) {}

void Uniform::row(std::uint64_t i, Row& out) const {
  const Random random = values().at(coefficients_.group(i));
  std::uint64_t k = 0;
  for (const std::uint64_t column : columns(i))
    out.push(column, coefficients_.is_constant() ? 1 : 2 * random.uniform(k++) - 1);
}

std::vector<std::string> Uniform::comments() const {
  return {"uniformly random columns",
          coefficients_.is_constant() ? "every value is 1"
          : coefficients_.kind == Coefficients::Kind::blocks  //
              ? fmt::format("random values, the same in the rows of a block of {}", coefficients_.block)
              : "random values"};
}

LinearProgram::LinearProgram(std::uint64_t rows, std::uint64_t cols, std::uint64_t per_row, bool with_signs,
                             std::uint64_t seed)
    : RandomColumns(rows, cols, per_row, seed), with_signs_(with_signs) {}

void LinearProgram::row(std::uint64_t i, Row& out) const {
  const Random random = values().at(i);
  for (const std::uint64_t column : columns(i)) out.push(column, with_signs_ && random.below(column, 2) == 1 ? -1 : 1);
}

std::vector<std::string> LinearProgram::comments() const {
  return {"constraints of a linear program, few rows over many columns",
          with_signs_ ? "coefficients +1 and -1" : "coefficients 1, as in set covering"};
}

}  // namespace spmvpack::generators
