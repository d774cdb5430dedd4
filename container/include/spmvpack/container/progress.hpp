#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "spmvpack/container/error.hpp"

namespace spmvpack {

/// How long work reports itself and is stopped: called now and then, from the calling thread only, with the stage's
/// name, what is done and what there is to do (bytes or items; total 0: unknown). Returning false stops the work with
/// Error(errc::interrupted); nothing half-written is left behind.
using ProgressCallback = std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

inline void report_progress(const ProgressCallback& callback, std::string_view stage, std::uint64_t done,
                            std::uint64_t total) {
  if (callback && !callback(stage, done, total)) throw Error(errc::interrupted, "interrupted");
}

}  // namespace spmvpack
