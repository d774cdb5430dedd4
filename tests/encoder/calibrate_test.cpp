// Prices fitted to measured multiplies, whose times are made up.

#include "spmvpack/encoder/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::test {
namespace {

using encoder::Counter;
using encoder::MeasuredWork;
using encoder::Target;

/// What multiplies do: a few units each, each of them a similar part of the time.
std::vector<MeasuredWork> made_up_work(const encoder::Profile& profile, std::size_t units, std::size_t multiplies,
                                       std::mt19937_64& rng) {
  std::vector<std::string_view> priced;
  for (const std::string_view unit : encoder::units())
    if (profile.price(unit) > 0 && priced.size() < units) priced.push_back(unit);
  std::vector<MeasuredWork> all(multiplies);
  for (MeasuredWork& m : all)
    for (int i = 0; i < 4; ++i) {
      const std::string unit(priced[rng() % priced.size()]);
      if (std::any_of(m.work.begin(), m.work.end(), [&](const Counter& c) { return c.name == unit; })) continue;
      m.work.emplace_back(unit, 1 + static_cast<std::uint64_t>(1e9 / profile.price(unit)) * (1 + rng() % 8));
    }
  return all;
}

/// A profile with other prices.
struct Machine {
  std::vector<double> picoseconds;
  encoder::Profile profile;
  Machine(const encoder::Profile& from, double factor, std::mt19937_64& rng) : profile(from) {
    for (const double price : from.picoseconds)
      picoseconds.push_back(price * factor * std::exp2(static_cast<double>(rng() % 1001) / 500 - 1));
    profile.picoseconds = picoseconds;
  }
};

double middle(std::vector<double> v) { return median(std::move(v)); }

}  // namespace

TEST_CASE("known prices are recovered from the times of multiplies") {
  for (const char* const name : {"host", "h100"}) {
    INFO(name);
    std::mt19937_64 rng(1);
    encoder::Aim aim;
    encoder::set_target(aim, name);
    const encoder::Profile& from = encoder::profile_of(aim);
    const Machine machine(from, 3, rng);  // three times as slow, and each unit between half and twice that
    std::vector<MeasuredWork> measured = made_up_work(from, 20, 300, rng);
    for (MeasuredWork& m : measured) m.seconds = encoder::predicted_seconds(m.work, machine.profile);

    const encoder::FittedPrices fitted = encoder::fit_prices(measured, from.target);
    CHECK(fitted.from->id == from.id);  // not the other GPU's
    REQUIRE(fitted.picoseconds.size() == encoder::units().size());
    std::size_t exercised = 0;
    for (std::size_t i = 0; i < encoder::units().size(); ++i) {
      const std::string_view unit = encoder::units()[i];
      INFO(unit);
      const bool is_exercised = std::any_of(measured.begin(), measured.end(), [&](const MeasuredWork& m) {
        return std::any_of(m.work.begin(), m.work.end(), [&](const Counter& c) { return c.name == unit; });
      });
      exercised += is_exercised ? 1 : 0;
      if (is_exercised)
        CHECK(fitted.picoseconds[i] == Approx(machine.picoseconds[i]).epsilon(0.05));
      else  // as on the machine that it starts from
        CHECK(fitted.picoseconds[i] == Approx(fitted.factor * from.picoseconds[i]));
    }
    CHECK(exercised == 20);
    CHECK(fitted.factor > 2);
    CHECK(fitted.factor < 4.5);
    CHECK(fitted.error < 0.005);
    CHECK(fitted.default_error > 1);
  }
}

TEST_CASE("noise, and what disturbed a few measurements, moves prices little") {
  std::mt19937_64 rng(2);
  const encoder::Profile& from = encoder::default_profile(Target::host);
  const Machine machine(from, 0.5, rng);
  std::vector<MeasuredWork> measured = made_up_work(from, 30, 400, rng);
  std::normal_distribution<double> noise(0, 0.05);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double seconds = encoder::predicted_seconds(measured[i].work, machine.profile);
    measured[i].seconds = seconds * std::exp(noise(rng)) * (i % 20 == 0 ? 5 : 1);
  }
  const encoder::FittedPrices fitted = encoder::fit_prices(measured, Target::host);
  std::vector<double> off;
  for (std::size_t i = 0; i < encoder::units().size(); ++i)
    if (machine.picoseconds[i] > 0 && fitted.picoseconds[i] != fitted.factor * from.picoseconds[i])
      off.push_back(std::abs(std::log(fitted.picoseconds[i] / machine.picoseconds[i])));
  CHECK(off.size() == 30);
  CHECK(middle(off) < 0.05);
  CHECK(*std::max_element(off.begin(), off.end()) < 0.3);
}

