#pragma once
/// The plan of `report --ranks` as text and as JSON.

#include <string>

#include "spmvpack/analyzer/ranks.hpp"

namespace spmvpack::tools {

struct NamedPlan {
  std::string name, partition;  ///< the matrix; "rows" or "metis"
  analyzer::RanksPlan plan;
};

/// In lines of at most 80 columns, one for each rank.
std::string ranks_text(const NamedPlan& named);
/// As described in docs/ranks.schema.json; ends with a newline.
std::string ranks_json(const NamedPlan& named);

}  // namespace spmvpack::tools
