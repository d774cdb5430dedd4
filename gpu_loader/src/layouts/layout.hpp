#pragma once
// What a layout does on a device: a LayoutKernels, beside its KernelTable. No CUDA headers here.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device_facts.hpp"
#include "layouts/kernel_table.hpp"
#include "spmvpack/container/contents.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// Memory and streams at load, for what a layout makes there.
struct LoadContext {
  DeviceFacts device;
  Stream stream = nullptr;
  std::function<std::shared_ptr<void>(std::uint64_t bytes)> allocate;  ///< device memory, on a 256-byte boundary
  /// Places in the layout's KernelTable of the kernels that multiplies will ask for.
  std::vector<std::size_t> kernels;

  [[nodiscard]] bool wants(std::size_t kernel) const {
    return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
  }
};

/// What prepare() made of a part; a layout derives from it.
struct LayoutState {
  LayoutState() = default;
  LayoutState(const LayoutState&) = delete;
  LayoutState& operator=(const LayoutState&) = delete;
  virtual ~LayoutState() = default;
};

/// A part in device memory. The sections' spans in `view` are device memory: the host uses their addresses and sizes,
/// never their elements.
struct DevicePart {
  PartView view;
  std::size_t layout = 0;                    ///< its place in kernel_tables()
  std::size_t default_kernel = 0;            ///< its place in the layout's KernelTable
  std::unique_ptr<const LayoutState> state;  ///< null where the layout has no prepare()
};

/// One multiply of one part, y = alpha A x + beta y over its local rows and columns. The arguments have been checked.
struct MultiplyCall {
  DeviceFacts device;                    ///< the one that the matrix is on
  std::size_t kernel = 0;                ///< its place in the layout's KernelTable
  MultiplyDescription description;       ///< one that check_description() lets pass
  Scalar<double> alpha{0.0}, beta{0.0};  ///< `device` points to a value of the vectors' type
  const void* x = nullptr;
  void* y = nullptr;
  const std::uint32_t* row_list = nullptr;  ///< device memory: local row r is y's element row_list[r]; null: element r
  std::byte* workspace = nullptr;           ///< workspace_bytes() of it, on a 256-byte boundary
  Stream stream = nullptr;
};

inline constexpr std::size_t check_words = 4;

/// A layout on the GPU.
struct LayoutKernels {
  /// Names of the bits that check() sets, at most 30.
  std::span<const std::string_view> check_names;
  /// Launches kernels that set bits of *errors (device memory: check_words words, 0 before; the others are for the
  /// check's own use) where the part breaks what the container's
  /// check() of the layout demands. Reads nothing outside the part's sections, whatever these say.
  void (*check)(const PartView& part, std::uint32_t* errors, Stream stream);
  /// Makes what kernels named in the context need, on a part that has been checked; null: nothing to make.
  std::unique_ptr<const LayoutState> (*prepare)(const PartView& part, const LoadContext& context) = nullptr;
  /// Launches on call.stream. No allocation, no synchronisation. Must honour: y unread where beta is 0, x unread where
  /// alpha is 0 (and y = beta y then), both known only on the device where they are given by pointer.
  void (*multiply)(const DevicePart& part, const MultiplyCall& call);
};

namespace layouts {
#define SPMVPACK_DECLARE(name) extern const LayoutKernels name;
SPMVPACK_GPU_LAYOUTS(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE
}  // namespace layouts

/// Those of the layout at a place in kernel_tables().
const LayoutKernels& layout_kernels(std::size_t layout);

/// Calls f(A{}, V{}) with the types of the matrix's values and of the vectors.
template <class F>
decltype(auto) dispatch_types(ValueType values, ValueType vectors, F&& f) {
  if (values == ValueType::f64) return f(double{}, double{});
  return vectors == ValueType::f64 ? f(float{}, double{}) : f(float{}, float{});
}

}  // namespace spmvpack::gpu_loader
