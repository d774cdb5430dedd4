#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "bench/cusparse.hpp"
#include "bench/device_columns.hpp"
#include "bench/device_kernels.hpp"
#include "bench/device_memory.hpp"
#include "bench/machine.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::bench {
namespace {

using gpu_loader::Determinism;
using gpu_loader::DeviceMatrix;
using gpu_loader::KernelInfo;

// Each of source and target of the copy: far beyond any cache.
constexpr std::uint64_t copied_bytes = std::uint64_t{512} << 20U;
// Read again and again: it fits the second-level cache of every GPU from Ampere's largest on, and no first-level cache.
constexpr std::uint64_t resident_bytes = std::uint64_t{16} << 20U;
constexpr int resident_passes = 64;
// From the same buffer: some 200 us of an H200.
constexpr std::uint64_t gathered_elements = std::uint64_t{1} << 25U;
// Over the bus to the host and back: 1 to 5 ms.
constexpr std::uint64_t linked_bytes = std::uint64_t{64} << 20U;

std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

class GpuMachine final : public Machine {
 public:
  GpuMachine(const LoadOptions& options, bool with_peers, std::optional<double> cache_share)
      : options_(options), cache_share_(cache_share) {
    const std::vector<gpu_loader::DeviceInfo> devices = gpu_loader::devices();
    if (devices.empty())
      throw Error(errc::no_device, "no GPU, or no driver for one", {}, "use --device host, or check nvidia-smi");
    const gpu_loader::DeviceInfo& device = devices.front();
    require_cuda(cudaSetDevice(0), "choosing the GPU");
    gpu_loader::require_device_code();
    timer_.emplace();
    int runtime = 0, driver = 0;
    require_cuda(cudaRuntimeGetVersion(&runtime), "asking for CUDA's version");
    require_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    facts_ = {
        "gpu",
        device.name,
        {{"compute_capability", std::to_string(device.compute_major) + '.' + std::to_string(device.compute_minor)},
         {"multiprocessors", std::to_string(device.multiprocessors)},
         {"memory_bytes", std::to_string(device.memory_bytes)},
         {"l2_bytes", std::to_string(device.l2_bytes)},
         {"cuda_runtime", version_text(runtime)},
         {"cuda_driver", version_text(driver)}},
        "L2",
        device.l2_bytes};
    if (cache_share) facts_.details.emplace_back("cache_share", fmt::format("{}", *cache_share));
    if (!with_peers) return;
    cusparse_ = load_cusparse(timer_->stream(), options.threads);
    facts_.details.emplace_back("cusparse", cusparse_->version());
  }

  [[nodiscard]] const MachineFacts& facts() const override { return facts_; }

  Speeds measure_speeds(int runs, bool link) override {
    Speeds speeds;
    speeds.copy_bytes = 2 * copied_bytes;
    const std::shared_ptr<void> from = allocate_device(copied_bytes), to = allocate_device(copied_bytes);
    require_cuda(cudaMemsetAsync(from.get(), 0, copied_bytes, timer_->stream()), "clearing a buffer");
    speeds.copy = summarise(time_of(
        [&] {
          require_cuda(cudaMemcpyAsync(to.get(), from.get(), copied_bytes, cudaMemcpyDeviceToDevice, timer_->stream()),
                       "copying on the GPU");
        },
        runs, true));
    speeds.l2_bytes = resident_bytes * resident_passes;
    speeds.l2 = summarise(
        time_of([&] { read_repeatedly(from.get(), resident_bytes, resident_passes, to.get(), timer_->stream()); }, runs,
                false));
    speeds.gathers = gathered_elements;
    speeds.gather = summarise(
        time_of([&] { gather_scattered(from.get(), resident_bytes, gathered_elements, to.get(), timer_->stream()); },
                runs, false));
    if (!link) return speeds;
    speeds.link_bytes = linked_bytes;
    const std::shared_ptr<void> pinned = allocate_pinned(linked_bytes);
    const auto copy = [&](void* target, const void* source, cudaMemcpyKind kind) {
      return summarise(time_of(
          [&, target, source, kind] {
            require_cuda(cudaMemcpyAsync(target, source, linked_bytes, kind, timer_->stream()), "copying");
          },
          runs, false));
    };
    speeds.to_device = copy(to.get(), pinned.get(), cudaMemcpyHostToDevice);
    speeds.from_device = copy(pinned.get(), from.get(), cudaMemcpyDeviceToHost);
    return speeds;
  }

