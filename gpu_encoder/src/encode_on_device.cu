#include <memory>
#include <utility>

#include "encode.hpp"
#include "execution/on_device.cuh"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_encoder {
namespace {

void refuse_capture(gpu_loader::Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  require_cuda(cudaStreamIsCapturing(stream, &status), "asking whether the stream is in capture");
  if (status != cudaStreamCaptureStatusNone)
    throw Error(errc::usage, "the stream is in capture, and encoding waits for what it finds", {},
                "encode before the capture begins");
}

/// cudaMalloc for what is kept; for scratch memory, CUDA's pool in the order of the stream, where the device has one.
MemorySource usual_source(gpu_loader::Stream stream) {
  int device = 0, has_pools = 0;
  require_cuda(cudaGetDevice(&device), "querying the current device");
  require_cuda(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device),
               "reading a GPU's properties");
  const gpu_loader::DeviceAllocator kept{[](std::uint64_t bytes) {
                                           void* memory = nullptr;
                                           require_cuda(cudaMalloc(&memory, bytes), "allocating device memory");
                                           return memory;
                                         },
                                         [](void* memory) { cudaFree(memory); }};
  if (has_pools == 0) return {kept, kept};
  return {{[stream](std::uint64_t bytes) {
             void* memory = nullptr;
             require_cuda(cudaMallocAsync(&memory, bytes, stream), "allocating device memory");
             return memory;
           },
           [stream](void* memory) { cudaFreeAsync(memory, stream); }},
          kept};
}

MemorySource source_of(const DeviceEncodeRequest& request, gpu_loader::Stream stream) {
  if (!request.allocator.allocate) return usual_source(stream);
  return {request.allocator, request.allocator, [stream] { cudaStreamSynchronize(stream); }};
}

struct Made {
  EncodedMatrix matrix;
  std::uint64_t peak_bytes = 0, section_bytes = 0;
};
/// All passes have run when it returns, and scratch memory is given back.
Made make(const DeviceCsr& matrix, const DeviceEncodeRequest& request, gpu_loader::Stream stream) {
  Memory memory(source_of(request, stream), request.memory_limit);
  Made made{encode_sections(OnDevice(memory, stream), matrix, request)};
  require_cuda(cudaStreamSynchronize(stream), "encoding on the device");
  made.peak_bytes = memory.peak();
  for (const EncodedPart& part : made.matrix.parts)
    for (const EncodedSection& section : part.sections) made.section_bytes += section.bytes;
  return made;
}

}  // namespace

DeviceEncoded encode_on_device(const DeviceCsr& matrix, const DeviceEncodeRequest& request, gpu_loader::Stream stream) {
  check_request(request);
  refuse_capture(stream);
  gpu_loader::require_device_code();
  const Made made = make(matrix, request, stream);
  gpu_loader::DeviceContents contents;
  contents.facts = made.matrix.facts;
  auto owner = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (std::uint32_t i = 0; i < made.matrix.parts.size(); ++i) {
    contents.parts.push_back(made.matrix.parts[i].info);
    for (const EncodedSection& section : made.matrix.parts[i].sections) {
      owner->push_back(section.memory);
      contents.sections.push_back(
          {i, std::string(section.name), {static_cast<const std::byte*>(section.memory.get()), section.bytes}});
    }
  }
  contents.owner = std::move(owner);
  gpu_loader::DeviceLoadOptions options;
  options.check_structure = false;  // passes of this library have made it
  options.memory_limit = request.memory_limit;
  options.cache_share = request.cache_share;
  options.updatable = request.updatable;
  options.allocator = request.allocator;
  options.kernels = request.kernels;
  return {gpu_loader::DeviceMatrix::of_sections(std::move(contents), stream, options), made.peak_bytes,
          made.section_bytes, made.matrix.choices};
}

}  // namespace spmvpack::gpu_encoder
