#include "spmvpack/container/layouts/registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/amb.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"
#include "spmvpack/container/layouts/coo.hpp"
#include "spmvpack/container/layouts/csell.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/dia.hpp"
#include "spmvpack/container/layouts/ell.hpp"
#include "spmvpack/container/layouts/ellpack_r.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pkt.hpp"
#include "spmvpack/container/layouts/sell.hpp"
#include "spmvpack/container/layouts/sjds.hpp"

namespace spmvpack {
namespace {

constexpr std::array all{
    &layouts::csr::layout,  &layouts::coo::layout,  &layouts::ell::layout,   &layouts::ellpack_r::layout,
    &layouts::sell::layout, &layouts::pjds::layout, &layouts::dia::layout,   &layouts::ccoo::layout,
    &layouts::amb::layout,  &layouts::pkt::layout,  &layouts::csell::layout, &layouts::bitflag::layout,
    &layouts::sjds::layout,
};

}  // namespace

std::span<const Layout* const> layouts_known() { return all; }

const Layout& find_layout(std::string_view name) {
  for (const Layout* const layout : all)
    if (layout->name == name) return *layout;
  throw Error(errc::unsupported, fmt::format("the layout '{}' is not known", escape(name)), {},
              "use the version that wrote the file");
}

}  // namespace spmvpack
