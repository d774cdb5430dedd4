// Of a build without CUDA, in which read_device() refuses before.

#include "commands/encoding_on_gpu.hpp"

namespace spmvpack::tools {

CsrOnGpu::CsrOnGpu(const CsrMatrix& /*a*/) {
  throw Error(errc::unsupported, "built without CUDA", {}, "omit --device");
}

}  // namespace spmvpack::tools
