#pragma once
// The functions of libcusparse.so.12 that the benchmark calls.

#include <cusparse.h>
#include <dlfcn.h>

#include <array>
#include <memory>
#include <string>

#include "spmvpack/container/error.hpp"

namespace spmvpack::bench {

class CusparseLibrary {
 public:
  /// Error(errc::unsupported) if it is not found or older than this build's header.
  CusparseLibrary() : handle_(open()) {
    load(get_property, "cusparseGetProperty");
    load(error_string, "cusparseGetErrorString");
    load(create, "cusparseCreate");
    load(destroy, "cusparseDestroy");
    load(set_stream, "cusparseSetStream");
    load(create_vector, "cusparseCreateDnVec");
    load(destroy_vector, "cusparseDestroyDnVec");
    load(create_csr, "cusparseCreateCsr");
    load(create_coo, "cusparseCreateCoo");
    load(create_sell, "cusparseCreateSlicedEll");
    load(create_bsr, "cusparseCreateBsr");
    load(destroy_matrix, "cusparseDestroySpMat");
    load(buffer_size, "cusparseSpMV_bufferSize");
    load(preprocess, "cusparseSpMV_preprocess");
    load(multiply, "cusparseSpMV");
    if (property(MAJOR_VERSION) * 1000 + property(MINOR_VERSION) * 100 < 12600)
      throw Error(errc::unsupported, "cuSPARSE " + version() + " is too old", name, "install that of CUDA 13");
  }

  [[nodiscard]] std::string version() const {
    return std::to_string(property(MAJOR_VERSION)) + '.' + std::to_string(property(MINOR_VERSION)) + '.' +
           std::to_string(property(PATCH_LEVEL));
  }
  /// Throws unless `status` is success: errc::out_of_memory, else errc::unsupported.
  void require(cusparseStatus_t status, const char* doing) const {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    const errc code = status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
                          ? errc::out_of_memory
                          : errc::unsupported;
    throw Error(code, std::string("cuSPARSE, ") + doing + ": " + error_string(status));
  }

  decltype(&cusparseGetProperty) get_property = nullptr;
  decltype(&cusparseGetErrorString) error_string = nullptr;
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateCoo) create_coo = nullptr;
  decltype(&cusparseCreateSlicedEll) create_sell = nullptr;
  decltype(&cusparseCreateBsr) create_bsr = nullptr;
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMV) multiply = nullptr;

 private:
  static constexpr const char* name = "libcusparse.so.12";

  static void* open() {
    // Where the loader finds it, or where CUDA's installer puts it.
    for (const char* path : {name, "/usr/local/cuda/lib64/libcusparse.so.12"})
      if (void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
    throw Error(errc::unsupported, std::string("cuSPARSE cannot be loaded: ") + dlerror(), name,
                "install CUDA's libraries, set LD_LIBRARY_PATH, or use --peers none");
  }
  template <class Function>
  void load(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
    if (function == nullptr)
      throw Error(errc::unsupported, std::string("cuSPARSE has no ") + symbol, name, "install that of CUDA 13");
  }
  [[nodiscard]] int property(libraryPropertyType type) const {
    int value = 0;
    require(get_property(type, &value), "asking for its version");
    return value;
  }

  void* handle_;  // never closed: CUDA libraries do not support it
};

}  // namespace spmvpack::bench
