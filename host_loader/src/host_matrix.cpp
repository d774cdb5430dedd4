#include "spmvpack/host_loader/host_matrix.hpp"

#include <fmt/format.h>

#include "columns.hpp"
#include "complex.hpp"
#include "layouts/registry.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::host_loader {
namespace {

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
    const PartInfo& part = container.parts()[i];
    const LayoutMultiply& layout = find_multiply(part.layout, part.value_type);  // refuses before the bytes are read
    matrix.parts_.push_back({container.load_part(i, options), &layout, nullptr});
  }
  if (options.updatable) matrix.make_updatable(container, options);
  // After all parts: some of what it makes is optional, and must not take their memory.
  for (Part& part : matrix.parts_)
    if (part.layout->prepare != nullptr) part.state = part.layout->prepare(part.loaded.view(), options.threads);
  return matrix;
}

HostMatrix HostMatrix::load(const std::string& path, const LoadOptions& options) {
  const MemoryScope memory(options.memory_limit, "loading " + escape(path, 400));
  return load(Container::open(path), options);
}

void HostMatrix::make_updatable(const Container& container, const LoadOptions& options) {
  if (holds_complex(facts_.value_type))
    throw Error(errc::unsupported,
                fmt::format("a matrix of complex values ({}) takes no new ones yet", to_string(facts_.value_type)),
                container.name(), "load it without LoadOptions::updatable");
  std::vector<const PartView*> views;
  for (const Part& part : parts_) views.push_back(&part.loaded.view());
  sources_ = value_sources(facts_, views, options.threads);
  if (fits_value_slots(facts_.value_type, facts_.nnz)) {
    for (std::size_t i = 0; i < views.size(); ++i)
      slots_.push_back(value_slots(*views[i], std::exchange(sources_[i], {}), facts_.nnz, options.threads));
  }
  facts_ = without_values(facts_);
  frame_ = std::make_shared<const ContainerFrame>(ContainerFrame::of(container, options));
}

void HostMatrix::require_updatable() const {
  if (!updatable())
    refuse("the matrix was not loaded for new values", "load it with LoadOptions::updatable (updatable=True)");
}

template <class T>
void HostMatrix::update_values(std::span<const T> values, int threads) {
  require_threads(threads);
  require_updatable();
  std::vector<UpdatablePart> parts;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts.push_back({&parts_[i].loaded.view(), parts_[i].loaded.writable_bytes(), &sources_[i],
                     slots_.empty() ? nullptr : &slots_[i]});
  spmvpack::update_values(facts_, parts, values, threads);
  for (Part& part : parts_)
    if (part.state != nullptr && part.state->copies_values())
      part.layout->copy_values(part.loaded.view(), *part.state, threads);
}

std::vector<const LoadedPart*> HostMatrix::loaded_parts() const {
  std::vector<const LoadedPart*> parts;
  for (const Part& part : parts_) parts.push_back(&part.loaded);
  return parts;
}

void HostMatrix::update(const CsrView& a, int threads) {
  require_threads(threads);
  require_updatable();
  if (a.rows() != facts_.rows || a.cols() != facts_.cols || a.nnz() != facts_.nnz)
    refuse(fmt::format("a matrix of {} x {} with {} entries, for one of {} x {} with {}", a.rows(), a.cols(), a.nnz(),
                       facts_.rows, facts_.cols, facts_.nnz),
           "encode it anew");
  a.check(threads);
  if (!pattern_) pattern_ = pattern_digest(facts_, loaded_parts(), threads);
  if (pattern_digest(a, threads) != *pattern_)
    refuse("the entries of the matrix are in other rows and columns", "encode it anew");
  dispatch(a.value_type(), [&]<class T>(T) { update_values(std::span<const T>(a.values<T>(), a.nnz()), threads); });
}

