// From arrays in device memory to a matrix there, and back to a container: the functions of spmvpack.h.

#include <cstdint>

#include "arguments.hpp"
#include "handles.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

using namespace spmvpack::c;
using spmvpack::gpu_encoder::DeviceCsr;
using spmvpack::gpu_encoder::DeviceEncodeRequest;
using spmvpack::gpu_loader::Stream;

namespace spmvpack::c {
namespace {

DeviceCsr device_csr_of(const spmvpack_csr& c) {
  require(c.row_ptr_type == SPMVPACK_I32 || c.row_ptr_type == SPMVPACK_I64, "no such type of indices");
  require(c.col_idx_type == SPMVPACK_I32, "columns in device memory have 32 bits: SPMVPACK_I32");
  constexpr int narrow = 32, wide = 64;
  DeviceCsr a;
  a.rows = c.rows;
  a.cols = c.cols;
  a.nonzeros = c.nonzeros;
  a.row_ptr = c.row_ptr;
  a.row_ptr_bits = c.row_ptr_type == SPMVPACK_I64 ? wide : narrow;
  a.col_idx = c.col_idx;
  a.values = c.values;
  a.value_type = type_of(c.value_type);
  return a;
}

DeviceEncodeRequest device_request_of(const spmvpack_encode_options& c) {
  // Before a tuner looks for what it measures on.
  require(c.tune == SPMVPACK_TUNE_NONE, "tuning is for encoding on the host: tune must be SPMVPACK_TUNE_NONE");
  DeviceEncodeRequest request = DeviceEncodeRequest::of(request_of(c));
  request.memory_limit = c.memory_limit;
  return request;
}

}  // namespace
}  // namespace spmvpack::c

extern "C" {

spmvpack_status spmvpack_encode_on_device(const spmvpack_csr* csr, const spmvpack_encode_options* options, void* stream,
                                          spmvpack_matrix** matrix) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    *matrix = nullptr;
    require_pointer(csr, "csr");
    const DeviceEncodeRequest request = device_request_of(options_of(options));
    *matrix = new spmvpack_matrix{
        spmvpack::gpu_encoder::encode_on_device(device_csr_of(*csr), request, static_cast<Stream>(stream)).matrix};
  });
}

spmvpack_status spmvpack_matrix_get_container(const spmvpack_matrix* matrix, void* stream,
                                              spmvpack_container** container) {
  return guarded([&] {
    require_pointer(matrix, "matrix");
    require_pointer(container, "container");
    *container = nullptr;
    spmvpack::MemorySink sink;
    matrix->matrix.write(sink, static_cast<Stream>(stream));
    *container = new spmvpack_container(container_in(sink));
  });
}

}  // extern "C"
