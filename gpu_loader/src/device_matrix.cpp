// The facts of a loaded matrix, and its multiply.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments.hpp"
#include "described.hpp"
#include "instances.hpp"
#include "kernels/vectors.hpp"
#include "layouts/registry.hpp"
#include "matrix.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
#include "spmvpack/launch_rules/cache.hpp"

namespace spmvpack::gpu_loader {
namespace {

using format::MapKind;

static_assert(solver_cache_share == launch_rules::cache::most_share);

/// Chooses the kernel of each part.
class KernelChoice {
 public:
  KernelChoice(std::span<const std::size_t> layouts, KernelId kernel) {
    if (!kernel.is_default()) asked_ = require_kernel(layouts, kernel);
  }
  /// The kernel's index in the table of the part's layout.
  [[nodiscard]] std::size_t of(const DevicePart& part) const {
    return asked_ && asked_->layout == part.layout ? asked_->kernel : part.default_kernel;
  }

 private:
  std::optional<KernelPlace> asked_;
};

/// How a multiply deals columns to parts, and what it copies of X and Y for them.
struct Dealing {
  std::uint64_t at_once;           ///< columns of a block that all parts multiply before the next
  std::uint64_t x_bytes, y_bytes;  ///< at the start of the workspace, for each column of the block that is copied
  [[nodiscard]] std::uint64_t copy_bytes() const {
    return checked_mul(checked_add(x_bytes, y_bytes, "workspace bytes"), at_once, "workspace bytes");
  }
};
/// `scales`: whether a part scales y; else that is done before, in contiguous columns. X that is multiplied by factors
/// is copied, and so are the sums that are to be.
Dealing dealing_of(std::span<const DevicePart> parts, bool scales, const KernelChoice& choice, const Operand& operand,
                   const MultiplyDescription& description) {
  ColumnsAtOnce columns{.most = 1, .any_strides = scales};
  for (const DevicePart& part : parts) {
    ColumnsAtOnce takes = kernel_tables()[part.layout]->kernels[choice.of(part)].columns;
    // Lists of columns are gathered from contiguous ones.
    if (part.view.info().cols.kind == MapKind::list) takes.any_strides = false;
    columns = columns.together_with(takes);
  }
  const std::uint64_t at_once = std::min(columns.most, description.right_hand_sides);
  const auto bytes = [&](std::uint64_t rows, bool strided, bool scaled) {
    return at_once != 0 && (scaled || (strided && !columns.any_strides))
               ? round_up(rows * size_of(description.vectors), format::section_boundary)
               : 0;
  };
  return {at_once, bytes(operand.cols, description.strided_x, description.scales_x()),
          bytes(operand.rows, description.strided_y, description.scales_y())};
}

/// How many columns of X, neighbours in each of its rows, all parts take at once; less than 2: columns are dealt one by
/// one.
std::uint64_t row_major_columns_of(std::span<const DevicePart> parts, const KernelChoice& choice,
                                   const MultiplyDescription& description) {
  if (description.right_hand_sides < 2 || description.basis == Basis::permuted || parts.empty()) return 0;
  std::uint64_t most = ~std::uint64_t{0};
  for (const DevicePart& part : parts)
    most = std::min(most, row_major_columns(*kernel_tables()[part.layout], part.view.info(), choice.of(part)));
  return most;
}
/// Bytes of the copy of so many columns of X that are not neighbours where they lie.
std::uint64_t packed_bytes(const Operand& operand, std::uint64_t columns, ValueType vectors) {
  return round_up(checked_mul(operand.cols, packed_stride(columns, vectors) * size_of(vectors), "workspace bytes"),
                  format::section_boundary);
}
/// Bytes of the sums of so many columns, that are multiplied by factors before they are Y.
std::uint64_t sum_bytes(const Operand& operand, std::uint64_t columns, ValueType vectors) {
  return round_up(checked_mul(operand.rows, columns * size_of(vectors), "workspace bytes"), format::section_boundary);
}
/// At the start of the workspace if sums are multiplied by factors: alpha of the parts, 1, or 0 if alpha is 0.
constexpr std::uint64_t unit_bytes = format::section_boundary;

template <class T>
Scalar<T> negative(Scalar<T> scalar) {
  scalar.value = -scalar.value;
  scalar.negated = !scalar.negated;
  return scalar;
}

template <class T>
ColumnBlock<void> untyped(const ColumnBlock<T>& c) {
  return {c.x, c.y, c.x_row_stride, c.x_col_stride, c.y_row_stride, c.y_col_stride, c.count};
}

template <class T>
void multiply_part(const DevicePart& part, MultiplyCall call, ColumnBlock<T> columns) {
  const PartInfo& info = part.view.info();
  const auto run = [&] {
    call.columns = untyped(columns);
    layout_kernels(part.layout).multiply(part, call);
  };
  if (call.description.basis == Basis::permuted) return run();
  if (info.cols.kind == MapKind::list) {
    auto* const gathered = reinterpret_cast<T*>(call.workspace);
    if (call.row_major) {
      const std::uint64_t stride = packed_stride(columns.count, value_type_of<T>);
      if (!is_known(call.alpha, 0))
        pack_columns(value_type_of<T>, call.alpha, untyped(columns), part.view.get<std::uint32_t>("col_map").data(),
                     gathered, stride, info.cols.count, call.stream);
      call.workspace += gathered_rows_bytes(info, value_type_of<T>, columns.count);
      columns.x = gathered;
      columns.x_row_stride = static_cast<std::int64_t>(stride);
    } else {
      const std::uint64_t bytes = gathered_bytes(info, value_type_of<T>);
      const auto stride = static_cast<std::int64_t>(bytes / sizeof(T));
      if (!is_known(call.alpha, 0))
        for (std::uint64_t j = 0; j < columns.count; ++j)
          gather_vector(value_type_of<T>, call.alpha, part.view.get<std::uint32_t>("col_map").data(),
                        columns.part(j, 1).x, gathered + static_cast<std::int64_t>(j) * stride, info.cols.count,
                        call.stream);
      call.workspace += bytes * columns.count;
      columns.x = gathered;
      columns.x_row_stride = 1;
      columns.x_col_stride = stride;
    }
  } else {
    columns.x += static_cast<std::int64_t>(info.cols.begin) * columns.x_row_stride;
  }
  if (info.rows.kind == MapKind::list)
    call.row_list = part.view.get<std::uint32_t>("row_map").data();
  else
    columns.y += static_cast<std::int64_t>(info.rows.begin) * columns.y_row_stride;
  run();
}

}  // namespace

std::vector<KernelInfo> kernels_of(std::span<const std::size_t> layouts) {
  std::vector<KernelInfo> all;
  for (auto layout = layouts.begin(); layout != layouts.end(); ++layout)
    if (std::find(layouts.begin(), layout, *layout) == layout) {
      const auto more = kernel_tables()[*layout]->kernels;
      all.insert(all.end(), more.begin(), more.end());
    }
  return all;
}

KernelPlace require_kernel(std::span<const std::size_t> layouts, KernelId kernel) {
  const KernelPlace place = place_of(kernel);
  if (layouts.empty() || std::find(layouts.begin(), layouts.end(), place.layout) != layouts.end()) return place;
  std::string known;
  for (const KernelInfo& k : kernels_of(layouts)) known += fmt::format("{}{}", known.empty() ? "" : ", ", k.name);
  throw Error(errc::usage, fmt::format("kernel '{}' fits no part of the matrix", kernel_name(kernel)), {},
              fmt::format("use one of {}", known));
}

const MatrixFacts& DeviceMatrix::facts() const { return impl_->facts; }
std::uint64_t DeviceMatrix::device_bytes(format::Role role) const { return impl_->bytes_of(role); }
std::uint64_t DeviceMatrix::allocated_bytes() const { return impl_->allocated_bytes; }
std::uint64_t DeviceMatrix::prepared_bytes() const { return impl_->prepared_bytes; }

bool DeviceMatrix::has_transpose() const { return spmvpack::has_transpose(impl_->facts, impl_->infos); }

std::span<const PartInfo> DeviceMatrix::parts() const { return impl_->infos; }

std::vector<KernelInfo> DeviceMatrix::kernels() const { return kernels_of(impl_->layouts); }

std::uint64_t DeviceMatrix::workspace_bytes(const MultiplyDescription& description) const {
  const Operand operand = check_description(description, impl_->facts, impl_->infos);
  const KernelChoice choice(impl_->layouts, description.kernel);
  const std::uint64_t at_once = row_major_columns_of(impl_->parts_of(operand.role), choice, description);
  const std::uint64_t row_major =
      at_once < 2 ? 0 : row_major_room(description.right_hand_sides, at_once, description.vectors);
  std::uint64_t most = 0;  // parts run one after the other, and so do columns
  for (const DevicePart& part : impl_->parts_of(operand.role)) {
    const KernelTable& table = *kernel_tables()[part.layout];
    const std::size_t kernel = choice.of(part);
    if (table.kernels[kernel].prepared &&
        std::find(part.kernels.begin(), part.kernels.end(), kernel) == part.kernels.end())
      throw Error(errc::usage,
                  fmt::format("the matrix was loaded without what kernel '{}' needs", table.kernels[kernel].name), {},
                  "name the kernel in DeviceLoadOptions::kernels");
    const PartInfo& info = part.view.info();
    most =
        std::max(most, row_major != 0 ? row_major_workspace_bytes(table, info, kernel, description.vectors, row_major)
                                      : gpu_loader::workspace_bytes(table, info, kernel, description.vectors,
                                                                    description.right_hand_sides, description.basis));
  }
  if (description.scales_y()) most = checked_add(most, unit_bytes, "workspace bytes");
  if (row_major != 0) {
    if (description.scales_y())
      most = checked_add(most, sum_bytes(operand, row_major, description.vectors), "workspace bytes");
    return description.row_major_x && !description.scales_x() &&
                   packed_stride(description.right_hand_sides, description.vectors) == description.right_hand_sides
               ? most
               : checked_add(most, packed_bytes(operand, row_major, description.vectors), "workspace bytes");
  }
  return checked_add(
      most,
      dealing_of(impl_->parts_of(operand.role), first_part_scales(operand, impl_->infos), choice, operand, description)
          .copy_bytes(),
      "workspace bytes");
}

namespace {

/// multiply() of operands and a workspace that have been checked; `scaling` is that of op(A).
template <class T>
void multiply_real(const DeviceMatrix::Impl& impl, const Operand& operand, const Scalar<T>& alpha,
                   const DenseView<const T>& x, const Scalar<T>& beta, const DenseView<T>& y,
                   std::span<std::byte> workspace, Stream stream, const MultiplyDescription& asked,
                   const Scaling<T>& scaling) {
  const bool scales = first_part_scales(operand, impl.infos);
  const KernelChoice choice(impl.layouts, asked.kernel);
  const bool keep = launch_rules::cache::keeps(impl.bytes_of(operand.role) + (operand.rows + operand.cols) * sizeof(T),
                                               y.cols, impl.device.l2_bytes, impl.cache_share);
  // Sums that are multiplied by factors are those of A x: alpha and beta come with the factors. If Y is not read, it
  // has them in between.
  const T* const of_x = scaling.columns.empty() ? nullptr : scaling.columns.data();
  const T* const of_sums = scaling.rows.empty() ? nullptr : scaling.rows.data();
  const bool y_is_read = !is_known(beta, 0);
  std::byte* room = workspace.data();
  Scalar<T> part_alpha = alpha, part_beta = beta;
  if (of_sums != nullptr) {
    part_alpha = T{1};
    part_beta = T{0};
    if (alpha.device != nullptr) {
      part_alpha = Scalar<T>::on_device(reinterpret_cast<const T*>(room));
      set_unit(asked.vectors, alpha, room, stream);
    }
    room += unit_bytes;
  }
  const auto call_of = [&](std::size_t i, bool add, bool negate, std::byte* part_room) {
    return MultiplyCall{.device = impl.device,
                        .kernel = choice.of(impl.parts[i]),
                        .description = asked,
                        .alpha = negate ? negative(part_alpha) : part_alpha,
                        .beta = add ? Scalar<T>(1) : part_beta,
                        .keep = keep,
                        .workspace = part_room,
                        .stream = stream};
  };
  const ColumnBlock<T> all{
      x.data, y.data, x.row_stride, x.rows == 0 ? 0 : x.col_stride, y.row_stride, y.rows == 0 ? 0 : y.col_stride,
      y.cols};
  if (const std::uint64_t most = row_major_columns_of(impl.parts_of(operand.role), choice, asked); most >= 2) {
    const bool packs = !asked.row_major_x || of_x != nullptr;
    const std::uint64_t columns_at_once = row_major_room(y.cols, most, asked.vectors);
    T* const x_copies = reinterpret_cast<T*>(room);
    if (packs) room += packed_bytes(operand, columns_at_once, asked.vectors);
    T* const sums = reinterpret_cast<T*>(room);
    const bool sums_apart = of_sums != nullptr && y_is_read;
    if (sums_apart) room += sum_bytes(operand, columns_at_once, asked.vectors);
    each_column_block(
        y.cols, row_major_block(y.cols, most, asked.vectors), [&](std::uint64_t first, std::uint64_t count) {
          const ColumnBlock<T> given = all.part(first, count);
          ColumnBlock<T> columns = given;
          if (packs) {
            const std::uint64_t stride = packed_stride(count, asked.vectors);
            if (!is_known(alpha, 0))
              pack_columns(asked.vectors, alpha, untyped(columns), nullptr, x_copies, stride, x.rows, stream, of_x);
            columns.x = x_copies;
            columns.x_row_stride = static_cast<std::int64_t>(stride);
          }
          columns.x_col_stride = 1;
          if (sums_apart) {
            columns.y = sums;
            columns.y_row_stride = static_cast<std::int64_t>(count);
            columns.y_col_stride = 1;
          }
          if (!scales) scale_columns(asked.vectors, part_beta, untyped(columns), operand.rows, stream);
          each_part(operand, impl.infos, [&](std::size_t i, bool add, bool negate) {
            MultiplyCall call = call_of(i, add, negate, room);
            call.row_major = true;
            multiply_part(impl.parts[i], call, columns);
          });
          if (of_sums != nullptr)
            scale_sums(asked.vectors, alpha, of_sums, untyped(columns), beta, untyped(given), y.rows, stream);
        });
    return;
  }
  const Dealing dealing = dealing_of(impl.parts_of(operand.role), scales, choice, operand, asked);
  const std::uint64_t x_stride = dealing.x_bytes / sizeof(T), y_stride = dealing.y_bytes / sizeof(T);
  const bool y_apart = of_sums != nullptr ? y_is_read || asked.strided_y : dealing.y_bytes != 0;
  T* const x_copies = reinterpret_cast<T*>(room);
  T* const y_copies = x_copies + x_stride * dealing.at_once;
  each_column_block(y.cols, dealing.at_once, [&](std::uint64_t first, std::uint64_t count) {
    ColumnBlock<T> columns = all.part(first, count);
    const ColumnBlock<T> given = columns;
    if (dealing.x_bytes != 0) {
      columns.x = x_copies;
      columns.x_row_stride = 1;
      columns.x_col_stride = static_cast<std::int64_t>(x_stride);
    }
    if (y_apart) {
      columns.y = y_copies;
      columns.y_row_stride = 1;
      columns.y_col_stride = static_cast<std::int64_t>(y_stride);
    }
    for (std::uint64_t j = 0; j < count; ++j) {
      const ColumnBlock<T> from = given.part(j, 1), to = columns.part(j, 1);
      if (dealing.x_bytes != 0 && !is_known(alpha, 0))
        copy_vector(asked.vectors, alpha, from.x, from.x_row_stride, x_copies + j * x_stride, 1, x.rows, stream, of_x);
      if (y_apart && !is_known(part_beta, 0))
        copy_vector(asked.vectors, part_beta, from.y, from.y_row_stride, to.y, 1, y.rows, stream);
      if (!scales) scale_vector(asked.vectors, part_beta, to.y, nullptr, operand.rows, stream);
    }
    each_part(operand, impl.infos, [&](std::size_t i, bool add, bool negate) {
      const DevicePart& part = impl.parts[i];
      const MultiplyCall call = call_of(i, add, negate, room + dealing.copy_bytes());
      each_column_block(count, kernel_tables()[part.layout]->kernels[call.kernel].columns.most,
                        [&](std::uint64_t j, std::uint64_t n) { multiply_part(part, call, columns.part(j, n)); });
    });
    if (of_sums != nullptr)
      scale_sums(asked.vectors, alpha, of_sums, untyped(columns), beta, untyped(given), y.rows, stream);
    else if (y_apart)
      for (std::uint64_t j = 0; j < count; ++j) {
        const ColumnBlock<T> from = columns.part(j, 1), to = given.part(j, 1);
        copy_vector(asked.vectors, Scalar<T>(1), from.y, 1, to.y, to.y_row_stride, y.rows, stream);
      }
  });
}

}  // namespace

template <class V>
void DeviceMatrix::multiply(Scalar<real_of<V>> alpha, std::type_identity_t<DenseView<const V>> x,
                            Scalar<real_of<V>> beta, DenseView<V> y, std::span<std::byte> workspace, Stream stream,
                            const MultiplyDescription& description, const Scaling<real_of<V>>& scaling) const {
  using T = real_of<V>;
  const Operand operand = check_description(description, impl_->facts, impl_->infos);
  const Scaling<T> used = is_known(alpha, 0) ? Scaling<T>{} : scaling;
  const auto check = [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
    const std::uint64_t needed = workspace_bytes(described(description, real_x, real_y, used));
    require_vectors(operand, description, value_type_of<T>, real_x, real_y);
    check_scaling(scaling, impl_->facts, real_y);
    const DenseView<const T> rows(scaling.rows), columns(scaling.columns);
    require_factors(rows, columns);
    require_workspace(workspace, needed, {real_x, real_y, rows, columns});
  };
  const auto multiply = [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
    multiply_real(*impl_, operand, alpha, real_x, beta, real_y, workspace, stream,
                  described(description, real_x, real_y, used), used.of(description.operation));
  };
  if constexpr (is_complex<V>) {
    check_operands(operand, description.operation, x, y);  // of all columns
    each_real_view(x, y, check);
    each_real_view(x, y, multiply);
  } else {
    check(x, y);
    multiply(x, y);
  }
}

template <class V>
void DeviceMatrix::update_values(std::span<const V> values, Stream stream) const {
  if (!impl_->updates)
    throw Error(errc::usage, "the matrix was not loaded to be updated", {},
                "set DeviceLoadOptions::updatable (updatable=True)");
  const ValueType stored = impl_->facts.value_type;
  if (values.size() != impl_->facts.nnz)
    throw Error(errc::usage, fmt::format("{} values for {} entries", values.size(), impl_->facts.nnz), {},
                "give the values of all entries, in the order of CSR");
  if (value_type_of<V> != stored && stored != ValueType::f32)
    throw Error(errc::usage,
                fmt::format("{} values for a matrix of {}", to_string(value_type_of<V>), to_string(stored)), {},
                "give values of the matrix's type");
  gpu_loader::update_values(*impl_->updates, stored, value_type_of<V>, values.data(), stream);
}

void DeviceMatrix::require_updated(Stream stream) const {
  if (!impl_->updates || !take_refused(*impl_->updates, stream)) return;
  throw Error(errc::unsupported,
              "new values were refused, and the matrix is as it was: where the bits of a value say whether there is an "
              "entry (dia, amb with blocks), 0 stays 0 and others do not become it",
              {}, "encode it with --updatable (updatable=true), which chooses no such layout");
}

namespace {

const std::uint32_t* permutation(const DeviceMatrix::Impl& impl, const DensePlace& from, const DensePlace& to,
                                 ValueType type) {
  const MultiplyDescription description{.vectors = type, .basis = Basis::permuted};
  require_vectors(check_description(description, impl.facts, impl.infos), description, type, from, to);
  return impl.parts[0].view.get<std::uint32_t>("row_map").data();
}

}  // namespace

template <class T>
void DeviceMatrix::permute(std::span<const T> user, std::span<T> permuted, Stream stream) const {
  const std::uint32_t* const list =
      permutation(*impl_, DenseView<const T>(user), DenseView<T>(permuted), value_type_of<T>);
  gather_vector(value_type_of<T>, Scalar<T>(1), list, user.data(), permuted.data(), user.size(), stream);
}

template <class T>
void DeviceMatrix::unpermute(std::span<const T> permuted, std::span<T> user, Stream stream) const {
  const std::uint32_t* const list =
      permutation(*impl_, DenseView<const T>(permuted), DenseView<T>(user), value_type_of<T>);
  scatter_vector(value_type_of<T>, list, permuted.data(), user.data(), user.size(), stream);
}

SPMVPACK_VALUE_TYPES(SPMVPACK_DEVICE_MATRIX_OF)

DeviceMultiplier::DeviceMultiplier(const DeviceMatrix& matrix)
    : DeviceMultiplier(matrix, {.vectors = matrix.facts().value_type}) {}

DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description)
    : matrix_(std::move(matrix)), description_(description), bytes_(matrix_.workspace_bytes(description)) {
  workspace_ = allocate({}, bytes_);
}

}  // namespace spmvpack::gpu_loader
