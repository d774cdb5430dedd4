#include "arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

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
    case ValueType::c64:
      return SPMVPACK_C64;
    case ValueType::c128:
      return SPMVPACK_C128;
  }
  throw Error(errc::unsupported, "C has no name for the type of the values");
}

/// Of a structure that begins with `size`: the size of its first version, and what makes its default.
template <class T>
struct Growing;
template <>
struct Growing<spmvpack_encode_options> {
  static constexpr std::size_t first_size = offsetof(spmvpack_encode_options, target);
  static constexpr const char* made_by = "spmvpack_encode_default()";
};
template <>
struct Growing<spmvpack_load_options> {
  static constexpr std::size_t first_size = offsetof(spmvpack_load_options, cache_percent);
  static constexpr const char* made_by = "spmvpack_load_default()";
};
template <>
struct Growing<spmvpack_multiply_description> {
  static constexpr std::size_t first_size = offsetof(spmvpack_multiply_description, order_x);
  static constexpr const char* made_by = "spmvpack_multiply_default()";
};
template <>
struct Growing<spmvpack_payback> {
  static constexpr std::size_t first_size = offsetof(spmvpack_payback, measured) + sizeof(int);
  static constexpr const char* made_by = "spmvpack_payback_default()";
};

template <class T>
void require_size(std::size_t size) {
  if (size < Growing<T>::first_size || size > SPMVPACK_MAX_STRUCT_SIZE)
    throw Error(
        errc::usage,
        "the structure has a size of " + std::to_string(size) + ", this version's has " + std::to_string(sizeof(T)), {},
        std::string("start from ") + Growing<T>::made_by);
}

/// The caller's structure, whose size may be that of an older or a newer header, as spmvpack.h promises: fields that it
/// lacks are 0, and those that this version lacks must be.
template <class T>
T sized(const T* c) {
  static_assert(std::has_unique_object_representations_v<T>, "padding would hide a field of the next version");
  const std::size_t size = c->size;
  require_size<T>(size);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(c);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      throw Error(errc::unsupported, "a field of a newer version of the structure is set", "byte " + std::to_string(i),
                  "leave it 0, or use a newer library");
  T result{};
  std::memcpy(&result, bytes, std::min(size, sizeof(T)));
  return result;
}

/// The way back: writes `from` to a structure of `size` bytes. Fields that this version lacks become 0, and those that
/// the caller's lacks are not there.
template <class T>
void write_sized(T* c, std::size_t size, const T& from) {
  require_pointer(c, "the structure");
  require_size<T>(size);
  std::memset(c, 0, size);
  std::memcpy(c, &from, std::min(size, sizeof(T)));
  std::memcpy(c, &size, sizeof size);  // its first member
}

/// Copies row pointers or columns to the caller's array.
template <class From>
void copy_indices(const Array<From>& from, spmvpack_index type, void* to) {
  if (type == SPMVPACK_I64)
    std::copy(from.begin(), from.end(), static_cast<std::uint64_t*>(to));
  else
    std::transform(from.begin(), from.end(), static_cast<std::uint32_t*>(to),
                   [](From index) { return static_cast<std::uint32_t>(index); });
}

void require_indices(spmvpack_index type, std::uint64_t largest, const char* name) {
  require(type == SPMVPACK_I32 || type == SPMVPACK_I64, "no such type of indices");
  if (type == SPMVPACK_I32 && largest > std::numeric_limits<std::int32_t>::max())
    throw Error(errc::usage, std::string(name) + " up to " + std::to_string(largest) + " do not fit 32 bits", {},
                "use SPMVPACK_I64");
}

void set_aim(const spmvpack_encode_options& c, encoder::Aim& aim) {
  require(c.tune == SPMVPACK_TUNE_NONE || c.tune == SPMVPACK_TUNE_GPU || c.tune == SPMVPACK_TUNE_HOST,
          "no such machine to tune on");
  if (c.target_name != nullptr) encoder::set_target(aim, c.target_name);
  if (c.target == SPMVPACK_TARGET_HOST) {
    require(c.target_name == nullptr || aim.target == encoder::Target::host,
            "target is a host, and target_name is not");
    aim.target = encoder::Target::host;
  }
  if (c.tune != SPMVPACK_TUNE_NONE)
    encoder::set_tuned_target(aim, c.tune == SPMVPACK_TUNE_HOST ? encoder::Target::host : encoder::Target::gpu,
                              c.target_name != nullptr || c.target == SPMVPACK_TARGET_HOST);
}

/// What measures.
encoder::Tuner tuner_of(const spmvpack_encode_options& c) {
  if (c.tune == SPMVPACK_TUNE_HOST) return {host_loader::processor_name(), host_loader::measure_on_host(c.threads)};
  return {gpu_loader::device_name(c.tune_device, "tune on the host"),
          gpu_loader::measure_on_device(c.tune_device, c.threads)};
}

}  // namespace

void initialize(spmvpack_encode_options* c, std::size_t size) {
  write_sized(c, size,
              {.size = size,
               .layout = "auto",
               .settings = nullptr,
               .zstd_level = 0,
               .threads = 0,
               .force_size = 0,
               .transpose = 0,
               .target = SPMVPACK_TARGET_GPU,
               .optimize = SPMVPACK_OPTIMIZE_TIME,
               .memory_limit = 0,
               .target_name = nullptr,
               .tune = SPMVPACK_TUNE_NONE,
               .tune_device = 0,
               .updatable = 0});
}

