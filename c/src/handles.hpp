#pragma once
// What the caller's pointers point to.

#include <cstdint>

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/container/matrix/assembly.hpp"
#include "spmvpack/gpu_loader/device_assembly.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/spmvpack.h"

struct spmvpack_container {
  spmvpack::Container container;
  spmvpack_payback payback = spmvpack_payback_default();
};

namespace spmvpack::c {

/// Of what has been written to memory.
inline spmvpack_container container_in(MemorySink& sink) {
  return {Container::open(memory_source(sink.take()), "memory")};
}

}  // namespace spmvpack::c

struct spmvpack_host_matrix {
  spmvpack::host_loader::HostMatrix matrix;
  std::uint64_t device_bytes;
};

struct spmvpack_matrix {
  spmvpack::gpu_loader::DeviceMatrix matrix;
};

struct spmvpack_device_assembly {
  spmvpack::gpu_loader::DeviceAssembly map;
};

struct spmvpack_assembly {
  spmvpack::AssemblyMap map;
};
