// Implements spmvpack.h with the encoder and the loaders; every exception becomes a status and a text.

#include "spmvpack/spmvpack.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>

#include "spmvpack/container/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

struct spmvpack_container {
  spmvpack::Container container;
};

struct spmvpack_host_matrix {
  spmvpack::host_loader::HostMatrix matrix;
  std::uint64_t device_bytes;
};

struct spmvpack_matrix {
  spmvpack::gpu_loader::DeviceMatrix matrix;
};

namespace spmvpack::gpu_loader {
namespace {

static_assert(SPMVPACK_IO == static_cast<int>(errc::io) && SPMVPACK_EXISTS == static_cast<int>(errc::exists) &&
              SPMVPACK_USAGE == static_cast<int>(errc::usage) &&
              SPMVPACK_BAD_INPUT == static_cast<int>(errc::bad_input) &&
              SPMVPACK_CORRUPT == static_cast<int>(errc::corrupt) &&
              SPMVPACK_UNSUPPORTED == static_cast<int>(errc::unsupported) &&
              SPMVPACK_NO_DEVICE == static_cast<int>(errc::no_device) &&
              SPMVPACK_OUT_OF_MEMORY == static_cast<int>(errc::out_of_memory) &&
              SPMVPACK_INTERNAL == static_cast<int>(errc::internal) &&
              SPMVPACK_TOO_LARGE == static_cast<int>(errc::too_large));

constexpr const char* no_memory = "out of memory";

/// The text of the last error, unless there was no memory even for that.
struct LastError {
  std::string text;
  bool lost = false;
};
thread_local LastError last_error;

spmvpack_status failed(spmvpack_status status, const char* text) noexcept {
  try {
    last_error.text = text;
    last_error.lost = false;
  } catch (...) {
    last_error.lost = true;
  }
  return status;
}

/// Calls f and returns its status.
template <class F>
spmvpack_status guarded(F&& f) noexcept {
  try {
    f();
    return SPMVPACK_OK;
  } catch (const Error& e) {
    return failed(static_cast<spmvpack_status>(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    return failed(SPMVPACK_OUT_OF_MEMORY, no_memory);
  } catch (const std::exception& e) {
    return failed(SPMVPACK_INTERNAL, e.what());
  } catch (...) {
    return failed(SPMVPACK_INTERNAL, "an unknown exception");
  }
}

void require(bool ok, const char* what) {
  if (!ok) throw Error(errc::usage, what);
}
void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(errc::usage, std::string(name) + " is null");
}

spmvpack_type c_type_of(ValueType type) {
  switch (type) {
    case ValueType::f64:
      return SPMVPACK_F64;
    case ValueType::f32:
      return SPMVPACK_F32;
  }
  throw Error(errc::unsupported, "C has no name for the type of the values");
}

ValueType type_of(spmvpack_type type) {
  for (const ValueType known : spmvpack::value_types)
    if (c_type_of(known) == type) return known;
  throw Error(errc::usage, "no such type of values or vectors");
}

spmvpack_info info_of(const MatrixFacts& facts, std::uint64_t device_bytes) {
  return {facts.rows, facts.cols, facts.nnz, device_bytes, c_type_of(facts.value_type)};
}

/// Calls f with the span of `size` indices at `place`.
template <class F>
decltype(auto) with_indices(spmvpack_index type, const void* place, std::uint64_t size, const char* name, F&& f) {
  require(type == SPMVPACK_I32 || type == SPMVPACK_I64, "no such type of indices");
  if (size != 0) require_pointer(place, name);
  return type == SPMVPACK_I64 ? f(std::span(static_cast<const std::int64_t*>(place), size))
                              : f(std::span(static_cast<const std::int32_t*>(place), size));
}

/// The caller's structure, whose size may be that of an older or a newer header, as spmvpack.h promises: fields that it
/// lacks are 0, and those that this version lacks must be. `first_size` is that of the structure's first version.
template <class T>
T sized(const T* c, std::size_t first_size, const char* made_by) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would hide a field of the next version");
  const std::size_t size = c->size;
  if (size < first_size || size > SPMVPACK_MAX_STRUCT_SIZE)
    throw Error(
        errc::usage,
        "the structure has a size of " + std::to_string(size) + ", this version's has " + std::to_string(sizeof(T)), {},
        std::string("start from ") + made_by);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(c);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      throw Error(errc::unsupported, "a field of a newer version of the structure is set", "byte " + std::to_string(i),
                  "leave it 0, or use a newer library");
  T result{};
  std::memcpy(&result, bytes, std::min(size, sizeof(T)));
  return result;
}

spmvpack_encode_options options_of(const spmvpack_encode_options* c) {
  if (c == nullptr) return spmvpack_encode_default();
  return sized(c, offsetof(spmvpack_encode_options, target), "spmvpack_encode_default()");
}

LoadOptions options_of(const spmvpack_load_options* c) {
  if (c == nullptr) return {};
  const spmvpack_load_options options = sized(c, sizeof *c, "spmvpack_load_default()");
  LoadOptions all;
  all.threads = options.threads;
  all.memory_limit = options.memory_limit;
  all.check_contents = options.check_contents != 0;
  return all;
}

encoder::EncodeRequest request_of(const spmvpack_encode_options& c) {
  encoder::EncodeRequest request;
  require_pointer(c.layout, "layout");
  require(c.target == SPMVPACK_TARGET_GPU || c.target == SPMVPACK_TARGET_HOST, "no such target");
  require(c.optimize == SPMVPACK_OPTIMIZE_TIME || c.optimize == SPMVPACK_OPTIMIZE_BYTES, "no such objective");
  require(c.zstd_level >= 0 && c.zstd_level <= 19, "zstd_level is not between 0 and 19");
  request.strategy = c.layout;
  if (c.target == SPMVPACK_TARGET_HOST) request.aim.target = encoder::Target::host;
  if (c.optimize == SPMVPACK_OPTIMIZE_BYTES) request.aim.optimize = encoder::Objective::bytes;
  for (const char* const* setting = c.settings; setting != nullptr && *setting != nullptr; ++setting) {
    const std::string_view text = *setting;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      throw Error(errc::usage, "the setting '" + std::string(text) + "' is not NAME=VALUE");
    request.settings[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  if (c.zstd_level != 0) request.codec = format::Codec::zstd;
  if (c.zstd_level != 0) request.level = c.zstd_level;
  request.threads = c.threads;
  request.force_size = c.force_size != 0;
  request.transpose = c.transpose != 0;
  return request;
}

/// The container of a matrix in the caller's arrays.
Container encode(const spmvpack_csr& c, const spmvpack_encode_options& options) {
  const encoder::EncodeRequest request = request_of(options);
  const ValueType type = type_of(c.value_type);
  const MemoryScope memory(options.memory_limit, "encoding");
  if (c.nonzeros != 0) require_pointer(c.values, "values");
  if (c.rows >= max_dimension || c.nonzeros >= std::uint64_t{1} << 60)  // before rows + 1 or a pointer overflows
    throw Error(errc::unsupported, "more rows or nonzeros than a matrix can have");
  Array<std::uint32_t> narrow;
  const std::span<const std::uint32_t> columns =
      with_indices(c.col_idx_type, c.col_idx, c.nonzeros, "col_idx", [&]<class I>(std::span<const I> all) {
        if constexpr (sizeof(I) == 8) {
          narrow = narrow_indices(all, c.cols, request.threads);
          return std::span<const std::uint32_t>(narrow.data(), narrow.size());
        } else {
          return std::span(reinterpret_cast<const std::uint32_t*>(all.data()), all.size());
        }
      });
  const CsrView view = with_indices(c.row_ptr_type, c.row_ptr, c.rows + 1, "row_ptr", [&](auto row_ptr) {
    return dispatch(type, [&]<class T>(T) {
      return CsrView(c.rows, c.cols, row_ptr, columns, std::span(static_cast<const T*>(c.values), c.nonzeros));
    });
  });
  MemorySink sink(options.memory_limit);
  if (view.columns_increase(request.threads))
    encoder::encode(view, request, sink);
  else
    encoder::encode(assemble(view, request.threads, options.memory_limit), request, sink);
  return Container::open(memory_source(sink.take()), "memory");
}

/// Copies row pointers or columns to the caller's array.
template <class From>
void copy_indices(std::span<const From> from, spmvpack_index type, void* to) {
  if (type == SPMVPACK_I64)
    std::copy(from.begin(), from.end(), static_cast<std::uint64_t*>(to));
  else
    std::transform(from.begin(), from.end(), static_cast<std::uint32_t*>(to),
                   [](From index) { return static_cast<std::uint32_t>(index); });
}

void require_indices(spmvpack_index type, std::uint64_t largest, const char* name) {
  require(type == SPMVPACK_I32 || type == SPMVPACK_I64, "no such type of indices");
  if (type == SPMVPACK_I32 && largest > std::numeric_limits<std::int32_t>::max())
    throw Error(errc::usage, std::string(name) + " up to " + std::to_string(largest) + " do not fit 32 bits", {},
                "use SPMVPACK_I64");
}

/// Unpacks the container to the caller's arrays, once they are known to be for its matrix.
void decode(const Container& container, const LoadOptions& options, const spmvpack_csr_arrays& to) {
  const MatrixFacts& facts = container.facts();
  if (to.rows != facts.rows || to.cols != facts.cols || to.nonzeros != facts.nnz)
    throw Error(errc::usage, "the arrays are for a matrix of another size", {},
                "take the sizes from spmvpack_get_container_info()");
  if (type_of(to.value_type) != facts.value_type)
    throw Error(errc::usage, std::string("the container's values are ") + std::string(to_string(facts.value_type)), {},
                "take value_type from spmvpack_get_container_info()");
  require_indices(to.row_ptr_type, facts.nnz, "row pointers");
  require_indices(to.col_idx_type, facts.cols == 0 ? 0 : facts.cols - 1, "columns");
  require_pointer(to.row_ptr, "row_ptr");
  if (facts.nnz != 0) require_pointer(to.col_idx, "col_idx");
  if (facts.nnz != 0) require_pointer(to.values, "values");
  const CsrMatrix matrix = unpack(container, options);
  copy_indices<std::uint64_t>({matrix.row_ptr.data(), matrix.row_ptr.size()}, to.row_ptr_type, to.row_ptr);
  if (facts.nnz == 0) return;
  copy_indices<std::uint32_t>({matrix.col_idx.data(), matrix.col_idx.size()}, to.col_idx_type, to.col_idx);
  std::memcpy(to.values, matrix.view().value_bytes(), facts.nnz * size_of(facts.value_type));
}

/// Writes to memory that is known to be large enough.
class CallersMemory final : public ByteSink {
 public:
  explicit CallersMemory(std::byte* memory) : memory_(memory) {}
  void write(std::span<const std::byte> bytes) override {
    write_at(end_, bytes);
    end_ += bytes.size();
  }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (!bytes.empty()) std::memcpy(memory_ + offset, bytes.data(), bytes.size());
  }

 private:
  std::byte* memory_;
  std::uint64_t end_ = 0;
};

spmvpack_multiply_description sized_description(const spmvpack_multiply_description* description) {
  require_pointer(description, "description");
  const auto c = sized(description, offsetof(spmvpack_multiply_description, order_x), "spmvpack_multiply_default()");
  (void)type_of(c.vectors);  // which refuses what is none, whatever else is wrong
  return c;
}

/// X or Y as the description has it.
template <class T>
DenseView<T> view_of(T* data, std::uint64_t rows, std::uint64_t cols, spmvpack_order order, std::uint64_t leading,
                     const char* name) {
  require(order == SPMVPACK_ORDER_COLUMNS || order == SPMVPACK_ORDER_ROWS, "no such order of X or Y");
  const bool by_columns = order == SPMVPACK_ORDER_COLUMNS;
  const std::uint64_t least = by_columns ? rows : cols;
  if (leading == 0) leading = least;
  if (leading < least)
    throw Error(errc::usage,
                std::string(name) + " is " + std::to_string(leading) + ", less than a " +
                    (by_columns ? "column's " : "row's ") + std::to_string(least) + " elements",
                {},
                by_columns ? "give the distance between columns, or 0 if they are contiguous"
                           : "give the distance between rows, or 0 if they are contiguous");
  require(leading < std::uint64_t{1} << 60, "a leading dimension that no memory has");
  const auto stride = static_cast<std::int64_t>(leading);
  return by_columns ? DenseView<T>(data, rows, cols, 1, stride) : DenseView<T>(data, rows, cols, stride, 1);
}

template <class T>
struct Views {
  Views(const MatrixFacts& facts, const spmvpack_multiply_description& d, const void* x_data, void* y_data)
      : x(view_of(static_cast<const T*>(x_data), d.operation == SPMVPACK_OPERATION_N ? facts.cols : facts.rows,
                  d.right_hand_sides, d.order_x, d.ldx, "ldx")),
        y(view_of(static_cast<T*>(y_data), d.operation == SPMVPACK_OPERATION_N ? facts.rows : facts.cols,
                  d.right_hand_sides, d.order_y, d.ldy, "ldy")) {}
  DenseView<const T> x;
  DenseView<T> y;
};

/// Converts the description of a multiply with such operands to C++, which checks its contents.
template <class T>
MultiplyDescription description_of(const spmvpack_multiply_description& c, const Views<T>& views) {
  return {.operation = static_cast<Operation>(c.operation),
          .vectors = spmvpack::value_type_of<T>,
          .right_hand_sides = c.right_hand_sides,
          .strided_x = !views.x.has_contiguous_columns(),
          .strided_y = !views.y.has_contiguous_columns(),
          .scalars_on_device = c.scalars_on_device != 0,
          .kernel = {c.kernel}};
}

void host_multiply(const spmvpack_host_matrix* matrix, const spmvpack_multiply_description& c, const void* alpha,
                   const void* x, const void* beta, void* y, int threads) {
  require_pointer(matrix, "matrix");
  require_pointer(alpha, "alpha");
  require_pointer(beta, "beta");
  dispatch(type_of(c.vectors), [&]<class T>(T) {
    const Views<T> views(matrix->matrix.facts(), c, x, y);
    if (views.x.rows != 0 && views.x.cols != 0) require_pointer(x, "x");
    if (views.y.rows != 0 && views.y.cols != 0) require_pointer(y, "y");
    matrix->matrix.multiply<T>(*static_cast<const T*>(alpha), views.x, *static_cast<const T*>(beta), views.y, threads,
                               description_of(c, views));
  });
}

/// A multiply of one column, as the functions without a description have it.
spmvpack_multiply_description of_one_column(spmvpack_operation operation, spmvpack_type vectors) {
  spmvpack_multiply_description c = spmvpack_multiply_default(vectors);
  c.operation = operation;
  return c;
}

template <class T>
void multiply(const DeviceMatrix& matrix, const spmvpack_multiply_description& c, const void* alpha, const void* x,
              const void* beta, void* y, std::span<std::byte> workspace, Stream stream) {
  const auto scalar = [&](const void* at) {
    const auto* const place = static_cast<const T*>(at);
    return c.scalars_on_device != 0 ? Scalar<T>::on_device(place) : Scalar<T>(*place);
  };
  const Views<T> views(matrix.facts(), c, x, y);
  matrix.multiply<T>(scalar(alpha), views.x, scalar(beta), views.y, workspace, stream, description_of(c, views));
}

}  // namespace
}  // namespace spmvpack::gpu_loader

using namespace spmvpack::gpu_loader;
using spmvpack::Container;
using spmvpack::LoadOptions;
using spmvpack::memory_source;
using spmvpack::OutputFile;
using spmvpack::host_loader::HostMatrix;

extern "C" {

const char* spmvpack_error_text(void) { return last_error.lost ? no_memory : last_error.text.c_str(); }

const char* spmvpack_version(void) { return SPMVPACK_VERSION; }

spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors) {
  return {sizeof(spmvpack_multiply_description),
          SPMVPACK_OPERATION_N,
          vectors,
          1,
          0,
          0,
          0,
          0,
          SPMVPACK_ORDER_COLUMNS,
          SPMVPACK_ORDER_COLUMNS};
}

spmvpack_encode_options spmvpack_encode_default(void) {
  return {.size = sizeof(spmvpack_encode_options),
          .layout = "auto",
          .settings = nullptr,
          .zstd_level = 0,
          .threads = 0,
          .force_size = 0,
          .transpose = 0,
          .target = SPMVPACK_TARGET_GPU,
          .optimize = SPMVPACK_OPTIMIZE_TIME,
          .memory_limit = 0};
}

spmvpack_load_options spmvpack_load_default(void) {
  return {.size = sizeof(spmvpack_load_options), .memory_limit = 0, .threads = 0, .check_contents = 0};
}

spmvpack_status spmvpack_encode(const spmvpack_csr* matrix, const spmvpack_encode_options* options,
                                spmvpack_container** container) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(container, "container");
    *container = nullptr;
    *container = new spmvpack_container{encode(*matrix, options_of(options))};
  });
}

