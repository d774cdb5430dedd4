#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack {

/// Reports the progress of a long operation and can cancel it. Called now and then, only on the caller's thread, with
/// the name of the stage, the amount done and the total (in bytes or items; total 0: unknown). Returning false stops
/// the operation with Error(errc::interrupted); no partial output is left behind.
using ProgressCallback = std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

inline void report_progress(const ProgressCallback& callback, std::string_view stage, std::uint64_t done,
                            std::uint64_t total) {
  if (callback && !callback(stage, done, total)) throw Error(errc::interrupted, "interrupted");
}

}  // namespace spmvpack
