#include "device_facts.hpp"

#include <fmt/format.h>

#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {

std::string_view built_for() noexcept { return SPMVPACK_CUDA_TARGETS; }

Error no_code_error(std::string_view device, int compute_major, int compute_minor, std::string_view built_for,
                    std::string_view cuda) {
  constexpr int oldest_major = 8;
  return {errc::no_device,
          fmt::format("{} has compute capability {}.{}, and this build has code for {} ({})", device, compute_major,
                      compute_minor, built_for, cuda),
          {},
          compute_major < oldest_major
              ? "use a GPU of compute capability 8.0 or newer"
              : fmt::format("build spmvpack on this machine, or with -DCMAKE_CUDA_ARCHITECTURES={}{}", compute_major,
                            compute_minor)};
}

}  // namespace spmvpack::gpu_loader
