// The facts of a loaded matrix, and its multiply.

#include "spmvpack/gpu_loader/device_matrix.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments.hpp"
#include "cuda_error.hpp"
#include "instances.hpp"
#include "kernels/vectors.hpp"
#include "layouts/registry.hpp"
#include "matrix.hpp"
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

/// Bytes at the start of the workspace for a column of X or Y, if they are not contiguous.
std::uint64_t column_bytes(std::uint64_t rows, ValueType vectors, bool strided) {
  return strided ? round_up(rows * size_of(vectors), format::section_boundary) : 0;
}
std::uint64_t columns_bytes(const Operand& operand, const MultiplyDescription& description) {
  if (description.right_hand_sides == 0) return 0;
  return column_bytes(operand.cols, description.vectors, description.strided_x) +
         column_bytes(operand.rows, description.vectors, description.strided_y);
}

template <class T>
Scalar<T> negative(Scalar<T> scalar) {
  scalar.value = -scalar.value;
  scalar.negated = !scalar.negated;
  return scalar;
}

void multiply_part(const DevicePart& part, MultiplyCall call) {
  const PartInfo& info = part.view.info();
  const ValueType vectors = call.description.vectors;
  const std::size_t size = size_of(vectors);
  if (call.description.basis == Basis::permuted) return layout_kernels(part.layout).multiply(part, call);
  if (info.cols.kind == MapKind::list) {
    std::byte* const gathered = call.workspace;
    call.workspace += gathered_bytes(info, vectors);
    if (!is_known(call.alpha, 0))
      gather_vector(vectors, call.alpha, part.view.get<std::uint32_t>("col_map").data(), call.x, gathered,
                    info.cols.count, call.stream);
    call.x = gathered;
  } else {
    call.x = static_cast<const std::byte*>(call.x) + info.cols.begin * size;
  }
  if (info.rows.kind == MapKind::list)
    call.row_list = part.view.get<std::uint32_t>("row_map").data();
  else
    call.y = static_cast<std::byte*>(call.y) + info.rows.begin * size;
  layout_kernels(part.layout).multiply(part, call);
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
  std::uint64_t most = 0;  // parts run one after the other, and so do columns
  for (const DevicePart& part : impl_->parts_of(operand.role)) {
    const KernelTable& table = *kernel_tables()[part.layout];
    const std::size_t kernel = choice.of(part);
    if (table.kernels[kernel].prepared &&
        std::find(part.kernels.begin(), part.kernels.end(), kernel) == part.kernels.end())
      throw Error(errc::usage,
                  fmt::format("the matrix was loaded without what kernel '{}' needs", table.kernels[kernel].name), {},
                  "name the kernel in DeviceLoadOptions::kernels");
    most = std::max(most, gpu_loader::workspace_bytes(table, part.view.info(), kernel, description.vectors,
                                                      description.right_hand_sides, description.basis));
  }
  return checked_add(most, columns_bytes(operand, description), "workspace bytes");
}

template <class T>
void DeviceMatrix::multiply(std::type_identity_t<Scalar<T>> alpha, std::type_identity_t<DenseView<const T>> x,
                            std::type_identity_t<Scalar<T>> beta, DenseView<T> y, std::span<std::byte> workspace,
                            Stream stream, const MultiplyDescription& description) const {
  MultiplyDescription asked = description;  // of these operands
  asked.right_hand_sides = x.cols;
  asked.strided_x = !x.has_contiguous_columns();
  asked.strided_y = !y.has_contiguous_columns();
  const std::uint64_t needed = workspace_bytes(asked);
  const Operand operand = check_description(asked, impl_->facts, impl_->infos);
  require_vectors(operand, asked, value_type_of<T>, x, y);
  require_workspace(workspace, needed, x, y);
  std::byte* const copies = workspace.data();  // of the columns that are not contiguous
  T* const x_copy = reinterpret_cast<T*>(copies);
  T* const y_copy = reinterpret_cast<T*>(copies + column_bytes(operand.cols, asked.vectors, asked.strided_x));
  const bool scales = first_part_scales(operand, impl_->infos);
  const KernelChoice choice(impl_->layouts, asked.kernel);
  const bool keep =
      launch_rules::cache::keeps(impl_->bytes_of(operand.role) + (operand.rows + operand.cols) * sizeof(T), y.cols,
                                 impl_->device.l2_bytes, impl_->cache_share);
  for (std::uint64_t j = 0; j < y.cols; ++j) {  // kernels take one column
    const T* from = x.column(j);
    T* to = y.column(j);
    if (asked.strided_x) {
      if (!is_known(alpha, 0)) copy_vector(asked.vectors, alpha, from, x.row_stride, x_copy, 1, x.rows, stream);
      from = x_copy;
    }
    if (asked.strided_y) {
      if (!is_known(beta, 0)) copy_vector(asked.vectors, beta, to, y.row_stride, y_copy, 1, y.rows, stream);
      to = y_copy;
    }
    if (!scales) scale_vector(asked.vectors, beta, to, nullptr, operand.rows, stream);
    each_part(operand, impl_->infos, [&](std::size_t i, bool add, bool negate, bool conjugate) {
      const DevicePart& part = impl_->parts[i];
      multiply_part(part, {.device = impl_->device,
                           .kernel = choice.of(part),
                           .description = asked,
                           .alpha = negate ? negative(alpha) : alpha,
                           .beta = add ? Scalar<T>(1) : beta,
                           .conjugate = conjugate,
                           .keep = keep,
                           .x = from,
                           .y = to,
                           .workspace = copies + columns_bytes(operand, asked),
                           .stream = stream});
    });
    if (asked.strided_y) copy_vector(asked.vectors, Scalar<T>(1), y_copy, 1, y.column(j), y.row_stride, y.rows, stream);
  }
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

template <class T>
void DeviceMatrix::multiply_host_vectors(T alpha, std::type_identity_t<DenseView<const T>> x, T beta,
                                         std::type_identity_t<DenseView<T>> y,
                                         const MultiplyDescription& description) const {
  MultiplyDescription asked = description;  // of a contiguous column
  asked.right_hand_sides = 1;
  asked.strided_x = asked.strided_y = false;
  check_operands(check_description(asked, impl_->facts, impl_->infos), asked.operation, x, y);
  const auto room = [](std::uint64_t bytes) { return std::pair{allocate({}, bytes), bytes}; };
  const auto x_room = room(x.rows * sizeof(T)), y_room = room(y.rows * sizeof(T));
  const auto workspace = room(workspace_bytes(asked));
  auto* const device_x = static_cast<T*>(x_room.first.get());
  auto* const device_y = static_cast<T*>(y_room.first.get());
  // Of a column that is not contiguous: CUDA's copies know no strides of 0 and below.
  Array<T> column(x.has_contiguous_columns() && y.has_contiguous_columns() ? 0 : std::max(x.rows, y.rows));
  const auto copy = [](void* to, const void* from, std::uint64_t bytes, cudaMemcpyKind kind) {
    if (bytes != 0) require_cuda(cudaMemcpy(to, from, bytes, kind), "copying a vector");
  };
  const auto to_device = [&](T* to, const auto& from, std::uint64_t j) {
    const T* source = from.column(j);
    if (!from.has_contiguous_columns()) {
      for (std::uint64_t i = 0; i < from.rows; ++i) column[i] = source[static_cast<std::int64_t>(i) * from.row_stride];
      source = column.data();
    }
    copy(to, source, from.rows * sizeof(T), cudaMemcpyHostToDevice);
  };
  for (std::uint64_t j = 0; j < y.cols; ++j) {
    to_device(device_x, x, j);
    if (beta != 0) to_device(device_y, y, j);
    multiply<T>(alpha, {device_x, x.rows}, beta, {device_y, y.rows},
                {static_cast<std::byte*>(workspace.first.get()), workspace.second}, nullptr, asked);
    require_cuda(cudaStreamSynchronize(nullptr), "multiplying");
    T* const target = y.column(j);
    const bool direct = y.has_contiguous_columns();
    copy(direct ? target : column.data(), device_y, y.rows * sizeof(T), cudaMemcpyDeviceToHost);
    for (std::uint64_t i = 0; !direct && i < y.rows; ++i)
      target[static_cast<std::int64_t>(i) * y.row_stride] = column[i];
  }
}

SPMVPACK_VALUE_TYPES(SPMVPACK_DEVICE_MATRIX_OF)

DeviceMultiplier::DeviceMultiplier(const DeviceMatrix& matrix)
    : DeviceMultiplier(matrix, {.vectors = matrix.facts().value_type}) {}

DeviceMultiplier::DeviceMultiplier(DeviceMatrix matrix, const MultiplyDescription& description)
    : matrix_(std::move(matrix)), description_(description), bytes_(matrix_.workspace_bytes(description)) {
  workspace_ = allocate({}, bytes_);
}

}  // namespace spmvpack::gpu_loader