void initialize(spmvpack_load_options* c, std::size_t size) {
  write_sized(c, size,
              {.size = size, .memory_limit = 0, .threads = 0, .check_contents = 0, .cache_percent = 0, .updatable = 0});
}

void initialize(spmvpack_multiply_description* c, std::size_t size, spmvpack_type vectors) {
  write_sized(c, size,
              {.size = size,
               .operation = SPMVPACK_OPERATION_N,
               .vectors = vectors,
               .right_hand_sides = 1,
               .ldx = 0,
               .ldy = 0,
               .scalars_on_device = 0,
               .kernel = 0,
               .order_x = SPMVPACK_ORDER_COLUMNS,
               .order_y = SPMVPACK_ORDER_COLUMNS,
               .row_factors = nullptr,
               .column_factors = nullptr,
               .complex_scalars = 0});
}

void initialize(spmvpack_payback* c, std::size_t size) {
  spmvpack_payback none{};
  none.size = size;
  write_sized(c, size, none);
}

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

void give(const spmvpack_payback& payback, spmvpack_payback* to) { write_sized(to, to->size, payback); }

ValueType type_of(spmvpack_type type) {
  for (const ValueType known : all_value_types)
    if (c_type_of(known) == type) return known;
  throw Error(errc::usage, "no such type of values or vectors");
}

spmvpack_info info_of(const MatrixFacts& facts, std::uint64_t device_bytes) {
  return {facts.rows, facts.cols, facts.nnz, device_bytes, c_type_of(facts.value_type)};
}

SparseArrays::SparseArrays(const spmvpack_csr& c, const void* values, int threads) {
  const ValueType type = type_of(c.value_type);
  if (c.rows >= max_dimension || c.nonzeros >= std::uint64_t{1} << 60)  // before rows + 1 or a pointer overflows
    throw Error(errc::unsupported, "more rows or nonzeros than a matrix can have");
  const std::span<const std::uint32_t> columns =
      with_indices(c.col_idx_type, c.col_idx, c.nonzeros, "col_idx", [&]<class I>(std::span<const I> all) {
        if constexpr (sizeof(I) == 8) {
          narrow = narrow_indices(all, c.cols, threads);
          return std::span<const std::uint32_t>(narrow.data(), narrow.size());
        } else {
          return std::span(reinterpret_cast<const std::uint32_t*>(all.data()), all.size());
        }
      });
  view = with_indices(c.row_ptr_type, c.row_ptr, c.rows + 1, "row_ptr", [&](auto row_ptr) {
    return dispatch_any(type, [&]<class T>(T) {
      return CsrView(c.rows, c.cols, row_ptr, columns, std::span(static_cast<const T*>(values), c.nonzeros));
    });
  });
}

void require_arrays(const spmvpack_csr_arrays& to, std::uint64_t rows, std::uint64_t cols, std::uint64_t nonzeros) {
  if (to.rows != rows || to.cols != cols || to.nonzeros != nonzeros)
    throw Error(errc::usage, "the arrays are for a matrix of another size", {},
                "take the sizes from spmvpack_get_container_info()");
  require_indices(to.row_ptr_type, nonzeros, "row pointers");
  require_indices(to.col_idx_type, cols == 0 ? 0 : cols - 1, "columns");
  require_pointer(to.row_ptr, "row_ptr");
  if (nonzeros != 0) require_pointer(to.col_idx, "col_idx");
}

void copy_pattern(const Array<std::uint64_t>& row_ptr, const Array<std::uint32_t>& col_idx,
                  const spmvpack_csr_arrays& to) {
  copy_indices(row_ptr, to.row_ptr_type, to.row_ptr);
  if (!col_idx.empty()) copy_indices(col_idx, to.col_idx_type, to.col_idx);
}

spmvpack_encode_options options_of(const spmvpack_encode_options* c) {
  if (c == nullptr) return spmvpack_encode_default();
  return sized(c);
}

LoadOptions options_of(const spmvpack_load_options* c) {
  if (c == nullptr) return {};
  const spmvpack_load_options options = sized(c);
  LoadOptions all;
  all.threads = options.threads;
  all.memory_limit = options.memory_limit;
  all.check_contents = options.check_contents != 0;
  all.updatable = options.updatable != 0;
  return all;
}

gpu_loader::DeviceLoadOptions device_options_of(const spmvpack_load_options* c) {
  const LoadOptions asked = options_of(c);
  gpu_loader::DeviceLoadOptions all;
  all.threads = asked.threads;
  all.memory_limit = asked.memory_limit;
  all.check_contents = asked.check_contents;
  all.updatable = asked.updatable;
  const std::int64_t percent = c == nullptr ? 0 : sized(c).cache_percent;
  require(percent >= 0 && percent <= 100, "cache_percent is not between 0 and 100");
  if (percent != 0) all.cache_share = static_cast<double>(percent) / 100;
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
  request.updatable = c.updatable != 0;
  return request;
}

spmvpack_multiply_description sized_description(const spmvpack_multiply_description* description) {
  require_pointer(description, "description");
  const auto c = sized(description);
  const ValueType vectors = type_of(c.vectors);  // which refuses what is none, whatever else is wrong
  require(c.complex_scalars == 0 || holds_complex(vectors), "complex alpha and beta with real vectors");
  return c;
}

spmvpack_multiply_description of_one_column(spmvpack_operation operation, spmvpack_type vectors) {
  spmvpack_multiply_description c = spmvpack_multiply_default(vectors);
  c.operation = operation;
  return c;
}

}  // namespace spmvpack::c
