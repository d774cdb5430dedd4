#pragma once
// The passes of gpu_encoder on the host, compared with encoder.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "containers.hpp"
#include "encode.hpp"
#include "execution/on_host.hpp"

namespace spmvpack::test {

/// Host memory, filled with nonsense, that knows what is not given back; allocation number `fails` finds none.
class HostArena {
 public:
  explicit HostArena(std::uint64_t fails = ~std::uint64_t{0}) : fails_(fails) {}
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena() = default;

  [[nodiscard]] gpu_loader::DeviceAllocator allocator() {
    return {[this](std::uint64_t bytes) -> void* {
              if (allocations_++ == fails_) return nullptr;
              void* const memory = std::aligned_alloc(256, round_up(bytes, 256));
              std::memset(memory, 0xA5, bytes);
              ++live_;
              return memory;
            },
            [this](void* memory) {
              --live_;
              std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
            }};
  }
  [[nodiscard]] gpu_encoder::MemorySource source() { return {allocator(), allocator()}; }
  [[nodiscard]] std::uint64_t live() const { return live_; }
  [[nodiscard]] std::uint64_t allocations() const { return allocations_; }

 private:
  std::uint64_t fails_, allocations_ = 0, live_ = 0;
};

inline gpu_encoder::DeviceCsr device_csr(const CsrView& a, const std::uint64_t* row_ptr) {
  gpu_encoder::DeviceCsr d;
  d.rows = a.rows();
  d.cols = a.cols();
  d.nonzeros = a.nnz();
  d.row_ptr = row_ptr;
  d.col_idx = a.col_idx();
  d.values = a.value_bytes();
  d.value_type = a.value_type();
  return d;
}
inline gpu_encoder::DeviceCsr device_csr(const CsrMatrix& a) { return device_csr(a.view(), a.row_ptr.data()); }

/// encode_sections() on the host. `memory` outlives the result.
inline gpu_encoder::EncodedMatrix encode_on_host(HostArena& arena, const gpu_encoder::DeviceCsr& a,
                                                 const gpu_encoder::DeviceEncodeRequest& request,
                                                 std::uint64_t* peak = nullptr) {
  gpu_encoder::check_request(request);
  gpu_encoder::Memory memory(arena.source(), request.memory_limit);
  gpu_encoder::EncodedMatrix encoded = gpu_encoder::encode_sections(gpu_encoder::OnHost(memory), a, request);
  if (peak != nullptr) *peak = memory.peak();
  return encoded;
}

/// Says where the parts differ from the container that encoder makes; empty: nowhere.
inline std::string difference(const std::vector<gpu_encoder::EncodedPart>& parts, const Container& expected) {
  const auto of = [](const IndexMap& map) {
    return std::to_string(static_cast<int>(map.kind)) + "," + std::to_string(map.count);
  };
  if (parts.size() != expected.parts().size()) return "parts";
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const PartInfo &own = parts[p].info, &other = expected.parts()[p];
    if (own.layout != other.layout || own.value_type != other.value_type || own.role != other.role ||
        own.nnz != other.nnz || of(own.rows) != of(other.rows) || of(own.cols) != of(other.cols))
      return "table entry";
    if (own.params != other.params) return "parameters";
    std::size_t next = 0;
    for (std::size_t s = 0; s < expected.sections().size(); ++s) {
      const SectionInfo& section = expected.sections()[s];
      if (section.part != p) continue;
      if (next == parts[p].sections.size()) return "no section " + section.name;
      const gpu_encoder::EncodedSection& made = parts[p].sections[next++];
      if (made.name != section.name) return "section " + std::string(made.name) + " instead of " + section.name;
      if (made.bytes != section.raw_bytes)
        return section.name + ": " + std::to_string(made.bytes) + " bytes, not " + std::to_string(section.raw_bytes);
      const auto bytes = expected.read_section(s);
      const auto* const own_bytes = static_cast<const std::byte*>(made.memory.get());
      if (made.bytes == 0 || std::memcmp(own_bytes, bytes.data(), made.bytes) == 0) continue;
      for (std::uint64_t i = 0; i < made.bytes; ++i)
        if (own_bytes[i] != bytes[i]) return section.name + ": byte " + std::to_string(i);
    }
    if (next != parts[p].sections.size()) return "section " + std::string(parts[p].sections[next].name);
  }
  return {};
}

using Settings = std::map<std::string, std::string>;

/// What encoder makes of the matrix. Empty: it refuses it.
inline std::vector<std::byte> encoded_by_host(const CsrMatrix& a, const gpu_encoder::DeviceEncodeRequest& request) {
  encoder::EncodeRequest same;
  same.settings = request.settings;
  same.aim = request.aim;
  same.transpose = request.transpose;
  same.updatable = request.updatable;
  same.force_size = request.force_size;
  same.threads = 1;
  same.strategy = request.strategy;
  MemorySink sink;
  try {
    encoder::encode(a.view(), same, sink);
  } catch (const Error& e) {
    if (e.code() != errc::unsupported) throw;
    return {};
  }
  return bytes_of(sink);
}

/// Where the passes on the host differ from encoder, refusals included; empty: nowhere. Leaves nothing allocated.
inline std::string compared(const CsrMatrix& a, const gpu_encoder::DeviceEncodeRequest& request) {
  const std::vector<std::byte> file = encoded_by_host(a, request);
  HostArena arena;
  std::string result;
  try {
    const gpu_encoder::EncodedMatrix encoded = encode_on_host(arena, device_csr(a), request);
    result = file.empty() ? "not refused" : difference(encoded.parts, open(file));
  } catch (const Error& e) {
    if (e.code() != errc::unsupported) throw;
    if (!file.empty()) result = std::string("refused: ") + e.what();
  }
  return arena.live() == 0 ? result : result + " memory is left";
}

}  // namespace spmvpack::test
