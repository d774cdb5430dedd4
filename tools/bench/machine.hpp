#pragma once
/// What a benchmark runs on: a GPU or this computer's processor. No CUDA headers here.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/sample.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/container/multiply/timing.hpp"

namespace spmvpack::bench {

struct MachineFacts {
  std::string kind;  ///< "gpu" or "host"
  std::string name;
  std::vector<std::pair<std::string, std::string>> details;  ///< versions, sizes
  std::string cache = {};                                    ///< the usual name of its last cache: "L2"
  std::uint64_t cache_bytes = 0;                             ///< size of that cache; 0: unknown
};

/// What the machine can do, measured in the same run.
struct Speeds {
  std::uint64_t copy_bytes = 0;   ///< read and written by the copy, together
  Sample copy;                    ///< of a device copy (host: memcpy by all threads), cold
  std::uint64_t l2_bytes = 0;     ///< read by the second measurement; 0: there is none (host)
  Sample l2;                      ///< reads of a buffer that fits into the second-level cache
  std::uint64_t gathers = 0;      ///< elements of the third measurement; 0: there is none (host)
  Sample gather;                  ///< loads of elements of that buffer, each from a pseudo-random place
  std::uint64_t link_bytes = 0;   ///< of each of the last measurements; 0: not asked for
  Sample to_device, from_device;  ///< copies of pinned memory to the GPU and back, one at a time
  [[nodiscard]] double copy_speed() const { return static_cast<double>(copy_bytes) / copy.median; }
  [[nodiscard]] double l2_speed() const { return static_cast<double>(l2_bytes) / l2.median; }
  [[nodiscard]] double gather_speed() const { return static_cast<double>(gathers) / gather.median; }
  [[nodiscard]] double to_device_speed() const { return static_cast<double>(link_bytes) / to_device.median; }
  [[nodiscard]] double from_device_speed() const { return static_cast<double>(link_bytes) / from_device.median; }
};

/// A way to multiply that is ready to run: y = A x with the machine's x and y, or Y = A X with its columns.
struct Candidate {
  std::string by;                  ///< "spmvpack" or "cusparse"
  std::string layout, kernel;      ///< a peer's kernel may be empty
  std::optional<bool> bitwise;     ///< whether it promises the same bits at every run; peers: not known
  std::uint64_t device_bytes = 0;  ///< of the matrix that it reads
  std::uint64_t workspace_bytes = 0;
  std::function<void()> run;  ///< starts one multiply; holds what it needs
  /// The same between other vectors in device memory, as long as the machine's; or null.
  std::function<void(void* x, void* y)> between = {};
  std::function<void()> finish = {};  ///< turns y into the user's order, row-major, where run() does not; or null
};

/// So many elements as rows of `columns` neighbours; a vector, if that is 1.
template <class T>
DenseView<T> row_major(T* data, std::uint64_t elements, std::uint64_t columns) {
  if (columns == 1) return {data, elements};
  return {data, elements / columns, columns, static_cast<std::int64_t>(columns), 1};
}

/// Another library's way, made when it is asked for: matrices are large. make() throws an Error where it cannot be,
/// errc::unsupported if it does not fit the matrix.
struct Peer {
  std::string by, layout;
  std::function<Candidate()> make;
};

/// Multiplies with x and y in the host's memory.
struct HostVectorRuns {
  std::vector<double> seconds;
  Array<std::byte> y;  ///< of the last one, as it came to the host
};

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  [[nodiscard]] virtual const MachineFacts& facts() const = 0;
  /// `link`: also of copies between the host and a GPU.
  virtual Speeds measure_speeds(int runs, bool link) = 0;
  /// Vectors of `type` for what runs from now on: X from these bytes, Y of `rows` rows, both of so many columns,
  /// row-major without gaps.
  virtual void set_vectors(ValueType type, std::span<const std::byte> x, std::uint64_t rows, std::uint64_t columns) = 0;
  /// The kernels for a container. `layout` is its name for people.
  virtual std::vector<Candidate> load(const Container& container, const std::string& layout) = 0;
  /// The other libraries' ways; `a` outlives them.
  virtual std::vector<Peer> peers(const CsrView& a) = 0;
  /// Runs once, into a y of NaN, and returns y.
  virtual Array<std::byte> multiply(const Candidate& candidate) = 0;
  /// Seconds of each of `runs` runs, after some that are not counted; `cold`: with caches flushed before each.
  virtual std::vector<double> time(const Candidate& candidate, int runs, bool cold) = 0;
  /// The same, cold, with x copied from pinned memory before each multiply and y to pinned memory after it.
  /// Error(errc::unsupported) on the host, where there is nothing to copy.
  virtual HostVectorRuns time_with_copies(const Candidate& candidate, int runs) = 0;
};

std::unique_ptr<Machine> make_host_machine(const LoadOptions& options);
/// Device 0. With `with_peers` cuSPARSE is loaded. `cache_share`: DeviceLoadOptions::cache_share, if not its default.
/// Errors: errc::unsupported in a build without CUDA, or where cuSPARSE is not found; errc::no_device.
std::unique_ptr<Machine> make_gpu_machine(const LoadOptions& options, bool with_peers,
                                          std::optional<double> cache_share);

}  // namespace spmvpack::bench