  void set_vectors(ValueType type, std::span<const std::byte> x, std::uint64_t rows, std::uint64_t columns) override {
    x_ = y_ = x_by_columns_ = nullptr;
    x_bytes_ = x.size();
    x_rows_ = x_bytes_ / (columns * size_of(type));
    y_rows_ = rows;
    y_bytes_ = rows * columns * size_of(type);
    y_room_ = columns_bytes(rows, columns, type);
    const std::uint64_t x_room = columns_bytes(x_rows_, columns, type);
    x_ = allocate_device(x_room);
    y_ = allocate_device(y_room_);
    require_cuda(cudaMemset(x_.get(), 0, x_room), "clearing x");
    if (!x.empty()) require_cuda(cudaMemcpy(x_.get(), x.data(), x.size(), cudaMemcpyHostToDevice), "copying x");
    if (columns != 1) {
      require_cuda(cudaDeviceSynchronize(), "copying x");  // the next copy is on another stream
      x_by_columns_ = by_columns(x_.get(), x_rows_, columns, type, timer_->stream());
    }
    vectors_ = {type, x_.get(), y_.get(), columns, x_by_columns_.get()};
  }

  std::vector<Candidate> load(const Container& container, const std::string& layout) override {
    gpu_loader::DeviceLoadOptions options;
    options.threads = options_.threads;
    options.progress = options_.progress;
    if (cache_share_) options.cache_share = *cache_share_;
    const DeviceMatrix matrix = DeviceMatrix::load(container, timer_->stream(), options);
    const std::vector<KernelInfo> kernels = matrix.kernels();
    // First the kernel that is each part's default: what most users run.
    std::vector<Candidate> candidates{candidate(matrix, layout, {.name = "default", .layout = {}}, {})};
    for (const KernelInfo& kernel : kernels)
      candidates.push_back(candidate(matrix, layout, kernel, gpu_loader::find_kernel(kernel.name)));
    if (vectors_.columns != 1)
      candidates.push_back(column_major_candidate(matrix, layout));
    else if (has_permuted_basis(container.parts()))
      candidates.push_back(permuted_candidate(matrix, layout));
    return candidates;
  }

  std::vector<Peer> peers(const CsrView& a) override {
    return cusparse_ == nullptr ? std::vector<Peer>{} : cusparse_->peers(a, vectors_);
  }

  Array<std::byte> multiply(const Candidate& candidate) override {
    require_cuda(cudaMemsetAsync(y_.get(), 0xFF, y_room_, timer_->stream()), "clearing y");
    candidate.run();
    if (candidate.finish) candidate.finish();
    Array<std::byte> y(y_bytes_);
    require_cuda(cudaStreamSynchronize(timer_->stream()), "multiplying");
    if (y_bytes_ != 0) require_cuda(cudaMemcpy(y.data(), y_.get(), y_bytes_, cudaMemcpyDeviceToHost), "copying y");
    return y;
  }

  std::vector<double> time(const Candidate& candidate, int runs, bool cold) override {
    return time_of(candidate.run, runs, cold);
  }

  HostVectorRuns time_with_copies(const Candidate& candidate, int runs) override {
    const std::shared_ptr<void> x = allocate_pinned(x_bytes_), y = allocate_pinned(y_bytes_);
    require_cuda(cudaMemcpy(x.get(), x_.get(), x_bytes_, cudaMemcpyDeviceToHost), "copying x");
    std::memset(y.get(), 0xFF, y_bytes_);
    HostVectorRuns done;
    done.seconds = time_of(
        [&] {
          require_cuda(cudaMemcpyAsync(x_.get(), x.get(), x_bytes_, cudaMemcpyHostToDevice, timer_->stream()),
                       "copying x");
          candidate.run();
          require_cuda(cudaMemcpyAsync(y.get(), y_.get(), y_bytes_, cudaMemcpyDeviceToHost, timer_->stream()),
                       "copying y");
        },
        runs, true);
    done.y = Array<std::byte>(y_bytes_);
    if (y_bytes_ != 0) std::memcpy(done.y.data(), y.get(), y_bytes_);
    return done;
  }

 private:
  /// A candidate of ours that does not run yet.
  static Candidate ours(const DeviceMatrix& matrix, const std::string& layout, std::string kernel, bool bitwise,
                        std::uint64_t workspace_bytes) {
    return {.by = "spmvpack",
            .layout = layout,
            .kernel = std::move(kernel),
            .bitwise = bitwise,
            .device_bytes = matrix.device_bytes(),
            .workspace_bytes = workspace_bytes,
            .run = {},
            .finish = {}};
  }

