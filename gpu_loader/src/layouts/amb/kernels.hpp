#pragma once
// What amb's files share.

#include <cstddef>

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/amb.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {

enum Kernel : std::size_t { ordered, atomic };  // places in the kernel table

/// Where no row has more lanes, `ordered` gives a row's to the thread of the first one, instead of writing partial sums
/// that another kernel adds up (H200, FP64, us: 88 instead of 92 on 5-point-random, 147 instead of 173 on 7-point, 132
/// instead of 138 on 27-point). More of them take turns with memory for too long: random 672 instead of 243, logdist
/// 542 instead of 166, circuit 2,907 instead of 362.
inline constexpr std::uint64_t most_lanes_of_thread = 4;

/// Whether that kernel may be taken, where rows have few lanes. It numbers lanes in 32 bits, and a grid's stride is
/// added to them. In single precision, blocks of several columns are faster by pairs of lanes, even with partial sums
/// (27 points on an H200: 79 us and 84).
inline bool may_take_rows(const PartInfo& part) {
  namespace amb = spmvpack::layouts::amb;
  return amb::lanes_of(part) <= std::uint64_t{1} << 30 &&
         part.rows.count < std::uint64_t{1} << 31 &&  // a row's number has a bit beside it
         (part.value_type != ValueType::f32 || part.params[amb::param_block] == 1);
}
/// Whether it is taken for all of the part's matrices: a row has one lane in a segment at most.
inline bool has_few_segments(const PartInfo& part) {
  return part.cols.count <= most_lanes_of_thread * part.params[spmvpack::layouts::amb::param_segment_cols] &&
         may_take_rows(part);
}

/// Whether `ordered` writes partial sums by lane, side by side, instead of by row: by row, each is alone in a sector of
/// memory, because the segments of a row lie far apart (16 segments of random columns: 651 us by row, 264 by lane;
/// H200). Not where that would take more than twice the memory.
inline bool partials_by_lane(const PartInfo& part) {
  return 2 * spmvpack::layouts::amb::shared_of(part) >= spmvpack::layouts::amb::lanes_of(part);
}

template <class A>
using Chunks = spmvpack::layouts::amb::View<A>;

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
