#include "bench/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/suite.hpp"

namespace spmvpack::bench {
namespace {

constexpr std::array fields{&Ratios::over_csr_alg2, &Ratios::over_faster_csr, &Ratios::over_csr_bsr, &Ratios::over_sell,
                            &Ratios::over_best};

const Result* faster(const Result* a, const Result* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return a->cold.median <= b->cold.median ? a : b;
}

/// Of several columns, the faster order.
const Result* find_peer(const MatrixResult& matrix, std::string_view layout) {
  const Result* found = nullptr;
  for (const Result& r : matrix.results) {
    if (r.by != "cusparse" || !r.layout.starts_with(layout) || !r.correct()) continue;
    const std::string_view order = std::string_view(r.layout).substr(layout.size());
    if (order.empty() || order == "-row" || order == "-col") found = faster(found, &r);
  }
  return found;
}

const Result* best_of(const MatrixResult& matrix, bool own) {
  const Result* best = nullptr;
  for (const Result& r : matrix.results)
    if ((r.by == "spmvpack") == own && r.correct()) best = faster(best, &r);
  return best;
}

std::optional<double> ratio(const Result* peer, const Result& result) {
  if (peer == nullptr) return std::nullopt;
  return peer->cold.median / result.cold.median;
}

std::optional<double> geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// The means of one field of each of `all`, and its minimum.
void add_field(Means& means, std::optional<double> Ratios::*field, const std::vector<Ratios>& all) {
  std::vector<double> values;
  for (const Ratios& r : all)
    if (r.*field) values.push_back(*(r.*field));
  means.mean.*field = geometric_mean(values);
  if (!values.empty()) means.least.*field = *std::min_element(values.begin(), values.end());
}

Means means_of(std::string set, const std::vector<Ratios>& all) {
  Means means;
  means.set = std::move(set);
  means.members = all.size();
  for (const auto field : fields) add_field(means, field, all);
  return means;
}

Means total_of(const std::vector<Means>& groups) {
  std::vector<Ratios> means;
  Means total;
  means.reserve(groups.size());
  for (const Means& group : groups) means.push_back(group.mean);
  total = means_of("total", means);
  total.members = 0;
  for (const Means& group : groups) total.members += group.members;
  for (const auto field : fields) {
    total.least.*field = std::nullopt;
    for (const Means& group : groups)
      if (group.least.*field)
        total.least.*field = std::min((total.least.*field).value_or(*(group.least.*field)), *(group.least.*field));
  }
  return total;
}

KernelSummary summarise_kernel(std::span<const MatrixResult> matrices, const Result& kernel) {
  KernelSummary summary{kernel.layout, kernel.kernel, {}};
  const auto collect = [&](auto&& belongs) {
    std::vector<Ratios> all;
    for (const MatrixResult& matrix : matrices) {
      if (!belongs(matrix)) continue;
      for (const Result& r : matrix.results)
        if (r.by == kernel.by && r.name() == kernel.name() && r.correct()) all.push_back(ratios(matrix, r));
    }
    return all;
  };
  for (const std::string_view group : suite_groups) {
    const auto all = collect([&](const MatrixResult& m) { return m.group == group && !m.added && !m.l2_resident(); });
    if (!all.empty()) summary.sets.push_back(means_of(std::string(group), all));
  }
  if (!summary.sets.empty()) summary.sets.push_back(total_of(summary.sets));
  const auto resident = collect([](const MatrixResult& m) { return !m.added && m.l2_resident(); });
  if (!resident.empty()) summary.sets.push_back(means_of("l2-resident", resident));
  const auto added = collect([](const MatrixResult& m) { return m.added; });
  if (!added.empty()) summary.sets.push_back(means_of("added", added));
  return summary;
}

}  // namespace

const Result* best_peer(const MatrixResult& matrix) { return best_of(matrix, false); }

const Result* best_own(const MatrixResult& matrix) { return best_of(matrix, true); }

double with_copies(const MatrixResult& matrix, const Result& result, const Speeds& speeds) {
  const auto bytes = [&](std::uint64_t elements) {
    return static_cast<double>(elements * matrix.right_hand_sides * size_of(matrix.vector_type));
  };
  return result.cold.median + bytes(matrix.cols) / speeds.to_device_speed() +
         bytes(matrix.rows) / speeds.from_device_speed();
}

Ratios ratios(const MatrixResult& matrix, const Result& result) {
  const Result* const alg2 = find_peer(matrix, "csr-alg2");
  const Result* const csr = faster(faster(find_peer(matrix, "csr-alg1"), alg2), find_peer(matrix, "csr-alg3"));
  const Result* csr_bsr = csr;
  for (const Result& r : matrix.results)
    if (r.by == "cusparse" && r.layout.starts_with("bsr-") && r.correct()) csr_bsr = faster(csr_bsr, &r);
  return {ratio(alg2, result), ratio(csr, result), ratio(csr_bsr, result), ratio(find_peer(matrix, "sell-32"), result),
          ratio(best_peer(matrix), result)};
}

std::vector<KernelSummary> summarise_suite(std::span<const MatrixResult> matrices) {
  std::vector<KernelSummary> summaries;
  for (const MatrixResult& matrix : matrices)
    for (const Result& r : matrix.results) {
      const bool known = std::any_of(summaries.begin(), summaries.end(), [&](const KernelSummary& s) {
        return s.layout == r.layout && s.kernel == r.kernel;
      });
      if (r.by == "spmvpack" && !known) summaries.push_back(summarise_kernel(matrices, r));
    }
  return summaries;
}

}  // namespace spmvpack::bench
