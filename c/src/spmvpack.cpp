// Implements spmvpack.h with the encoder and the loaders; every exception becomes a status and a text.

#include "spmvpack/spmvpack.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "arguments.hpp"
#include "handles.hpp"
#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "status.hpp"

namespace spmvpack::c {
namespace {

/// The container of a matrix in the caller's arrays, with its figures.
spmvpack_container encode(const spmvpack_csr& c, const spmvpack_encode_options& options) {
  const encoder::EncodeRequest request = request_of(options);
  const MemoryScope memory(options.memory_limit, "encoding");
  if (c.nonzeros != 0) require_pointer(c.values, "values");
  const SparseArrays arrays(c, c.values, request.threads);
  const CsrView& view = arrays.view;
  MemorySink sink(options.memory_limit);
  const encoder::EncodeResult result =
      view.columns_increase(request.threads)
          ? encoder::encode(view, request, sink)
          : encoder::encode(assemble(view, request.threads, options.memory_limit), request, sink);
  spmvpack_container container = container_in(sink);
  container.payback = payback_of(result);
  return container;
}

/// Unpacks the container to the caller's arrays, once they are known to be for its matrix.
void decode(const Container& container, const LoadOptions& options, const spmvpack_csr_arrays& to) {
  const MatrixFacts& facts = container.facts();
  require_arrays(to, facts.rows, facts.cols, facts.nnz);
  if (type_of(to.value_type) != facts.value_type)
    throw Error(errc::usage, std::string("the container's values are ") + std::string(to_string(facts.value_type)), {},
                "take value_type from spmvpack_get_container_info()");
  if (facts.nnz != 0) require_pointer(to.values, "values");
  const CsrMatrix matrix = unpack(container, options);
  copy_pattern(matrix.row_ptr, matrix.col_idx, to);
  if (facts.nnz == 0) return;
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

void host_multiply(const spmvpack_host_matrix* matrix, const spmvpack_multiply_description& c, const void* alpha,
                   const void* x, const void* beta, void* y, int threads) {
  require_pointer(matrix, "matrix");
  require_pointer(alpha, "alpha");
  require_pointer(beta, "beta");
  dispatch_any(type_of(c.vectors), [&]<class V>(V) {
    using T = real_of<V>;
    const auto scalar = [&](const void* at) {
      return c.complex_scalars != 0 ? *static_cast<const V*>(at) : V{*static_cast<const T*>(at)};
    };
    const Views<V> views(matrix->matrix.facts(), c, x, y);
    if (views.x.rows != 0 && views.x.cols != 0) require_pointer(x, "x");
    if (views.y.rows != 0 && views.y.cols != 0) require_pointer(y, "y");
    matrix->matrix.multiply<V>(scalar(alpha), views.x, scalar(beta), views.y, threads, description_of(c, views),
                               scaling_of<T>(c, matrix->matrix.facts()));
  });
}

template <class V>
void multiply(const gpu_loader::DeviceMatrix& matrix, const spmvpack_multiply_description& c, const void* alpha,
              const void* x, const void* beta, void* y, std::span<std::byte> workspace, gpu_loader::Stream stream) {
  using T = real_of<V>;
  if (c.complex_scalars != 0)
    throw Error(errc::unsupported, "a GPU takes real alpha and beta alone", {}, "leave complex_scalars at 0");
  const auto scalar = [&](const void* at) {
    const auto* const place = static_cast<const T*>(at);
    return c.scalars_on_device != 0 ? gpu_loader::Scalar<T>::on_device(place) : gpu_loader::Scalar<T>(*place);
  };
  const Views<V> views(matrix.facts(), c, x, y);
  matrix.multiply<V>(scalar(alpha), views.x, scalar(beta), views.y, workspace, stream, description_of(c, views),
                     scaling_of<T>(c, matrix.facts()));
}

}  // namespace
}  // namespace spmvpack::c

using namespace spmvpack::c;
using spmvpack::Container;
using spmvpack::LoadOptions;
using spmvpack::memory_source;
using spmvpack::OutputFile;
using spmvpack::gpu_loader::DeviceMatrix;
using spmvpack::gpu_loader::Stream;
using spmvpack::host_loader::HostMatrix;

extern "C" {

const char* spmvpack_error_text(void) { return last_error_text(); }

const char* spmvpack_version(void) { return SPMVPACK_VERSION; }

spmvpack_status spmvpack_multiply_description_init(spmvpack_multiply_description* description, size_t size,
                                                   spmvpack_type vectors) {
  return guarded([&] { initialize(description, size, vectors); });
}

spmvpack_status spmvpack_encode_options_init(spmvpack_encode_options* options, size_t size) {
  return guarded([&] { initialize(options, size); });
}

spmvpack_status spmvpack_load_options_init(spmvpack_load_options* options, size_t size) {
  return guarded([&] { initialize(options, size); });
}

spmvpack_status spmvpack_payback_init(spmvpack_payback* payback, size_t size) {
  return guarded([&] { initialize(payback, size); });
}

spmvpack_status spmvpack_encode(const spmvpack_csr* matrix, const spmvpack_encode_options* options,
                                spmvpack_container** container) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(container, "container");
    *container = nullptr;
    *container = new spmvpack_container(encode(*matrix, options_of(options)));
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

spmvpack_status spmvpack_get_payback(const spmvpack_container* container, spmvpack_payback* payback) {
  return guarded([&] {
    require_pointer(container, "container");
    require_pointer(payback, "payback");
    give(container->payback, payback);
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
    *kernel = spmvpack::gpu_loader::find_kernel(name).value;
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
    *matrix = new spmvpack_matrix{
        DeviceMatrix::load(container->container, static_cast<Stream>(stream), device_options_of(options))};
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
    dispatch_any(type_of(asked.vectors), [&]<class V>(V) {
      *bytes = matrix->matrix.workspace_bytes(
          description_of(asked, Views<V>(matrix->matrix.facts(), asked, nullptr, nullptr)));
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
    dispatch_any(type_of(asked.vectors),
                 [&]<class V>(V) { multiply<V>(matrix->matrix, asked, alpha, x, beta, y, room, on); });
  });
}

}  // extern "C"
