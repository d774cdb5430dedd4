// Times of multiplies on a device: what is timed, not how long it takes. Part of gpu_test.

#include "catch.hpp"
#include "device.hpp"
#include "matrices.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::test {

TEST_CASE("a device measures a layout of any matrix", "[short]") {
  const MeasureMultiply measure = gpu_loader::measure_on_device();
  for (const CsrMatrix& a : {make_csr(0, 0, {}), make_csr(3, 4, {}), make_csr<float>(2, 1, {{{0, 0}, 2}, {{1, 0}, 3}}),
                             make_csr(2, 2, {{{0, 1}, 2}})})
    for (const std::string layout : {"csr", "bitflag"}) {
      const std::vector<std::byte> file = encode(a, layout).bytes;
      const MultiplyTimes times = measure(open(file), 0.05);
      CHECK(times.cold_runs >= 1);
      CHECK(times.warm_runs >= 1);
      CHECK(times.cold >= 0);
      CHECK(times.warm >= 0);
      CHECK(times.spent > 0);
    }
  CHECK_THROWS_AS(gpu_loader::measure_on_device(1000)(open(encode(make_csr(1, 1, {}), "csr").bytes), 1), Error);
}

TEST_CASE("a timer runs what it is given once, on its stream", "[short]") {
  gpu_loader::DeviceTimer timer;
  DeviceVector<float> v(1);
  int runs = 0;
  for (const bool cold : {true, false}) {
    const double seconds = timer.run(
        [&] {
          ++runs;
          cuda(cudaMemsetAsync(v.data(), runs, sizeof(float), timer.stream()));
        },
        cold);
    CHECK(seconds >= 0);
    std::uint32_t bits = 0;
    const float value = v.get()[0];
    std::memcpy(&bits, &value, sizeof bits);
    CHECK(bits == static_cast<std::uint32_t>(runs) * 0x01010101U);
  }
  CHECK(runs == 2);
}

}  // namespace spmvpack::test
