// Loading: memory, upload, checks, and what the layouts build.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "check.hpp"
#include "matrix.hpp"
#include "part_on_host.hpp"
#include "placement.hpp"
#include "spmvpack/container/file/updated.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
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

/// A container's sections in device memory. Those for the host alone have a size, but no address.
CountedVector<DeviceSection> sections_in(const std::byte* memory, std::span<const SectionInfo> infos,
                                         const Placement& placement) {
  CountedVector<DeviceSection> sections;
  for (const Placed& placed : placement.sections) {
    const SectionInfo& s = infos[placed.section];
    sections.push_back({s.part, s.name, {memory + placed.offset, s.raw_bytes}});
  }
  constexpr const std::byte* nowhere = nullptr;
  for (const SectionInfo& s : infos)
    if (s.known && s.part != format::no_part && (s.flags & format::section_device) == 0)
      sections.push_back({s.part, s.name, {nowhere, s.raw_bytes}});
  return sections;
}

/// The description of a section of that name. Error(errc::usage).
const SectionDescription& description_of(const std::string& name, const PartInfo& part, const std::string& where) {
  if (name == row_map_section.name) return row_map_section;
  if (name == col_map_section.name) return col_map_section;
  const Layout& layout = spmvpack::find_layout(part.layout);
  const auto found = std::find_if(layout.sections.begin(), layout.sections.end(),
                                  [&](const SectionDescription& s) { return s.name == name; });
  if (found != layout.sections.end()) return *found;
  throw Error(errc::usage, fmt::format("layout {} has no section '{}'", part.layout, name), where,
              "docs/FORMAT.md lists the sections of each layout");
}

