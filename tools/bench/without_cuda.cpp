#include "bench/machine.hpp"

namespace spmvpack::bench {

std::unique_ptr<Machine> make_gpu_machine(const LoadOptions& /*options*/, bool /*with_peers*/,
                                          std::optional<double> /*cache_share*/) {
  throw Error(errc::unsupported, "this spmvpack was built without CUDA", {}, "use --device host, or build with CUDA");
}

}  // namespace spmvpack::bench
