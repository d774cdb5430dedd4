#include "spmvpack/host_loader/host_matrix.hpp"

#include <fmt/format.h>

#include "layouts/registry.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/container/text.hpp"

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

/// The column of X or Y that a kernel takes: where it lies, or, if its elements are no neighbours, a copy.
template <class T>
class Column {
 public:
  explicit Column(const DenseView<T>& all)
      : all_(all), copy_(all.has_contiguous_columns() || all.cols == 0 ? 0 : all.rows) {}
  /// Column j; with its elements, or for a result that is only written without.
  T* take(std::uint64_t j, bool with_elements) {
    at_ = all_.column(j);
    if (copy_.empty()) return at_;
    if (with_elements)
      for (std::uint64_t i = 0; i < all_.rows; ++i) copy_[i] = *element(i);
    return copy_.data();
  }
  /// Writes what take() returned to its place.
  void put_back() const {
    for (std::uint64_t i = 0; i < copy_.size(); ++i) *element(i) = copy_[i];
  }

 private:
  [[nodiscard]] T* element(std::uint64_t i) const { return at_ + static_cast<std::int64_t>(i) * all_.row_stride; }

  DenseView<T> all_;
  Array<std::remove_const_t<T>> copy_;
  T* at_ = nullptr;
};

/// The x of a part: the vector itself from the part's first column on, or its listed columns gathered.
template <class T>
const T* local_x(const LoadedPart& part, const T* x, Array<T>& gathered) {
  const IndexMap& map = part.info().cols;
  if (map.kind != MapKind::list) return x + map.begin;
  const auto list = part.view().get<std::uint32_t>("col_map");
  gathered = Array<T>(map.count);
  for (std::uint64_t i = 0; i < map.count; ++i) gathered[i] = x[list[i]];
  return gathered.data();
}

template <class T>
void multiply_part(const LoadedPart& part, const LayoutState* state, Multiply<T> multiply, Operands<T> operands,
                   int threads, Basis basis) {
  if (basis == Basis::permuted) return multiply(part.view(), state, operands, threads);
  Array<T> gathered;
  operands.x = local_x(part, operands.x, gathered);
  const IndexMap& rows = part.info().rows;
  if (rows.kind == MapKind::list)
    operands.rows = part.view().get<std::uint32_t>("row_map").data();
  else
    operands.y += rows.begin;
  multiply(part.view(), state, operands, threads);
}

}  // namespace

HostMatrix HostMatrix::load(const Container& container, const LoadOptions& options) {
  const MemoryScope memory(options.memory_limit, "loading " + container.name());
  if (options.check_contents) check_contents(container, options);
  HostMatrix matrix;
  matrix.facts_ = container.facts();
  matrix.infos_ = container.parts();
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
  const Operand operand = require_description(facts_, infos_, value_type_of<T>, description);
  check_operands(operand, description.operation, x, y);
  const bool scales = alpha != 0 && first_part_scales(operand, infos_);
  Column<const T> of_x(x);
  Column<T> of_y(y);
  for (std::uint64_t j = 0; j < y.cols; ++j) {  // kernels take one column
    T* const to = of_y.take(j, beta != 0);
    if (!scales && beta != 1)
      parallel_pieces(y.rows, rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) to[i] = scaled(beta, to[i]);
      });
    if (alpha != 0) {
      const T* const from = of_x.take(j, true);
      each_part(operand, infos_, [&](std::size_t i, bool add, bool negate, bool conjugate) {
        const Part& part = parts_[i];
        multiply_part(
            part.loaded, part.state.get(), part.layout->with_vectors<T>(facts_.value_type),
            {.alpha = negate ? -alpha : alpha, .x = from, .beta = add ? T{1} : beta, .y = to, .conjugate = conjugate},
            threads, description.basis);
      });
    }
    of_y.put_back();
  }
}

#define SPMVPACK_INSTANTIATE_VECTORS(T)                                        \
  template void HostMatrix::permute(std::span<const T>, std::span<T>) const;   \
  template void HostMatrix::unpermute(std::span<const T>, std::span<T>) const; \
  template void HostMatrix::multiply(T, DenseView<const T>, T, DenseView<T>, int, const MultiplyDescription&) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_VECTORS)
#undef SPMVPACK_INSTANTIATE_VECTORS

}  // namespace spmvpack::host_loader
