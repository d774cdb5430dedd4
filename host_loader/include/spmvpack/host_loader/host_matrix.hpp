#pragma once
/// A container in host memory, and y = alpha op(A) x + beta y on the CPU.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack {
struct LayoutState;
}  // namespace spmvpack

namespace spmvpack::host_loader {

struct LayoutMultiply;

/// The layouts that the host can multiply with.
SPMVPACK_EXPORT std::span<const std::string_view> layout_names() noexcept;

/// A matrix loaded from a container, in the container's layout. Immutable; multiply() may be called from several
/// threads at once.
class SPMVPACK_EXPORT HostMatrix {
 public:
  /// Loads every part. By default, checksums and structure are checked first; with LoadOptions::check_contents also
  /// that the matrix is the one of the header, and A^T its transpose.
  static HostMatrix load(const Container& container, const LoadOptions& options = {});
  static HostMatrix load(const std::string& path, const LoadOptions& options = {});

  [[nodiscard]] const MatrixFacts& facts() const noexcept { return facts_; }

  /// Whether multiply() can take Operation::transpose: the container has A^T, or the matrix is symmetric or skew.
  [[nodiscard]] bool has_transpose() const noexcept { return spmvpack::has_transpose(facts_, infos_); }

  /// Y = alpha op(A) X + beta Y; each column has the bits of a multiply with that column alone. X has facts().cols
  /// rows, Y has facts().rows, or with describe<T>(Operation::transpose) the other way round; they have as many columns,
  /// of any strides. T, the type of Y's elements, is also the type of every product and sum: the matrix's value type, or
  /// double for an f32 matrix. Y is not read if beta is 0, nor X if alpha is 0. The layout fixes the order of additions
  /// (docs/LAYOUTS.md), which does not depend on `threads` (0: all). Copies, in memory that counts, are made of up to 16
  /// columns of an X, or a Y, that do not lie side by side (col_stride 1) where the layout multiplies several at once
  /// and that is worth it; else of one that is not contiguous. Errors, before anything is computed: errc::usage (wrong
  /// sizes or types, X and Y overlap, or there is no transpose); errc::unsupported (a kernel other than the default);
  /// errc::out_of_memory.
  template <class T>
  void multiply(std::type_identity_t<T> alpha, std::type_identity_t<DenseView<const T>> x, std::type_identity_t<T> beta,
                DenseView<T> y, int threads = 0, const MultiplyDescription& description = describe<T>()) const;
  /// The same for a y that is a std::span, a std::vector, a std::array or the like.
  template <class Y, class T = typename std::remove_reference_t<Y>::value_type>
  void multiply(std::type_identity_t<T> alpha, std::type_identity_t<DenseView<const T>> x, std::type_identity_t<T> beta,
                Y&& y, int threads = 0, const MultiplyDescription& description = describe<T>()) const {
    multiply<T>(alpha, x, beta, DenseView<T>(y), threads, description);
  }

  /// The user's vector in the order of Basis::permuted, and back. The vectors do not overlap; T is float or double.
  /// Error(errc::usage) if the container has no such basis.
  template <class T>
  void permute(std::span<const T> user, std::span<T> permuted) const;
  template <class T>
  void unpermute(std::span<const T> permuted, std::span<T> user) const;

 private:
  struct Part {
    LoadedPart loaded;
    const LayoutMultiply* layout;
    std::shared_ptr<const LayoutState> state;
  };

  [[nodiscard]] std::span<const std::uint32_t> permutation() const;

  MatrixFacts facts_;
  CountedVector<PartInfo> infos_;
  CountedVector<Part> parts_;
};

}  // namespace spmvpack::host_loader
