#pragma once
// Checks the structure of uploaded sections on the device.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// The checks of layouts and maps, on the device. The constructor starts them.
class StructureCheck {
 public:
  /// `parts` must outlive it. `allocate` returns device memory.
  StructureCheck(std::span<const DevicePart> parts, const MatrixFacts& facts, Stream stream,
                 const std::function<std::shared_ptr<void>(std::uint64_t bytes)>& allocate);
  /// Waits for the checks. Error(errc::corrupt) names the container, the first part with errors and all of its errors.
  void finish(const std::string& name);

 private:
  std::span<const DevicePart> parts_;
  Stream stream_;
  std::shared_ptr<void> errors_;   ///< check_words for each part, on the device
  std::shared_ptr<void> scratch_;  ///< of layouts and of lists of rows and columns, one after the other
};

}  // namespace spmvpack::gpu_loader
