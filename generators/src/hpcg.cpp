#include "spmvpack/generators/hpcg.hpp"

#include <fmt/format.h>

namespace spmvpack::generators {

Hpcg::Hpcg(const Point& cells, const Coefficients& coefficients, std::uint64_t seed)
    : coefficients_(coefficients), operator_(cells, coefficients, false, seed) {}

EntryCounts Hpcg::count(int, const ProgressCallback&) const { return symmetric_counts(operator_.entries(), rows()); }

void Hpcg::row(std::uint64_t i, Row& out) const {
  const Point p = operator_.grid().point(i);
  for (unsigned d = 0; d < Box27::directions; ++d)
    if (const auto q = operator_.neighbour(p, d)) out.push(operator_.grid().number(*q), operator_.entry(p, d));
}

std::vector<std::string> Hpcg::comments() const {
  return {"27-point operator of the HPCG benchmark, symmetric positive definite, lexicographic order",
          fmt::format("coefficient {}", coefficients_.describe("cell"))};
}

}  // namespace spmvpack::generators
