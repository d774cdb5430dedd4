#include "spmvpack/generators/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "random_columns.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::generators {
namespace {

/// x to the power of steps / 256: only by products and square roots, which are the same on every machine.
double power(double x, std::uint64_t steps) {
  double result = 1, factor = x;
  for (std::uint64_t whole = steps / 256; whole != 0; whole /= 2, factor *= factor)
    if (whole % 2 != 0) result *= factor;
  factor = x;
  for (std::uint64_t bit = 128; bit != 0; bit /= 2) {
    factor = std::sqrt(factor);
    if ((steps & bit) != 0) result *= factor;
  }
  return result;
}

}  // namespace

Shape::Shape(std::uint64_t rows, std::uint64_t cols, const Coefficients& coefficients, std::uint64_t seed,
             std::string comment)
    : rows_(checked_size("rows", rows, 1)),
      cols_(checked_size("columns", cols, 1)),
      coefficients_(coefficients),
      structure_(Random(seed).at(0)),
      values_(Random(seed).at(1)),
      comment_(std::move(comment)) {}

void Shape::push(std::uint64_t i, std::uint64_t k, std::uint64_t column, Row& out) const {
  out.push(column, coefficients_.is_constant() ? 1 : 2 * values_.at(coefficients_.group(i)).uniform(k) - 1);
}

std::vector<std::string> Shape::comments() const {
  return {comment_, coefficients_.is_constant() ? "every value is 1"
                                                : fmt::format("random values, {}", coefficients_.describe("row"))};
}

Runs::Runs(std::uint64_t rows, std::uint64_t cols, std::function<Run(std::uint64_t row)> run,
           const Coefficients& coefficients, std::uint64_t seed, std::string comment)
    : Shape(rows, cols, coefficients, seed, std::move(comment)), run_(std::move(run)) {}

std::unique_ptr<Runs> Runs::full(std::uint64_t rows, std::uint64_t cols, const Coefficients& coefficients,
                                 std::uint64_t seed) {
  return std::make_unique<Runs>(
      rows, cols,
      [cols](std::uint64_t) {
        return Run{0, cols};
      },
      coefficients, seed, "every entry is stored");
}

std::unique_ptr<Runs> Runs::band(std::uint64_t n, std::uint64_t below, std::uint64_t above, std::uint64_t empty_every,
                                 const Coefficients& coefficients, std::uint64_t seed) {
  const auto run = [=](std::uint64_t i) {
    if (empty_every != 0 && (i + 1) % empty_every == 0) return Run{0, 0};
    return Run{i - std::min(i, below), i + std::min(n - 1 - i, above) + 1};
  };
  return std::make_unique<Runs>(n, n, run, coefficients, seed,
                                fmt::format("a band: {} diagonals below the main one, {} above it", below, above));
}

std::unique_ptr<Runs> Runs::blocks(std::uint64_t n, std::uint64_t block, const Coefficients& coefficients,
                                   std::uint64_t seed) {
  if (block == 0) throw Error(errc::usage, "blocks of 0 rows", {}, "give a number from 1 on");
  const auto run = [=](std::uint64_t i) {
    const std::uint64_t first = i - i % block;
    return Run{first, first + std::min(block, n - first)};
  };
  return std::make_unique<Runs>(n, n, run, coefficients, seed, fmt::format("full blocks of {} rows", block));
}

void Runs::row(std::uint64_t i, Row& out) const {
  const auto [begin, end] = run_(i);
  for (std::uint64_t column = begin; column < end; ++column) push(i, column - begin, column, out);
}

Arrow::Arrow(std::uint64_t n, const Coefficients& coefficients, std::uint64_t seed)
    : Shape(n, n, coefficients, seed, "an arrow: the first row, the first column and the diagonal") {}

void Arrow::row(std::uint64_t i, Row& out) const {
  if (i == 0) {
    for (std::uint64_t column = 0; column < cols(); ++column) push(i, column, column, out);
  } else {
    push(i, 0, 0, out);
    push(i, 1, i, out);
  }
}

PowerLawRows::PowerLawRows(std::uint64_t rows, std::uint64_t cols, double exponent, std::uint64_t longest,
                           const Coefficients& coefficients, std::uint64_t seed)
    : Shape(rows, cols, coefficients, seed, fmt::format("lengths of rows by a power law, exponent {}", exponent)),
      longest_(longest) {
  if (!(exponent >= 1.1 && exponent <= 10))
    throw Error(errc::usage, fmt::format("an exponent of {}", exponent), {}, "give a number from 1.1 to 10");
  if (longest < 1 || longest > cols)
    throw Error(errc::usage, fmt::format("a longest row of {} entries in {} columns", longest, cols), {},
                "give a number from 1 to that of the columns");
  steps_ = static_cast<std::uint64_t>(std::llround(256 / (exponent - 1)));
}

void PowerLawRows::row(std::uint64_t i, Row& out) const {
  // The share of rows that are longer than k is k^(1 - exponent); u is in (0, 1].
  const double u = 1 - structure().at(0).uniform(i);
  const double length = 1 / power(u, steps_);
  const std::uint64_t entries = length < static_cast<double>(longest_) ? static_cast<std::uint64_t>(length) : longest_;
  std::uint64_t k = 0;
  for (const std::uint64_t column : random_columns(structure().at(1).at(i), cols(), entries)) push(i, k++, column, out);
}

Scattered::Scattered(std::uint64_t rows, std::uint64_t cols, std::uint64_t entries, const Coefficients& coefficients,
                     std::uint64_t seed, const Resources& resources)
    : Shape(rows, cols, coefficients, seed, fmt::format("{} entries at random places", entries)) {
  if (entries > rows * cols / 2 + 1)
    throw Error(errc::usage, fmt::format("{} entries in {} x {}", entries, rows, cols), {},
                "give at most half as many as there are places");
  require_memory(checked_mul(entries, sizeof(std::uint64_t), "places"), resources.memory_limit, "places of entries");
  places_ = random_columns(structure(), rows * cols, entries);
}

EntryCounts Scattered::count(int, const ProgressCallback&) const { return {places_.size(), 0}; }

void Scattered::row(std::uint64_t i, Row& out) const {
  const auto from = [&](std::uint64_t row) { return std::lower_bound(places_.begin(), places_.end(), row * cols()); };
  std::uint64_t k = 0;
  for (auto place = from(i); place != places_.end() && *place / cols() == i; ++place)
    push(i, k++, *place % cols(), out);
}

}  // namespace spmvpack::generators