TEST_CASE("one multiply is enough for a profile, and prices are never negative") {
  const encoder::Profile& from = encoder::default_profile(Target::gpu);
  const std::vector<MeasuredWork> one{{{{"bytes", 1'000'000}, {"csr.multiplies", 1}}, 1e-5}};
  const encoder::FittedPrices fitted = encoder::fit_prices(one, Target::gpu);
  encoder::Profile own = *fitted.from;
  own.picoseconds = fitted.picoseconds;
  CHECK(encoder::predicted_seconds(one[0].work, own) == Approx(1e-5).epsilon(0.01));
  // Two multiplies that contradict each other in a unit that would have to give time back.
  const std::vector<MeasuredWork> two{{{{"csr.multiplies", 1}}, 1e-5},
                                      {{{"csr.multiplies", 1}, {"bytes", 100'000'000}}, 5e-6}};
  for (const double price : encoder::fit_prices(two, Target::gpu).picoseconds) CHECK(price >= 0);
  CHECK(from.target == Target::gpu);

  CHECK_THROWS_AS(encoder::fit_prices({}, Target::host), Error);
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    std::vector<MeasuredWork> bad = one;
    bad[0].seconds = wrong;
    CHECK_THROWS_AS(encoder::fit_prices(bad, Target::gpu), Error);
  }
}

TEST_CASE("each layout of a matrix is measured: cold for a GPU, warm for a host") {
  const SourceMatrix source{random_matrices<double>(5, 3)[0].matrix.nnz() != 0
                                ? clone(random_matrices<double>(5, 3)[0].matrix)
                                : make_csr(2, 2, {{{0, 0}, 1}}),
                            Field::real,
                            Symmetry::general,
                            {}};
  for (const Target target : {Target::gpu, Target::host}) {
    std::vector<std::string> layouts;
    const auto measure = [&](const Container& container, double seconds) -> MultiplyTimes {
      CHECK(seconds == 0.25);
      CHECK(equal_bits(unpack(container), source.matrix));
      layouts.push_back(container.parts()[0].layout);
      if (layouts.back() == "coo") throw Error(errc::out_of_memory, "a small machine");
      return {layouts.back() == "csr" ? 1e-6 : 4e-6, 1e-6, 1, 1, 0};
    };
    const std::vector<MeasuredWork> measured = encoder::measure_work(source, {.target = target}, measure, 0.25);
    const auto without = static_cast<std::size_t>(std::count(layouts.begin(), layouts.end(), "coo"));
    CHECK(without >= 1);
    CHECK(measured.size() == layouts.size() - without);
    CHECK((std::find(layouts.begin(), layouts.end(), "sjds") != layouts.end()) == (target == Target::host));
    const encoder::Plan plan = encoder::find_strategy("csr").plan(source.matrix, {.aim = {.target = target}});
    const std::vector<Counter> work = encoder::work_of(plan, source.matrix.rows, encoder::x_sectors(source.matrix));
    for (const MeasuredWork& m : measured) {
      const bool is_csr = m.work.size() == work.size() &&
                          std::equal(work.begin(), work.end(), m.work.begin(), [](const Counter& c, const Counter& d) {
                            return c.name == d.name && c.value == d.value;
                          });
      CHECK(m.seconds == Approx(is_csr || target == Target::host ? 1e-6 : 4e-6));
      CHECK(m.of_best == Approx(m.seconds / 1e-6));
    }
  }
  const auto broken = [](const Container&, double) -> MultiplyTimes { throw std::runtime_error("the sky fell"); };
  CHECK_THROWS_AS(encoder::measure_work(source, {}, broken, 1), std::runtime_error);
}

}  // namespace spmvpack::test
