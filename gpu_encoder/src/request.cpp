#include "request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "csr_arrays.hpp"

namespace spmvpack::gpu_encoder {
namespace {

/// As all_layouts() has them.
constexpr std::array<std::string_view, 5> names{"csr", "ell", "sell", "csell", "bitflag"};

/// Whether one of these layouts has the setting.
bool is_on_device(std::string_view setting) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    const auto& settings = encoder::find_layout_encoder(name).settings;
    return std::any_of(settings.begin(), settings.end(), [&](const auto& s) { return s.name == setting; });
  });
}

}  // namespace

std::span<const std::string_view> layouts_on_device() { return names; }

DeviceEncodeRequest DeviceEncodeRequest::of(const encoder::EncodeRequest& request) {
  if (request.codec != format::Codec::none)
    throw Error(errc::usage, "a codec is for containers, and a device has none", {}, "ask for none");
  if (request.tuner)
    throw Error(errc::usage, "tuning is for encoding on the host", {}, "leave it out, or encode on the host");
  DeviceEncodeRequest on_device;
  on_device.strategy = request.strategy;
  on_device.settings = request.settings;
  on_device.aim = request.aim;
  on_device.transpose = request.transpose;
  on_device.updatable = request.updatable;
  on_device.force_size = request.force_size;
  return on_device;
}

void check_request(const DeviceEncodeRequest& request) {
  const encoder::Strategy& strategy = encoder::find_strategy(request.strategy);
  if (!strategy.chooses && std::find(names.begin(), names.end(), strategy.name) == names.end())
    throw Error(errc::unsupported, fmt::format("{} is planned on the host alone", strategy.name), {},
                fmt::format("name one of {}, or auto, or encode on the host", fmt::join(names, ", ")));
  encoder::check_settings(request.settings, strategy);
  for (const auto& [setting, value] : request.settings)
    if (!is_on_device(setting))
      throw Error(errc::unsupported, fmt::format("{} is of layouts that are planned on the host alone", setting), {},
                  "leave it out, or encode on the host");
  if (request.aim.target == encoder::Target::host)
    throw Error(errc::unsupported, "plans for hosts are made on the host alone", {},
                "aim for a GPU, or encode on the host");
}

encoder::PlanOptions plan_options(const DeviceEncodeRequest& request) {
  encoder::PlanOptions options;
  options.settings = request.settings;
  options.aim = request.aim;
  options.updatable = request.updatable;
  return options;
}

Csr csr_of(const DeviceCsr& m) {
  if (m.rows >= max_dimension || m.cols >= max_dimension)
    throw Error(errc::unsupported,
                fmt::format("a matrix of {} x {}: rows and columns must stay below {}", m.rows, m.cols, max_dimension));
  if (m.row_ptr_bits != 32 && m.row_ptr_bits != 64)
    throw Error(errc::usage, fmt::format("row pointers of {} bits", m.row_ptr_bits), {}, "give 32 or 64");
  const auto require = [](const void* array, const char* name) {
    if (array == nullptr)
      throw Error(errc::usage, fmt::format("{} is null", name), {}, "give its address on the device");
  };
  require(m.row_ptr, "row_ptr");
  if (m.nonzeros != 0) {
    require(m.col_idx, "col_idx");
    require(m.values, "values");
  }
  Csr a;
  a.rows = m.rows;
  a.cols = m.cols;
  a.nnz = m.nonzeros;
  if (m.row_ptr_bits == 32)
    a.narrow = static_cast<const std::uint32_t*>(m.row_ptr);
  else
    a.wide = static_cast<const std::uint64_t*>(m.row_ptr);
  a.col_idx = static_cast<const std::uint32_t*>(m.col_idx);
  a.value_bits = m.values;
  a.type = m.value_type;
  if (holds_complex(a.type))
    throw Error(errc::unsupported,
                fmt::format("complex values ({}) are not encoded on a device yet", to_string(a.type)), {},
                "encode the matrix on the host");
  if (size_of(a.type) == 0) throw Error(errc::usage, "values of an unknown type", {}, "give f64 or f32");
  return a;
}

}  // namespace spmvpack::gpu_encoder
