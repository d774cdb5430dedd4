// The facts of a loaded matrix, and its multiply.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments.hpp"
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
/// `scales`: whether a part scales y; else that is done before, in contiguous columns.
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
  const auto bytes = [&](std::uint64_t rows, bool strided) {
    return strided && at_once != 0 && !columns.any_strides
               ? round_up(rows * size_of(description.vectors), format::section_boundary)
               : 0;
  };
  return {at_once, bytes(operand.cols, description.strided_x), bytes(operand.rows, description.strided_y)};
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
/// Whether kernels take X where it lies: they load 16 bytes of a row at once, and count bytes between rows in 32 bits.
template <class T>
bool is_row_major(const DenseView<const T>& x) {
  if (x.rows == 0 || x.cols == 0) return true;
  const std::uint64_t bytes = static_cast<std::uint64_t>(x.row_stride) * sizeof(T);
  return x.col_stride == 1 && x.row_stride >= 0 && bytes <= 0xFFFFFFFFU &&
         (bytes | x.cols * sizeof(T) | reinterpret_cast<std::uintptr_t>(x.data)) % 16 == 0;
}

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
std::uint64_t DeviceMatrix::device_bytes() const { return impl_->bytes_of_a; }
std::uint64_t DeviceMatrix::allocated_bytes() const { return impl_->allocated_bytes; }
std::uint64_t DeviceMatrix::prepared_bytes() const { return impl_->prepared_bytes; }

bool DeviceMatrix::has_transpose() const { return spmvpack::has_transpose(impl_->facts, impl_->infos); }

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
  if (row_major != 0)
    return description.row_major_x &&
                   packed_stride(description.right_hand_sides, description.vectors) == description.right_hand_sides
               ? most
               : checked_add(most, packed_bytes(operand, row_major, description.vectors), "workspace bytes");
  return checked_add(
      most,
      dealing_of(impl_->parts_of(operand.role), first_part_scales(operand, impl_->infos), choice, operand, description)
          .copy_bytes(),
      "workspace bytes");
}

