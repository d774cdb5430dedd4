#include "bench/measure.hpp"

#include <algorithm>
#include <cstring>

#include "bench/reference.hpp"
#include "bench/scratch.hpp"
#include "bench/sectors.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::bench {
namespace {

bool same_bytes(const Array<std::byte>& a, const Array<std::byte>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

template <class T>
class Measurement {
 public:
  Measurement(MatrixResult& result, Machine& machine, const Speeds& speeds, const CsrView& a,
              const MeasureOptions& options)
      : result_(result),
        machine_(machine),
        speeds_(speeds),
        options_(options),
        x_(make_x<T>(a.cols(), options.seed)),
        reference_(a, std::span<const T>(x_), options.load.threads, options.columns) {
    const auto set = [&](const std::vector<T>& x) {
      machine.set_vectors(value_type_of<T>, std::as_bytes(std::span(x)), a.rows(), options.columns);
    };
    if (options.columns == 1)
      set(x_);
    else
      set(make_columns(std::span<const T>(x_), options.columns));
  }

  void ours(const Container& container, const std::string& layout) {
    for (const Candidate& candidate : machine_.load(container, layout))
      if (options_.all_kernels || candidate.kernel == "default" || candidate.kernel == "column-major")
        result_.results.push_back(run(candidate));
  }

  /// The matrix in one of our layouts.
  void encoded(const encoder::EncodeRequest& request, const SourceMatrix& source) {
    unless_skipped("spmvpack", request.strategy, [&] { ours(encode_to_scratch(source, request), request.strategy); });
  }

  void peer(const Peer& peer) {
    unless_skipped(peer.by, peer.layout, [&] { result_.results.push_back(run(peer.make())); });
  }

 private:
  /// What does not fit the matrix is a result, too.
  template <class F>
  void unless_skipped(const std::string& by, const std::string& layout, F&& measure) {
    try {
      measure();
    } catch (const Error& e) {
      if (e.code() != errc::unsupported && e.code() != errc::out_of_memory) throw;
      Result skipped;
      skipped.by = by;
      skipped.layout = layout;
      skipped.skipped = e.message();
      result_.results.push_back(skipped);
    }
  }

  [[nodiscard]] double worst_error(const Array<std::byte>& y) const {
    return reference_.worst(std::span(reinterpret_cast<const T*>(y.data()), y.size() / sizeof(T)),
                            options_.load.threads);
  }

  Result run(const Candidate& candidate) {
    Result r;
    r.by = candidate.by;
    r.layout = candidate.layout;
    r.kernel = candidate.kernel;
    report_progress(options_.load.progress, "bench " + r.name(), 0, 0);
    r.bitwise = candidate.bitwise;
    r.device_bytes = candidate.device_bytes;
    r.workspace_bytes = candidate.workspace_bytes;
    r.moved_bytes = r.device_bytes + (result_.rows + result_.cols) * options_.columns * sizeof(T);
    r.floor = std::max(
        {static_cast<double>(r.moved_bytes) / speeds_.copy_speed(), result_.x_floors.l2, result_.x_floors.gathers});

    const Array<std::byte> y = machine_.multiply(candidate);
    r.worst_error = worst_error(y);
    r.cold = summarise(machine_.time(candidate, options_.runs, true));
    r.warm = summarise(machine_.time(candidate, options_.runs, false));
    // What keeps its vectors in an order of its own would not copy them for each multiply.
    if (options_.host_vectors && !candidate.finish) {
      const HostVectorRuns runs = machine_.time_with_copies(candidate, options_.runs);
      r.host_vectors = summarise(runs.seconds);
      r.worst_error = std::max(r.worst_error, worst_error(runs.y));
    }
    r.repeats = same_bytes(y, machine_.multiply(candidate));
    return r;
  }

  MatrixResult& result_;
  Machine& machine_;
  const Speeds& speeds_;
  const MeasureOptions& options_;
  std::vector<T> x_;
  Reference reference_;
};

/// The layouts of a container's parts, each once.
std::string layout_of(const Container& container) {
  std::vector<std::string> names;
  for (const PartInfo& part : container.parts())
    if (std::find(names.begin(), names.end(), part.layout) == names.end()) names.push_back(part.layout);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
  return text;
}

template <class T>
void measure_as(MatrixResult& result, Machine& machine, const Speeds& speeds, const SourceMatrix& source,
                const Container* container, const MeasureOptions& options) {
  const CsrView a = source.matrix.view();
  Measurement<T> measurement(result, machine, speeds, a, options);
  const std::vector<Peer> peers = machine.peers(a);
  for (const std::string& name : options.peers)
    if (std::none_of(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.layout == name; }))
      throw Error(errc::usage, "there is no peer '" + escape(name) + "' here", {},
                  "omit --peer: the names are printed");
  if (container != nullptr) {
    measurement.ours(*container, layout_of(*container));
  } else {
    for (const encoder::Strategy& strategy : encoder::strategies()) {
      const bool asked =
          std::find(options.layouts.begin(), options.layouts.end(), strategy.name) != options.layouts.end();
      if (options.layouts.empty() ? strategy.chooses || strategy.traits.by_name_only : !asked) continue;
      encoder::EncodeRequest request;
      request.strategy = strategy.name;
      request.settings = encoder::settings_of(strategy, options.settings);
      if (strategy.traits.aims) {
        request.aim = options.aim.value_or(aim_of(machine));
        request.aim.columns = options.columns;
      }
      request.updatable = options.updatable;
      request.threads = options.load.threads;
      request.progress = options.load.progress;
      measurement.encoded(request, source);
    }
  }
  for (const Peer& peer : peers)
    if (options.peers.empty() ||
        std::find(options.peers.begin(), options.peers.end(), peer.layout) != options.peers.end())
      measurement.peer(peer);
}

}  // namespace

XFloors x_floors(const Speeds& speeds, std::uint64_t sectors, std::uint64_t lines) {
  XFloors floors;
  if (speeds.l2_bytes != 0) floors.l2 = static_cast<double>(sectors * sector_bytes) / speeds.l2_speed();
  if (speeds.gathers != 0) floors.gathers = static_cast<double>(lines) / speeds.gather_speed();
  return floors;
}

encoder::Aim aim_of(Machine& machine) {
  return {.target = machine.facts().kind == "host" ? encoder::Target::host : encoder::Target::gpu};
}

void measure(MatrixResult& result, Machine& machine, const Speeds& speeds, const SourceMatrix& source,
             const Container* container, const MeasureOptions& options) {
  const CsrView a = source.matrix.view();
  result.rows = a.rows();
  result.cols = a.cols();
  result.nnz = a.nnz();
  result.right_hand_sides = options.columns;
  result.value_type = a.value_type();
  result.vector_type = options.vectors.value_or(a.value_type());
  result.csr_bytes = layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type());
  const auto x_pieces = [&](std::uint64_t bytes) {
    return distinct_x_pieces(a, result.vector_type, bytes, rows_per_block, options.load.threads);
  };
  result.x_sectors = x_pieces(sector_bytes);
  result.x_lines = x_pieces(line_bytes);
  if (options.columns == 1) result.x_floors = x_floors(speeds, result.x_sectors, result.x_lines);
  dispatch(result.vector_type, [&]<class T>(T) { measure_as<T>(result, machine, speeds, source, container, options); });
}

}  // namespace spmvpack::bench
