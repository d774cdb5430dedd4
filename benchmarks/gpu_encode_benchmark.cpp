// Times encoding on a GPU, from a CSR in device memory to a matrix that multiplies, in multiplies of the best format of
// cuSPARSE, which `spmvpack bench` has measured in the same run. A table goes to standard output, all figures to a JSON
// file. Memory comes from a pool that has what the runs before have given back.
//
//     spmvpack bench --suite --layout csr --kernels default --json > peers.json
//     gpu_encode_benchmark RUNS peers.json OUT.json STRATEGY[,NAME=VALUE...]... -- MEMBER...       of the suite; none:
//     all
//
// After the name of a strategy, " A^T" asks for the transpose, too.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "bench/device_memory.hpp"
#include "bench/sample.hpp"
#include "bench/scratch.hpp"
#include "bench/suite.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::bench {
namespace {

using gpu_loader::DeviceMatrix;

/// Device memory that is kept for the next who asks for as much.
class Pool {
 public:
  [[nodiscard]] gpu_loader::DeviceAllocator allocator() {
    return {[this](std::uint64_t bytes) { return take(bytes); }, [this](void* memory) { give_back(memory); }};
  }
  ~Pool() { drop(); }
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  void drop() {
    for (const auto& [bytes, memory] : free_) cudaFree(memory);
    free_.clear();
  }

 private:
  void* take(std::uint64_t bytes) {
    void* memory = nullptr;
    if (const auto found = free_.find(bytes); found != free_.end()) {
      memory = found->second;
      free_.erase(found);
    } else {
      require_cuda(cudaMalloc(&memory, bytes), "allocating device memory");
    }
    sizes_[memory] = bytes;
    return memory;
  }
  void give_back(void* memory) { free_.emplace(sizes_.at(memory), memory); }

  std::multimap<std::uint64_t, void*> free_;
  std::map<void*, std::uint64_t> sizes_;
};

struct Asked {
  std::string name, strategy;
  std::map<std::string, std::string> settings;
  bool transpose = false;

  explicit Asked(const std::string& text) : name(text) {
    std::string rest = text;
    constexpr std::string_view with_transpose = " A^T";
    if (rest.ends_with(with_transpose)) {
      transpose = true;
      rest.resize(rest.size() - with_transpose.size());
    }
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t comma = rest.find(',', at);
      const std::string word = rest.substr(at, comma == std::string::npos ? comma : comma - at);
      if (strategy.empty())
        strategy = word;
      else
        settings[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
      at = comma == std::string::npos ? comma : comma + 1;
    }
  }
};

double micro_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::json measure(const SourceMatrix& source, const nlohmann::json& peer, const std::vector<Asked>& asked,
                       int runs, gpu_loader::DeviceTimer& timer, Pool& pool) {
  const CsrView a = source.matrix.view();
  const double peer_us = peer.at("best_peer_us");
  const std::shared_ptr<void> row_ptr = upload(source.matrix.row_ptr), col_idx = upload(source.matrix.col_idx),
                              values = upload(std::get<Array<double>>(source.matrix.values)),
                              x = upload(Array<double>(a.cols(), 1.0)), y = allocate_device(a.rows() * sizeof(double));
  const gpu_encoder::DeviceCsr csr(a.rows(), a.cols(), a.nnz(), static_cast<const std::uint64_t*>(row_ptr.get()),
                                   static_cast<const std::uint32_t*>(col_idx.get()),
                                   static_cast<const double*>(values.get()));
  const auto median = [&](const std::function<double()>& time) {
    time();
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(runs));
    for (int i = 0; i < runs; ++i) times.push_back(time());
    return summarise(times).median;
  };
  const std::uint64_t csr_bytes = (a.rows() + 1) * 8 + a.nnz() * 12;
  fmt::print("{} ({}): {} rows, {} nonzeros; best of cuSPARSE: {} {:.1f} us\n", std::string(peer.at("name")),
             std::string(peer.at("group")), a.rows(), a.nnz(), std::string(peer.at("best_peer")), peer_us);
  nlohmann::json all{{"rows", a.rows()}, {"nonzeros", a.nnz()}};
  all.update(peer);
  for (const Asked& form : asked) try {
      gpu_encoder::DeviceEncodeRequest request;
      request.strategy = form.strategy;
      request.settings = form.settings;
      request.transpose = form.transpose;
      request.allocator = pool.allocator();
      std::optional<gpu_encoder::DeviceEncoded> encoded;
      const double encode_us = median([&] {
        encoded.reset();
        cudaDeviceSynchronize();
        const auto start = std::chrono::steady_clock::now();
        encoded = gpu_encoder::encode_on_device(csr, request, timer.stream());
        return micro_since(start);
      });
      const DeviceMatrix& matrix = encoded->matrix;
      const gpu_loader::DeviceMultiplier multiplier(matrix);
      const std::function<void()> multiply = [&] {
        multiplier.multiply<double>(1.0, {static_cast<const double*>(x.get()), a.cols()}, 0.0,
                                    DenseView<double>(static_cast<double*>(y.get()), a.rows()), timer.stream());
      };
      const double multiply_us = median([&] { return timer.run(multiply, true) * 1e6; });
      encoder::EncodeRequest on_host;
      on_host.strategy = form.strategy;
      on_host.settings = form.settings;
      on_host.transpose = form.transpose;
      const auto start = std::chrono::steady_clock::now();
      const Container container = encode_to_scratch(source, on_host);
      const double host_us = micro_since(start);
      std::string layouts;
      for (const PartInfo& part : matrix.parts())
        if (part.role == format::Role::a) layouts += (layouts.empty() ? "" : "+") + part.layout;
      const double gain = peer_us - multiply_us;
      fmt::print(
          "  {:14} {:8} encode {:8.0f} us = {:6.1f} multiplies, multiply {:7.1f} us, pays after {}; peak {:.2f} "
          "of CSR; host {:.0f} us{}\n",
          form.name, layouts, encode_us, encode_us / peer_us, multiply_us,
          gain > 0 ? fmt::format("{:.0f}", encode_us / gain) : "never",
          static_cast<double>(encoded->peak_bytes) / static_cast<double>(csr_bytes), host_us,
          matrix.device_bytes() == container.device_bytes() ? "" : ", which finds another form");
      // Of `auto`, layouts that only the host has and whose bound is below what was taken.
      std::map<std::string, double> may_be_faster;
      for (const gpu_encoder::DeviceChoice& choice : encoded->choices)
        for (const gpu_encoder::LeftOut& left : choice.left_out)
          if (choice.role == format::Role::a && left.least_seconds && *left.least_seconds < choice.seconds)
            may_be_faster[left.strategy] = *left.least_seconds * 1e6;
      for (const auto& [strategy, least_us] : may_be_faster)
        fmt::print("  {:14} left out: {}, at least {:.1f} us of {:.1f} predicted\n", "", strategy, least_us,
                   *encoded->choices[0].seconds * 1e6);
      all["forms"].push_back({{"form", form.name},
                              {"layout", layouts},
                              {"encode_us", encode_us},
                              {"multiply_us", multiply_us},
                              {"pays_after", gain > 0 ? nlohmann::json(encode_us / gain) : nlohmann::json()},
                              {"may_be_faster_us", may_be_faster},
                              {"host_encode_us", host_us},
                              {"device_bytes", matrix.device_bytes()},
                              {"host_device_bytes", container.device_bytes()},
                              {"peak_bytes", encoded->peak_bytes},
                              {"section_bytes", encoded->section_bytes}});
    } catch (const Error& e) {
      if (e.code() != errc::unsupported) throw;
      fmt::print("  {:14} {}\n", form.name, e.what());
      all["forms"].push_back({{"form", form.name}, {"skipped", e.what()}});
    }
  pool.drop();
  return all;
}

