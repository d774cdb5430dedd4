// Matrices in device memory. The Python side finds streams and makes the vectors safe to use on them.

#include "spmvpack/gpu_loader/device.hpp"

#include <algorithm>
#include <iterator>

#include "bindings.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::python {
namespace {

using gpu_loader::CurrentDevice;
using gpu_loader::DeviceMatrix;
using gpu_loader::DeviceMultiplier;
using gpu_loader::Stream;

/// A matrix, and the device that has it.
struct OnDevice {
  DeviceMatrix matrix;
  int device;
};

/// A multiply with a workspace of its own, for vectors, or for columns of any strides, of one type and one stream at a
/// time.
struct Multiplier {
  DeviceMultiplier multiplier;
  ElementType vectors;
  int device;
  Operation operation;
};

OnDevice load_on_device(const Container& container, int device, int threads, std::optional<double> cache_share,
                        bool updatable) {
  gpu_loader::DeviceLoadOptions options;
  options.threads = threads;
  options.updatable = updatable;
  if (cache_share) options.cache_share = *cache_share;
  options.progress = stops_on_signals();
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(device);
  return {DeviceMatrix::load(container, nullptr, options), device};
}

ElementType element_type_named(const std::string& dtype) {
  for (const ValueType type : value_types)
    for (const bool complex : {false, true})
      if (dtype == name_of(ElementType{type, complex})) return {type, complex};
  raise_type_error("vectors are float64, float32, complex128 or complex64, not " + dtype);
}

/// `columns`: of X and Y; 0: they are vectors.
Multiplier multiplier(const OnDevice& a, const std::string& dtype, bool transpose, std::uint64_t columns,
                      bool scaled_rows, bool scaled_columns) {
  const ElementType vectors = element_type_named(dtype);
  const ValueType values = a.matrix.facts().value_type;
  if (!is_type_pair(values, vectors.real)) {
    const std::string wanted = name_of(ElementType{values, vectors.complex});
    raise_type_error(std::string("x is ") + name_of(vectors) + ", the matrix " + name_of(values) +
                     ": nothing is converted; convert it to " + wanted);
  }
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(a.device);
  const Operation operation = operation_of(transpose);
  MultiplyDescription description;
  dispatch_elements(vectors, [&]<class V>(V) { description = describe<V>(operation); });
  if (columns != 0) {
    description.right_hand_sides = checked_mul(description.right_hand_sides, columns, "columns");
    description.strided_x = description.strided_y = true;
  }
  description.scaled_rows = scaled_rows;
  description.scaled_columns = scaled_columns;
  return {DeviceMultiplier(a.matrix, description), vectors, a.device, operation};
}

void require_device(const Dense& v, const char* name, int device) {
  if (v.device != device)
    raise_value_error(std::string(name) + " is on cuda:" + std::to_string(v.device) +
                      ", the matrix on cuda:" + std::to_string(device));
}

/// x, y and the factors are DLPack capsules that are safe to use on `stream`; factors may be None.
void multiply_on_device(const Multiplier& m, nb::handle x_capsule, nb::handle y_capsule, nb::handle rows_capsule,
                        nb::handle columns_capsule, double alpha, double beta, std::uintptr_t stream) {
  const MatrixFacts& facts = m.multiplier.matrix().facts();
  const Operands operands(x_capsule, y_capsule, facts, m.operation, Place::device);
  const FactorArrays factors(rows_capsule, columns_capsule, facts, operands.x.type, Place::device);
  const Dense &x = operands.x, &y = operands.y;
  if (x.type != m.vectors) raise_type_error("the vectors are not of the workspace's type");
  require_device(x, "x", m.device);
  require_device(y, "out", m.device);
  if (factors.rows.array.is_valid()) require_device(factors.rows, "rows", m.device);
  if (factors.columns.array.is_valid()) require_device(factors.columns, "columns", m.device);
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(m.device);
  dispatch_elements(x.type, [&]<class V>(V) {
    using T = real_of<V>;
    m.multiplier.multiply<V>(static_cast<T>(alpha), x.view<const V>(), static_cast<T>(beta), y.view<V>(),
                             reinterpret_cast<Stream>(stream),  // NOLINT(performance-no-int-to-ptr): a handle
                             factors.scaling<T>());
  });
}

/// x and y are addresses of as many elements as there must be, of m.vectors, in the memory of m.device.
void multiply_at(const Multiplier& m, std::uintptr_t x, std::uintptr_t y, double alpha, double beta,
                 std::uintptr_t stream) {
  const MatrixFacts& facts = m.multiplier.matrix().facts();
  const bool plain = m.operation == Operation::none;
  const std::uint64_t cols = plain ? facts.cols : facts.rows, rows = plain ? facts.rows : facts.cols;
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(m.device);
  dispatch_elements(m.vectors, [&]<class V>(V) {
    using T = real_of<V>;
    // NOLINTBEGIN(performance-no-int-to-ptr): Python has them as numbers
    m.multiplier.multiply<V>(static_cast<T>(alpha), {reinterpret_cast<const V*>(x), cols}, static_cast<T>(beta),
                             {reinterpret_cast<V*>(y), rows}, reinterpret_cast<Stream>(stream));
    // NOLINTEND(performance-no-int-to-ptr)
  });
}

void multiply_host_vectors(const OnDevice& a, nb::handle x_object, nb::handle y_object, double alpha, double beta,
                           bool transpose) {
  const Operands v(x_object, y_object, a.matrix.facts(), operation_of(transpose), Place::host);
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(a.device);
  dispatch_elements(v.x.type, [&]<class V>(V) {
    using T = real_of<V>;
    a.matrix.multiply_host_vectors<T>(static_cast<T>(alpha), v.x.view<const V>(), static_cast<T>(beta), v.y.view<V>(),
                                      describe<V>(operation_of(transpose)));
  });
}

/// `values_capsule` is a DLPack capsule that is safe to use on `stream`.
void update_values(const OnDevice& a, nb::handle values_capsule, std::uintptr_t stream) {
  const MatrixFacts& facts = a.matrix.facts();
  const Dense values = dense_of(values_capsule, "values", facts.nnz, "entries", facts.value_type, Place::device, false);
  if (values.array.ndim() != 1)
    raise_value_error("values has shape " + shape_text(values.array) + ", expected (" + std::to_string(facts.nnz) +
                      ",), one for each entry");
  if (values.type.complex) raise_type_error(std::string("values is ") + name_of(values.type) + ", the matrix real");
  require_device(values, "values", a.device);
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(a.device);
  dispatch(values.type.real, [&]<class T>(T) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle
    a.matrix.update_values(std::span(static_cast<const T*>(values.data), facts.nnz), reinterpret_cast<Stream>(stream));
  });
}

