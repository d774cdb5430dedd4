// The protocol of timings, by a clock that only the runs move.

#include "spmvpack/container/multiply/timing.hpp"

#include "catch.hpp"

namespace spmvpack::test {
namespace {

/// A machine whose cold runs take `cold` and warm ones `warm`, and whose flushes take `flush`.
struct Machine {
  double cold = 1, warm = 1, flush = 0;
  double now = 100;
  std::string runs = {};  ///< c and w, in their order

  MultiplyTimes time(double seconds) {
    return time_runs({[this](bool is_cold) {
                        runs += is_cold ? 'c' : 'w';
                        now += is_cold ? flush + cold : warm;
                        return is_cold ? cold : warm;
                      },
                      [this] { return now; }},
                     seconds);
  }
};

}  // namespace

TEST_CASE("a median is the middle, whatever the order") {
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({4, 1, 2, 100}) == 3);
}

TEST_CASE("short runs are timed so many times, cold ones first") {
  Machine machine{.cold = 0.002, .warm = 0.001, .flush = 0.003};
  const MultiplyTimes times = machine.time(10);
  CHECK(machine.runs == "www" + std::string(31, 'c') + "w" + std::string(31, 'w'));
  CHECK(times.cold == 0.002);
  CHECK(times.warm == 0.001);
  CHECK(times.cold_runs == 31);
  CHECK(times.warm_runs == 31);
  CHECK(times.mean() == Approx(0.001 * std::sqrt(2.0)));
  CHECK(times.spent == Approx(31 * 0.005 + 35 * 0.001));
}

TEST_CASE("runs end with the time for them, flushes included") {
  Machine machine{.cold = 1, .warm = 1, .flush = 3};
  const MultiplyTimes times = machine.time(32);
  // Warm-up until 8, of which 3 take 3; cold runs of 4 until 20; one warm run; warm ones until 32.
  CHECK(machine.runs == "www" + std::string(5, 'c') + "w" + std::string(8, 'w'));
  CHECK(times.cold_runs == 5);
  CHECK(times.warm_runs == 8);
  CHECK(times.spent == 32);
}

TEST_CASE("of a multiply that is longer than the time for it, one cold and one warm run are timed") {
  for (const double seconds : {0.0, 0.5, 1.0}) {
    Machine machine{.cold = 7, .warm = 5, .flush = 1};
    const MultiplyTimes times = machine.time(seconds);
    CHECK(machine.runs == "wcww");
    CHECK(times.cold == 7);
    CHECK(times.warm == 5);
    CHECK(times.spent == 23);
  }
}

TEST_CASE("a multiply that takes no time has none") {
  Machine machine{.cold = 0, .warm = 0};
  CHECK(machine.time(1).mean() == 0);
}

}  // namespace spmvpack::test
