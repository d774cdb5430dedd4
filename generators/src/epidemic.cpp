#include "spmvpack/generators/epidemic.hpp"

namespace spmvpack::generators {

Epidemic::Epidemic(std::uint64_t nx, std::uint64_t ny) : grid_(checked_grid({nx, ny, 1})) {
  require_sides(std::array{nx, ny}, 2);
}

EntryCounts Epidemic::count(int, const ProgressCallback&) const {
  return {4 * grid_.points() - 2 * (grid_.n[0] + grid_.n[1]) + 1, 0};
}

void Epidemic::row(std::uint64_t i, Row& out) const {
  const Point at = grid_.point(i);
  const std::uint64_t nx = grid_.n[0], ny = grid_.n[1];
  const auto s = static_cast<double>(at[0]), infected = static_cast<double>(at[1]);
  const double more_infected = static_cast<double>(ny - 1 - at[1]) * (1 + s) / static_cast<double>(nx);
  const double less_susceptible = s * (1 + infected / static_cast<double>(ny - 1));
  const auto more_susceptible = static_cast<double>(nx - 1 - at[0]);
  const double stay = i == 0 ? 1 : 0;
  const double sum = infected + less_susceptible + stay + more_susceptible + more_infected;
  if (at[1] > 0) out.push(i - nx, infected / sum);
  if (at[0] > 0) out.push(i - 1, less_susceptible / sum);
  if (i == 0) out.push(i, stay / sum);
  if (at[0] + 1 < nx) out.push(i + 1, more_susceptible / sum);
  if (at[1] + 1 < ny) out.push(i + nx, more_infected / sum);
}

std::vector<std::string> Epidemic::comments() const {
  std::vector<std::string> lines{
      "jump chain of an epidemic: numbers of susceptible and infected individuals, each event changes one by one",
      "rows add up to 1"};
  if (grid_.n == Point{1025, 513, 1})
    lines.emplace_back("rows and nonzeros are those of Epidemiology (mc2depi); the values are not");
  return lines;
}

}  // namespace spmvpack::generators
