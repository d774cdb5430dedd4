#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "layouts/layouts.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack::encoder {
namespace {

const std::array<LayoutEncoder, 3>& encoders() {
  static const std::array<LayoutEncoder, 3> all{
      LayoutEncoder{"csr", "compressed sparse row: row pointers, columns, values", {}, layouts::plan_csr},
      LayoutEncoder{"coo", "coordinates: row, column and value of every entry", {}, layouts::plan_coo},
      LayoutEncoder{"ccoo", "compressed COO: chunks with 8/16/32-bit columns and a table of 256 values",
                    layouts::ccoo_settings, layouts::plan_ccoo},
  };
  return all;
}

}  // namespace

std::uint64_t Plan::device_bytes() const {
  std::uint64_t bytes = 0;
  for (const SectionSource& s : sections)
    if ((s.flags & format::section_device) != 0) bytes += s.raw_bytes();
  return bytes;
}

std::span<const LayoutEncoder> layout_encoders() { return encoders(); }

const LayoutEncoder& find_layout_encoder(std::string_view name) {
  std::vector<std::string_view> known;
  for (const LayoutEncoder& e : encoders()) {
    if (e.name == name) return e;
    known.push_back(e.name);
  }
  throw Error(errc::usage, fmt::format("the layout '{}' is not known", escape(name)), {},
              fmt::format("use one of: {}", fmt::join(known, ", ")));
}

void check_settings(const std::map<std::string, std::string>& settings) {
  std::vector<std::string_view> known;
  for (const LayoutEncoder& e : encoders())
    for (const Setting& s : e.settings) known.push_back(s.name);
  for (const auto& [name, value] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(errc::usage, fmt::format("the setting '{}' is not known", escape(name)), {},
                  fmt::format("use one of: {}", fmt::join(known, ", ")));
}

}  // namespace spmvpack::encoder
