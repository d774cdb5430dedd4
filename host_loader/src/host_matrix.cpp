#include "spmvpack/host_loader/host_matrix.hpp"

#include <fmt/format.h>

#include "layouts/registry.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::host_loader {
namespace {

/// Rows that a thread scales at once, where no part does so along the way.
constexpr std::uint64_t rows_per_task = 16384;

using format::MapKind;

[[noreturn]] void refuse(const std::string& what, const char* remedy = "") {
  throw Error(errc::usage, what, {}, remedy);
}

Operand require_description(const MatrixFacts& facts, std::span<const PartInfo> parts, ValueType vectors,
                            const MultiplyDescription& description) {
  if (description.vectors != vectors)
    refuse(fmt::format("the description is of {} vectors, x and y are {}", to_string(description.vectors),
                       to_string(vectors)),
           "start from describe<T>()");
  if (description.scalars_on_device) refuse("the host cannot read scalars in device memory", "pass alpha and beta");
  const Operand operand = check_description(description, facts, parts);
  if (!description.kernel.is_default())
    throw Error(errc::unsupported, "the host has one kernel per layout", {}, "leave the kernel at its default");
  return operand;
}

/// Columns of X or Y as parts take them: where they lie, or contiguous copies of them.
template <class T>
class Columns {
 public:
  /// `most`: how many are taken at a time. `copied`: whether parts need them contiguous.
  Columns(const DenseView<T>& all, std::uint64_t most, bool copied)
      : all_(all), copies_(copied ? checked_mul(all.rows, most, "elements of columns") : 0) {}
  /// Takes `count` columns from `first` on; their copies have their elements, or for results that are only written
  /// none.
  void take(std::uint64_t first, std::uint64_t count, bool with_elements) {
    at_ = all_.column(first);
    count_ = count;
    if (copies_.empty() || !with_elements) return;
    for (std::uint64_t j = 0; j < count; ++j)
      for (std::uint64_t i = 0; i < all_.rows; ++i) copies_[j * all_.rows + i] = *element(i, j);
  }
  [[nodiscard]] T* data() {
    if (copies_.empty()) return at_;
    return copies_.data();
  }
  [[nodiscard]] std::int64_t row_stride() const { return copies_.empty() ? all_.row_stride : 1; }
  [[nodiscard]] std::int64_t col_stride() const {
    if (!copies_.empty()) return static_cast<std::int64_t>(all_.rows);
    return all_.rows == 0 ? 0 : all_.col_stride;  // data may be null without elements
  }
  /// Writes what was taken to its place.
  void put_back() const {
    if (copies_.empty()) return;
    for (std::uint64_t j = 0; j < count_; ++j)
      for (std::uint64_t i = 0; i < all_.rows; ++i) *element(i, j) = copies_[j * all_.rows + i];
  }

 private:
  [[nodiscard]] T* element(std::uint64_t i, std::uint64_t j) const {
    return at_ + static_cast<std::int64_t>(i) * all_.row_stride + static_cast<std::int64_t>(j) * all_.col_stride;
  }

  DenseView<T> all_;
  Array<std::remove_const_t<T>> copies_;
  T* at_ = nullptr;
  std::uint64_t count_ = 0;
};

/// y = beta y, as no part does it along the way.
template <class T>
void scale_column(T beta, T* y, std::int64_t stride, std::uint64_t rows, int threads) {
  parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    if (stride == 1) return Operands<T>{.beta = beta, .y = y}.scale(begin, end);  // a loop that vectors can take
    T* element = y + static_cast<std::int64_t>(begin) * stride;
    for (std::uint64_t i = begin; i < end; ++i, element += stride) *element = scaled(beta, *element);
  });
}

/// Makes x the part's: the vectors themselves from the part's first column on, or its listed columns gathered.
template <class T>
void take_local_x(const LoadedPart& part, ColumnBlock<T>& columns, Array<T>& gathered) {
  const IndexMap& map = part.info().cols;
  if (map.kind != MapKind::list) {
    columns.x += static_cast<std::int64_t>(map.begin) * columns.x_row_stride;
    return;
  }
  const auto list = part.view().get<std::uint32_t>("col_map");
  gathered = Array<T>(checked_mul(map.count, columns.count, "gathered elements"));
  for (std::uint64_t j = 0; j < columns.count; ++j) {
    const T* const x = columns.part(j, 1).x;
    for (std::uint64_t i = 0; i < map.count; ++i)
      gathered[j * map.count + i] = x[std::int64_t{list[i]} * columns.x_row_stride];
  }
  columns.x = gathered.data();
  columns.x_row_stride = 1;
  columns.x_col_stride = static_cast<std::int64_t>(map.count);
}

template <class T>
void multiply_part(const LoadedPart& part, const LayoutState* state, Multiply<T> multiply, ColumnOperands<T> operands,
                   int threads, Basis basis) {
  if (basis == Basis::permuted) return multiply(part.view(), state, operands, threads);
  Array<T> gathered;
  take_local_x(part, operands.columns, gathered);
  const IndexMap& rows = part.info().rows;
  if (rows.kind == MapKind::list)
    operands.rows = part.view().get<std::uint32_t>("row_map").data();
  else
    operands.columns.y += static_cast<std::int64_t>(rows.begin) * operands.columns.y_row_stride;
  multiply(part.view(), state, operands, threads);
}

}  // namespace

