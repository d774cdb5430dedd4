#include "spmvpack/host_loader/host_matrix.hpp"

#include <fmt/format.h>

#include <functional>

#include "layouts/registry.hpp"
#include "spmvpack/container/memory.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack::host_loader {
namespace {

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

/// `a` is what messages call a matrix of rows x cols.
template <class T>
void require_vectors(std::uint64_t rows, std::uint64_t cols, std::span<const T> x, std::span<const T> y,
                     const char* a = "A") {
  if (x.size() != cols) refuse(fmt::format("x has {} elements, {} has {} columns", x.size(), a, cols));
  if (y.size() != rows) refuse(fmt::format("y has {} elements, {} has {} rows", y.size(), a, rows));
  const std::less<const T*> before;
  if (!x.empty() && !y.empty() && before(x.data(), y.data() + y.size()) && before(y.data(), x.data() + x.size()))
    refuse("x and y overlap", "use two vectors");
}

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
void multiply_part(const LoadedPart& part, const LayoutState* state, Multiply<T> multiply, T alpha, const T* x, T beta,
                   T* y, int threads, Basis basis) {
  if (basis == Basis::permuted) return multiply(part.view(), state, {alpha, x, beta, y}, threads);
  Array<T> gathered;
  Operands<T> operands{alpha, local_x(part, x, gathered), beta, y};
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
    Part part{container.load_part(i, options), &layout, nullptr};
    if (layout.prepare != nullptr) part.state = layout.prepare(part.loaded.view(), options.threads);
    matrix.parts_.push_back(std::move(part));
  }
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
  require_vectors<T>(facts_.rows, facts_.cols, user, permuted);
  for (std::size_t i = 0; i < list.size(); ++i) permuted[i] = user[list[i]];
}

template <class T>
void HostMatrix::unpermute(std::span<const T> permuted, std::span<T> user) const {
  const auto list = permutation();
  require_vectors<T>(facts_.rows, facts_.cols, permuted, user);
  for (std::size_t i = 0; i < list.size(); ++i) user[list[i]] = permuted[i];
}

template <class T>
void HostMatrix::multiply(std::type_identity_t<T> alpha, std::span<const std::type_identity_t<T>> x,
                          std::type_identity_t<T> beta, std::span<T> y, int threads,
                          const MultiplyDescription& description) const {
  const Operand operand = require_description(facts_, infos_, value_type_of<T>, description);
  require_vectors<T>(operand.rows, operand.cols, x, y, description.operation == Operation::none ? "A" : "A^T");
  if (operand.negated) alpha = -alpha;
  const std::size_t of_a = parts_of(infos_, format::Role::a).size();
  const std::span<const Part> all(parts_);
  const std::span<const Part> parts = operand.role == format::Role::a ? all.first(of_a) : all.subspan(of_a);
  // The first part scales y along the way if it covers all rows; otherwise y is scaled here. Later parts add.
  const bool covered = alpha != 0 && !parts.empty() && parts[0].loaded.info().rows.count == operand.rows;
  if (!covered)
    for (T& element : y) element = scaled(beta, element);
  if (alpha == 0) return;
  for (std::size_t i = 0; i < parts.size(); ++i)
    multiply_part(parts[i].loaded, parts[i].state.get(), parts[i].layout->with_vectors<T>(facts_.value_type), alpha,
                  x.data(), i == 0 && covered ? beta : T{1}, y.data(), threads, description.basis);
}

#define SPMVPACK_INSTANTIATE_VECTORS(T)                                        \
  template void HostMatrix::permute(std::span<const T>, std::span<T>) const;   \
  template void HostMatrix::unpermute(std::span<const T>, std::span<T>) const; \
  template void HostMatrix::multiply(T, std::span<const T>, T, std::span<T>, int, const MultiplyDescription&) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_VECTORS)
#undef SPMVPACK_INSTANTIATE_VECTORS

}  // namespace spmvpack::host_loader
