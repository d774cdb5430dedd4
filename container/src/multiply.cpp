#include "spmvpack/container/multiply.hpp"

#include <fmt/format.h>

#include <utility>

#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

void check_leading(const char* name, std::uint64_t given, std::uint64_t column) {
  if (given != 0 && given < column)
    throw Error(errc::usage, fmt::format("{} is {}, less than a column's {} elements", name, given, column), {},
                "give the distance between columns, or 0 if they are contiguous");
}

}  // namespace

bool has_transpose(const MatrixFacts& facts, std::span<const PartInfo> parts) noexcept {
  return facts.nnz == 0 || facts.bitwise_symmetry() != Symmetry::general ||
         !parts_of(parts, format::Role::transpose).empty();
}

bool has_permuted_basis(std::span<const PartInfo> parts) {
  const std::span<const PartInfo> of_a = parts_of(parts, format::Role::a);
  if (of_a.size() != 1) return false;
  const Layout& layout = find_layout(of_a[0].layout);
  return layout.permuted != nullptr && layout.permuted(of_a[0]);
}

Operand check_description(const MultiplyDescription& description, const MatrixFacts& facts,
                          std::span<const PartInfo> parts) {
  if (!is_type_pair(facts.value_type, description.vectors))
    throw Error(errc::usage,
                fmt::format("{} vectors for a matrix of {} values", to_string(description.vectors),
                            to_string(facts.value_type)),
                {},
                fmt::format("use {0} vectors, or encode the matrix as {1}", to_string(facts.value_type),
                            to_string(description.vectors)));
  if (description.operation > Operation::conjugate_transpose)
    throw Error(errc::usage, fmt::format("there is no operation {}", static_cast<unsigned>(description.operation)));
  Operand operand{format::Role::a, false, facts.rows, facts.cols};
  if (description.operation != Operation::none) {
    if (!has_transpose(facts, parts))
      throw Error(errc::usage, "the container does not have the transpose of its matrix", {},
                  "encode the matrix again with its transpose (--transpose, EncodeRequest::transpose)");
    std::swap(operand.rows, operand.cols);
    operand.negated = facts.bitwise_symmetry() == Symmetry::skew_symmetric;
    if (facts.bitwise_symmetry() == Symmetry::general) operand.role = format::Role::transpose;
  }
  if (description.basis == Basis::permuted && (operand.role != format::Role::a || !has_permuted_basis(parts)))
    throw Error(errc::usage, "the container has no permuted basis for this operation", {},
                "use Basis::user, or encode a square matrix as pjds with pjds.basis=permuted");
  check_leading("ldx", description.ldx, operand.cols);
  check_leading("ldy", description.ldy, operand.rows);
  if (description.right_hand_sides != 1)
    throw Error(errc::unsupported, "only one right-hand side is supported so far", {}, "multiply them one by one");
  return operand;
}

}  // namespace spmvpack