spmvpack_status spmvpack_open(const char* path, spmvpack_container** container) {
  return guarded([&] {
    require_pointer(path, "path");
    require_pointer(container, "container");
    *container = nullptr;
    *container = new spmvpack_container{Container::open(std::string(path))};
  });
}

spmvpack_status spmvpack_open_memory(const void* bytes, uint64_t size, spmvpack_container** container) {
  return guarded([&] {
    require_pointer(bytes, "bytes");
    require_pointer(container, "container");
    *container = nullptr;
    const std::span all{static_cast<const std::byte*>(bytes), size};
    *container = new spmvpack_container{Container::open(memory_source(all), "memory")};
  });
}

spmvpack_status spmvpack_save(const spmvpack_container* container, const char* path, int overwrite) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(path, "path");
    OutputFile file(path, overwrite != 0);
    container->container.copy_to(file);
    file.commit();
  });
}

spmvpack_status spmvpack_save_memory(const spmvpack_container* container, void* bytes, uint64_t capacity,
                                     uint64_t* size) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(size, "size");
    *size = container->container.file_bytes();
    if (bytes == nullptr && capacity == 0) return;
    require_pointer(bytes, "bytes");
    require(capacity >= *size, "the container is larger than the capacity");
    CallersMemory sink(static_cast<std::byte*>(bytes));
    container->container.copy_to(sink);
  });
}

