#include "execution/on_device.cuh"
#include "layouts/csr.hpp"

namespace spmvpack::gpu_encoder {

template PlannedPart plan_csr(const OnDevice&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder
