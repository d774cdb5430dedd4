#include "arguments.hpp"

#include <fmt/format.h>

namespace spmvpack::gpu_loader {
namespace {

constexpr std::uint64_t workspace_boundary = 256;

[[noreturn]] void refuse(const std::string& what, const char* remedy = "") {
  throw Error(errc::usage, what, {}, remedy);
}

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

bool overlap(DeviceRange a, DeviceRange b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  return address(a.data) < address(b.data) + b.bytes && address(b.data) < address(a.data) + a.bytes;
}

void require_vector(const char* name, DeviceRange v, std::uint64_t elements, std::size_t size,
                    const std::string& matrix_has, const char* sides) {
  if (v.bytes != elements * size)
    refuse(fmt::format("{} has {} elements, {} {} {}", name, v.bytes / size, matrix_has, elements, sides));
  if (v.data == nullptr && v.bytes != 0) refuse(fmt::format("{} is null", name));
  if (address(v.data) % size != 0) refuse(fmt::format("{} is not on a boundary of its {}-byte elements", name, size));
}

}  // namespace

void require_vectors(const Operand& operand, const MultiplyDescription& description, ValueType type, DeviceRange x,
                     DeviceRange y) {
  if (type != description.vectors)
    refuse(fmt::format("x and y are {}, the description's vectors {}", to_string(type), to_string(description.vectors)),
           "start from describe<T>()");
  const std::size_t size = size_of(type);
  const std::string a = description.operation == Operation::none ? "A" : "A^T";
  require_vector("x", x, operand.cols, size, a + " has", "columns");
  require_vector("y", y, operand.rows, size, a + " has", "rows");
  if (overlap(x, y)) refuse("x and y overlap", "use two vectors");
}

void require_workspace(DeviceRange workspace, std::uint64_t needed, DeviceRange x, DeviceRange y) {
  if (needed == 0) return;
  if (workspace.bytes < needed || workspace.data == nullptr)
    refuse(fmt::format("the workspace has {} bytes, {} are needed", workspace.data == nullptr ? 0 : workspace.bytes,
                       needed),
           "call workspace_bytes() for its size");
  if (address(workspace.data) % workspace_boundary != 0)
    refuse(fmt::format("the workspace is not on a {}-byte boundary", workspace_boundary));
  const DeviceRange used{workspace.data, needed};
  if (overlap(used, x) || overlap(used, y)) refuse("the workspace overlaps x or y", "give it memory of its own");
}

}  // namespace spmvpack::gpu_loader
