#pragma once
/// Random sets.

#include <cstdint>
#include <vector>

#include "spmvpack/generators/random.hpp"

namespace spmvpack::generators {

/// `count` distinct numbers below `cols`, rising: any such set is as likely as another.
std::vector<std::uint64_t> random_columns(const Random& random, std::uint64_t cols, std::uint64_t count);

}  // namespace spmvpack::generators
