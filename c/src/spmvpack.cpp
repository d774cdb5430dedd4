// Implements spmvpack.h with the encoder and the loaders; every exception becomes a status and a text.

#include "spmvpack/spmvpack.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "spmvpack/encoder/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

struct spmvpack_container {
  spmvpack::Container container;
};

struct spmvpack_host_matrix {
  spmvpack::host_loader::HostMatrix matrix;
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
              SPMVPACK_INTERNAL == static_cast<int>(errc::internal));

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

spmvpack_info info_of(const MatrixFacts& facts, std::uint64_t device_bytes) {
  return {facts.rows, facts.cols, facts.nnz, device_bytes,
          facts.value_type == ValueType::f64 ? SPMVPACK_F64 : SPMVPACK_F32};
}

ValueType type_of(spmvpack_type type) {
  require(type == SPMVPACK_F32 || type == SPMVPACK_F64, "no such type of values or vectors");
  return type == SPMVPACK_F64 ? ValueType::f64 : ValueType::f32;
}

/// Calls f with the span of `size` indices at `place`.
template <class F>
decltype(auto) with_indices(spmvpack_index type, const void* place, std::uint64_t size, const char* name, F&& f) {
  require(type == SPMVPACK_I32 || type == SPMVPACK_I64, "no such type of indices");
  if (size != 0) require_pointer(place, name);
  return type == SPMVPACK_I64 ? f(std::span(static_cast<const std::int64_t*>(place), size))
                              : f(std::span(static_cast<const std::int32_t*>(place), size));
}

encoder::EncodeRequest request_of(const spmvpack_encode_options* c) {
  encoder::EncodeRequest request;
  if (c == nullptr) return request;
  require(c->size == sizeof *c,
          "the options are of another size than this version's; start from spmvpack_encode_default()");
  require_pointer(c->layout, "layout");
  require(c->zstd_level >= 0 && c->zstd_level <= 19, "zstd_level is not between 0 and 19");
  request.strategy = c->layout;
  for (const char* const* setting = c->settings; setting != nullptr && *setting != nullptr; ++setting) {
    const std::string_view text = *setting;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      throw Error(errc::usage, "the setting '" + std::string(text) + "' is not NAME=VALUE");
    request.settings[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  if (c->zstd_level != 0) request.codec = format::Codec::zstd;
  if (c->zstd_level != 0) request.level = c->zstd_level;
  request.threads = c->threads;
  request.force_size = c->force_size != 0;
  request.transpose = c->transpose != 0;
  return request;
}

/// The container of a matrix in the caller's arrays.
Container encode(const spmvpack_csr& c, const encoder::EncodeRequest& request) {
  const ValueType type = type_of(c.value_type);
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
  MemorySink sink;
  if (view.columns_increase(request.threads))
    encoder::encode(view, request, sink);
  else
    encoder::encode(encoder::assemble(view, request.threads), request, sink);
  return Container::open(memory_source(sink.take()), "memory");
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

/// How many elements x and y have.
struct Lengths {
  Lengths(const MatrixFacts& facts, Operation operation)
      : x(operation == Operation::none ? facts.cols : facts.rows),
        y(operation == Operation::none ? facts.rows : facts.cols) {}
  std::uint64_t x, y;
};

void host_multiply(const spmvpack_host_matrix* matrix, Operation operation, spmvpack_type vectors, const void* alpha,
                   const void* x, const void* beta, void* y, int threads) {
  require_pointer(matrix, "matrix");
  require_pointer(alpha, "alpha");
  require_pointer(beta, "beta");
  const Lengths lengths(matrix->matrix.facts(), operation);
  if (lengths.x != 0) require_pointer(x, "x");
  if (lengths.y != 0) require_pointer(y, "y");
  dispatch(type_of(vectors), [&]<class T>(T) {
    matrix->matrix.multiply<T>(*static_cast<const T*>(alpha), {static_cast<const T*>(x), lengths.x},
                               *static_cast<const T*>(beta), {static_cast<T*>(y), lengths.y}, threads,
                               describe<T>(operation));
  });
}

/// Converts the description to C++, which checks its contents.
MultiplyDescription description_of(const spmvpack_multiply_description* c) {
  require_pointer(c, "description");
  require(c->size == sizeof *c,
          "the description is of another size than this version's; start from spmvpack_multiply_default()");
  return {.operation = static_cast<Operation>(c->operation),
          .vectors = type_of(c->vectors),
          .right_hand_sides = c->right_hand_sides,
          .ldx = c->ldx,
          .ldy = c->ldy,
          .scalars_on_device = c->scalars_on_device != 0,
          .kernel = {c->kernel}};
}

template <class T>
void multiply(const DeviceMatrix& matrix, const MultiplyDescription& description, const void* alpha, const void* x,
              const void* beta, void* y, std::span<std::byte> workspace, Stream stream) {
  const auto scalar = [&](const void* at) {
    const auto* const place = static_cast<const T*>(at);
    return description.scalars_on_device ? Scalar<T>::on_device(place) : Scalar<T>(*place);
  };
  const Lengths lengths(matrix.facts(), description.operation);
  matrix.multiply<T>(scalar(alpha), {static_cast<const T*>(x), lengths.x}, scalar(beta),
                     {static_cast<T*>(y), lengths.y}, workspace, stream, description);
}

}  // namespace
}  // namespace spmvpack::gpu_loader

using namespace spmvpack::gpu_loader;
using spmvpack::Container;
using spmvpack::memory_source;
using spmvpack::MultiplyDescription;
using spmvpack::Operation;
using spmvpack::OutputFile;
using spmvpack::ValueType;
using spmvpack::host_loader::HostMatrix;

extern "C" {

const char* spmvpack_error_text(void) { return last_error.lost ? no_memory : last_error.text.c_str(); }

spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors) {
  return {sizeof(spmvpack_multiply_description), SPMVPACK_OPERATION_N, vectors, 1, 0, 0, 0, 0};
}

spmvpack_encode_options spmvpack_encode_default(void) {
  return {sizeof(spmvpack_encode_options), "auto", nullptr, 0, 0, 0, 0};
}

spmvpack_status spmvpack_encode(const spmvpack_csr* matrix, const spmvpack_encode_options* options,
                                spmvpack_container** container) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(container, "container");
    *container = nullptr;
    *container = new spmvpack_container{encode(*matrix, request_of(options))};
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

spmvpack_status spmvpack_host_load(const spmvpack_container* container, int threads, spmvpack_host_matrix** matrix) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    *matrix = new spmvpack_host_matrix{HostMatrix::load(container->container, {.threads = threads})};
  });
}

