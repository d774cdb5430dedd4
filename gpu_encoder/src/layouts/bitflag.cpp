#include "layouts/bitflag.hpp"

#include <fmt/format.h>

namespace spmvpack::gpu_encoder::bitflag {
namespace {

std::string_view name_of(Source source) { return layouts::bitflag::source_names.at(static_cast<std::size_t>(source)); }

}  // namespace

const encoder::Setting& setting(std::size_t place) {
  return encoder::find_layout_encoder(layouts::bitflag::layout.name).settings[place];
}

void refuse_source(Source source) {
  throw Error(errc::unsupported,
              fmt::format("bitflag: bitflag.values={} is planned on the host alone", name_of(source)), {},
              "use raw, table, single or auto, or encode on the host");
}

void refuse_fewest_bytes() {
  throw Error(errc::unsupported, "bitflag: for fewest bytes, windows and decimals are tried, on the host alone", {},
              "set bitflag.values to raw or table, or encode on the host");
}

void refuse_values(Source source) {
  throw Error(errc::unsupported,
              fmt::format("bitflag: bitflag.values is {}, but the values do not repeat like that", name_of(source)), {},
              "use bitflag.values=raw, or auto");
}

void refuse_hot(std::uint64_t hot, std::uint64_t segments) {
  throw Error(errc::usage,
              fmt::format("bitflag.hot is {} and bitflag.segments {}: segments have no hot columns", hot, segments), {},
              "leave out one of them");
}

void refuse_segments(std::uint64_t segments, const Csr& a) {
  throw Error(
      errc::unsupported,
      fmt::format("bitflag: bitflag.segments is {}, the part has {} rows and {} columns", segments, a.rows, a.cols), {},
      "use another number, of segments of 1 to 65536 columns; or auto");
}

void refuse_stream() {
  throw Error(errc::unsupported, "bitflag: a stream of more than 2^32 units of 32 bytes", {}, "use another layout");
}

}  // namespace spmvpack::gpu_encoder::bitflag
