#pragma once
// The layouts' planners, for the registry, and what they share.

#include <cstring>

#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder::layouts {

std::unique_ptr<Plan> plan_csr(const CsrView& a, const PlanOptions& options);
std::unique_ptr<Plan> plan_coo(const CsrView& a, const PlanOptions& options);
std::unique_ptr<Plan> plan_ccoo(const CsrView& a, const PlanOptions& options);
extern const std::span<const Setting> ccoo_settings;

/// A part that is the whole matrix.
inline PartInfo whole_matrix(std::string_view layout, const CsrView& a) {
  PartInfo part;
  part.layout = layout;
  part.value_type = a.value_type();
  part.rows.count = a.rows();
  part.cols.count = a.cols();
  part.nnz = a.nnz();
  return part;
}

inline SectionSource section(std::string_view name, format::ElementType type, std::uint64_t count,
                             std::uint32_t alignment = 16) {
  SectionSource s;
  s.name = name;
  s.element_type = type;
  s.count = count;
  s.alignment = alignment;
  return s;
}

/// A fill() from an array that is in memory as it will be in the file.
inline void copy_bytes(const void* array, std::uint64_t begin, std::span<std::byte> out) {
  if (!out.empty()) std::memcpy(out.data(), static_cast<const std::byte*>(array) + begin, out.size());
}

/// A fill() of elements T computed one by one: element(i) for those that touch bytes [begin, begin + out.size()).
template <class T, class F>
void compute_elements(std::uint64_t begin, std::span<std::byte> out, F&& element) {
  for (std::uint64_t at = 0; at < out.size();) {
    const std::uint64_t byte = begin + at, within = byte % sizeof(T);
    const T value = element(byte / sizeof(T));
    const std::uint64_t n = sizeof(T) - within < out.size() - at ? sizeof(T) - within : out.size() - at;
    std::memcpy(out.data() + at, reinterpret_cast<const std::byte*>(&value) + within, n);
    at += n;
  }
}

}  // namespace spmvpack::encoder::layouts
