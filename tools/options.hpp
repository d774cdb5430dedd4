#pragma once
/// Option values that several commands take. All throw Error(errc::usage), naming the option, where they make no sense.

#include <cstdint>
#include <string>
#include <string_view>

#include "spmvpack/container/types.hpp"

namespace spmvpack::tools {

/// "f64" or "f32", the value of --value-type.
ValueType parse_value_type(std::string_view text);
/// A number of bytes: "4096", "512M", "8GiB". K, M, G and T are powers of 1,024.
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// A whole number from `least` to `most`.
std::uint64_t parse_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);
/// True where the name ends with `suffix`.
bool is_named(std::string_view path, std::string_view suffix) noexcept;

}  // namespace spmvpack::tools
