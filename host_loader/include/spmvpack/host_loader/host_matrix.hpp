#pragma once
/// A container in host memory, and y = alpha op(A) x + beta y on the CPU.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/container/multiply/update_values.hpp"

namespace spmvpack {
struct LayoutState;
}  // namespace spmvpack

namespace spmvpack::host_loader {

struct LayoutMultiply;

/// The layouts that the host can multiply with.
SPMVPACK_EXPORT std::span<const std::string_view> layout_names() noexcept;

/// A matrix loaded from a container, in the container's layout. multiply() may be called from several threads at once,
/// but not while update_values() runs; nothing else changes the matrix.
class SPMVPACK_EXPORT HostMatrix {
 public:
  /// Loads every part. By default, checksums and structure are checked first; with LoadOptions::check_contents also
  /// that the matrix is the one of the header, and A^T its transpose. With LoadOptions::updatable, the matrix can be
  /// given new values; it then has its transpose only if parts of A^T are stored. Error(errc::unsupported) if the
  /// values of a part have no places of their own.
  static HostMatrix load(const Container& container, const LoadOptions& options = {});
  static HostMatrix load(const std::string& path, const LoadOptions& options = {});

  /// Those of the container; if the matrix is updatable(), without_values().
  [[nodiscard]] const MatrixFacts& facts() const noexcept { return facts_; }

  /// Whether the matrix was loaded with LoadOptions::updatable.
  [[nodiscard]] bool updatable() const noexcept { return frame_ != nullptr; }
  /// Gives the matrix new values in its old pattern: one for each entry, in the order of CSR, rows, then columns, zeros
  /// that are stored included. T is the matrix's value type, or double, which is rounded for an f32 matrix. Parts of
  /// A^T follow. Multiplies then have the bits of a matrix encoded anew with these values. Errors, all of them before
  /// any value is changed: errc::usage (not updatable(), wrong number or type of values); errc::bad_input (beyond f32);
  /// errc::unsupported (a value that would change the pattern of a part in layout dia, or amb with blocks, where
  /// nothing but +0 can take the place of +0).
  template <class T>
  void update_values(std::span<const T> values, int threads = 0);
  /// The same with the values of a matrix that has this pattern, which is compared by a hash (pattern_digest()). The
  /// first call unpacks the matrix for that. Error(errc::usage) if it is another pattern, before any value is changed.
  void update(const CsrView& a, int threads = 0);
  /// Writes a container of the matrix with its present values, as write_updated() does: the container that it was
  /// loaded from, but for values, digest, checksums and what else follows from them. Returns the size.
  /// Error(errc::usage) unless updatable(); else those of write_updated().
  std::uint64_t write(ByteSink& sink, const WriteOptions& options = {}) const;

  /// Whether multiply() can take the other operations: the container has A^T, or the matrix is symmetric,
  /// skew-symmetric or Hermitian.
  [[nodiscard]] bool has_transpose() const noexcept { return spmvpack::has_transpose(facts_, infos_); }

  /// Y = alpha op(A) X + beta Y; each column has the bits of a multiply with that column alone. X has facts().cols
  /// rows, Y has facts().rows, or with describe<V>(Operation::transpose) the other way round; they have as many
  /// columns, of any strides. V is the type of their elements, T = real_of<V> that of every product and sum: the
  /// matrix's value type or that of its parts, or double for an f32 or c64 matrix. Complex matrices need V =
  /// std::complex<T>, others take it, too: real and imaginary parts then have the bits of columns of their own, unless
  /// alpha or beta is not real. Y is not read if beta is 0, nor X if alpha is 0. The layout fixes the order of
  /// additions (docs/LAYOUTS.md), which does not depend on `threads` (0: all). Copies, in memory that counts, are made
  /// of up to 16 columns of an X, or a Y, that do not lie side by side (col_stride 1) where the layout multiplies
  /// several at once and that is worth it; else of one that is not contiguous. Up to 16 columns of both are copied for
  /// A^H of a complex matrix, for A^T of a Hermitian one, and of Y for complex scalars of a real one. With factors of
  /// rows or columns, the multiply is one with D_r A D_c (Scaling): columns of X are copied, and those of Y if beta is
  /// not 0. Errors, before anything is computed: errc::usage (wrong sizes or types, X or factors overlap Y, or there is
  /// no transpose); errc::unsupported (a kernel other than the default); errc::out_of_memory.
  template <class V>
  void multiply(std::type_identity_t<V> alpha, std::type_identity_t<DenseView<const V>> x, std::type_identity_t<V> beta,
                DenseView<V> y, int threads = 0, const MultiplyDescription& description = describe<V>(),
                const Scaling<real_of<V>>& scaling = {}) const;
  /// The same for a y that is a std::span, a std::vector, a std::array or the like.
  template <class Y, class V = typename std::remove_reference_t<Y>::value_type>
  void multiply(std::type_identity_t<V> alpha, std::type_identity_t<DenseView<const V>> x, std::type_identity_t<V> beta,
                Y&& y, int threads = 0, const MultiplyDescription& description = describe<V>(),
                const Scaling<real_of<V>>& scaling = {}) const {
    multiply<V>(alpha, x, beta, DenseView<V>(y), threads, description, scaling);
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
    std::shared_ptr<LayoutState> state;
  };

  /// With facts_ and parts_.
  void make_updatable(const Container& container, const LoadOptions& options);
  void require_updatable() const;
  /// multiply() by the parts of `operand`, of vectors whose type is a pair with that of values; what has been checked.
  /// `scaling` is that of op(A).
  template <class V>
  void multiply_parts(const Operand& operand, V alpha, const DenseView<const V>& x, V beta, const DenseView<V>& y,
                      int threads, Basis basis, Scaling<real_of<V>> scaling) const;
  [[nodiscard]] std::span<const std::uint32_t> permutation() const;
  [[nodiscard]] std::vector<const LoadedPart*> loaded_parts() const;

  MatrixFacts facts_;
  CountedVector<PartInfo> infos_;
  CountedVector<Part> parts_;
  std::vector<ValueSource> sources_;             ///< of the parts, if the matrix is updatable(); empty ones with slots_
  std::vector<ValueSlots> slots_;                ///< likewise, if fits_value_slots()
  std::shared_ptr<const ContainerFrame> frame_;  ///< if it is
  std::optional<Digest> pattern_;                ///< once update() has wanted it
};

}  // namespace spmvpack::host_loader
