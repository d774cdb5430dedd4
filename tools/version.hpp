#pragma once

#include <string>

namespace spmvpack::tools {

/// What --version prints: the version, and how this program was built.
std::string version_text();

}  // namespace spmvpack::tools