void require_updated(const OnDevice& a, std::uintptr_t stream) {
  const nb::gil_scoped_release no_gil;
  const CurrentDevice current(a.device);
  a.matrix.require_updated(reinterpret_cast<Stream>(stream));  // NOLINT(performance-no-int-to-ptr): a handle
}

/// An array of one dimension that lies on `device`, contiguous.
void require_list(const AnyArray& array, const char* name, std::uint64_t size, int device) {
  if (array.device_type() != nb::device::cuda::value && array.device_type() != nb::device::cuda_managed::value)
    raise_value_error(std::string(name) + " is not in the memory of a GPU");
  if (array.device_id() != device)
    raise_value_error(std::string(name) + " is on cuda:" + std::to_string(array.device_id()) +
                      ", not on cuda:" + std::to_string(device));
  if (array.ndim() != 1 || array.shape(0) != size || (size > 1 && array.stride(0) != 1))
    raise_value_error(std::string(name) + " has shape " + shape_text(array) + ", expected a contiguous list of " +
                      std::to_string(size));
}

int index_bits(const AnyArray& array, const char* name) {
  using Code = nb::dlpack::dtype_code;
  const nb::dlpack::dtype type = array.dtype();
  const bool integer =
      type.code == static_cast<std::uint8_t>(Code::Int) || type.code == static_cast<std::uint8_t>(Code::UInt);
  if (!integer || type.lanes != 1 || (type.bits != 32 && type.bits != 64))
    raise_type_error(std::string(name) + " is not of integers of 32 or 64 bits");
  return type.bits;
}

/// What `auto` took, and what it left out.
nb::list told(const std::vector<gpu_encoder::DeviceChoice>& choices) {
  nb::list all;
  for (const gpu_encoder::DeviceChoice& choice : choices) {
    nb::dict left_out, refused;
    for (const gpu_encoder::LeftOut& left : choice.left_out) left_out[left.strategy.c_str()] = left.least_seconds;
    for (const gpu_encoder::Refused& r : choice.refused) refused[r.layout.c_str()] = r.reason;
    all.append(nb::make_tuple(choice.layout, choice.reason, choice.seconds, left_out, refused));
  }
  return all;
}

/// What encoding on a device made, and how: the matrix, the most bytes allocated at a time, what `auto` took.
nb::tuple encode_on_device(int device, std::uint64_t rows, std::uint64_t cols, const AnyArray& indptr,
                           const AnyArray& indices, const AnyArray& data, const encoder::EncodeRequest& asked,
                           std::uint64_t memory_limit, std::optional<double> cache_share, std::uintptr_t stream) {
  gpu_encoder::DeviceCsr a;
  a.rows = rows;
  a.cols = cols;
  a.nonzeros = data.size();
  require_list(indptr, "indptr", rows + 1, device);
  require_list(indices, "indices", a.nonzeros, device);
  require_list(data, "data", a.nonzeros, device);
  a.row_ptr = indptr.data();
  a.row_ptr_bits = index_bits(indptr, "indptr");
  if (index_bits(indices, "indices") != 32) raise_type_error("indices are not of 32 bits");
  a.col_idx = indices.data();
  a.values = data.data();
  const ValueType* const known = std::find_if(std::begin(value_types), std::end(value_types), [&](ValueType type) {
    bool same = false;
    dispatch(type, [&]<class T>(T) { same = data.dtype() == nb::dtype<T>(); });
    return same;
  });
  if (known == std::end(value_types)) raise_type_error("data must be float64 or float32");
  a.value_type = *known;
  gpu_encoder::DeviceEncodeRequest request = gpu_encoder::DeviceEncodeRequest::of(asked);
  request.sort = true;
  request.memory_limit = memory_limit;
  if (cache_share) request.cache_share = *cache_share;
  std::optional<gpu_encoder::DeviceEncoded> encoded;
  {
    const nb::gil_scoped_release no_gil;
    const CurrentDevice current(device);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle
    encoded = gpu_encoder::encode_on_device(a, request, reinterpret_cast<Stream>(stream));
  }
  return nb::make_tuple(OnDevice{std::move(encoded->matrix), device}, encoded->peak_bytes, told(encoded->choices));
}

