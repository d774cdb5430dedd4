// What control groups say of processors' time, in trees of files that are made here: no machine need have them.

#include "base/cpu_quota.hpp"

#include <fstream>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "support/containers.hpp"

namespace spmvpack::test {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::pair<std::string, std::string>>;

std::optional<int> quota_in(const Files& files) {
  const TemporaryDirectory root;
  for (const auto& [name, text] : files) {
    const fs::path path = fs::path(root.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  return cgroup_quota(root.path());
}

const std::string groups = "proc/self/cgroup", top = "sys/fs/cgroup/";

}  // namespace

TEST_CASE("cpu.max: processors, rounded up") {
  CHECK(quota_of("200000 100000\n") == 2);
  CHECK(quota_of("200001 100000\n") == 3);
  CHECK(quota_of("50000 100000") == 1);
  CHECK(quota_of("9223372036854775807 1") == 2147483647);
  for (const char* const none : {"max 100000\n", "", "\n", "100000", "-1 100000", "0 100000", "100000 0", "100000 -5",
                                 "99999999999999999999 100000", "two 100000"})
    CHECK(quota_of(none) == std::nullopt);
}

TEST_CASE("the least quota of a group and of those around it") {
  CHECK(quota_in({}) == std::nullopt);
  CHECK(quota_in({{groups, "0::/\n"}}) == std::nullopt);
  CHECK(quota_in({{groups, "0::/\n"}, {top + "cpu.max", "150000 100000\n"}}) == 2);
  CHECK(quota_in({{groups, "0::/a/b\n"},
                  {top + "a/cpu.max", "300000 100000\n"},
                  {top + "a/b/cpu.max", "max 100000\n"},
                  {top + "c/cpu.max", "100000 100000\n"}}) == 3);
  CHECK(quota_in({{groups, "0::/a/b\n"}, {top + "a/cpu.max", "8 1\n"}, {top + "a/b/cpu.max", "4 1\n"}}) == 4);
  // A container's group may be at the top of what it sees, under a path that is the machine's.
  CHECK(quota_in({{groups, "0::/docker/1234\n"}, {top + "cpu.max", "2 1\n"}}) == 2);
  CHECK(quota_in({{groups, "no groups\n0::/../..\n:\n"}, {top + "cpu.max", "2 1\n"}}) == 2);
}

TEST_CASE("quotas of version 1 of control groups") {
  const std::string lines = "9:memory:/m\n2:cpu,cpuacct:/a\n1:cpuset:/c\n0::/\n";
  const auto with = [&](const char* quota) {
    return quota_in({{groups, lines},
                     {top + "cpu/a/cpu.cfs_quota_us", quota},
                     {top + "cpu/a/cpu.cfs_period_us", "100000\n"},
                     {top + "cpuset/c/cpu.cfs_quota_us", "1\n"},
                     {top + "cpuset/c/cpu.cfs_period_us", "1\n"}});
  };
  CHECK(with("400000\n") == 4);
  CHECK(with("-1\n") == std::nullopt);
}

}  // namespace spmvpack::test
