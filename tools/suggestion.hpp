#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::tools {

/// The start of a hint for a word that is not in `known`: "did you mean 'encode'? ", naming the closest words; empty if
/// none is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// The error of a library that does not know `word`, with such a hint.
Error with_suggestion(const Error& error, std::string_view word, const std::vector<std::string>& known);

}  // namespace spmvpack::tools