void spmvpack_close(spmvpack_container* container) { delete container; }

spmvpack_status spmvpack_get_container_info(const spmvpack_container* container, spmvpack_info* info) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(info, "info");
    *info = info_of(container->container.facts(), container->container.device_bytes());
  });
}

spmvpack_status spmvpack_has_transpose(const spmvpack_container* container, int* available) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(available, "available");
    *available = spmvpack::has_transpose(container->container.facts(), container->container.parts()) ? 1 : 0;
  });
}

spmvpack_status spmvpack_decode(const spmvpack_container* container, const spmvpack_load_options* options,
                                const spmvpack_csr_arrays* matrix) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(matrix, "matrix");
    decode(container->container, options_of(options), *matrix);
  });
}

spmvpack_status spmvpack_host_load(const spmvpack_container* container, int threads, spmvpack_host_matrix** matrix) {
  spmvpack_load_options options = spmvpack_load_default();
  options.threads = threads;
  return spmvpack_host_load_with(container, &options, matrix);
}

spmvpack_status spmvpack_host_load_with(const spmvpack_container* container, const spmvpack_load_options* options,
                                        spmvpack_host_matrix** matrix) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    const Container& from = container->container;
    *matrix = new spmvpack_host_matrix{HostMatrix::load(from, options_of(options)), from.device_bytes()};
  });
}

