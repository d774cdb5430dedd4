#include "device_facts.hpp"

#include <fmt/format.h>

#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {

std::string_view built_for() noexcept { return SPMVPACK_CUDA_TARGETS; }

std::string device_name(int device, std::string_view otherwise) {
  if (!built_with_cuda())
    throw Error(errc::unsupported, "this spmvpack was built without CUDA", {},
                fmt::format("{}, or build with CUDA", otherwise));
  const std::vector<DeviceInfo> all = devices();
  if (all.empty())
    throw Error(errc::no_device, "no GPU, or no driver for one", {}, fmt::format("{}, or check nvidia-smi", otherwise));
  if (device < 0 || static_cast<std::size_t>(device) >= all.size())
    throw Error(errc::usage, fmt::format("there is no GPU {}", device), {},
                fmt::format("{}, or one of {} GPUs, counted from 0", otherwise, all.size()));
  return all[static_cast<std::size_t>(device)].name;
}

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
