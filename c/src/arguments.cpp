#include "arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>

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

}  // namespace

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
  if (c.target == SPMVPACK_TARGET_HOST) request.aim.target = encoder::Target::host;
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
