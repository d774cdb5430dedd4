#include "execution/on_device.cuh"
#include "layouts/sell.hpp"

namespace spmvpack::gpu_encoder {

template PlannedPart plan_sell(const OnDevice&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder
