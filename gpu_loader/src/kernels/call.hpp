#pragma once
// A multiply as layouts' kernels are launched for it: the part and the operands. Includes no CUDA headers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "device_facts.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// A part in device memory. The sections' spans in `view` point to device memory: the host uses their addresses and
/// sizes, never their elements.
struct DevicePart {
  PartView view;
  std::size_t layout = 0;                    ///< its index in kernel_tables()
  std::size_t default_kernel = 0;            ///< its index in the layout's KernelTable
  std::unique_ptr<const LayoutState> state;  ///< null if the layout has no prepare()
  std::vector<std::size_t> kernels;          ///< that prepare() was asked for
};

/// alpha or beta of a multiply whose vectors may be of any type; it holds a Scalar of theirs.
using AnyScalar = VariantOf<Scalar>;
/// Whether it is known, before the multiply runs, to be this number.
inline bool is_known(const AnyScalar& scalar, int number) {
  return std::visit(
      [&]<class V>(const Scalar<V>& s) { return s.device == nullptr && s.value == static_cast<V>(number); }, scalar);
}

/// One multiply of one part, y = alpha A x + beta y over its local rows and columns. The arguments have been checked.
struct MultiplyCall {
  DeviceFacts device;                                             ///< the one that the matrix is on
  std::size_t kernel = 0;                                         ///< its index in the layout's KernelTable
  MultiplyDescription description;                                ///< accepted by check_description()
  AnyScalar alpha = Scalar<double>(0), beta = Scalar<double>(0);  ///< of the vectors' type
  bool keep = false;               ///< what is read once in the L2 cache: the next multiply finds it there
  ColumnBlock<void> columns = {};  ///< no more than the kernel takes at once, in strides that it takes
  bool row_major = false;  ///< by the KernelTable's row_major_columns: those of X are neighbours; else by its `columns`
  const std::uint32_t* row_list = nullptr;  ///< device memory: local row r is y's element row_list[r]; null: element r
  std::byte* workspace = nullptr;           ///< workspace_bytes(), aligned to 256 bytes
  Stream stream = nullptr;
};

}  // namespace spmvpack::gpu_loader
