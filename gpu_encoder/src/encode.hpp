#pragma once
// From a CSR to the sections of a container, by whatever executes the passes.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "choice/choose.hpp"
#include "layouts/layouts.hpp"
#include "reorder.hpp"
#include "request.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::gpu_encoder {

struct EncodedMatrix {
  MatrixFacts facts;  ///< without a digest
  std::vector<EncodedPart> parts;
  std::vector<DeviceChoice> choices;  ///< of each part, by `auto`
};

/// Adds the part of one role. Error(errc::internal) unless the request has been checked.
template <class Execution>
void encode_part(const Execution& run, const Csr& a, const DeviceEncodeRequest& request, format::Role role,
                 EncodedMatrix& encoded) {
  PartOptions options;
  options.plan = plan_options(request);
  options.force_size = request.force_size;
  options.weigh = encoder::find_strategy(request.strategy).chooses;
  const auto layouts = all_layouts<Execution>();
  const auto named =
      std::find_if(layouts.begin(), layouts.end(), [&](auto& layout) { return layout.name == request.strategy; });
  if (options.weigh) {
    DeviceChoice choice;
    encoded.parts.push_back(Weighing<Execution>(run, a, options).encode(choice));
    choice.role = role;
    encoded.choices.push_back(std::move(choice));
  } else if (named != layouts.end()) {
    encoded.parts.push_back(named->plan(run, a, options).write());
  } else {
    throw Error(errc::internal, "no layout '" + request.strategy + "' on the device");
  }
  encoded.parts.back().info.role = role;
}

/// Checks the matrix and encodes it. The request has been checked. What the result holds is Memory::Use::kept.
template <class Execution>
EncodedMatrix encode_sections(const Execution& run, const DeviceCsr& matrix, const DeviceEncodeRequest& request) {
  Csr a = csr_of(matrix);
  OwnCsr sorted;
  if (std::uint64_t fault = check_matrix(run, a); fault != Faults::no_place) {
    if (!request.sort) refuse_order(run, a, fault, "sort the columns of each row and add up duplicates, or set sort");
    sorted = with_sorted_rows(run, a);
    a = sorted.a;
    fault = check_matrix(run, a);
    if (fault != Faults::no_place) refuse_order(run, a, fault, "add up duplicates");
  }
  EncodedMatrix encoded;
  encoded.facts.rows = a.rows;
  encoded.facts.cols = a.cols;
  encoded.facts.nnz = a.nnz;
  encoded.facts.value_type = a.type;
  encode_part(run, a, request, format::Role::a, encoded);
  if (request.transpose) {
    const OwnCsr t = transposed(run, a);
    if (!request.updatable) encoded.facts.found = symmetry_of(run, a, t.a);
    if (encoded.facts.found == Symmetry::general) encode_part(run, t.a, request, format::Role::transpose, encoded);
  }
  return encoded;
}

}  // namespace spmvpack::gpu_encoder
