#pragma once
// What a layout does on a device: a LayoutKernels, in addition to its KernelTable. Includes no CUDA headers.

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device_facts.hpp"
#include "kernels/call.hpp"
#include "layouts/kernel_table.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::gpu_loader {

/// Memory and stream at load, for what a layout builds.
struct LoadContext {
  DeviceFacts device;
  Stream stream = nullptr;
  std::function<std::shared_ptr<void>(std::uint64_t bytes)> allocate;  ///< device memory, aligned to 256 bytes
  std::function<std::shared_ptr<void>(std::uint64_t bytes)> scratch;   ///< the same, for until the load ends
  std::uint64_t room = 0;  ///< bytes that the caller's limit leaves: what a multiply can do without is not built beyond
  /// Indices in the layout's KernelTable of the kernels that multiplies will use.
  std::vector<std::size_t> kernels;

  [[nodiscard]] bool wants(std::size_t kernel) const {
    return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
  }
};

inline constexpr std::size_t check_words = 4;

/// The number of entries in the list `stored_zeros`, which only the host has.
inline std::uint64_t stored_zeros(const PartView& part) {
  const PartView::Section* const list = part.find("stored_zeros");
  return list == nullptr ? 0 : list->bytes.size() / sizeof(std::uint64_t);
}

/// A layout on the GPU.
struct LayoutKernels {
  /// Names of the bits that check() sets, at most 30.
  std::span<const std::string_view> check_names;
  /// Words of device memory that check() needs, apart from `errors`, all 0; null: none.
  std::uint64_t (*check_scratch)(const PartInfo& part) = nullptr;
  /// Launches kernels that set bits of *errors if the part violates what the container's check() of the layout demands.
  /// `errors` has check_words words of device memory, initially 0; all but the first are for the check's own use. Reads
  /// nothing outside the part's sections, whatever they contain.
  void (*check)(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);
  /// Builds what the context's kernels need, for a part that has been checked; null if there is nothing to build.
  std::unique_ptr<const LayoutState> (*prepare)(const PartView& part, const LoadContext& context) = nullptr;
  /// Launches on call.stream. No allocation, no synchronisation. y must not be read if beta is 0, nor x if alpha is 0
  /// (then y = beta y); scalars given by pointer are known only on the device.
  void (*multiply)(const DevicePart& part, const MultiplyCall& call);
};

namespace layouts {
#define SPMVPACK_DECLARE(name) extern const LayoutKernels name;
SPMVPACK_GPU_LAYOUTS(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE
}  // namespace layouts

/// The LayoutKernels of the layout at an index in kernel_tables().
const LayoutKernels& layout_kernels(std::size_t layout);

}  // namespace spmvpack::gpu_loader
