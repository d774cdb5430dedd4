#include "spmvpack/container/multiply.hpp"

#include <fmt/format.h>

namespace spmvpack {
namespace {

void check_leading(const char* name, std::uint64_t given, std::uint64_t column) {
  if (given != 0 && given < column)
    throw Error(errc::usage, fmt::format("{} is {}, less than a column's {} elements", name, given, column), {},
                "give the distance between columns, or 0 if they are contiguous");
}

}  // namespace

void check_description(const MultiplyDescription& description, const MatrixFacts& facts) {
  if (facts.value_type == ValueType::f64 && description.vectors == ValueType::f32)
    throw Error(errc::usage, "f32 vectors for a matrix of f64 values", {},
                "use f64 vectors, or encode the matrix as f32");
  const bool plain = description.operation == Operation::none;
  check_leading("ldx", description.ldx, plain ? facts.cols : facts.rows);
  check_leading("ldy", description.ldy, plain ? facts.rows : facts.cols);
  if (!plain)
    throw Error(errc::unsupported, "only A x is supported so far, not the transpose", {}, "use Operation::none");
  if (description.right_hand_sides != 1)
    throw Error(errc::unsupported, "only one right-hand side is supported so far", {}, "multiply them one by one");
}

}  // namespace spmvpack
