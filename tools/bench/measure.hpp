#pragma once
/// One matrix on a machine: every layout and kernel, and the peers.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::bench {

/// Lower bounds on the time of a multiply by what it reads of x, in seconds; 0 where the machine has no such speed.
struct XFloors {
  double l2 = 0;       ///< its sectors, as fast as the second-level cache is read
  double gathers = 0;  ///< its lines, as fast as elements are gathered: a request gets sectors of one line
};
XFloors x_floors(const Speeds& speeds, std::uint64_t sectors, std::uint64_t lines);

struct Result {
  std::string by, layout, kernel;
  std::optional<bool> bitwise;  ///< as the kernel promises
  std::string skipped;          ///< why there are no figures; else empty
  std::uint64_t device_bytes = 0, workspace_bytes = 0;
  std::uint64_t moved_bytes = 0;  ///< that a multiply must move: device bytes, all columns of x and y, once each
  Sample cold, warm;
  Sample host_vectors;     ///< cold, with x and y in pinned memory of the host and copied; median 0: not measured
  double floor = 0;        ///< seconds: the largest of moved bytes over copy speed and the floors of x
  double worst_error = 0;  ///< largest error of a row over its bound; at most 1 is right
  bool repeats = false;    ///< the same bits before the timings and after
  [[nodiscard]] bool ran() const { return skipped.empty(); }
  [[nodiscard]] bool correct() const { return ran() && worst_error <= 1; }
  /// What the kernel promises has been kept.
  [[nodiscard]] bool kept() const { return !ran() || (correct() && (!bitwise.value_or(false) || repeats)); }
  /// "csr/ipcsr", "sell-32".
  [[nodiscard]] std::string name() const { return kernel.empty() ? layout : layout + '/' + kernel; }
};

struct MatrixResult {
  std::string name, group;  ///< the group is empty outside the suite
  bool added = false;
  std::string source;
  std::uint64_t rows = 0, cols = 0, nnz = 0;
  std::uint64_t right_hand_sides = 1;        ///< columns of X and Y
  ValueType value_type = ValueType::f64;     ///< of the matrix
  ValueType vector_type = ValueType::f64;    ///< of x, y and every product and sum
  std::uint64_t csr_bytes = 0;               ///< with 32-bit pointers where they do: what cuSPARSE reads
  std::uint64_t x_sectors = 0, x_lines = 0;  ///< distinct_x_pieces()
  XFloors x_floors;                          ///< of one column; 0 where there are several
  double make_seconds = 0, total_seconds = 0;
  std::vector<Result> results;

  /// Of a multiply: a product and a sum for each nonzero and column.
  [[nodiscard]] double flops() const { return 2.0 * static_cast<double>(nnz) * static_cast<double>(right_hand_sides); }
  /// The matrix lives in the second-level cache of the GPUs for which the suite was made, between warm runs and partly
  /// in cold ones: reported apart. Part of the frozen suite, whatever the machine is.
  [[nodiscard]] bool l2_resident() const { return csr_bytes < 60'000'000; }
};

struct MeasureOptions {
  int runs = 30;
  std::uint64_t seed = 1;                       ///< of x
  std::uint64_t columns = 1;                    ///< of X and Y
  std::vector<std::string> layouts;             ///< to encode in; empty: all but those that auto never takes
  std::map<std::string, std::string> settings;  ///< of these layouts
  std::optional<encoder::Aim> aim;              ///< of layouts that have one; unset: aim_of() the machine
  bool all_kernels = true;                      ///< else each layout's default
  std::vector<std::string> peers;               ///< of the libraries' formats; empty: all
  bool updatable = false;                       ///< the layouts are encoded so
  bool host_vectors = false;                    ///< also with x and y copied from and to the host
  std::optional<ValueType> vectors;             ///< type of x and y; unset: the matrix's
  LoadOptions load;                             ///< threads, memory limit, progress
};

/// The aim of what is measured on this machine, unless another is given.
encoder::Aim aim_of(Machine& machine);

/// Fills in everything of `result` but its name, group, source and seconds. The matrix is encoded in each layout, or,
/// where there is a `container`, multiplied as that has it.
void measure(MatrixResult& result, Machine& machine, const Speeds& speeds, const SourceMatrix& source,
             const Container* container, const MeasureOptions& options);

}  // namespace spmvpack::bench
