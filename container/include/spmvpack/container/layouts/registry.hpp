#pragma once
/// The layouts that this build knows, as the container sees them: how their bytes are checked and unpacked.

#include <span>
#include <string_view>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack {

struct LayoutSection {
  std::string_view name;
  std::uint32_t alignment = 16;
};

struct LayoutReader {
  std::string_view name;
  std::span<const LayoutSection> sections;  ///< those that the layout defines, all of them, in file order
  /// Throws Error(errc::corrupt) unless every index, offset and encoding of the part is sane, so that nothing which
  /// reads the part afterwards can leave its buffers. O(size), parallel.
  void (*check)(const PartView& part, int threads);
  /// The part's entries in local indices. The part has been checked.
  CsrMatrix (*unpack)(const PartView& part, int threads);
};

SPMVPACK_EXPORT std::span<const LayoutReader> layout_readers();
/// Error(errc::unsupported), naming it, where the layout is not known.
SPMVPACK_EXPORT const LayoutReader& find_layout_reader(std::string_view name);

}  // namespace spmvpack
