// encode() with a tuner, whose times are made up: what is measured, what is taken, and what the file says of it.

#include <cmath>
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "containers.hpp"
#include "matrices.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/payback.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"
#include "spmvpack/host_loader/timing.hpp"

namespace spmvpack::test {
namespace {

using encoder::Objective;
using encoder::Target;
using encoder::TunedLayout;

/// A five-point stencil with coefficients of its own.
CsrMatrix grid(std::uint32_t side) {
  Entries entries;
  std::mt19937_64 rng(7);
  for (std::uint32_t i = 0; i < side * side; ++i) {
    entries[{i, i}] = 4;
    if (i % side != 0) entries[{i, i - 1}] = random_value<double>(rng, 2);
    if (i % side != side - 1) entries[{i, i + 1}] = -1;
    if (i >= side) entries[{i, i - side}] = random_value<double>(rng, 2);
    if (i + side < side * side) entries[{i, i + side}] = -1;
  }
  return make_csr(side * side, side * side, entries);
}

/// A diagonal and a row of 250 entries, of which csr is slow on a GPU: a thread adds up that row alone.
CsrMatrix one_longer_row() {
  Entries entries;
  for (std::uint32_t i = 0; i < 4000; ++i) entries[{i, i}] = 4;
  for (std::uint32_t i = 0; i < 250; ++i) entries[{2000, 16 * i}] = i + 1;
  return make_csr(4000, 4000, entries);
}

SourceMatrix source_of(const CsrMatrix& a) { return {clone(a), Field::real, Symmetry::general, {}}; }

/// Measures what a list says, in the order of the calls.
struct FakeMachine {
  std::vector<double> seconds;        ///< of each call; the last for all that follow
  double spent = 0;                   ///< by each call
  std::vector<double> given = {};     ///< the seconds that each call got
  std::vector<CsrMatrix> matrices{};  ///< of the containers

  MultiplyTimes measure(const Container& container, double share) {
    const std::size_t call = given.size();
    given.push_back(share);
    matrices.push_back(unpack(container));
    const double mean = seconds[std::min(call, seconds.size() - 1)];
    return {2 * mean, mean / 2, 1, 1, spent};
  }
};

encoder::EncodeRequest request_with(FakeMachine& machine, Target target = Target::gpu,
                                    const std::string& name = "a machine") {
  encoder::EncodeRequest request;
  request.aim.target = target;
  request.tuner = encoder::Tuner{
      name, [&machine](const Container& container, double seconds) { return machine.measure(container, seconds); }};
  return request;
}

struct Tuned {
  encoder::EncodeResult result;
  std::vector<std::byte> bytes;
  [[nodiscard]] const encoder::Tuning& tuning() const { return result.tuning.value(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const TunedLayout& layout : tuning().layouts) all.push_back(layout.name);
    return all;
  }
};

Tuned tune(const CsrMatrix& a, const encoder::EncodeRequest& request) {
  MemorySink sink;
  encoder::EncodeResult result = encoder::encode(source_of(a), request, sink);
  return {std::move(result), bytes_of(sink)};
}

/// What should be measured: all that `auto` may take, within 1.5 times the least predicted time; first what `auto`
/// takes, then by time. csr is measured in any case.
std::vector<std::string> expected_names(const CsrMatrix& a, Target target) {
  encoder::PlanOptions options;
  options.aim.target = target;
  const std::string best = encoder::find_strategy("auto").plan(a, options).strategy;
  options.only_own = true;
  const encoder::XSectors x = encoder::x_sectors(a, 0, encoder::default_profile(target).x_caches);
  const std::uint64_t csr_bytes = encoder::find_strategy("csr").plan(a, options).device_bytes();
  std::vector<std::pair<double, std::string>> costs;
  for (const encoder::Strategy& s : encoder::strategies()) try {
      if (s.chooses || s.traits.by_name_only || !s.traits.suits_target(target)) continue;
      encoder::Plan plan = s.plan(a, options);
      if (auto harmless = encoder::plan_without_fill(s, plan, a, options)) plan = std::move(*harmless);
      if (!plan.fill_reads_x() && !encoder::too_large(plan.device_bytes(), csr_bytes))
        costs.emplace_back(encoder::predicted_seconds(encoder::work_of(plan, a.rows, x), target), s.name);
    } catch (const Error& e) {
      if (!encoder::is_refusal(e)) throw;
    }
  std::stable_sort(costs.begin(), costs.end(), [](const auto& c, const auto& d) { return c.first < d.first; });
  std::vector<std::string> names{best};
  for (const auto& [seconds, name] : costs)
    if (seconds <= 1.5 * costs[0].first && name != best) names.push_back(name);
  names.resize(std::min<std::size_t>(names.size(), 8));
  if (std::find(names.begin(), names.end(), "csr") == names.end()) {
    names.resize(std::min<std::size_t>(names.size(), 7));
    names.emplace_back("csr");
  }
  return names;
}

}  // namespace

TEST_CASE("what auto predicts within 1.5 times its best is measured, and csr, at most eight layouts") {
  bool all_eight = false, some_fewer = false, with_slow_csr = false;
  std::vector<NamedMatrix> matrices = random_matrices<double>(31, 1);
  matrices.push_back({"grid", grid(60)});
  matrices.push_back({"one longer row", one_longer_row()});
  for (const NamedMatrix& m : matrices)
    for (const Target target : {Target::gpu, Target::host}) {
      INFO(m.name << (target == Target::gpu ? ", gpu" : ", host"));
      const std::vector<std::string> expected = expected_names(m.matrix, target);
      all_eight = all_eight || expected.size() == 8;
      some_fewer = some_fewer || expected.size() < 8;
      FakeMachine machine{{1e-5}};
      const Tuned tuned = tune(m.matrix, request_with(machine, target));
      CHECK(tuned.names() == expected);
      REQUIRE(machine.matrices.size() == expected.size());
      for (const CsrMatrix& a : machine.matrices) CHECK(equal_bits(a, m.matrix));
      const std::vector<TunedLayout>& layouts = tuned.tuning().layouts;
      with_slow_csr = with_slow_csr || layouts.back().predicted_seconds > 1.5 * layouts.front().predicted_seconds;
    }
  CHECK(all_eight);
  CHECK(some_fewer);
  CHECK(with_slow_csr);
}

TEST_CASE("the fastest is taken, and the file is what its layout makes of the matrix") {
  const CsrMatrix a = grid(60);
  FakeMachine first{{1e-5}};
  const std::vector<std::string> names = tune(a, request_with(first)).names();
  REQUIRE(names.size() >= 3);
  for (std::size_t fastest = 0; fastest < names.size(); ++fastest) {
    INFO(names[fastest]);
    FakeMachine machine;
    for (std::size_t i = 0; i < names.size(); ++i) machine.seconds.push_back(i == fastest ? 1e-5 : 1.2e-5);
    const Tuned tuned = tune(a, request_with(machine));
    CHECK(tuned.tuning().chosen == fastest);
    CHECK(tuned.result.plan.strategy == names[fastest]);
    CHECK(tuned.result.plan.reason.starts_with("10.0 us measured, the best of "));
    CHECK(tuned.tuning().layouts[fastest].times->cold == Approx(2e-5));
    const Container container = open(tuned.bytes);
    CHECK(equal_bits(unpack(container), a));
    encoder::EncodeRequest alone;
    alone.strategy = names[fastest];
    MemorySink sink;
    const encoder::EncodeResult expected = encoder::encode(source_of(a), alone, sink);
    const Container plain = open(bytes_of(sink));
    CHECK(tuned.result.device_bytes == expected.device_bytes);
    REQUIRE(container.parts().size() == plain.parts().size());
    for (std::size_t i = 0; i < container.parts().size(); ++i)
      CHECK(container.parts()[i].layout == plain.parts()[i].layout);
    const Provenance p = container.provenance();
    CHECK(p.options == "--layout auto --tune gpu --value-type f64 --codec none");
    CHECK(p.measured_on == "a machine");
    REQUIRE(p.measured.size() == names.size());
    CHECK(p.measured[0].layout == names[fastest]);
    CHECK(p.measured[0].seconds == Approx(1e-5));
    CHECK(p.measured[0].predicted_seconds == Approx(tuned.tuning().layouts[fastest].predicted_seconds).epsilon(1e-5));
    CHECK(p.measured[1].seconds == Approx(1.2e-5));
  }
}

TEST_CASE("when encoding pays is told by measured times, if csr could be measured") {
  const CsrMatrix a = grid(60);
  FakeMachine machine{{1e-5, 1e-5}};
  const std::vector<std::string> names = tune(a, request_with(machine)).names();
  const auto csr = static_cast<std::size_t>(std::find(names.begin(), names.end(), "csr") - names.begin());
  REQUIRE(csr < names.size());
  machine.given.clear();
  machine.seconds.assign(names.size(), 1e-5);
  machine.seconds[csr] = 3e-5;
  const Tuned tuned = tune(a, request_with(machine));
  REQUIRE(tuned.result.plan.beside_csr);
  CHECK(tuned.result.plan.beside_csr->measured);
  CHECK(tuned.result.plan.beside_csr->seconds == Approx(1e-5));
  CHECK(tuned.result.plan.beside_csr->csr_seconds == Approx(3e-5));
  const double encoding = tuned.result.plan_seconds + tuned.result.write_seconds;
  CHECK(tuned.result.pays_after() == encoder::pays_after(encoding, {1e-5, 3e-5}));

  // csr is the fastest: encoding never pays.
  machine.given.clear();
  machine.seconds[csr] = 1e-6;
  CHECK(tune(a, request_with(machine)).result.plan.strategy == "csr");
  machine.given.clear();
  CHECK(!tune(a, request_with(machine)).result.pays_after());

  // There was no time for csr: as predicted.
  FakeMachine slow{{1e-5}, 2.0};
  const Tuned untold = tune(a, request_with(slow));
  REQUIRE(untold.result.plan.beside_csr);
  CHECK(untold.result.plan.beside_csr->measured == (csr == 0));
  CHECK(untold.result.plan.beside_csr->csr_seconds == untold.tuning().layouts[csr].predicted_seconds);
}

TEST_CASE("of what is within noise of the fastest, the smallest is taken") {
  const CsrMatrix a = grid(60);
  FakeMachine same{{1e-5}};
  const Tuned tuned = tune(a, request_with(same));
  const std::vector<TunedLayout>& layouts = tuned.tuning().layouts;
  const auto smallest = static_cast<std::size_t>(
      std::min_element(layouts.begin(), layouts.end(),
                       [](const auto& x, const auto& y) { return x.device_bytes < y.device_bytes; }) -
      layouts.begin());
  CHECK(tuned.tuning().chosen == smallest);
  for (const double slower : {1.009, 1.011}) {
    FakeMachine machine;
    for (std::size_t i = 0; i < layouts.size(); ++i) machine.seconds.push_back(i == smallest ? slower * 1e-5 : 1e-5);
    const encoder::Tuning other = tune(a, request_with(machine)).tuning();
    CHECK((other.chosen == smallest) == (slower < 1.01));
  }
}

TEST_CASE("each layout gets an even share of the seconds that are left") {
  const CsrMatrix a = grid(60);
  FakeMachine machine{{1e-5}, 0.01};
  const std::size_t n = tune(a, request_with(machine)).names().size();
  REQUIRE(machine.given.size() == n);
  for (std::size_t i = 0; i < n; ++i)
    CHECK(machine.given[i] == Approx((1 - 0.01 * static_cast<double>(i)) / static_cast<double>(n - i)));

  // The second is over after two: the others are not measured, and cannot be taken.
  FakeMachine slow{{1e-5, 2e-5, 1e-9}, 0.6};
  const Tuned tuned = tune(a, request_with(slow));
  CHECK(slow.given.size() == 2);
  CHECK(tuned.tuning().chosen == 0);
  CHECK(tuned.tuning().layouts.size() == n);
  CHECK(tuned.tuning().layouts[1].times);
  CHECK(!tuned.tuning().layouts[2].times);
  CHECK(tuned.tuning().layouts[2].refusal == "the time for measuring was over");
  CHECK(tuned.result.plan.reason.find("the best of 2 layouts on a machine") != std::string::npos);
  CHECK(open(tuned.bytes).provenance().measured.size() == 2);
}

TEST_CASE("a tuned file takes as many bytes whatever was measured") {
  const CsrMatrix a = grid(40);
  std::optional<std::uint64_t> size;
  for (const std::string& name : {std::string("x"), std::string(), std::string(200, 'n'),
                                  std::string(63, 'n') + "\xC3\xA9", std::string("a\nb\xFF")})
    for (const double seconds : {1e-5, 0.0, 1e-300, 3e-120, 12345.678, 1e200}) {
      FakeMachine machine{{seconds}, seconds < 1e-4 ? 0.0 : 2.0};
      encoder::EncodeRequest request = request_with(machine, Target::gpu, name);
      request.settings = {{"csell.sums", "1"}};
      const Tuned tuned = tune(a, request);
      INFO(name << ", " << seconds << ", " << tuned.result.plan.strategy);
      CHECK(tuned.result.file_bytes == tuned.bytes.size());
      // Known before anything is measured, from the plan.
      const SourceMatrix source = source_of(a);
      const encoder::EncodeRequest told = encoder::recorded(request, encoder::find_strategy("auto"));
      CHECK(file_bytes_uncompressed(encoder::container_source(encoder::facts_of(source), source.provenance,
                                                              {source.matrix, tuned.result.plan}, told)) ==
            tuned.bytes.size());
      const Provenance p = open(tuned.bytes).provenance();
      CHECK(p.measured_on.size() <= 64);
      CHECK(!p.measured_on.empty());
      CHECK(p.measured.size() == machine.given.size());
      if (name.size() == 65) CHECK(p.measured_on == std::string(63, 'n'));
      // All times are the same, or only one is known.
      if (seconds > 1e-4) continue;
      if (!size) size = tuned.bytes.size();
      CHECK(tuned.bytes.size() == *size);
    }
}

TEST_CASE("the text of a provenance with measured layouts comes back") {
  Provenance p;
  p.version = "1";
  p.measured_on = "NVIDIA H200";
  p.measured = {{"csell", 1.25e-5, 1.5e-5}, {"segmented_sell", 2e-5, 1.75e-5}};
  const std::string text = to_text(p);
  CHECK(text.find("\nmeasured_on=NVIDIA H200" + std::string(53, ' ') +
                  "\nmeasured=csell            1.25000e-05 "
                  "1.50000e-05,segmented_sell   2.00000e-05 1.75000e-05," +
                  std::string(40, ' ') + ",") != std::string::npos);
  const Provenance q = parse_provenance(text);
  CHECK(q.measured_on == p.measured_on);
  REQUIRE(q.measured.size() == 2);
  CHECK(q.measured[1].layout == "segmented_sell");
  CHECK(q.measured[1].predicted_seconds == 2e-5);
  CHECK(q.measured[1].seconds == 1.75e-5);
  CHECK(to_text(q) == text);
  Provenance more = p;
  more.measured_on = "another";
  for (int i = 0; i < 9; ++i) more.measured.push_back({"csr", 1, 2});
  CHECK(to_text(more).size() == text.size());
  CHECK(to_text(Provenance{}).find("measured") == std::string::npos);
}

TEST_CASE("without a tuner nothing is measured, and a file says nothing of it") {
  const CsrMatrix a = grid(40);
  FakeMachine machine{{1e-5}};
  const Tuned tuned = tune(a, request_with(machine));
  encoder::EncodeRequest plain;
  MemorySink first, second;
  const encoder::EncodeResult result = encoder::encode(source_of(a), plain, first);
  CHECK(!result.tuning);
  // The tuned file as a source: what it says of its own layout is not said of another's.
  SourceMatrix again = source_of(a);
  again.provenance = open(tuned.bytes).provenance();
  again.provenance.source = "";
  encoder::encode(again, plain, second);
  const std::vector<std::byte> bytes = bytes_of(first), bytes_again = bytes_of(second);
  CHECK(open(bytes).provenance().measured_on.empty());
  CHECK(open(bytes_again).provenance().measured_on.empty());
  CHECK(open(bytes_again).provenance().options == open(bytes).provenance().options);
  CHECK(open(bytes_again).provenance().target == "gpu");
  CHECK(bytes == bytes_again);
}

TEST_CASE("the transpose of a tuned matrix is as without a tuner") {
  const CsrMatrix a = grid(40);
  FakeMachine machine{{1e-5}};
  encoder::EncodeRequest request = request_with(machine, Target::host);
  request.transpose = true;
  const Tuned tuned = tune(a, request);
  CHECK(machine.given.size() == tuned.tuning().layouts.size());
  request.tuner.reset();
  MemorySink sink;
  const encoder::EncodeResult plain = encoder::encode(source_of(a), request, sink);
  REQUIRE(tuned.result.transpose);
  CHECK(tuned.result.transpose->strategy == plain.transpose->strategy);
  CHECK(tuned.result.transpose->device_bytes() == plain.transpose->device_bytes());
  CHECK(open(tuned.bytes).provenance().options ==
        "--layout auto --target host --tune host --transpose --value-type f64 --codec none");
  CHECK(open(tuned.bytes).provenance().target == "host");
}

TEST_CASE("what a measurement throws") {
  const CsrMatrix a = grid(40);
  const TemporaryDirectory directory;
  const std::string path = directory.file("A.spmvc");
  int calls = 0;
  const auto request_that = [&](auto measure) {
    encoder::EncodeRequest request;
    calls = 0;
    request.tuner = encoder::Tuner{"a machine", [&calls, measure](const Container& c, double) -> MultiplyTimes {
                                     ++calls;
                                     return measure(c, calls);
                                   }};
    return request;
  };
  const MultiplyTimes ten_us{1e-5, 1e-5, 1, 1, 0};
  const auto code_of = [&](const encoder::EncodeRequest& request) {
    try {
      encoder::encode(source_of(a), request, path);
    } catch (const Error& e) {
      return e.code();
    }
    return errc::internal;
  };

  // Anything but a refusal ends encode(), and there is no file.
  CHECK_THROWS_AS(encoder::encode(source_of(a), request_that([](const Container&, int) -> MultiplyTimes {
                                    throw std::runtime_error("the sky fell");
                                  }),
                                  path),
                  std::runtime_error);
  CHECK(calls == 1);
  CHECK(code_of(request_that([](const Container&, int) -> MultiplyTimes {
          throw Error(errc::no_device, "unplugged");
        })) == errc::no_device);
  CHECK(code_of(request_that([](const Container&, int) -> MultiplyTimes {
          throw Error(errc::out_of_memory, "a small GPU");
        })) == errc::out_of_memory);
  CHECK(calls > 2);  // all of them are tried
  for (const double wrong : {std::nan(""), -1.0, std::numeric_limits<double>::infinity()})
    CHECK(code_of(request_that([wrong](const Container&, int) {
            return MultiplyTimes{wrong, 1, 1, 1, 0};
          })) == errc::usage);
  CHECK(code_of(request_that([](const Container&, int) { return MultiplyTimes{1, 1, 1, 1, -1}; })) == errc::usage);
  CHECK(std::filesystem::is_empty(directory.path()));

  // What one layout does not fit leaves the others.
  const encoder::EncodeResult result = encoder::encode(source_of(a), request_that([&](const Container&, int call) {
                                                         if (call == 1) throw Error(errc::out_of_memory, "a small GPU");
                                                         return ten_us;
                                                       }),
                                                       path);
  CHECK(result.tuning->layouts[0].refusal == "a small GPU");
  CHECK(!result.tuning->layouts[0].times);
  CHECK(result.tuning->chosen != 0);
  CHECK(Container::open(path).provenance().measured.size() == result.tuning->layouts.size() - 1);
}

TEST_CASE("requests that leave nothing to tune are refused") {
  const CsrMatrix a = grid(10);
  FakeMachine machine{{1e-5}};
  encoder::EncodeRequest forced = request_with(machine), bytes = request_with(machine), nothing = request_with(machine),
                         columns = request_with(machine);
  forced.strategy = "csr";
  bytes.aim.optimize = Objective::bytes;
  nothing.tuner->measure = {};
  columns.aim.columns = 2;  // only one is measured
  for (const encoder::EncodeRequest& request : {forced, bytes, nothing, columns}) {
    MemorySink sink;
    try {
      encoder::encode(source_of(a), request, sink);
      FAIL("not refused");
    } catch (const Error& e) {
      CHECK(e.code() == errc::usage);
    }
  }
  CHECK(machine.given.empty());
}

TEST_CASE("the host's own measurement takes a layout of any matrix") {
  for (const CsrMatrix& a :
       {make_csr(0, 0, {}), make_csr(3, 4, {}), make_csr<float>(2, 1, {{{0, 0}, 2}, {{1, 0}, 3}})}) {
    encoder::EncodeRequest request;
    request.aim.target = Target::host;
    request.tuner = encoder::Tuner{host_loader::processor_name(), host_loader::measure_on_host(2)};
    const Tuned tuned = tune(a, request);
    CHECK(equal_bits(unpack(open(tuned.bytes)), a));
    for (const TunedLayout& layout : tuned.tuning().layouts)
      if (layout.times) {
        CHECK(layout.times->cold_runs >= 1);
        CHECK(layout.times->warm_runs >= 1);
        CHECK(layout.times->mean() >= 0);
      }
  }
}

}  // namespace spmvpack::test