HostMatrix HostMatrix::load(const Container& container, const LoadOptions& options) {
  const MemoryScope memory(options.memory_limit, "loading " + container.name());
  if (options.check_contents) check_contents(container, options);
  HostMatrix matrix;
  matrix.facts_ = container.facts();
  matrix.infos_.assign(container.parts().begin(), container.parts().end());
  std::uint64_t total = 0;
  for (const SectionInfo& s : container.sections()) total = checked_add(total, s.raw_bytes, "section bytes");
  require_memory(total, options.memory_limit, fmt::format("loading {}", container.name()));
  for (std::size_t i = 0; i < container.parts().size(); ++i) {
    const LayoutMultiply& layout = find_multiply(container.parts()[i].layout);  // refuses before the bytes are read
    matrix.parts_.push_back({container.load_part(i, options), &layout, nullptr});
  }
  // After all parts: some of what it makes is optional, and must not take their memory.
  for (Part& part : matrix.parts_)
    if (part.layout->prepare != nullptr) part.state = part.layout->prepare(part.loaded.view(), options.threads);
  return matrix;
}

HostMatrix HostMatrix::load(const std::string& path, const LoadOptions& options) {
  const MemoryScope memory(options.memory_limit, "loading " + escape(path, 400));
  return load(Container::open(path), options);
}

std::span<const std::uint32_t> HostMatrix::permutation() const {
  if (!has_permuted_basis(infos_))
    refuse("the container has no permuted basis", "encode a square matrix as pjds with pjds.basis=permuted");
  return parts_[0].loaded.view().get<std::uint32_t>("row_map");
}

template <class T>
void HostMatrix::permute(std::span<const T> user, std::span<T> permuted) const {
  const auto list = permutation();
  check_operands({.rows = facts_.rows, .cols = facts_.cols}, Operation::none, DenseView<const T>(user),
                 DenseView<T>(permuted));
  for (std::size_t i = 0; i < list.size(); ++i) permuted[i] = user[list[i]];
}

template <class T>
void HostMatrix::unpermute(std::span<const T> permuted, std::span<T> user) const {
  const auto list = permutation();
  check_operands({.rows = facts_.rows, .cols = facts_.cols}, Operation::none, DenseView<const T>(permuted),
                 DenseView<T>(user));
  for (std::size_t i = 0; i < list.size(); ++i) user[list[i]] = permuted[i];
}

template <class T>
void HostMatrix::multiply(std::type_identity_t<T> alpha, std::type_identity_t<DenseView<const T>> x,
                          std::type_identity_t<T> beta, DenseView<T> y, int threads,
                          const MultiplyDescription& description) const {
  require_threads(threads);
  const Operand operand = require_description(facts_, infos_, value_type_of<T>, description);
  check_operands(operand, description.operation, x, y);
  const bool scales = alpha != 0 && first_part_scales(operand, infos_);
  ColumnsAtOnce at_once{.most = 1, .any_strides = true};
  each_part(operand, infos_, [&](std::size_t i, bool /*add*/, bool /*negate*/) {
    at_once = at_once.together_with(parts_[i].layout->columns);
  });
  const auto copied = [&](const auto& v) { return y.cols != 0 && !at_once.any_strides && !v.has_contiguous_columns(); };
  const std::uint64_t most = std::min(at_once.most, y.cols);
  Columns<const T> of_x(x, most, copied(x));
  Columns<T> of_y(y, most, copied(y));
  each_column_block(y.cols, at_once.most, [&](std::uint64_t first, std::uint64_t count) {
    of_y.take(first, count, beta != 0);
    ColumnBlock<T> columns{
        .y = of_y.data(), .y_row_stride = of_y.row_stride(), .y_col_stride = of_y.col_stride(), .count = count};
    if (!scales && beta != 1)
      for (std::uint64_t j = 0; j < count; ++j)
        scale_column(beta, columns.part(j, 1).y, columns.y_row_stride, y.rows, threads);
    if (alpha != 0) {
      of_x.take(first, count, true);
      columns.x = of_x.data();
      columns.x_row_stride = of_x.row_stride();
      columns.x_col_stride = of_x.col_stride();
      each_part(operand, infos_, [&](std::size_t i, bool add, bool negate) {
        const Part& part = parts_[i];
        each_column_block(count, part.layout->columns.most, [&](std::uint64_t j, std::uint64_t n) {
          multiply_part(part.loaded, part.state.get(), part.layout->with_vectors<T>(facts_.value_type),
                        {.alpha = negate ? -alpha : alpha, .beta = add ? T{1} : beta, .columns = columns.part(j, n)},
                        threads, description.basis);
        });
      });
    }
    of_y.put_back();
  });
}

#define SPMVPACK_INSTANTIATE_VECTORS(T)                                        \
  template void HostMatrix::permute(std::span<const T>, std::span<T>) const;   \
  template void HostMatrix::unpermute(std::span<const T>, std::span<T>) const; \
  template void HostMatrix::multiply(T, DenseView<const T>, T, DenseView<T>, int, const MultiplyDescription&) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_VECTORS)
#undef SPMVPACK_INSTANTIATE_VECTORS

}  // namespace spmvpack::host_loader
