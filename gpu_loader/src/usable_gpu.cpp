// Asked of NVML, which comes with every driver: cuInit() would keep the children of a process that forks later from
// CUDA, and takes long where there are many GPUs.

#include "usable_gpu.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {
namespace {

constexpr int cuda_major = 1000;  // in CUDA's encoding of versions

/// A function of NVML. All return 0 for success.
template <class... Arguments>
struct Function {
  Function(void* library, const char* name) : call(reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))) {}
  bool operator()(Arguments... arguments) const { return call != nullptr && call(arguments...) == 0; }
  int (*call)(Arguments...);
};

std::string_view next_word(std::string_view& text, std::string_view separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + separator.size(), text.size()));
  return word;
}

/// Whether code for the architecture `word`, "9.0" or "9.0a", runs on the GPU without being compiled anew. CMake's
/// words for lists, such as all-major, are not looked into.
bool runs_binary(const FoundGpu& gpu, std::string_view word) {
  int major = 0, minor = 0;
  const char* const end = word.data() + word.size();
  const auto [point, error] = std::from_chars(word.data(), end, major);
  if (error != std::errc{} || point == end || *point != '.') return true;
  const auto [suffix, minor_error] = std::from_chars(point + 1, end, minor);
  if (minor_error != std::errc{} || gpu.compute_major != major) return false;
  return suffix != end && *suffix == 'a' ? gpu.compute_minor == minor : gpu.compute_minor >= minor;
}

}  // namespace

std::optional<FoundDriver> found_driver(const char* library) {
  void* const nvml = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // which stays: other users of it come and go
  if (nvml == nullptr) return {};
  using Device = void*;
  const Function<> init(nvml, "nvmlInit_v2"), shutdown(nvml, "nvmlShutdown");
  const Function<int*> cuda_version(nvml, "nvmlSystemGetCudaDriverVersion_v2");
  const Function<unsigned*> count(nvml, "nvmlDeviceGetCount_v2");
  const Function<unsigned, Device*> device_at(nvml, "nvmlDeviceGetHandleByIndex_v2");
  const Function<Device, int*, int*> capability(nvml, "nvmlDeviceGetCudaComputeCapability");
  const Function<Device, char*, unsigned> uuid(nvml, "nvmlDeviceGetUUID");
  if (!init()) return {};
  std::optional<FoundDriver> found;
  FoundDriver driver;
  unsigned gpus = 0;
  if (cuda_version(&driver.cuda_version) && count(&gpus)) {
    for (unsigned i = 0; i < gpus; ++i) {
      Device device = nullptr;
      FoundGpu gpu;
      std::array<char, 96> name{};  // as long as NVML makes any
      if (!device_at(i, &device) || !capability(device, &gpu.compute_major, &gpu.compute_minor) ||
          !uuid(device, name.data(), static_cast<unsigned>(name.size())))
        continue;  // another's, or lost
      gpu.uuid = name.data();
      driver.gpus.push_back(std::move(gpu));
    }
    found = std::move(driver);
  }
  static_cast<void>(shutdown());
  return found;
}

bool runs_code(const FoundGpu& gpu, int driver, std::string_view built_for, int toolkit) {
  if (driver / cuda_major < toolkit / cuda_major) return false;  // drivers run what any minor version has made
  constexpr std::string_view ptx = " and PTX";
  const bool has_ptx = built_for.ends_with(ptx);
  if (has_ptx) built_for.remove_suffix(ptx.size());
  std::string_view newest;
  for (std::string_view words = built_for; !words.empty();) {
    newest = next_word(words, ", ");
    if (runs_binary(gpu, newest)) return true;
  }
  // PTX of the last one, for GPUs that came later, which the driver must know how to compile.
  FoundGpu first;
  const auto [point, error] = std::from_chars(newest.data(), newest.data() + newest.size(), first.compute_major);
  return has_ptx && error == std::errc{} && gpu.compute_major > first.compute_major && driver >= toolkit;
}

bool any_usable(const FoundDriver& driver, const char* visible, std::string_view built_for, int toolkit) {
  const auto usable = [&](const FoundGpu& gpu) { return runs_code(gpu, driver.cuda_version, built_for, toolkit); };
  const std::vector<FoundGpu>& all = driver.gpus;
  if (visible == nullptr) return std::any_of(all.begin(), all.end(), usable);
  // CUDA reads the list up to the first word that names no GPU. Its numbers may be in another order than NVML's.
  for (std::string_view words = visible; !words.empty();) {
    std::string_view word = next_word(words, ",");
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (word.starts_with("MIG-")) return std::any_of(all.begin(), all.end(), usable);  // a part of one of them
    unsigned number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc{}) {
      if (number >= all.size()) return false;
      if (std::any_of(all.begin(), all.end(), usable)) return true;
      continue;
    }
    const auto named = std::find_if(all.begin(), all.end(), [&](const FoundGpu& gpu) {
      return word.starts_with("GPU-") && std::string_view(gpu.uuid).starts_with(word);
    });
    if (named == all.end()) return false;
    if (usable(*named)) return true;
  }
  return false;
}

bool has_usable_gpu() {
  static const bool found = [] {
    if (!built_with_cuda()) return false;
    const std::optional<FoundDriver> driver = found_driver();
    return driver && any_usable(*driver, std::getenv("CUDA_VISIBLE_DEVICES"), built_for(), SPMVPACK_CUDA_TOOLKIT);
  }();
  return found;
}

}  // namespace spmvpack::gpu_loader
