#pragma once
// Layouts and kernels by their numbers. Names are resolved here, once, never in a multiply.

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader {

/// A kernel by its layout's place among kernel_tables(), and its own in that table.
struct KernelPlace {
  std::size_t layout = 0, kernel = 0;
};

std::span<const KernelTable* const> kernel_tables();
/// The layout's place in kernel_tables(). Error(errc::unsupported), naming it, if a GPU cannot multiply with it.
std::size_t find_layout(std::string_view layout);
KernelId id_of(KernelPlace place);
/// Error(errc::usage) unless find_kernel() could have given the id; it is not the default's.
KernelPlace place_of(KernelId kernel);

/// The place of a part's default kernel in its table.
std::size_t default_place(const KernelTable& table, const PartInfo& part);
/// Bytes at the workspace's start that x takes if the part has a list of columns. It is gathered once: were the kernels
/// to take the list, every nonzero would wait for one more load, and there are more nonzeros than columns.
std::uint64_t gathered_bytes(const PartInfo& part, ValueType vectors);
/// What the kernel at that place needs, a gathered x included.
std::uint64_t workspace_bytes(const KernelTable& table, const PartInfo& part, std::size_t kernel, ValueType vectors);

}  // namespace spmvpack::gpu_loader
