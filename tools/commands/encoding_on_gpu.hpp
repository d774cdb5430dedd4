#pragma once
/// `encode --device gpu`: the matrix is read and the container written by the host, and encoded by a GPU between.

#include <memory>

#include "commands/command.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::tools {

/// --device, which only --help describes.
void add_device_option(boost::program_options::options_description& options);
/// Whether a GPU is to encode. Errors: errc::usage (options that do not go with it); errc::unsupported (a layout that
/// only the host plans, or a build without CUDA); errc::no_device.
bool read_device(const Invocation& invocation, const encoder::EncodeRequest& request);
/// Encodes on the first GPU, and writes the container that encoder::encode() writes for a layout and settings that the
/// GPU has. The result's plans have no counters. Errors: those of gpu_encoder::encode_on_device(), write_container().
encoder::EncodeResult encode_on_gpu(const SourceMatrix& source, const encoder::EncodeRequest& request,
                                    const std::string& output);

/// A copy of a matrix in the memory of the current GPU. Error(errc::out_of_memory); errc::unsupported without CUDA.
class CsrOnGpu {
 public:
  explicit CsrOnGpu(const CsrMatrix& a);
  [[nodiscard]] const gpu_encoder::DeviceCsr& csr() const noexcept { return csr_; }

 private:
  std::shared_ptr<void> row_ptr_, col_idx_, values_;
  gpu_encoder::DeviceCsr csr_;
};

}  // namespace spmvpack::tools