  Candidate candidate(const DeviceMatrix& matrix, const std::string& layout, const KernelInfo& kernel, KernelId id) {
    const bool several = vectors_.columns != 1;
    const MultiplyDescription description{.vectors = vectors_.type,
                                          .right_hand_sides = vectors_.columns,
                                          .strided_x = several,
                                          .strided_y = several,
                                          .row_major_x = several,
                                          .kernel = id};
    const std::uint64_t bytes = matrix.workspace_bytes(description);
    // Results are named LAYOUT/KERNEL: the layout's own kernels without it, others in full.
    const bool is_own = kernel.layout == layout;
    Candidate made = ours(matrix, layout, std::string(kernel.name.substr(is_own ? layout.size() + 1 : 0)),
                          kernel.determinism == Determinism::bitwise, bytes);
    made.run = [this, matrix, description, bytes, workspace = allocate_device(bytes)] {
      dispatch(vectors_.type, [&]<class T>(T) {
        matrix.multiply<T>(T{1}, row_major(static_cast<const T*>(vectors_.x), x_bytes_ / sizeof(T), vectors_.columns),
                           T{0}, row_major(static_cast<T*>(vectors_.y), y_bytes_ / sizeof(T), vectors_.columns),
                           {static_cast<std::byte*>(workspace.get()), bytes}, timer_->stream(), description);
      });
    };
    return made;
  }

  /// The default kernel with columns one after the other, as LAPACK and solvers of batches keep them.
  Candidate column_major_candidate(const DeviceMatrix& matrix, const std::string& layout) {
    const MultiplyDescription description{.vectors = vectors_.type, .right_hand_sides = vectors_.columns};
    const std::uint64_t bytes = matrix.workspace_bytes(description);
    Candidate made = ours(matrix, layout, "column-major", true, bytes);
    made.run = [this, matrix, description, bytes, workspace = allocate_device(bytes)] {
      dispatch(vectors_.type, [&]<class T>(T) {
        const auto columns = [&](auto* data, std::uint64_t rows) {
          return DenseView(data, rows, vectors_.columns, 1, static_cast<std::int64_t>(column_stride(rows)));
        };
        matrix.multiply<T>(T{1}, columns(static_cast<const T*>(vectors_.x_by_columns), x_rows_), T{0},
                           columns(static_cast<T*>(vectors_.y), y_rows_),
                           {static_cast<std::byte*>(workspace.get()), bytes}, timer_->stream(), description);
      });
    };
    made.finish = [this] { make_row_major(vectors_.y, y_rows_, vectors_.columns, vectors_.type, timer_->stream()); };
    return made;
  }

  /// The default kernel in the container's permuted basis, in which an iterative method would keep its vectors.
  Candidate permuted_candidate(const DeviceMatrix& matrix, const std::string& layout) {
    const MultiplyDescription description{.vectors = vectors_.type, .basis = Basis::permuted};
    const std::uint64_t bytes = matrix.workspace_bytes(description);
    Candidate made = ours(matrix, layout, "permuted", true, bytes);
    dispatch(vectors_.type, [&]<class T>(T) {
      const std::shared_ptr<void> x = allocate_device(x_bytes_), y = allocate_device(y_bytes_);
      const std::span<T> permuted_x{static_cast<T*>(x.get()), x_bytes_ / sizeof(T)};
      const std::span<T> result{static_cast<T*>(vectors_.y), y_bytes_ / sizeof(T)};
      matrix.permute<T>({static_cast<const T*>(vectors_.x), permuted_x.size()}, permuted_x, timer_->stream());
      made.run = [this, matrix, description, bytes, x, permuted_x, result, workspace = allocate_device(bytes)] {
        matrix.multiply<T>(T{1}, std::span<const T>(permuted_x), T{0}, result,
                           {static_cast<std::byte*>(workspace.get()), bytes}, timer_->stream(), description);
      };
      made.finish = [this, matrix, y, result] {
        const std::span<T> permuted_y{static_cast<T*>(y.get()), result.size()};
        require_cuda(cudaMemcpyAsync(permuted_y.data(), result.data(), result.size_bytes(), cudaMemcpyDeviceToDevice,
                                     timer_->stream()),
                     "copying y");
        matrix.unpermute<T>(std::span<const T>(permuted_y), result, timer_->stream());
      };
    });
    return made;
  }

  std::vector<double> time_of(const std::function<void()>& run, int runs, bool cold) {
    for (int i = 0; i < warm_up_runs; ++i) run();
    std::vector<double> seconds(static_cast<std::size_t>(runs));
    for (double& s : seconds) s = timer_->run(run, cold);
    return seconds;
  }

  LoadOptions options_;
  std::optional<double> cache_share_;
  MachineFacts facts_;
  std::optional<gpu_loader::DeviceTimer> timer_;
  std::shared_ptr<void> x_, y_, x_by_columns_;
  std::uint64_t x_rows_ = 0, y_rows_ = 0, x_bytes_ = 0, y_bytes_ = 0, y_room_ = 0;
  DeviceVectors vectors_;
  std::shared_ptr<Cusparse> cusparse_;
};

}  // namespace

std::unique_ptr<Machine> make_gpu_machine(const LoadOptions& options, bool with_peers,
                                          std::optional<double> cache_share) {
  return std::make_unique<GpuMachine>(options, with_peers, cache_share);
}

}  // namespace spmvpack::bench
