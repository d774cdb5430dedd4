#include "execution/on_device.cuh"
#include "layouts/ell.hpp"

namespace spmvpack::gpu_encoder {

template PlannedPart plan_ell(const OnDevice&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder
