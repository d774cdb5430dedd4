// Loops on threads: what is called how often, by whom, and what of exceptions becomes.

#include "spmvpack/container/base/parallel.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/error.hpp"

namespace spmvpack::test {
namespace {

/// The processor set that the calling thread may run on.
cpu_set_t allowed() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

/// How often parallel_shares() has called each share, and that it has returned.
std::vector<int> calls_of(int shares, int threads = 4) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(std::max(shares, 0)));
  parallel_shares(shares, threads, [&](int share) { ++calls.at(static_cast<std::size_t>(share)); });
  return {calls.begin(), calls.end()};
}

}  // namespace

TEST_CASE("items: each is called once, whatever their number and that of neighbours in a task") {
  for (const std::uint64_t items : {0U, 1U, 7U, 64U, 1000U})
    for (const std::uint64_t piece : {1U, 7U, 64U, 2000U})
      for (const int threads : {1, 3}) {
        std::vector<std::atomic<int>> calls(items);
        parallel_items(items, piece, threads, [&](std::uint64_t i) { ++calls.at(i); });
        CHECK(std::vector<int>(calls.begin(), calls.end()) == std::vector<int>(items, 1));
      }
}

TEST_CASE("shares: each is called once, whatever their number and wherever the caller is") {
  for (const int shares : {0, 1, 2, 3, 16, 70}) {
    const std::vector<int> once(static_cast<std::size_t>(shares), 1);
    for (const int threads : {1, 2, 3, 70, 2000}) CHECK(calls_of(shares, threads) == once);
    // In a program's own team OpenMP gives no other threads; threads of the program have teams of their own.
    std::vector<std::vector<int>> nested(3), own(3);
#pragma omp parallel for num_threads(3)
    for (std::size_t i = 0; i < nested.size(); ++i) nested[i] = calls_of(shares);
    {
      std::vector<std::thread> threads;
      for (std::vector<int>& calls : own) threads.emplace_back([&calls, shares] { calls = calls_of(shares); });
      for (std::thread& t : threads) t.join();
    }
    for (std::size_t i = 0; i < nested.size(); ++i) {
      CHECK(nested[i] == once);
      CHECK(own[i] == once);
    }
  }
}

TEST_CASE("shares: the exception of the smallest one that throws, after all have been called") {
  for (const int shares : {1, 2, 5, 40}) {
    std::atomic<int> calls{0};
    std::string what;
    try {
      parallel_shares(shares, shares, [&](int share) {
        ++calls;
        if (share % 3 == 1 || shares == 1) throw Error(errc::internal, std::to_string(share));
      });
    } catch (const Error& e) {
      what = e.message();
    }
    CHECK(what == (shares == 1 ? "0" : "1"));
    CHECK(calls == shares);
  }
}

