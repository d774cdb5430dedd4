#pragma once
// What csell's files share.

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

/// Windows of x for a part's slices, in device memory: what load builds of a part that they suit.
struct DeviceWindows : LayoutState {
  [[nodiscard]] bool copies_values() const noexcept override { return true; }
  std::shared_ptr<void> memory;
  std::uint64_t windows = 0, programs = 0;  ///< where each begins, in bytes
  std::uint32_t pairs = 1;                  ///< of slices that a program is for
  std::int32_t furthest = 0;                ///< see WindowPrograms
};
/// Null if slices are few, if WindowPrograms has none for some, or if there is no room for them.
std::unique_ptr<const DeviceWindows> make_windows(const PartView& part, const LoadContext& context);
/// False, and nothing is done, if x is not aligned to two of its elements.
bool multiply_windows(const DevicePart& part, const DeviceWindows& windows, const MultiplyCall& call);

/// Y = alpha A X + beta Y for several columns, neighbours in each row of X.
void multiply_columns(const DevicePart& part, const MultiplyCall& call);

/// At load of a part with tables: their room in shared memory.
void reserve_tables(const PartInfo& part);

/// The multiply of parts whose values come from one source; a file for each.
template <spmvpack::layouts::csell::Source source>
void multiply_source(const DevicePart& part, const MultiplyCall& call);

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
