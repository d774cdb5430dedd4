#include "spmvpack/container/multiply.hpp"

#include <fmt/format.h>

#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

void check_leading(const char* name, std::uint64_t given, std::uint64_t column) {
  if (given != 0 && given < column)
    throw Error(errc::usage, fmt::format("{} is {}, less than a column's {} elements", name, given, column), {},
                "give the distance between columns, or 0 if they are contiguous");
}

}  // namespace

bool has_permuted_basis(std::span<const PartInfo> parts) {
  if (parts.size() != 1) return false;
  const Layout& layout = find_layout(parts[0].layout);
  return layout.permuted != nullptr && layout.permuted(parts[0]);
}

void check_description(const MultiplyDescription& description, const MatrixFacts& facts,
                       std::span<const PartInfo> parts) {
  if (facts.value_type == ValueType::f64 && description.vectors == ValueType::f32)
    throw Error(errc::usage, "f32 vectors for a matrix of f64 values", {},
                "use f64 vectors, or encode the matrix as f32");
  if (description.basis == Basis::permuted && !has_permuted_basis(parts))
    throw Error(errc::usage, "the container has no permuted basis", {},
                "use Basis::user, or encode a square matrix as pjds with pjds.basis=permuted");
  const bool plain = description.operation == Operation::none;
  check_leading("ldx", description.ldx, plain ? facts.cols : facts.rows);
  check_leading("ldy", description.ldy, plain ? facts.rows : facts.cols);
  if (!plain)
    throw Error(errc::unsupported, "only A x is supported so far, not the transpose", {}, "use Operation::none");
  if (description.right_hand_sides != 1)
    throw Error(errc::unsupported, "only one right-hand side is supported so far", {}, "multiply them one by one");
}

}  // namespace spmvpack