TEST_CASE("a thread that ends early takes the shares that another one has not begun with") {
  constexpr int shares = 8;
  std::atomic<int> others{0};
  bool taken = false;
  parallel_shares(shares, 2, [&](int share) {
    if (share != 0) {
      ++others;
      return;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (others < shares - 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    taken = others == shares - 1;
  });
  CHECK(taken);
}

TEST_CASE("shares are several threads' again after one has thrown, and after shares within a share") {
  const auto at_once = [] {  // whether a share begins before the first one has ended
    std::atomic<int> begun{0};
    std::atomic<bool> both{false};
    parallel_shares(2, 2, [&](int) {
      ++begun;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (begun < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      if (begun == 2) both = true;
    });
    return both.load();
  };
  CHECK_THROWS_AS(parallel_shares(3, 2, [](int share) { throw Error(errc::internal, std::to_string(share)); }), Error);
  CHECK(at_once());
  parallel_shares(2, 2, [](int) { CHECK_NOTHROW(parallel_shares(3, 2, [](int) {})); });
  CHECK(at_once());
}

TEST_CASE("shares where a thread ends: after its own objects have been destroyed") {
  static std::atomic<int> calls{0};
  struct Late {
    bool used = false;
    ~Late() {
      parallel_shares(6, 3, [](int) { ++calls; });
    }
  };
  std::thread([] {
    static thread_local Late late;  // made before the lines, destroyed after them
    late.used = true;
    parallel_shares(6, 3, [](int) { ++calls; });
  }).join();
  CHECK(calls == 12);
}

TEST_CASE("shares within a share, and teams that grow and shrink") {
  std::vector<int> inner(24);
  parallel_shares(6, 3, [&](int share) {
    const std::vector<int> calls = calls_of(4);
    for (int i = 0; i < 4; ++i) inner[static_cast<std::size_t>(4 * share + i)] = calls[static_cast<std::size_t>(i)];
  });
  CHECK(inner == std::vector<int>(24, 1));
  for (const int threads : {2, 5, 3, 40, 2})
    for (const int shares : {2, 9, 80})
      CHECK(calls_of(shares, threads) == std::vector<int>(static_cast<std::size_t>(shares), 1));
}

TEST_CASE("shares count what they allocate against the caller's budget") {
  const MemoryScope scope(1 << 20, "the test");
  CHECK_THROWS_AS(parallel_shares(2, 2, [](int) { const Array<double> array(200'000); }), Error);
}

TEST_CASE("work is cut into as many shares as it has a use for") {
  CHECK(worth_threads(0, 4) == 1);
  CHECK(worth_threads(4999, 4) == 1);
  CHECK(worth_threads(5000, 4) == 2);
  CHECK(worth_threads(1'000'000, 1) == 1);
  CHECK(worth_threads(1'000'000, 4) == 4);
  CHECK(worth_threads(std::uint64_t{1} << 40U, 3) == 3);
  CHECK(share_count(1'000'000, 1) == 1);
  CHECK(share_count(1'000'000, 2) == 2);
  CHECK(share_count(8000, 3) == 6);
  CHECK(share_count(1'000'000, 3) == 12);
}

TEST_CASE("threads that no machine has a use for, and fewer than none, are refused whatever the work") {
  const auto message = [](auto&& work) {
    try {
      work();
    } catch (const Error& e) {
      return std::string(e.code() == errc::usage ? e.what() : "");
    }
    return std::string();
  };
  for (const int threads : {-1, max_threads + 1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    const std::string refused = fmt::format("{} threads; give 1 to 1024, or 0 for one per core", threads);
    CHECK(message([&] { static_cast<void>(thread_count(threads)); }) == refused);
    CHECK(message([&] { static_cast<void>(worth_threads(1, threads)); }) == refused);
    for (const std::uint64_t n : {0U, 1U, 2U})
      CHECK(message([&] { parallel_for(n, threads, [](std::uint64_t) {}); }) == refused);
  }
  CHECK(thread_count(max_threads) == max_threads);
  CHECK(thread_count(0) > 0);
}

TEST_CASE("a thread that begins on another one's processor moves away, and may run where it could before") {
  const cpu_set_t before = allowed();
  std::atomic<bool> moved{CPU_COUNT(&before) == 1};  // there is no other
  std::thread([&] {
    for (int i = 0; i < 1000 && !moved; ++i) {
      const int here = ::sched_getcpu();
      TeamProcessors team;
      team.arrive();
      team.arrive();  // as another one
      moved = ::sched_getcpu() != here;
    }
    const cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&before, &after));
  }).join();
  CHECK(moved);
}

TEST_CASE("a team on fewer processors than it has threads stays where it may run") {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) return;  // a sandbox may forbid it
    TeamProcessors team;
    for (int i = 0; i < 3; ++i) team.arrive();
    const cpu_set_t after = allowed();
    CHECK(CPU_EQUAL(&one, &after));
    CHECK(calls_of(4) == std::vector<int>(4, 1));
  }).join();
}

TEST_CASE("workers of a parallel loop: numbers below the threads', of which no two calls share one at a time") {
  for (const int threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
    std::atomic<std::uint64_t> calls{0}, wrong{0};
    parallel_for(1000, threads, [&](std::uint64_t, std::uint64_t worker) {
      ++calls;
      if (worker >= busy.size() || busy[worker]++ != 0) ++wrong;
      std::this_thread::yield();
      if (worker < busy.size()) --busy[worker];
    });
    CHECK(calls == 1000);
    CHECK(wrong == 0);
  }
}

}  // namespace spmvpack::test