void spmvpack_host_free(spmvpack_host_matrix* matrix) { delete matrix; }

spmvpack_status spmvpack_get_host_info(const spmvpack_host_matrix* matrix, spmvpack_info* info) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(info, "info");
    *info = info_of(matrix->matrix.facts(), matrix->device_bytes);
  });
}

spmvpack_status spmvpack_host_multiply(const spmvpack_host_matrix* matrix, spmvpack_type vectors, const void* alpha,
                                       const void* x, const void* beta, void* y, int threads) {
  return guarded(
      [&] { host_multiply(matrix, of_one_column(SPMVPACK_OPERATION_N, vectors), alpha, x, beta, y, threads); });
}

spmvpack_status spmvpack_host_multiply_transposed(const spmvpack_host_matrix* matrix, spmvpack_type vectors,
                                                  const void* alpha, const void* x, const void* beta, void* y,
                                                  int threads) {
  return guarded(
      [&] { host_multiply(matrix, of_one_column(SPMVPACK_OPERATION_T, vectors), alpha, x, beta, y, threads); });
}

spmvpack_status spmvpack_host_multiply_with(const spmvpack_host_matrix* matrix,
                                            const spmvpack_multiply_description* description, const void* alpha,
                                            const void* x, const void* beta, void* y, int threads) {
  return guarded([&] { host_multiply(matrix, sized_description(description), alpha, x, beta, y, threads); });
}

