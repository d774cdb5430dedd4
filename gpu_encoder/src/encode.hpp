#pragma once
// From a CSR to the sections of a container, by whatever executes the passes.

#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "layouts/layouts.hpp"
#include "reorder.hpp"
#include "request.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::gpu_encoder {

struct EncodedMatrix {
  MatrixFacts facts;  ///< without a digest
  std::vector<EncodedPart> parts;
};

/// The part of one role. Error(errc::internal) unless the request has been checked.
template <class Execution>
EncodedPart encode_part(const Execution& run, const Csr& a, const DeviceEncodeRequest& request, format::Role role) {
  PartOptions options;
  options.plan = plan_options(request);
  options.force_size = request.force_size;
  for (const LayoutOnDevice<Execution>& layout : all_layouts<Execution>()) {
    if (layout.name != request.strategy) continue;
    EncodedPart part = layout.encode(run, a, options);
    part.info.role = role;
    return part;
  }
  throw Error(errc::internal, "no layout '" + request.strategy + "' on the device");
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
  encoded.parts.push_back(encode_part(run, a, request, format::Role::a));
  if (request.transpose) {
    const OwnCsr t = transposed(run, a);
    if (!request.updatable) encoded.facts.found = symmetry_of(run, a, t.a);
    if (encoded.facts.found == Symmetry::general)
      encoded.parts.push_back(encode_part(run, t.a, request, format::Role::transpose));
  }
  return encoded;
}

}  // namespace spmvpack::gpu_encoder