/// What bench says of the best peer of each matrix.
std::vector<nlohmann::json> peers_in(const std::string& path) {
  std::vector<nlohmann::json> all;
  const nlohmann::json benched = nlohmann::json::parse(std::ifstream(path));
  for (const nlohmann::json& m : benched.at("matrices")) {
    nlohmann::json best;
    for (const nlohmann::json& r : m.at("results"))
      if (r.at("by") != "spmvpack" && r.contains("cold") && r.at("cold").is_object() &&
          (best.is_null() || r.at("cold").at("median") < best.at("cold").at("median")))
        best = r;
    if (best.is_null()) continue;
    all.push_back({{"name", m.at("name")},
                   {"group", m.at("group")},
                   {"best_peer", best.at("layout")},
                   {"best_peer_us", best.at("cold").at("median")}});
  }
  return all;
}

int run(std::span<char* const> words) {
  constexpr std::size_t first_strategy = 4;
  const int runs = words.size() > first_strategy ? std::atoi(words[1]) : 0;
  if (runs <= 0) {
    fmt::print(stderr, "usage: gpu_encode_benchmark RUNS PEERS.json OUT.json STRATEGY... [-- MEMBER...]\n");
    return 2;
  }
  std::vector<Asked> asked;
  std::size_t i = first_strategy;
  for (; i < words.size() && std::string_view(words[i]) != "--"; ++i) asked.emplace_back(words[i]);
  const std::span<char* const> members = words.subspan(std::min(i + 1, words.size()));
  gpu_loader::DeviceTimer timer;
  Pool pool;
  nlohmann::json out{{"gpu", gpu_loader::devices().at(0).name}, {"runs", runs}};
  for (const nlohmann::json& peer : peers_in(words[2])) {
    const std::string name = peer.at("name");
    if (!members.empty() && std::find(members.begin(), members.end(), name) == members.end()) continue;
    out["matrices"].push_back(measure(make_member(find_member(suite(), name)), peer, asked, runs, timer, pool));
  }
  std::ofstream(words[3]) << out.dump(1) << '\n';
  return 0;
}

}  // namespace
}  // namespace spmvpack::bench

int main(int argc, char** argv) try {
  return spmvpack::bench::run({argv, static_cast<std::size_t>(argc)});
} catch (const std::exception& e) {
  fmt::print(stderr, "gpu_encode_benchmark: {}\n", e.what());
  return 1;
}
