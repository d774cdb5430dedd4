#pragma once
// What the directory may say of a part's sections: which there are, their flags, alignment and order.

#include <span>
#include <string_view>
#include <vector>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack {

/// Takes the sections of one part, or those of no part, in file order.
class SectionRules {
 public:
  struct Verdict {
    bool known = false;
    std::string_view unsupported = {};  ///< what no reader of this version may leave alone; empty if it is nothing
    std::string_view wrong = {};        ///< what breaks the format; empty if nothing does
  };

  /// `part` outlives the rules; null for the sections of no part. `layout` describes the sections of the part's layout.
  SectionRules(const PartInfo* part, std::span<const SectionDescription> layout);

  Verdict next(const SectionInfo& section);
  /// A required section that has not come; empty if there is none.
  [[nodiscard]] std::string_view missing() const;

 private:
  [[nodiscard]] bool is_map(std::string_view name) const;

  const PartInfo* part_;
  std::span<const SectionDescription> layout_;
  std::size_t next_ = 0;                ///< the first of the layout's sections that may still come
  std::vector<std::string_view> came_;  ///< names of known sections, which the descriptions own
};

}  // namespace spmvpack