std::uint64_t HostMatrix::write(ByteSink& sink, const WriteOptions& options) const {
  require_updatable();
  return write_updated(sink, *frame_, loaded_parts(), options);
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

template <class V>
void HostMatrix::multiply(std::type_identity_t<V> alpha, std::type_identity_t<DenseView<const V>> x,
                          std::type_identity_t<V> beta, DenseView<V> y, int threads,
                          const MultiplyDescription& description, const Scaling<real_of<V>>& scaling) const {
  using T = real_of<V>;
  require_threads(threads);
  const bool complex = holds_complex(facts_.value_type);
  if (complex && !is_complex<V>)
    refuse(fmt::format("x and y are real, the matrix has {} values", to_string(facts_.value_type)),
           "use vectors of std::complex; imaginary parts may be 0");
  const Operand operand = require_description(facts_, infos_, value_type_of<T>, description);
  check_operands(operand, description.operation, x, y);
  const auto check = [&](const DenseView<const T>& /*x*/, const DenseView<T>& real_y) {
    check_scaling(scaling, facts_, real_y);
  };
  const auto multiply = [&]<class W>(W a, const DenseView<const W>& from, W b, const DenseView<W>& to) {
    multiply_parts(operand, a, from, b, to, threads, description.basis, scaling.of(description.operation));
  };
  if constexpr (is_complex<V>) {
    const auto multiply_real = [&](T a, const DenseView<const V>& from, T b, const DenseView<V>& to) {
      each_real_view(from, to, [&](const DenseView<const T>& real_x, const DenseView<T>& real_y) {
        multiply(a, real_x, b, real_y);
      });
    };
    each_real_view(x, y, check);
    if (complex && operand.conjugated && alpha != V{0})
      multiply_conjugated(alpha, x, beta, y, threads, multiply);
    else if (complex)
      multiply(alpha, x, beta, y);
    else if (alpha.imag() == 0 && beta.imag() == 0)
      multiply_real(alpha.real(), x, beta.real(), y);
    else
      multiply_by_complex_scalars(alpha, x, beta, y, threads, multiply_real);
  } else {
    check(x, y);
    multiply(alpha, x, beta, y);
  }
}

template <class V>
void HostMatrix::multiply_parts(const Operand& operand, V alpha, const DenseView<const V>& x, V beta,
                                const DenseView<V>& y, int threads, Basis basis, Scaling<real_of<V>> scaling) const {
  constexpr V zero{0}, one{1};
  if (alpha == zero) scaling = {};
  const bool scales = alpha != zero && first_part_scales(operand, infos_);
  const bool scaled_x = !scaling.columns.empty(), scaled_y = !scaling.rows.empty();
  const V part_alpha = scaled_y ? one : alpha, part_beta = scaled_y ? zero : beta;
  const auto layout_of = [&](std::size_t i) { return parts_[i].layout->with_vectors<V>(facts_.value_type); };
  bool by_rows = false;
  std::uint64_t nnz = 0;
  each_part(operand, infos_, [&](std::size_t i, bool /*add*/, bool /*negate*/) {
    nnz += infos_[i].nnz;
    by_rows = by_rows || (y.cols > 1 && layout_of(i).columns != nullptr && use_v3());
  });
  by_rows = by_rows && worth_copies(x, y, nnz);
  const std::uint64_t most = std::min<std::uint64_t>(by_rows ? most_columns : 1, y.cols);
  ColumnCopies<const V> of_x(x, alpha == zero ? 0 : most, by_rows, scaled_x, threads);
  ColumnCopies<V> of_y(y, most, by_rows, scaled_y && beta != zero, threads);
  each_column_block(y.cols, std::max<std::uint64_t>(most, 1), [&](std::uint64_t first, std::uint64_t count) {
    const DenseView<V> to = of_y.take(first, count);
    if (part_beta != zero) of_y.each(copy_in);
    if (!scales && part_beta != one) scale(part_beta, to, threads);
    if (alpha != zero) {
      const DenseView<const V> from = of_x.take(first, count);
      if (scaled_x)
        of_x.each([factors = scaling.columns.data()](const V& element, V& copy, std::uint64_t row) {
          copy = factors[row] * element;
        });
      else
        of_x.each(copy_in);
      each_part(operand, infos_, [&](std::size_t i, bool add, bool negate) {
        const PartView& part = parts_[i].loaded.view();
        const bool user = basis == Basis::user;
        const PartMultiply<V> multiply{
            part,
            parts_[i].state.get(),
            layout_of(i),
            user ? PartRows::of(part, part.info().cols, "col_map") : PartRows{.count = x.rows},
            user ? PartRows::of(part, part.info().rows, "row_map") : PartRows{.count = y.rows},
            threads};
        const V a = negate ? -part_alpha : part_alpha, b = add ? one : part_beta;
        if (by_rows)
          multiply.side_by_side(a, from, b, to);
        else
          multiply.one_by_one(a, from, b, to);
      });
    }
    if (scaled_y)
      scale_sums(alpha, scaling.rows.data(), DenseView<const V>(to), beta, of_y.taken(), threads);
    else
      of_y.each(copy_out);
  });
}

#define SPMVPACK_INSTANTIATE_MULTIPLY(V)                                                                      \
  template void HostMatrix::multiply(V, DenseView<const V>, V, DenseView<V>, int, const MultiplyDescription&, \
                                     const Scaling<real_of<V>>&) const;
#define SPMVPACK_INSTANTIATE_VECTORS(T)                                        \
  template void HostMatrix::permute(std::span<const T>, std::span<T>) const;   \
  template void HostMatrix::unpermute(std::span<const T>, std::span<T>) const; \
  template void HostMatrix::update_values(std::span<const T>, int);            \
  SPMVPACK_INSTANTIATE_MULTIPLY(T)                                             \
  SPMVPACK_INSTANTIATE_MULTIPLY(std::complex<T>)
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_VECTORS)
#undef SPMVPACK_INSTANTIATE_VECTORS
#undef SPMVPACK_INSTANTIATE_MULTIPLY

}  // namespace spmvpack::host_loader
