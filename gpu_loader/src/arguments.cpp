#include "arguments.hpp"

#include <fmt/format.h>

namespace spmvpack::gpu_loader {
namespace {

constexpr std::uint64_t workspace_boundary = 256;

[[noreturn]] void refuse(const std::string& what, const char* remedy = "") {
  throw Error(errc::usage, what, {}, remedy);
}

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

void require_place(const char* name, const DensePlace& v) {
  if (v.data == nullptr && v.rows != 0 && v.cols != 0) refuse(fmt::format("{} is null", name));
  if (address(v.data) % v.element_bytes != 0)
    refuse(fmt::format("{} is not on a boundary of its {}-byte elements", name, v.element_bytes));
}

}  // namespace

void require_vectors(const Operand& operand, const MultiplyDescription& description, ValueType type,
                     const DensePlace& x, const DensePlace& y) {
  if (type != description.vectors)
    refuse(fmt::format("x and y are {}, the description's vectors {}", to_string(type), to_string(description.vectors)),
           "start from describe<T>()");
  check_operands(operand, description.operation, x, y);
  require_place("x", x);
  require_place("y", y);
}

void require_factors(const DensePlace& of_rows, const DensePlace& of_columns) {
  require_place("the array of factors of rows", of_rows);
  require_place("the array of factors of columns", of_columns);
}

void require_workspace(std::span<const std::byte> workspace, std::uint64_t needed,
                       std::initializer_list<DensePlace> operands) {
  if (needed == 0) return;
  if (workspace.size() < needed || workspace.data() == nullptr)
    refuse(fmt::format("the workspace has {} bytes, {} are needed", workspace.data() == nullptr ? 0 : workspace.size(),
                       needed),
           "call workspace_bytes() for its size");
  if (address(workspace.data()) % workspace_boundary != 0)
    refuse(fmt::format("the workspace is not on a {}-byte boundary", workspace_boundary));
  DensePlace used;  // in elements of theirs, on whose boundaries all are
  used.data = workspace.data();
  used.element_bytes = operands.begin()->element_bytes;
  used.rows = div_up(needed, used.element_bytes);
  used.cols = 1;
  for (const DensePlace& operand : operands)
    if (overlap(used, operand)) refuse("the workspace overlaps x, y or factors", "give it memory of its own");
}

}  // namespace spmvpack::gpu_loader
