// The GPU entry points of a build without CUDA, with the same link interface. No DeviceMatrix can exist, so load(),
// of_sections() and DeviceAssembly::of() are the only ones of its functions that are ever called.

#include "instances.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_assembly.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "spmvpack/gpu_loader/timing.hpp"

namespace spmvpack::gpu_loader {
namespace {

[[noreturn]] void refuse() {
  throw Error(errc::unsupported, "built without CUDA", {},
              "build spmvpack where nvcc is found, with -DSPMVPACK_CUDA=ON");
}

}  // namespace

// NOLINTBEGIN(readability-convert-member-functions-to-static): with CUDA, these functions use the matrix

struct DeviceMatrix::Impl {};

bool built_with_cuda() noexcept { return false; }
void require_device_code() { refuse(); }
std::vector<DeviceInfo> devices() { refuse(); }
CurrentDevice::CurrentDevice(int /*device*/) { refuse(); }
CurrentDevice::~CurrentDevice() = default;

DeviceMatrix DeviceMatrix::load(const Container&, Stream, const DeviceLoadOptions&) { refuse(); }
DeviceMatrix DeviceMatrix::load(const std::string&, Stream, const DeviceLoadOptions&) { refuse(); }
DeviceMatrix DeviceMatrix::of_sections(DeviceContents, Stream, const DeviceLoadOptions&) {  // NOLINT(*-value-param)
  refuse();
}
const MatrixFacts& DeviceMatrix::facts() const { refuse(); }
std::uint64_t DeviceMatrix::device_bytes(format::Role) const { refuse(); }
bool DeviceMatrix::has_transpose() const { refuse(); }
std::uint64_t DeviceMatrix::allocated_bytes() const { refuse(); }
std::uint64_t DeviceMatrix::prepared_bytes() const { refuse(); }
std::vector<KernelInfo> DeviceMatrix::kernels() const { refuse(); }
std::span<const PartInfo> DeviceMatrix::parts() const { refuse(); }
std::uint64_t DeviceMatrix::write(ByteSink&, Stream, const WriteOptions&) const { refuse(); }
std::vector<PartSource> DeviceMatrix::part_sources(Stream) const { refuse(); }
std::uint64_t DeviceMatrix::workspace_bytes(const MultiplyDescription&) const { refuse(); }

template <class V>
void DeviceMatrix::multiply(Scalar<real_of<V>>, std::type_identity_t<DenseView<const V>>, Scalar<real_of<V>>,
                            DenseView<V>, std::span<std::byte>, Stream, const MultiplyDescription&,
                            const Scaling<real_of<V>>&) const {
  refuse();
}

template <class V>
void DeviceMatrix::update_values(std::span<const V>, Stream) const {
  refuse();
}
void DeviceMatrix::require_updated(Stream) const { refuse(); }

template <class T>
void DeviceMatrix::permute(std::span<const T>, std::span<T>, Stream) const {
  refuse();
}

template <class T>
void DeviceMatrix::unpermute(std::span<const T>, std::span<T>, Stream) const {
  refuse();
}

template <class T>
void DeviceMatrix::multiply_host_vectors(T, std::type_identity_t<DenseView<const T>>, T,
                                         std::type_identity_t<DenseView<T>>, const MultiplyDescription&) const {
  refuse();
}

template <class T>
void DeviceMatrix::multiply_host_vectors(T, std::type_identity_t<DenseView<const std::complex<T>>>, T,
                                         std::type_identity_t<DenseView<std::complex<T>>>,
                                         const MultiplyDescription&) const {
  refuse();
}

SPMVPACK_VALUE_TYPES(SPMVPACK_DEVICE_MATRIX_OF)
SPMVPACK_VALUE_TYPES(SPMVPACK_HOST_VECTORS_OF)

DeviceAssembly DeviceAssembly::of(const AssemblyMap&, Stream, const DeviceAllocator&) { refuse(); }
template <class T>
void DeviceAssembly::sum(std::span<const T>, std::span<T>, InsertMode, Stream) const {
  refuse();
}
#define SPMVPACK_INSTANTIATE_SUM(T) \
  template void DeviceAssembly::sum(std::span<const T>, std::span<T>, InsertMode, Stream) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_SUM)
#undef SPMVPACK_INSTANTIATE_SUM

struct DeviceTimer::Impl {};
DeviceTimer::DeviceTimer() { refuse(); }
Stream DeviceTimer::stream() const noexcept { return nullptr; }  // no DeviceTimer can exist
double DeviceTimer::run(const std::function<void()>&, bool) { refuse(); }
MeasureMultiply measure_on_device(int, int) { refuse(); }

DeviceMultiplier::DeviceMultiplier(const DeviceMatrix& matrix) : matrix_(matrix) { refuse(); }
DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description)
    : matrix_(std::move(matrix)), description_(description) {
  refuse();
}

// NOLINTEND(readability-convert-member-functions-to-static)

}  // namespace spmvpack::gpu_loader
