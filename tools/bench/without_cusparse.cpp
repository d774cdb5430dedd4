#include "bench/cusparse.hpp"

namespace spmvpack::bench {

std::shared_ptr<Cusparse> load_cusparse(cudaStream_t /*stream*/, int /*threads*/) {
  throw Error(errc::unsupported, "this spmvpack was built with a CUDA toolkit whose cuSPARSE is older than 12.6", {},
              "use --peers none, or build with CUDA 13");
}

}  // namespace spmvpack::bench
