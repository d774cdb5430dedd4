#pragma once
// What a request asks for, checked before anything is allocated.

#include "csr_arrays.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/gpu_encoder/encode_on_device.hpp"

namespace spmvpack::gpu_encoder {

/// Error(errc::usage): a strategy or setting that is not known. Error(errc::unsupported): one that only the host plans.
void check_request(const DeviceEncodeRequest& request);
/// What layouts go by.
encoder::PlanOptions plan_options(const DeviceEncodeRequest& request);
/// The caller's arrays. Error(errc::usage): a pointer that is null, or a type that is none.
Csr csr_of(const DeviceCsr& matrix);

}  // namespace spmvpack::gpu_encoder
