#pragma once
// The functions of libcusparse.so.12 that the benchmark calls.

#include <cusparse.h>
#include <dlfcn.h>

#include <array>
#include <memory>
#include <string>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::bench {

/// cusparseSpMVOp, z = alpha A x + beta y with an epilogue to choose. 12.9.4 has it, and calls it an experiment in its
/// header; 12.6.3, whose header a build may have, has not: hence declared here.
struct SpmvOpFunctions {
  struct Description;
  struct Plan;
  enum Algorithm : int { alg1 = 1, alg2 = 2 };

  cusparseStatus_t (*buffer_size)(cusparseHandle_t, cusparseOperation_t, cusparseConstSpMatDescr_t a,
                                  cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cusparseDnVecDescr_t z,
                                  cudaDataType compute, Algorithm, std::size_t* bytes) = nullptr;
  cusparseStatus_t (*describe)(cusparseHandle_t, Description**, cusparseOperation_t, cusparseConstSpMatDescr_t a,
                               cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cusparseDnVecDescr_t z,
                               cudaDataType compute, Algorithm, void* buffer) = nullptr;
  cusparseStatus_t (*destroy_description)(Description*) = nullptr;
  cusparseStatus_t (*plan)(cusparseHandle_t, Description*, Plan**, const void* code, std::size_t code_bytes) = nullptr;
  cusparseStatus_t (*destroy_plan)(Plan*) = nullptr;
  cusparseStatus_t (*multiply)(cusparseHandle_t, Plan*, const void* alpha, const void* beta,
                               cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y,
                               cusparseDnVecDescr_t z) = nullptr;
};

/// cusparseSpMM, Y = alpha A X + beta Y with dense X and Y.
struct SpmmFunctions {
  decltype(&cusparseCreateDnMat) create_columns = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_columns = nullptr;
  decltype(&cusparseSpMM_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMM_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMM) multiply = nullptr;
};

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
    load(set_values, "cusparseDnVecSetValues");
    load(create_csr, "cusparseCreateCsr");
    load(create_coo, "cusparseCreateCoo");
    load(create_sell, "cusparseCreateSlicedEll");
    load(create_bsr, "cusparseCreateBsr");
    load(destroy_matrix, "cusparseDestroySpMat");
    load(buffer_size, "cusparseSpMV_bufferSize");
    load(preprocess, "cusparseSpMV_preprocess");
    load(multiply, "cusparseSpMV");
    find(op.buffer_size, "cusparseSpMVOp_bufferSize");
    find(op.describe, "cusparseSpMVOp_createDescr");
    find(op.destroy_description, "cusparseSpMVOp_destroyDescr");
    find(op.plan, "cusparseSpMVOp_createPlan");
    find(op.destroy_plan, "cusparseSpMVOp_destroyPlan");
    find(op.multiply, "cusparseSpMVOp");
    find(spmm.create_columns, "cusparseCreateDnMat");
    find(spmm.destroy_columns, "cusparseDestroyDnMat");
    find(spmm.buffer_size, "cusparseSpMM_bufferSize");
    find(spmm.preprocess, "cusparseSpMM_preprocess");
    find(spmm.multiply, "cusparseSpMM");
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
  decltype(&cusparseDnVecSetValues) set_values = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseCreateCoo) create_coo = nullptr;
  decltype(&cusparseCreateSlicedEll) create_sell = nullptr;
  decltype(&cusparseCreateBsr) create_bsr = nullptr;
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMV) multiply = nullptr;
  SpmvOpFunctions op;
  SpmmFunctions spmm;

  [[nodiscard]] bool has_op() const {
    return op.buffer_size != nullptr && op.describe != nullptr && op.destroy_description != nullptr &&
           op.plan != nullptr && op.destroy_plan != nullptr && op.multiply != nullptr;
  }
  [[nodiscard]] bool has_spmm() const {
    return spmm.create_columns != nullptr && spmm.destroy_columns != nullptr && spmm.buffer_size != nullptr &&
           spmm.preprocess != nullptr && spmm.multiply != nullptr;
  }

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
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(handle_, symbol));
  }
  template <class Function>
  void load(Function& function, const char* symbol) {
    find(function, symbol);
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
