#include "spmvpack/host_loader/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "processor";
}

HostTimer::HostTimer(int threads) : threads_(threads), buffer_(flush_bytes) {}

void HostTimer::flush() {
  constexpr std::uint64_t piece = 1U << 20U;
  ++turn_;
  parallel_pieces(buffer_.size(), piece, threads_, [&](std::uint64_t begin, std::uint64_t end) {
    std::memset(buffer_.data() + begin, turn_, end - begin);
  });
}

double HostTimer::run(const std::function<void()>& work, bool cold) {
  if (cold) flush();
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

MeasureMultiply measure_on_host(int threads) {
  // The buffer is taken when it is needed, of the memory that is counted then, and once for all containers.
  return [threads, timer = std::make_shared<std::unique_ptr<HostTimer>>()](const Container& container, double seconds) {
    LoadOptions options;
    options.threads = threads;
    options.verify_checksums = options.check_structure = false;
    const HostMatrix matrix = HostMatrix::load(container, options);
    if (!*timer) {
      *timer = std::make_unique<HostTimer>(threads);
      (*timer)->flush();  // the first one waits for the system's pages
    }
    return dispatch_any(matrix.facts().value_type, [&]<class T>(T) {
      Array<T> x(matrix.facts().cols), y(matrix.facts().rows);
      std::fill(x.begin(), x.end(), T{1});
      const auto multiply = [&] {
        matrix.multiply<T>(T{1}, {x.data(), x.size()}, T{0}, DenseView<T>(std::span<T>(y.data(), y.size())), threads);
      };
      return time_runs({[&](bool cold) { return (*timer)->run(multiply, cold); }, [] { return now(); }}, seconds);
    });
  };
}

}  // namespace spmvpack::host_loader
