#include "execution/on_device.cuh"
#include "layouts/csell.hpp"

namespace spmvpack::gpu_encoder {

template PlannedPart plan_csell(const OnDevice&, const Csr&, const PartOptions&);

}  // namespace spmvpack::gpu_encoder
