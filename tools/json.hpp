#pragma once
/// What the commands that print JSON share.

#include <nlohmann/json.hpp>

#include "spmvpack/container/contents.hpp"

namespace spmvpack::tools {

using Json = nlohmann::ordered_json;  ///< keys in the order in which they are given

inline Json facts_json(const MatrixFacts& f) {
  return {{"rows", f.rows},
          {"columns", f.cols},
          {"nonzeros", f.nnz},
          {"value_type", to_string(f.value_type)},
          {"field", to_string(f.field)},
          {"symmetry", to_string(f.symmetry)},
          {"bitwise_symmetry", to_string(f.bitwise_symmetry())},
          {"digest", f.digest.to_string()}};
}

}  // namespace spmvpack::tools