/// Makes the parts' views, which point to the infos and to the names of layouts.
void make_parts(DeviceMatrix::Impl& impl, std::span<const DeviceSection> sections, const std::string& name) {
  const std::span<const PartInfo> infos = impl.infos;
  impl.views = MemoryReservation(infos.size() * name.size() + sections.size() * sizeof(PartView::Section));
  CountedVector<std::vector<PartView::Section>> views(infos.size());
  for (const DeviceSection& s : sections) {
    const SectionDescription& d = description_of(s.name, infos[s.part], name);
    views[s.part].push_back({d.name, d.type(infos[s.part]), s.bytes});
  }
  impl.parts.reserve(infos.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const std::size_t layout = gpu_loader::find_layout(infos[i].layout);
    impl.parts.push_back({PartView(infos[i], std::move(views[i]), fmt::format("{}: part {}", name, i)),
                          layout,
                          default_place(*kernel_tables()[layout], infos[i]),
                          nullptr,
                          {}});
  }
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

namespace {

/// Memory until the load ends, on the allocator's terms.
std::function<std::shared_ptr<void>(std::uint64_t)> scratch_of(const DeviceLoadOptions& options) {
  return [&options](std::uint64_t bytes) { return allocate(options.allocator, bytes); };
}

void require_options(std::span<const std::size_t> layouts, const DeviceLoadOptions& options) {
  if (!(options.cache_share >= 0 && options.cache_share <= 1))
    throw Error(errc::usage, fmt::format("cache_share is {}", options.cache_share), {}, "use a number from 0 to 1");
  for (const KernelId kernel : options.kernels)
    if (!kernel.is_default()) require_kernel(layouts, kernel);
}

/// Memory for what a load builds beside sections of so many bytes, counted, and held to the limit. The options and the
/// name outlive it.
std::function<std::shared_ptr<void>(std::uint64_t)> prepared_memory(DeviceMatrix::Impl& impl, std::uint64_t bytes,
                                                                    const DeviceLoadOptions& options,
                                                                    const std::string& name) {
  return [&impl, bytes, &options, &name](std::uint64_t more) {
    impl.prepared_bytes += more;
    require_limit(bytes + impl.prepared_bytes, options, name);
    return allocate(options.allocator, more);
  };
}

/// Builds what the parts' kernels need, once the parts are checked. `bytes` are those of the sections.
void prepare(DeviceMatrix::Impl& impl, std::uint64_t bytes, Stream stream, const DeviceLoadOptions& options,
             const std::string& name) {
  LoadContext context;
  context.device = impl.device;
  impl.cache_share = options.cache_share;
  context.stream = stream;
  context.scratch = scratch_of(options);
  context.allocate = prepared_memory(impl, bytes, options, name);
  for (DevicePart& part : impl.parts) {
    context.kernels = wanted_kernels(part, options);
    const std::uint64_t taken = bytes + impl.prepared_bytes;
    context.room = options.memory_limit == 0 ? ~std::uint64_t{0} : options.memory_limit - taken;
    const LayoutKernels& layout = layout_kernels(part.layout);
    if (layout.prepare != nullptr) part.state = layout.prepare(part.view, context);
    part.kernels = context.kernels;
  }
  impl.allocated_bytes = bytes + impl.prepared_bytes;
}

/// Builds what update_values() needs. host: the parts' bytes.
void prepare_updates(DeviceMatrix::Impl& impl, std::span<const PartView* const> host, std::uint64_t bytes,
                     Stream stream, const DeviceLoadOptions& options, const std::string& name) {
  std::vector<const PartView*> device;
  for (const DevicePart& part : impl.parts) device.push_back(&part.view);
  impl.updates =
      make_updates(impl.facts, host, device, prepared_memory(impl, bytes, options, name), stream, options.threads);
  impl.facts = without_values(impl.facts);
  impl.allocated_bytes = bytes + impl.prepared_bytes;
}

}  // namespace

DeviceMatrix DeviceMatrix::load(const Container& container, Stream stream, const DeviceLoadOptions& options) {
  if (holds_complex(container.facts().value_type))
    throw Error(
        errc::unsupported,
        fmt::format("a GPU does not multiply by complex values ({}) yet", to_string(container.facts().value_type)),
        container.name(), "load the matrix on the host");
  auto impl = std::make_shared<Impl>();
  impl->facts = container.facts();
  impl->infos.assign(container.parts().begin(), container.parts().end());
  for (const PartInfo& info : impl->infos)
    impl->layouts.push_back(find_layout(info.layout));  // refuses before the bytes are read
  require_options(impl->layouts, options);
  if (options.check_contents)
    check_contents(
        container,
        {.threads = options.threads, .verify_checksums = options.verify_checksums, .progress = options.progress});
  impl->device = device_facts();
  const Placement placement = place(container.sections());
  require_device_memory(placement.bytes, options, container.name());
  impl->bytes_of_a = container.device_bytes();
  impl->bytes_of_transpose = container.device_bytes(format::Role::transpose);
  impl->memory = allocate(options.allocator, placement.bytes);
  auto* const memory = static_cast<std::byte*>(impl->memory.get());
  make_parts(*impl, sections_in(memory, container.sections(), placement), container.name());
  std::shared_ptr<void> ring = upload(container, placement, memory, stream, options);
  if (options.check_structure) {
    StructureCheck check(impl->parts, impl->facts, stream, scratch_of(options));
    ring.reset();  // while the GPU checks
    check.finish(container.name());
  }
  ring.reset();
  prepare(*impl, placement.bytes, stream, options, container.name());
  if (options.updatable) {
    std::vector<LoadedPart> loaded;  // the device has checked them
    for (std::size_t i = 0; i < impl->parts.size(); ++i)
      loaded.push_back(container.load_part(
          i, {.threads = options.threads, .verify_checksums = false, .check_structure = !options.check_structure}));
    std::vector<const PartView*> host;
    host.reserve(loaded.size());
    for (const LoadedPart& part : loaded) host.push_back(&part.view());
    prepare_updates(*impl, host, placement.bytes, stream, options, container.name());
  }
  return DeviceMatrix(std::move(impl));
}

DeviceMatrix DeviceMatrix::of_sections(DeviceContents contents, Stream stream, const DeviceLoadOptions& options) {
  const std::string name = "sections in device memory";
  if (options.check_contents)
    throw Error(errc::usage, "contents are checked on the host, and these are in device memory", name,
                "leave check_contents away");
  check_parts(contents.facts, contents.parts, name);
  auto impl = std::make_shared<Impl>();
  impl->facts = contents.facts;
  impl->infos.assign(contents.parts.begin(), contents.parts.end());
  for (const PartInfo& info : impl->infos) impl->layouts.push_back(find_layout(info.layout));
  require_options(impl->layouts, options);
  std::uint64_t bytes = 0;
  for (PartInfo& info : impl->infos) info.counts = {};
  for (const DeviceSection& s : contents.sections) {
    if (s.part >= impl->infos.size())
      throw Error(errc::usage,
                  fmt::format("section '{}' of part {}, and there are {}", s.name, s.part, impl->infos.size()), name);
    PartInfo& info = impl->infos[s.part];
    const SectionDescription& description = description_of(s.name, info, name);
    if (std::uint64_t* const count = find_count(info, s.name))
      *count = s.bytes.size() / format::size_of(description.type(info));
    if (!description.device()) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(s.bytes.data());
    if (address % format::section_boundary != 0 || (address == 0 && !s.bytes.empty()))
      throw Error(errc::usage, fmt::format("section '{}' of part {} is not on a 256-byte boundary", s.name, s.part),
                  name);
    bytes = checked_add(bytes, s.bytes.size(), "bytes of sections");
    (info.role == format::Role::a ? impl->bytes_of_a : impl->bytes_of_transpose) += s.bytes.size();
  }
  require_limit(bytes, options, name);
  impl->device = device_facts();
  impl->memory = std::const_pointer_cast<void>(std::move(contents.owner));
  make_parts(*impl, contents.sections, name);
  for (const DevicePart& part : impl->parts) check_shape(part.view);
  if (options.check_structure) StructureCheck(impl->parts, impl->facts, stream, scratch_of(options)).finish(name);
  prepare(*impl, bytes, stream, options, name);
  if (options.updatable) {
    const PartsOnHost host(impl->parts, stream);
    prepare_updates(*impl, host.views(), bytes, stream, options, name);
  }
  return DeviceMatrix(std::move(impl));
}

std::uint64_t DeviceMatrix::write(ByteSink& sink, Stream stream, const WriteOptions& options) const {
  if (impl_->facts.share)
    throw Error(errc::unsupported, "a rank's share is not written from a device", {},
                "keep the container that it was loaded from");
  const PartsOnHost host(impl_->parts, stream);
  return write_parts(sink, {.facts = impl_->facts, .provenance = {}, .share = {}}, host.views(), options);
}

std::vector<PartSource> DeviceMatrix::part_sources(Stream stream) const {
  const auto host = std::make_shared<const PartsOnHost>(impl_->parts, stream);
  std::vector<PartSource> sources = spmvpack::part_sources(host->views());
  for (PartSource& part : sources)
    for (SectionSource& section : part.sections)
      section.fill = [host, fill = std::move(section.fill)](std::uint64_t begin, std::span<std::byte> out) {
        fill(begin, out);
      };
  return sources;
}

DeviceMatrix DeviceMatrix::load(const std::string& path, Stream stream, const DeviceLoadOptions& options) {
  return load(Container::open(path), stream, options);
}

}  // namespace spmvpack::gpu_loader
