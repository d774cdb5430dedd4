#pragma once
// What csell's files share.

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

/// What load finds out about a part.
struct SliceKinds : LayoutState {
  explicit SliceKinds(bool all_patterns) : patterns_only(all_patterns) {}
  bool patterns_only;  ///< no slice has offsets
};

/// The multiply of parts whose values come from one source; a file for each.
template <spmvpack::layouts::csell::Source source>
void multiply_source(const DevicePart& part, const MultiplyCall& call);

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
