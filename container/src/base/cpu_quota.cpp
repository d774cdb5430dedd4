#include "base/cpu_quota.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace spmvpack {
namespace {

namespace fs = std::filesystem;

/// What a file says; nothing if it cannot be read.
std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The first number of a text, which is shortened by it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}

std::optional<int> least(std::optional<int> a, std::optional<int> b) { return !a ? b : !b ? a : std::min(*a, *b); }

/// The least quota of a group and of all groups around it. In a container, a group's path may be that of the machine,
/// of which it sees the end alone, or nothing but its own group, at the top.
template <class Quota>
std::optional<int> least_of(const fs::path& top, const fs::path& group, Quota&& quota) {
  std::optional<int> result = quota(top);
  fs::path of_group = top;
  for (const fs::path& name : group.relative_path()) result = least(result, quota(of_group /= name));
  return result;
}

}  // namespace

std::optional<int> quota_of(std::string_view cpu_max) {
  const std::optional<std::int64_t> quota = take_number(cpu_max);
  if (!quota || *quota <= 0) return std::nullopt;  // "max", or -1 in version 1
  const std::optional<std::int64_t> period = take_number(cpu_max);
  if (!period || *period <= 0) return std::nullopt;
  const std::int64_t processors = *quota / *period + (*quota % *period != 0);
  return static_cast<int>(std::min<std::int64_t>(processors, std::numeric_limits<int>::max()));
}

std::optional<int> cgroup_quota(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  const auto version_2 = [](const fs::path& group) { return quota_of(text_of(group / "cpu.max")); };
  const auto version_1 = [](const fs::path& group) {
    return quota_of(text_of(group / "cpu.cfs_quota_us") + " " + text_of(group / "cpu.cfs_period_us"));
  };
  std::optional<int> result;
  std::ifstream groups(root / "proc/self/cgroup");  // lines of "number:controllers:path"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) {
      result = least(result, least_of(mounts, path, version_2));
      result = least(result, least_of(mounts / "unified", path, version_2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      result = least(result, least_of(mounts / "cpu", path, version_1));
    }
  }
  return result;
}

}  // namespace spmvpack
