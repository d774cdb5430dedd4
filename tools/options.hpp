#pragma once
/// Parsers for option values shared by several commands. All throw Error(errc::usage), naming the option, for an
/// invalid value.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/types.hpp"

namespace spmvpack::tools {

/// A positive number of `unit`s, from 0.001 to a million. Error(errc::usage).
double parse_quantity(std::string_view option, std::string_view text, std::string_view unit);
/// A number from 0 to 1.
double parse_fraction(std::string_view option, std::string_view text);
/// The value of --value-type: "f64" or "f32".
ValueType parse_value_type(std::string_view text);
/// A number of bytes: "4096", "512M", "8GiB". K, M, G and T are powers of 1,024.
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// A whole number from `least` to `most`.
std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);
/// The value of --bandwidth or --pcie, in GB/s, as bytes per second.
double parse_speed(std::string_view option, std::string_view text);

/// The values of --set, each NAME=VALUE, as a map.
std::map<std::string, std::string> parse_settings(const std::vector<std::string>& words);

}  // namespace spmvpack::tools
