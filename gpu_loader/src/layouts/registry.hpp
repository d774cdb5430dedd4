#pragma once
// Layouts and kernels by number. Names are resolved here, once, and never in a multiply.

#include "layouts/kernel_table.hpp"

namespace spmvpack::gpu_loader {

/// A kernel, by its layout's index in kernel_tables() and its own index in that table.
struct KernelPlace {
  std::size_t layout = 0, kernel = 0;
};

std::span<const KernelTable* const> kernel_tables();
/// The layout's index in kernel_tables(). Error(errc::unsupported), naming it, if GPUs do not support it.
std::size_t find_layout(std::string_view layout);
KernelId id_of(KernelPlace place);
/// The place of a kernel other than the default. Error(errc::usage) if the id is not from find_kernel().
KernelPlace place_of(KernelId kernel);

/// The index of a part's default kernel in its table.
std::size_t default_place(const KernelTable& table, const PartInfo& part);
/// Bytes at the start of the workspace for each gathered column of x of a part with a list of columns. x is gathered
/// once: if the kernels took the list, every nonzero would wait for one more load, and there are more nonzeros than
/// columns.
std::uint64_t gathered_bytes(const PartInfo& part, ValueType vectors);
/// The workspace that the kernel at that index needs for so many columns, including a gathered x unless the basis is
/// permuted. Blocks of as many columns as the kernel takes at once use it one after the other.
std::uint64_t workspace_bytes(const KernelTable& table, const PartInfo& part, std::size_t kernel, ValueType vectors,
                              std::uint64_t columns, Basis basis = Basis::user);

/// How many columns the kernel at that index takes at once with a part, if they are neighbours in each row of X; less
/// than 2: it takes them one at a time.
std::uint64_t row_major_columns(const KernelTable& table, const PartInfo& part, std::size_t kernel);
/// Columns of a block where so many are dealt to kernels that take at most `most` of them at once: as even as can be,
/// and of whole 16 bytes.
std::uint64_t row_major_block(std::uint64_t columns, std::uint64_t most, ValueType vectors);
/// Columns that a workspace has room for: of a block, or of one of fewer columns in all, which may be larger.
std::uint64_t row_major_room(std::uint64_t columns, std::uint64_t most, ValueType vectors);
/// Elements from a row to the next where so many columns of X are copied to be neighbours: loads of 16 bytes suit them.
std::uint64_t packed_stride(std::uint64_t columns, ValueType vectors);
/// Bytes of so many columns of a part's listed rows of X; 0 if it has no list.
std::uint64_t gathered_rows_bytes(const PartInfo& part, ValueType vectors, std::uint64_t columns);
/// The workspace of so many columns that the kernel takes at once as neighbours, including gathered rows of X.
std::uint64_t row_major_workspace_bytes(const KernelTable& table, const PartInfo& part, std::size_t kernel,
                                        ValueType vectors, std::uint64_t columns);

}  // namespace spmvpack::gpu_loader
