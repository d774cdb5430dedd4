#pragma once
// What the parts of the module share.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::python {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro>;

/// A matrix in host memory, which nobody copies.
struct OnHost {
  explicit OnHost(host_loader::HostMatrix loaded) : matrix(std::move(loaded)) {}
  OnHost(OnHost&&) = default;
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
  OnHost& operator=(OnHost&&) = delete;
  ~OnHost() = default;
  host_loader::HostMatrix matrix;
};

void bind_encoding(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_device(nb::module_& m);

/// Lets Python handle signals during a long operation without the GIL: its KeyboardInterrupt ends the operation.
ProgressCallback stops_on_signals();

/// The type of the elements of vectors: real, or complex with parts of that type.
struct ElementType {
  ValueType real = ValueType::f64;
  bool complex = false;
  bool operator==(const ElementType&) const = default;
};
/// Calls f(V{}) with the type.
template <class F>
void dispatch_elements(ElementType type, F&& f) {
  dispatch(type.real, [&]<class T>(T) {
    if (type.complex) return f(std::complex<T>{});
    f(T{});
  });
}

/// NumPy's name of a type.
const char* name_of(ElementType type);
inline const char* name_of(ValueType type) { return name_of(ElementType{type}); }

/// Where the elements of a vector are.
enum class Place : std::uint8_t { host, device };

/// x or out of a multiply, the caller's: a vector, or columns of any strides. It lives while this does.
struct Dense {
  AnyArray array;
  ElementType type;
  void* data = nullptr;
  std::uint64_t rows = 0, cols = 1;
  std::int64_t row_stride = 1, col_stride = 0;
  int device = 0;  ///< of Place::device

  template <class V>
  [[nodiscard]] DenseView<V> view() const {
    return {static_cast<V*>(data), rows, cols, row_stride, col_stride};
  }
  /// Of factors_of().
  template <class T>
  [[nodiscard]] std::span<const T> factors() const {
    return {static_cast<const T*>(data), rows};
  }
};
/// The array `object`, which messages call `name`: a vector of `size` contiguous elements, or as many rows, one for
/// each of the matrix's `what`, of `values` or of a type that multiplies with them, complex ones if they are. Nothing
/// is copied or converted. Raises ValueError for a wrong shape, stride or device, TypeError for anything but an array
/// of the right type.
Dense dense_of(nb::handle object, const char* name, std::uint64_t size, const char* what, ValueType values, Place place,
               bool writable);
/// x and out of a multiply with a matrix of these facts, or with its transpose, of one type and as many columns.
struct Operands {
  Operands(nb::handle x_object, nb::handle y_object, const MatrixFacts& facts, Operation operation, Place place);
  Dense x, y;
};

/// Factors of the matrix's rows, and of its columns, each of which may be None: of the real type of x.
struct FactorArrays {
  FactorArrays(nb::handle rows_object, nb::handle columns_object, const MatrixFacts& facts, ElementType x, Place place);
  template <class T>
  [[nodiscard]] Scaling<T> scaling() const {
    return {rows.factors<T>(), columns.factors<T>()};
  }
  Dense rows, columns;
};

constexpr Operation operation_of(bool transpose) { return transpose ? Operation::transpose : Operation::none; }
/// Of a matrix on the host: False, True or "conjugate", for A^H.
Operation operation_of(nb::handle transpose);

/// As Python writes it: "(3,)".
std::string shape_text(const AnyArray& array);

[[noreturn]] void raise_type_error(const std::string& text);
[[noreturn]] void raise_value_error(const std::string& text);

// Arguments as Python has them; those of other types than the usual ones are looked at by spmvpack._arguments, which
// says what is wrong by their names.
/// alpha and beta for real vectors, and for complex ones.
double scalar_of(nb::handle value, const char* name);
std::complex<double> complex_scalar_of(nb::handle value, const char* name);
/// `threads` of a multiply.
int threads_of(nb::handle value);
/// True or False.
bool flag_of(nb::handle value, const char* name);
/// A path in the file system's bytes: a string, of which Python may not know the characters, or bytes.
std::string path_of(nb::handle value);
/// Text that may hold such a path.
nb::str decoded(const std::string& text);

/// The facts, parts and provenance of a container as Python values.
nb::dict info_of(const Container& container);
/// The same of what is known without one: without provenance, and file_bytes is 0. `parts`: those of A.
nb::dict info_of(const MatrixFacts& facts, std::span<const PartInfo> parts);

/// Hands memory over to a NumPy array.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(Array<T> array) {
  auto* const kept = new Array<T>(std::move(array));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

}  // namespace spmvpack::python
