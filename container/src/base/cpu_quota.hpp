#pragma once
// How many processors' time control groups leave to this process: a container may show all of a machine's processors
// and stop whoever uses more than its share of their time.

#include <filesystem>
#include <optional>
#include <string_view>

namespace spmvpack {

/// Of the text of a group's cpu.max, "quota period" or "max period": processors, rounded up; none without a quota, and
/// of any other text.
std::optional<int> quota_of(std::string_view cpu_max);

/// The least quota of the groups that this process is in, and of those that hold them, of either version of control
/// groups; none without one. `root` is where /proc and /sys are.
std::optional<int> cgroup_quota(const std::filesystem::path& root = "/");

}  // namespace spmvpack
