// Loading: memory, upload, checks, and what the layouts build.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "check.hpp"
#include "cuda_error.hpp"
#include "matrix.hpp"
#include "placement.hpp"
#include "upload.hpp"

namespace spmvpack::gpu_loader {
namespace {

[[noreturn]] void refuse_memory(std::uint64_t bytes, std::uint64_t limit, const char* kind, const std::string& name) {
  throw Error(errc::out_of_memory,
              fmt::format("loading {} needs {} bytes of device memory, {} are {}", name, bytes, limit, kind), {},
              "use a smaller layout, another GPU, or a higher limit");
}

/// `bytes` is the total that the load has requested.
void require_limit(std::uint64_t bytes, const DeviceLoadOptions& options, const std::string& name) {
  if (options.memory_limit != 0 && bytes > options.memory_limit)
    refuse_memory(bytes, options.memory_limit, "allowed", name);
}

void require_device_memory(std::uint64_t bytes, const DeviceLoadOptions& options, const std::string& name) {
  std::size_t free = 0, total = 0;
  require_cuda(cudaMemGetInfo(&free, &total), "querying the GPU's memory");
  if (options.memory_limit == 0 && bytes > free) refuse_memory(bytes, free, "free", name);
  require_limit(bytes, options, name);
}

/// A view of a part whose sections are in device memory. Sections for the host alone have a size, but no address.
PartView device_view(std::span<const SectionInfo> infos, const Placement& placement, std::size_t index,
                     const PartInfo& part, const std::byte* memory, const std::string& container) {
  std::vector<PartView::Section> sections;
  for (const Placed& placed : placement.sections) {
    const SectionInfo& s = infos[placed.section];
    if (s.part == index) sections.push_back({s.name, s.element_type, {memory + placed.offset, s.raw_bytes}});
  }
  constexpr const std::byte* nowhere = nullptr;
  for (const SectionInfo& s : infos)
    if (s.known && s.part == index && (s.flags & format::section_device) == 0)
      sections.push_back({s.name, s.element_type, {nowhere, s.raw_bytes}});
  return {part, std::move(sections), fmt::format("{}: part {}", container, index)};
}

/// The kernels of the part that the options ask for.
std::vector<std::size_t> wanted_kernels(const DevicePart& part, const DeviceLoadOptions& options) {
  std::vector<std::size_t> wanted;
  for (const KernelId kernel : options.kernels) {
    const KernelPlace place = kernel.is_default() ? KernelPlace{part.layout, part.default_kernel} : place_of(kernel);
    if (place.layout == part.layout) wanted.push_back(place.kernel);
  }
  if (wanted.empty())
    for (std::size_t i = 0; i < kernel_tables()[part.layout]->kernels.size(); ++i) wanted.push_back(i);
  return wanted;
}

}  // namespace

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

DeviceMatrix DeviceMatrix::load(const Container& container, Stream stream, const DeviceLoadOptions& options) {
  auto impl = std::make_shared<Impl>();
  impl->facts = container.facts();
  impl->infos = container.parts();
  impl->sections = container.sections();
  for (const PartInfo& info : impl->infos)
    impl->layouts.push_back(find_layout(info.layout));  // refuses before the bytes are read
  for (const KernelId kernel : options.kernels)
    if (!kernel.is_default()) require_kernel(impl->layouts, kernel);
  if (options.check_contents)
    check_contents(
        container,
        {.threads = options.threads, .verify_checksums = options.verify_checksums, .progress = options.progress});
  impl->device = device_facts();
  const Placement placement = place(impl->sections);
  require_device_memory(placement.bytes, options, container.name());
  impl->section_bytes = container.device_bytes();
  impl->memory = allocate(options.allocator, placement.bytes);
  auto* const memory = static_cast<std::byte*>(impl->memory.get());
  for (std::size_t i = 0; i < impl->infos.size(); ++i) {
    const std::size_t layout = impl->layouts[i];
    impl->parts.push_back({device_view(impl->sections, placement, i, impl->infos[i], memory, container.name()),
                           layout,
                           default_place(*kernel_tables()[layout], impl->infos[i]),
                           nullptr,
                           {}});
  }
  std::shared_ptr<void> ring = upload(container, placement, memory, stream, options);
  if (options.check_structure) {
    StructureCheck check(impl->parts, impl->facts, stream);
    ring.reset();  // while the GPU checks
    check.finish(container.name());
  }
  ring.reset();
  LoadContext context;
  context.device = impl->device;
  context.stream = stream;
  context.allocate = [&](std::uint64_t bytes) {
    impl->prepared_bytes += bytes;
    require_limit(placement.bytes + impl->prepared_bytes, options, container.name());
    return allocate(options.allocator, bytes);
  };
  for (DevicePart& part : impl->parts) {
    context.kernels = wanted_kernels(part, options);
    const std::uint64_t taken = placement.bytes + impl->prepared_bytes;
    context.room = options.memory_limit == 0 ? ~std::uint64_t{0} : options.memory_limit - taken;
    const LayoutKernels& layout = layout_kernels(part.layout);
    if (layout.prepare != nullptr) part.state = layout.prepare(part.view, context);
    part.kernels = context.kernels;
  }
  impl->allocated_bytes = placement.bytes + impl->prepared_bytes;
  return DeviceMatrix(std::move(impl));
}

DeviceMatrix DeviceMatrix::load(const std::string& path, Stream stream, const DeviceLoadOptions& options) {
  return load(Container::open(path), stream, options);
}

}  // namespace spmvpack::gpu_loader
