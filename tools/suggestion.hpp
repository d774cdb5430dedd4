#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spmvpack::tools {

/// The start of a hint for a word that is none of `known`: "did you mean 'encode'? ", naming the closest ones, or empty
/// where none is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace spmvpack::tools
