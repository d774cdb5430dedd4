#include "execution/on_device.cuh"
#include "layouts/bitflag.hpp"

namespace spmvpack::gpu_encoder {

template PlannedPart plan_bitflag(const OnDevice&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder
