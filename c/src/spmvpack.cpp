// Implements spmvpack.h with DeviceMatrix; every exception becomes a status and a text.

#include "spmvpack/spmvpack.h"

#include <exception>
#include <new>
#include <string>

#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"

struct spmvpack_matrix {
  spmvpack::gpu_loader::DeviceMatrix matrix;
};

namespace spmvpack::gpu_loader {
namespace {

static_assert(SPMVPACK_IO == static_cast<int>(errc::io) && SPMVPACK_USAGE == static_cast<int>(errc::usage) &&
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

/// Converts the description to C++, which checks its contents.
MultiplyDescription description_of(const spmvpack_multiply_description* c) {
  require_pointer(c, "description");
  require(c->size == sizeof *c,
          "the description is of another size than this version's; start from spmvpack_multiply_default()");
  require(c->vectors == SPMVPACK_F32 || c->vectors == SPMVPACK_F64, "no such type of vectors");
  return {.operation = static_cast<Operation>(c->operation),
          .vectors = c->vectors == SPMVPACK_F64 ? ValueType::f64 : ValueType::f32,
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
  matrix.multiply<T>(scalar(alpha), {static_cast<const T*>(x), matrix.facts().cols}, scalar(beta),
                     {static_cast<T*>(y), matrix.facts().rows}, workspace, stream, description);
}

}  // namespace
}  // namespace spmvpack::gpu_loader

using namespace spmvpack::gpu_loader;
using spmvpack::MultiplyDescription;
using spmvpack::ValueType;

extern "C" {

const char* spmvpack_error_text(void) { return last_error.lost ? no_memory : last_error.text.c_str(); }

spmvpack_multiply_description spmvpack_multiply_default(spmvpack_type vectors) {
  return {sizeof(spmvpack_multiply_description), SPMVPACK_OPERATION_N, vectors, 1, 0, 0, 0, 0};
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

void spmvpack_free(spmvpack_matrix* matrix) { delete matrix; }

spmvpack_status spmvpack_get_info(const spmvpack_matrix* matrix, spmvpack_info* info) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(info, "info");
    const spmvpack::MatrixFacts& facts = matrix->matrix.facts();
    *info = {facts.rows, facts.cols, facts.nnz, matrix->matrix.device_bytes(),
             facts.value_type == spmvpack::ValueType::f64 ? SPMVPACK_F64 : SPMVPACK_F32};
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
