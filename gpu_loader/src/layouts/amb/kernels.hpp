#pragma once
// What amb's files share.

#include <array>
#include <cstddef>

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/launch_rules/amb.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {

// Places in the kernel table. The paper takes the fastest of five blocks of threads; `atomic` has 256.
enum Kernel : std::size_t { ordered, atomic, atomic32, atomic64, atomic128, atomic512 };

constexpr unsigned most_atomic_threads = 512;
/// Threads of a block of the kernels that add atomically; 0 of `ordered`.
constexpr unsigned atomic_threads(std::size_t kernel) {
  constexpr std::array<unsigned, 6> of_kernel{0, 256, 32, 64, 128, most_atomic_threads};
  return of_kernel.at(kernel);
}

inline bool may_take_rows(const PartInfo& part) {
  namespace amb = spmvpack::layouts::amb;
  return launch_rules::amb::may_take_rows(part.rows.count, amb::lanes_of(part), part.params[amb::param_block],
                                          part.value_type == ValueType::f32);
}
/// Whether threads take the rows of all matrices of the part's description: a row has one lane in a segment at most.
inline bool has_few_segments(const PartInfo& part) {
  return part.cols.count <=
             launch_rules::amb::most_lanes_of_thread * part.params[spmvpack::layouts::amb::param_segment_cols] &&
         may_take_rows(part);
}

/// Whether `ordered` writes partial sums by lane, side by side, instead of by row. By row, each is alone in a sector of
/// memory, because the segments of a row lie far apart. Not if that would take more than twice the memory.
/// docs/notebook/GPU.md, "Constants".
inline bool partials_by_lane(const PartInfo& part) {
  return 2 * spmvpack::layouts::amb::shared_of(part) >= spmvpack::layouts::amb::lanes_of(part);
}

template <class A>
using Chunks = spmvpack::layouts::amb::View<A>;

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