spmvpack_status spmvpack_find_kernel(const char* name, uint32_t* kernel) {
  return guarded([&] {
    require_pointer(name, "name");
    require_pointer(kernel, "kernel");
    *kernel = find_kernel(name).value;
  });
}

spmvpack_status spmvpack_load(const char* path, void* stream, spmvpack_matrix** matrix) {
  return guarded([&] {
    require_pointer(path, "path");
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    *matrix = new spmvpack_matrix{DeviceMatrix::load(std::string(path), static_cast<Stream>(stream))};
  });
}

spmvpack_status spmvpack_load_container(const spmvpack_container* container, void* stream, spmvpack_matrix** matrix) {
  return spmvpack_load_with(container, nullptr, stream, matrix);
}

spmvpack_status spmvpack_load_with(const spmvpack_container* container, const spmvpack_load_options* options,
                                   void* stream, spmvpack_matrix** matrix) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    const LoadOptions asked = options_of(options);
    spmvpack::gpu_loader::DeviceLoadOptions on_device;
    on_device.threads = asked.threads;
    on_device.memory_limit = asked.memory_limit;
    on_device.check_contents = asked.check_contents;
    *matrix = new spmvpack_matrix{DeviceMatrix::load(container->container, static_cast<Stream>(stream), on_device)};
  });
}

