#pragma once
/// Numbers and untrusted text in human-readable form.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

/// Makes text from a file safe to print: control bytes and invalid UTF-8 become \\xNN; at most `limit` bytes of it.
SPMVPACK_EXPORT std::string escape(std::string_view text, std::size_t limit = 80);

/// The decimal number from `least` to `most` that is all of the text; none if it is anything else.
SPMVPACK_EXPORT std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t least,
                                                          std::uint64_t most) noexcept;

/// 1234567 as "1,234,567".
SPMVPACK_EXPORT std::string grouped(std::uint64_t number);
/// "1 row", "2,000 rows"; `plural` if it is not the noun with an s.
SPMVPACK_EXPORT std::string counted(std::uint64_t number, std::string_view noun, std::string_view plural = {});
/// Seconds in three digits: "41.3 us", "2.06 s".
SPMVPACK_EXPORT std::string time_text(double seconds);
/// A ratio of 0.206 as "20.6 %": a decimal below 100 %, "< 0.1 %", and "> 1,000 x" where no one reads the digits.
SPMVPACK_EXPORT std::string percent_text(double ratio);

}  // namespace spmvpack
