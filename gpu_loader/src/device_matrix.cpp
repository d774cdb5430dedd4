#include "spmvpack/gpu_loader/device_matrix.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "arguments.hpp"
#include "check.hpp"
#include "cuda_error.hpp"
#include "kernels/vectors.hpp"
#include "layouts/registry.hpp"
#include "placement.hpp"
#include "spmvpack/container/text.hpp"
#include "upload.hpp"

namespace spmvpack::gpu_loader {

using format::MapKind;

struct DeviceMatrix::Impl {
  MatrixFacts facts;
  std::uint64_t section_bytes = 0, allocated_bytes = 0, prepared_bytes = 0;
  std::shared_ptr<void> memory;  ///< of the sections
  std::vector<PartInfo> infos;   ///< what the parts' views point to, as to the names of
  std::vector<SectionInfo> sections;
  std::vector<DevicePart> parts;
  std::vector<const LayoutKernels*> layouts;  ///< of each part
};

namespace {

std::shared_ptr<void> allocate(const DeviceAllocator& allocator, std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (allocator.allocate) {
    void* const memory = allocator.allocate(bytes);
    if (memory == nullptr)
      throw Error(errc::out_of_memory, fmt::format("the caller's allocator has no {} bytes of device memory", bytes));
    std::shared_ptr<void> owner(memory, [release = allocator.release](void* p) {
      if (release) release(p);
    });
    if (reinterpret_cast<std::uintptr_t>(memory) % format::section_boundary != 0)
      throw Error(errc::usage, "the caller's allocator gave memory that is not on a 256-byte boundary");
    return owner;
  }
  void* memory = nullptr;
  require_cuda(cudaMalloc(&memory, bytes), "allocating device memory");
  return {memory, [](void* p) { cudaFree(p); }};
}

[[noreturn]] void refuse_memory(std::uint64_t bytes, std::uint64_t limit, const char* kind, const std::string& name) {
  throw Error(errc::out_of_memory,
              fmt::format("loading {} needs {} bytes of device memory, {} are {}", name, bytes, limit, kind), {},
              "use a smaller layout, another GPU, or a higher limit");
}

/// `bytes`: of all that the load has asked for.
void require_limit(std::uint64_t bytes, const DeviceLoadOptions& options, const std::string& name) {
  if (options.memory_limit != 0 && bytes > options.memory_limit)
    refuse_memory(bytes, options.memory_limit, "allowed", name);
}

void require_device_memory(std::uint64_t bytes, const DeviceLoadOptions& options, const std::string& name) {
  std::size_t free = 0, total = 0;
  require_cuda(cudaMemGetInfo(&free, &total), "asking for the GPU's memory");
  if (options.memory_limit == 0 && bytes > free) refuse_memory(bytes, free, "free", name);
  require_limit(bytes, options, name);
}

/// A part over the device's copies of its sections.
PartView device_view(std::span<const SectionInfo> infos, const Placement& placement, std::size_t index,
                     const PartInfo& part, const std::byte* memory, const std::string& container) {
  std::vector<PartView::Section> sections;
  for (const Placed& placed : placement.sections) {
    const SectionInfo& s = infos[placed.section];
    if (s.part == index) sections.push_back({s.name, s.element_type, {memory + placed.offset, s.raw_bytes}});
  }
  return {part, std::move(sections), fmt::format("{}: part {}", container, index)};
}

std::size_t find_kernel(const LayoutKernels& layout, std::string_view name) {
  for (std::size_t i = 0; i < layout.kernels.size(); ++i)
    if (layout.kernels[i].name == name) return i;
  return layout.kernels.size();
}

/// The part's kernel of that name, or its default.
std::size_t kernel_of(const DevicePart& part, const LayoutKernels& layout, std::string_view name) {
  const std::size_t found = find_kernel(layout, name);
  if (found < layout.kernels.size()) return found;
  return layout.default_kernel != nullptr ? layout.default_kernel(part) : 0;
}

/// Error(errc::usage) where no part has the kernel.
void require_kernel(std::span<const LayoutKernels* const> layouts, std::string_view name) {
  if (name.empty() || layouts.empty()) return;
  std::string known;
  for (const LayoutKernels* const layout : layouts) {
    if (find_kernel(*layout, name) < layout->kernels.size()) return;
    for (const KernelInfo& k : layout->kernels) known += fmt::format(" {}", k.name);
  }
  throw Error(errc::usage, fmt::format("no kernel '{}' for this matrix", escape(name)), {},
              fmt::format("use one of:{}", known));
}

/// Bytes at the workspace's start that x takes where a part has a list of columns. It is gathered once: were the
/// kernels to take the list, every nonzero would wait for one more load, and there are more nonzeros than columns.
std::uint64_t gathered_bytes(const PartInfo& part, ValueType vectors) {
  return part.cols.kind == MapKind::list ? round_up(part.cols.count * size_of(vectors), format::section_boundary) : 0;
}

std::uint64_t part_workspace(const DevicePart& part, const LayoutKernels& layout, std::size_t kernel,
                             ValueType vectors) {
  return gathered_bytes(part.view.info(), vectors) + layout.workspace_bytes(part, kernel, vectors);
}

void multiply_part(const DevicePart& part, const LayoutKernels& layout, MultiplyCall call) {
  const PartInfo& info = part.view.info();
  const std::size_t size = size_of(call.vectors);
  if (info.cols.kind == MapKind::list) {
    std::byte* const gathered = call.workspace;
    call.workspace += gathered_bytes(info, call.vectors);
    if (call.alpha.device != nullptr || call.alpha.value != 0)
      gather_vector(call.vectors, call.alpha, part.view.get<std::uint32_t>("col_map").data(), call.x, gathered,
                    info.cols.count, call.stream);
    call.x = gathered;
  } else {
    call.x = static_cast<const std::byte*>(call.x) + info.cols.begin * size;
  }
  if (info.rows.kind == MapKind::list)
    call.row_list = part.view.get<std::uint32_t>("row_map").data();
  else
    call.y = static_cast<std::byte*>(call.y) + info.rows.begin * size;
  layout.multiply(part, call);
}

}  // namespace

DeviceMatrix DeviceMatrix::load(const Container& container, Stream stream, const DeviceLoadOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->facts = container.facts();
  impl->infos = container.parts();
  impl->sections = container.sections();
  for (const PartInfo& info : impl->infos)
    impl->layouts.push_back(&find_layout_kernels(info.layout));  // refuses before the bytes are read
  for (const std::string& kernel : options.kernels) require_kernel(impl->layouts, kernel);
  const Placement placement = place(impl->sections);
  require_device_memory(placement.bytes, options, container.name());
  impl->section_bytes = container.device_bytes();
  impl->memory = allocate(options.allocator, placement.bytes);
  auto* const memory = static_cast<std::byte*>(impl->memory.get());
  for (std::size_t i = 0; i < impl->infos.size(); ++i) {
    impl->parts.push_back(
        {device_view(impl->sections, placement, i, impl->infos[i], memory, container.name()), nullptr});
    check_shape(impl->parts.back().view);
  }
  std::shared_ptr<void> ring = upload(container, placement, memory, stream, options);
  if (options.check_structure) {
    StructureCheck check(impl->parts, impl->facts, stream);
    ring.reset();  // while the GPU checks
    check.finish(container.name());
  }
  ring.reset();
  const LoadContext context{stream,
                            [&](std::uint64_t bytes) {
                              impl->prepared_bytes += bytes;
                              require_limit(placement.bytes + impl->prepared_bytes, options, container.name());
                              return allocate(options.allocator, bytes);
                            },
                            options.kernels};
  for (std::size_t i = 0; i < impl->parts.size(); ++i)
    if (impl->layouts[i]->prepare != nullptr)
      impl->parts[i].state = impl->layouts[i]->prepare(impl->parts[i].view, context);
  impl->allocated_bytes = placement.bytes + impl->prepared_bytes;
  return DeviceMatrix(std::move(impl));
}

DeviceMatrix DeviceMatrix::load(const std::string& path, Stream stream, const DeviceLoadOptions& options) {
  return load(Container::open(path), stream, options);
}

const MatrixFacts& DeviceMatrix::facts() const { return impl_->facts; }
std::uint64_t DeviceMatrix::device_bytes() const { return impl_->section_bytes; }
std::uint64_t DeviceMatrix::allocated_bytes() const { return impl_->allocated_bytes; }
std::uint64_t DeviceMatrix::prepared_bytes() const { return impl_->prepared_bytes; }

std::vector<KernelInfo> DeviceMatrix::kernels() const {
  std::vector<KernelInfo> all;
  for (auto layout = impl_->layouts.begin(); layout != impl_->layouts.end(); ++layout)
    if (std::find(impl_->layouts.begin(), layout, *layout) == layout)
      all.insert(all.end(), (*layout)->kernels.begin(), (*layout)->kernels.end());
  return all;
}

std::uint64_t DeviceMatrix::workspace_bytes(std::string_view kernel, ValueType vectors) const {
  require_types(impl_->facts.value_type, vectors);
  require_kernel(impl_->layouts, kernel);
  std::uint64_t most = 0;  // parts run one after the other
  for (std::size_t i = 0; i < impl_->parts.size(); ++i) {
    const LayoutKernels& layout = *impl_->layouts[i];
    const std::size_t index = kernel_of(impl_->parts[i], layout, kernel);
    if (layout.kernels[index].prepared && impl_->parts[i].state == nullptr)
      throw Error(errc::usage,
                  fmt::format("the matrix was loaded without what kernel '{}' needs", layout.kernels[index].name), {},
                  "name the kernel in DeviceLoadOptions::kernels");
    most = std::max(most, part_workspace(impl_->parts[i], layout, index, vectors));
  }
  return most;
}

std::uint64_t DeviceMatrix::workspace_bytes(std::string_view kernel) const {
  return workspace_bytes(kernel, impl_->facts.value_type);
}

template <class T>
void DeviceMatrix::multiply(std::type_identity_t<Scalar<T>> alpha, std::span<const T> x,
                            std::type_identity_t<Scalar<T>> beta, std::span<T> y, std::span<std::byte> workspace,
                            Stream stream, std::string_view kernel) const {
  const DeviceRange x_range{x.data(), x.size_bytes()}, y_range{y.data(), y.size_bytes()};
  require_vectors(impl_->facts, value_type_of<T>, x_range, y_range);
  require_workspace({workspace.data(), workspace.size()}, workspace_bytes(kernel, value_type_of<T>), x_range, y_range);
  const auto scalar = [](const Scalar<T>& s) {
    Scalar<double> out(static_cast<double>(s.value));
    out.device = reinterpret_cast<const double*>(s.device);
    return out;
  };
  MultiplyCall call{.vectors = value_type_of<T>,
                    .alpha = scalar(alpha),
                    .beta = scalar(beta),
                    .x = x.data(),
                    .y = y.data(),
                    .workspace = workspace.data(),
                    .stream = stream};
  const auto& parts = impl_->parts;
  // The first part scales y in passing where it covers all rows, none of them twice; else that is done here. Later
  // parts add.
  const bool covered = !parts.empty() && parts[0].view.rows() == impl_->facts.rows;
  if (!covered) {
    scale_vector(call.vectors, call.beta, call.y, nullptr, impl_->facts.rows, stream);
    call.beta = Scalar<double>(1.0);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    call.kernel = kernel_of(parts[i], *impl_->layouts[i], kernel);
    multiply_part(parts[i], *impl_->layouts[i], call);
    call.beta = Scalar<double>(1.0);
  }
}
template void DeviceMatrix::multiply(std::type_identity_t<Scalar<double>>, std::span<const double>,
                                     std::type_identity_t<Scalar<double>>, std::span<double>, std::span<std::byte>,
                                     Stream, std::string_view) const;
template void DeviceMatrix::multiply(std::type_identity_t<Scalar<float>>, std::span<const float>,
                                     std::type_identity_t<Scalar<float>>, std::span<float>, std::span<std::byte>,
                                     Stream, std::string_view) const;

template <class T>
void DeviceMatrix::multiply_host_vectors(T alpha, std::span<const T> x, T beta, std::span<T> y,
                                         std::string_view kernel) const {
  const auto room = [](std::uint64_t bytes) { return std::pair{allocate({}, bytes), bytes}; };
  const auto x_room = room(x.size_bytes()), y_room = room(y.size_bytes());
  const auto workspace = room(workspace_bytes(kernel, value_type_of<T>));
  auto* const device_x = static_cast<T*>(x_room.first.get());
  auto* const device_y = static_cast<T*>(y_room.first.get());
  const auto copy = [](void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind) {
    if (bytes != 0) require_cuda(cudaMemcpy(to, from, bytes, kind), "copying a vector");
  };
  copy(device_x, x.data(), x.size_bytes(), cudaMemcpyHostToDevice);
  if (beta != 0) copy(device_y, y.data(), y.size_bytes(), cudaMemcpyHostToDevice);
  multiply<T>(alpha, {device_x, x.size()}, beta, {device_y, y.size()},
              {static_cast<std::byte*>(workspace.first.get()), workspace.second}, nullptr, kernel);
  require_cuda(cudaStreamSynchronize(nullptr), "multiplying");
  copy(y.data(), device_y, y.size_bytes(), cudaMemcpyDeviceToHost);
}
template void DeviceMatrix::multiply_host_vectors(double, std::span<const double>, double, std::span<double>,
                                                  std::string_view) const;
template void DeviceMatrix::multiply_host_vectors(float, std::span<const float>, float, std::span<float>,
                                                  std::string_view) const;

DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, std::string kernel)
    : matrix_(std::move(matrix)), kernel_(std::move(kernel)) {
  bytes_ = matrix_.workspace_bytes(kernel_, ValueType::f64);  // of f64 vectors: never less than of f32
  workspace_ = allocate({}, bytes_);
}

}  // namespace spmvpack::gpu_loader
