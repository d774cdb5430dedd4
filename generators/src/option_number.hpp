#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::generators {

/// The value of an option that is a number. Error(errc::usage) for any other text.
inline std::uint64_t option_number(std::string_view option, std::string_view text, std::uint64_t least = 0,
                                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  if (const auto number = whole_number(text, least, most)) return *number;
  throw Error(errc::usage, fmt::format("{} is '{}'", option, escape(text)), {},
              fmt::format("give a number from {} to {}", least, most));
}

}  // namespace spmvpack::generators
