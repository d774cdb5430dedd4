#pragma once
// What is on the device, as the host reads it: for what is not worth a kernel.

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "matrix.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// A part's sections, copied back.
class PartOnHost {
 public:
  PartOnHost(const PartView& device, Stream stream) {
    std::vector<PartView::Section> sections;
    for (const SectionDescription& d : sections_of(device.info())) {
      const PartView::Section* const section = device.find(d.name);
      if (section == nullptr) continue;
      const std::span<const std::byte> from = section->bytes;
      if (from.data() == nullptr && !from.empty())
        throw Error(errc::unsupported, fmt::format("section '{}' is on no device, and is needed on the host", d.name),
                    device.where(), "give it in device memory, too, or keep the container that it comes from");
      bytes_.emplace_back(from.size());
      if (!from.empty())
        require_cuda(cudaMemcpyAsync(bytes_.back().data(), from.data(), from.size(), cudaMemcpyDeviceToHost, stream),
                     "reading sections back");
      sections.push_back({section->name, section->type, {bytes_.back().data(), from.size()}});
    }
    require_cuda(cudaStreamSynchronize(stream), "reading sections back");
    view.emplace(device.info(), std::move(sections), device.where());
  }
  std::optional<PartView> view;

 private:
  static std::vector<SectionDescription> sections_of(const PartInfo& info) {
    const auto of_layout = spmvpack::find_layout(info.layout).sections;
    std::vector<SectionDescription> all(of_layout.begin(), of_layout.end());
    all.push_back(row_map_section);
    all.push_back(col_map_section);
    return all;
  }
  std::vector<Array<std::byte>> bytes_;
};

/// All parts of a matrix.
class PartsOnHost {
 public:
  PartsOnHost(std::span<const DevicePart> parts, Stream stream) {
    copies_.reserve(parts.size());
    for (const DevicePart& part : parts) copies_.emplace_back(part.view, stream);
    for (const PartOnHost& copy : copies_) views_.push_back(&*copy.view);
  }
  PartsOnHost(const PartsOnHost&) = delete;
  PartsOnHost& operator=(const PartsOnHost&) = delete;
  ~PartsOnHost() = default;

  [[nodiscard]] std::span<const PartView* const> views() const noexcept { return views_; }

 private:
  std::vector<PartOnHost> copies_;
  std::vector<const PartView*> views_;
};

}  // namespace spmvpack::gpu_loader
