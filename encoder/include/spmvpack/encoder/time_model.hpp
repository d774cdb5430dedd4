#pragma once
/// How long a multiply takes, predicted from what its plan says: the sum of what it does, each thing at its price. It
/// orders layouts; it does not time anything, and knows nothing of the machine that it runs on.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoder/x_traffic.hpp"

namespace spmvpack::encoder {

/// The caches through which a multiply loads x, in the model. All rows share one. Another is a multiprocessor's, for
/// the rows of its largest thread block, while the matrix passes through it, too; kernels of chunks keep much in the
/// same memory, and chunk_bytes is what they leave. All load sectors.
struct XCaches {
  std::uint64_t device_bytes = 50'000'000, block_bytes = 128U << 10U, chunk_bytes = block_bytes;

  friend bool operator==(const XCaches&, const XCaches&) = default;
};
inline constexpr std::uint64_t block_rows = 1024, warp_entries = 256, sector_bytes = 32;

/// A machine, with what one unit of work costs on it: measured multiplies, fitted by benchmarks/fit_times.py, or read
/// from a file (profile_file.hpp).
struct Profile {
  std::string_view id;       ///< "h200"; what `--target` takes
  std::string_view machine;  ///< "one H200 GPU"
  Target target = Target::gpu;
  std::span<const double> picoseconds;  ///< of units(), in their order; none is negative
  XCaches x_caches = {};
  Device device = {};

  /// Error(errc::internal) if there is no such unit.
  [[nodiscard]] SPMVPACK_EXPORT double price(std::string_view unit) const;
};

/// All units of work, such as "bytes" or "ccoo.slots", in alphabetical order.
SPMVPACK_EXPORT std::span<const std::string_view> units();
/// All profiles of the package. The first of each target is its default, whatever machine this is: files must not
/// depend on it.
SPMVPACK_EXPORT std::span<const Profile> profiles();
SPMVPACK_EXPORT const Profile& default_profile(Target target);
/// The profile of this aim.
SPMVPACK_EXPORT const Profile& profile_of(const Aim& aim);
/// The targets that have names: the kinds of machines, "gpu" and "host", which stand for their default profiles, then
/// the ids of profiles().
SPMVPACK_EXPORT std::span<const std::string_view> target_names();
/// Sets target and profile to one of target_names(), or to the profile in a file: any other name that has a dot or a
/// slash, or that a file has. Errors: errc::usage if there is no such target; those of read_profile().
SPMVPACK_EXPORT void set_target(Aim& aim, const std::string& name);
/// What tuning on such a machine implies: unless a target is given, the default one of its kind. Error(errc::usage),
/// which names both, if a target of another kind is.
SPMVPACK_EXPORT void set_tuned_target(Aim& aim, Target machine, bool target_is_given);
/// What files and reports call the target of this aim: one of target_names(), or the id of its profile.
SPMVPACK_EXPORT std::string_view target_name(const Aim& aim);

/// How many sectors of x a multiply loads (x_traffic.hpp).
struct XSectors {
  std::uint64_t from_memory = 0;  ///< behind the shared cache
  std::uint64_t from_l2 = 0;      ///< behind the blocks' caches: the gathers that miss
  std::uint64_t of_chunks = 0;    ///< the same in parts in chunks: PartPlan::in_chunks
  std::uint64_t of_warps = 0;     ///< those that each 256 consecutive entries touch, what a warp has on its way
};
/// Estimates them. O(nnz), parallel; the result does not depend on the number of threads.
SPMVPACK_EXPORT XSectors x_sectors(const CsrView& a, int threads = 0, const XCaches& caches = {});
/// The same for a matrix that lies elsewhere, with `cols` columns: lines_loaded(cache) is its x_lines_loaded().
SPMVPACK_EXPORT XSectors x_sectors(std::uint64_t cols, ValueType type, const XCaches& caches,
                                   const std::function<std::uint64_t(const XCache&)>& lines_loaded);

/// All that a multiply of one column and a matrix with so many rows does, in units(): PartPlan::work of all parts, the
/// bytes that it moves ("bytes": those of the plan, x's sectors from memory, and y once for each part, and once more
/// for each that adds to it), those beyond 32 MiB ("bytes.from_memory"), the sectors of x from L2, by the cache of each
/// part, and of warps ("x.sectors" and "x.warp_sectors", and of these up to 2^20, "x.first"), and the pass over y that
/// comes first unless the first part has all rows ("y.passes", and "y.rows" of it), which then adds to it, too.
SPMVPACK_EXPORT std::vector<Counter> work_of(const Plan& plan, std::uint64_t rows, const XSectors& x);

/// The same of all of the aim's columns. Where every part has a kernel for several (on a GPU PartPlan::columns, on a
/// host launch_rules/columns.hpp), they take as many at once as all can: each pass over the matrix does the work of one
/// column, and each further column ColumnsWork::each and the bytes of its vectors ("columns.vector_bytes"), on a host
/// "x.sectors", too. Else they are multiplied one by one. Error(errc::usage) unless these are 1 to most_columns.
SPMVPACK_EXPORT std::vector<Counter> work_of(const Plan& plan, std::uint64_t rows, const XSectors& x, const Aim& aim);

/// The work that factors of all rows and columns (Scaling) add to a multiply of the aim's columns: one pass scales X,
/// another the sums. Each reads the factors, and writes vectors that are then read.
SPMVPACK_EXPORT std::vector<Counter> work_of_factors(std::uint64_t rows, std::uint64_t cols, ValueType vectors,
                                                     const Aim& aim);

/// A lower bound on the work of a multiply of the aim's columns by any plan.
SPMVPACK_EXPORT std::vector<Counter> work_of(const Survey& survey, const Least& least, const XSectors& x,
                                             const Aim& aim = {});

/// Seconds of a multiply that does this work. Error(errc::internal) if a unit has no price.
SPMVPACK_EXPORT double predicted_seconds(std::span<const Counter> work, const Profile& profile);
inline double predicted_seconds(std::span<const Counter> work, Target target) {
  return predicted_seconds(work, default_profile(target));
}

}  // namespace spmvpack::encoder
