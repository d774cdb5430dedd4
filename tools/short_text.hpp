#pragma once
/// Names and numbers in the narrow columns of a table.

#include <cstddef>
#include <cstdint>
#include <string>

namespace spmvpack::tools {

/// `path` in at most `width` (at least 4) columns: without its directory, then without its middle.
std::string shortened(const std::string& path, std::size_t width);
/// Exact below 1,000,000, else three digits: "12.3 M"; at most 7 columns.
std::string short_count(std::uint64_t number);

}  // namespace spmvpack::tools
