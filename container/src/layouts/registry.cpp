#include "spmvpack/container/layouts/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/coo.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack {
namespace {

constexpr std::array<LayoutSection, 3> csr_sections{{{"row_ptr"}, {"col_idx"}, {"values"}}};
constexpr std::array<LayoutSection, 3> coo_sections{{{"row_idx"}, {"col_idx"}, {"values"}}};
constexpr std::array<LayoutSection, 6> ccoo_sections{
    {{"encoding"}, {"row_base"}, {"col_base"}, {"blob_offset"}, {"blob", 256}, {"lut"}}};

constexpr std::array<LayoutReader, 3> readers{
    LayoutReader{"csr", csr_sections, layouts::csr::check, layouts::csr::unpack},
    LayoutReader{"coo", coo_sections, layouts::coo::check, layouts::coo::unpack},
    LayoutReader{"ccoo", ccoo_sections, layouts::ccoo::check, layouts::ccoo::unpack},
};

}  // namespace

std::span<const LayoutReader> layout_readers() { return readers; }

const LayoutReader& find_layout_reader(std::string_view name) {
  const auto found =
      std::find_if(readers.begin(), readers.end(), [&](const LayoutReader& r) { return r.name == name; });
  if (found == readers.end())
    throw Error(errc::unsupported, fmt::format("the layout '{}' is not known", escape(name)), {},
                "use the version that wrote the file");
  return *found;
}

}  // namespace spmvpack
