// Multiplies with vectors in host memory.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "described.hpp"
#include "instances.hpp"
#include "matrix.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"

namespace spmvpack::gpu_loader {
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

SPMVPACK_VALUE_TYPES(SPMVPACK_HOST_VECTORS_OF)

}  // namespace spmvpack::gpu_loader
