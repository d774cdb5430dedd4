#include "spmvpack/encoder/settings.hpp"

#include <fmt/format.h>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder {

const Device& device_of(const Aim& aim) {
  static const Device usual;
  return aim.optimize == Objective::bytes ? usual : profile_of(aim).device;
}

void refuse_setting(const std::string& name, const std::string& value, std::string_view values) {
  throw Error(errc::usage, fmt::format("{} is '{}'", name, escape(value)), {}, fmt::format("use {}", values));
}

void refuse_shared_values(std::string_view name, std::string_view value) {
  throw Error(
      errc::usage,
      fmt::format("{} is {}, where an entry has no value of its own, and the matrix is to be updatable", name, value),
      {}, fmt::format("use {}=auto, or leave out --updatable (in C++, C and Python: updatable)", name));
}

std::optional<std::uint64_t> read_setting(const PlanOptions& options, const std::string& name, std::uint64_t least,
                                          std::uint64_t most, std::string_view word) {
  const auto found = options.settings.find(name);
  if (found == options.settings.end() || (!word.empty() && found->second == word)) return {};
  if (const auto value = whole_number(found->second, least, most)) return value;
  refuse_setting(name, found->second,
                 fmt::format("{}{}a number from {} to {}", word, word.empty() ? "" : " or ", least, most));
}

}  // namespace spmvpack::encoder
