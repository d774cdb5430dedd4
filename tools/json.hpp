#pragma once
/// What the commands that print JSON share.

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/json/json.hpp"

namespace spmvpack::tools {

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
