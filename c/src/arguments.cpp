#include "arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/timing.hpp"
#include "spmvpack/host_loader/timing.hpp"

namespace spmvpack::c {
namespace {

spmvpack_type c_type_of(ValueType type) {
  switch (type) {
    case ValueType::f64:
      return SPMVPACK_F64;
    case ValueType::f32:
      return SPMVPACK_F32;
  }
  throw Error(errc::unsupported, "C has no name for the type of the values");
}

/// The caller's structure, whose size may be that of an older or a newer header, as spmvpack.h promises: fields that it
/// lacks are 0, and those that this version lacks must be. `first_size` is that of the structure's first version.
template <class T>
T sized(const T* c, std::size_t first_size, const char* made_by) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would hide a field of the next version");
  const std::size_t size = c->size;
  if (size < first_size || size > SPMVPACK_MAX_STRUCT_SIZE)
    throw Error(
        errc::usage,
        "the structure has a size of " + std::to_string(size) + ", this version's has " + std::to_string(sizeof(T)), {},
        std::string("start from ") + made_by);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(c);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      throw Error(errc::unsupported, "a field of a newer version of the structure is set", "byte " + std::to_string(i),
                  "leave it 0, or use a newer library");
  T result{};
  std::memcpy(&result, bytes, std::min(size, sizeof(T)));
  return result;
}

void set_aim(const spmvpack_encode_options& c, encoder::Aim& aim) {
  const auto is_given = [&] { return c.target_name != nullptr || c.target == SPMVPACK_TARGET_HOST; };
  require(c.tune == SPMVPACK_TUNE_NONE || c.tune == SPMVPACK_TUNE_GPU || c.tune == SPMVPACK_TUNE_HOST,
          "no such machine to tune on");
  if (c.target_name != nullptr) encoder::set_target(aim, c.target_name);
  if (c.target == SPMVPACK_TARGET_HOST) {
    require(c.target_name == nullptr || aim.target == encoder::Target::host,
            "target is a host, and target_name is not");
    aim.target = encoder::Target::host;
  }
  if (c.tune == SPMVPACK_TUNE_NONE) return;
  const encoder::Target tuned = c.tune == SPMVPACK_TUNE_HOST ? encoder::Target::host : encoder::Target::gpu;
  if (!is_given()) aim.target = tuned;
  if (aim.target != tuned)
    throw Error(errc::usage, "tune is for another kind of machine than the target", {},
                "leave out the target, which tune implies");
}

/// What measures.
encoder::Tuner tuner_of(const spmvpack_encode_options& c) {
  if (c.tune == SPMVPACK_TUNE_HOST) return {host_loader::processor_name(), host_loader::measure_on_host(c.threads)};
  if (!gpu_loader::built_with_cuda())
    throw Error(errc::unsupported, "this library was built without CUDA", {}, "tune on the host, or build with CUDA");
  const std::vector<gpu_loader::DeviceInfo> devices = gpu_loader::devices();
  if (devices.empty())
    throw Error(errc::no_device, "no GPU, or no driver for one", {}, "tune on the host, or check nvidia-smi");
  if (c.tune_device < 0 || static_cast<std::size_t>(c.tune_device) >= devices.size())
    throw Error(errc::usage, "tune_device is " + std::to_string(c.tune_device), {},
                "there are " + std::to_string(devices.size()) + " GPUs, counted from 0");
  return {devices[static_cast<std::size_t>(c.tune_device)].name,
          gpu_loader::measure_on_device(c.tune_device, c.threads)};
}

}  // namespace

spmvpack_payback payback_of(const encoder::EncodeResult& result) {
  spmvpack_payback payback = spmvpack_payback_default();
  if (!result.plan.beside_csr) return payback;
  payback.seconds = result.plan.beside_csr->seconds;
  payback.csr_seconds = result.plan.beside_csr->csr_seconds;
  payback.encode_seconds = result.plan_seconds + result.write_seconds;
  payback.multiplies = result.pays_after().value_or(SPMVPACK_NEVER);
  payback.known = 1;
  payback.measured = result.plan.beside_csr->measured ? 1 : 0;
  return payback;
}

void give(const spmvpack_payback& payback, spmvpack_payback* to) {
  const std::size_t size = to->size;
  if (size < sizeof payback || size > SPMVPACK_MAX_STRUCT_SIZE)  // the first version's
    throw Error(errc::usage, "the structure has a size of " + std::to_string(size), {},
                "start from spmvpack_payback_default()");
  std::memset(to, 0, size);
  std::memcpy(to, &payback, sizeof payback);
  to->size = size;
}

ValueType type_of(spmvpack_type type) {
  for (const ValueType known : spmvpack::value_types)
    if (c_type_of(known) == type) return known;
  throw Error(errc::usage, "no such type of values or vectors");
}

spmvpack_info info_of(const MatrixFacts& facts, std::uint64_t device_bytes) {
  return {facts.rows, facts.cols, facts.nnz, device_bytes, c_type_of(facts.value_type)};
}

spmvpack_encode_options options_of(const spmvpack_encode_options* c) {
  if (c == nullptr) return spmvpack_encode_default();
  return sized(c, offsetof(spmvpack_encode_options, target), "spmvpack_encode_default()");
}

LoadOptions options_of(const spmvpack_load_options* c) {
  if (c == nullptr) return {};
  const spmvpack_load_options options = sized(c, sizeof *c, "spmvpack_load_default()");
  LoadOptions all;
  all.threads = options.threads;
  all.memory_limit = options.memory_limit;
  all.check_contents = options.check_contents != 0;
  return all;
}

encoder::EncodeRequest request_of(const spmvpack_encode_options& c) {
  encoder::EncodeRequest request;
  require_pointer(c.layout, "layout");
  require(c.target == SPMVPACK_TARGET_GPU || c.target == SPMVPACK_TARGET_HOST, "no such target");
  require(c.optimize == SPMVPACK_OPTIMIZE_TIME || c.optimize == SPMVPACK_OPTIMIZE_BYTES, "no such objective");
  require(c.zstd_level >= 0 && c.zstd_level <= 19, "zstd_level is not between 0 and 19");
  request.strategy = c.layout;
  set_aim(c, request.aim);
  if (c.tune != SPMVPACK_TUNE_NONE) request.tuner = tuner_of(c);
  if (c.optimize == SPMVPACK_OPTIMIZE_BYTES) request.aim.optimize = encoder::Objective::bytes;
  for (const char* const* setting = c.settings; setting != nullptr && *setting != nullptr; ++setting) {
    const std::string_view text = *setting;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
      throw Error(errc::usage, "the setting '" + std::string(text) + "' is not NAME=VALUE");
    request.settings[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  if (c.zstd_level != 0) request.codec = format::Codec::zstd;
  if (c.zstd_level != 0) request.level = c.zstd_level;
  request.threads = c.threads;
  request.force_size = c.force_size != 0;
  request.transpose = c.transpose != 0;
  return request;
}

spmvpack_multiply_description sized_description(const spmvpack_multiply_description* description) {
  require_pointer(description, "description");
  const auto c = sized(description, offsetof(spmvpack_multiply_description, order_x), "spmvpack_multiply_default()");
  (void)type_of(c.vectors);  // which refuses what is none, whatever else is wrong
  return c;
}

spmvpack_multiply_description of_one_column(spmvpack_operation operation, spmvpack_type vectors) {
  spmvpack_multiply_description c = spmvpack_multiply_default(vectors);
  c.operation = operation;
  return c;
}

}  // namespace spmvpack::c
