#pragma once
/// Comma-separated values (RFC 4180, but lines end in \n), as pandas.read_csv() and the like read them.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spmvpack::tools {

/// A line of fields; those with commas, quotes or line breaks are quoted.
inline std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line + '\n';
}

inline std::string csv_flag(bool flag) { return flag ? "true" : "false"; }
/// Empty if there is no value.
template <class T>
std::string csv_optional(const std::optional<T>& value) {
  return value ? fmt::to_string(*value) : "";
}

}  // namespace spmvpack::tools
