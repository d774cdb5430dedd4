#include "tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder {
namespace {

void check_request(const EncodeRequest& request) {
  if (!request.tuner->measure) throw Error(errc::usage, "a tuner without a function that measures");
  if (!find_strategy(request.strategy).chooses)
    throw Error(errc::usage, fmt::format("tuning chooses among layouts, and {} is one", request.strategy), {},
                "tune with layout auto");
  if (request.aim.optimize == Objective::bytes)
    throw Error(errc::usage, "tuning is for the least time, not for the fewest bytes", {},
                "omit one of them: bytes need no measuring");
  if (request.aim.columns != 1)
    throw Error(errc::usage, fmt::format("tuning measures multiplies of one column, not of {}", request.aim.columns),
                {}, "omit one of them");
}

MultiplyTimes measure(const Tuner& tuner, const ContainerSource& source, const EncodeRequest& request, double seconds) {
  const MemoryScope memory("measuring");
  WriteOptions write;
  write.threads = request.threads;
  write.progress = request.progress;
  MemorySink sink(request.memory_limit);
  write_container(sink, source, write);
  const MultiplyTimes times = tuner.measure(Container::open(memory_source(sink.take()), "memory"), seconds);
  if (!(times.mean() >= 0) || !std::isfinite(times.mean()) || !(times.spent >= 0))
    throw Error(errc::usage, fmt::format("the tuner measured {} s in {} s", times.mean(), times.spent), {},
                "give times that are not negative");
  return times;
}

/// The smallest of those that are about as fast as the fastest, of equals the first.
std::size_t choose_measured(const std::vector<TunedLayout>& layouts) {
  const auto seconds = [&](std::size_t i) { return layouts[i].times->mean(); };
  std::optional<std::size_t> fastest, chosen;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    if (layouts[i].times && (!fastest || seconds(i) < seconds(*fastest))) fastest = i;
  for (std::size_t i = 0; i < layouts.size(); ++i)
    if (layouts[i].times && seconds(i) <= (1 + measuring_noise) * seconds(*fastest) &&
        (!chosen || layouts[i].device_bytes < layouts[*chosen].device_bytes))
      chosen = i;
  return chosen.value();
}

/// By predicted times if csr could not be measured; unset if it could not even be planned.
std::optional<BesideCsr> beside_csr(const Tuning& tuning) {
  const TunedLayout& chosen = tuning.layouts[tuning.chosen];
  for (const TunedLayout& layout : tuning.layouts) {
    if (layout.name != spmvpack::layouts::csr::layout.name) continue;
    if (layout.times) return BesideCsr{chosen.times->mean(), layout.times->mean(), true};
    return BesideCsr{chosen.predicted_seconds, layout.predicted_seconds};
  }
  return {};
}

}  // namespace

TunedPlan tuned_plan(const CsrView& a, const PlanOptions& options, const EncodeRequest& request,
                     const std::function<ContainerSource(const Plan&)>& container_of) {
  check_request(request);
  const Tuner& tuner = *request.tuner;
  std::vector<PricedPlan> plans = strategy::plans_within(measured_within, most_measured, a, options);
  Tuning tuning{tuner.machine, {}, 0};
  std::exception_ptr refusal;
  std::uint64_t measured = 0;
  double left = tuning_seconds;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Plan& plan = plans[i].plan;
    TunedLayout& layout = tuning.layouts.emplace_back();
    layout.name = plan.strategy;
    layout.device_bytes = plan.device_bytes();
    layout.predicted_seconds = plans[i].seconds;
    report_progress(request.progress, "measure " + layout.name, i, plans.size());
    if (!(left > 0)) {
      layout.refusal = "the time for measuring was over";
      continue;
    }
    try {
      layout.times = measure(tuner, container_of(plan), request, left / static_cast<double>(plans.size() - i));
      left -= layout.times->spent;
      ++measured;
    } catch (const Error& e) {
      if (!is_refusal(e)) throw;
      layout.refusal = e.message();
      if (!refusal) refusal = std::current_exception();
    }
  }
  if (measured == 0) std::rethrow_exception(refusal);
  tuning.chosen = choose_measured(tuning.layouts);
  Plan plan = std::move(plans[tuning.chosen].plan);
  plan.reason = fmt::format("{} measured, the best of {} on {}", time_text(tuning.layouts[tuning.chosen].times->mean()),
                            counted(measured, "layout"), tuner.machine);
  plan.beside_csr = beside_csr(tuning);
  return {std::move(plan), std::move(tuning)};
}

std::vector<MeasuredLayout> measured_layouts(const Tuning& tuning) {
  std::vector<MeasuredLayout> all;
  const auto add = [&](const TunedLayout& t) { all.push_back({t.name, t.predicted_seconds, t.times->mean()}); };
  add(tuning.layouts[tuning.chosen]);
  for (std::size_t i = 0; i < tuning.layouts.size(); ++i)
    if (i != tuning.chosen && tuning.layouts[i].times) add(tuning.layouts[i]);
  std::stable_sort(all.begin() + 1, all.end(),
                   [](const MeasuredLayout& x, const MeasuredLayout& y) { return x.seconds < y.seconds; });
  return all;
}

}  // namespace spmvpack::encoder
