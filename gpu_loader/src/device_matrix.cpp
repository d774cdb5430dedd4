// The facts of a loaded matrix, and its multiply.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments.hpp"
#include "cuda_error.hpp"
#include "kernels/vectors.hpp"
#include "layouts/registry.hpp"
#include "matrix.hpp"

namespace spmvpack::gpu_loader {
namespace {

using format::MapKind;

/// Chooses the kernel of each part.
class Choice {
 public:
  Choice(std::span<const std::size_t> layouts, KernelId kernel) {
    if (!kernel.is_default()) asked_ = require_kernel(layouts, kernel);
  }
  /// The kernel's index in the table of the part's layout.
  [[nodiscard]] std::size_t of(const DevicePart& part) const {
    return asked_ && asked_->layout == part.layout ? asked_->kernel : part.default_kernel;
  }

 private:
  std::optional<KernelPlace> asked_;
};

void multiply_part(const DevicePart& part, MultiplyCall call) {
  const PartInfo& info = part.view.info();
  const ValueType vectors = call.description.vectors;
  const std::size_t size = size_of(vectors);
  if (call.description.basis == Basis::permuted) return layout_kernels(part.layout).multiply(part, call);
  if (info.cols.kind == MapKind::list) {
    std::byte* const gathered = call.workspace;
    call.workspace += gathered_bytes(info, vectors);
    if (!is_known(call.alpha, 0))
      gather_vector(vectors, call.alpha, part.view.get<std::uint32_t>("col_map").data(), call.x, gathered,
                    info.cols.count, call.stream);
    call.x = gathered;
  } else {
    call.x = static_cast<const std::byte*>(call.x) + info.cols.begin * size;
  }
  if (info.rows.kind == MapKind::list)
    call.row_list = part.view.get<std::uint32_t>("row_map").data();
  else
    call.y = static_cast<std::byte*>(call.y) + info.rows.begin * size;
  layout_kernels(part.layout).multiply(part, call);
}

}  // namespace

std::vector<KernelInfo> kernels_of(std::span<const std::size_t> layouts) {
  std::vector<KernelInfo> all;
  for (auto layout = layouts.begin(); layout != layouts.end(); ++layout)
    if (std::find(layouts.begin(), layout, *layout) == layout) {
      const auto more = kernel_tables()[*layout]->kernels;
      all.insert(all.end(), more.begin(), more.end());
    }
  return all;
}

KernelPlace require_kernel(std::span<const std::size_t> layouts, KernelId kernel) {
  const KernelPlace place = place_of(kernel);
  if (layouts.empty() || std::find(layouts.begin(), layouts.end(), place.layout) != layouts.end()) return place;
  std::string known;
  for (const KernelInfo& k : kernels_of(layouts)) known += fmt::format("{}{}", known.empty() ? "" : ", ", k.name);
  throw Error(errc::usage, fmt::format("kernel '{}' fits no part of the matrix", kernel_name(kernel)), {},
              fmt::format("use one of {}", known));
}

const MatrixFacts& DeviceMatrix::facts() const { return impl_->facts; }
std::uint64_t DeviceMatrix::device_bytes() const { return impl_->section_bytes; }
std::uint64_t DeviceMatrix::allocated_bytes() const { return impl_->allocated_bytes; }
std::uint64_t DeviceMatrix::prepared_bytes() const { return impl_->prepared_bytes; }

bool DeviceMatrix::has_transpose() const { return spmvpack::has_transpose(impl_->facts, impl_->infos); }

std::vector<KernelInfo> DeviceMatrix::kernels() const { return kernels_of(impl_->layouts); }

std::uint64_t DeviceMatrix::workspace_bytes(const MultiplyDescription& description) const {
  const Operand operand = check_description(description, impl_->facts, impl_->infos);
  const Choice choice(impl_->layouts, description.kernel);
  std::uint64_t most = 0;  // parts run one after the other
  for (const DevicePart& part : impl_->parts_of(operand.role)) {
    const KernelTable& table = *kernel_tables()[part.layout];
    const std::size_t kernel = choice.of(part);
    if (table.kernels[kernel].prepared &&
        std::find(part.kernels.begin(), part.kernels.end(), kernel) == part.kernels.end())
      throw Error(errc::usage,
                  fmt::format("the matrix was loaded without what kernel '{}' needs", table.kernels[kernel].name), {},
                  "name the kernel in DeviceLoadOptions::kernels");
    const bool permuted = description.basis == Basis::permuted;  // no x is gathered
    most = std::max(most, permuted ? table.workspace_bytes(part.view.info(), kernel, description.vectors)
                                   : gpu_loader::workspace_bytes(table, part.view.info(), kernel, description.vectors));
  }
  return most;
}

template <class T>
void DeviceMatrix::multiply(std::type_identity_t<Scalar<T>> alpha, std::span<const std::type_identity_t<T>> x,
                            std::type_identity_t<Scalar<T>> beta, std::span<T> y, std::span<std::byte> workspace,
                            Stream stream, const MultiplyDescription& description) const {
  const DeviceRange x_range{x.data(), x.size_bytes()}, y_range{y.data(), y.size_bytes()};
  const std::uint64_t needed = workspace_bytes(description);
  const Operand operand = check_description(description, impl_->facts, impl_->infos);
  require_vectors(operand, description, value_type_of<T>, x_range, y_range);
  require_workspace({workspace.data(), workspace.size()}, needed, x_range, y_range);
  if (operand.negated) {
    alpha.value = -alpha.value;
    alpha.negated = !alpha.negated;
  }
  MultiplyCall call{.device = impl_->device,
                    .description = description,
                    .alpha = alpha,
                    .beta = beta,
                    .x = x.data(),
                    .y = y.data(),
                    .workspace = workspace.data(),
                    .stream = stream};
  const std::span<const DevicePart> parts = impl_->parts_of(operand.role);
  // The first part scales y along the way if it covers all rows, each once; otherwise y is scaled here. Later parts
  // add.
  const bool covered = !parts.empty() && parts[0].view.rows() == operand.rows;
  if (!covered) {
    scale_vector(description.vectors, call.beta, call.y, nullptr, operand.rows, stream);
    call.beta = Scalar<T>(1);
  }
  const Choice choice(impl_->layouts, description.kernel);
  for (const DevicePart& part : parts) {
    call.kernel = choice.of(part);
    multiply_part(part, call);
    call.beta = Scalar<T>(1);
  }
}

namespace {

const std::uint32_t* permutation(const DeviceMatrix::Impl& impl, DeviceRange from, DeviceRange to, ValueType type) {
  const MultiplyDescription description{.vectors = type, .basis = Basis::permuted};
  require_vectors(check_description(description, impl.facts, impl.infos), description, type, from, to);
  return impl.parts[0].view.get<std::uint32_t>("row_map").data();
}

}  // namespace

template <class T>
void DeviceMatrix::permute(std::span<const T> user, std::span<T> permuted, Stream stream) const {
  const std::uint32_t* const list =
      permutation(*impl_, {user.data(), user.size_bytes()}, {permuted.data(), permuted.size_bytes()}, value_type_of<T>);
  gather_vector(value_type_of<T>, Scalar<T>(1), list, user.data(), permuted.data(), user.size(), stream);
}

template <class T>
void DeviceMatrix::unpermute(std::span<const T> permuted, std::span<T> user, Stream stream) const {
  const std::uint32_t* const list =
      permutation(*impl_, {permuted.data(), permuted.size_bytes()}, {user.data(), user.size_bytes()}, value_type_of<T>);
  scatter_vector(value_type_of<T>, list, permuted.data(), user.data(), user.size(), stream);
}

template <class T>
void DeviceMatrix::multiply_host_vectors(T alpha, std::span<const T> x, T beta, std::span<T> y,
                                         const MultiplyDescription& description) const {
  const auto room = [](std::uint64_t bytes) { return std::pair{allocate({}, bytes), bytes}; };
  const auto x_room = room(x.size_bytes()), y_room = room(y.size_bytes());
  const auto workspace = room(workspace_bytes(description));
  auto* const device_x = static_cast<T*>(x_room.first.get());
  auto* const device_y = static_cast<T*>(y_room.first.get());
  const auto copy = [](void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind) {
    if (bytes != 0) require_cuda(cudaMemcpy(to, from, bytes, kind), "copying a vector");
  };
  copy(device_x, x.data(), x.size_bytes(), cudaMemcpyHostToDevice);
  if (beta != 0) copy(device_y, y.data(), y.size_bytes(), cudaMemcpyHostToDevice);
  multiply<T>(alpha, {device_x, x.size()}, beta, {device_y, y.size()},
              {static_cast<std::byte*>(workspace.first.get()), workspace.second}, nullptr, description);
  require_cuda(cudaStreamSynchronize(nullptr), "multiplying");
  copy(y.data(), device_y, y.size_bytes(), cudaMemcpyDeviceToHost);
}

#define SPMVPACK_INSTANTIATE(T)                                                                                     \
  template void DeviceMatrix::multiply(std::type_identity_t<Scalar<T>>, std::span<const T>,                         \
                                       std::type_identity_t<Scalar<T>>, std::span<T>, std::span<std::byte>, Stream, \
                                       const MultiplyDescription&) const;                                           \
  template void DeviceMatrix::permute(std::span<const T>, std::span<T>, Stream) const;                              \
  template void DeviceMatrix::unpermute(std::span<const T>, std::span<T>, Stream) const;                            \
  template void DeviceMatrix::multiply_host_vectors(T, std::span<const T>, T, std::span<T>,                         \
                                                    const MultiplyDescription&) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

DeviceMultiplier::DeviceMultiplier(const DeviceMatrix& matrix)
    : DeviceMultiplier(matrix, {.vectors = matrix.facts().value_type}) {}

DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description)
    : matrix_(std::move(matrix)), description_(description), bytes_(matrix_.workspace_bytes(description)) {
  workspace_ = allocate({}, bytes_);
}

}  // namespace spmvpack::gpu_loader
