#include "spmvpack/encoder/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::encoder {
namespace {

/// Up to so many times the best of its matrix, a multiply's error is one that choices notice.
constexpr double near = 1.8;
/// Errors beyond which a measured multiply counts less and less.
constexpr double spread = 0.3;
/// What it takes for a price to leave the one it starts from: to be wrong by its own size costs as much as an error of
/// the square root of this in one multiply.
constexpr double inertia = 0.1;

/// The least squares of A q = 1 in rows of these weights and of q = 1 in rows of weight `inertia`, none of q negative:
/// by the normal equations, one unknown after the other. They have a solution, as inertia makes them definite.
class RidgeProblem {
 public:
  RidgeProblem(const std::vector<std::vector<double>>& rows, const std::vector<double>& weights)
      : n_(rows[0].size()), matrix_(n_ * n_, 0.0), right_(n_, inertia) {
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t i = 0; i < n_; ++i) {
        const double scaled = weights[r] * weights[r] * rows[r][i];
        if (scaled == 0) continue;
        right_[i] += scaled;
        for (std::size_t j = 0; j < n_; ++j) matrix_[i * n_ + j] += scaled * rows[r][j];
      }
    for (std::size_t i = 0; i < n_; ++i) matrix_[i * n_ + i] += inertia;
  }

  void solve(std::vector<double>& q) const {
    constexpr int most_rounds = 100'000;
    constexpr double settled = 1e-10;
    double change = 1;
    for (int round = 0; round < most_rounds && change > settled; ++round) {
      change = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        double rest = right_[i];
        for (std::size_t j = 0; j < n_; ++j)
          if (j != i) rest -= matrix_[i * n_ + j] * q[j];
        const double next = std::max(0.0, rest / matrix_[i * n_ + i]);
        change = std::max(change, std::abs(next - q[i]));
        q[i] = next;
      }
    }
  }

 private:
  std::size_t n_;
  std::vector<double> matrix_, right_;
};

/// log(predicted / measured) of each.
std::vector<double> errors_of(std::span<const MeasuredWork> measured, const Profile& profile) {
  std::vector<double> errors;
  for (const MeasuredWork& m : measured)
    errors.push_back(std::log(std::max(predicted_seconds(m.work, profile) / m.seconds, 1e-6)));
  return errors;
}

/// The middle error of those near the best of their matrix, as a ratio less 1.
double middle_error(std::span<const MeasuredWork> measured, const Profile& profile, double factor = 1) {
  const std::vector<double> errors = errors_of(measured, profile);
  std::vector<double> sizes;
  for (std::size_t i = 0; i < measured.size(); ++i)
    if (measured[i].of_best < near) sizes.push_back(std::abs(errors[i] + std::log(factor)));
  return sizes.empty() ? 0 : std::exp(median(std::move(sizes))) - 1;
}

void check(std::span<const MeasuredWork> measured) {
  if (measured.empty()) throw Error(errc::usage, "no multiply was measured", {}, "measure some: prices come from them");
  for (const MeasuredWork& m : measured)
    if (!(m.seconds > 0) || !std::isfinite(m.seconds))
      throw Error(errc::usage, fmt::format("a multiply took {} s", m.seconds), {}, "give times that are positive");
}

/// The profile of this target whose times, times a factor, are nearest to the measured ones.
FittedPrices nearest(std::span<const MeasuredWork> measured, Target target) {
  FittedPrices best;
  double least = std::numeric_limits<double>::infinity();
  for (const Profile& profile : profiles()) {
    if (profile.target != target) continue;
    const double factor = std::exp(-median(errors_of(measured, profile)));
    const double error = middle_error(measured, profile, factor);
    if (error >= least) continue;
    least = error;
    best.from = &profile;
    best.factor = factor;
  }
  return best;
}

}  // namespace

std::vector<MeasuredWork> measure_work(const SourceMatrix& source, const Aim& aim, const MeasureMultiply& measure,
                                       double seconds, int threads, const ProgressCallback& progress) {
  const CsrView a = source.matrix;
  const std::uint64_t csr_bytes = spmvpack::layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  const MatrixFacts facts = facts_of(source, threads);
  const XSectors x = x_sectors(a, threads, profile_of(aim).x_caches);
  PlanOptions options;
  options.threads = threads;
  options.aim = aim;
  options.only_own = true;
  std::vector<MeasuredWork> all;
  double least = std::numeric_limits<double>::infinity();
  for (const Strategy& strategy : strategies()) {
    if (strategy.chooses || strategy.traits.by_name_only || !strategy.traits.suits_target(aim.target)) continue;
    report_progress(progress, "measure " + strategy.name, 0, 0);
    try {
      const Plan plan = strategy.plan(a, options);
      if (too_large(plan.device_bytes(), csr_bytes)) continue;
      MemorySink sink;
      WriteOptions write;
      write.threads = threads;
      EncodeRequest request;
      request.strategy = strategy.name;
      write_container(sink, container_source(facts, source.provenance, {a, plan}, request), write);
      const MultiplyTimes times = measure(Container::open(memory_source(sink.take()), "memory"), seconds);
      all.push_back({work_of(plan, a.rows(), x), aim.target == Target::host ? times.warm : times.cold});
      least = std::min(least, all.back().seconds);
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
    }
  }
  for (MeasuredWork& m : all) m.of_best = m.seconds / least;
  return all;
}

FittedPrices fit_prices(std::span<const MeasuredWork> measured, Target target) {
  check(measured);
  FittedPrices fitted = nearest(measured, target);
  const std::span<const double> from = fitted.from->picoseconds;
  // Unknown: each price over the one it starts from. A row has shares of a multiply's measured time.
  std::vector<std::vector<double>> rows;
  for (const MeasuredWork& m : measured) {
    std::vector<double>& row = rows.emplace_back(units().size(), 0.0);
    for (const Counter& c : m.work) {
      const auto unit =
          static_cast<std::size_t>(std::lower_bound(units().begin(), units().end(), c.name) - units().begin());
      row[unit] = 1e-12 * fitted.from->price(c.name) * fitted.factor * static_cast<double>(c.value) / m.seconds;
    }
  }
  // Slow layouts count as much as others: with few matrices, a price that is too low where a layout is slow would be
  // found out by no other.
  std::vector<double> q(units().size(), 1.0);
  constexpr int rounds = 12;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> weights(rows.size(), 1.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < q.size(); ++i) sum += rows[r][i] * q[i];
      const double off = std::log(std::max(sum, 1e-6)) / spread;
      weights[r] /= std::sqrt(std::sqrt(1 + off * off));
    }
    RidgeProblem(rows, weights).solve(q);
  }
  for (std::size_t i = 0; i < q.size(); ++i) fitted.picoseconds.push_back(q[i] * from[i] * fitted.factor);
  Profile own = *fitted.from;
  own.picoseconds = fitted.picoseconds;
  fitted.default_error = middle_error(measured, default_profile(target));
  fitted.error = middle_error(measured, own);
  return fitted;
}

}  // namespace spmvpack::encoder
