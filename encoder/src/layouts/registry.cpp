#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "layouts/layouts.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::encoder {
std::span<const LayoutEncoder> layout_encoders() {
  static const std::array all{layouts::csr,   layouts::coo,     layouts::ell,  layouts::ellpack_r, layouts::sell,
                              layouts::pjds,  layouts::dia,     layouts::ccoo, layouts::amb,       layouts::pkt,
                              layouts::csell, layouts::bitflag, layouts::sjds};
  return all;
}

const LayoutEncoder& find_layout_encoder(std::string_view name) {
  std::vector<std::string_view> known;
  for (const LayoutEncoder& e : layout_encoders()) {
    if (e.name == name) return e;
    known.push_back(e.name);
  }
  throw Error(errc::usage, fmt::format("the layout '{}' is not known", escape(name)), {},
              fmt::format("use one of: {}", fmt::join(known, ", ")));
}

void fill_section(const PartPlan& plan, const CsrView& whole, std::size_t section, std::uint64_t begin,
                  std::span<std::byte> out) {
  for (const auto* const list : {plan.row_list.get(), plan.col_list.get()}) {
    if (list == nullptr) continue;
    if (section-- == 0) return layouts::copy_from(list->data(), begin, out);
  }
  const CsrView a = plan.entries != nullptr ? plan.entries->of(whole) : whole;
  find_layout_encoder(plan.info.layout).fill(plan, a, section, begin, out);
}

}  // namespace spmvpack::encoder
