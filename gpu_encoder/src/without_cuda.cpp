// The entry point of a build without CUDA.

#include "request.hpp"

namespace spmvpack::gpu_encoder {

DeviceEncoded encode_on_device(const DeviceCsr& /*matrix*/, const DeviceEncodeRequest& request,
                               gpu_loader::Stream /*stream*/) {
  check_request(request);
  throw Error(errc::unsupported, "built without CUDA", {},
              "build spmvpack where nvcc is found, with -DSPMVPACK_CUDA=ON");
}

}  // namespace spmvpack::gpu_encoder