nb::dict info_on_device(const OnDevice& a) {
  nb::dict info = info_of(a.matrix.facts(), parts_of(a.matrix.parts(), format::Role::a));
  info["device_bytes"] = a.matrix.device_bytes();
  info["transpose_device_bytes"] = a.matrix.device_bytes(format::Role::transpose);
  info["has_transpose"] = a.matrix.has_transpose();
  nb::dict provenance;
  provenance["target"] = nb::none();
  info["provenance"] = provenance;
  return info;
}

/// The bytes of a container.
nb::bytes written(const OnDevice& a) {
  MemorySink sink;
  Array<std::byte> all;
  {
    const nb::gil_scoped_release no_gil;
    const CurrentDevice current(a.device);
    a.matrix.write(sink);
    all = sink.take();
  }
  return nb::bytes(all.data(), all.size());
}

}  // namespace

void bind_device(nb::module_& m) {
  using namespace nb::literals;
  m.def("built_with_cuda", &gpu_loader::built_with_cuda, "Whether this build contains GPU code.");
  m.def(
      "device_count", [] { return gpu_loader::devices().size(); },
      "The number of GPUs; 0 without a driver. Raises Error in a build without CUDA.");
  m.def("has_usable_gpu", &gpu_loader::has_usable_gpu, "Whether there is a GPU to use, without initialising CUDA.");
  nb::class_<Multiplier>(m, "Multiplier", "A multiply with a workspace of its own.")
      .def("multiply", &multiply_on_device, "x"_a, "y"_a, "rows"_a.none(), "columns"_a.none(), "alpha"_a, "beta"_a,
           "stream"_a,
           nb::sig("def multiply(self, x: object, y: object, rows: object, columns: object, alpha: float, beta: float, "
                   "stream: int) -> None"))
      // Without names of arguments, with which nanobind takes longer to call it.
      .def("multiply_at", &multiply_at,
           nb::sig("def multiply_at(self, x: int, y: int, alpha: float, beta: float, stream: int, /) -> None"));
  m.def(
      "layouts_on_device",
      [] {
        nb::list names;
        for (const std::string_view name : gpu_encoder::layouts_on_device()) names.append(std::string(name));
        return names;
      },
      nb::sig("def layouts_on_device() -> list[str]"));
  m.def(
      "encode_on_device", &encode_on_device, "device"_a, "rows"_a, "cols"_a, "indptr"_a, "indices"_a, "data"_a,
      "request"_a, "memory_limit"_a, "cache_share"_a.none(), "stream"_a,
      nb::sig("def encode_on_device(device: int, rows: int, cols: int, indptr: object, indices: object, data: object, "
              "request: Request, memory_limit: int, cache_share: float | None, stream: int) -> tuple[DeviceMatrix, "
              "int, list[tuple[str, str, float | None, dict[str, float | None], dict[str, str]]]]"));
  nb::class_<OnDevice>(m, "DeviceMatrix", "A matrix in device memory.")
      .def_static("load", &load_on_device, "container"_a, "device"_a, "threads"_a, "cache_share"_a.none(),
                  "updatable"_a)
      .def_ro("device", &OnDevice::device)
      .def("has_transpose", [](const OnDevice& a) { return a.matrix.has_transpose(); })
      .def("info", &info_on_device, nb::sig("def info(self) -> dict[str, typing.Any]"))
      .def("to_bytes", &written)
      .def("update_values", &update_values, "values"_a, "stream"_a,
           nb::sig("def update_values(self, values: object, stream: int) -> None"))
      .def("require_updated", &require_updated, "stream"_a)
      .def_prop_ro("allocated_bytes", [](const OnDevice& a) { return a.matrix.allocated_bytes(); })
      .def("multiplier", &multiplier, "dtype"_a, "transpose"_a, "columns"_a, "scaled_rows"_a, "scaled_columns"_a)
      .def("multiply_host_vectors", &multiply_host_vectors, "x"_a, "y"_a, "alpha"_a, "beta"_a, "transpose"_a,
           nb::sig("def multiply_host_vectors(self, x: object, y: object, alpha: float, beta: float, transpose: bool) "
                   "-> None"));
}

}  // namespace spmvpack::python
