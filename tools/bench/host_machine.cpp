#include <omp.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "bench/machine.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"
#include "spmvpack/host_loader/timing.hpp"

namespace spmvpack::bench {
namespace {

/// The level and the bytes of the processor's last cache, as Linux describes it; 0 if it does not.
std::pair<int, std::uint64_t> last_cache() {
  std::pair<int, std::uint64_t> last{0, 0};
  for (int i = 0;; ++i) {
    const std::string directory = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    std::ifstream level_file(directory + "/level"), size_file(directory + "/size");
    int level = 0;
    std::uint64_t kibibytes = 0;
    char unit = 0;
    if (!(level_file >> level) || !(size_file >> kibibytes >> unit)) return last;
    if (unit == 'K' && level > last.first) last = {level, kibibytes << 10U};
  }
}

class HostMachine final : public Machine {
 public:
  explicit HostMachine(const LoadOptions& options) : options_(options), timer_(options.threads) {
    facts_ = {
        "host",
        host_loader::processor_name(),
        {{"threads", std::to_string(thread_count(options.threads))}, {"instructions", std::string(instruction_set())}}};
    if (const auto [level, bytes] = last_cache(); bytes != 0) {
      facts_.cache = "L" + std::to_string(level);
      facts_.cache_bytes = bytes;
    }
  }

  [[nodiscard]] const MachineFacts& facts() const override { return facts_; }

  Speeds measure_speeds(int runs, bool /*link*/) override {
    const std::uint64_t half = flush_bytes / 2;
    std::byte* const buffer = timer_.buffer().data();
    timer_.flush();
    Speeds speeds;
    speeds.copy_bytes = 2 * half;
    // The halves are larger than caches are; a flush before each run would be of the same bytes.
    speeds.copy = summarise(time_of(
        [&] {
          parallel_pieces(half, piece, options_.threads, [&](std::uint64_t begin, std::uint64_t end) {
            std::memcpy(buffer + half + begin, buffer + begin, end - begin);
          });
        },
        runs, false));
    return speeds;
  }

  void set_vectors(ValueType type, std::span<const std::byte> x, std::uint64_t rows, std::uint64_t columns) override {
    type_ = type;
    columns_ = columns;
    x_ = Array<std::byte>(x.size());
    if (!x.empty()) std::memcpy(x_.data(), x.data(), x.size());
    y_ = Array<std::byte>(rows * columns * size_of(type));
  }

  std::vector<Candidate> load(const Container& container, const std::string& layout) override {
    auto matrix = std::make_shared<host_loader::HostMatrix>(host_loader::HostMatrix::load(container, options_));
    Candidate candidate{"spmvpack", layout, "default", true, container.device_bytes(), 0, {}};
    candidate.run = [this, matrix] {
      dispatch(type_, [&]<class T>(T) {
        matrix->multiply<T>(T{1}, row_major(reinterpret_cast<const T*>(x_.data()), x_.size() / sizeof(T), columns_),
                            T{0}, row_major(reinterpret_cast<T*>(y_.data()), y_.size() / sizeof(T), columns_),
                            options_.threads);
      });
    };
    return {candidate};
  }

  std::vector<Peer> peers(const CsrView& /*a*/) override { return {}; }

  Array<std::byte> multiply(const Candidate& candidate) override {
    for (std::byte& b : y_) b = std::byte{0xFF};
    candidate.run();
    return y_.clone();
  }

  std::vector<double> time(const Candidate& candidate, int runs, bool cold) override {
    return time_of(candidate.run, runs, cold);
  }

  HostVectorRuns time_with_copies(const Candidate& /*candidate*/, int /*runs*/) override {
    throw Error(errc::unsupported, "vectors of a multiply on the host are on the host", {}, "time it as it is");
  }

 private:
  static constexpr std::uint64_t piece = 1U << 20U;

  std::vector<double> time_of(const std::function<void()>& run, int runs, bool cold) {
    for (int i = 0; i < warm_up_runs; ++i) run();
    std::vector<double> seconds(static_cast<std::size_t>(runs));
    for (double& s : seconds) s = timer_.run(run, cold);
    return seconds;
  }

  LoadOptions options_;
  MachineFacts facts_;
  host_loader::HostTimer timer_;
  Array<std::byte> x_, y_;
  ValueType type_ = ValueType::f64;
  std::uint64_t columns_ = 1;
};

}  // namespace

std::unique_ptr<Machine> make_host_machine(const LoadOptions& options) {
  return std::make_unique<HostMachine>(options);
}

}  // namespace spmvpack::bench
