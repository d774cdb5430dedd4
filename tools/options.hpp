#pragma once
/// Option values that several commands take. All throw Error(errc::usage), naming the option, where they make no sense.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/types.hpp"

namespace spmvpack::tools {

/// "f64" or "f32", the value of --value-type.
ValueType parse_value_type(std::string_view text);
/// A number of bytes: "4096", "512M", "8GiB". K, M, G and T are powers of 1,024.
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// A whole number from `least` to `most`.
std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);

/// The words of --set, each NAME=VALUE, as a map.
std::map<std::string, std::string> parse_settings(const std::vector<std::string>& words);

}  // namespace spmvpack::tools