namespace {

/// The description of the multiply of these operands.
template <class T>
MultiplyDescription described(MultiplyDescription given, const DenseView<const T>& x, const DenseView<T>& y) {
  given.right_hand_sides = x.cols;
  given.strided_x = !x.has_contiguous_columns();
  given.strided_y = !y.has_contiguous_columns();
  given.row_major_x = is_row_major(x);
  return given;
}

/// multiply() of operands and a workspace that have been checked.
template <class T>
void multiply_real(const DeviceMatrix::Impl& impl, const Operand& operand, const Scalar<T>& alpha,
                   const DenseView<const T>& x, const Scalar<T>& beta, const DenseView<T>& y,
                   std::span<std::byte> workspace, Stream stream, const MultiplyDescription& asked) {
  const bool scales = first_part_scales(operand, impl.infos);
  const KernelChoice choice(impl.layouts, asked.kernel);
  const bool keep = launch_rules::cache::keeps(impl.bytes_of(operand.role) + (operand.rows + operand.cols) * sizeof(T),
                                               y.cols, impl.device.l2_bytes, impl.cache_share);
  const auto call_of = [&](std::size_t i, bool add, bool negate, std::byte* room) {
    return MultiplyCall{.device = impl.device,
                        .kernel = choice.of(impl.parts[i]),
                        .description = asked,
                        .alpha = negate ? negative(alpha) : alpha,
                        .beta = add ? Scalar<T>(1) : beta,
                        .keep = keep,
                        .workspace = room,
                        .stream = stream};
  };
  const ColumnBlock<T> all{
      x.data, y.data, x.row_stride, x.rows == 0 ? 0 : x.col_stride, y.row_stride, y.rows == 0 ? 0 : y.col_stride,
      y.cols};
  if (const std::uint64_t most = row_major_columns_of(impl.parts_of(operand.role), choice, asked); most >= 2) {
    const std::uint64_t packed =
        asked.row_major_x ? 0 : packed_bytes(operand, row_major_room(y.cols, most, asked.vectors), asked.vectors);
    each_column_block(
        y.cols, row_major_block(y.cols, most, asked.vectors), [&](std::uint64_t first, std::uint64_t count) {
          ColumnBlock<T> columns = all.part(first, count);
          if (!asked.row_major_x) {
            const std::uint64_t stride = packed_stride(count, asked.vectors);
            if (!is_known(alpha, 0))
              pack_columns(asked.vectors, alpha, untyped(columns), nullptr, workspace.data(), stride, x.rows, stream);
            columns.x = reinterpret_cast<const T*>(workspace.data());
            columns.x_row_stride = static_cast<std::int64_t>(stride);
          }
          columns.x_col_stride = 1;
          if (!scales) scale_columns(asked.vectors, beta, untyped(columns), operand.rows, stream);
          each_part(operand, impl.infos, [&](std::size_t i, bool add, bool negate) {
            MultiplyCall call = call_of(i, add, negate, workspace.data() + packed);
            call.row_major = true;
            multiply_part(impl.parts[i], call, columns);
          });
        });
    return;
  }
  const Dealing dealing = dealing_of(impl.parts_of(operand.role), scales, choice, operand, asked);
  const std::uint64_t x_stride = dealing.x_bytes / sizeof(T), y_stride = dealing.y_bytes / sizeof(T);
  T* const x_copies = reinterpret_cast<T*>(workspace.data());
  T* const y_copies = x_copies + x_stride * dealing.at_once;
  each_column_block(y.cols, dealing.at_once, [&](std::uint64_t first, std::uint64_t count) {
    ColumnBlock<T> columns = all.part(first, count);
    const ColumnBlock<T> given = columns;
    if (dealing.x_bytes != 0) {
      columns.x = x_copies;
      columns.x_row_stride = 1;
      columns.x_col_stride = static_cast<std::int64_t>(x_stride);
    }
    if (dealing.y_bytes != 0) {
      columns.y = y_copies;
      columns.y_row_stride = 1;
      columns.y_col_stride = static_cast<std::int64_t>(y_stride);
    }
    for (std::uint64_t j = 0; j < count; ++j) {
      const ColumnBlock<T> from = given.part(j, 1), to = columns.part(j, 1);
      if (dealing.x_bytes != 0 && !is_known(alpha, 0))
        copy_vector(asked.vectors, alpha, from.x, from.x_row_stride, x_copies + j * x_stride, 1, x.rows, stream);
      if (dealing.y_bytes != 0 && !is_known(beta, 0))
        copy_vector(asked.vectors, beta, from.y, from.y_row_stride, to.y, 1, y.rows, stream);
      if (!scales) scale_vector(asked.vectors, beta, to.y, nullptr, operand.rows, stream);
    }
    each_part(operand, impl.infos, [&](std::size_t i, bool add, bool negate) {
      const DevicePart& part = impl.parts[i];
      const MultiplyCall call = call_of(i, add, negate, workspace.data() + dealing.copy_bytes());
      each_column_block(count, kernel_tables()[part.layout]->kernels[call.kernel].columns.most,
                        [&](std::uint64_t j, std::uint64_t n) { multiply_part(part, call, columns.part(j, n)); });
    });
    if (dealing.y_bytes != 0)
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
                            const MultiplyDescription& description) const {
  using T = real_of<V>;
  const Operand operand = check_description(description, impl_->facts, impl_->infos);
  const auto check = [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
    const std::uint64_t needed = workspace_bytes(described(description, real_x, real_y));
    require_vectors(operand, description, value_type_of<T>, real_x, real_y);
    require_workspace(workspace, needed, real_x, real_y);
  };
  const auto multiply = [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
    multiply_real(*impl_, operand, alpha, real_x, beta, real_y, workspace, stream,
                  described(description, real_x, real_y));
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

namespace {

/// Columns of multiply_host_vectors() that are on the device at once.
constexpr std::uint64_t most_host_columns = 16;

/// Room on the device for some columns of X or Y, one after the other.
template <class T>
class DeviceColumns {
 public:
  DeviceColumns(std::uint64_t rows, std::uint64_t most)
      : rows_(rows), memory_(allocate({}, checked_mul(checked_mul(rows, most, "elements"), sizeof(T), "bytes"))) {}
  [[nodiscard]] DenseView<T> view(std::uint64_t count) const {
    return {static_cast<T*>(memory_.get()), rows_, count, 1, static_cast<std::int64_t>(rows_)};
  }
  /// Copies `count` columns of `from`, from `first` on, to the first places.
  void take(const DenseView<const T>& from, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t j = 0; j < count; ++j) {
      const T* source = from.column(first + j);
      if (!from.has_contiguous_columns()) {
        prepare_staged();
        for (std::uint64_t i = 0; i < rows_; ++i) staged_[i] = source[static_cast<std::int64_t>(i) * from.row_stride];
        source = staged_.data();
      }
      copy(view(count).column(j), source, cudaMemcpyHostToDevice);
    }
  }
  /// The way back.
  void put(const DenseView<T>& to, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t j = 0; j < count; ++j) {
      T* const target = to.column(first + j);
      const bool direct = to.has_contiguous_columns();
      if (!direct) prepare_staged();
      copy(direct ? target : staged_.data(), view(count).column(j), cudaMemcpyDeviceToHost);
      for (std::uint64_t i = 0; !direct && i < rows_; ++i)
        target[static_cast<std::int64_t>(i) * to.row_stride] = staged_[i];
    }
  }

 private:
  /// For a column that is not contiguous: CUDA's copies know no strides of 0 and below.
  void prepare_staged() {
    if (staged_.size() != rows_) staged_ = Array<T>(rows_);
  }
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    if (rows_ != 0) require_cuda(cudaMemcpy(to, from, rows_ * sizeof(T), kind), "copying a vector");
  }

  std::uint64_t rows_;
  std::shared_ptr<void> memory_;
  Array<T> staged_;
};

}  // namespace

template <class T>
void DeviceMatrix::multiply_host_vectors(T alpha, std::type_identity_t<DenseView<const T>> x, T beta,
                                         std::type_identity_t<DenseView<T>> y,
                                         const MultiplyDescription& description) const {
  check_operands(check_description(description, impl_->facts, impl_->infos), description.operation, x, y);
  const std::uint64_t most = std::min(y.cols, most_host_columns);
  DeviceColumns<T> of_x(x.rows, most), of_y(y.rows, most);
  std::uint64_t bytes = 0;
  for (const std::uint64_t count : {most, most == 0 ? 0 : y.cols % most})
    bytes = std::max(bytes, workspace_bytes(described<T>(description, of_x.view(count), of_y.view(count))));
  const std::shared_ptr<void> workspace = allocate({}, bytes);
  each_column_block(y.cols, most, [&](std::uint64_t first, std::uint64_t count) {
    of_x.take(x, first, count);
    if (beta != 0) of_y.take(y, first, count);
    multiply<T>(alpha, of_x.view(count), beta, of_y.view(count), {static_cast<std::byte*>(workspace.get()), bytes},
                nullptr, description);
    require_cuda(cudaStreamSynchronize(nullptr), "multiplying");
    of_y.put(y, first, count);
  });
}

template <class T>
void DeviceMatrix::multiply_host_vectors(T alpha, std::type_identity_t<DenseView<const std::complex<T>>> x, T beta,
                                         std::type_identity_t<DenseView<std::complex<T>>> y,
                                         const MultiplyDescription& description) const {
  check_operands(check_description(description, impl_->facts, impl_->infos), description.operation, x, y);
  each_real_view(x, y, [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
    multiply_host_vectors<T>(alpha, real_x, beta, real_y, description);
  });
}

SPMVPACK_VALUE_TYPES(SPMVPACK_DEVICE_MATRIX_OF)

DeviceMultiplier::DeviceMultiplier(const DeviceMatrix& matrix)
    : DeviceMultiplier(matrix, {.vectors = matrix.facts().value_type}) {}

DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description)
    : matrix_(std::move(matrix)), description_(description), bytes_(matrix_.workspace_bytes(description)) {
  workspace_ = allocate({}, bytes_);
}

}  // namespace spmvpack::gpu_loader
