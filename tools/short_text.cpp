#include "short_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {

std::string shortened(const std::string& path, std::size_t width) {
  std::string name = escape(path, 4096);
  std::vector<std::size_t> starts;  // of the code points
  const auto find_starts = [&] {
    starts.clear();
    for (std::size_t i = 0; i < name.size(); ++i)
      if ((static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  };
  find_starts();
  if (starts.size() <= width) return name;
  name = name.substr(name.rfind('/') + 1);
  find_starts();
  if (starts.size() <= width) return name;
  constexpr std::string_view gap = "..";
  const std::size_t tail = (width - gap.size()) / 2, head = width - gap.size() - tail;
  return name.substr(0, starts[head]).append(gap) + name.substr(starts[starts.size() - tail]);
}

std::string short_count(std::uint64_t number) {
  if (number < 1'000'000) return grouped(number);
  constexpr std::array units{'M', 'G', 'T', 'P', 'E'};
  double value = static_cast<double>(number) / 1e6;
  std::size_t unit = 0;
  // 999.5, because from there on it would be printed as 1000.
  while (value >= 999.5 && unit + 1 < units.size()) value /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, units.at(unit));
}

}  // namespace spmvpack::tools