void spmvpack_host_free(spmvpack_host_matrix* matrix) { delete matrix; }

spmvpack_status spmvpack_host_multiply(const spmvpack_host_matrix* matrix, spmvpack_type vectors, const void* alpha,
                                       const void* x, const void* beta, void* y, int threads) {
  return guarded([&] { host_multiply(matrix, Operation::none, vectors, alpha, x, beta, y, threads); });
}

spmvpack_status spmvpack_host_multiply_transposed(const spmvpack_host_matrix* matrix, spmvpack_type vectors,
                                                  const void* alpha, const void* x, const void* beta, void* y,
                                                  int threads) {
  return guarded([&] { host_multiply(matrix, Operation::transpose, vectors, alpha, x, beta, y, threads); });
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
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    *matrix = new spmvpack_matrix{DeviceMatrix::load(container->container, static_cast<Stream>(stream))};
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
    require_pointer(matrix, "matrix");
    require_pointer(bytes, "bytes");
    *bytes = matrix->matrix.workspace_bytes(description_of(description));
  });
}

spmvpack_status spmvpack_multiply(const spmvpack_matrix* matrix, const spmvpack_multiply_description* description,
                                  const void* alpha, const void* x, const void* beta, void* y, void* workspace,
                                  uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    const MultiplyDescription asked = description_of(description);
    require_pointer(alpha, "alpha");
    require_pointer(beta, "beta");
    const std::span<std::byte> room{static_cast<std::byte*>(workspace), workspace_bytes};
    const auto on = static_cast<Stream>(stream);
    if (asked.vectors == ValueType::f64)
      multiply<double>(matrix->matrix, asked, alpha, x, beta, y, room, on);
    else
      multiply<float>(matrix->matrix, asked, alpha, x, beta, y, room, on);
  });
}

}  // extern "C"
