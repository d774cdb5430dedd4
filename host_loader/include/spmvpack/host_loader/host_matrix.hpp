#pragma once
/// A container in host memory, and y = alpha A x + beta y on the CPU.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/multiply.hpp"
#include "spmvpack/container/reader.hpp"

namespace spmvpack::host_loader {

struct LayoutMultiply;

/// The layouts that this build can multiply with on the host.
SPMVPACK_EXPORT std::span<const std::string_view> layout_names() noexcept;

/// A matrix loaded from a container, in its own layout. Immutable; multiply may run from several threads at once.
class SPMVPACK_EXPORT HostMatrix {
 public:
  /// Loads every part. With the default options checksums and structure are checked first.
  static HostMatrix load(const Container& container, const LoadOptions& options = {});
  static HostMatrix load(const std::string& path, const LoadOptions& options = {});

  [[nodiscard]] const MatrixFacts& facts() const noexcept { return facts_; }

  /// y = alpha A x + beta y. x has cols() elements, y rows(); T is the type of every product and sum, too: the matrix's
  /// value type, or double for a matrix of f32 values. y is not read where beta is 0, x not where alpha is 0. The order
  /// of additions is that of the layout (docs/LAYOUTS.md) and does not depend on `threads` (0: all).
  /// Error(errc::usage): wrong sizes or type, x and y overlap. Error(errc::unsupported): a description that asks for
  /// more than A x by the default kernel. Nothing has been computed then.
  template <class T>
  void multiply(T alpha, std::span<const T> x, T beta, std::span<T> y, int threads = 0,
                const MultiplyDescription& description = describe<T>()) const;

 private:
  struct Part {
    LoadedPart loaded;
    const LayoutMultiply* layout;
  };

  MatrixFacts facts_;
  std::vector<Part> parts_;
};

}  // namespace spmvpack::host_loader
