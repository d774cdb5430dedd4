// x and out of the caller's: checked, with messages that have the numbers, and used where they are.

#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"

namespace spmvpack::python {
namespace {

constexpr std::uint8_t code_of(nb::dlpack::dtype_code code) { return static_cast<std::uint8_t>(code); }

std::string python_type(nb::handle object) {
  return nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
}

/// NumPy's name of the type of the elements.
std::string dtype_name(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const char* const kind = type.code == code_of(Code::Int)       ? "int"
                           : type.code == code_of(Code::UInt)    ? "uint"
                           : type.code == code_of(Code::Float)   ? "float"
                           : type.code == code_of(Code::Complex) ? "complex"
                           : type.code == code_of(Code::Bfloat)  ? "bfloat"
                                                                 : nullptr;
  return type.code == code_of(Code::Bool) ? "bool" : kind == nullptr ? "?" : fmt::format("{}{}", kind, type.bits);
}

/// Whether elements of a type are that; its parts are numbers of so many bits.
bool is_type(nb::dlpack::dtype type, ElementType known) {
  using Code = nb::dlpack::dtype_code;
  const std::size_t bits = 8 * size_of(known.real) * (known.complex ? 2 : 1);
  return type.code == code_of(known.complex ? Code::Complex : Code::Float) && type.bits == bits && type.lanes == 1;
}

[[noreturn]] void refuse_type(const char* name, const std::string& type, ValueType values) {
  const char* const to = name_of(ElementType{values, type.find("complex") != std::string::npos});
  raise_type_error(
      fmt::format("{} is {}, the matrix {}: nothing is converted; convert it to {}", name, type, name_of(values), to));
}

/// The array without a copy; invalid if there is none.
AnyArray array_of(nb::handle object, bool writable) {
  AnyArray array;
  if (writable) {
    nb::ndarray<> own;
    if (nb::try_cast(object, own, false)) array = AnyArray(own);
  } else {
    nb::try_cast(object, array, false);
  }
  return array;
}

}  // namespace

const char* name_of(ElementType type) {
  switch (type.real) {
    case ValueType::f64:
      return type.complex ? "complex128" : "float64";
    case ValueType::f32:
      return type.complex ? "complex64" : "float32";
    case ValueType::c128:
      return "complex128";
    case ValueType::c64:
      return "complex64";
  }
  raise_type_error("NumPy has no name for the type of the values");
}

std::string shape_text(const AnyArray& array) {
  std::string text = "(";
  for (std::size_t i = 0; i < array.ndim(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

void raise_type_error(const std::string& text) { throw nb::type_error(text.c_str()); }
void raise_value_error(const std::string& text) { throw nb::value_error(text.c_str()); }

Dense dense_of(nb::handle object, const char* name, std::uint64_t size, const char* what, ValueType values, Place place,
               bool writable) {
  Dense dense;
  dense.array = array_of(object, writable);
  const AnyArray& array = dense.array;
  if (!array.is_valid()) {
    if (writable && array_of(object, false).is_valid()) raise_value_error(fmt::format("{} is read-only", name));
    if (nb::hasattr(object, "dtype"))  // of the wrong elements, or in another byte order
      refuse_type(name, nb::cast<std::string>(nb::str(nb::handle(nb::object(object.attr("dtype"))))), values);
    raise_type_error(fmt::format("{} is of type {}, not an array of {} or one that DLPack or a buffer can hand over",
                                 name, python_type(object), name_of(values)));
  }
  const bool on_device =
      array.device_type() == nb::device::cuda::value || array.device_type() == nb::device::cuda_managed::value;
  const bool on_host = array.device_type() == nb::device::cpu::value;
  if (place == Place::host ? !on_host : !on_device)
    raise_value_error(fmt::format(
        "{} is on {}, the matrix {}", name,
        on_host     ? "the host"
        : on_device ? fmt::format("cuda:{}", array.device_id())
                    : "another kind of device",
        place == Place::host ? "on the host: move one of them, as with to('cuda')" : "on a GPU: move one of them"));
  std::optional<ElementType> type;
  for (const ValueType known : value_types)
    for (const bool complex : {false, true})
      if ((complex || !holds_complex(values)) && is_type_pair(real_type_of(values), known) &&
          is_type(array.dtype(), {known, complex}))
        type = {known, complex};
  if (!type) refuse_type(name, dtype_name(array.dtype()), values);
  if (array.ndim() == 2 && array.shape(0) != size)
    raise_value_error(fmt::format("{} has shape {}, expected ({},) or ({}, k), one row for each of the matrix's {} {}",
                                  name, shape_text(array), size, size, size, what));
  if (array.ndim() != 2 && (array.ndim() != 1 || array.shape(0) != size))
    raise_value_error(fmt::format("{} has shape {}, expected ({},), one element for each of the matrix's {} {}", name,
                                  shape_text(array), size, size, what));
  if (array.ndim() == 1 && size > 1 && array.stride(0) != 1)
    raise_value_error(
        fmt::format("{} has a stride of {} elements; make it contiguous, as with numpy.ascontiguousarray()", name,
                    array.stride(0)));
  dense.type = *type;
  dense.data = const_cast<void*>(array.data());  // written only if it was imported as writable
  dense.rows = size;
  if (array.ndim() == 2) {
    dense.cols = array.shape(1);
    dense.row_stride = array.stride(0);
    dense.col_stride = array.stride(1);
  }
  dense.device = array.device_id();
  return dense;
}

Operands::Operands(nb::handle x_object, nb::handle y_object, const MatrixFacts& facts, Operation operation,
                   Place place) {
  const bool plain = operation == Operation::none;
  x = dense_of(x_object, "x", plain ? facts.cols : facts.rows, plain ? "columns" : "rows", facts.value_type, place,
               false);
  y = dense_of(y_object, "out", plain ? facts.rows : facts.cols, plain ? "rows" : "columns", facts.value_type, place,
               true);
  if (x.type != y.type)
    raise_type_error(fmt::format("x is {} and out is {}: both must be of one type", name_of(x.type), name_of(y.type)));
  if (x.array.ndim() != y.array.ndim() || x.cols != y.cols)
    raise_value_error(fmt::format("x has shape {} and out {}: both must have as many columns", shape_text(x.array),
                                  shape_text(y.array)));
}

FactorArrays::FactorArrays(nb::handle rows_object, nb::handle columns_object, const MatrixFacts& facts, ElementType x,
                           Place place) {
  const auto factors_of = [&](nb::handle object, const char* name, std::uint64_t size) {
    if (object.is_none()) return Dense();
    Dense factors = dense_of(object, name, size, name, real_type_of(facts.value_type), place, false);
    if (factors.array.ndim() != 1)
      raise_value_error(fmt::format("{} has shape {}, expected ({},)", name, shape_text(factors.array), size));
    if (factors.type != ElementType{x.real, false})
      raise_type_error(fmt::format("{} is {} and x is {}: factors are of the real type of x", name,
                                   name_of(factors.type), name_of(x)));
    return factors;
  };
  rows = factors_of(rows_object, "rows", facts.rows);
  columns = factors_of(columns_object, "columns", facts.cols);
}

}  // namespace spmvpack::python
