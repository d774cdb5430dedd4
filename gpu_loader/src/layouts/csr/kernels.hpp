#pragma once
// The kernels of csr, one file per kind.

#include <memory>

#include "layouts/layout.hpp"
#include "spmvpack/launch_rules/csr.hpp"

namespace spmvpack::gpu_loader::layouts::csr_kernels {

using namespace launch_rules::csr;  // Kernel and the division of the work

/// The arrays of a part in device memory. A: type of the values; P: type of the row pointers.
template <class A, class P>
struct Arrays {
  const P* row_ptr;
  const std::uint32_t* col_idx;
  const A* values;
  std::uint32_t rows;
  std::uint64_t nnz;
};

/// Calls f(Arrays<A, P>, V{}) with the types of the part and of the vectors.
template <class F>
void with_arrays(const PartView& part, ValueType vectors, F&& f) {
  dispatch_types(part.info().value_type, vectors, [&]<class A, class V>(A, V) {
    const auto call = [&]<class P>(P) {
      f(Arrays<A, P>{part.get<P>("row_ptr").data(), part.get<std::uint32_t>("col_idx").data(),
                     part.get<A>("values").data(), static_cast<std::uint32_t>(part.rows()), part.info().nnz},
        V{});
    };
    if (part.type_of("row_ptr") == format::ElementType::u64)
      call(std::uint64_t{});
    else
      call(std::uint32_t{});
  });
}

/// For `ipcsr` and `ipcsr_printed`: the first rows of the blocks, followed by the number of rows.
struct RowBlocksOnDevice {
  std::shared_ptr<void> memory;
  std::uint64_t count = 0;  ///< of blocks
  [[nodiscard]] const std::uint32_t* starts() const { return static_cast<const std::uint32_t*>(memory.get()); }
};
RowBlocksOnDevice make_row_blocks(const PartView& part, const LoadContext& context, RowBlockLimits limits);

/// For `merge`: the rows of the first entries of the chunks, then those of the last ones.
struct ChunkEndsOnDevice {
  std::shared_ptr<void> memory;
  std::uint64_t count = 0;   ///< of chunks
  bool writes_gaps = false;  ///< chunks write the rows without entries between theirs
};
ChunkEndsOnDevice make_chunk_ends(const PartView& part, const LoadContext& context);

/// Whether the columns of each row follow one another. Waits for the device.
bool rows_are_runs(const PartView& part, const LoadContext& context);

/// What prepare() builds.
struct State final : LayoutState {
  bool runs = false;  ///< rows_are_runs(), where launch_rules say that it is worth a look
  RowBlocksOnDevice row_blocks, printed_blocks;
  ChunkEndsOnDevice chunk_ends;
};

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream);

/// runs: rows_are_runs(), which these two read less of then.
void multiply_rows(const PartView& part, const MultiplyCall& call, std::uint32_t lanes, bool runs);
void multiply_ipcsr(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call, bool runs);
void multiply_ipcsr_printed(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call);
void multiply_pcsr(const PartView& part, const MultiplyCall& call);
/// The same by several columns, neighbours in each row of X.
void multiply_rows_by_columns(const PartView& part, const MultiplyCall& call, std::uint32_t lanes);
/// Of at most launch_rules::columns::of_ipcsr.
void multiply_blocks_by_columns(const PartView& part, const RowBlocksOnDevice& blocks, const MultiplyCall& call);
void multiply_merge(const PartView& part, const ChunkEndsOnDevice& ends, const MultiplyCall& call);
void multiply_long(const PartView& part, const MultiplyCall& call);

}  // namespace spmvpack::gpu_loader::layouts::csr_kernels
