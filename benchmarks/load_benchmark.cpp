// Loads containers into the current GPU's memory, many times, and tells what each step of that takes beside a pinned
// copy of the same bytes in the same run. The table goes to standard output, all figures to a JSON file.
//
//     load_benchmark REPEATS OUT.json A.spmvc...
//
// Files should be in the page cache: they are, after the first load, where memory holds them.

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/device_memory.hpp"
#include "bench/sample.hpp"
#include "placement.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "upload.hpp"

namespace spmvpack::bench {
namespace {

using gpu_loader::DeviceLoadOptions;
using gpu_loader::DeviceMatrix;

/// A file's bytes while it is opened; afterwards reading leaves memory as it is, in no time.
class Blank final : public ByteSource {
 public:
  explicit Blank(const std::string& path) : file_(open_file(path)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return file_->size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!opened) file_->read(offset, out);
  }
  bool opened = false;

 private:
  std::shared_ptr<const ByteSource> file_;
};

/// Pinned host memory, its bytes set.
std::shared_ptr<void> pinned(std::uint64_t bytes) {
  void* memory = nullptr;
  require_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "pinning memory");
  std::fill_n(static_cast<std::byte*>(memory), bytes, std::byte{1});
  return {memory, [](void* p) { static_cast<void>(cudaFreeHost(p)); }};
}

/// Times f; what it returns goes after the clock has stopped. Driver and GPU clear memory that was given back, for some
/// milliseconds a gigabyte: that must not fall into the next step's time.
double seconds(const std::function<std::any()>& f) {
  constexpr std::chrono::milliseconds pause(60);
  std::this_thread::sleep_for(pause);
  const auto start = std::chrono::steady_clock::now();
  const std::any kept = f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Step {
  const char* name;
  const char* what;
  std::function<std::any()> run;
};

nlohmann::json measure(const std::string& path, int repeats) {
  const Container container = Container::open(path);
  const auto blank = std::make_shared<Blank>(path);
  const Container unread = Container::open(blank, path);
  blank->opened = true;
  const gpu_loader::Placement placement = gpu_loader::place(container.sections());
  const auto all = gpu_loader::transfers(container.sections(), placement, 1);
  std::uint64_t bytes = 0;
  bool inflates = false;
  for (const gpu_loader::Transfer& t : all) {
    bytes += t.bytes;
    inflates = inflates || container.sections()[t.section].codec != format::Codec::none;
  }
  constexpr std::uint64_t pinned_bytes = std::uint64_t{256} << 20U;
  const std::shared_ptr<void> host = pinned(pinned_bytes), device = allocate_device(placement.bytes);
  auto* const memory = static_cast<std::byte*>(device.get());
  DeviceLoadOptions unverified;
  unverified.verify_checksums = false;
  DeviceLoadOptions trusted = unverified;
  trusted.check_structure = false;

  const auto upload_all = [&](const Container& from, const DeviceLoadOptions& options) {
    upload(from, placement, memory, nullptr, options).reset();
    return std::any();
  };
  const auto read_all = [&](bool verify) {
    parallel_for(all.size(), 0, [&](std::uint64_t i) {
      thread_local Array<std::byte> room(format::block_bytes);
      container.read_block(all[i].section, all[i].block, {room.data(), all[i].bytes}, verify);
    });
    return std::any();
  };
  const auto copy_all = [&] {
    for (std::uint64_t at = 0; at < bytes; at += pinned_bytes)
      require_cuda(cudaMemcpyAsync(memory + at, host.get(), std::min(pinned_bytes, bytes - at), cudaMemcpyHostToDevice),
                   "copying");
    require_cuda(cudaStreamSynchronize(nullptr), "copying");
    return std::any();
  };
  std::vector<Step> steps{
      {"pinned copy", "of as many bytes", copy_all},
      {"load", "file to matrix, all checks", [&] { return DeviceMatrix::load(path); }},
      {"load, no checksums", "", [&] { return DeviceMatrix::load(path, nullptr, unverified); }},
      {"load, trusted", "nor a check of the structure", [&] { return DeviceMatrix::load(path, nullptr, trusted); }},
      {"open", "header and tables", [&] { return std::make_shared<Container>(Container::open(path)); }},
      {"allocate", "device memory", [&] { return allocate_device(placement.bytes); }},
      {"upload", "checked, through the ring", [&] { return upload_all(container, {}); }},
      {"upload, no checksums", "", [&] { return upload_all(container, unverified); }},
      {"read", "and check on the host, no copies", [&] { return read_all(true); }},
      {"read, no checksums", "", [&] { return read_all(false); }},
  };
  if (!inflates)
    steps.push_back({"ring", "upload where reading takes no time", [&] { return upload_all(unread, unverified); }});

  std::map<std::string, std::vector<double>> times;
  for (const Step& step : steps) seconds(step.run);
  for (int r = 0; r < repeats; ++r)
    for (const Step& step : steps) times[step.name].push_back(seconds(step.run));

  const std::string file = path.substr(path.rfind('/') + 1);
  fmt::print("{}: {} bytes, {} to the GPU{}\n", file, container.file_bytes(), bytes, inflates ? ", inflated" : "");
  nlohmann::json out{{"file", file}, {"file_bytes", container.file_bytes()}, {"bytes", bytes}, {"inflated", inflates}};
  const double copy = summarise(times["pinned copy"]).median;
  for (const Step& step : steps) {
    const Sample s = summarise(times[step.name]);
    const double rate = static_cast<double>(bytes) / s.median * 1e-9;
    fmt::print("  {:22} {:8.2f} ms ({:.2f} to {:.2f}) {:8.1f} GB/s {:6.1f} % of a pinned copy's  {}\n", step.name,
               s.median * 1e3, s.min * 1e3, s.max * 1e3, rate, copy / s.median * 1e2, step.what);
    out["seconds"][step.name] = {{"median", s.median}, {"min", s.min}, {"max", s.max}};
  }
  return out;
}

}  // namespace
}  // namespace spmvpack::bench

int main(int argc, char** argv) try {
  constexpr int first_file = 3;
  const int repeats = argc > first_file ? std::atoi(argv[1]) : 0;
  if (repeats <= 0) {
    fmt::print(stderr, "usage: load_benchmark REPEATS OUT.json A.spmvc...\n");
    return 2;
  }
  nlohmann::json out{{"gpu", spmvpack::gpu_loader::devices().at(0).name},
                     {"threads", spmvpack::thread_count(0)},
                     {"repeats", repeats}};
  for (int i = first_file; i < argc; ++i) out["files"].push_back(spmvpack::bench::measure(argv[i], repeats));
  std::ofstream(argv[2]) << out.dump(2) << '\n';
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "load_benchmark: {}\n", e.what());
  return 1;
}