void spmvpack_free(spmvpack_matrix* matrix) { delete matrix; }

spmvpack_status spmvpack_get_info(const spmvpack_matrix* matrix, spmvpack_info* info) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(info, "info");
    *info = info_of(matrix->matrix.facts(), matrix->matrix.device_bytes());
  });
}

spmvpack_status spmvpack_workspace_bytes(const spmvpack_matrix* matrix,
                                         const spmvpack_multiply_description* description, uint64_t* bytes) {
  return guarded([&] {
    const spmvpack_multiply_description asked = sized_description(description);
    require_pointer(matrix, "matrix");
    require_pointer(bytes, "bytes");
    spmvpack::dispatch(type_of(asked.vectors), [&]<class T>(T) {
      *bytes = matrix->matrix.workspace_bytes(
          description_of(asked, Views<T>(matrix->matrix.facts(), asked, nullptr, nullptr)));
    });
  });
}

spmvpack_status spmvpack_multiply(const spmvpack_matrix* matrix, const spmvpack_multiply_description* description,
                                  const void* alpha, const void* x, const void* beta, void* y, void* workspace,
                                  uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    const spmvpack_multiply_description asked = sized_description(description);
    require_pointer(matrix, "matrix");
    require_pointer(alpha, "alpha");
    require_pointer(beta, "beta");
    const std::span<std::byte> room{static_cast<std::byte*>(workspace), workspace_bytes};
    const auto on = static_cast<Stream>(stream);
    spmvpack::dispatch(type_of(asked.vectors),
                       [&]<class T>(T) { multiply<T>(matrix->matrix, asked, alpha, x, beta, y, room, on); });
  });
}

}  // extern "C"
